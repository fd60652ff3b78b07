"""Real players' builds: imported as Path of Building itself calculates them, refined without touching what is kept."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.bench.refinement import broken_locks
from app.core.config import Settings
from app.engine.files.codes import encode
from app.engine.files.xml import read
from app.engine.pob.backend import PobBackend
from app.model.moves import Part
from app.model.names import Provenance
from app.phases.explore.refinement import KEPT
from app.service import Services
from app.service.imports import ImportRequest
from app.service.refinement import RefineRequest
from app.service.view import BuildView
from app.wiring import open_services
from tests.pob.conftest import Child

pytestmark = [pytest.mark.pob, pytest.mark.slow]


@pytest.fixture
async def services(tmp_path: Path, pob_path: Path) -> AsyncIterator[Services]:
    settings = Settings(engine="pob", engine_workers=2, data_dir=tmp_path, pob_path=pob_path)
    async with open_services(settings) as opened:
        yield opened


def _file(real_builds: list[Path], name: str) -> str:
    return next(path for path in real_builds if path.stem == name).read_text(encoding="utf-8-sig")


async def _refined(services: Services, parent: BuildView, prompt: str) -> BuildView:
    child = await services.refinements.refine(parent.id, RefineRequest(prompt=prompt))
    await services.builds.wait(child.id)
    services.library.forget(child.id)
    return await services.library.get(child.id)


@pytest.mark.parametrize(
    ("name", "class_name", "ascendancy", "level", "skill"),
    [
        ("monk_13", "Monk", None, 13, "Twister"),
        ("deadeye_71", "Ranger", "Deadeye", 71, "Lightning Arrow"),
        ("martialartist_96", "Monk", "Martial Artist", 96, "Whirling Assault"),
    ],
)
async def test_an_import_is_recalculated_and_read(
    services: Services,
    warm_backend: PobBackend,
    real_builds: list[Path],
    name: str,
    class_name: str,
    ascendancy: str | None,
    level: int,
    skill: str,
) -> None:
    text = _file(real_builds, name)
    view = await services.imports.create(ImportRequest(code=encode(text.encode())))
    child = Child(warm_backend)
    try:
        child.call("load", xml=text)
        values = child.stats()
    finally:
        child.close()
    said = {item.field: item for item in view.invariants}
    wanted = {"class": class_name, "level": level, "skill": skill, **({"ascendancy": ascendancy} if ascendancy else {})}
    assert {field: said[field].value for field in wanted} == wanted
    assert {said[field].provenance for field in wanted} == {Provenance.EXPLICIT}
    assert ("ascendancy" in said) == bool(ascendancy)
    assert view.stats is not None
    assert not view.stats.estimate
    assert view.stats.ehp == pytest.approx(values["TotalEHP"])
    assert view.stats.life == pytest.approx(values["Life"])
    assert read(await services.library.export(view.id, "xml")).find("Build") is not None


async def test_a_file_is_refined_without_touching_what_is_kept(services: Services, real_builds: list[Path]) -> None:
    parent = await services.imports.create(ImportRequest(xml=_file(real_builds, "monk_13")))
    child = await _refined(services, parent, "more effective HP, keep the weapon and the tree")
    before = await services.library.export(parent.id, "xml")
    after = await services.library.export(child.id, "xml")
    assert child.refinement is not None
    assert child.refinement.reached, child.refinement.verdict
    assert child.stats is not None
    assert parent.stats is not None
    assert (child.stats.ehp or 0) >= 1.15 * (parent.stats.ehp or 0)
    assert before != after
    assert not broken_locks(before, after, child.refinement.locks)
    assert all(row.part != Part.TREE for row in child.refinement.changes)
    assert all(row.figures_before and row.figures_after and row.reason for row in child.refinement.changes)
    assert [(wish.kind, wish.state) for wish in child.wishes] == [("refinement", "met"), ("kept", "met")]
    reasons = [sub.decision.reason for sub in child.sub_problems.values() if sub.decision is not None]
    assert (len(reasons), sum(reason.startswith(KEPT) for reason in reasons)) == (7, 6)


async def test_nothing_but_jewels(services: Services, real_builds: list[Path]) -> None:
    parent = await services.imports.create(ImportRequest(xml=_file(real_builds, "smithofkitava_89")))
    child = await _refined(services, parent, "5 % more damage, change nothing but jewels")
    before = await services.library.export(parent.id, "xml")
    after = await services.library.export(child.id, "xml")
    assert child.refinement is not None
    assert not broken_locks(before, after, child.refinement.locks)
    assert {row.part for row in child.refinement.changes} <= {Part.JEWELS.value}
    assert child.refinement.reached or before == after


async def test_a_figure_asked_for_is_reached_by_gear(services: Services, real_builds: list[Path]) -> None:
    parent = await services.imports.create(ImportRequest(xml=_file(real_builds, "sorceress_69")))
    child = await _refined(services, parent, "30 more dexterity, keep the tree and the supports")
    assert [(wish.kind, wish.state) for wish in child.wishes] == [("kept", "met"), ("dexterity", "met")]
    assert child.refinement is not None
    assert {row.part for row in child.refinement.changes} <= {Part.GEAR.value, Part.SPIRIT.value, Part.JEWELS.value}
