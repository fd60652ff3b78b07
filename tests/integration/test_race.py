"""Explore measures, through the whole service on the sketch engine: within a fifth, the same everywhere, and told."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.config import Settings
from app.model.names import Effort, Phase, SubProblemName
from app.model.record import BuildRequest
from app.model.state import BuildState
from app.service import Services
from app.service.presentation import as_text
from app.service.recordings import ToolFilter
from app.wiring import open_services

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
Q = SubProblemName
OPEN = BuildRequest(prompt="a strong build for bossing", level=12, gear="starter")


def settings(folder: Path, workers: int) -> Settings:
    return Settings(engine="sketch", engine_workers=workers, data_dir=folder, pob_path=folder / "none")


async def built(services: Services, asked: BuildRequest) -> tuple[str, BuildState]:
    view = await services.builds.create(asked)
    await services.builds.wait(view.id)
    return view.id, BuildState.from_yaml((await services.library.export(view.id, "yaml")).decode())


async def test_the_best_of_many_drafts_is_built_and_the_others_told_with_their_figures(tmp_path: Path) -> None:
    async with open_services(settings(tmp_path, 2)) as services:
        build_id, state = await built(services, OPEN)
        shown = await services.library.present(build_id)
        calls = await services.recordings.attempts(build_id, ToolFilter(phase=Phase.EXPLORE, limit=500))
    race = state.race
    assert race is not None
    assert race.winner is not None
    assert len(race.contenders) >= 12
    assert 2 <= sum(len(one.figures) == 3 for one in race.contenders) <= 3
    assert race.evaluations <= state.construction.notes.evaluations / 5
    decision = state.sub_problems[Q.DAMAGE_DELIVERY].decision
    assert decision is not None
    assert decision.name == race.winner.option.name
    facts = [fact for fact in state.discoveries if fact.measured and fact.sub_problem is Q.DAMAGE_DELIVERY]
    assert {one.option.name for one in race.contenders if one.figures} == set(facts[0].measured)
    assert all(one.draft is None for one in race.contenders)
    text = as_text(shown)
    assert "as drafts, not finished builds" in text
    assert f"Measured best of {len(race.contenders)}" in text
    assert shown.build.race is not None
    assert shown.build.race.contenders[0].name == decision.name
    assert {event.tool for event in calls.tool_events} >= {"pob.build", "pob.what_if", "rules.contenders"}


async def test_one_engine_or_four_run_the_same_race(tmp_path: Path) -> None:
    found = []
    for workers in (1, 4):
        async with open_services(settings(tmp_path / str(workers), workers)) as services:
            build_id, state = await built(services, OPEN)
            found.append((state.race, await services.library.export(build_id, "xml")))
    assert found[0] == found[1]


async def test_a_named_skill_is_raced_against_none_and_a_draft_races_nobody(tmp_path: Path) -> None:
    async with open_services(settings(tmp_path, 2)) as services:
        _, named = await built(services, BuildRequest(prompt="sorceress with Spark", level=4, gear="starter"))
        quick = OPEN.model_copy(update={"effort": Effort.QUICK})
        _, drafted = await built(services, quick)
    decision = named.sub_problems[Q.DAMAGE_DELIVERY].decision
    assert decision is not None
    assert decision.choice.model_dump()["skill_name"] == "Spark"
    assert named.race is None or len(named.race.contenders) < 2
    assert drafted.race is None
