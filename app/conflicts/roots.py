"""From causes to roots: which conflicts deserve an attempt of their own, and which go away with another one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations

from app.conflicts.strength import PHYSICAL, RECOVERY
from app.model.base import changed
from app.model.conflicts import BuildConflict, Cause
from app.model.names import ConflictType, Role, Severity

_T = ConflictType
_DEFENCES = frozenset({_T.RESISTANCE_GAP, _T.SURVIVABILITY_GAP})
_TREE_GIVES = frozenset({_T.DAMAGE_GAP, *_DEFENCES, _T.STAT_REQUIREMENT, _T.ATTRIBUTE_SQUEEZE})
_UNCONNECTED = "unconnected"

Link = Callable[[BuildConflict, BuildConflict], str | None]
"""Given a possible cause and a possible effect: why the one brings about the other, or None."""


def with_causes(conflicts: Sequence[BuildConflict]) -> list[BuildConflict]:
    """Return the conflicts, each with what brings it about; only a blocking conflict is a cause."""
    found: dict[str, list[Cause]] = {conflict.id: [] for conflict in conflicts}
    for cause, effect in permutations(conflicts, 2):
        if cause.severity is Severity.BLOCKING and (
            because := next((why for link in LINKS if (why := link(cause, effect)) is not None), None)
        ):
            found[effect.id].append(Cause(conflict_id=cause.id, because=because, evidence=cause.evidence))
    return [changed(conflict, causes=found[conflict.id]) for conflict in conflicts]


def _unusable_skill(cause: BuildConflict, effect: BuildConflict) -> str | None:
    if cause.type is _T.CORE_ASSUMPTION_INVALIDATED and effect.type in {
        _T.DAMAGE_GAP,
        _T.SUSTAIN_GAP,
        _T.INEFFECTIVE_SUPPORT,
    }:
        return "the main skill cannot be used as it stands"
    return None


def _unwearable(cause: BuildConflict, effect: BuildConflict) -> str | None:
    """An unmet requirement takes away what the item or gem gives, a weapon even the skill that needs it."""
    if cause.type is not _T.STAT_REQUIREMENT:
        return None
    source = cause.evidence.source or ""
    slot, named, _ = source.partition(": ")
    hits = _hit_by(slot) if named else frozenset({_T.DAMAGE_GAP, _T.CORE_ASSUMPTION_INVALIDATED})
    return f"{source or 'what needs it'} cannot be used" if effect.type in hits else None


def _unaffordable_supports(cause: BuildConflict, effect: BuildConflict) -> str | None:
    fits = cause.type is _T.ATTRIBUTE_SQUEEZE and effect.type is _T.DAMAGE_GAP
    return "not all of its supports can be used" if fits else None


def _faulty_item(cause: BuildConflict, effect: BuildConflict) -> str | None:
    slot = cause.evidence.slot
    if cause.type not in {_T.ILLEGAL_ITEM, _T.GEAR_SLOT_CONTENTION} or slot is None:
        return None
    return f"what {slot} should give is missing" if effect.type in _hit_by(slot) else None


def _hit_by(slot: str) -> frozenset[ConflictType]:
    """Return what lacks something when a slot gives nothing: damage for weapons, defences for what is worn."""
    if slot.startswith("Weapon"):
        return frozenset({_T.DAMAGE_GAP, _T.CORE_ASSUMPTION_INVALIDATED})
    return _DEFENCES if slot.startswith(("Charm", "Flask")) else frozenset({_T.DAMAGE_GAP, *_DEFENCES})


def _idle_gem(cause: BuildConflict, effect: BuildConflict) -> str | None:
    fits = cause.type is _T.INEFFECTIVE_SUPPORT and effect.type is _T.DAMAGE_GAP
    return "a gem does nothing" if fits else None


def _missing_passives(cause: BuildConflict, effect: BuildConflict) -> str | None:
    fits = cause.type is _T.TREE_OVERFLOW and cause.subject == _UNCONNECTED and effect.type in _TREE_GIVES
    return "passives that were counted on are not allocated" if fits else None


def _open_to_an_element(cause: BuildConflict, effect: BuildConflict) -> str | None:
    fits = (
        cause.type is _T.RESISTANCE_GAP
        and effect.type is _T.SURVIVABILITY_GAP
        and effect.subject not in {PHYSICAL, RECOVERY}
    )
    return f"{cause.subject} hits hard" if fits else None


_SAME_FIGURE = {
    "dps": (_T.DAMAGE_GAP, "dps"),
    "ehp": (_T.SURVIVABILITY_GAP, "ehp"),
    **{f"{element}_resistance": (_T.RESISTANCE_GAP, element) for element in ("fire", "cold", "lightning")},
}
"""Wishes for a figure that has a floor, too: the type and subject of the floor's conflict."""


def _one_figure(cause: BuildConflict, effect: BuildConflict) -> str | None:
    """Of a wish and a floor for one figure the higher is the cause: what meets it meets the other."""
    pair = {(cause.type, cause.subject), (effect.type, effect.subject)}
    alike = any({(_T.INVARIANT_VIOLATED, wish), floor} == pair for wish, floor in _SAME_FIGURE.items())
    if not alike:
        return None
    first, second = cause.evidence.required, effect.evidence.required
    assert isinstance(first, (int, float))
    assert isinstance(second, (int, float))
    above = first > second or (first == second and cause.type is _T.INVARIANT_VIOLATED)
    return "what meets the one meets the other" if above else None


LINKS: tuple[Link, ...] = (
    _unusable_skill,
    _unwearable,
    _unaffordable_supports,
    _faulty_item,
    _idle_gem,
    _missing_passives,
    _open_to_an_element,
    _one_figure,
)


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
    return changed(conflict, role=role, roots=roots)


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
