"""Conflicts are resolved in order and within limits; a build that got worse goes back to its best."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app.conflicts.order import in_order
from app.model.base import changed
from app.model.blueprint import Blueprint, Gem, SkillGroup
from app.model.conflicts import BuildConflict, Suggestion
from app.model.construction import Advice, ConstructProgress, StageNotes
from app.model.names import (
    ConflictType,
    Demand,
    Effort,
    Outcome,
    Role,
    Severity,
    SubProblemName,
    SubProblemStatus,
    Trigger,
)
from app.model.state import Attempt, BuildState, Snapshot
from app.model.stats import Stats
from app.model.wishes import WishOutcome, WishState
from app.phases.base import PhaseContext
from app.phases.decompose import DecomposePhase
from app.phases.explore.questions import ExplorePhase
from app.phases.iterate import MOST_ITERATIONS, IteratePhase
from app.reasoning.base import ReasoningContext, Resolution
from app.reasoning.rules import RulesReasoner
from tests.fakes.arithmetic import VERSION, ArithmeticEngine, World
from tests.fakes.engine import small_world
from tests.unit.phases.steps import context, finish, step

Q = SubProblemName
GOOD = Blueprint(class_name="Toy", level=90)
BAD = Blueprint(class_name="Toy", level=91)
STATS = Stats(engine=VERSION, values={"CombinedDPS": 1.0})


def way(strategy: str, where: SubProblemName = Q.DAMAGE_SCALING, kind: Demand = Demand.MORE_DAMAGE) -> Suggestion:
    return Suggestion(strategy=strategy, sub_problem=where, demand=kind, text=f"do {strategy}")


def conflict(name: str, *ways: Suggestion, **fields: Any) -> BuildConflict:
    data: dict[str, Any] = {
        "id": name,
        "type": ConflictType.DAMAGE_GAP,
        "severity": Severity.BLOCKING,
        "affected": [Q.DAMAGE_SCALING],
        "message": f"{name} is not met.",
        "suggested_solutions": list(ways) or [way("more_damage")],
    }
    return BuildConflict(**{**data, **fields})


def snapshot(*conflicts: BuildConflict, iteration: int = 0) -> Snapshot:
    return Snapshot(
        iteration=iteration, blueprint=GOOD, stats=STATS, blocking=len(conflicts), conflicts=list(conflicts)
    )


async def ready(*conflicts: BuildConflict, **fields: Any) -> PhaseContext:
    """Return the context of a build that was explored, constructed and found wanting."""
    ctx, _ = await finish(DecomposePhase(), context(small_world()))
    ctx, _ = await finish(ExplorePhase(), ctx)
    found = {"blueprint": GOOD, "stats": STATS, "conflicts": list(conflicts), "best": snapshot(*conflicts)}
    state = ctx.state.model_copy(update={**found, **fields})
    return context(ArithmeticEngine(World()), state=state, invariants=ctx.invariants)


async def explored_again(ctx: PhaseContext) -> PhaseContext:
    """Answer the re-opened questions with the facts they need, and come back with the engine that calculates."""
    asked = context(small_world(), state=ctx.state, invariants=ctx.invariants)
    after, _ = await finish(ExplorePhase(), asked)
    return context(ctx.engine, state=after.state, invariants=ctx.invariants)


def worse(state: BuildState, *conflicts: BuildConflict) -> BuildState:
    return state.model_copy(update={"blueprint": BAD, "conflicts": list(conflicts)})


def test_conflicts_are_ordered() -> None:
    found = in_order(
        [
            conflict("warning", severity=Severity.WARNING),
            conflict("symptom", role=Role.SYMPTOM, affected=[Q.ASCENDANCY]),
            conflict("wide", way("a", Q.SURVIVABILITY), affected=[Q.ASCENDANCY, Q.SURVIVABILITY]),
            conflict("shared", affected=[Q.ASCENDANCY, Q.SURVIVABILITY, Q.DAMAGE_SCALING]),
            conflict("narrow"),
        ]
    )

    assert [c.id for c in found] == ["narrow", "shared", "wide"]


def test_a_symptom_that_outlives_its_root_becomes_one() -> None:
    assert [c.id for c in in_order([conflict("left", role=Role.SYMPTOM)])] == ["left"]


def test_a_failed_assumption_comes_alone() -> None:
    broken = conflict("broken", type=ConflictType.CORE_ASSUMPTION_INVALIDATED)

    assert [c.id for c in in_order([conflict("old"), broken])] == ["broken"]


async def test_only_what_is_affected_is_opened_again() -> None:
    gap, needs = conflict("gap"), conflict("needs", way("more", Q.STAT_REQUIREMENTS, Demand.MORE_ATTRIBUTES))
    after, result = await step(IteratePhase(), await ready(gap, needs))

    state = after.state
    opened = {name for name, sub in state.sub_problems.items() if sub.status is not SubProblemStatus.DECIDED}
    assert result.trigger is Trigger.REOPENED
    assert opened == {Q.DAMAGE_SCALING, Q.STAT_REQUIREMENTS}
    assert state.construction.notes.reopened == ["damage_scaling", "stat_requirements"]
    assert state.iteration == 1
    assert {c.id: (c.attempts, c.tried) for c in state.conflicts} == {
        "gap": (1, ["more_damage"]),
        "needs": (1, ["more"]),
    }
    (constraint,) = state.sub_problems[Q.DAMAGE_SCALING].constraints
    assert (constraint.conflict_id, constraint.demand) == ("gap", Demand.MORE_DAMAGE)
    assert len(state.sub_problems[Q.DAMAGE_SCALING].prior_attempts) == 1


async def test_suggestions_are_tried_in_order_and_only_so_often() -> None:
    ctx = await ready(conflict("gap", *(way(name) for name in "abcd")))
    seen = []
    for _ in range(3):
        ctx, result = await step(IteratePhase(), ctx)
        assert result.trigger is Trigger.REOPENED
        seen.append(ctx.state.conflicts[0].tried[-1])
        ctx = await explored_again(ctx)
    ctx, result = await step(IteratePhase(), ctx)

    assert seen == ["a", "b", "c"]
    assert result.trigger is Trigger.GAVE_UP
    assert result.state.outcome is Outcome.CAVEATS


@pytest.mark.parametrize("attempts", [3, 4])
async def test_a_conflict_without_attempts_left_is_left(attempts: int) -> None:
    spent, fresh = conflict("spent", way("x"), attempts=attempts), conflict("fresh", way("y", Q.SURVIVABILITY))
    after, _ = await step(IteratePhase(), await ready(spent, fresh))

    assert {c.id: c.attempts for c in after.state.conflicts} == {"spent": attempts, "fresh": 1}
    assert after.state.sub_problems[Q.DAMAGE_SCALING].status is SubProblemStatus.DECIDED


async def test_after_five_rounds_it_ends() -> None:
    _, result = await step(IteratePhase(), await ready(conflict("gap"), iteration=MOST_ITERATIONS))

    assert result.trigger is Trigger.GAVE_UP
    assert "5 rounds" in result.state.caveats[0]


@pytest.mark.parametrize(
    ("missed", "iteration", "ended"),
    [
        (True, 1, None),
        (True, 2, "After 2 rounds"),
        (False, 0, "A first draft is improved for what was asked for only"),
    ],
)
async def test_a_draft_is_improved_twice_and_only_for_what_was_asked(
    missed: bool, iteration: int, ended: str | None
) -> None:
    state = WishState.UNMET if missed else WishState.MET
    wish = WishOutcome(wish="at least 9,000 life", words="9k", kind="life", target=9e3, reached=None, state=state)
    asked = await ready(conflict("gap"), iteration=iteration, wishes=[wish])
    _, result = await step(IteratePhase(), replace(asked, request=changed(asked.request, effort=Effort.QUICK)))

    assert result.trigger is (Trigger.REOPENED if ended is None else Trigger.GAVE_UP)
    assert ended is None or result.state.caveats[0].startswith(ended)


async def test_caveats_say_what_is_wrong_what_was_tried_and_what_to_do() -> None:
    gap = conflict("gap", way("a"), way("b"), tried=["a", "b"], attempts=2)
    _, result = await step(IteratePhase(), await ready(gap))

    text = "\n".join(result.state.caveats)
    assert "gap is not met." in text
    assert "Tried against it: do a, do b." in text
    assert "By hand: do a." in text


async def test_every_round_is_told_with_what_it_came_to() -> None:
    main = Blueprint(class_name="Toy", level=90, main_group=1, groups=[SkillGroup(gems=[Gem(gem_id="x", name="Bolt")])])
    missed = WishOutcome(
        wish="cold damage", words="cold", kind="damage_type", target="cold", reached="fire", state=WishState.UNMET
    )
    gap = conflict("gap", way("a"), tried=["a"], attempts=1)
    first = Attempt(iteration=0, skill="Ball", dps=9.0, ehp=1234.0)
    start = await ready(gap, blueprint=main, iteration=1, attempts=[first], wishes=[missed])
    after, result = await step(IteratePhase(), start)

    assert result.trigger is Trigger.GAVE_UP
    rounds = [line for line in after.state.caveats if line.startswith("Round ")]
    assert rounds == [
        "Round 0, Ball: 9 damage per second, 1,234 effective hit points.",
        "Round 1, Bolt: 1 damage per second, 0 effective hit points; not reached: cold damage.",
    ]


async def test_a_build_that_got_worse_goes_back_and_tries_the_next_way() -> None:
    gap = conflict("gap", way("a"), way("b", Q.SURVIVABILITY, Demand.MORE_EFFECTIVE_LIFE))
    start = await ready(gap)
    before = {name: sub.decision for name, sub in start.state.sub_problems.items()}
    ctx, _ = await step(IteratePhase(), start)
    ctx = await explored_again(ctx)
    tried = ctx.state.sub_problems[Q.DAMAGE_SCALING].decision
    assert tried is not None
    bad = worse(ctx.state, gap, conflict("new"))
    after, result = await step(IteratePhase(), context(ctx.engine, state=bad, invariants=ctx.invariants))

    state = after.state
    assert result.trigger is Trigger.REOPENED
    assert result.xml == GOOD.model_dump_json().encode()
    assert state.blueprint == GOOD
    assert [(e.sub_problem, e.option) for e in state.eliminated] == [(Q.DAMAGE_SCALING, tried.name)]
    assert state.sub_problems[Q.DAMAGE_SCALING].decision == before[Q.DAMAGE_SCALING]
    assert state.sub_problems[Q.SURVIVABILITY].status is SubProblemStatus.EXPLORING
    assert [(c.id, c.attempts, c.tried) for c in state.conflicts] == [("gap", 2, ["a", "b"])]
    assert (state.emergency_stops, state.iteration) == (1, 2)
    assert state.construction.notes.reopened == ["survivability"]


async def test_a_build_that_is_gone_back_to_is_told_as_it_was_and_not_as_the_one_that_failed() -> None:
    """An Ember Fusillade was told the weapon sets of the Perfect Strike that was tried after it."""
    gap = conflict("gap", way("a"), way("b", Q.SURVIVABILITY, Demand.MORE_EFFECTIVE_LIFE))
    start = await ready(gap)
    assert start.state.best is not None
    said = StageNotes(weapon_sets="24 for Fireball", tolerated=["fire resistance 73 %"], objective=2.0, evaluations=100)
    best = start.state.best.model_copy(update={"notes": said.of_build()})
    best = Snapshot.model_validate_json(best.model_dump_json())
    state = start.state.model_copy(update={"best": best})
    ctx, _ = await step(IteratePhase(), context(start.engine, state=state, invariants=start.invariants))
    ctx = await explored_again(ctx)
    idea = Advice(idea="a support", reason="more damage", refused_because="")
    other = StageNotes(weapon_sets="24 for Molten Blast", objective=1.0, advice=[idea], evaluations=250)
    bad = worse(ctx.state, gap, conflict("new")).model_copy(update={"construction": ConstructProgress(notes=other)})
    after, _ = await step(IteratePhase(), context(ctx.engine, state=bad, invariants=ctx.invariants))

    notes = after.state.construction.notes
    assert (notes.weapon_sets, notes.tolerated, notes.objective) == ("24 for Fireball", ["fire resistance 73 %"], 2.0)
    assert notes.advice == []
    assert notes.evaluations == 250, "what it took counts all"


async def test_a_wish_that_is_lost_for_another_is_no_way_out() -> None:
    gap = conflict("gap", way("a"), way("b", Q.SURVIVABILITY, Demand.MORE_EFFECTIVE_LIFE))
    kept = WishOutcome(wish="life", words="life", kind="life", target=1.0, reached=1.0, state=WishState.MET)
    start = await ready(gap)
    assert start.state.best is not None
    best = start.state.best.model_copy(update={"wishes": [kept]})
    ctx, _ = await step(IteratePhase(), context(start.engine, state=start.state.model_copy(update={"best": best})))
    ctx = await explored_again(ctx)
    swapped = worse(ctx.state, gap).model_copy(update={"wishes": [kept.model_copy(update={"state": WishState.UNMET})]})
    after, result = await step(IteratePhase(), context(ctx.engine, state=swapped, invariants=ctx.invariants))

    assert result.trigger is Trigger.REOPENED
    assert after.state.blueprint == GOOD
    assert after.state.wishes == [kept]
    assert [e.reason for e in after.state.eliminated] == [
        "iteration 1 had 1 blocking conflicts, not 1, and no longer met: life"
    ]


async def test_twice_worse_in_a_row_ends_with_the_best_build() -> None:
    gap = conflict("gap", *(way(name) for name in "abc"))
    ctx, _ = await step(IteratePhase(), await ready(gap))
    for trigger in Trigger.REOPENED, Trigger.GAVE_UP:
        ctx = await explored_again(ctx)
        bad = worse(ctx.state, gap, conflict("new"))
        ctx, result = await step(IteratePhase(), context(ctx.engine, state=bad, invariants=ctx.invariants))
        assert result.trigger is trigger

    assert ctx.state.blueprint == GOOD
    assert ctx.state.inspection is not None
    assert result.xml == GOOD.model_dump_json().encode()
    assert "worse" in ctx.state.caveats[0]
    assert [c.id for c in ctx.state.conflicts] == ["gap"]


async def test_a_good_round_between_forgives_the_stop() -> None:
    gap = conflict("gap", *(way(name) for name in "abc"))
    start = await ready(gap, emergency_stops=1, iteration=2)
    after, result = await step(IteratePhase(), start)

    assert result.trigger is Trigger.REOPENED
    assert after.state.emergency_stops == 0


async def test_giving_up_returns_to_the_better_build() -> None:
    gap = conflict("gap", way("a"), tried=["a"], attempts=1)
    start = await ready(gap, blueprint=BAD, iteration=1)
    after, result = await step(IteratePhase(), start)

    assert result.trigger is Trigger.GAVE_UP
    assert after.state.blueprint == GOOD
    assert result.xml == GOOD.model_dump_json().encode()


async def test_without_a_best_build_the_conflicts_are_still_worked_on() -> None:
    broken = conflict(
        "broken",
        way("weapon", Q.DAMAGE_DELIVERY, Demand.OTHER_WEAPON),
        type=ConflictType.CORE_ASSUMPTION_INVALIDATED,
        provisional=True,
    )
    after, result = await step(IteratePhase(), await ready(broken, best=None))

    assert result.trigger is Trigger.REOPENED
    assert after.state.sub_problems[Q.DAMAGE_DELIVERY].status is SubProblemStatus.EXPLORING


class Stubborn(RulesReasoner):
    """Always wants what was tried already, or what nobody suggested."""

    async def resolve(self, ctx: ReasoningContext, conflicts: list[BuildConflict]) -> Resolution:
        return Resolution(tuple((c, way("never heard of")) for c in conflicts))


async def test_a_pick_that_nobody_suggested_is_replaced() -> None:
    start = await ready(conflict("gap", way("a"), way("b"), tried=["a"], attempts=1))
    ctx = context(start.engine, state=start.state, invariants=start.invariants, reasoner=Stubborn())
    after, _ = await step(IteratePhase(), ctx)

    assert after.state.conflicts[0].tried == ["a", "b"]


async def test_it_always_ends() -> None:
    """Every round brings the same three conflicts back: the limits end it."""
    ways = [way(f"w{i}", where) for i, where in enumerate((Q.DAMAGE_SCALING, Q.SURVIVABILITY, Q.DAMAGE_DELIVERY))]
    ctx = await ready(*(conflict(name, *ways) for name in ("one", "two", "three")))
    for _ in range(MOST_ITERATIONS + 1):
        ctx, result = await step(IteratePhase(), ctx)
        if result.trigger is Trigger.GAVE_UP:
            return
        ctx = await explored_again(ctx)
    raise AssertionError("it went on")
