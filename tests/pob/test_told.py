"""Everything that is told of a build is in its file: read by somebody who has the file and Path of Building alone."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from app.core.config import Settings
from app.engine.process import ProcessEngine
from app.model.names import BuildStatus, GearTier
from app.model.record import BuildRequest
from app.service import Services
from app.service.imports import ImportRequest
from app.service.presentation import as_markdown, as_text
from app.service.refinement import RefineRequest
from app.wiring import open_services
from tests.reading.told import Told, faults_in, faults_of, file_of

pytestmark = [pytest.mark.pob, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(2400)]
SMALL = BuildRequest(prompt="spark sorceress without totems, quux", level=8, gear=GearTier.STARTER)
ATTACKS = BuildRequest(prompt="bow ranger with physical damage for simulacrum", level=5, gear=GearTier.STARTER)
MANY = (
    BuildRequest(prompt="crossbow without grenades", level=30),
    BuildRequest(prompt="minion infernalist", level=40),
    BuildRequest(prompt="lightning arow deadeye fast mapper", level=38),
    BuildRequest(prompt="two-handed mace titan, max block", level=45),
    BuildRequest(prompt="tactician ballista totems", level=45),
    BuildRequest(prompt="contagion + essence drain", level=60),
    BuildRequest(prompt="stormweaver or chronomancer, arc or spark", level=40),
    BuildRequest(prompt="Ice strike martial artist CI, no spirit gems", level=52),
    BuildRequest(prompt="bleed ritualist spear, max attack speed", level=45),
    BuildRequest(prompt="Comet archmage stormweaver endgame", level=92),
)
BUILT = os.environ.get("BUILDWRIGHT_TOLD")
"""A folder that `bench wishes DIR` has written: every build in it is read."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def services(pob_path: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Services]:
    """A service with a store of its own."""
    settings = Settings(data_dir=tmp_path_factory.mktemp("data"), pob_path=pob_path, engine="pob")
    async with open_services(settings) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fresh(pob_path: Path) -> AsyncIterator[ProcessEngine]:
    """Path of Building in a process that made none of the builds."""
    engine = ProcessEngine("pob", {"pob": str(pob_path)}, workers=1)
    yield engine
    await engine.close()


async def told(services: Services, build_id: str) -> Told:
    """Return what the owner of a finished build is given."""
    await services.builds.wait(build_id)
    services.library.forget(build_id)
    shown = await services.library.present(build_id)
    assert shown.build.status is BuildStatus.COMPLETE
    xml, state = [await services.library.export(build_id, form) for form in ("xml", "yaml")]
    return Told(xml, as_text(shown), as_markdown(shown), state.decode())


def kept_builds(folder: Path) -> dict[str, Told]:
    """Return what the owners of the folder's builds were given, by the names of their files."""
    endings = ("txt", "md", "yaml")
    return {
        xml.stem: Told(xml.read_bytes(), *(xml.with_suffix(f".{one}").read_text(encoding="utf-8") for one in endings))
        for xml in sorted(folder.glob("*.xml"))
    }


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def small(services: Services) -> Told:
    """A small build with a wish that is met and a word that nobody understands."""
    return await told(services, (await services.builds.create(SMALL)).id)


@pytest.mark.deep
async def test_a_small_build(small: Told, fresh: ProcessEngine) -> None:
    assert await faults_of(fresh, small) == []


@pytest.mark.deep
async def test_a_small_build_of_attacks(services: Services, fresh: ProcessEngine) -> None:
    found = await told(services, (await services.builds.create(ATTACKS)).id)
    assert "% physical" in found.text, "damage of attacks is split by type"
    assert await faults_of(fresh, found) == []


@pytest.mark.deep
async def test_a_lie_is_found_wherever_it_stands(small: Told, fresh: ProcessEngine) -> None:
    """The reader itself: every one of these sentences is wrong, and nothing else is."""
    life = next(line for line in small.text.splitlines() if line.startswith("  Life "))
    points = next(line for line in small.text.splitlines() if " points in order" in line)
    lies = {
        life: life.replace("Life ", "Life 9"),
        "  Damage delivery: Spark with ": "  Damage delivery: Comet with ",
        "  Spirit: ": "  Spirit: Blink and ",
        "Then repeat Spark": "Then repeat Arc",
        points: points.replace(" points in order", "0 points in order"),
        "  level 1: Spark": "  level 60: Spark",
        "✓ without totems": "✓ without sparks",
        "Not chosen:\n": "Not chosen:\n  Damage delivery: Spark with wand - it is slower\n",
        "Numbers:\n": "Numbers:\n  The moon is 384,400 km away.\n",
        "Weapon 1: rare ": "Weapon 1: rare Silver ",
        "Shopping list:\n": "Shopping list:\n  Ring 3: rare Sapphire Ring (item level 8): +(1-2) to maximum Life\n",
    }
    file = await file_of(fresh, small)
    for true, wrong in lies.items():
        assert true in small.text, true
        found = faults_in(replace(small, text=small.text.replace(true, wrong, 1)), file)
        assert [one for one in found if one != "Markdown and text differ"], wrong


@pytest.mark.deep
@pytest.mark.parametrize("request_", MANY, ids=[one.prompt for one in MANY])
async def test_many_kinds_of_builds(services: Services, fresh: ProcessEngine, request_: BuildRequest) -> None:
    found = await told(services, (await services.builds.create(request_)).id)
    assert await faults_of(fresh, found) == []


@pytest.mark.deep
async def test_somebodys_build_and_its_refinement(
    services: Services, fresh: ProcessEngine, real_builds: list[Path]
) -> None:
    xml = next(path for path in real_builds if path.stem == "monk_13").read_text(encoding="utf-8")
    taken = await services.imports.create(ImportRequest(xml=xml))
    assert await faults_of(fresh, await told(services, taken.id)) == []
    child = await services.refinements.refine(taken.id, RefineRequest(prompt="make this tankier, keep the weapon"))
    assert await faults_of(fresh, await told(services, child.id)) == []


@pytest.mark.deep
@pytest.mark.skipif(BUILT is None, reason="BUILDWRIGHT_TOLD names no folder of builds")
async def test_every_build_of_a_folder(fresh: ProcessEngine) -> None:
    builds = kept_builds(Path(BUILT or ""))
    assert builds, f"there is no build in {BUILT}"
    found = {name: await faults_of(fresh, one) for name, one in builds.items()}
    print(f"{len(found)} builds read")
    faulty = [f"{name}: {fault}" for name, faults in found.items() for fault in faults]
    assert not faulty, "\n".join(faulty)
