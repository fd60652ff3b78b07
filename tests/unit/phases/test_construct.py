from __future__ import annotations

from typing import Any

import pytest

from app.core.errors import InvalidTransition
from app.core.ids import BuildId
from app.engine.base import Engine
from app.model.base import changed
from app.model.blueprint import Blueprint, GearItem
from app.model.conflicts import BuildConflict, Details
from app.model.constraints import InvariantSet
from app.model.construction import ConstructProgress, StageNotes
from app.model.names import (
    ConflictType,
    Demand,
    Effort,
    Goal,
    Phase,
    SubProblemName,
    SubProblemStatus,
    Trigger,
)
from app.model.race import CompletedBuild, Contender, Race
from app.model.record import BuildRequest
from app.model.state import BuildState
from app.model.stats import Inspection, Stats
from app.model.sub_problems import Choice, Constraint, Decision, DraftFigures, Option, SubProblem
from app.phases.base import PhaseContext, PhaseResult
from app.phases.construct.stages import LOOK, MEASURE, ConstructPhase, broken_assumption
from app.search.base import RANGE, SearchContext, StageResult, config_for
from app.search.drafts import RUNGS
from app.search.sessions import Sharing
from app.search.stages.foundation import blank
from app.search.stages.passives import ascend, finish, grow_tree, polish_tree, settle_attributes
from app.search.stages.skills import helper_skills, main_supports, persistent_skills
from app.search.stages.table import FOUNDATION, STAGES, SearchStage, stages_for
from tests.fakes.arithmetic import VERSION, ArithmeticEngine, World, active, node, support
from tests.unit.search.conftest import PLAN

Q = SubProblemName


def world(**more: Any) -> World:
    tree = [
        node(1, 2, kind="start"),
        node(2, 3, kind="attribute"),
        *(node(i, i + 1, mods=[f"{i % 7} inc"], kind="notable" if i % 5 == 0 else "normal") for i in range(3, 140)),
    ]
    top = [
        node(500, 501, kind="ascendancy_start", ascendancy="Top"),
        *(node(i, i + 1, mods=["2 inc"], kind="notable", ascendancy="Top") for i in range(501, 512)),
    ]
    gems = [active("zap"), support("more", "20 more"), support("idle"), active("aura", "30 inc, 40 spirit", spirit=40)]
    return World(nodes=[*tree, *top], gems=gems, spirit=50, **more)


async def _found(ctx: SearchContext) -> StageResult:
    blueprint = await blank(ctx)
    await ctx.session.build(blueprint)
    return StageResult(blueprint)


def stage(name: str, work: Any, reads: Any = (), follows: Any = ()) -> SearchStage:
    return SearchStage(name, name, frozenset(reads), frozenset(follows), work)


TOY_STAGES = [
    stage(FOUNDATION, _found),
    stage("supports", main_supports, [Q.DAMAGE_DELIVERY]),
    stage("ascendancy", ascend, [Q.ASCENDANCY]),
    stage("tree", grow_tree, [Q.DAMAGE_SCALING]),
    stage("spirit", persistent_skills, [Q.SPIRIT_ALLOCATION]),
    stage("helpers", helper_skills),
    stage("polish", polish_tree),
    stage("attributes", settle_attributes),
    stage("finish", finish, Q),
]


def decided() -> dict[SubProblemName, SubProblem]:
    choices: dict[SubProblemName, Choice] = {
        Q.ASCENDANCY: PLAN.ascendancy,
        Q.DAMAGE_DELIVERY: PLAN.delivery,
        Q.DAMAGE_SCALING: PLAN.scaling,
        Q.SURVIVABILITY: PLAN.survivability,
        Q.RESOURCE_SUSTAIN: PLAN.sustain,
        Q.SPIRIT_ALLOCATION: PLAN.spirit,
        Q.STAT_REQUIREMENTS: PLAN.requirements,
    }
    return {
        name: SubProblem(
            name=name, status=SubProblemStatus.DECIDED, decision=Decision(name="x", choice=choice, reason="test")
        )
        for name, choice in choices.items()
    }


class NoReasoner:
    """Construct never asks a reasoner that has no advice."""

    advises = False


def context(engine: Engine, state: BuildState, invariants: InvariantSet | None = None, **request: Any) -> PhaseContext:
    return PhaseContext(
        build_id=BuildId("b"),
        request=BuildRequest(prompt="toy build", **request),
        invariants=invariants or InvariantSet(),
        state=state,
        engine=engine,
        reasoner=NoReasoner(),  # type: ignore[arg-type]
    )


def fresh() -> BuildState:
    return BuildState(phase=Phase.CONSTRUCT, sub_problems=decided())


async def run_all(engine: Engine, state: BuildState, sessions: int = 1) -> PhaseResult:
    result = PhaseResult(state)
    for _ in range(30):
        result = await ConstructPhase(Sharing(sessions), TOY_STAGES).run(context(engine, result.state))
        if result.trigger is not None:
            return result
    raise AssertionError("construct does not end")


async def test_one_stage_per_call_in_order() -> None:
    engine = ArithmeticEngine(world())
    first = await ConstructPhase(Sharing(1), TOY_STAGES).run(context(engine, fresh()))
    assert first.trigger is None
    assert first.state.construction.done == [FOUNDATION]
    *before, last = [stage.name for stage in TOY_STAGES[1:]]
    assert first.state.construction.pending == [*before, LOOK, last, MEASURE]
    assert (first.state.done, first.state.total) == (1, len(TOY_STAGES) + 2)


async def test_what_the_race_began_by_this_plan_is_gone_on_with() -> None:
    engine, state = ArithmeticEngine(world()), fresh()
    for _ in TOY_STAGES[:4]:
        state = (await ConstructPhase(Sharing(1), TOY_STAGES).run(context(engine, state))).state
    assert state.blueprint is not None
    answers = {name: sub.decision.choice for name, sub in decided().items() if sub.decision is not None}
    figures = [DraftFigures(dps=1.0, ehp=1.0, score=1.0, rung=rung) for rung in range(1, len(RUNGS) + 1)]
    option = Option(name="zap", choice=answers[Q.DAMAGE_DELIVERY], reason="it is a skill")
    won = Contender(
        option=option,
        ascendancies=[PLAN.ascendancy],
        answers=answers,
        figures=figures,
        draft=state.blueprint,
        is_whole=True,
    )
    raced = changed(fresh(), race=Race(contenders=[won], rungs=len(RUNGS), over=True))

    gone_on = (await ConstructPhase(Sharing(1), TOY_STAGES).run(context(engine, raced))).state
    assert gone_on.construction.done == [FOUNDATION, "supports", "ascendancy", "tree", "spirit"]
    assert gone_on.construction.notes.gear_made, "the race chose gear"

    others = {**decided(), Q.SURVIVABILITY: another(Q.SURVIVABILITY, changed(PLAN.survivability, mitigation=["ward"]))}
    other = (
        await ConstructPhase(Sharing(1), TOY_STAGES).run(context(engine, changed(raced, sub_problems=others)))
    ).state
    assert other.construction.done == [FOUNDATION], "another defence was decided on, so it begins anew"

    notes = StageNotes(weapon_sets="told by who completed it")
    complete = changed(won, completed=CompletedBuild(blueprint=state.blueprint, notes=notes))
    whole = changed(raced, race=Race(contenders=[complete], rungs=len(RUNGS), over=True))
    taken = (await ConstructPhase(Sharing(1), TOY_STAGES).run(context(engine, whole))).state.construction
    begun = [FOUNDATION, "supports", "ascendancy", "tree"]
    assert taken.done == [*begun, "spirit", "helpers", "attributes", "polish"], "this table has a polish of its own"
    assert taken.notes.weapon_sets == notes.weapon_sets
    deep = (await ConstructPhase(Sharing(1)).run(context(engine, whole, effort=Effort.DEEP))).state.construction
    assert deep.done == [*begun, "gear", "spirit"], "a deep build completes it more deeply"
    spared = {**decided(), Q.SPIRIT_ALLOCATION: another(Q.SPIRIT_ALLOCATION, changed(PLAN.spirit, reserve_free=30.0))}
    spirit = (
        await ConstructPhase(Sharing(1), TOY_STAGES).run(context(engine, changed(whole, sub_problems=spared)))
    ).state.construction
    assert spirit.done == [*begun, "spirit"], "something else was answered, so it is completed anew"


def another(name: SubProblemName, choice: Choice) -> SubProblem:
    return changed(decided()[name], decision=Decision(name="y", choice=choice, reason="test"))


async def test_the_finished_build_is_measured_and_exported() -> None:
    engine = ArithmeticEngine(world())
    result = await run_all(engine, fresh())
    blueprint = result.state.blueprint
    assert result.trigger is Trigger.CONSTRUCTED
    assert blueprint is not None
    assert result.xml == blueprint.model_dump_json().encode()
    assert result.state.stats is not None
    assert result.state.stats.dps
    assert [g.gem_id for g in blueprint.groups[0].gems] == ["zap", "more"]
    assert [g.gems[0].gem_id for g in blueprint.groups] == ["zap", "aura"]
    main = [n for n in blueprint.nodes if n.id < 500]
    assert (len(main), len(blueprint.nodes) - len(main)) == (113, 8)


async def test_evaluations_are_counted() -> None:
    engine = ArithmeticEngine(world())
    result = await run_all(engine, fresh())
    assert result.state.construction.notes.evaluations == engine.trials


@pytest.mark.parametrize("sessions", [2, 4])
async def test_more_sessions_give_the_same_build(sessions: int) -> None:
    alone = await run_all(ArithmeticEngine(world()), fresh())
    shared = await run_all(ArithmeticEngine(world()), fresh(), sessions)
    assert shared.state == alone.state


async def test_every_step_can_be_repeated_after_a_crash() -> None:
    """A step that ran but was not checkpointed runs again from the same state and gives the same."""
    engine, state = ArithmeticEngine(world()), fresh()
    while True:
        once = await ConstructPhase(Sharing(1), TOY_STAGES).run(context(engine, state))
        again = await ConstructPhase(Sharing(1), TOY_STAGES).run(context(engine, BuildState.from_yaml(state.to_yaml())))
        assert again == once
        state = once.state
        if once.trigger is not None:
            break


async def test_only_what_reads_a_reopened_question_runs_again() -> None:
    engine = ArithmeticEngine(world())
    built = (await run_all(engine, fresh())).state
    notes = changed(built.construction.notes, reopened=[Q.SPIRIT_ALLOCATION])
    again = built.model_copy(update={"construction": ConstructProgress(notes=notes)})
    result = await ConstructPhase(Sharing(1), TOY_STAGES).run(context(engine, again))
    assert result.state.construction.done == ["spirit"]
    assert result.state.construction.pending == ["finish", MEASURE]
    assert result.state.construction.notes.reopened == []


async def test_stages_that_run_again_see_one_weapon_set() -> None:
    """The last stage parts the sets; whoever spends points before it must not take set 2's for set 1's."""
    engine = ArithmeticEngine(world())
    built = (await run_all(engine, fresh())).state
    assert built.blueprint is not None
    last = built.blueprint.nodes[-1]
    beside = changed(last, id=999_999, weapon_set=2)
    nodes = [*built.blueprint.nodes[:-1], changed(last, weapon_set=1), beside]
    other_hand = {"Weapon 1 Swap": GearItem(slot="Weapon 1 Swap", base="Stick")}
    parted = changed(built.blueprint, nodes=nodes, items=built.blueprint.items | other_hand)
    notes = StageNotes(reopened=[Q.SPIRIT_ALLOCATION])
    again = changed(built, blueprint=parted, construction=ConstructProgress(notes=notes))
    result = await ConstructPhase(Sharing(1), TOY_STAGES).run(context(engine, again))
    found = result.state.blueprint
    assert found is not None
    assert {node.weapon_set for node in found.nodes} == {0}
    assert beside.id not in {node.id for node in found.nodes}
    assert "Weapon 1 Swap" not in found.items


async def test_spirit_decided_anew_replaces_what_was_reserved() -> None:
    engine = ArithmeticEngine(world())
    built = (await run_all(engine, fresh())).state
    engine.world.gems.append(active("herald", "90 inc, 45 spirit", spirit=45))
    notes = StageNotes(reopened=[Q.SPIRIT_ALLOCATION])
    again = built.model_copy(update={"construction": ConstructProgress(notes=notes)})
    result = await ConstructPhase(Sharing(1), TOY_STAGES).run(context(engine, again))
    assert result.state.blueprint is not None
    assert [g.gems[0].gem_id for g in result.state.blueprint.groups] == ["zap", "herald"]


async def test_a_dropped_support_stays_away() -> None:
    engine = ArithmeticEngine(world())
    subs = decided()
    drop = Constraint(conflict_id="c", demand=Demand.DROP_SUPPORT, values=Details(gem="more"))
    subs[Q.DAMAGE_DELIVERY] = subs[Q.DAMAGE_DELIVERY].model_copy(update={"constraints": [drop]})
    result = await run_all(engine, fresh().model_copy(update={"sub_problems": subs}))
    assert result.state.blueprint is not None
    assert [g.gem_id for g in result.state.blueprint.groups[0].gems] == ["zap"]


async def test_another_main_skill_starts_from_the_foundation() -> None:
    engine = ArithmeticEngine(world())
    built = (await run_all(engine, fresh())).state
    assert built.blueprint is not None
    other = built.blueprint.model_copy(update={"ascendancy": None})
    notes = StageNotes(reopened=[Q.SPIRIT_ALLOCATION])
    again = built.model_copy(update={"blueprint": other, "construction": ConstructProgress(notes=notes)})
    result = await ConstructPhase(Sharing(1), TOY_STAGES).run(context(engine, again))
    assert result.state.construction.done == [FOUNDATION]


async def test_an_open_question_is_refused() -> None:
    subs = decided()
    subs[Q.SURVIVABILITY] = SubProblem(name=Q.SURVIVABILITY)
    state = fresh().model_copy(update={"sub_problems": subs})
    with pytest.raises(InvalidTransition, match="survivability"):
        await ConstructPhase(Sharing(1), TOY_STAGES).run(context(ArithmeticEngine(world()), state))


async def test_a_main_skill_without_damage_fails_the_assumption() -> None:
    result = await run_all(ArithmeticEngine(world(base_damage=0.0)), fresh())
    assert result.trigger is Trigger.ASSUMPTION_FAILED
    assert result.xml is None
    assert [c.type for c in result.state.conflicts] == [ConflictType.CORE_ASSUMPTION_INVALIDATED]


async def test_a_skill_the_engine_does_not_model_is_no_failure() -> None:
    result = await run_all(ArithmeticEngine(world(modelled=False)), fresh())
    assert result.trigger is Trigger.CONSTRUCTED


def test_a_disabled_main_skill_is_a_failure_with_its_reason() -> None:
    stats = Stats(engine=VERSION, values={"CombinedDPS": 5.0})
    found = broken_assumption(
        Blueprint(class_name="Toy", level=1), stats, Inspection(disabled_reason="Main Hand weapon is not usable")
    )
    assert isinstance(found, BuildConflict)
    assert "not usable" in found.message


def test_stages_follow_what_they_build_on() -> None:
    everything = [s.name for s in STAGES]
    assert stages_for(STAGES, None) == everything
    assert stages_for(STAGES, []) == []
    spirit = stages_for(STAGES, [Q.SPIRIT_ALLOCATION])
    assert spirit[0] == "spirit"
    assert FOUNDATION not in spirit
    assert "gear" in stages_for(STAGES, [Q.SURVIVABILITY])
    for asked in Q:
        assert stages_for(STAGES, [asked])[-1] == "finish"


def test_configuration_of_the_goal() -> None:
    main = active("zap")
    assert config_for(Goal.BOSSING, 90, main)["enemyIsBoss"] == "Pinnacle"
    for other in (Goal.MAPPING, Goal.LEVELING, Goal.ALL_ROUND):  # common monsters make any build look safe and deadly
        assert config_for(other, 90, main)["enemyIsBoss"] == "Boss"
    assert [config_for(Goal.MAPPING, level, main)["resistancePenalty"] for level in (1, 30, 90)] == [0, -20, -60]


def test_who_fires_projectiles_keeps_a_distance() -> None:
    near, far, minion = (active("zap", tags=tags) for tags in (["Spell"], ["Spell", "Projectile"], ["Minion"]))
    assert [config_for(Goal.MAPPING, 9, gem).get("enemyDistance") for gem in (near, far, minion)] == [None, RANGE, None]
