"""Which conflict brings about which: chains such as unmet attribute → weapon unusable → too little damage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations

from app.model.conflicts import BuildConflict, Cause
from app.model.names import ConflictType, Severity

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
        if cause.severity is Severity.BLOCKING and (because := _because(cause, effect)):
            found[effect.id].append(Cause(conflict_id=cause.id, because=because, evidence=cause.evidence))
    return [conflict.model_copy(update={"causes": found[conflict.id]}) for conflict in conflicts]


def _because(cause: BuildConflict, effect: BuildConflict) -> str | None:
    return next((why for link in LINKS if (why := link(cause, effect)) is not None), None)


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
    source = str(cause.evidence.get("source") or "")
    slot, named, _ = source.partition(": ")
    hits = _hit_by(slot) if named else frozenset({_T.DAMAGE_GAP, _T.CORE_ASSUMPTION_INVALIDATED})
    return f"{source or 'what needs it'} cannot be used" if effect.type in hits else None


def _unaffordable_supports(cause: BuildConflict, effect: BuildConflict) -> str | None:
    fits = cause.type is _T.ATTRIBUTE_SQUEEZE and effect.type is _T.DAMAGE_GAP
    return "not all of its supports can be used" if fits else None


def _faulty_item(cause: BuildConflict, effect: BuildConflict) -> str | None:
    if cause.type not in {_T.ILLEGAL_ITEM, _T.GEAR_SLOT_CONTENTION} or "slot" not in cause.evidence:
        return None
    slot = str(cause.evidence["slot"])
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
    fits = cause.type is _T.RESISTANCE_GAP and effect.type is _T.SURVIVABILITY_GAP
    return f"{cause.subject} hits hard" if fits else None


LINKS: tuple[Link, ...] = (
    _unusable_skill,
    _unwearable,
    _unaffordable_supports,
    _faulty_item,
    _idle_gem,
    _missing_passives,
    _open_to_an_element,
)
