"""Runs of evaluation suites, and sums over tool events of a day without reading them all."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_tool_event_started", "tool_event", ["started_at"])
    op.create_table(
        "evaluation",
        sa.Column("label", sa.String(100), primary_key=True),
        sa.Column("task", sa.String(200), primary_key=True),
        sa.Column("trial", sa.Integer, primary_key=True),
        sa.Column("suite", sa.String(100), nullable=False),
        sa.Column("build_id", sa.String(26), sa.ForeignKey("build.id", ondelete="CASCADE"), nullable=False),
        sa.Column("passed", sa.Boolean, nullable=False),
        sa.Column("selected", sa.Boolean, nullable=True),
        sa.Column("checks", sa.JSON, nullable=False),
        sa.Column("seconds", sa.Float, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_evaluation_at", "evaluation", ["at"])


def downgrade() -> None:
    op.drop_index("ix_evaluation_at", "evaluation")
    op.drop_table("evaluation")
    op.drop_index("ix_tool_event_started", "tool_event")
