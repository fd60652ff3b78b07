"""XML out and in: deterministic, complete, and bounded."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree

from app.engine.files.xml import canonical
from app.engine.protocol import Refused
from app.engine.sketch.backend import SketchBackend
from app.engine.sketch.document import NOTES, Loader
from app.engine.sketch.lines import Wording
from app.engine.sketch.pack import Pack
from app.model.blueprint import Blueprint, GearItem, SkillGroup
from tests.unit.engine.sketch.samples import RECIPES, Builder, Recipe


def export(backend: SketchBackend, blueprint: Blueprint) -> str:
    report = backend.handle("build", {"blueprint": blueprint.model_dump(mode="json")})
    assert report == {"dropped_nodes": [], "problems": [], "outputs": None}
    xml = backend.handle("export", {})
    assert isinstance(xml, str)
    return xml


def everything(builder: Builder, pack: Pack) -> Blueprint:
    """Return a build that uses every kind of thing a blueprint can hold."""
    plain = builder.build(RECIPES[0])
    socket = next(i for i in pack.passives if pack.passives[i].kind == "socket")
    swap = builder.item("Weapon 1 Swap", "Attuned Wand")
    text = "Rarity: UNIQUE\nOld Hat\nRusted Greathelm\nItem Level: 5\nImplicits: 0\n+50 to maximum Life\nSings"
    second = plain.groups[0].model_copy(update={"slot": "Weapon 1 Swap", "in_full_dps": True, "enabled": False})
    nodes = [n.model_copy(update={"weapon_set": 2 if i in (110, 111) else 0}) for i, n in enumerate(plain.nodes)]
    return plain.model_copy(
        update={
            "nodes": nodes,
            "items": {
                **plain.items,
                "Weapon 1 Swap": swap,
                "Helmet": GearItem(
                    slot="Helmet", base="Rusted Greathelm", rarity="UNIQUE", title="Old Hat", item_level=5, text=text
                ),
                f"Jewel {socket}": builder.item(f"Jewel {socket}", "Sapphire"),
            },
            "groups": [*plain.groups, second, SkillGroup(label="a & b <c>", gems=plain.groups[0].gems[:1])],
            "main_group": 3,
            "config": {"enemyIsBoss": "None", "resistancePenalty": -30, "conditionEnemyShocked": True},
        }
    )


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda r: r.skill)
def test_what_is_written_is_read_back(backend: SketchBackend, builder: Builder, recipe: Recipe) -> None:
    blueprint = builder.build(recipe)
    xml = export(backend, blueprint)
    values = backend.handle("stats", {})
    report = backend.handle("load", {"xml": xml})

    assert report == {"dropped_nodes": [], "problems": [], "outputs": None}
    assert backend.handle("stats", {}) == values
    assert backend.handle("export", {}) == xml


def test_nothing_of_a_blueprint_is_lost(backend: SketchBackend, builder: Builder, pack: Pack) -> None:
    blueprint = everything(builder, pack)
    loaded, problems = Loader(pack, Wording(pack)).load(export(backend, blueprint).encode())

    def ordered(one: Blueprint) -> Blueprint:
        return one.model_copy(update={"nodes": sorted(one.nodes, key=lambda n: n.id)})

    assert problems == []
    assert ordered(loaded) == ordered(blueprint)


def test_equal_builds_give_equal_bytes(backend: SketchBackend, builder: Builder, pack: Pack) -> None:
    blueprint = everything(builder, pack)
    shuffled = blueprint.model_copy(
        update={
            "nodes": list(reversed(blueprint.nodes)),
            "items": dict(reversed(blueprint.items.items())),
            "config": dict(reversed(blueprint.config.items())),
        }
    )

    assert export(backend, blueprint) == export(SketchBackend(), shuffled)


def test_the_canonical_form_loads_to_the_same_build(backend: SketchBackend, builder: Builder, pack: Pack) -> None:
    xml = export(backend, everything(builder, pack))
    values = backend.handle("stats", {})

    backend.handle("load", {"xml": canonical(xml.encode()).decode()})
    assert backend.handle("stats", {}) == values
    assert backend.handle("export", {}) == xml


def test_the_file_says_that_its_numbers_are_estimates(backend: SketchBackend, builder: Builder) -> None:
    root = etree.fromstring(export(backend, builder.build(RECIPES[0])).encode())

    assert root.findtext("Notes", "").strip() == NOTES
    assert root.find("Build/PlayerStat") is None, "no estimated figure poses as one of Path of Building's"


@pytest.mark.parametrize(
    "xml",
    [
        "",
        "<PathOfBuilding2/>",
        "<PathOfBuilding/>",
        "<PathOfBuilding2><Build className='Witch'/><Tree/></PathOfBuilding2>",
        "<PathOfBuilding2><Build className='Witch'/><Tree><Spec treeVersion='0_1'/></Tree></PathOfBuilding2>",
        "<PathOfBuilding2><Build className='Thief'/><Tree><Spec treeVersion='0_5'/></Tree></PathOfBuilding2>",
        "<!DOCTYPE x [<!ENTITY a 'b'>]><PathOfBuilding2>&a;</PathOfBuilding2>",
        "<PathOfBuilding2>" + "<a>" * 60 + "</a>" * 60 + "</PathOfBuilding2>",
    ],
)
def test_what_is_no_usable_build_is_refused(backend: SketchBackend, xml: str) -> None:
    with pytest.raises(Refused):
        backend.handle("load", {"xml": xml})


def test_real_builds_are_read_as_far_as_the_pack_goes(backend: SketchBackend, real_builds: list[Path]) -> None:
    current = [file for file in real_builds if b'treeVersion="0_5"' in file.read_bytes()]
    assert current
    for file in current:
        report = backend.handle("load", {"xml": file.read_bytes()})
        assert report["problems"], "a real build has more than the pack knows"
        assert backend.handle("stats", {})["values"]["Life"] > 0


def test_builds_of_older_trees_are_refused(backend: SketchBackend, real_builds: list[Path]) -> None:
    for file in real_builds:
        if b'treeVersion="0_5"' not in file.read_bytes():
            with pytest.raises(Refused, match="0_5"):
                backend.handle("load", {"xml": file.read_bytes()})
