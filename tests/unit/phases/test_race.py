"""The race on a toy engine: who goes on, what is out, what it may cost, and what questions are told of it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from app.core.errors import UnknownFact
from app.model.base import changed
from app.model.blueprint import Blueprint
from app.model.facts import AffixFact, BaseFact
from app.model.memory import RaceKey, RaceMemory
from app.model.moves import RemoveSkill
from app.model.names import Effort, Mode, Outcome, SubProblemName, Trigger
from app.model.race import Contender, Race, against
from app.model.state import BuildState
from app.model.stats import Stats
from app.model.sub_problems import (
    AscendancyChoice,
    DeliveryChoice,
    DraftFigures,
    Option,
    SubProblem,
    SurvivabilityChoice,
)
from app.phases.base import PhaseContext, PhaseResult
from app.phases.explore.questions import RaceDrafts
from app.phases.explore.race import FIELD, RaceExplore
from app.phases.memory import digest_of, digest_with, race_memory_of, results_of
from app.reasoning.base import ReasoningContext
from app.search.base import Plan, begun_of, completed_of, planned
from app.search.drafts import NO_RATE, RUNGS
from app.search.effort import ON_DRAFTS
from app.search.experiments import SPENT
from app.service.race import race_view
from app.storage.memory_port import NoMemory
from tests.contract.storage.test_memory import ENGINE, a_memory, a_race
from tests.contract.storage.test_memory import WHEN as NOW
from tests.fakes.arithmetic import ArithmeticEngine, World, active, node
from tests.fakes.steps import new_record
from tests.unit.phases.test_construct import context, decided, world

Q = SubProblemName
TOP = AscendancyChoice(class_name="Toy", ascendancy="Top")


def contender(gem: str) -> Contender:
    delivery = DeliveryChoice(skill_id=gem, skill_name=gem.title())
    answers = {name: sub.decision.choice for name, sub in decided().items() if sub.decision is not None}
    option = Option(name=gem, choice=delivery, reason=f"{gem} is a skill.")
    return Contender(option=option, ascendancies=[TOP], answers={**answers, Q.DAMAGE_DELIVERY: delivery})


class Starting:
    """A reasoner of which only the contenders are asked."""

    def __init__(self, *gems: str, advises: bool = False) -> None:
        self.gems = gems
        self.advises = advises

    async def contenders(self, ctx: ReasoningContext, most: int) -> list[Contender]:
        return [contender(gem) for gem in self.gems][:most]


class Inner:
    """What follows a race: remembers the race that it was given."""

    def __init__(self) -> None:
        self.seen: list[Race | None] = []

    async def run(self, ctx: PhaseContext) -> PhaseResult:
        self.seen.append(ctx.state.race)
        return PhaseResult(ctx.state, Trigger.EXPLORED)


EFFECTS = {f"skill{i:02}": f"{10 * i} more" for i in range(14)} | {"useless": "-100 more"}


def toys() -> World:
    known = world()
    known.gems += [active(name, effect) for name, effect in EFFECTS.items()]
    return known


async def raced(
    gems: list[str], sessions: int = 1, advises: bool = False, known: World | None = None, **request: Any
) -> tuple[BuildState, Inner]:
    known = known or toys()
    inner = Inner()
    phase, state = RaceExplore(inner, sessions), BuildState(sub_problems={name: SubProblem(name=name) for name in Q})
    for _ in range(7):
        ctx = changed_context(context(ArithmeticEngine(known), state, **request), Starting(*gems, advises=advises))
        result = await phase.run(ctx)
        state = BuildState.from_yaml(result.state.to_yaml())
        if result.trigger is not None:
            return state, inner
    raise AssertionError("the race does not end")


def changed_context(ctx: PhaseContext, reasoner: Any) -> PhaseContext:
    return replace(ctx, reasoner=reasoner)


@pytest.mark.parametrize(("attacks", "sixth"), [((), "skill08"), (("skill05",), "skill05"), (("skill02",), "skill08")])
async def test_drafts_of_attacks_are_compared_by_what_they_become(attacks: Sequence[str], sixth: str) -> None:
    """Drafts of attacks have half of what spells have that come to as much; skill02 has less than that."""
    gems = [active(name, effect) for name, effect in EFFECTS.items() if name not in attacks]
    weak = {"skill05": "10 more", "skill02": "-90 more"}
    known = world()
    known.gems += [*gems, *(active(name, weak[name], tags=["attack"]) for name in attacks)]
    race = (await raced(sorted(EFFECTS)[:14], known=known))[0].race
    assert race is not None
    begun = {one.option.name for one in race.contenders if one.rung >= 2}
    assert begun == {"skill09", "skill10", "skill11", "skill12", "skill13", sixth}
    assert race.winner is not None
    assert race.winner.option.name == "skill13", "once it is begun, an attack is what it is"


async def test_the_best_wins_and_fewer_go_on_after_drafts() -> None:
    """Of begun builds all are settled: who is behind there may come to more in the end."""
    state, inner = await raced(sorted(EFFECTS)[:14])
    race = state.race
    assert race is not None
    assert race.over
    assert inner.seen == [race]
    assert race.winner is not None
    assert race.winner.option.name == "skill13"
    assert [sum(len(one.figures) >= rung for one in race.contenders) for rung in (1, 2, 3)] == [14, 6, 6]
    assert state.construction.notes.evaluations == race.evaluations > 0
    assert [one.option.name for one in race.contenders if one.draft is not None] == ["skill13"]


async def test_moves_are_tried_on_what_is_left_of_the_race_and_paid_for() -> None:
    state, _ = await raced(sorted(EFFECTS)[:14], advises=True)
    ctx = context(ArithmeticEngine(toys()), state)
    async with AsyncExitStack() as stack:
        drafts = RaceDrafts(ctx, stack)
        assert drafts.charged(state) == state, "nothing was tried"
        assert (drafts.names, drafts.left) == (["skill13", "skill12", "skill11"], ON_DRAFTS[Effort.NORMAL])
        move = RemoveSkill(op="remove_skill", skill="skill13")
        now, refused = await drafts.experiment("skill13", [[], [move]], ["DPS"])
        assert now.gain == 0
        assert now.figures["DPS"] > 0
        assert refused.problem == "the main skill stays"
        (other,) = await drafts.experiment("skill12", [[]], ["DPS"])
        assert 0 < other.figures["DPS"] < now.figures["DPS"]
        with pytest.raises(UnknownFact, match="no draft called 'arc'; there are skill13, skill12, skill11"):
            await drafts.experiment("arc", [[]], ["DPS"])
        spent = await drafts.experiment("skill12", [[]] * 80, ["DPS"])
        assert [one.problem for one in (spent[0], spent[-1])] == ["", SPENT]
        assert drafts.left == 0
        charged = drafts.charged(state).construction.notes
    assert charged.for_ideas == ON_DRAFTS[Effort.NORMAL]
    assert charged.evaluations == state.construction.notes.evaluations + ON_DRAFTS[Effort.NORMAL]
    async with AsyncExitStack() as stack:
        later = RaceDrafts(replace(ctx, state=drafts.charged(state)), stack)
        assert later.left == 0, "all questions share what there is"
        again = RaceDrafts(replace(ctx, state=changed(state, iteration=1)), stack)
        assert again.names == [], "a build that failed is not decided on by drafts"


async def test_what_has_no_figure_is_out_and_never_wins() -> None:
    state, _ = await raced(["useless", "skill01", "skill02"])
    assert state.race is not None
    assert state.race.standing[-1].option.name == "useless"
    assert state.race.standing[-1].out == NO_RATE
    alone, _ = await raced(["useless", "useless"])
    assert alone.race is not None
    assert alone.race.over
    assert alone.race.winner is None


async def test_the_number_of_sessions_changes_nothing() -> None:
    one, _ = await raced(sorted(EFFECTS), 1)
    four, _ = await raced(sorted(EFFECTS), 4)
    assert one == four


@pytest.mark.parametrize(
    ("gems", "request_"),
    [
        (["skill01"], {}),
        ([], {}),
        (["skill01", "skill02"], {"effort": Effort.QUICK}),
        (["skill01", "skill02"], {"mode": Mode.STRATEGIC}),
    ],
)
async def test_nothing_is_raced_where_nothing_is_to_be_compared(gems: list[str], request_: dict[str, Any]) -> None:
    state, inner = await raced(gems, **request_)
    assert len(inner.seen) == 1
    assert state.race is None or (state.race.contenders == [] and state.race.over)


ARMOUR = SurvivabilityChoice(pool="life", mitigation=["armour"])
EVASION = SurvivabilityChoice(pool="life", mitigation=["evasion"])


class Defended(Starting):
    """A reasoner whose contenders may survive in two ways."""

    defences: ClassVar = [ARMOUR, EVASION]

    async def contenders(self, ctx: ReasoningContext, most: int) -> list[Contender]:
        return [changed(contender(gem), defences=self.defences) for gem in self.gems][:most]


def hats() -> World:
    """A world where evasion helms have more to offer, to whoever thinks of them."""
    known = toys()
    known.bases = [
        BaseFact(name=name, type="Helmet", sub_type=name, slots=["Helmet"], socket_limit=1)
        for name in ("Armour", "Evasion")
    ]
    known.affixes = [
        AffixFact(id=i, side="prefix", name=i, group=i, level=1, lines=[f"{life} life", f"0 {i}"], weight=1)
        for i, life in (("armour", 200), ("evasion", 700))
    ]
    known.hosts = {"armour": "Armour", "evasion": "Evasion"}
    return known


async def defended(
    gems: list[str], sessions: int = 1, *, advises: bool = False, known: Sequence[Q] = (), **request: Any
) -> tuple[list[BuildState], Inner]:
    """Return the state after every step of a race in that world; the `known` questions are decided before."""
    inner, reasoner = Inner(), Defended(*gems, advises=advises)
    questions = {name: SubProblem(name=name) for name in Q} | {name: decided()[name] for name in known}
    phase, state = RaceExplore(inner, sessions), BuildState(sub_problems=questions)
    states: list[BuildState] = []
    for _ in range(7):
        result = await phase.run(changed_context(context(ArithmeticEngine(hats()), state, **request), reasoner))
        state = BuildState.from_yaml(result.state.to_yaml())
        if result.trigger is not None:
            return states, inner
        states.append(state)
    raise AssertionError("the race does not end")


async def test_the_best_are_drafted_with_every_defence_and_nobody_who_is_far_behind_is() -> None:
    states, inner = await defended(["skill01", "skill12", "skill13"])
    assert [state.race.over for state in states if state.race] == [False, False, False, False, True]
    race = states[-1].race
    assert inner.seen == [race]
    assert race is not None
    assert race.winner is not None
    assert race.winner.option.name == "skill13"
    far, near, _ = race.contenders
    assert (far.by_defence, list(near.by_defence)) == ({}, ["life with armour", "life with evasion"])
    assert near.figures[-2] == near.by_defence["life with evasion"], "it has its best defence, too"
    found = race.winner.by_defence
    assert list(found) == ["life with armour", "life with evasion"]
    assert found["life with evasion"].ehp == found["life with armour"].ehp + 500
    assert [(state.done, state.total) for state in states] == [(1, 6), (2, 6), (3, 6), (4, 6), (6, 6)]
    assert "defences of skill13, best of 2: life with evasion" in states[-2].progress_label
    assert "completed builds: skill13" in states[-1].progress_label
    assert race.evaluations == states[-1].construction.notes.evaluations <= race.allowed
    assert all(one.defences == [] for one in race.contenders), "what is over is not kept"
    assert [one.option.name for one in race.contenders if one.draft is not None] == ["skill13"]
    assert race.winner.draft is not None
    assert race.winner.draft.items["Helmet"].base == "Evasion", "construct goes on with the best of them"
    assert race.winner.defence is not None
    assert race.winner.defence.title == "life with evasion"


async def test_the_best_two_are_completed_and_construct_takes_that_over_where_all_is_answered_so() -> None:
    states, _ = await defended(["skill01", "skill12", "skill13"])
    before, race = states[-2].race, states[-1].race
    assert before is not None
    assert race is not None
    assert race.winner is not None
    completed = [one.option.name for one in race.contenders if one.rung == race.winner.rung]
    assert completed == ["skill12", "skill13"]
    assert not any(one.completed for one in before.contenders)
    assert [one.option.name for one in race.contenders if one.completed is not None] == ["skill13"], "no other is kept"
    assert race.winner.draft == before.standing[0].draft, "what was begun is there still"
    plan = planned(race.winner)
    assert completed_of(race, plan) == race.winner.completed
    assert completed_of(race, replace(plan, alternatives=(plan.delivery,))) == race.winner.completed
    others: list[Plan] = [
        replace(plan, spirit=changed(plan.spirit, reserve_free=30.0)),
        replace(plan, delivery=changed(plan.delivery, helper_skills=["skill01"])),
    ]
    assert [completed_of(race, other) for other in others] == [None, None]
    assert [begun_of(race, other) for other in others] == [race.winner.draft] * 2, "its beginning is the same"


async def test_one_that_is_far_behind_is_not_completed() -> None:
    states, _ = await defended(["skill01", "skill13"])
    race = states[-1].race
    assert race is not None
    assert race.winner is not None
    assert race.standing[1].option.name == "skill01"
    assert not any(one.completed for one in race.contenders), "one alone is for construct"


class Guarded(Defended):
    """A reasoner with a contender that has two ways to survive, among others that have one."""

    async def contenders(self, ctx: ReasoningContext, most: int) -> list[Contender]:
        found = await super().contenders(ctx, most)
        return [one if one.option.name == "skill12" else changed(one, defences=[ARMOUR]) for one in found]


async def test_a_begun_build_that_is_near_the_best_may_win_by_its_defence() -> None:
    """Found at level 90: a Glacial Lance came to more than the winner, with energy shield."""
    phase, state = RaceExplore(Inner()), BuildState(sub_problems={name: SubProblem(name=name) for name in Q})
    reasoner = Guarded("skill01", "skill12", "skill13")
    for _ in range(4):
        state = (await phase.run(changed_context(context(ArithmeticEngine(hats()), state), reasoner))).state
    race = state.race
    assert race is not None
    assert race.over
    best, other, _ = race.standing
    assert (best.option.name, other.option.name) == ("skill12", "skill13")
    assert [len(one.figures) for one in (best, other)] == [len(RUNGS) + 1] * 2
    assert best.figures[len(RUNGS) - 1].score < other.figures[-1].score, "it was behind when both were begun"
    assert best.figures[-1].score == best.by_defence["life with evasion"].score > other.figures[-1].score
    assert (best.defence, best.draft is not None) == (EVASION, True)
    assert begun_of(race, planned(best)) == best.draft
    view = race_view(race)
    assert view is not None
    assert [one.name for one in view.defences] == ["life with evasion", "life with armour"]


async def test_construct_goes_on_with_what_the_race_began_and_with_nothing_else() -> None:
    states, _ = await defended(["skill01", "skill02"])
    race = states[-1].race
    assert race is not None
    assert race.winner is not None
    plan = planned(race.winner)
    assert plan.survivability.title == "life with evasion"
    assert begun_of(race, plan) == race.winner.draft
    others: list[Plan] = [
        replace(plan, survivability=changed(plan.survivability, mitigation=["armour"])),
        replace(plan, delivery=changed(plan.delivery, skill_id="skill01")),
        replace(plan, ascendancy=changed(plan.ascendancy, ascendancy=None)),
        replace(plan, scaling=changed(plan.scaling, excluded_nodes=[7])),
    ]
    assert [begun_of(race, other) for other in others] == [None] * 4
    assert begun_of(None, plan) is None
    early = [changed(one, is_whole=False) for one in race.contenders]
    assert begun_of(changed(race, contenders=early), plan) is None, "a draft has no gear"


async def test_a_skill_that_was_named_is_begun_for_its_defence_alone() -> None:
    """With one ascendancy, drafts have nothing to tell: it is begun at once."""
    states, _ = await defended(["skill01"])
    race = states[-1].race
    assert race is not None
    assert race.winner is not None
    assert len(race.winner.by_defence) == 2
    assert (len(states), [one.rung for one in race.winner.figures]) == (3, [2, 3, 4])
    assert "rung 2 of 3, best of 1: skill01" in states[0].progress_label
    assert begun_of(race, planned(race.winner)) == race.winner.draft
    assert race.evaluations <= race.allowed


LOW, NOTHING, FOURTH, HARDY, GREAT = (
    changed(TOP, ascendancy=name) for name in ("Low", "None of these", "A fourth", "Hardy", "Great")
)
HEROES = [LOW, NOTHING, TOP, FOURTH]


class Heroic(Defended):
    """A reasoner whose contenders may have these ascendancies."""

    def __init__(self, gems: Sequence[str], heroes: Sequence[AscendancyChoice]) -> None:
        super().__init__(*gems)
        self.heroes = list(heroes)

    async def contenders(self, ctx: ReasoningContext, most: int) -> list[Contender]:
        found = await super().contenders(ctx, most)
        answer = {Q.ASCENDANCY: self.heroes[0]}
        return [changed(one, ascendancies=self.heroes, answers={**one.answers, **answer}) for one in found]


def halls() -> World:
    """A world of hats whose ascendancies have passives."""
    known = hats()
    effects = {"Low": "1 inc", "Hardy": "30 life", "Great": "6 inc"}
    for first, (name, effect) in zip(range(600, 750, 50), effects.items(), strict=True):
        known.nodes += [
            node(first, first + 1, kind="ascendancy_start", ascendancy=name),
            *(node(first + i, first + i + 1, mods=[effect], kind="notable", ascendancy=name) for i in range(1, 12)),
        ]
    return known


async def heroic(gems: list[str], sessions: int = 2) -> tuple[BuildState, Race]:
    """Return the state after a race in that world of skills with four ascendancies, and the race."""
    phase = RaceExplore(Inner(), sessions)
    state = BuildState(sub_problems={name: SubProblem(name=name) for name in Q})
    for _ in range(7):
        ctx = changed_context(context(ArithmeticEngine(halls()), state), Heroic(gems, HEROES))
        state = BuildState.from_yaml((await phase.run(ctx)).state.to_yaml())
        if state.race is not None and state.race.over:
            assert state.race.winner is not None
            assert state.race.evaluations == state.construction.notes.evaluations <= state.race.allowed
            return state, state.race
    raise AssertionError("the race does not end")


async def opposed(kept: str = "", **others: AscendancyChoice) -> Race:
    """Return the race of skills that were begun as Great once each was also begun with its other ascendancy.

    `kept`: the one that has its draft still, empty = all.
    """
    engine, phase = ArithmeticEngine(halls()), RaceExplore(Inner())
    state = BuildState(sub_problems={name: SubProblem(name=name) for name in Q})
    contenders: list[Contender] = []
    for gem, other in others.items():
        there = state
        for _ in ("begun", "settled"):
            there = (await phase.run(changed_context(context(engine, there), Heroic([gem], [GREAT])))).state
        assert there.race is not None
        (one,) = there.race.contenders
        drafts = [changed(one.figures[0], rung=1)]
        draft = one.draft if kept in ("", gem) else None
        contenders.append(changed(one, ascendancies=[GREAT, other], figures=[*drafts, *one.figures], draft=draft))
    ready = changed(state, race=Race(contenders=contenders, rungs=len(RUNGS)))
    race = (await phase.run(changed_context(context(engine, ready), Heroic(list(others), HEROES)))).state.race
    assert race is not None
    assert race.ascended
    return race


async def test_the_winner_of_several_skills_is_begun_with_each_of_its_ascendancies() -> None:
    """On one tree and gear the better ascendancy of a crossbow's build was 0.23 behind; with its own it is ahead."""
    state, race = await heroic(["skill01", "skill09"])
    assert race.winner is not None
    assert race.winner.option.name == "skill09"
    found = race.winner.by_ascendancy
    assert list(found) == ["Top", "Low", "None of these"], "the three likeliest, its own first"
    assert [one.rung for one in found.values()] == [len(RUNGS) + 1] * 3
    best = max(found.values(), key=lambda one: one.score)
    assert race.winner.by_defence["life with armour"] == changed(best, rung=len(RUNGS) + 2)
    assert best == found["Top"]
    assert planned(race.winner).ascendancy == TOP
    (loser,) = [one for one in race.contenders if one is not race.winner]
    assert loser.by_ascendancy == {}, "nobody begins again what is far behind"
    assert len(loser.figures) == len(RUNGS)
    assert (await heroic(["skill01", "skill09"], 1))[0] == state


async def test_a_begun_build_that_is_near_the_best_may_win_by_its_ascendancy() -> None:
    """Found at level 90: a crossbow's High Velocity Rounds came to more than the winner, with another ascendancy."""
    race = await opposed(skill12=HARDY, skill13=FOURTH)
    best, other = race.standing
    assert best.option.name == "skill12"
    at = len(RUNGS)
    assert [len(one.figures) for one in (best, other)] == [at + 1] * 2
    assert best.figures[at - 1].score < other.figures[at - 1].score, "it was behind when both were begun"
    assert best.figures[at].score > other.figures[at].score
    assert planned(best).ascendancy == HARDY
    assert best.draft is not None
    assert other.draft is not None, "its defences are still to be compared"
    assert against(other, best).endswith(f"(rung {at + 1})"), "by what decided: more damage, less life"
    assert [one.place for one in results_of(race)] == [0, 1]
    view = race_view(race)
    assert view is not None
    assert (view.rungs, [one.rungs for one in view.contenders]) == (at + 1, [at + 1] * 2)


async def test_a_begun_build_without_its_draft_is_not_begun_again() -> None:
    """An earlier version kept the draft of the best alone before ascendancies were compared."""
    race = await opposed(skill12=HARDY, skill13=FOURTH, kept="skill13")
    best, other = race.standing
    assert (best.option.name, other.by_ascendancy) == ("skill13", {})


async def test_a_skill_that_was_named_is_begun_like_the_winner_of_a_race() -> None:
    """Naming what a race would choose gives the same build; drafts in plain gear chose half of the damage."""
    _, race = await heroic(["skill01"])
    assert race.winner is not None
    found = race.winner.by_ascendancy
    assert list(found) == ["Top", "Low", "None of these"], "the three likeliest, its own first"
    assert found["Top"].dps > found["Low"].dps > found["None of these"].dps
    assert [one.rung for one in found.values()] == [len(RUNGS) + 1] * 3
    assert planned(race.winner).ascendancy == TOP
    assert race.winner.draft is not None
    assert race.winner.draft.ascendancy == "Top"
    _, several = await heroic(["skill00", "skill01"])
    assert several.winner is not None
    assert several.winner.option.name == "skill01"
    assert several.winner.draft == race.winner.draft


async def test_a_skill_and_an_ascendancy_that_were_named_leave_the_defence_to_be_measured() -> None:
    states, _ = await defended(["skill01"], known=[Q.DAMAGE_DELIVERY, Q.ASCENDANCY])
    assert states[-1].race is not None
    assert states[-1].race.winner is not None
    assert len(states[-1].race.winner.by_defence) == 2
    states, inner = await defended(["skill01"], known=[Q.DAMAGE_DELIVERY, Q.ASCENDANCY, Q.SURVIVABILITY])
    assert (states, inner.seen) == ([], [None])


async def test_drafts_stay_for_a_reasoner_that_tries_moves_after_defences_too() -> None:
    states, _ = await defended([f"skill{i:02}" for i in range(12)], advises=True)
    assert states[-1].race is not None
    assert sum(one.draft is not None for one in states[-1].race.contenders) == FIELD[-1]


async def test_below_sixty_passive_points_no_defence_is_compared() -> None:
    states, _ = await defended(["skill01", "skill02"], level=48)
    assert states[-1].race is not None
    assert states[-1].race.over
    assert [one.by_defence for one in states[-1].race.contenders] == [{}, {}]
    above, _ = await defended(["skill01", "skill02"], level=49)
    assert above[-1].race is not None
    assert any(one.by_defence for one in above[-1].race.contenders)


async def test_a_race_that_an_earlier_version_left_in_its_middle_ends() -> None:
    """There was a rung of drafts more, so such a race has run as many as there are now, and no build was begun."""
    state, _ = await raced(["skill01", "skill02"])
    assert state.race is not None
    halted = [
        changed(one, is_whole=False, draft=Blueprint(class_name="Toy", level=90)) for one in state.race.contenders
    ]
    questions = {name: SubProblem(name=name) for name in Q}
    left = BuildState(sub_problems=questions, race=changed(state.race, contenders=halted, over=False))
    result = await RaceExplore(Inner()).run(changed_context(context(ArithmeticEngine(toys()), left), Starting()))
    race = result.state.race
    assert race is not None
    assert race.over
    assert race.winner is not None
    assert begun_of(race, planned(race.winner)) is None, "construct begins anew"


async def test_drafts_that_an_earlier_version_left_are_not_settled() -> None:
    """The second rung chose supports in plain gear: whoever ran it is not begun, so the race begins anew."""
    state, _ = await raced(["skill01", "skill02"])
    assert state.race is not None
    draft = Blueprint(class_name="Toy", level=90)
    halted = [changed(one, is_whole=False, draft=draft, figures=one.figures[:2]) for one in state.race.contenders]
    questions = {name: SubProblem(name=name) for name in Q}
    left = BuildState(sub_problems=questions, race=changed(state.race, contenders=halted, rungs=2, over=False))
    ctx = changed_context(context(ArithmeticEngine(toys()), left), Starting("skill01", "skill02"))
    race = (await RaceExplore(Inner()).run(ctx)).state.race
    assert race is not None
    assert race.rungs == 1


async def test_the_number_of_sessions_changes_no_defence() -> None:
    (one, _), (three, _) = await defended(["skill01", "skill02"], 1), await defended(["skill01", "skill02"], 3)
    assert one == three


def test_figures_are_compared_at_the_last_rung_that_both_ran() -> None:
    def ran(name: str, *dps: float) -> Contender:
        found = [DraftFigures(dps=d, ehp=35_000, score=d, rung=i) for i, d in enumerate(dps, start=1)]
        return changed(contender(name), figures=found)

    told = against(ran("a", 50, 83_000), ran("b", 60, 120_000, 500_000))
    assert told == "measured 83.0k DPS / 35.0k EHP against 120k DPS / 35.0k EHP as drafts, not finished builds (rung 2)"
    assert against(changed(ran("a"), out=NO_RATE), ran("b", 1)) == NO_RATE
    frail = [
        DraftFigures(dps=90_000, ehp=20_000, score=0, rung=1),
        DraftFigures(dps=90_000, ehp=34_000, score=0, rung=1),
    ]
    words = [against(changed(ran("a"), figures=[one]), ran("b", 80_000)) for one in frail]
    assert [one.endswith("; it has less of what was asked for or needed") for one in words] == [False, True]


class Taught(NoMemory):
    """Remembers one race."""

    def __init__(self, *races: RaceMemory) -> None:
        self.told = list(races)

    async def races(self, key: RaceKey, owner: str) -> list[RaceMemory]:
        return [race for race in self.told if race.key == key and race.owner == owner]


class Listening(Starting):
    """Keeps what it was told of earlier races."""

    def __init__(self, *gems: str) -> None:
        super().__init__(*gems)
        self.told: list[RaceMemory] = []

    async def contenders(self, ctx: ReasoningContext, most: int) -> list[Contender]:
        self.told = list(ctx.races)
        return await super().contenders(ctx, most)


async def begun(memory: NoMemory) -> tuple[Race, Listening]:
    engine, reasoner = ArithmeticEngine(toys()), Listening("skill01", "skill02")
    state = BuildState(sub_problems={name: SubProblem(name=name) for name in Q})
    ctx = replace(context(engine, state), reasoner=reasoner, memory=memory)  # type: ignore[arg-type]
    race = (await RaceExplore(Inner(), 1).run(ctx)).state.race
    assert race is not None
    return race, reasoner


async def test_a_race_is_told_of_earlier_ones_and_keeps_a_digest_of_them() -> None:
    engine = ArithmeticEngine(toys()).version
    here = a_race("a", key=RaceKey.of(context(ArithmeticEngine(toys()), BuildState()).demands.goal, engine))
    race, reasoner = await begun(Taught(here))
    assert reasoner.told == [here]
    assert race.learned == digest_of([here])
    other, _ = await begun(Taught(changed(here, results=here.results[:1])))
    assert other.learned not in (None, race.learned)


@pytest.mark.parametrize("memory", [NoMemory(), Taught(a_race("a", owner="bob"))])
async def test_a_race_that_nobody_told_anything_has_no_digest(memory: NoMemory) -> None:
    race, reasoner = await begun(memory)
    assert (race.learned, reasoner.told) == (None, [])


def test_results_are_behind_the_best_of_the_last_rung_that_both_ran() -> None:
    def ran(gem: str, points: float, *scores: float, out: str = "") -> Contender:
        one = contender(gem)
        figures = [DraftFigures(dps=1, ehp=1, score=score, rung=rung) for rung, score in enumerate(scores, start=1)]
        return changed(one, option=changed(one.option, score=points), figures=figures, out=out)

    race = Race(
        contenders=[ran("late", 1.0, 1.0, 3.0), ran("early", 3.0, 1.5, 2.0), ran("gone", 2.0, 0.5), ran("none", 9.0)],
        over=True,
    )
    found = [(one.skill_id, one.place, one.behind, one.rung) for one in results_of(race)]
    assert found == [("early", 0, 1.0, 2), ("gone", 1, 1.0, 1), ("late", 2, 0.0, 2)]
    impossible = changed(race, contenders=[ran("late", 1.0, 1.0), ran("bad", 3.0, 9.0, out="no weapon")])
    assert [one.skill_id for one in results_of(impossible)] == ["late"]


@pytest.mark.parametrize(
    ("changes", "taught"),
    [
        ({}, True),
        ({"outcome": Outcome.CAVEATS}, True),
        ({"origin": "imported"}, False),
        ({"race": None}, False),
        ({"race": Race(over=True)}, False),
        ({"stats": Stats(engine=changed(ENGINE, estimate=True))}, False),
        ({"stats": None}, False),
    ],
)
def test_a_race_on_the_real_engine_teaches_whatever_became_of_the_build(changes: dict[str, Any], taught: bool) -> None:
    figures = [[DraftFigures(dps=1, ehp=1, score=score, rung=1)] for score in (1.0, 2.0)]
    ran = [changed(contender(gem), figures=few) for gem, few in zip(("skill01", "skill02"), figures, strict=True)]
    state = BuildState(stats=Stats(engine=ENGINE), race=Race(contenders=ran, rungs=1, over=True))
    found = race_memory_of(new_record(owner="me", state=state.model_copy(update=changes)), NOW)
    assert (found is not None) is taught
    if found is not None:
        assert (found.owner, found.key.engine) == ("me", "pob 0.20.0")
        assert [(one.skill_id, one.behind) for one in found.results] == [("skill01", 1.0), ("skill02", 0.0)]


def test_memories_are_hashed_with_what_the_race_was_told() -> None:
    told = BuildState(race=Race(learned="abc"))
    assert digest_with(BuildState(), []) is None
    assert digest_with(told, []) == "abc"
    digests = {digest_with(told, [a_memory("a")]), digest_with(BuildState(), [a_memory("a")]), "abc"}
    assert len(digests) == 3
    assert digest_with(BuildState(), [a_memory("a")]) == digest_of([a_memory("a")])
