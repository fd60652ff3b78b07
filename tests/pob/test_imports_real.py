"""Real players' builds as their owners would tell them: what they play, and only faults that are faults."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.core.config import Settings
from app.model.names import ConflictType
from app.service import Services
from app.service.imports import ImportRequest
from app.service.view import BuildView
from app.wiring import open_services

pytestmark = [pytest.mark.pob, pytest.mark.slow]

PLAYED = {
    "amazon_100": "Lightning Rod",
    "bloodmage_86": "Living Bomb",
    "chronomancer_97": "Incinerate",
    "deadeye_71": "Lightning Arrow",
    "gemlinglegionnaire_94": "Hailstorm Rounds",
    "invoker_100": "Lightning Arrow",
    "martialartist_96": "Whirling Assault",
    "monk_13": "Twister",
    "pathfinder_99": "Poisonburst Arrow",
    "ritualist_96": "Lightning Spear",
    "smithofkitava_89": "Earthquake",
    "sorceress_69": "Ice Nova",
    "spiritwalker_93": "Tamed Companion",
    "titan_72": "Hammer of the Gods",
    "warbringer_100": "Boneshatter",
    "witch_85": "Skeletal Frost Mage",
}
"""The skill that the owner deals damage with, named by hand from the skills, supports and items of the file."""

LEFT_STANDING = {
    "amazon_100": "Herald of Thunder",
    "chronomancer_97": "Time Freeze",
    "gemlinglegionnaire_94": "Virtuous Barrier",
    "invoker_100": "Herald of Thunder",
    "pathfinder_99": "Ghost Dance",
    "titan_72": "Infernal Cry",
}
"""What the file had chosen when it was saved, although it deals no damage."""

QUICK = frozenset({"chronomancer_97", "witch_85"})


@pytest.fixture
async def services(tmp_path: Path, pob_path: Path) -> AsyncIterator[Services]:
    settings = Settings(engine="pob", engine_workers=1, data_dir=tmp_path, pob_path=pob_path)
    async with open_services(settings) as opened:
        yield opened


async def taken_in(services: Services, real_builds: list[Path], name: str) -> BuildView:
    text = next(path for path in real_builds if path.stem == name).read_text(encoding="utf-8-sig")
    return await services.imports.create(ImportRequest(xml=text))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.deep) for name in sorted(PLAYED)]
)
async def test_a_file_is_told_as_its_owner_would(services: Services, real_builds: list[Path], name: str) -> None:
    view = await taken_in(services, real_builds, name)
    skill = next(item.value for item in view.invariants if item.field == "skill")
    assert (skill, view.prompt.split(":")[1].strip().startswith(PLAYED[name])) == (PLAYED[name], True)
    assert view.stats is not None
    assert view.stats.dps
    assert view.damage is not None
    assert view.damage.sources
    told = [text for text in view.assumptions if PLAYED[name] in text and "strongest" in text]
    assert len(told) == (name in LEFT_STANDING or name in ("bloodmage_86", "witch_85"))
    assert all(LEFT_STANDING.get(name, "") in text for text in told)
    faults = {conflict.type for conflict in view.conflicts}
    assert ConflictType.CORE_ASSUMPTION_INVALIDATED not in faults
    messages = [conflict.message for conflict in view.conflicts]
    assert not [text for text in messages if "beyond level 20" in text]
    assert not [text for text in messages if "passive points are used" in text]
    assert not [text for text in messages if " 0 life per second" in text or " 0 mana per second" in text]
    assert sum("does not count" in text for text in messages) <= 1
    assert all(conflict.suggested_solutions for conflict in view.conflicts)
