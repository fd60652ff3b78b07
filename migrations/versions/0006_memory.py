"""What validated builds taught, what their owners asked for in words, and what failed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def _memory() -> sa.Column[str]:
    return sa.Column("build_id", sa.String(26), sa.ForeignKey("memory.build_id", ondelete="CASCADE"), primary_key=True)


def upgrade() -> None:
    op.create_table(
        "memory",
        sa.Column("build_id", sa.String(26), primary_key=True),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("skill_id", sa.String(255), nullable=False),
        sa.Column("skill", sa.String(255), nullable=False),
        sa.Column("goal", sa.String(16), nullable=False),
        sa.Column("engine", sa.String(64), nullable=False),
        sa.Column("score", sa.Float, nullable=False),
        sa.Column("data", sa.JSON, nullable=False),
        sa.Column("learned_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_memory_about", "memory", ["skill_id", "goal", "engine", "score"])
    op.create_index("ix_memory_owner", "memory", ["owner"])
    op.create_table(
        "memory_wish",
        _memory(),
        sa.Column("field", sa.String(64), primary_key=True),
        sa.Column("value", sa.JSON),
    )
    op.create_table(
        "memory_failure",
        _memory(),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("sub_problem", sa.String(32), nullable=False),
        sa.Column("option", sa.String(255), nullable=False),
        sa.Column("reason", sa.String, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("memory_failure")
    op.drop_table("memory_wish")
    op.drop_index("ix_memory_owner", "memory")
    op.drop_index("ix_memory_about", "memory")
    op.drop_table("memory")
