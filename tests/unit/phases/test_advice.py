"""Proposals in turns: each is measured, the next turn sees what became of it, and it ends where nothing is gained."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from app.core.ids import BuildId
from app.model.base import changed
from app.model.blueprint import SkillGroup
from app.model.constraints import InvariantSet
from app.model.construction import Advice, StageNotes
from app.model.moves import SetSupports
from app.model.names import Effort, Phase
from app.model.record import BuildRequest
from app.model.state import BuildState
from app.phases.base import PhaseContext
from app.phases.construct.stages import MOST_IN_VAIN, advice_stage
from app.reasoning.base import Experimenter, Idea, Reasoner, ReasoningContext
from app.search.base import SearchContext, StageResult
from app.search.effort import DIALOGUE, FEWEST_TO_SHARE, SHARED
from app.search.experiments import FOR_PROPOSALS, SPENT
from tests.fakes.arithmetic import World, active, support
from tests.unit.search.conftest import START, Context
from tests.unit.search.conftest import context as context

WORLD = World(gems=[active("zap"), *(support(f"s{n}", f"{n} more") for n in range(10, 60))])


def idea(number: int) -> Idea:
    move = SetSupports(op="set_supports", skill="zap", supports=[f"s{number}"])
    return Idea(f"zap with s{number}", (move,), "It fits.")


class Proposer:
    """Proposes what it was given, turn by turn, and remembers what it was shown."""

    def __init__(self, *turns: list[int]) -> None:
        self.turns = list(turns)
        self.seen: list[list[Advice]] = []
        self.supports: list[list[str]] = []
        self.left: list[int | None] = []

    async def advise(self, ctx: ReasoningContext, experimenter: Experimenter) -> list[Idea]:
        build = ctx.state.blueprint
        assert build is not None
        self.left.append(experimenter.left)
        self.seen.append(ctx.state.construction.notes.advice)
        self.supports.append([gem.name for gem in build.groups[0].gems[1:]])
        return [idea(number) for number in (self.turns.pop(0) if self.turns else [])]


async def advised(
    context: Context, reasoner: Proposer, effort: Effort = Effort.NORMAL, notes: StageNotes | None = None
) -> StageResult:
    group = SkillGroup(gems=[changed(START.groups[0].gems[0], gem_id="zap", name="zap")])
    search: SearchContext = context(WORLD, changed(START, groups=[group]))
    search = replace(search, notes=notes or StageNotes())
    ctx = PhaseContext(
        build_id=BuildId("b"),
        request=BuildRequest(prompt="toy build", effort=effort),
        invariants=InvariantSet(),
        state=BuildState(phase=Phase.CONSTRUCT),
        engine=search.engine,
        reasoner=cast("Reasoner", reasoner),
    )
    return await advice_stage(ctx).run(search)


async def test_the_next_turn_sees_the_build_and_what_became_of_the_proposals(context: Context) -> None:
    reasoner = Proposer([20, 15], [30], [])
    result = await advised(context, reasoner)
    assert reasoner.supports == [[], ["s20"], ["s30"]]
    first, second = reasoner.seen[1]
    assert (first.idea, first.refused_because, second.refused_because) == (
        "zap with s20",
        "",
        "the engine finds no gain",
    )
    assert first.gain is not None
    assert first.gain > 0
    assert first.figures["DPS"] == pytest.approx(120)
    assert sum(first.parts.values()) == pytest.approx(first.gain)
    assert second.gain is not None
    assert second.gain < 0
    assert [one.idea for one in reasoner.seen[2]] == ["zap with s20", "zap with s15", "zap with s30"]
    assert result.notes.advice == reasoner.seen[2]
    assert result.label == "advice: zap with s20, zap with s30"


@pytest.mark.parametrize(
    ("turns", "asked"),
    [
        ([[]], 1),
        ([[20], []], 2),
        ([[20], [15], [14], [30]], 1 + MOST_IN_VAIN),
        ([[20], [15], [30], []], 4),
        ([[n] for n in range(10, 30)], DIALOGUE[Effort.NORMAL].turns),
    ],
    ids=["nothing", "done", "in vain", "better after a refusal", "bounded"],
)
async def test_it_goes_on_while_it_gains(turns: Any, asked: int, context: Context) -> None:
    reasoner = Proposer(*turns)
    await advised(context, reasoner)
    assert len(reasoner.seen) == asked


async def test_effort_bounds_the_turns(context: Context) -> None:
    asked = {}
    for effort in Effort:
        reasoner = Proposer(*([n] for n in range(10, 40)))
        await advised(context, reasoner, effort)
        asked[effort] = len(reasoner.seen)
    assert asked == {effort: limits.turns for effort, limits in DIALOGUE.items()}
    assert asked[Effort.QUICK] < asked[Effort.NORMAL] < asked[Effort.DEEP]


@pytest.mark.parametrize(
    ("notes", "most"),
    [
        (StageNotes(), FEWEST_TO_SHARE),
        (StageNotes(evaluations=10_000), int(10_000 * SHARED)),
        (StageNotes(evaluations=10_060, for_ideas=60), int(10_000 * SHARED) - 60),
        (StageNotes(evaluations=10_560, for_ideas=60, for_look=500), int(10_000 * SHARED) - 560),
    ],
    ids=["least", "share", "tried on drafts", "after a last look"],
)
async def test_ideas_have_a_share_of_the_evaluations(notes: StageNotes, most: int, context: Context) -> None:
    reasoner = Proposer([])
    await advised(context, reasoner, notes=notes)
    assert reasoner.left == [int(most * (1 - FOR_PROPOSALS))]


async def test_who_has_spent_them_is_not_asked_again(context: Context) -> None:
    reasoner = Proposer([20] * 120, [30])
    result = await advised(context, reasoner)
    assert len(reasoner.left) == 1
    assert result.notes.advice[0].refused_because == ""
    assert result.notes.advice[-1].refused_because == SPENT
    assert result.notes.for_ideas >= FEWEST_TO_SHARE, "so that a second round has that much less"


async def test_where_nothing_is_left_nobody_is_asked(context: Context) -> None:
    reasoner = Proposer([30])
    result = await advised(context, reasoner, notes=StageNotes(evaluations=800, for_ideas=60, for_look=40))
    assert reasoner.left == []
    assert result.notes.for_ideas == 60
