"""What became of each wish: asked and reached."""

from __future__ import annotations

from enum import StrEnum

from app.model.base import Model


class WishState(StrEnum):
    """How a wish stands on the finished build."""

    MET = "met"
    UNMET = "unmet"
    NOT_UNDERSTOOD = "not_understood"
    NO_EFFECT = "no_effect"


class WishOutcome(Model):
    """One wish and what the build gives.

    `wish`: in our words ("at least 20,000 effective hit points"). `words`: the user's own. `kind`: the constraint's
    name (dps, with, exclude, style, class ...), empty for what was not understood. `target` and `reached`: figures in
    the constraint's unit, or names. `nearest`: for an unmet wish the nearest that could be had and what it would cost.
    """

    wish: str
    words: str
    kind: str
    target: float | str | None
    reached: float | str | None
    state: WishState
    nearest: str | None = None
