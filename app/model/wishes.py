"""What became of each wish: asked and reached."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from app.model.base import Model
from app.model.constraints import INVARIANTS


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

    @property
    def line(self) -> str:
        """The wish, the user's words and what was reached, in one line."""
        said = f'"{self.words}"' if self.words else ""
        if self.state is WishState.NOT_UNDERSTOOD:
            return f"? {said}: not understood"
        asked = f"{_MARKS[self.state]} {self.wish} ({said})" if said else f"{_MARKS[self.state]} {self.wish}"
        if self.state is WishState.NO_EFFECT:
            return f"{asked}: no effect; {self.nearest}"
        if self.state is WishState.UNMET:
            return f"{asked}: not reached; the nearest: {self.nearest}"
        return f"{asked}: {self.reached_words}"

    @property
    def reached_words(self) -> str:
        """What was reached, as people write it."""
        if not isinstance(self.reached, float):
            return str(self.reached)
        figure = INVARIANTS[self.kind].figure
        return f"{self.reached:,.0f}" if figure is None else figure.words(self.reached)


def lost(before: Sequence[WishOutcome], now: Sequence[WishOutcome]) -> list[str]:
    """Return the wishes that were met before and are not met now, in the order of before."""
    met = {wish.wish for wish in now if wish.state is WishState.MET}
    return [wish.wish for wish in before if wish.state is WishState.MET and wish.wish not in met]


_MARKS = {WishState.MET: "✓", WishState.UNMET: "✗", WishState.NO_EFFECT: "-"}

ASKED_AND_REACHED = "Asked and reached"


def asked_and_reached(wishes: Sequence[WishOutcome]) -> list[str]:
    """Return a line for each wish, as people read it."""
    return [wish.line for wish in wishes]
