"""Strategic mode on a toy engine: ways of dealing damage are measured before anything is built."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.model.base import changed
from app.model.constraints import Invariant, InvariantSet
from app.model.names import Mode, Provenance, SubProblemName, Trigger
from app.model.state import BuildState
from app.model.sub_problems import DeliveryChoice, Option
from app.phases.base import BUDGETS, PhaseContext, PhaseResult
from app.phases.explore.strategic import CLEARLY, StrategicExplore, ways_of
from app.search.sessions import Sharing
from tests.fakes.arithmetic import ArithmeticEngine, active
from tests.unit.phases.test_construct import context, fresh, world

Q = SubProblemName
BOLT = Option(name="bolt", choice=DeliveryChoice(skill_id="bolt", skill_name="Bolt"), reason="another way")
NAMED = InvariantSet(
    invariants=[Invariant(field="skill", value="Zap", provenance=Provenance.EXPLICIT, reason="you wrote it")]
)


class Answered:
    """An exploration that has nothing left to ask."""

    async def run(self, ctx: PhaseContext) -> PhaseResult:
        return PhaseResult(ctx.state, Trigger.EXPLORED)


def asked(mode: Mode = Mode.STRATEGIC) -> BuildState:
    """Return a state whose delivery question has an alternative, and one question that waits for its answer."""
    state = fresh()
    delivery, scaling = state.sub_problems[Q.DAMAGE_DELIVERY], state.sub_problems[Q.DAMAGE_SCALING]
    assert delivery.decision is not None
    subs = {
        **state.sub_problems,
        Q.DAMAGE_DELIVERY: changed(delivery, decision=changed(delivery.decision, alternatives=[BOLT])),
        Q.DAMAGE_SCALING: changed(scaling, depends_on=[Q.DAMAGE_DELIVERY]),
    }
    return changed(state, sub_problems=subs, exploration=BUDGETS[mode])


async def compared(effect: str) -> PhaseResult:
    """Compare with a skill of that effect."""
    known = world()
    known.gems.append(active("bolt", effect))
    return await StrategicExplore(Answered(), Sharing(1)).run(
        context(ArithmeticEngine(known), asked(), mode=Mode.STRATEGIC)
    )


async def test_a_clearly_better_way_takes_the_place_and_opens_what_rested_on_the_other() -> None:
    result = await compared("500 more")
    subs = result.state.sub_problems
    decision = subs[Q.DAMAGE_DELIVERY].decision
    assert result.trigger is None
    assert decision is not None
    assert decision.name == "bolt"
    assert decision.alternatives[0].rejected_because is not None
    assert subs[Q.DAMAGE_DELIVERY].prior_attempts == []
    assert {name for name, sub in subs.items() if not sub.is_decided} == {Q.DAMAGE_SCALING}
    assert subs[Q.DAMAGE_SCALING].prior_attempts == []


async def test_what_was_decided_is_checked_beside_its_best_rival_however_it_was_screened() -> None:
    known = world()
    known.gems += [active("bolt", "500 more"), active("dart", "400 more")]
    dart = changed(BOLT, name="dart", choice=changed(BOLT.choice, skill_id="dart", skill_name="dart"))
    state = asked()
    sub = state.sub_problems[Q.DAMAGE_DELIVERY]
    assert sub.decision is not None
    both = changed(sub, decision=changed(sub.decision, alternatives=[BOLT, dart]))
    state = changed(state, sub_problems={**state.sub_problems, Q.DAMAGE_DELIVERY: both})
    explore = StrategicExplore(Answered(), Sharing(1))
    result = await explore.run(context(ArithmeticEngine(known), state, mode=Mode.STRATEGIC))
    screened, checked = result.state.experiments
    assert [variant.name for variant in screened.variants] == [sub.decision.name, "bolt", "dart"]
    assert [variant.name for variant in checked.variants] == [sub.decision.name, "bolt"]


async def test_another_way_that_is_no_better_changes_nothing_but_the_record() -> None:
    result = await compared("")
    before = asked()
    assert result.trigger is Trigger.EXPLORED
    assert result.state.sub_problems == before.sub_problems
    assert [e.stage for e in result.state.experiments] == ["screen", "check"]
    assert result.state.exploration is not None
    assert result.state.exploration.experiments == 2
    assert result.state.exploration.trials > 0


@pytest.mark.parametrize(("effect", "replaced"), [("1 more", False), ("2 more", True)])
async def test_only_a_measured_margin_replaces_what_was_decided(effect: str, replaced: bool) -> None:
    before = asked().sub_problems[Q.DAMAGE_DELIVERY].decision
    after = (await compared(effect)).state
    decision = after.sub_problems[Q.DAMAGE_DELIVERY].decision
    assert before is not None
    assert decision is not None
    assert (decision.name != before.name) is replaced
    checked = after.experiments[-1]
    assert checked.variants[0].name == before.name
    margin = next(variant.gain for variant in checked.variants if variant.name != before.name)
    assert margin is not None
    assert (margin >= CLEARLY) is replaced


async def test_only_a_strategic_build_compares_and_only_once() -> None:
    engine = ArithmeticEngine(world())
    plain = context(engine, asked(Mode.INITIAL))
    assert (await StrategicExplore(Answered(), Sharing(1)).run(plain)).state == plain.state
    again = replace(plain, state=changed(asked(), iteration=1))
    assert (await StrategicExplore(Answered(), Sharing(1)).run(again)).state == again.state


def test_a_skill_that_the_user_named_is_not_up_for_comparison() -> None:
    assert [way.name for way in ways_of(asked(), InvariantSet())] == ["x", "bolt"]
    assert [way.name for way in ways_of(asked(), NAMED)] == ["x"]


def test_skills_between_which_the_user_leaves_the_choice_are_compared() -> None:
    (named,) = NAMED.invariants
    for names, ways in ((["Zap", "Bolt"], ["x", "bolt"]), (["Zap", "Other"], ["x"])):
        several = InvariantSet(invariants=[changed(named, value=names)])
        assert [way.name for way in ways_of(asked(), several)] == ways
