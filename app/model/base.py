"""How our data behaves: immutable, no unknown fields."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """Base of all data: frozen; unknown fields are an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")
