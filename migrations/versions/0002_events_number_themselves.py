"""A tool event takes its number when it is stored; a counter on the build would rewrite its whole row each time."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_column("build", "event_seq")


def downgrade() -> None:
    op.add_column("build", sa.Column("event_seq", sa.Integer, nullable=False, server_default="0"))
    op.execute("UPDATE build SET event_seq = (SELECT count(*) FROM tool_event WHERE build_id = build.id)")
