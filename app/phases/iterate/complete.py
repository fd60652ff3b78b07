"""Complete: how a build that could not be made right is handed over, honestly. Nothing runs after it."""

from __future__ import annotations

from collections.abc import Sequence

from app.conflicts.order import caveats
from app.model.base import changed
from app.model.conflicts import BuildConflict
from app.model.names import Outcome, Severity
from app.model.state import BuildState

_MOST_BY_HAND = 2


def with_caveats(state: BuildState, reason: str) -> BuildState:
    """Return the state as finished: every conflict in words, what was tried, and what could be done by hand."""
    lines = [reason, *caveats(state.conflicts), *_tried(state.conflicts), *_by_hand(state.conflicts)]
    told = list(dict.fromkeys(line for line in lines if line))
    return changed(state, outcome=Outcome.CAVEATS, caveats=told, progress_label="finished with caveats")


def _tried(conflicts: Sequence[BuildConflict]) -> list[str]:
    return [f"Tried against it: {', '.join(_words(c))}." for c in _unresolved(conflicts) if c.tried]


def _words(conflict: BuildConflict) -> list[str]:
    texts = {s.strategy: s.text for s in conflict.suggested_solutions}
    return [texts.get(strategy) or strategy.replace("_", " ") for strategy in conflict.tried]


def _by_hand(conflicts: Sequence[BuildConflict]) -> list[str]:
    return [
        f"By hand: {suggestion.text}."
        for conflict in _unresolved(conflicts)
        for suggestion in [s for s in conflict.suggested_solutions if s.text][:_MOST_BY_HAND]
    ]


def _unresolved(conflicts: Sequence[BuildConflict]) -> list[BuildConflict]:
    return [conflict for conflict in conflicts if conflict.severity is Severity.BLOCKING]
