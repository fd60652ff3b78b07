"""Real players' files and hostile ones in real Path of Building."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from app.engine.files.xml import canonical
from app.engine.protocol import Refused
from app.model.blueprint import Blueprint
from app.model.stats import Inspection
from tests.pob.conftest import Child, Facts

pytestmark = pytest.mark.pob


@pytest.mark.slow
def test_real_builds_survive_a_round_trip(child: Child, few_real_builds: list[Path]) -> None:
    for path in few_real_builds:
        report = child.call("load", xml=path.read_text(encoding="utf-8"))
        stats = child.stats()
        Inspection.model_validate(child.call("inspect"))
        assert report == {"dropped_nodes": [], "problems": []}, path.name
        first = canonical(child.call("export").encode())
        child.call("load", xml=first.decode())
        again = child.stats()
        assert {k: v for k, v in again.items() if "AreaOfEffectRadius" not in k} == {
            k: v for k, v in stats.items() if "AreaOfEffectRadius" not in k
        }, path.name
        assert canonical(child.call("export").encode()) == first, path.name


def test_our_builds_survive_a_round_trip(child: Child, facts: Facts) -> None:
    child.build(facts.sorceress())
    stats = child.stats()
    first = canonical(child.call("export").encode())
    child.call("load", xml=first.decode())
    assert child.stats() == stats
    assert canonical(child.call("export").encode()) == first


def test_equal_builds_give_equal_files(warm_backend: object, child: Child, facts: Facts) -> None:
    child.build(facts.sorceress())
    first = canonical(child.call("export").encode())
    child.build(facts.sorceress() | {"level": 5})
    child.build(facts.sorceress())
    assert canonical(child.call("export").encode()) == first


@pytest.mark.parametrize("name", ["chronomancer_97", "gemlinglegionnaire_94", "martialartist_96"])
def test_a_file_read_as_a_blueprint_builds_the_same(child: Child, real_builds: list[Path], name: str) -> None:
    (path,) = [path for path in real_builds if path.stem == name]
    child.call("load", xml=path.read_text(encoding="utf-8"))
    stats = child.stats()
    blueprint = Blueprint.model_validate(child.call("blueprint"))
    assert blueprint.level == int(name.rpartition("_")[2])
    assert child.build(blueprint.model_dump(mode="json")) == {"dropped_nodes": [], "problems": []}
    assert child.stats() == stats
    assert Blueprint.model_validate(child.call("blueprint")) == blueprint


def _build(inner: str = "", head: str = 'level="5" targetVersion="0_1" className="Sorceress"') -> str:
    return f'<?xml version="1.0"?>\n<PathOfBuilding2>\n<Build {head}></Build>\n{inner}\n</PathOfBuilding2>'


HOSTILE = {
    "nothing": "",
    "not xml": "hello",
    "another game": "<PathOfBuilding><Build level='1'/></PathOfBuilding>",
    "entities": _build("<Notes>" + "&amp;" * 30_000 + "</Notes>"),
    "too large": _build("<Notes>" + "x" * 1_000_001 + "</Notes>"),
    "a document type": '<!DOCTYPE x [<!ENTITY a "b">]><PathOfBuilding2/>',
    "unknown tree": _build('<Tree activeSpec="1"><Spec treeVersion="9_9" classId="7" nodes="1,2"/></Tree>'),
    "a path as tree": _build('<Tree activeSpec="1"><Spec treeVersion="../../etc" classId="7" nodes="1"/></Tree>'),
    "a bad class": _build('<Tree activeSpec="1"><Spec treeVersion="0_5" classId="99" nodes="1"/></Tree>'),
    "no number": _build(head='level="nan" targetVersion="0_1"'),
    "many numbers": _build(
        "<Items><Item id='1'>Rarity: RARE\nX\nSapphire Ring\n" + "1 2 3 4 5 6 7 8 9\n" * 3 + "</Item></Items>"
    ),
    "a long line": _build("<Items><Item id='1'>Rarity: RARE\nX\nSapphire Ring\n" + "+1 to " * 500 + "</Item></Items>"),
    "an old game version": _build(head='level="5" targetVersion="3_0"'),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused_and_the_next_build_is_right(child: Child, facts: Facts, name: str) -> None:
    child.build(facts.sorceress())
    stats = child.stats()
    started = time.monotonic()
    with pytest.raises(Refused):
        child.call("load", xml=HOSTILE[name])
    assert time.monotonic() - started < 5
    child.build(facts.sorceress())
    assert child.stats() == stats


TEXT = "Rarity: RARE\nDoom Loop\nSapphire Ring\n"
RING = {"slot": "Ring 1", "base": "Sapphire Ring", "rarity": "RARE"}
ENDLESS = {
    "equal lines": TEXT + "+10 to maximum Life\n" * 1_500,
    "many numbers": TEXT + "1 2 3 4 5 6 7 8 9\n" * 3,
    "a long line": TEXT + "+1 to " * 500,
}


@pytest.mark.parametrize("name", ENDLESS)
def test_no_text_holds_the_engine_up_whatever_brings_it(child: Child, facts: Facts, name: str) -> None:
    item, config = RING | {"text": ENDLESS[name]}, {"customMods": ENDLESS[name]}
    equip = {"op": "equip", "item": item}
    child.build(facts.sorceress())
    stats = child.stats()
    started = time.monotonic()
    for op, args in (
        ("build", {"blueprint": facts.sorceress() | {"items": {"Ring 1": item}}}),
        ("build", {"blueprint": facts.sorceress() | {"config": config}}),
        ("apply", {"changes": [equip]}),
        ("apply", {"changes": [{"op": "set_config", "key": "customMods", "value": ENDLESS[name]}]}),
        ("what_if", {"candidates": [[equip]], "metrics": ["Life"]}),
    ):
        with pytest.raises(Refused):
            child.call(op, **args)
    assert time.monotonic() - started < 5
    assert child.stats() == stats


def test_gem_names_are_not_patterns(child: Child) -> None:
    skill = '<Skill enabled="true"><Gem nameSpec="{}" level="20" quality="0" enabled="true"/></Skill>'
    inner = '<Skills activeSkillSet="1"><SkillSet id="1">' + skill.format(".-" * 20 + "(") + "</SkillSet></Skills>"
    started = time.monotonic()
    child.call("load", xml=_build(inner))
    assert time.monotonic() - started < 5
    assert re.search("Unrecognised", child.call("inspect")["idle_gems"][0]["reason"])
    inner = '<Skills activeSkillSet="1"><SkillSet id="1">' + skill.format("Spark") + "</SkillSet></Skills>"
    child.call("load", xml=_build(inner))
    assert child.call("inspect")["idle_gems"] == []


def test_custom_lines_keep_their_newlines(child: Child, facts: Facts) -> None:
    child.build(facts.sorceress())
    life = child.stats()["Life"]
    child.build(facts.sorceress() | {"config": {"customMods": "+100 to maximum Life\n+50 to maximum Life"}})
    more = child.stats()["Life"]
    assert more > life + 140
    child.call("load", xml=canonical(child.call("export").encode()).decode())
    assert child.stats()["Life"] == more
