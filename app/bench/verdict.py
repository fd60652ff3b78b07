"""What is read off a finished build: outcome, faults, strength, effort, seconds per phase."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.model.demands import floors_for
from app.model.names import ConflictType, GearTier, Severity
from app.model.record import ProgressEvent
from app.model.state import BuildState
from app.model.stats import CHAOS_RESISTANCE, RESISTANCES
from app.phases.memory import EVALUATIONS
from app.service.services import Services
from app.service.view import BuildView, ConflictView

_RESISTANCES = dict(zip(("fire", "cold", "lightning", "chaos"), (*RESISTANCES, CHAOS_RESISTANCE), strict=True))
_UNMET = {ConflictType.STAT_REQUIREMENT, ConflictType.ATTRIBUTE_SQUEEZE}
_ENGINE_WARNS = "The engine warns"


async def judged(services: Services, build_id: str) -> dict[str, Any]:
    """Return the figures of one finished build.

    `dps`: damage per second; `ehp`: hit points; resistances in percent; `evaluations`: candidates the engine tried;
    `phases`: seconds (s) per phase. Figures are null when the build never had a valid state.
    """
    view = await services.library.get(build_id)
    events = await services.recordings.progress(build_id)
    report = {**_faults(view), **_strength(view), "phases": seconds_per_phase(events)}
    if "state" in view.links:
        report |= _effort(BuildState.from_yaml((await services.library.export(build_id, "yaml")).decode()), view)
    return report


def _faults(view: BuildView) -> dict[str, Any]:
    blocking = [c for c in view.conflicts if c.severity is Severity.BLOCKING]
    return {
        "status": view.status.value,
        "outcome": view.outcome.value if view.outcome else None,
        "iterations": view.iteration,
        "blocking": [conflict.message for conflict in blocking],
        "illegal_items": _of(view.conflicts, {ConflictType.ILLEGAL_ITEM}),
        "unmet_requirements": _of(view.conflicts, _UNMET),
        "engine_warnings": sum(c.message.startswith(_ENGINE_WARNS) for c in view.conflicts),
        "warnings": [c.message for c in view.conflicts if c.severity is not Severity.BLOCKING],
    }


def _of(conflicts: Sequence[ConflictView], kinds: set[ConflictType]) -> int:
    return sum(c.type in kinds for c in conflicts)


def _strength(view: BuildView) -> dict[str, Any]:
    stats = view.stats
    values = stats.values if stats else {}
    delivery = next((q.decision for name, q in view.sub_problems.items() if name == "damage_delivery"), None)
    return {
        "engine": view.engine.model_dump(),
        "delivery": delivery.name if delivery else None,
        "dps": stats.dps if stats else None,
        "ehp": stats.ehp if stats else None,
        "resistances": {name: values.get(key) for name, key in _RESISTANCES.items()},
    }


def _effort(state: BuildState, view: BuildView) -> dict[str, Any]:
    gear = next((str(item.value) for item in view.invariants if item.field == "gear"), GearTier.MID.value)
    blueprint, inspection = state.blueprint, state.inspection
    points = floors_for(blueprint.level, GearTier(gear)).passive_points if blueprint else None
    used = inspection.points.get("used") if inspection else None
    return {
        "unspent_points": None if points is None or used is None else points - used,
        "evaluations": state.construction.notes.get(EVALUATIONS),
    }


def seconds_per_phase(events: Sequence[ProgressEvent]) -> dict[str, float]:
    """Return how long each phase took: the time up to a step belongs to the step's phase."""
    spent: dict[str, float] = {}
    before = events[0].at if events else None
    for event in events:
        phase = event.data.get("phase")
        if event.type == "step" and phase and before is not None:
            spent[str(phase)] = spent.get(str(phase), 0.0) + (event.at - before).total_seconds()
            before = event.at
    return {phase: round(seconds, 2) for phase, seconds in spent.items()}
