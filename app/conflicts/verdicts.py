"""What the check of one wish finds on a finished build."""

from __future__ import annotations

from dataclasses import dataclass

from app.model.conflicts import Suggestion

Reached = float | str | None


@dataclass(frozen=True)
class WishVerdict:
    """Whether a wish is met; `met` None = nothing that is measured can tell, and `nearest` says what it would need.

    `wish` is in our words, `reached` the figure or name that the file has. `ways` could meet it, least disruptive
    first.
    """

    wish: str
    target: Reached
    reached: Reached
    met: bool | None
    nearest: str | None = None
    ways: tuple[Suggestion, ...] = ()
