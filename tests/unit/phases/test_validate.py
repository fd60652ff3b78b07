"""The phase: what becomes of conflicts, the best build and the outcome."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest

from app.conflicts.order import caveats
from app.core.ids import BuildId
from app.engine.base import Facts, Outputs, Session
from app.model.base import changed
from app.model.blueprint import Blueprint, Change
from app.model.conflicts import BuildConflict, Suggestion
from app.model.constraints import Invariant, InvariantSet
from app.model.demands import floors_for
from app.model.facts import AffixFact, BaseFact, ClassFact, EdgeFact, GemFact, NodeFact, RuneFact, UniqueFact
from app.model.names import ConflictType, Demand, GearTier, Outcome, Provenance, Role, Severity, SubProblemName, Trigger
from app.model.race import Contender
from app.model.record import BuildRequest
from app.model.state import BuildState, Snapshot
from app.model.stats import BuildReport, EngineVersion, Inspection, Stats
from app.model.sub_problems import Discovery, SubProblem
from app.model.wishes import WishOutcome, WishState
from app.phases.base import PhaseContext
from app.phases.validate.judgement import ValidatePhase, better
from app.reasoning.base import (
    Conclusion,
    Decomposition,
    Experimenter,
    FoundBuild,
    Idea,
    ReasoningContext,
    RefineReading,
    Remarks,
    Resolution,
)

VERSION = EngineVersion(name="fake", version="1", tree_version="0_5")
FLOORS = floors_for(90, GearTier.MID)
STRONG = {
    "CombinedDPS": 50_000.0,
    "TotalEHP": 20_000.0,
    "FireResist": 75.0,
    "ColdResist": 75.0,
    "LightningResist": 75.0,
}
POINTS = {"used": 113, "available": 113, "ascendancy_used": 8, "ascendancy_available": 8}
BUILD = Blueprint.model_validate(
    {
        "class_name": "Monk",
        "ascendancy": "Invoker",
        "level": 90,
        "main_group": 1,
        "groups": [{"gems": [{"gem_id": "g", "name": "Tempest Bell"}]}],
    }
)


class NoFacts:
    """An engine that knows of nothing."""

    async def classes(self) -> list[ClassFact]:
        return []

    async def gems(self) -> list[GemFact]:
        return []

    async def nodes(self) -> list[NodeFact]:
        return []

    async def edges(self) -> list[EdgeFact]:
        return []

    async def bases(self) -> list[BaseFact]:
        return []

    async def affixes(self, base: str) -> list[AffixFact]:
        return []

    async def uniques(self) -> list[UniqueFact]:
        return []

    async def runes(self, base: str) -> list[RuneFact]:
        return []

    async def supports_for(self, gem_id: str) -> list[str]:
        return []


class FixedSession:
    """Every build measures the same; `loaded` is the last one."""

    def __init__(self) -> None:
        self.loaded: Blueprint | None = None

    async def build(self, blueprint: Blueprint) -> BuildReport:
        self.loaded = blueprint
        return BuildReport()

    async def load(self, xml: bytes) -> BuildReport:
        raise NotImplementedError

    async def apply(self, changes: Sequence[Change], metrics: Sequence[str] = ()) -> BuildReport:
        raise NotImplementedError

    async def what_if(self, candidates: Sequence[Sequence[Change]], metrics: Sequence[str]) -> list[Outputs]:
        raise NotImplementedError

    async def stats(self) -> Stats:
        return Stats(engine=VERSION, values=STRONG)

    async def inspect(self) -> Inspection:
        return Inspection(points=POINTS)

    async def blueprint(self) -> Blueprint:
        raise NotImplementedError

    async def export(self) -> bytes:
        raise NotImplementedError


class FixedEngine:
    """Opens one session and remembers it."""

    def __init__(self) -> None:
        self.opened = FixedSession()

    @property
    def version(self) -> EngineVersion:
        return VERSION

    @property
    def facts(self) -> Facts:
        return NoFacts()

    def session(self) -> AbstractAsyncContextManager[Session]:
        @asynccontextmanager
        async def opened() -> AsyncIterator[Session]:
            yield self.opened

        return opened()

    async def start(self) -> None: ...

    async def close(self) -> None: ...


class Judge:
    """A reasoner that only assesses; it remembers the figures it was shown."""

    name = "fake"
    model = None
    advises = False
    remarks = Remarks()

    def __init__(self, *conflicts: BuildConflict) -> None:
        self.conflicts = list(conflicts)
        self.shown: Stats | None = None

    async def assess(self, ctx: ReasoningContext) -> list[BuildConflict]:
        self.shown = ctx.state.stats
        return self.conflicts

    async def reconsider(self, ctx: ReasoningContext, name: SubProblemName, discoveries: list[Discovery]) -> Conclusion:
        raise NotImplementedError

    async def extract(self, request: BuildRequest, engine: Any) -> InvariantSet:
        raise NotImplementedError

    async def read_refinement(self, prompt: str) -> RefineReading:
        raise NotImplementedError

    async def recognise(self, found: FoundBuild) -> tuple[InvariantSet, dict[SubProblemName, SubProblem]]:
        raise NotImplementedError

    async def decompose(self, ctx: ReasoningContext) -> Decomposition:
        raise NotImplementedError

    async def contenders(self, ctx: ReasoningContext, most: int) -> list[Contender]:
        return []

    async def gather(self, ctx: ReasoningContext, name: SubProblemName) -> list[Discovery]:
        raise NotImplementedError

    async def explore(self, ctx: ReasoningContext, name: SubProblemName, discoveries: list[Discovery]) -> Conclusion:
        raise NotImplementedError

    async def resolve(self, ctx: ReasoningContext, conflicts: list[BuildConflict]) -> Resolution:
        raise NotImplementedError

    async def advise(self, ctx: ReasoningContext, experimenter: Experimenter) -> list[Idea]:
        raise NotImplementedError


def context(
    *,
    values: dict[str, float] | None = None,
    judge: Judge | None = None,
    invariants: InvariantSet | None = None,
    **state: Any,
) -> PhaseContext:
    figures: dict[str, Any] = {
        "blueprint": BUILD,
        "stats": Stats(engine=VERSION, values={**STRONG, **(values or {})}),
        "inspection": Inspection(points=POINTS),
    }
    return PhaseContext(
        build_id=BuildId("b"),
        request=BuildRequest(prompt="a monk"),
        invariants=invariants or InvariantSet(),
        state=BuildState(**{**figures, **state}),
        engine=FixedEngine(),
        reasoner=judge or Judge(),
    )


def found(subject: str = "dps", **changes: Any) -> BuildConflict:
    sub_problems = [SubProblemName.DAMAGE_DELIVERY, SubProblemName.DAMAGE_SCALING]
    return BuildConflict(
        id=f"damage_gap:damage_delivery+damage_scaling:{subject}",
        type=ConflictType.DAMAGE_GAP,
        severity=Severity.BLOCKING,
        subject=subject,
        affected=sub_problems,
        message=f"about {subject}",
        suggested_solutions=[
            Suggestion(strategy="s", sub_problem=sub_problems[0], demand=Demand.MORE_DAMAGE),
        ],
    ).model_copy(update=changes)


async def test_a_sound_build_is_validated_and_becomes_the_best() -> None:
    result = await ValidatePhase().run(context())
    assert (result.trigger, result.state.outcome) == (Trigger.VALIDATED, Outcome.VALIDATED)
    assert result.state.conflicts == []
    assert result.state.best is not None
    assert (result.state.best.blueprint, result.state.best.blocking) == (BUILD, 0)


async def test_warnings_become_caveats_of_a_validated_build() -> None:
    result = await ValidatePhase().run(context(values={"CombinedDPS": 10_000.0}))
    assert result.trigger is Trigger.VALIDATED
    assert result.state.caveats == [
        "Tempest Bell deals 10,000 damage per second; 7,100 is the least and 14,000 is good at level 90.",
        "By hand: raise the weapon's damage or the skill gem's level first, then exchange supports.",
    ]


async def test_a_build_whose_damage_the_engine_cannot_tell_is_not_validated() -> None:
    stats = Stats(engine=VERSION, values={key: value for key, value in STRONG.items() if key != "CombinedDPS"})
    result = await ValidatePhase().run(context(stats=stats, inspection=Inspection(points=POINTS, modelled=False)))
    assert (result.trigger, result.state.outcome) == (Trigger.VALIDATED, Outcome.CAVEATS)
    assert [conflict.subject for conflict in result.state.conflicts] == ["unmodelled"]


async def test_words_that_were_not_understood_keep_a_build_from_being_validated() -> None:
    result = await ValidatePhase().run(context(invariants=InvariantSet(not_understood=["quux"])))
    assert (result.trigger, result.state.outcome) == (Trigger.VALIDATED, Outcome.CAVEATS)
    assert result.state.caveats == ['Not understood, and so without effect: "quux".']
    assert [wish.words for wish in result.state.wishes] == ["quux"]


async def test_an_unmet_wish_blocks_and_is_kept_with_the_best_build() -> None:
    wish = Invariant(field="dps", value=20_000_000, provenance=Provenance.EXPLICIT, reason="said so")
    result = await ValidatePhase().run(context(invariants=InvariantSet(invariants=[wish])))
    assert (result.trigger, result.state.outcome) == (Trigger.CONFLICTS_FOUND, None)
    assert result.state.best is not None
    assert result.state.best.wishes == result.state.wishes
    assert [wish.state.value for wish in result.state.wishes] == ["unmet"]


async def test_a_blocking_conflict_leads_to_iterate_without_an_outcome() -> None:
    result = await ValidatePhase().run(context(values={"FireResist": 10.0}))
    assert (result.trigger, result.state.outcome) == (Trigger.CONFLICTS_FOUND, None)


async def test_what_construct_did_not_measure_is_measured_in_a_fresh_session() -> None:
    ctx = context(stats=None, inspection=None)
    result = await ValidatePhase().run(ctx)
    assert isinstance(ctx.engine, FixedEngine)
    assert ctx.engine.opened.loaded == BUILD
    assert result.state.stats is not None
    assert result.state.stats.values == STRONG


async def test_the_reasoner_judges_the_measured_build_and_is_merged() -> None:
    mismatch = found("goal", id="goal_mismatch:x:goal", type=ConflictType.GOAL_MISMATCH, severity=Severity.WARNING)
    judge = Judge(mismatch)
    result = await ValidatePhase().run(context(judge=judge, stats=None))
    assert judge.shown is not None
    assert [c.id for c in result.state.conflicts] == [mismatch.id]
    assert result.state.caveats == ["about goal"]


async def test_a_rule_is_not_overruled_by_the_reasoner_and_not_doubled() -> None:
    milder = found(severity=Severity.WARNING)
    result = await ValidatePhase().run(context(values={"CombinedDPS": 1.0}, judge=Judge(milder)))
    assert [(c.id, c.severity) for c in result.state.conflicts] == [(milder.id, Severity.BLOCKING)]


async def test_provisional_conflicts_are_confirmed_with_their_history_or_dropped() -> None:
    seen = found(provisional=True, attempts=2, tried=["more_damage"])
    gone = found("gone", provisional=True)
    result = await ValidatePhase().run(context(values={"CombinedDPS": 1.0}, conflicts=[seen, gone]))
    [kept] = result.state.conflicts
    assert (kept.id, kept.provisional, kept.attempts, kept.tried) == (seen.id, False, 2, ["more_damage"])


async def test_the_better_build_stays_the_best() -> None:
    first = (await ValidatePhase().run(context())).state.best
    result = await ValidatePhase().run(context(values={"FireResist": 10.0}, best=first, iteration=1))
    assert result.state.best == first


async def test_the_gear_tier_of_the_request_sets_the_floors() -> None:
    endgame = Invariant(field="gear", value="endgame", provenance=Provenance.EXPLICIT, reason="prompt")
    invariants = InvariantSet(invariants=[endgame])
    result = await ValidatePhase().run(context(values={"CombinedDPS": 20_000.0}, invariants=invariants))
    assert result.trigger is Trigger.CONFLICTS_FOUND


async def test_nothing_to_validate_is_an_error_of_ours() -> None:
    with pytest.raises(ValueError, match="nothing to validate"):
        await ValidatePhase().run(context(blueprint=None))


def snapshot(blocking: int, dps: float) -> Snapshot:
    stats = Stats(engine=VERSION, values={"CombinedDPS": dps, "TotalEHP": 1000.0})
    return Snapshot(iteration=0, blueprint=BUILD, stats=stats, blocking=blocking)


def test_a_build_that_loses_a_wish_is_not_the_better_one() -> None:
    met, other = wished("life", WishState.MET), wished("ehp", WishState.UNMET)
    old = changed(snapshot(1, 10), wishes=[met, other])
    swapped = [wished("life", WishState.UNMET), wished("ehp", WishState.MET)]
    assert better(old, changed(snapshot(1, 11), wishes=swapped), FLOORS) is old
    assert better(old, changed(snapshot(0, 11), wishes=[wished("ehp", WishState.MET)]), FLOORS) is old
    both = changed(snapshot(0, 1), wishes=[met, wished("ehp", WishState.MET)])
    assert better(old, both, FLOORS) is both


def test_a_build_that_meets_another_wish_is_better_than_one_of_higher_score() -> None:
    life, missed, met = (
        wished("life", WishState.MET),
        wished("ehp", WishState.UNMET),
        wished("ehp", WishState.MET),
    )
    old, new = changed(snapshot(1, 10), wishes=[life, missed]), changed(snapshot(1, 1), wishes=[life, met])
    assert better(old, new, FLOORS) is new  # what blocks now is a demand of ours, not of the user's
    assert better(new, old, FLOORS) is new
    assert better(old, changed(new, blocking=2), FLOORS) is old


def test_of_builds_that_miss_a_style_the_nearer_one_is_better() -> None:
    """Found on a Ritualist for bleeding: 25,881 damage of lightning told as the nearest, beside 15,458 of Rake."""
    missed = WishOutcome(wish="bleed", words="bleed", kind="style", target="bleed", reached="", state=WishState.UNMET)

    def bleeding(share: float, dps: float) -> Snapshot:
        plain = changed(snapshot(1, dps), wishes=[missed])
        return changed(plain, stats=changed(plain.stats, values={**plain.stats.values, "DamageShare.bleed": share}))

    never, often, hardly = bleeding(0.0, 25_881), bleeding(0.2, 15_458), bleeding(0.02, 15_458)
    assert better(never, often, FLOORS) is often
    assert better(often, never, FLOORS) is often
    assert better(hardly, never, FLOORS) is never


@pytest.mark.parametrize(
    ("wish", "far", "near"), [("at least 25,000", 10_707.0, 13_467.0), ("at most 25,000", 48_000.0, 40_000.0)]
)
def test_of_builds_that_miss_a_figure_the_nearer_one_is_better(wish: str, far: float, near: float) -> None:
    """Found on an Ice Shot for 25,000 effective hit points: 10,707 were told as the nearest, and 13,467 were had."""

    def reaching(figure: float, dps: float) -> Snapshot:
        missed = WishOutcome(wish=wish, words="25k", kind="ehp", target=25_000.0, reached=figure, state=WishState.UNMET)
        return changed(snapshot(1, dps), wishes=[missed])

    strong, asked, hardly = reaching(far, 11_092), reaching(near, 7_421), reaching((9 * far + near) / 10, 7_421)
    assert better(strong, asked, FLOORS) is asked
    assert better(asked, strong, FLOORS) is asked
    assert better(strong, hardly, FLOORS) is strong


def wished(kind: str, state: WishState) -> WishOutcome:
    return WishOutcome(wish=kind, words=kind, kind=kind, target=1.0, reached=1.0, state=state)


@pytest.mark.parametrize(
    ("old", "new", "wins"),
    [
        (snapshot(1, 10), snapshot(0, 1), True),
        (snapshot(0, 1), snapshot(1, 10), False),
        (snapshot(1, 10), snapshot(1, 11), True),
        (snapshot(1, 10), snapshot(1, 10), False),
    ],
)
def test_fewer_blocking_conflicts_then_the_better_score(old: Snapshot, new: Snapshot, wins: bool) -> None:
    assert (better(old, new, FLOORS) is new) is wins


def test_caveats_name_blocking_faults_first_and_each_once() -> None:
    warning, blocking = found("a", severity=Severity.WARNING), found("b", role=Role.SYMPTOM)
    assert caveats([warning, blocking, warning]) == ["about b", "about a"]
