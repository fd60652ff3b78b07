"""A refinement through its phases, on a toy engine: what it opens, tries, keeps and tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

from app.conflicts.case import case_of
from app.conflicts.table import find_conflicts
from app.core.errors import InvalidTransition
from app.engine.base import Engine
from app.model.base import changed
from app.model.conflicts import BuildConflict
from app.model.constraints import Invariant, InvariantSet
from app.model.experiments import Direction, Wish
from app.model.moves import Locks, Part
from app.model.names import ConflictType, Mode, Outcome, Phase, Provenance, Severity, SubProblemName, Trigger
from app.model.record import BuildRequest
from app.model.state import BuildState
from app.model.sub_problems import DeliveryChoice, Discovery
from app.model.wishes import WishState
from app.phases.base import PhaseContext, PhaseResult, PhaseStep
from app.phases.construct.refinement import RefineConstruct, mended_of
from app.phases.construct.stages import ConstructPhase
from app.phases.explore.refinement import KEPT, RefineExplore
from app.phases.explore.wish import aimed, can_be, merged, on_top
from app.phases.validate.judgement import RefineValidate
from app.reasoning.base import Conclusion, Experimenter, Idea, ReasoningContext, RefineReading
from app.search.sessions import Sharing
from tests.fakes.arithmetic import ArithmeticEngine, active
from tests.unit.phases.test_construct import TOY_STAGES, context, fresh, world


class Reader:
    """Reads every prompt as the same wish, and notes what it is asked."""

    def __init__(
        self,
        wish: Wish,
        locks: Locks,
        said: Sequence[Invariant] = (),
        *,
        lost: Sequence[str] = (),
        assessed: Sequence[BuildConflict] = (),
        thinks: bool = False,
        other: Mapping[str, str] = MappingProxyType({}),
        more: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        told = ("keep it",)
        self._reading = RefineReading(wish, locks, told, "some words", lambda words: "damage" in words, other, more)
        self._said, self._lost, self._assessed, self._thinks = said, lost, assessed, thinks
        self.advises = thinks
        self.asked: list[tuple[str, SubProblemName | None]] = []

    async def read_refinement(self, prompt: str) -> RefineReading:
        return self._reading

    async def extract(self, request: BuildRequest, engine: Engine) -> InvariantSet:
        said = {i.field: i for i in self._said} | {
            field: Invariant(field=field, value=value, provenance=Provenance.EXPLICIT, reason="set in the request")
            for field, value in request.overrides.items()
        }
        return InvariantSet(invariants=list(said.values()), not_understood=list(self._lost))

    async def gather(self, ctx: ReasoningContext, name: SubProblemName) -> list[Discovery]:
        self.asked.append(("gather", name))
        return [Discovery(sub_problem=name, fact="a fact", source="reader")]

    async def reconsider(self, ctx: ReasoningContext, name: SubProblemName, discoveries: list[Discovery]) -> Conclusion:
        self.asked.append(("reconsider", name))
        known = ctx.state.sub_problems[name].prior_attempts[-1]
        return Conclusion(changed(known, reason="Thought of anew.") if self._thinks else known)

    async def assess(self, ctx: ReasoningContext) -> list[BuildConflict]:
        self.asked.append(("assess", None))
        return list(self._assessed)

    async def advise(self, ctx: ReasoningContext, experimenter: Experimenter) -> list[Idea]:
        self.asked.append(("advise", None))
        return []


async def child(
    direction: Direction = "damage",
    locks: Locks | None = None,
    said: Sequence[Invariant] = (),
    inherited: InvariantSet | None = None,
    *,
    wishes: bool = True,
    **reader: Any,
) -> PhaseContext:
    """Return a refinement of a build that has all passive points left to spend."""
    inherited = inherited or InvariantSet()
    engine = ArithmeticEngine(world())
    bare = (await ConstructPhase(Sharing(1), TOY_STAGES).run(context(engine, fresh()))).state.blueprint
    assert bare is not None
    async with engine.session() as session:
        await session.build(bare)
        stats, inspection, xml = await session.stats(), await session.inspect(), await session.export()
    state = BuildState(
        phase=Phase.EXPLORE,
        inherited=inherited,
        sub_problems=fresh().sub_problems,
        blueprint=bare,
        stats=stats,
        inspection=inspection,
    )
    asked_of = Reader(
        Wish(direction=direction, gain=0.05, reason="more of it", said=wishes), locks or Locks(), said, **reader
    )
    asked = context(engine, state, inherited, mode=Mode.REFINEMENT, parent_id="p")
    asked = replace(asked, reasoner=asked_of, xml=xml)  # type: ignore[arg-type]
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
    first = await RefineExplore(Sharing(1)).run(ctx)
    refinement = first.state.refinement
    assert refinement is not None
    opened = {name for name, sub in first.state.sub_problems.items() if not sub.is_decided}
    assert opened == set(refinement.wish.opens)
    assert first.state.construction.notes.parent is not None
    after, result = await done(RefineExplore(Sharing(1)), ctx)
    assert result.trigger is Trigger.EXPLORED
    assert all(sub.is_decided for sub in after.state.sub_problems.values())
    assert all(after.state.sub_problems[name].prior_attempts for name in opened)
    assert [e.stage for e in after.state.experiments] == ["screen"]
    assert after.state.exploration is not None
    assert after.state.exploration.experiments == 1
    assert after.state.construction.notes.levers


async def test_a_wish_that_is_another_build_is_handed_over() -> None:
    other = Invariant(field="skill", value="Arc", provenance=Provenance.EXPLICIT, reason="said")
    result = await RefineExplore(Sharing(1)).run(await child(said=[other]))
    assert result.state.exploration is not None
    assert result.state.exploration.mode is Mode.STRATEGIC
    assert (result.state.sub_problems, result.state.blueprint) == ({}, None)
    assert result.invariants is not None
    assert result.invariants.get("skill") == "Arc"


async def test_what_a_build_is_made_with_is_another_build_where_the_parent_lacks_it() -> None:
    worn = Invariant(field="with", value=["Wondrous Belt"], provenance=Provenance.EXPLICIT, reason="said")
    result = await RefineExplore(Sharing(1)).run(await child(said=[worn]))
    assert result.state.exploration is not None
    assert result.state.exploration.mode is Mode.STRATEGIC
    assert result.invariants is not None
    assert result.invariants.get("with") == ["Wondrous Belt"]


async def test_what_is_to_stay_keeps_the_build_and_the_wish_is_told_as_unmet() -> None:
    worn = Invariant(field="with", value=["Wondrous Belt"], provenance=Provenance.EXPLICIT, reason="said")
    ctx, _ = await done(RefineExplore(Sharing(1)), await child(said=[worn], locks=Locks(parts=[Part.TREE])))
    told = (await RefineValidate().run((await done(RefineConstruct(Sharing(1)), ctx))[0])).state
    assert told.outcome is Outcome.CAVEATS
    assert [wish.kind for wish in told.wishes if wish.state is WishState.UNMET] == ["with"]


async def test_another_build_tells_what_it_cannot_keep() -> None:
    other = Invariant(field="skill", value="Arc", provenance=Provenance.EXPLICIT, reason="said")
    result = await RefineExplore(Sharing(1)).run(await child(said=[other]))
    assert result.invariants is not None
    assert "keep it" in result.invariants.not_understood
    assert any("keep it" in text for text in result.state.assumptions)


def _said(field: str, value: str | list[str] | float, words: list[str]) -> Invariant:
    return Invariant(field=field, value=value, provenance=Provenance.EXPLICIT, reason="said", words=words)


def test_what_a_build_has_several_of_comes_beside_the_parents() -> None:
    parent = InvariantSet(
        invariants=[_said("with", ["Headhunter"], ["hh"]), _said("style", ["minion", "critical"], ["pets", "crit"])]
    )
    now = InvariantSet(
        invariants=[_said("with", ["Grim Feast"], ["feast"]), _said("exclude", ["minions"], ["minions"])]
    )
    after = merged(parent, now)
    assert (after.get("with"), after.get("style")) == (["Grim Feast", "Headhunter"], ["critical"])
    found = after.find("style")
    assert found is not None
    assert found.words == ["crit"]
    assert after.get("exclude") == ["minions"]


async def test_another_skill_rules_out_the_one_there_is_and_is_another_build() -> None:
    ctx = await child(other={"skill": "a different skill"})
    delivery = ctx.state.sub_problems[SubProblemName.DAMAGE_DELIVERY].decision
    assert delivery is not None
    assert isinstance(delivery.choice, DeliveryChoice)
    result = await RefineExplore(Sharing(1)).run(ctx)
    assert result.state.exploration is not None
    assert result.state.exploration.mode is Mode.STRATEGIC
    assert result.invariants is not None
    assert result.invariants.get("exclude") == [delivery.choice.skill_name]
    assert result.invariants.get("skill") is None


@pytest.mark.parametrize(
    ("field", "value", "stays"),
    [
        ("style", "minion", False),
        ("style", "projectile", True),
        ("style", "low_life", True),
        ("damage_type", "fire", False),
        ("damage_type", "cold", True),
        ("weapon", "Crossbow", False),
        ("weapon", ["Bow", "Quiver"], True),
        ("weapon", "Shield", True),
    ],
)
def test_the_skill_stays_where_it_can_be_what_is_asked_for(field: str, value: str | list[str], stays: bool) -> None:
    shot = active("Ice Shot", tags=["attack", "cold", "projectile"], weapon_types=["Bow"])
    asked = Invariant(field=field, value=value, provenance=Provenance.EXPLICIT, reason="said")
    assert can_be(shot, InvariantSet(invariants=[asked])) is stays


async def test_another_ascendancy_takes_its_class_along() -> None:
    other = Invariant(field="ascendancy", value="Tinkerer", provenance=Provenance.EXPLICIT, reason="said")
    result = await RefineExplore(Sharing(1)).run(await child(said=[other]))
    assert result.invariants is not None
    assert (result.invariants.get("skill"), result.invariants.get("ascendancy")) == ("Zap", "Tinkerer")
    assert result.invariants.get("class") is None  # the reading of the ascendancy says it


async def test_more_of_a_figure_is_more_than_the_parent_has_and_is_told() -> None:
    ctx = await child(more={"strength": "more strength"}, wishes=False)
    assert ctx.state.stats is not None
    have = ctx.state.stats.get("Str")
    after, _ = await done(RefineExplore(Sharing(1)), ctx)
    wanted = after.invariants.get("strength")
    assert isinstance(wanted, float)
    assert wanted > have
    assert after.state.refinement is not None
    assert after.state.refinement.wish.enough < 0.0
    told = (await RefineValidate().run((await done(RefineConstruct(Sharing(1)), after))[0])).state
    assert "strength" in [wish.kind for wish in told.wishes]


async def test_better_gear_alone_is_another_build_and_beside_a_wish_it_is_not() -> None:
    gear = Invariant(field="gear", value="endgame", provenance=Provenance.EXPLICIT, reason="said")
    alone = await RefineExplore(Sharing(1)).run(await child(said=[gear], wishes=False))
    assert alone.state.exploration is not None
    assert alone.state.exploration.mode is Mode.STRATEGIC
    beside = await RefineExplore(Sharing(1)).run(await child(said=[gear]))
    assert beside.state.exploration is not None
    assert beside.state.exploration.mode is Mode.REFINEMENT


async def test_an_amount_on_top_is_the_parents_and_more() -> None:
    stats = (await child()).state.stats
    assert stats is not None
    more = on_top(_said("life", 2000.0, ["2000 more life"]), stats)
    assert more.value == round(stats.get("Life") + 2000.0)
    assert on_top(_said("life", 2000.0, ["2000 life"]), stats).value == 2000.0


async def test_what_helps_is_kept_with_its_figures_and_changes() -> None:
    ctx, _ = await done(RefineExplore(Sharing(1)), await child())
    parent = ctx.state.blueprint
    built, result = await done(RefineConstruct(Sharing(1)), ctx)
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
    ctx, _ = await done(RefineExplore(Sharing(1)), await child(locks=Locks(parts=list(Part))))
    built, result = await done(RefineConstruct(Sharing(1)), ctx)
    refinement = built.state.refinement
    assert refinement is not None
    assert (refinement.reached, refinement.changes, built.state.committed) == (False, [], [])
    assert result.xml is None
    assert built.state.blueprint == ctx.state.blueprint
    judged = await RefineValidate().run(built)
    assert judged.state.caveats[0] == refinement.verdict


async def test_old_faults_are_told_as_the_parents_and_new_ones_as_they_are() -> None:
    ctx, _ = await done(RefineExplore(Sharing(1)), await child())
    new = await RefineValidate().run(replace(ctx, state=changed(ctx.state, conflicts=[])))
    assert new.state.outcome is Outcome.CAVEATS
    assert not any(line.startswith("As in the parent: ") for line in new.state.caveats)
    old = await RefineValidate().run(replace(ctx, state=new.state))
    assert [line for line in old.state.caveats if not line.startswith(("As in the parent: ", "By hand: "))] == [""]


async def test_a_refinement_without_its_parents_file_cannot_begin() -> None:
    with pytest.raises(InvalidTransition):
        await RefineExplore(Sharing(1)).run(replace(await child(), xml=None))


async def test_all_seven_questions_are_answered_and_the_reasoner_is_asked_what_the_wish_concerns() -> None:
    asked = await child(thinks=True)
    ctx, _ = await done(RefineExplore(Sharing(1)), asked)
    refinement = ctx.state.refinement
    assert refinement is not None
    opens = set(refinement.wish.opens)
    for name, sub in ctx.state.sub_problems.items():
        assert sub.is_decided
        assert sub.decision is not None
        assert sub.decision.reason.startswith(KEPT) is (name not in opens)
        assert ("Thought of anew." in sub.decision.reason) is (name in opens)
    assert {name for _, name in asked.reasoner.asked} == opens  # type: ignore[attr-defined]
    assert {known.sub_problem for known in ctx.state.discoveries} == opens
    built, _ = await done(RefineConstruct(Sharing(1)), ctx)
    await RefineValidate().run(built)
    assert {what for what, _ in asked.reasoner.asked} == {"gather", "reconsider", "advise", "assess"}  # type: ignore[attr-defined]


async def test_an_answer_that_was_kept_twice_says_so_once() -> None:
    ctx, _ = await done(RefineExplore(Sharing(1)), await child())
    again = await child()
    ctx = replace(again, state=changed(again.state, sub_problems=ctx.state.sub_problems))
    ctx, _ = await done(RefineExplore(Sharing(1)), ctx)
    reasons = [sub.decision.reason for sub in ctx.state.sub_problems.values() if sub.decision is not None]
    assert max(reason.count(KEPT) for reason in reasons) == 1


async def test_the_child_lists_its_wish_what_it_kept_and_its_parents_wishes() -> None:
    level = Invariant(field="level", value=world_level(await child()), provenance=Provenance.EXPLICIT, reason="said")
    ctx, _ = await done(RefineExplore(Sharing(1)), await child(inherited=InvariantSet(invariants=[level])))
    built, _ = await done(RefineConstruct(Sharing(1)), ctx)
    told = (await RefineValidate().run(built)).state
    assert [(wish.kind, wish.state) for wish in told.wishes] == [
        ("refinement", WishState.MET),
        ("kept", WishState.MET),
        ("level", WishState.MET),
    ]
    assert told.best is not None
    assert told.best.wishes == told.wishes


def world_level(ctx: PhaseContext) -> int:
    assert ctx.state.blueprint is not None
    return ctx.state.blueprint.level


async def test_a_wish_that_is_not_reached_is_never_validated() -> None:
    ctx, _ = await done(RefineExplore(Sharing(1)), await child(locks=Locks(parts=list(Part))))
    built, _ = await done(RefineConstruct(Sharing(1)), ctx)
    told = (await RefineValidate().run(replace(built, state=changed(built.state, conflicts=[])))).state
    assert (told.outcome, told.wishes[0].state) == (Outcome.CAVEATS, WishState.UNMET)


async def test_words_that_are_no_wish_of_a_refinement_are_listed() -> None:
    ctx, _ = await done(RefineExplore(Sharing(1)), await child(lost=("more damage", "fluffy unicorns")))
    assert ctx.invariants.not_understood == ["fluffy unicorns"]
    told = (await RefineValidate().run((await done(RefineConstruct(Sharing(1)), ctx))[0])).state
    assert [wish.words for wish in told.wishes if wish.state is WishState.NOT_UNDERSTOOD] == ["fluffy unicorns"]


async def test_what_the_reasoner_sees_is_among_the_conflicts() -> None:
    seen = BuildConflict(
        id="goal_mismatch::dull",
        type=ConflictType.GOAL_MISMATCH,
        severity=Severity.WARNING,
        subject="dull",
        affected=[],
        message="It is dull.",
    )
    ctx, _ = await done(RefineExplore(Sharing(1)), await child(assessed=[seen]))
    told = (await RefineValidate().run((await done(RefineConstruct(Sharing(1)), ctx))[0])).state
    assert "It is dull." in [conflict.message for conflict in told.conflicts]


async def test_a_wish_that_the_parent_misses_does_not_forbid_every_change() -> None:
    far = Invariant(field="ehp", value=1e9, provenance=Provenance.EXPLICIT, reason="said")
    ctx, _ = await done(RefineExplore(Sharing(1)), await child(said=[far]))
    assert any("Asked for" in conflict.message for conflict in ctx.state.conflicts)
    built, _ = await done(RefineConstruct(Sharing(1)), ctx)
    assert built.state.refinement is not None
    assert built.state.refinement.reached
    told = (await RefineValidate().run(built)).state
    assert (told.outcome, told.wishes[0].state) == (Outcome.CAVEATS, WishState.MET)
    assert WishState.UNMET in [wish.state for wish in told.wishes]


@pytest.mark.parametrize(
    ("direction", "said", "field", "target", "expected"),
    [
        ("damage", True, "dps", 1500.0, ("damage", 0.5)),
        ("balanced", False, "ehp", 3000.0, ("survivability", 0.5)),
        ("damage", True, "ehp", 3000.0, ("damage", 0.15)),
        ("damage", True, "dps", 900.0, ("damage", 0.01)),
    ],
)
def test_a_figure_that_is_asked_for_is_what_the_wish_aims_at(
    direction: Direction, said: bool, field: str, target: float, expected: tuple[Direction, float]
) -> None:
    asked = Invariant(field=field, value=target, provenance=Provenance.EXPLICIT, reason="said")
    wish = aimed(
        Wish(direction=direction, said=said), InvariantSet(invariants=[asked]), {"DPS": 1000.0, "TotalEHP": 2000.0}
    )
    assert (wish.direction, round(wish.gain, 6)) == expected


def test_what_blocks_no_more_is_mended_and_what_is_left_of_it_is_said() -> None:
    def fault(subject: str, message: str, severity: Severity) -> BuildConflict:
        kind = ConflictType.RESISTANCE_GAP
        return BuildConflict(
            id=f"gap::{subject}", type=kind, severity=severity, subject=subject, affected=[], message=message
        )

    before = [fault(one, f"{one} is 40%.", Severity.BLOCKING) for one in ("fire", "cold", "lightning")]
    now = [fault("cold", "cold is 70%.", Severity.WARNING), fault("lightning", "lightning is 45%.", Severity.BLOCKING)]
    assert mended_of(before, now) == ["fire is 40%.", "cold is 40%. Now: cold is 70%."]
