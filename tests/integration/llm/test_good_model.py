"""A sound model makes builds that are no worse than the rules', and often better; a confident liar makes none worse.

Both have the rules' seed, effort and budget of evaluations: what ideas leave of their share is the last look's, and the
rules have all of it for theirs. They see only what is sent to them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from app.bench.reasoners import PROMPTS
from app.core.config import Settings
from app.llm.prefix import spending
from app.llm.transcript import Exchange, RecordingModel
from app.model.names import BuildStatus
from app.model.record import BuildRequest, ReasonerChoice
from app.search.choices import MARGIN
from app.search.effort import FEWEST_TO_SHARE, SHARED
from app.service.evaluations import demands_on, objective_of
from app.service.view import BuildView
from app.storage.store import open_storage
from app.wiring import open_services
from tests.fakes.llm_bench import llm_settings
from tests.fakes.llm_good import Good
from tests.fakes.llm_liar import Liar
from tests.fakes.llm_player import Player
from tests.fakes.llm_server import LlmServer

pytestmark = pytest.mark.slow
LEVEL = 24
"""Low, so that twelve pairs of builds take minutes."""

REASONERS: tuple[ReasonerChoice, ...] = ("rules", "llm")
MOST_NEW, LEAST_SHARE = 60_000, 0.7
LATER = 0.04
"""How much more (share) later stages may try because the build that they get is another one."""

AN_ITEM = 130
"""Evaluations of an item that was begun within the budget and is finished beyond it."""


@dataclass(frozen=True)
class Built:
    """A finished build with what was said; `evaluations`: candidates that the engine tried for it.

    `shared`: those of them that ideas and the last look took.
    """

    view: BuildView
    evaluations: int
    ideas: int
    look: int
    exchanges: list[Exchange]

    @property
    def shared(self) -> int:
        return self.ideas + self.look


@dataclass(frozen=True)
class Pair:
    """A prompt's build by the rules and by a model; `gain` in e-folds of damage or hit points, weighed alike."""

    prompt: str
    rules: Built
    model: Built

    @property
    def gain(self) -> float:
        demands = demands_on(self.rules.view)
        before, after = (objective_of(one.view, demands) for one in (self.rules, self.model))
        assert before is not None
        assert after is not None
        return after - before


async def built(settings: Settings, prompt: str, who: ReasonerChoice) -> Built:
    """Make the build on an empty store."""
    kept: list[Exchange] = []
    async with open_services(settings, around=lambda step, model: RecordingModel(step, model, kept.append)) as services:
        created = await services.builds.create(BuildRequest(prompt=prompt, level=LEVEL, reasoner=who))
        await services.builds.wait(created.id)
        view = await services.library.get(created.id)
    assert view.status is BuildStatus.COMPLETE
    async with open_storage(settings.database) as storage:
        notes = (await storage.builds.get(view.id)).state.construction.notes
    return Built(view, notes.evaluations, notes.for_ideas, notes.for_look, kept)


async def pairs(player: Player, folder: Path, prompts: list[str]) -> list[Pair]:
    """Make each build twice, and print what came of it."""
    found = []
    async with LlmServer(player) as server:
        for number, prompt in enumerate(prompts):
            sides = []
            for who in REASONERS:
                own = f"sqlite+aiosqlite:///{folder / f'{who}{number}.db'}"
                settings = llm_settings(f"{server.url}/v1", folder, memory="off", database_url=own)
                sides.append(await built(settings, prompt, who))
            found.append(Pair(prompt, *sides))
            total = spending(sides[1].exchanges)[-1]
            print(
                f"{prompt:44} {found[-1].gain:+.4f}, evaluations {sides[0].evaluations:,} and {sides[1].evaluations:,},"
                f" look {sides[0].look}, ideas {sides[1].ideas} and look {sides[1].look},"
                f" {total.requests} requests, {total.tokens:,} tokens, {total.tokens - total.again:,} new"
            )
    return found


def check(found: list[Pair]) -> None:
    """Check that the model decided, that nothing is worse, what was tried and what was sent."""
    for pair in found:
        who = pair.model.view.reasoner
        assert who.decided >= 0.9 * who.asked, who.share
        for one in (pair.rules, pair.model):
            assert one.shared <= max(FEWEST_TO_SHARE, SHARED * (one.evaluations - one.shared)) + AN_ITEM
        assert pair.rules.ideas == 0
        assert pair.model.evaluations <= (1 + LATER) * pair.rules.evaluations
        assert pair.gain >= -MARGIN, pair.prompt
        total = spending(pair.model.exchanges)[-1]
        assert total.tokens - total.again <= MOST_NEW, pair.prompt
        assert total.share >= LEAST_SHARE, pair.prompt


async def test_a_good_model_is_better_than_the_rules(tmp_path: Path) -> None:
    found = await pairs(Good(), tmp_path, ["lightning sorceress for mapping"])
    check(found)
    assert found[0].gain > 0


@pytest.mark.deep
async def test_a_good_model_is_never_worse_than_the_rules_and_mostly_better(tmp_path: Path) -> None:
    found = await pairs(Good(), tmp_path, [prompt for prompt, _ in PROMPTS])
    check(found)
    assert len(found) == 12
    assert sum(pair.gain > 0 for pair in found) >= 6


@pytest.mark.deep
async def test_a_confident_liar_makes_no_build_worse(tmp_path: Path) -> None:
    check(await pairs(Liar(), tmp_path, [prompt for prompt, _ in PROMPTS[:4]]))
