"""What a caller asks for, before anything is understood."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from app.model.base import Model
from app.model.names import GearTier, Mode

EngineChoice = Literal["auto", "pob", "sketch"]
ReasonerChoice = Literal["auto", "rules", "llm"]


class BuildRequest(Model):
    """A request as `POST /v1/builds` and `buildwright build` take it.

    `level` 1-100 and `gear` win over the prompt, the prompt wins over the defaults (90, mid).
    `overrides` sets invariants by field name; `seed` makes ties between equal options reproducible.
    """

    prompt: Annotated[str, Field(min_length=3, max_length=4000)]
    level: Annotated[int, Field(ge=1, le=100)] | None = None
    gear: GearTier | None = None
    mode: Mode = Mode.INITIAL
    parent_id: str | None = None
    engine: EngineChoice = "auto"
    reasoner: ReasonerChoice = "auto"
    overrides: dict[str, str | int | float | bool | list[str]] = Field(default_factory=dict)
    seed: int = 0
