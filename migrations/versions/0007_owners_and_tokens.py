"""Whose a build is, what is set aside, keys per owner, access tokens and what they used."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_BUILD = sa.table(
    "build",
    sa.column("id", sa.String),
    sa.column("owner", sa.String),
    sa.column("request", sa.JSON),
    sa.column("state", sa.JSON),
)


def upgrade() -> None:
    for column in _build_columns():
        op.add_column("build", column)
    # The owner stood beside the request, in schema 1.0 in the state; whoever had none was on this machine.
    op.execute(
        sa.update(_BUILD).values(
            owner=sa.func.coalesce(
                _BUILD.c.request["owner"].as_string(), _BUILD.c.state["owner"].as_string(), sa.literal("local")
            )
        )
    )
    if op.get_bind().dialect.name == "sqlite":
        op.execute("UPDATE build SET request = json_remove(request, '$.owner')")
    op.create_index("ix_build_owner", "build", ["owner", "created_at", "id"])
    _keys_of_owners()
    _access()


def downgrade() -> None:
    op.drop_table("token_day")
    op.drop_table("token")
    op.create_table(
        "idempotency_before",
        sa.Column("key", sa.String(255), primary_key=True),
        sa.Column("build_id", sa.String(26), sa.ForeignKey("build.id", ondelete="CASCADE"), nullable=False),
        sa.Column("request_sha256", sa.String(64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.execute(
        "INSERT INTO idempotency_before SELECT key, min(build_id), min(request_sha256), min(created_at)"
        " FROM idempotency GROUP BY key"
    )
    op.drop_table("idempotency")
    op.rename_table("idempotency_before", "idempotency")
    op.drop_index("ix_build_owner", "build")
    if op.get_bind().dialect.name == "sqlite":
        op.execute("UPDATE build SET request = json_set(request, '$.owner', owner)")
    for column in _build_columns():
        op.drop_column("build", column.name)


def _build_columns() -> tuple[sa.Column[object], ...]:
    return (
        sa.Column("owner", sa.String(64), nullable=False, server_default="local"),
        sa.Column("trials", sa.Integer, nullable=False, server_default="0"),
        sa.Column("alone", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("not_before", sa.DateTime(timezone=True)),
        sa.Column("size", sa.BigInteger),
        sa.Column("thinned", sa.Boolean, nullable=False, server_default=sa.false()),
    )


def _keys_of_owners() -> None:
    op.create_table(
        "idempotency_owned",
        sa.Column("owner", sa.String(64), primary_key=True),
        sa.Column("key", sa.String(255), primary_key=True),
        sa.Column("build_id", sa.String(26), sa.ForeignKey("build.id", ondelete="CASCADE"), nullable=False),
        sa.Column("request_sha256", sa.String(64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.execute(
        "INSERT INTO idempotency_owned SELECT build.owner, key, build_id, request_sha256, idempotency.created_at"
        " FROM idempotency JOIN build ON build.id = build_id"
    )
    op.drop_table("idempotency")
    op.rename_table("idempotency_owned", "idempotency")


def _access() -> None:
    op.create_table(
        "token",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("sha256", sa.String(64), nullable=False, unique=True),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("scopes", sa.String(100), nullable=False),
        sa.Column("builds_per_day", sa.Integer),
        sa.Column("requests_per_minute", sa.Integer),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True)),
    )
    op.create_table(
        "token_day",
        sa.Column("token", sa.String(64), primary_key=True),
        sa.Column("day", sa.Date, primary_key=True),
        sa.Column("builds", sa.Integer, nullable=False),
    )
