"""Where the time of a build went; what cached answers took to make, and how many results an answer holds."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Null in what is there already: nobody knows any more.
    op.add_column("tool_event", sa.Column("original_ms", sa.Float))
    op.add_column("tool_event", sa.Column("results", sa.Integer))
    op.add_column("kept_result", sa.Column("took_ms", sa.Float))
    op.create_table(
        "build_trace",
        sa.Column("build_id", sa.String(26), sa.ForeignKey("build.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("seq", sa.Integer, primary_key=True),
        sa.Column("epoch", sa.Integer, nullable=False),
        sa.Column("data", sa.JSON, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("build_trace")
    op.drop_column("kept_result", "took_ms")
    op.drop_column("tool_event", "results")
    op.drop_column("tool_event", "original_ms")
