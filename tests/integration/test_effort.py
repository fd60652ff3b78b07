"""How much is tried, through the whole service on the sketch engine: bounded in evaluations, told, never mixed up."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.config import Settings
from app.core.errors import IdempotencyMismatch
from app.model.names import Effort, Outcome
from app.model.record import BuildRequest
from app.model.state import BuildState
from app.model.wishes import WishState
from app.search.effort import LEFT_OUT
from app.service import Services
from app.service.presentation import as_text
from app.wiring import open_services

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
ASKED = BuildRequest(prompt="lightning sorceress with Spark for mapping", level=24)


async def built(services: Services, effort: Effort, key: str | None = None) -> tuple[str, bytes, BuildState]:
    view = await services.builds.create(ASKED.model_copy(update={"effort": effort}), key)
    await services.builds.wait(view.id)
    state = BuildState.from_yaml((await services.library.export(view.id, "yaml")).decode())
    return view.id, await services.library.export(view.id, "xml"), state


async def test_more_effort_tries_more_and_ends_better(tmp_path: Path) -> None:
    settings = Settings(engine="sketch", engine_workers=2, data_dir=tmp_path, pob_path=tmp_path / "none")
    async with open_services(settings.model_copy(update={"memory": "use"})) as services:
        quick_id, _, quick = await built(services, Effort.QUICK, "one")
        assert (await services.memories.page()).items == []  # a draft teaches nothing
        _, _, normal = await built(services, Effort.NORMAL)
        with pytest.raises(IdempotencyMismatch):
            await built(services, Effort.DEEP, "one")
        _, _, deep = await built(services, Effort.DEEP)
        told = as_text(await services.library.present(quick_id))
    tried = [state.construction.notes.evaluations for state in (quick, normal, deep)]
    assert tried[0] < tried[1] / 4
    assert tried[1] < tried[2]
    found = [state.construction.notes.objective or 0.0 for state in (quick, normal, deep)]
    assert found[0] < found[1] <= found[2] + 1e-6
    assert "the whole build" not in [one.part for one in deep.memories]  # nothing of a deep search is left out
    assert quick.outcome is Outcome.VALIDATED
    assert "quick effort: a first draft" in told
    assert [LEFT_OUT[Effort.QUICK] in state.assumptions for state in (quick, normal, deep)] == [True, False, False]
    assert LEFT_OUT[Effort.QUICK] in told  # the file's notes and the page have what is assumed as well


async def test_a_quick_build_is_the_same_with_one_session_and_four(tmp_path: Path) -> None:
    files = []
    for workers in (1, 4):
        settings = Settings(
            engine="sketch", engine_workers=workers, data_dir=tmp_path / str(workers), pob_path=tmp_path / "none"
        )
        async with open_services(settings) as services:
            files.append((await built(services, Effort.QUICK))[1])
    assert files[0] == files[1]


async def test_a_quick_build_has_what_was_named(tmp_path: Path) -> None:
    settings = Settings(engine="sketch", engine_workers=1, data_dir=tmp_path, pob_path=tmp_path / "none")
    # Archmage reserves 100 Spirit, which quests have given from level 61 on
    asked = BuildRequest(prompt="spark sorceress with archmage and frostbolt", level=65, effort=Effort.QUICK)
    async with open_services(settings) as services:
        made = await services.builds.create(asked)
        await services.builds.wait(made.id)
        state = BuildState.from_yaml((await services.library.export(made.id, "yaml")).decode())
    assert state.blueprint is not None
    assert {"Archmage", "Frostbolt", "Spark"} <= {group.gems[0].name for group in state.blueprint.groups}
    assert {WishState.MET} == {wish.state for wish in state.wishes}
    assert state.iteration == 0
