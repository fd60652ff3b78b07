"""A prompt repeated after memory is warm: the same or a better objective, with a fraction of the engine's trials."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.config import Settings
from app.model.names import Outcome
from app.model.record import BuildRequest
from app.model.state import BuildState
from app.service import Services
from app.wiring import open_services

pytestmark = [pytest.mark.pob, pytest.mark.deep, pytest.mark.timeout(3000)]
PROMPT = "cold sorceress for bossing, life-based"
DRIFT = 1e-3
"""Objective that a fresh session may differ by from the one in which the search compared."""


async def test_a_repeated_prompt_is_as_good_with_fewer_trials(pob_path: Path, tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, pob_path=pob_path, engine="pob", cache_mb=0, memory="use")
    async with open_services(settings) as services:
        cold, warm = [await _built(services) for _ in range(2)]
        (known,) = (await services.memories.page()).items
    print({name: (_effort(state), _objective(state)) for name, state in (("cold", cold), ("warm", warm))})

    assert _objective(warm) >= _objective(cold) - DRIFT
    assert _effort(warm) < 0.5 * _effort(cold)
    assert cold.memories == []
    assert [one.part for one in warm.memories] == ["the whole build"]
    assert (known.builds, known.engine.split()[0]) == (2, "pob")


async def _built(services: Services) -> BuildState:
    view = await services.builds.create(BuildRequest(prompt=PROMPT, level=90))
    await services.builds.wait(view.id)
    state = BuildState.from_yaml((await services.library.export(view.id, "yaml")).decode())
    assert state.outcome is Outcome.VALIDATED, state.caveats
    return state


def _effort(state: BuildState) -> int:
    return state.construction.notes.evaluations


def _objective(state: BuildState) -> float:
    return state.construction.notes.objective or 0.0
