"""Run by Alembic: applies the scripts to the connection that `app.storage.store` hands over."""

from __future__ import annotations

from alembic import context
from sqlmodel import SQLModel

from app.storage import tables

assert tables.BuildRow.metadata is SQLModel.metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=SQLModel.metadata,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
