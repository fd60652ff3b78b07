"""What was ruled out: kinds, names and words of names, held against gems, passives and items."""

from __future__ import annotations

import pytest

from app.knowledge.exclusions import Exclusions
from app.knowledge.vocabulary import vocabulary
from app.model.facts import BaseFact, GemFact, NodeFact


def ruled_out(*words: str) -> Exclusions:
    return Exclusions.of(words, vocabulary())


def gem(name: str, *tags: str, spirit: float = 0.0) -> GemFact:
    return GemFact(id=name.lower(), name=name, kind="active", tags=list(tags), spirit=spirit)


CLERIC, WARRIOR = gem("Skeletal Cleric", "minion"), gem("Skeletal Warrior", "minion")
ZOMBIE, BOLT = gem("Raise Zombie", "minion"), gem("Firebolt", "fire", "spell")
HERALD = gem("Herald of Ash", "fire", "herald", spirit=30)


@pytest.mark.parametrize(
    ("word", "gone"),
    [
        ("skeletons", {"Skeletal Cleric", "Skeletal Warrior"}),
        ("skeletal cleric", {"Skeletal Cleric"}),
        ("minions", {"Skeletal Cleric", "Skeletal Warrior", "Raise Zombie"}),
        ("zombies", {"Raise Zombie"}),
        ("spirit gems", {"Herald of Ash"}),
        ("heralds", {"Herald of Ash"}),
        ("fire", {"Firebolt", "Herald of Ash"}),
        ("elemental", {"Firebolt", "Herald of Ash"}),
        ("Firebolt", {"Firebolt"}),
        ("bows", set()),
        ("nonsense", set()),
    ],
)
def test_gems(word: str, gone: set[str]) -> None:
    known = (CLERIC, WARRIOR, ZOMBIE, BOLT, HERALD)
    assert {one.name for one in known if ruled_out(word).gem(one)} == gone


def test_poison_is_ruled_out_by_name_and_line_and_chaos_is_not() -> None:
    found = ruled_out("poison")
    assert found.gem(gem("Poisonburst Arrow", "chaos", "attack"))
    assert not found.gem(gem("Essence Drain", "chaos", "spell"))
    assert found.node(NodeFact(id=1, name="Toxic", kind="notable", mods=["20% increased Magnitude of Poison"]))
    assert not found.node(NodeFact(id=2, name="Chaos", kind="notable", mods=["20% increased Chaos Damage"]))


def test_a_word_for_a_kind_does_not_hide_another_words_name() -> None:
    found = ruled_out("flasks", "skeletons")
    assert found.gem(CLERIC)
    assert not found.gem(BOLT)


def test_nothing_ruled_out_rules_out_nothing() -> None:
    assert not ruled_out().gem(CLERIC)
    assert not ruled_out().item("", BaseFact(name="Gold Ring", type="Ring"), unique=True)


@pytest.mark.parametrize(
    ("word", "gone"),
    [("fire", True), ("elemental", False), ("spirit gems", False), ("Burning Nature", True), ("cold", False)],
)
def test_passives(word: str, gone: bool) -> None:
    node = NodeFact(id=1, name="Burning Nature", kind="notable", mods=["25% increased Fire Damage", "+10 to Spirit"])
    assert ruled_out(word).node(node) is gone


@pytest.mark.parametrize(
    ("word", "line", "gone"),
    [
        ("crit", "20% increased Critical Damage Bonus", True),
        ("crit", "Hits against you have 20% reduced Critical Damage Bonus", False),
        ("fire", "Adds 3 to 5 Fire Damage to Attacks", True),
        ("fire", "20% of Fire Damage taken Recouped as Life", False),
        ("fire", "+30% to Fire Resistance", False),
        ("physical", "4% additional Physical Damage Reduction", False),
        ("poison", "20% increased Magnitude of Poison you inflict", True),
        ("poison", "30% reduced Poison Duration on you", False),
        ("evasion", "12% increased Armour, Evasion and Energy Shield", False),
        ("evasion", "12% increased Evasion and Energy Shield", True),
        ("spirit gems", "+30 to Spirit", False),
    ],
)
def test_lines_of_items(word: str, line: str, gone: bool) -> None:
    assert ruled_out(word).said([line]) is gone
    assert ruled_out(word).item("", BaseFact(name="Amber Amulet", type="Amulet"), unique=True, lines=[line]) is gone
    assert ruled_out(word).item("", BaseFact(name="Jade Amulet", type="Amulet", implicits=[line]), unique=False) is gone


def test_what_a_charm_is_for_is_not_what_one_has() -> None:
    line = "Used when you are Cursed"
    assert not ruled_out("curses").item(
        "", BaseFact(name="Cleansing Charm", type="Charm", implicits=[line]), unique=False
    )


RATTLING = BaseFact(
    name="Rattling Sceptre", type="Sceptre", implicits=["Grants Skill: Level (1-20) Skeletal Warrior Minion"]
)


@pytest.mark.parametrize(
    ("word", "title", "base", "unique", "gone"),
    [
        ("uniques", "Mjolner", BaseFact(name="Sledge", type="One Hand Mace"), True, True),
        ("uniques", "", BaseFact(name="Sledge", type="One Hand Mace"), False, False),
        ("mjolner", "Mjölner", BaseFact(name="Sledge", type="One Hand Mace"), True, True),
        ("maces", "", BaseFact(name="Sledge", type="One Hand Mace"), False, True),
        ("sledge", "", BaseFact(name="Sledge", type="One Hand Mace"), False, True),
        ("flasks", "", BaseFact(name="Life Flask", type="Flask"), False, True),
        ("charms", "", BaseFact(name="Life Flask", type="Flask"), False, False),
        ("skeletons", "", RATTLING, False, True),
        ("skeletal warrior", "", RATTLING, False, True),
        ("zombies", "", RATTLING, False, False),
    ],
)
def test_items(word: str, title: str, base: BaseFact, unique: bool, gone: bool) -> None:
    assert ruled_out(word).item(title, base, unique=unique) is gone


@pytest.mark.parametrize(
    ("word", "base", "gone"),
    [
        ("rings", "Ring", True),
        ("rings", "Amulet", False),
        ("body armour", "Body Armour", True),
        ("boots", "Boots", True),
    ],
)
def test_a_kind_of_item_leaves_its_slot_empty(word: str, base: str, gone: bool) -> None:
    assert ruled_out(word).item("", BaseFact(name=f"Plain {base}", type=base), unique=False) is gone
    assert not ruled_out(word).gem(gem("Ring of Fire", "fire", "ring"))
    assert not ruled_out(word).node(NodeFact(id=1, name="Bond", kind="notable", mods=["10% more from rings and boots"]))
