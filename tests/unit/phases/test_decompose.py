"""The first two steps of a build."""

from __future__ import annotations

from typing import Any

from app.model.names import SubProblemName, SubProblemStatus, Trigger
from app.model.sub_problems import SubProblem
from app.phases.decompose import DecomposePhase
from app.reasoning.base import Decomposition, ReasoningContext
from app.reasoning.rules import RulesReasoner
from tests.fakes.engine import small_world
from tests.unit.phases.steps import context, finish, step

Q = SubProblemName


class Circular(RulesReasoner):
    """Proposes too few questions, two of which wait for each other."""

    async def decompose(self, ctx: ReasoningContext) -> Decomposition:
        two = {
            Q.ASCENDANCY: SubProblem(name=Q.ASCENDANCY, depends_on=[Q.DAMAGE_DELIVERY]),
            Q.DAMAGE_DELIVERY: SubProblem(name=Q.DAMAGE_DELIVERY, depends_on=[Q.ASCENDANCY]),
        }
        return Decomposition(two, assumptions=("it will do",), domain_gaps=("classes.md",), degraded=("decompose",))


async def test_constraints_come_first_then_questions() -> None:
    ctx, first = await step(DecomposePhase(), context(small_world()))

    assert first.trigger is None
    assert first.invariants is not None
    assert first.state.sub_problems == {}

    ctx, second = await step(DecomposePhase(), ctx)
    assert second.trigger is Trigger.DECOMPOSED
    assert set(second.state.sub_problems) == set(Q)
    assert second.invariants is None


async def test_what_the_prompt_answers_is_decided() -> None:
    _, results = await finish(DecomposePhase(), context(small_world(), "spark stormweaver"))

    subs = results[-1].state.sub_problems
    done = {name for name, sub in subs.items() if sub.status is SubProblemStatus.DECIDED}
    assert done == {Q.ASCENDANCY, Q.DAMAGE_DELIVERY}
    assert "2 of them answered" in results[-1].state.progress_label


async def test_circles_are_broken_and_said_whoever_proposed_them() -> None:
    _, results = await finish(DecomposePhase(), context(small_world(), reasoner=Circular()))

    state = results[-1].state
    found: dict[str, Any] = {name.value: sub.depends_on for name, sub in state.sub_problems.items()}
    assert set(state.sub_problems) == set(Q)
    assert [] in (found["ascendancy"], found["damage_delivery"])
    assert state.assumptions[0] == "it will do"
    assert "waits for the other" in state.assumptions[1]
    assert (state.domain_gaps, state.degraded) == (["classes.md"], ["decompose"])
