"""What a finished build teaches the next one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime

from app.model.constraints import InvariantSet
from app.model.construction import Recollection, Remembered, RememberedBuild
from app.model.demands import Demands, demands_of
from app.model.guide import Guide
from app.model.memory import Habit, Memory, MemoryKey, RaceKey, RaceMemory, RaceResult, Situation
from app.model.names import Effort, Mode, Outcome, Provenance, SubProblemName
from app.model.race import Race
from app.model.record import BuildRecord
from app.model.state import BuildState, UsedMemory
from app.model.sub_problems import DeliveryChoice
from app.search.base import Plan, plan_of

MOST_TRIED = 2
"""Remembered builds that a new one tries to begin with."""

USUALLY = 2
"""In so many builds somebody must have asked for something before it is called a habit."""

_OF_ONE_BUILD = frozenset(
    {"class", "ascendancy", "skill", "level", "damage_type", "weapon", "goal", "style", "content", "with"}
)
"""What a build is about; that an earlier one was about something else is no habit."""
_MILESTONES = frozenset({"notable", "keystone"})


def memory_of(record: BuildRecord, now: datetime) -> Memory | None:
    """Return what the finished build teaches, or None.

    A validated build that was made here teaches where to begin, one with caveats only what was tried in vain.
    A quick build failed for lack of trials, so it teaches nothing.
    A refinement has its own wish beside what the prompt says, so it teaches nothing about the prompt.
    """
    state = record.state
    validated = state.outcome is Outcome.VALIDATED
    own = state.origin == "made" and record.request.mode is not Mode.REFINEMENT
    own = own and record.request.effort is not Effort.QUICK
    fine = own and (validated or bool(state.eliminated))
    answered = {name for name, sub in state.sub_problems.items() if sub.decision is not None}
    if not fine or state.blueprint is None or state.stats is None or answered != set(SubProblemName):
        return None
    plan, invariants = plan_of(state.sub_problems), record.invariants
    demands = demands_of(invariants, record.request)
    return Memory(
        build_id=record.id,
        owner=record.owner,
        key=MemoryKey.of(plan.delivery.skill_id, demands.goal, state.stats.engine),
        skill=plan.delivery.skill_name,
        situation=situation_of(plan, invariants, demands, record.request.effort),
        score=state.construction.notes.objective or 0.0,
        evaluations=state.construction.notes.evaluations,
        blueprint=state.blueprint,
        notables=_notables(state.guide),
        wishes={i.field: i.value for i in invariants.invariants if i.provenance is Provenance.EXPLICIT},
        failures=state.eliminated,
        validated=validated,
        learned_at=now,
    )


def race_memory_of(record: BuildRecord, now: datetime) -> RaceMemory | None:
    """Return what the race of the finished build teaches, or None where ways were not measured against each other.

    What won is not asked: a race is fair whatever became of the build. Estimates teach nothing of the real engine.
    """
    state = record.state
    race, version = state.race, state.stats.engine if state.stats is not None else None
    if state.origin != "made" or race is None or not race.over or version is None or version.estimate:
        return None
    demands = demands_of(record.invariants, record.request)
    key, results = RaceKey.of(demands.goal, version), results_of(race)
    if len(results) < 2:
        return None
    return RaceMemory(build_id=record.id, owner=record.owner, key=key, results=results, learned_at=now)


def results_of(race: Race) -> list[RaceResult]:
    """Return how far each contender that ran came, by the points that tastes gave it, the most first."""
    ran = sorted(
        (one for one in race.contenders if one.figures and not one.out), key=lambda one: -(one.option.score or 0.0)
    )
    found = []
    for place, one in enumerate(ran):
        rung, choice = len(one.figures), one.option.choice
        assert isinstance(choice, DeliveryChoice), "a way to build is a main skill"
        best = max(other.figures[rung - 1].score for other in ran if len(other.figures) >= rung)
        found.append(
            RaceResult(
                class_name=one.ascendancies[0].class_name,
                skill_id=choice.skill_id,
                skill=choice.skill_name,
                hands=choice.hands,
                place=place,
                behind=best - one.figures[-1].score,
                rung=rung,
            )
        )
    return found


def situation_of(plan: Plan, invariants: InvariantSet, demands: Demands, effort: Effort = Effort.NORMAL) -> Situation:
    """Return what must be the same for the whole build to fit again."""
    excluded = invariants.get("exclude")
    words = [str(word) for word in excluded] if isinstance(excluded, list) else []
    return Situation(
        class_name=plan.ascendancy.class_name,
        ascendancy=plan.ascendancy.ascendancy,
        level=demands.level,
        gear=demands.gear,
        hardcore=demands.hardcore,
        weapon_types=list(plan.delivery.weapon_types),
        off_hand=plan.delivery.off_hand,
        pool=plan.survivability.pool,
        mitigation=list(plan.survivability.mitigation),
        named=sorted(invariants.listed("with")),
        effort=effort,
        excluded=sorted({*words, *plan.scaling.excluded_gems, *map(str, plan.scaling.excluded_nodes)}),
    )


def begun_with(memories: Sequence[Memory], now: Situation) -> Remembered | None:
    """Return what a new build is to try: whole builds that fit, and parts of others of its ascendancy."""
    memories = [memory for memory in memories if memory.validated]
    whole = [m for m in memories if m.situation == now][:MOST_TRIED]
    kin = [m for m in memories if m not in whole and _is_kin(m.situation, now)][:MOST_TRIED]
    if not whole and not kin:
        return None
    return Remembered(whole=[_remembered(m) for m in whole], parts=[_remembered(m) for m in kin])


def digest_of(memories: Sequence[Memory | RaceMemory], before: str | None = None) -> str | None:
    """Return the SHA-256 (hex) of what memory said, after what it had said `before`; None when it said nothing."""
    if not memories:
        return before
    told: list[object] = [memory.model_dump(mode="json") for memory in memories]
    told += [before] if before is not None else []
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def digest_with(state: BuildState, memories: Sequence[Memory]) -> str | None:
    """Return the digest of all that memory has said to the build: of its race, and now these."""
    return digest_of(memories, state.race.learned if state.race is not None else None)


def _is_kin(one: Situation, other: Situation) -> bool:
    """Say whether passives and supports of one build serve the other."""
    same = (one.class_name, one.ascendancy, one.weapon_types) == (
        other.class_name,
        other.ascendancy,
        other.weapon_types,
    )
    return same and (one.pool, one.excluded) == (other.pool, other.excluded)


def _remembered(memory: Memory) -> RememberedBuild:
    return RememberedBuild(build_id=memory.build_id, score=memory.score, blueprint=memory.blueprint)


def used(taken: Recollection | None) -> list[UsedMemory]:
    """Return what the recollecting stage says it took."""
    if taken is None:
        return []
    part = {"whole": "the whole build", "parts": "supports and passives"}[taken.part]
    return [UsedMemory(build_id=taken.build_id, part=part, score=taken.score)]


def habits(wishes: Sequence[Habit], invariants: InvariantSet) -> list[str]:
    """Return what the owner usually asks for and said nothing about this time, in words.

    It is told and never assumed: what was not asked for is not a constraint.
    """
    found: dict[str, Habit] = {}
    for wish in wishes:
        if wish.builds >= USUALLY and wish.field not in _OF_ONE_BUILD:
            found.setdefault(wish.field, wish)
    said = {known.field for known in invariants.invariants if known.provenance is Provenance.EXPLICIT}
    silent = [wish for field, wish in sorted(found.items()) if field not in said]
    return [_habit(wish) for wish in silent]


def _habit(wish: Habit) -> str:
    value = ", ".join(map(str, wish.value)) if isinstance(wish.value, list) else str(wish.value)
    return f"You asked for {wish.field} {value} in {wish.builds} earlier builds; it was not applied to this one."


def _notables(guide: Guide | None) -> list[str]:
    steps = [*guide.passives, *guide.ascendancy] if guide is not None else []
    return [step.name for step in steps if step.kind in _MILESTONES]
