"""Questions are answered one per step, in the order in which they wait for each other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.model.memory import Memory, MemoryKey
from app.model.names import Demand, Goal, SubProblemName, SubProblemStatus, Trigger
from app.model.state import Elimination
from app.model.sub_problems import Constraint, DeliveryChoice, ScalingChoice
from app.phases.base import PhaseContext
from app.phases.decompose import DecomposePhase
from app.phases.explore.questions import ExplorePhase
from app.phases.iterate import taken_back
from app.storage.memory_port import NoMemory
from tests.contract.storage.test_memory import a_memory
from tests.fakes.engine import small_world
from tests.unit.phases.steps import context, finish, step

Q = SubProblemName
S = SubProblemStatus


async def decomposed(prompt: str) -> PhaseContext:
    ctx, _ = await finish(DecomposePhase(), context(small_world(), prompt))
    return ctx


async def explored(prompt: str) -> PhaseContext:
    ctx, _ = await finish(ExplorePhase(), await decomposed(prompt))
    return ctx


@pytest.mark.parametrize("prompt", ["lightning sorceress", "spark stormweaver", "titan", "summoner", "life monk"])
async def test_one_question_per_step_and_never_before_what_it_waits_for(prompt: str) -> None:
    ctx = await decomposed(prompt)
    left = 7 - sum(sub.status is S.DECIDED for sub in ctx.state.sub_problems.values())
    _, results = await finish(ExplorePhase(), ctx)

    assert len(results) == left
    before = {name for name, sub in ctx.state.sub_problems.items() if sub.status is S.DECIDED}
    for result in results:
        now = {name for name, sub in result.state.sub_problems.items() if sub.status is S.DECIDED}
        (new,) = now - before
        assert set(result.state.sub_problems[new].depends_on) <= before
        before = now
    assert [r.trigger for r in results] == [*[None] * (left - 1), Trigger.EXPLORED]
    assert (results[-1].state.done, results[-1].state.total) == (7, 7)


async def test_a_question_is_blocked_while_it_waits() -> None:
    ctx = await decomposed("lightning sorceress")
    _, first = await step(ExplorePhase(), ctx)

    status = {name: sub.status for name, sub in first.state.sub_problems.items()}
    assert status[Q.DAMAGE_DELIVERY] is S.DECIDED
    assert status[Q.RESOURCE_SUSTAIN] is S.EXPLORING
    assert status[Q.STAT_REQUIREMENTS] is S.BLOCKED


async def test_facts_are_recorded_with_the_answer() -> None:
    ctx = await explored("lightning sorceress")

    assert {d.sub_problem for d in ctx.state.discoveries} == set(Q)
    assert all(sub.decision and sub.decision.alternatives for sub in ctx.state.sub_problems.values())


async def test_a_step_repeated_after_a_crash_gives_the_same() -> None:
    ctx = await decomposed("lightning sorceress")

    assert await ExplorePhase().run(ctx) == await ExplorePhase().run(ctx)


async def test_a_refinement_without_questions_gets_them_first() -> None:
    ctx, results = await finish(ExplorePhase(), context(small_world(), "lightning sorceress"))

    assert results[0].invariants is not None
    assert set(ctx.state.sub_problems) == set(Q)
    assert results[-1].trigger is Trigger.EXPLORED


async def test_a_reopened_question_keeps_its_history() -> None:
    ctx = await explored("lightning sorceress")
    before = ctx.state.sub_problems[Q.DAMAGE_SCALING].decision
    more = Constraint(conflict_id="gap", demand=Demand.MORE_DAMAGE, iteration=1, strategy="more_damage")
    state = ctx.state.reopened(Q.DAMAGE_SCALING, [more])

    assert all(d.stale == (d.sub_problem is Q.DAMAGE_SCALING) for d in state.discoveries)
    assert state.construction.notes.reopened == ["damage_scaling"]

    after, results = await finish(ExplorePhase(), context(ctx.engine, state=state, invariants=ctx.invariants))
    sub = after.state.sub_problems[Q.DAMAGE_SCALING]
    assert len(results) == 1
    assert sub.prior_attempts == [before]
    assert sub.decision is not None
    assert isinstance(sub.decision.choice, ScalingChoice)
    assert sub.decision.choice.damage_weight == 1.5
    assert not any(d.stale for d in after.state.discoveries)


async def test_another_skill_reopens_what_was_answered_for_the_old_one() -> None:
    ctx = await explored("lightning sorceress")
    other = Constraint(conflict_id="gap", demand=Demand.OTHER_SKILL, iteration=1, strategy="other_skill")
    state = ctx.state.reopened(Q.DAMAGE_DELIVERY, [other]).model_copy(update={"iteration": 1})
    after, _ = await finish(ExplorePhase(), context(ctx.engine, state=state, invariants=ctx.invariants))

    delivery = after.state.sub_problems[Q.DAMAGE_DELIVERY].decision
    assert delivery is not None
    assert isinstance(delivery.choice, DeliveryChoice)
    assert delivery.choice.skill_name != "Spark"
    answered = set(after.state.construction.notes.reopened)
    assert {"damage_delivery", "damage_scaling", "resource_sustain", "spirit_allocation"} <= answered
    assert "survivability" not in answered


async def test_taking_back_restores_answers_and_eliminates_the_failed_ones() -> None:
    ctx = await explored("lightning sorceress")
    other = Constraint(conflict_id="gap", demand=Demand.OTHER_SKILL, iteration=1, strategy="other_skill")
    state = ctx.state.reopened(Q.DAMAGE_DELIVERY, [other]).model_copy(update={"iteration": 1})
    after, _ = await finish(ExplorePhase(), context(ctx.engine, state=state, invariants=ctx.invariants))
    back = taken_back(after.state, 0, "it was worse")

    assert {n: s.decision for n, s in back.sub_problems.items()} == {
        n: s.decision for n, s in ctx.state.sub_problems.items()
    }
    failed = after.state.sub_problems[Q.DAMAGE_DELIVERY].decision
    assert failed is not None
    assert [(e.sub_problem, e.option) for e in back.eliminated] == [(Q.DAMAGE_DELIVERY, failed.name)]
    assert all(not s.constraints and not s.prior_attempts for s in back.sub_problems.values())


class Doubting(NoMemory):
    """Remembers that an answer failed for the main skill that is decided on."""

    def __init__(self, skill_id: str, failure: Elimination) -> None:
        self._skill_id = skill_id
        self._failure = failure

    async def recall(self, key: MemoryKey, owner: str) -> list[Memory]:
        if (key.skill_id, key.goal) != (self._skill_id, Goal.MAPPING):
            return []
        return [a_memory("old", key=key, failures=[self._failure])]


async def test_what_failed_in_an_earlier_build_is_considered_last() -> None:
    plain = (await explored("lightning sorceress for mapping")).state.sub_problems
    first, delivery = plain[Q.DAMAGE_SCALING].decision, plain[Q.DAMAGE_DELIVERY].decision
    assert first is not None
    assert delivery is not None
    assert isinstance(delivery.choice, DeliveryChoice)
    failure = Elimination(sub_problem=Q.DAMAGE_SCALING, option=first.name, reason="two conflicts more")
    ctx = await decomposed("lightning sorceress for mapping")
    memory = Doubting(delivery.choice.skill_id, failure)
    for _ in range(9):
        result = await ExplorePhase().run(replace(ctx, memory=memory))
        ctx = replace(ctx, state=result.state)
        if result.trigger is not None:
            break

    asked = ctx.state.sub_problems
    now = asked[Q.DAMAGE_SCALING].decision
    assert now is not None
    assert now.name != first.name
    assert "earlier build" in next(str(o.rejected_because) for o in now.alternatives if o.name == first.name)
    assert asked[Q.SURVIVABILITY].decision == plain[Q.SURVIVABILITY].decision
