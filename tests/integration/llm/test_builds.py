"""Whole builds with every phase answered by the scripted model over real HTTP on loopback."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from app.core.config import Settings
from app.model.events import CallOutcome, ToolEvent
from app.model.names import BuildStatus, Effort
from app.model.record import BuildRecord, BuildRequest
from app.service.presentation import as_text, presentation_of
from app.service.view import BuildView
from app.storage.store import open_storage
from app.wiring import open_services
from tests.fakes.llm_bench import KEY, PROMPT, llm_settings
from tests.fakes.llm_player import Player, recorded
from tests.fakes.llm_server import Asked, Cut, LlmServer, Raw, Reaction, Status

pytestmark = pytest.mark.slow
STEPS = [
    "invariant-extraction",
    "decompose",
    "explore-damage_delivery",
    "explore-damage_scaling",
    "explore-spirit_allocation",
    "construct",
    "validate",
]
ARCHMAGE_FROM = 65
"""The level from which there is Spirit for the recorded answer to the Spirit question; below, the player makes one."""
TOOLS = ["read_stats", "rank_supports", "optimise_tree", "craft_item", "run_experiment"]


@dataclass(frozen=True)
class Made:
    """A finished build with everything that was recorded about it."""

    view: BuildView
    record: BuildRecord
    events: list[ToolEvent]

    def of(self, tool: str) -> list[ToolEvent]:
        return [event for event in self.events if event.tool == tool]


async def make(settings: Settings, level: int = 90, effort: Effort = Effort.NORMAL) -> Made:
    """Make the build with the product's own services."""
    async with open_services(settings) as services:
        created = await services.builds.create(BuildRequest(prompt=PROMPT, level=level, effort=effort))
        await services.builds.wait(created.id)
        view = await services.library.get(created.id)
    async with open_storage(settings.database) as storage:
        return Made(view, await storage.builds.get(view.id), await storage.events.all(view.id))


def check_reasoned(made: Made, server: LlmServer) -> None:
    """Check that the model decided at every step and that the log tells all of it in order."""
    assert (made.view.status, made.view.reasoner.name) == (BuildStatus.COMPLETE, "llm")
    assert (made.view.reasoner.model, made.view.reasoner.degraded) == ("scripted-1", [])
    assert (
        made.view.reasoner.share == f"The model decided {made.view.reasoner.asked} of {made.view.reasoner.asked} steps."
    )
    asked = list(dict.fromkeys(server.steps()))
    assert asked[: len(STEPS)] == STEPS
    delivery = made.record.state.sub_problems
    names = {name.value: sub.decision.name for name, sub in delivery.items() if sub.decision}
    assert (names["damage_delivery"], names["ascendancy"]) == ("Arc with wand and focus", "Stormweaver")
    assert "The model: Softcore trade is meant." in made.view.assumptions
    assert "ascendancy: The model: Whether the shocks hold on a boss." in made.view.domain_gaps


def check_log(made: Made, server: LlmServer) -> None:
    """Check tokens, cost, parents, turns and tool results of what the model did."""
    chats = made.of("llm.chat")
    assert len(chats) == len(server.requests)
    assert all(chat.usage and chat.usage["input"] == 1000 and chat.cost_usd == "0.0012" for chat in chats)
    assert {chat.tool_version for chat in chats} == {"openai scripted-1"}
    steps = {event.call_id: event for event in made.events if event.tool.startswith("llm.") and event not in chats}
    assert all(chat.parent_call_id in steps and chat.turn >= 1 for chat in chats)
    advise = next(event for event in steps.values() if event.tool == "llm.advise")
    inside = [event for event in made.events if event.parent_call_id == advise.call_id]
    told = [(event.turn, event.tool) for event in inside if not event.tool.startswith("pob.")]
    assert told[:9] == [
        (1, "llm.chat"), (1, "read_stats"), (1, "rank_supports"),
        (2, "llm.chat"), (2, "optimise_tree"), (2, "craft_item"),
        (3, "llm.chat"), (3, "run_experiment"), (4, "llm.chat"),
    ]  # fmt: skip
    results = [made.of(tool)[0] for tool in TOOLS]
    assert all(e.outcome is CallOutcome.OK and e.result_preview and e.provider_call_id for e in results)


@pytest.fixture
def player() -> Player:
    return Player(recorded("lightning_sorceress"))


async def test_every_phase_is_answered_by_the_model_on_sketch(player: Player, tmp_path: Path) -> None:
    async with LlmServer(player) as server:
        made = await make(llm_settings(f"{server.url}/v1", tmp_path, llm_timeout_s=20))
        check_reasoned(made, server)
        check_log(made, server)


@pytest.mark.pob
@pytest.mark.deep
@pytest.mark.parametrize("level", [24, 90])
async def test_every_phase_is_answered_by_the_model_on_pob(
    player: Player, tmp_path: Path, pob_path: Path, level: int
) -> None:
    if level < ARCHMAGE_FROM:
        del player.answers["explore-spirit_allocation"]
    async with LlmServer(player) as server:
        more: dict[str, Any] = {"engine": "pob", "pob_path": pob_path, "llm_timeout_s": 20}
        made = await make(llm_settings(f"{server.url}/v1", tmp_path, **more), level=level)
        check_reasoned(made, server)
        check_log(made, server)
        assert made.view.engine.name == "pob"


def every_other(player: Player, faults: list[Reaction]) -> Callable[[Asked], Reaction]:
    """Answer every other step soundly, and the rest with one fault after the other."""
    seen: dict[str, int] = {}
    number = count()

    def react(asked: Asked) -> Reaction:
        place = seen.setdefault(asked.step, next(number))
        return player(asked) if place % 2 else faults[(place // 2) % len(faults)]

    return react


def files_with_the_key(folder: Path) -> list[str]:
    return [file.name for file in folder.rglob("*") if file.is_file() and KEY.encode() in file.read_bytes()]


async def test_a_build_survives_a_fault_at_every_other_step(player: Player, tmp_path: Path) -> None:
    faults: list[Reaction] = [Status(500), Raw(b"<html>"), Cut(), Status(401), Raw(b"\xff"), Status(503)]
    async with LlmServer(every_other(player, faults)) as server:
        made = await make(llm_settings(f"{server.url}/v1", tmp_path, llm_timeout_s=20), level=15)
    assert made.view.status is BuildStatus.COMPLETE
    assert made.record.xml is not None
    fallen = [line.split(": ")[0] for line in made.view.reasoner.degraded]
    assert fallen[:2] == ["invariant-extraction", "explore-damage_delivery"]
    assert len(fallen) >= 4
    assert files_with_the_key(tmp_path) == []
    check_told(made)


def check_told(made: Made) -> None:
    """Check that presentation, API, state and the file's notes say which steps the rules had to decide."""
    who = made.view.reasoner
    assert 0 < who.decided < who.asked
    assert who.asked - who.decided >= len(who.degraded)
    sentence = f"The model decided {who.decided} of {who.asked} steps; fallbacks: {who.degraded[0]}"
    assert who.share.startswith(sentence)
    assert sentence in as_text(presentation_of(made.record))
    assert who.share in made.view.caveats
    assert [turn.step for turn in made.record.state.dialogue if turn.fallen][:2] == [
        "invariant-extraction",
        "explore-damage_delivery",
    ]
    assert made.record.xml is not None
    assert f"The model decided {who.decided} of {who.asked} steps" in made.record.xml.decode()


async def test_a_build_ends_with_what_its_budget_allowed(player: Player, tmp_path: Path) -> None:
    async with LlmServer(player) as server:
        more: dict[str, Any] = {"build_budget_rounds": 5, "llm_timeout_s": 20}
        made = await make(llm_settings(f"{server.url}/v1", tmp_path, **more), level=15)
        assert len(server.requests) == 5
    assert made.view.status is BuildStatus.COMPLETE
    assert "5 requests to the language model" in " ".join(made.view.caveats)
    assert any("budget_exceeded" in line for line in made.view.reasoner.degraded)
