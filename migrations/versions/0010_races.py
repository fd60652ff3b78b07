"""How far ways to build came in the races of builds."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "memory_race",
        sa.Column("build_id", sa.String(26), primary_key=True),
        sa.Column("place", sa.Integer, primary_key=True),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("goal", sa.String(16), nullable=False),
        sa.Column("engine", sa.String(64), nullable=False),
        sa.Column("class_name", sa.String(64), nullable=False),
        sa.Column("skill_id", sa.String(255), nullable=False),
        sa.Column("skill", sa.String(255), nullable=False),
        sa.Column("hands", sa.String(255), nullable=False),
        sa.Column("behind", sa.Float, nullable=False),
        sa.Column("rung", sa.Integer, nullable=False),
        sa.Column("learned_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_memory_race_about", "memory_race", ["owner", "goal", "engine"])


def downgrade() -> None:
    op.drop_index("ix_memory_race_about", "memory_race")
    op.drop_table("memory_race")
