"""A build is one conversation: requests begin as earlier ones did, and a build that is taken up again goes on in it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from app.core.config import Settings
from app.core.errors import LeaseLost
from app.llm.base import ChatModel, Message, Reply
from app.llm.prefix import TOTAL, StepSpending, common_prefix, spending, text_of
from app.llm.transcript import Exchange, RecordingModel, step_of
from app.model.names import BuildStatus
from app.model.record import BuildRequest
from app.wiring import open_services
from tests.fakes.llm_bench import PROMPT, llm_settings
from tests.fakes.llm_player import Player, recorded
from tests.fakes.llm_server import LlmServer

pytestmark = pytest.mark.slow
LEVEL = 24
MOST_NEW, LEAST_SHARE = 60_000, 0.7
"""Tokens of a build's input that were not sent before, and the share that was; four characters are a token."""


async def exchanges(settings: Settings, request: BuildRequest) -> list[Exchange]:
    """Make the build; return every exchange with the model."""
    kept: list[Exchange] = []
    async with open_services(settings, around=lambda step, model: RecordingModel(step, model, kept.append)) as services:
        made = await services.builds.create(request)
        await services.builds.wait(made.id)
        view = await services.library.get(made.id)
    assert view.status is BuildStatus.COMPLETE
    assert view.reasoner.degraded == []
    return kept


def check_spending(rows: list[StepSpending]) -> None:
    """Print the table, and check the whole."""
    for row in rows:
        print(f"{row.step:26} {row.requests:3} {row.tokens:8,} {row.tokens - row.again:8,} new {row.share:.0%}")
    total = rows[-1]
    assert total.step == TOTAL
    assert total.tokens - total.again <= MOST_NEW
    assert total.share >= LEAST_SHARE


@pytest.mark.parametrize(
    ("prompt", "level"),
    [
        (PROMPT, LEVEL),
        pytest.param("lich, chaos damage over time, energy shield", 70, marks=pytest.mark.deep),
        pytest.param("huntress with spears for mapping", 65, marks=pytest.mark.deep),
    ],
)
async def test_most_of_what_is_sent_was_sent_before(prompt: str, level: int, tmp_path: Path) -> None:
    async with LlmServer(Player()) as server:
        settings = llm_settings(f"{server.url}/v1", tmp_path)
        kept = await exchanges(settings, BuildRequest(prompt=prompt, level=level, reasoner="llm"))
    check_spending(spending(kept))
    texts = [text_of(one.request) for one in kept if one.request is not None]
    steps = [one.step for one in kept]
    firsts = [i for i, step in enumerate(steps) if i == 0 or steps[i - 1] != step]
    assert len(firsts) <= 8, "seven questions in three requests, and the other steps"
    for before, now in pairwise(firsts):
        assert common_prefix(texts[before], texts[now]) == len(texts[before]), (steps[before], steps[now])


class Killed(RecordingModel):
    """A model whose caller is gone when its answer to a step arrives: the build stays as the last checkpoint says."""

    def __init__(self, at: str, of: str, model: ChatModel) -> None:
        super().__init__(of, model, lambda one: None)
        self._at = at

    async def complete(self, messages: Sequence[Message], *more: Any, **named: Any) -> Reply:
        reply = await super().complete(messages, *more, **named)
        if step_of(messages, "") == self._at:
            raise LeaseLost("this runner is gone")
        return reply


@pytest.mark.parametrize("step", ["explore-spirit_allocation", pytest.param("construct", marks=pytest.mark.deep)])
async def test_a_build_that_is_taken_up_again_goes_on_in_the_same_conversation(step: str, tmp_path: Path) -> None:
    """What is made of the stored state is, byte for byte, what was asked before, and asked without interruption."""
    player = Player(recorded("lightning_sorceress"))
    del player.answers["explore-spirit_allocation"]
    request = BuildRequest(prompt=PROMPT, level=16, reasoner="llm")
    async with LlmServer(player) as server:
        settings = llm_settings(f"{server.url}/v1", tmp_path)
        async with open_services(settings, around=partial(Killed, step)) as services:
            made = await services.builds.create(request)
            await services.builds.wait(made.id)
            assert (await services.library.get(made.id)).status is BuildStatus.RUNNING
        before, begun = server.requests[-1], len(server.requests)
        async with open_services(settings, take_up=True) as services:
            await services.builds.wait(made.id)
            view = await services.library.get(made.id)
        assert (view.status, view.reasoner.degraded) == (BuildStatus.COMPLETE, [])
        assert before.step == server.requests[begun].step == step
        assert server.requests[begun].body == before.body
    async with LlmServer(player) as server:
        other = tmp_path / "other"
        other.mkdir()
        await exchanges(llm_settings(f"{server.url}/v1", other), request)
        assert next(asked.body for asked in server.requests if asked.step == step) == before.body
