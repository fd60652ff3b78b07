"""From causes to roots: which conflicts deserve an attempt of their own, and which go away with another one."""

from __future__ import annotations

from collections.abc import Sequence

from app.model.conflicts import BuildConflict
from app.model.names import Role

Causes = dict[str, set[str]]


def with_roles(conflicts: Sequence[BuildConflict]) -> list[BuildConflict]:
    """Return the conflicts as roots and symptoms, each with the roots it goes back to, read off their causes.

    A symptom whose cause is gone is a root. A circle of causes is entered at its member with the fewest affected
    questions (ties by id): that one is the root, for there it is cheapest to change something.
    """
    causes = _acyclic(conflicts)
    return [_placed(conflict, causes) for conflict in conflicts]


def chains(conflicts: Sequence[BuildConflict]) -> list[list[str]]:
    """Return every way from a root to a last symptom as ids, root first; a root without symptoms stands alone."""
    causes = _acyclic(conflicts)
    effects = {key: sorted(other for other, of in causes.items() if key in of) for key in causes}
    roots = sorted(key for key, of in causes.items() if not of)
    return [way for root in roots for way in _ways(root, effects)]


def _ways(start: str, effects: dict[str, list[str]]) -> list[list[str]]:
    if not effects[start]:
        return [[start]]
    return [[start, *rest] for following in effects[start] for rest in _ways(following, effects)]


def _placed(conflict: BuildConflict, causes: Causes) -> BuildConflict:
    roots = sorted(_roots(conflict.id, causes))
    role = Role.SYMPTOM if causes[conflict.id] else Role.ROOT
    return conflict.model_copy(update={"role": role, "roots": roots})


def _roots(key: str, causes: Causes) -> set[str]:
    return {key} if not causes[key] else {root for cause in causes[key] for root in _roots(cause, causes)}


def _acyclic(conflicts: Sequence[BuildConflict]) -> Causes:
    """Return the causes of each conflict by id, without those that lead into the root of a circle."""
    present = {conflict.id for conflict in conflicts}
    weight = {conflict.id: (len(conflict.affected), conflict.id) for conflict in conflicts}
    causes = {
        c.id: {cause.conflict_id for cause in c.causes if cause.conflict_id in present - {c.id}} for c in conflicts
    }
    while circle := _circle(causes):
        entry = min(circle, key=lambda key: weight[key])
        causes[entry] -= circle
    return causes


def _circle(causes: Causes) -> set[str]:
    """Return the members of the first circle by id (all that cause each other), or nothing."""
    for key in sorted(causes):
        before = _before(key, causes)
        if key in before:
            return {other for other in before if key in _before(other, causes)}
    return set()


def _before(key: str, causes: Causes) -> set[str]:
    """Return everything that brings the conflict about, directly or not."""
    found: set[str] = set()
    queue = list(causes[key])
    while queue:
        now = queue.pop()
        if now not in found:
            found.add(now)
            queue.extend(causes[now])
    return found
