"""What was said with a language model during a build, step by step; the rules' builds have none of it."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from app.model.base import Model


class Turn(Model):
    """One thing that a language model was asked.

    `step` is the prompt's name. `decided` names what its answer settled, `fallen` what the rules had to settle instead.
    """

    step: str
    decided: list[str] = Field(default_factory=list)
    fallen: list[str] = Field(default_factory=list)


class ModelShare(Model):
    """Steps that a language model was `asked` to decide, those that it `decided`, and `share`: both in words."""

    asked: int = 0
    decided: int = 0
    share: str = ""


def share_of(turns: Sequence[Turn], degraded: Sequence[str]) -> ModelShare:
    """Return who decided; `degraded` says which steps fell back to the rules and why."""
    decided = sum(len(turn.decided) for turn in turns)
    asked = decided + sum(len(turn.fallen) for turn in turns)
    fallbacks = f"; fallbacks: {'; '.join(degraded)}" if degraded else ""
    share = f"The model decided {decided} of {asked} steps{fallbacks}." if asked else ""
    return ModelShare(asked=asked, decided=decided, share=share)
