"""The order in which conflicts are resolved."""

from __future__ import annotations

from collections.abc import Sequence

from app.conflicts.steps import step
from app.model.base import changed
from app.model.conflicts import BuildConflict
from app.model.names import ConflictType, Role, Severity
from app.model.wishes import WishOutcome, WishState

MOST_ATTEMPTS = 3
"""A conflict is tried this often, then it is left."""


def blocking(conflicts: Sequence[BuildConflict]) -> list[BuildConflict]:
    """Return the conflicts that must be resolved."""
    return [conflict for conflict in conflicts if conflict.severity is Severity.BLOCKING]


def merged(conflicts: Sequence[BuildConflict]) -> list[BuildConflict]:
    """Return one conflict per id: the newest, with the attempts of all of them."""
    by_id: dict[str, BuildConflict] = {}
    for conflict in conflicts:
        past = by_id.get(conflict.id)
        tried = list(dict.fromkeys([*(past.tried if past else []), *conflict.tried]))
        attempts = max(conflict.attempts, past.attempts if past else 0)
        by_id[conflict.id] = changed(conflict, tried=tried, attempts=attempts)
    return list(by_id.values())


def in_order(conflicts: Sequence[BuildConflict]) -> list[BuildConflict]:
    """Return the blocking conflicts that deserve an attempt, in order.

    Roots before symptoms (symptoms only when no root is left); those with the same root cause stand together; fewer
    affected questions first. A failed core assumption comes before everything, for nothing was measured after it.
    """
    found = blocking(merged(conflicts))
    core = [c for c in found if c.type is ConflictType.CORE_ASSUMPTION_INVALIDATED]
    roots = core or [c for c in found if c.role is Role.ROOT] or found
    groups: dict[str, list[BuildConflict]] = {}
    for conflict in sorted(roots, key=lambda one: (len(one.affected), one.id)):
        # The decision that the next way out changes: conflicts that share it are resolved together.
        pick = conflict.next_suggestion
        groups.setdefault(pick.sub_problem.value if pick else conflict.id, []).append(conflict)
    return [conflict for group in groups.values() for conflict in group]


def resolvable(conflicts: Sequence[BuildConflict]) -> list[BuildConflict]:
    """Return those that have an attempt and a suggestion left."""
    return [c for c in conflicts if c.attempts < MOST_ATTEMPTS and c.next_suggestion is not None]


def caveats(conflicts: list[BuildConflict]) -> list[str]:
    """Return what a user must know about the build, blocking faults first, in plain words."""
    ordered = sorted(conflicts, key=lambda conflict: conflict.severity is not Severity.BLOCKING)
    return list(dict.fromkeys(conflict.message for conflict in ordered))


def by_hand(conflicts: Sequence[BuildConflict], most: int = 1) -> list[str]:
    """Return what could be done by hand, the least disruptive first, blocking faults before warnings."""
    ordered = sorted(conflicts, key=lambda conflict: conflict.severity is not Severity.BLOCKING)
    told: list[str] = []
    for conflict in ordered:
        first, texts = step(conflict), [way.text for way in conflict.suggested_solutions if way.text]
        told += ([first, *texts[1:]] if first is not None else texts)[:most]
    return list(dict.fromkeys(f"By hand: {way}." for way in told))


def not_understood(wishes: Sequence[WishOutcome]) -> list[str]:
    """Return what a user must know of words that belong to no wish."""
    words = [f'"{wish.words}"' for wish in wishes if wish.state is WishState.NOT_UNDERSTOOD]
    return [f"Not understood, and so without effect: {', '.join(words)}."] if words else []
