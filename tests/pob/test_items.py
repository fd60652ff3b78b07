"""Items of every kind through real Path of Building: parsed, rolled, socketed, equipped."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from app.engine.protocol import Refused
from app.model.facts import UniqueFact
from tests.pob.conftest import Child, Facts, rare

pytestmark = pytest.mark.pob


def _numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", text)]


def _ends(line: str, roll: int) -> list[float]:
    """The numbers of an affix line with every range at its lower (0) or upper (1) end."""
    return _numbers(re.sub(r"\((-?[\d.]+)-(-?[\d.]+)\)", lambda m: m.group(1 + roll), line))


@pytest.mark.parametrize("roll", [0, 1])
def test_affixes_roll_to_the_ends_of_their_ranges(child: Child, facts: Facts, roll: int) -> None:
    child.build(facts.sorceress() | {"items": {}})
    chance = random.Random(7)
    for base in ("Sapphire Ring", "Attuned Wand", "Altar Robe"):
        slot = facts.bases[base]["slots"][0]
        affixes = [a for a in facts.affixes(base).values() if len(a["lines"]) == 1 and "reduced" not in a["lines"][0]]
        for affix in chance.sample(affixes, 12):
            side = {"prefixes" if affix["side"] == "prefix" else "suffixes": [affix["id"]]}
            child.call("apply", changes=[{"op": "equip", "item": rare(slot, base, roll=float(roll), **side)}])
            item = next(text for text in re.findall(r"<Item\b.*?</Item>", child.call("export"), re.S) if base in text)
            wanted = _ends(affix["lines"][0], roll)
            shown = [_numbers(re.sub(r"\{[^}]*\}", "", line)) for line in item.split("\n")]
            assert wanted in shown, (affix["id"], affix["lines"], item)


def test_every_base_can_be_worn_with_affixes_that_count(child: Child, facts: Facts) -> None:
    chance = random.Random(3)
    child.build(facts.sorceress() | {"items": {}})
    kinds = {(base["type"], base["sub_type"]): name for name, base in sorted(facts.bases.items())}
    for (kind, sub_type), base in sorted(kinds.items()):
        slot = facts.bases[base]["slots"][0]
        if slot in ("Jewel", "Weapon 2"):
            continue
        affixes = list(facts.affixes(base).values())
        by_side = {side: [a["id"] for a in affixes if a["side"] == side] for side in ("prefix", "suffix")}
        item = rare(slot, base)
        item["rarity"] = "MAGIC" if kind in ("Charm", "Flask") else "RARE"
        item["prefixes"] = [
            {"id": i, "roll": 0.5} for i in chance.sample(by_side["prefix"], min(1, len(by_side["prefix"])))
        ]
        item["suffixes"] = [
            {"id": i, "roll": 0.5} for i in chance.sample(by_side["suffix"], min(1, len(by_side["suffix"])))
        ]
        report = child.call("apply", changes=[{"op": "equip", "item": item}, {"op": "unequip", "slot": slot}])
        assert report["problems"] == [], (kind, sub_type, base)


def test_runes_count(child: Child, facts: Facts) -> None:
    runes = {rune["name"]: rune for rune in facts.backend.handle("runes", {"base": "Altar Robe"})}
    life = next(name for name, rune in runes.items() if re.fullmatch(r"\+\d+ to maximum Life", rune["lines"][0]))
    gain = _numbers(runes[life]["lines"][0])[0]
    robe = rare("Body Armour", "Altar Robe") | {"sockets": 2}
    child.build(facts.sorceress() | {"items": {"Body Armour": robe}})
    before = child.stats()["Life"]
    child.build(facts.sorceress() | {"items": {"Body Armour": robe | {"runes": [life, life]}}})
    assert child.stats()["Life"] == pytest.approx(before + 2 * gain, abs=30)
    assert child.stats()["Life"] > before
    with pytest.raises(Refused, match="unknown rune"):
        child.build(facts.sorceress() | {"items": {"Body Armour": robe | {"runes": ["Pebble"]}}})


def test_weapons_bring_their_skill_with_a_level(child: Child, facts: Facts) -> None:
    child.build(facts.sorceress())
    xml = child.call("export")
    level = re.search(r"Grants Skill: Level (\d+) Mana Drain", xml)
    assert level is not None
    assert int(level.group(1)) > 10
    assert 'source="Item:' in xml


def test_quality_and_item_level_are_kept(child: Child, facts: Facts) -> None:
    robe = rare("Body Armour", "Altar Robe")
    child.build(facts.sorceress() | {"items": {"Body Armour": robe}})
    plain = child.stats()["EnergyShield"]
    child.build(facts.sorceress() | {"items": {"Body Armour": robe | {"quality": 20}}})
    assert child.stats()["EnergyShield"] > plain
    assert "Item Level: 82" in child.call("export")


def test_uniques_load_from_their_text(child: Child, facts: Facts) -> None:
    uniques = [UniqueFact.model_validate(found) for found in facts.backend.handle("uniques", {})]
    assert len(uniques) > 400
    child.build(facts.sorceress() | {"items": {}})
    worn = 0
    for unique in uniques:
        slots = facts.bases.get(unique.base, {}).get("slots", [])
        if not slots or slots[0] in ("Jewel", "Weapon 2"):
            continue
        item = {"slot": slots[0], "base": unique.base, "rarity": "UNIQUE", "text": unique.text}
        (answer,) = child.call("what_if", candidates=[[{"op": "equip", "item": item}]], metrics=["Life"])
        assert "Life" in answer, unique.name
        worn += 1
    assert worn > 300


def test_jewels_need_their_socket(child: Child, facts: Facts) -> None:
    socket = next(n["id"] for n in facts.nodes.values() if n["kind"] == "socket" and not n.get("ascendancy"))
    jewel = rare(f"Jewel {socket}", "Sapphire", ["JewelEnergyShield"])
    blueprint: dict[str, Any] = facts.sorceress()
    child.build(blueprint)
    without = child.stats()
    child.build(blueprint | {"items": blueprint["items"] | {jewel["slot"]: jewel}})
    assert child.stats()["EnergyShield"] == without["EnergyShield"]
    with pytest.raises(Refused, match="does not fit"):
        child.build(blueprint | {"items": {jewel["slot"]: rare(jewel["slot"], "Sapphire Ring")}})


def test_surplus_charms_rest_and_files_say_so(child: Child, facts: Facts) -> None:
    child.build(facts.sorceress())
    xml = child.call("export")
    slots = dict(re.findall(r'<Slot(?=[^>]*name="(Charm \d)")(?=[^>]*active="(true|false)")', xml))
    assert slots.get("Charm 2", "false") == "false"
    first, both = facts.sorceress(), facts.sorceress()
    del first["items"]["Charm 2"]
    both["items"]["Charm 2"]["active"] = False
    child.build(first)
    one = child.stats()
    child.build(both)
    assert {k: v for k, v in child.stats().items() if "Avoid" in k} == {k: v for k, v in one.items() if "Avoid" in k}
