"""Builds, their progress, tool events and idempotency keys."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    _build()
    _build_progress()
    _tool_event()
    _idempotency()


def downgrade() -> None:
    for table in ("idempotency", "tool_event", "build_progress", "build"):
        op.drop_table(table)


def _build() -> None:
    op.create_table(
        "build",
        sa.Column("id", sa.String(26), primary_key=True),
        sa.Column("parent_id", sa.String(26)),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("epoch", sa.Integer, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("cancel_requested", sa.Boolean, nullable=False),
        sa.Column("progress_seq", sa.Integer, nullable=False),
        sa.Column("event_seq", sa.Integer, nullable=False),
        sa.Column("request", sa.JSON, nullable=False),
        sa.Column("invariants", sa.JSON, nullable=False),
        sa.Column("state", sa.JSON, nullable=False),
        sa.Column("xml", sa.LargeBinary),
        sa.Column("engine", sa.JSON),
        sa.Column("reasoner", sa.JSON),
        sa.Column("failure", sa.JSON),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_build_parent_id", "build", ["parent_id"])
    op.create_index("ix_build_status", "build", ["status", "created_at"])
    op.create_index("ix_build_created", "build", ["created_at", "id"])


def _build_progress() -> None:
    op.create_table(
        "build_progress",
        sa.Column("build_id", sa.String(26), sa.ForeignKey("build.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("type", sa.String(32), nullable=False),
        sa.Column("data", sa.JSON, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )


def _tool_event() -> None:
    op.create_table(
        "tool_event",
        sa.Column("build_id", sa.String(26), sa.ForeignKey("build.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("schema_version", sa.String(8), nullable=False),
        sa.Column("phase", sa.String(16), nullable=False),
        sa.Column("sub_problem", sa.String(32)),
        sa.Column("turn", sa.Integer, nullable=False),
        sa.Column("kind", sa.String(8), nullable=False),
        sa.Column("tool", sa.String(64), nullable=False),
        sa.Column("tool_version", sa.String, nullable=False),
        sa.Column("call_id", sa.String(64), nullable=False),
        sa.Column("parent_call_id", sa.String),
        sa.Column("provider_call_id", sa.String),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("duration_ms", sa.Float),
        sa.Column("queue_ms", sa.Float),
        sa.Column("outcome", sa.String(16), nullable=False),
        sa.Column("error_type", sa.String),
        sa.Column("error_message", sa.String),
        sa.Column("args", sa.JSON),
        sa.Column("args_sha256", sa.String, nullable=False),
        sa.Column("result_sha256", sa.String),
        sa.Column("result_preview", sa.String),
        sa.Column("bytes_in", sa.Integer, nullable=False),
        sa.Column("bytes_out", sa.Integer),
        sa.Column("cache", sa.String(16), nullable=False),
        sa.Column("usage", sa.JSON),
        sa.Column("cost_usd", sa.String),
        sa.Column("cost_source", sa.String(16), nullable=False),
        sa.Column("price_version", sa.String),
        sa.UniqueConstraint("call_id", "attempt", name="uq_tool_event_call"),
    )


def _idempotency() -> None:
    op.create_table(
        "idempotency",
        sa.Column("key", sa.String(255), primary_key=True),
        sa.Column("build_id", sa.String(26), sa.ForeignKey("build.id", ondelete="CASCADE"), nullable=False),
        sa.Column("request_sha256", sa.String(64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    )
