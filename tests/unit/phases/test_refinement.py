"""A refinement through its phases, on a toy engine: what it opens, tries, keeps and tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from app.conflicts.case import case_of
from app.conflicts.table import find_conflicts
from app.core.errors import InvalidTransition
from app.engine.base import Engine
from app.model.base import changed
from app.model.constraints import Invariant, InvariantSet
from app.model.experiments import Direction, Wish
from app.model.moves import Locks, Part
from app.model.names import Mode, Outcome, Phase, Provenance, Trigger
from app.model.record import BuildRequest
from app.model.state import BuildState
from app.phases.base import PhaseContext, PhaseResult, PhaseStep
from app.phases.construct.refinement import RefineConstruct
from app.phases.construct.stages import ConstructPhase
from app.phases.explore.refinement import RefineExplore
from app.phases.validate.judgement import RefineValidate
from app.reasoning.base import RefineReading
from tests.fakes.arithmetic import ArithmeticEngine
from tests.unit.phases.test_construct import TOY_STAGES, context, fresh, world


class Reader:
    """Reads every prompt as the same wish."""

    advises = False

    def __init__(self, wish: Wish, locks: Locks, said: Sequence[Invariant] = ()) -> None:
        self._reading = RefineReading(wish, locks, (), "some words")
        self._said = said

    async def read_refinement(self, prompt: str) -> RefineReading:
        return self._reading

    async def extract(self, request: BuildRequest, engine: Engine) -> InvariantSet:
        return InvariantSet(invariants=list(self._said))


async def child(
    direction: Direction = "damage", locks: Locks | None = None, said: Sequence[Invariant] = ()
) -> PhaseContext:
    """Return a refinement of a build that has all passive points left to spend."""
    engine = ArithmeticEngine(world())
    bare = (await ConstructPhase(1, TOY_STAGES).run(context(engine, fresh()))).state.blueprint
    assert bare is not None
    async with engine.session() as session:
        await session.build(bare)
        stats, inspection, xml = await session.stats(), await session.inspect(), await session.export()
    state = BuildState(
        phase=Phase.EXPLORE,
        inherited=InvariantSet(),
        sub_problems=fresh().sub_problems,
        blueprint=bare,
        stats=stats,
        inspection=inspection,
    )
    reader = Reader(Wish(direction=direction, gain=0.05, reason="more of it"), locks or Locks(), said)
    asked = context(engine, state, mode=Mode.REFINEMENT, parent_id="p")
    asked = replace(asked, reasoner=reader, xml=xml)  # type: ignore[arg-type]
    faults = find_conflicts(await case_of(engine, asked.demands, asked.invariants, state))
    return replace(asked, state=changed(state, conflicts=faults))


async def done(step: PhaseStep, ctx: PhaseContext) -> tuple[PhaseContext, PhaseResult]:
    """Do the phase's steps, each after a restart, until it says what comes next."""
    for _ in range(20):
        result = await step.run(ctx)
        state = BuildState.from_yaml(result.state.to_yaml())
        ctx = replace(ctx, state=state, invariants=result.invariants or ctx.invariants, xml=result.xml or ctx.xml)
        if result.trigger is not None:
            return ctx, result
    raise AssertionError("the phase does not end")


async def test_the_wish_opens_its_questions_and_one_screening_answers_them_all() -> None:
    ctx = await child()
    first = await RefineExplore(1).run(ctx)
    refinement = first.state.refinement
    assert refinement is not None
    opened = {name for name, sub in first.state.sub_problems.items() if not sub.is_decided}
    assert opened == set(refinement.wish.opens)
    assert first.state.construction.notes.parent is not None
    after, result = await done(RefineExplore(1), ctx)
    assert result.trigger is Trigger.EXPLORED
    assert all(sub.is_decided for sub in after.state.sub_problems.values())
    assert all(after.state.sub_problems[name].prior_attempts for name in opened)
    assert [e.stage for e in after.state.experiments] == ["screen"]
    assert after.state.exploration is not None
    assert after.state.exploration.experiments == 1
    assert after.state.construction.notes.levers


async def test_a_wish_that_is_another_build_is_handed_over() -> None:
    other = Invariant(field="skill", value="Arc", provenance=Provenance.EXPLICIT, reason="said")
    result = await RefineExplore(1).run(await child(said=[other]))
    assert result.state.exploration is not None
    assert result.state.exploration.mode is Mode.STRATEGIC
    assert (result.state.sub_problems, result.state.blueprint) == ({}, None)
    assert result.invariants is not None
    assert result.invariants.get("skill") == "Arc"


async def test_what_helps_is_kept_with_its_figures_and_changes() -> None:
    ctx, _ = await done(RefineExplore(1), await child())
    parent = ctx.state.blueprint
    built, result = await done(RefineConstruct(1), ctx)
    refinement = built.state.refinement
    assert result.trigger is Trigger.CONSTRUCTED
    assert refinement is not None
    assert refinement.reached
    assert refinement.after["DPS"] > refinement.before["DPS"]
    assert refinement.changes
    assert built.state.blueprint != parent
    assert result.xml is not None
    assert built.xml != ctx.xml
    judged = await RefineValidate().run(built)
    assert judged.trigger is Trigger.VALIDATED
    assert judged.state.best is not None
    assert judged.state.best.blueprint == built.state.blueprint


async def test_nothing_found_leaves_the_parent_and_says_so() -> None:
    ctx, _ = await done(RefineExplore(1), await child(locks=Locks(parts=list(Part))))
    built, result = await done(RefineConstruct(1), ctx)
    refinement = built.state.refinement
    assert refinement is not None
    assert (refinement.reached, refinement.changes, built.state.committed) == (False, [], [])
    assert result.xml is None
    assert built.state.blueprint == ctx.state.blueprint
    judged = await RefineValidate().run(built)
    assert judged.state.caveats[0] == refinement.verdict


async def test_old_faults_are_told_as_the_parents_and_new_ones_as_they_are() -> None:
    ctx, _ = await done(RefineExplore(1), await child())
    new = await RefineValidate().run(replace(ctx, state=changed(ctx.state, conflicts=[])))
    assert new.state.outcome is Outcome.CAVEATS
    assert not any(line.startswith("As in the parent: ") for line in new.state.caveats)
    old = await RefineValidate().run(replace(ctx, state=new.state))
    assert [line for line in old.state.caveats if not line.startswith(("As in the parent: ", "By hand: "))] == [""]


async def test_a_refinement_without_its_parents_file_cannot_begin() -> None:
    with pytest.raises(InvalidTransition):
        await RefineExplore(1).run(replace(await child(), xml=None))
