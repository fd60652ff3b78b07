"""What a refinement's words mean: the wish, what stays, and what is left to read."""

from __future__ import annotations

import re

import pytest

from app.model.moves import WEAPON_SLOTS, Part
from app.reasoning.prompt.refinement import read_refinement

EVERYTHING_BUT_JEWELS = sorted(set(Part) - {Part.JEWELS})


@pytest.mark.parametrize(
    ("prompt", "direction"),
    [
        ("more damage", "damage"),
        ("hit harder please", "damage"),
        ("more effective HP", "survivability"),
        ("make this tankier", "survivability"),
        ("I die to one-shots, more life", "survivability"),
        ("cap my resistances", "resistances"),
        ("fix my resistances", "resistances"),
        ("fix my mana", "sustain"),
        ("make it tankier without losing more than 10% dps", "survivability"),
        ("recover mana faster", "sustain"),
        ("I always run oom", "sustain"),
        ("fix it", "repair"),
        ("what's wrong with this?", "repair"),
        ("repair the build please, keep the weapon", "repair"),
        ("fix my damage", "damage"),
        ("more damage and more ehp", "balanced"),
        ("improve it", "balanced"),
        ("I keep dying to bosses", "survivability"),
        ("bleed keeps killing me", "survivability"),
        ("I get killed all the time", "survivability"),
        ("kill bosses faster", "damage"),
        ("I don't care about defence", "damage"),
        ("damage doesn't matter", "survivability"),
        ("don't lose any damage", "survivability"),
        ("less damage, more ehp", "survivability"),
        ("trade some damage for survivability", "survivability"),
        ("more damage at the cost of defence", "damage"),
        ("better boots for more damage", "damage"),
        ("double my life", "survivability"),
        ("I don't have enough strength", "repair"),
        ("cap block", "balanced"),
    ],
)
def test_direction(prompt: str, direction: str) -> None:
    assert read_refinement(prompt).wish.direction == direction


@pytest.mark.parametrize(
    ("prompt", "parts", "slots"),
    [
        ("make this tankier, keep the weapon", [], sorted(WEAPON_SLOTS)),
        ("keep the gear, more damage", [Part.FLASKS, Part.GEAR, Part.JEWELS], []),
        ("more damage while keeping the tree", [Part.JEWELS, Part.TREE], []),
        ("don't touch my helmet or boots; more life please", [], ["Boots", "Helmet"]),
        ("change nothing but jewels", EVERYTHING_BUT_JEWELS, []),
        ("keep everything", sorted(Part), []),
        ("don't change anything", sorted(Part), []),
        ("more damage, keep Grim Feast", [], []),
        ("more dps without changing the supports or the ascendancy", [Part.ASCENDANCY, Part.SPIRIT, Part.SUPPORTS], []),
        ("more damage", [], []),
        ("I keep dying", [], []),
        ("keep my damage, more life", [], []),
        ("10% more dmg by only changing jewels", sorted(set(Part) - {Part.JEWELS}), []),
        ("improve damage while only swapping gear", sorted(set(Part) - {Part.GEAR}), []),
        ("leave the gear, swap nothing else", [Part.FLASKS, Part.GEAR, Part.JEWELS], []),
    ],
)
def test_what_stays(prompt: str, parts: list[Part], slots: list[str]) -> None:
    found = read_refinement(prompt)
    assert (found.locks.parts, found.locks.slots) == (parts, slots)
    assert bool(found.kept) == bool(parts or slots)


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("keep everything, but make it tankier", "keep everything"),
        ("keep it as is but more life", "keep it as is"),
        ("keep everything the same, just more ehp", "keep everything the same"),
    ],
)
def test_who_keeps_everything_but_for_a_wish_gets_the_wish_and_is_told(prompt: str, said: str) -> None:
    found = read_refinement(prompt)
    assert (found.locks.parts, found.locks.slots, found.kept) == ([], [], ())
    assert f'"{said}" would leave nothing to change' in found.wish.reason


@pytest.mark.parametrize("prompt", ["more damage, but keep everything", "don't change anything, more damage please"])
def test_a_wish_before_everything_that_stays_changes_nothing(prompt: str) -> None:
    found = read_refinement(prompt)
    assert found.locks.parts == sorted(Part)
    assert found.kept


def test_what_joins_two_clauses_is_no_part_of_what_is_kept() -> None:
    assert set(read_refinement("keep the weapon, just swap the boots").kept) == {
        "just swap the boots",
        "keep the weapon",
    }
    assert "keep my gear" in read_refinement("keep my gear and only improve the tree").kept


@pytest.mark.parametrize("prompt", ["I don't like the helmet, pick something else", "I hate my helmet"])
def test_what_somebody_dislikes_is_looked_for_anew(prompt: str) -> None:
    found = read_refinement(prompt)
    assert not found.locks.holds_slot("Helmet")
    assert found.locks.holds_slot("Boots")
    assert found.wish.least == 0.01


def test_the_rest_stays_where_one_item_is_to_be_swapped() -> None:
    found = read_refinement("leave the rest, swap my helmet")
    assert not found.locks.holds_slot("Helmet")
    assert found.locks.holds_slot("Boots")
    assert found.locks.holds(Part.TREE)


def test_only_one_kind_of_item_may_change() -> None:
    found = read_refinement("change only the rings for more damage")
    assert found.wish.direction == "damage"
    assert not found.locks.holds_slot("Ring 1")
    assert found.locks.holds_slot("Helmet")
    assert found.locks.holds_slot("Jewel 123")
    assert found.locks.holds(Part.TREE)


@pytest.mark.parametrize(
    ("prompt", "free"),
    [
        ("keep everything but the tree", {Part.TREE, Part.ATTRIBUTES}),
        ("keep everything except the tree", {Part.TREE, Part.ATTRIBUTES}),
        ("don't touch anything but the tree, more damage", {Part.TREE, Part.ATTRIBUTES}),
        ("keep all but the gear", {Part.GEAR}),
        ("I want to keep all of it but the jewels", {Part.JEWELS}),
        ("dont change anything other than supports", {Part.SUPPORTS}),
        ("everything but my passives and jewels stays", {Part.TREE, Part.ATTRIBUTES, Part.JEWELS}),
        ("everything stays the same except the gear, and more life", {Part.GEAR}),
        ("respec my tree", {Part.TREE, Part.ATTRIBUTES}),
        ("you can change everything but the tree", set(Part) - {Part.TREE, Part.JEWELS, Part.ATTRIBUTES}),
        ("optimise everything besides the ascendancy", set(Part) - {Part.ASCENDANCY}),
        ("upgrade my gear but not the weapon", {Part.GEAR}),
        ("new boots, everything else stays the same", {Part.GEAR}),
    ],
)
def test_what_is_excepted_may_change(prompt: str, free: set[Part]) -> None:
    locks = read_refinement(prompt).locks
    assert {part for part in Part if not locks.holds(part)} == free


@pytest.mark.parametrize(
    ("prompt", "slot"),
    [
        ("leave everything but my boots", "Boots"),
        ("lock everything besides boots", "Boots"),
        ("everything but the body armour stays", "Body Armour"),
        ("all except my weapon must stay the same", "Weapon 1"),
        ("keep my gear except the boots", "Boots"),
        ("keep the gear but not the weapon", "Weapon 1"),
    ],
)
def test_an_item_that_is_excepted_may_change_and_no_other(prompt: str, slot: str) -> None:
    locks = read_refinement(prompt).locks
    assert not locks.holds_slot(slot)
    assert all(locks.holds_slot(other) for other in ("Helmet", "Amulet", "Jewel 123"))


@pytest.mark.parametrize(
    ("prompt", "slot"),
    [
        ("upgrade my gear but not the weapon", "Weapon 1"),
        ("change all items except the weapon", "Weapon 1"),
        ("more damage, change everything but the boots", "Boots"),
        ("more damage, everything may change except the boots", "Boots"),
        ("replace everything except my ring", "Ring 1"),
    ],
)
def test_what_is_excepted_of_what_may_change_stays(prompt: str, slot: str) -> None:
    locks = read_refinement(prompt).locks
    assert locks.holds_slot(slot)
    assert not locks.holds_slot("Helmet")


def test_the_rest_stays() -> None:
    found = read_refinement("new boots for more life, keep everything else")
    assert not found.locks.holds_slot("Boots")
    assert found.locks.holds_slot("Gloves")
    assert found.locks.holds(Part.SUPPORTS)


def test_what_is_kept_is_not_read_as_a_wish() -> None:
    found = read_refinement("keep the bow, more life")
    assert "bow" not in found.rest
    assert found.wish.direction == "survivability"


@pytest.mark.parametrize(
    ("prompt", "gain", "loss"),
    [
        ("more damage", 0.15, 0.05),
        ("20% more damage", 0.2, 0.05),
        ("raise ehp by 30%", 0.3, 0.05),
        ("20 % more damage, losing at most 10 % ehp", 0.2, 0.1),
        ("5 percent more ehp", 0.05, 0.05),
        ("900% more damage", 3.0, 0.05),
        ("double the damage", 1.0, 0.05),
        ("+20% dps", 0.2, 0.05),
        ("add 30% damage", 0.3, 0.05),
        ("3x damage", 2.0, 0.05),
        ("more ehp without losing damage", 0.15, 0.01),
        ("keep my dps, get tankier", 0.15, 0.01),
        ("trade some damage for survivability", 0.15, 0.2),
        ("maximum dps no matter what", 0.15, 0.5),
        ("more damage, defence doesn't matter, lose at most 30% ehp", 0.15, 0.3),
        ("make it tankier without losing more than 10% dps", 0.15, 0.1),
        ("more damage but don't lose more than 8 % ehp", 0.15, 0.08),
        ("w/o losing life, more dps", 0.15, 0.01),
    ],
)
def test_how_much(prompt: str, gain: float, loss: float) -> None:
    wish = read_refinement(prompt).wish
    assert (wish.gain, wish.loss) == (gain, loss)


@pytest.mark.parametrize(
    ("prompt", "rest"),
    [
        ("swap Spark for Comet", "use Comet instead of Spark"),
        ("replace my amulet with Astramentis", "use Astramentis"),
        ("swap energy shield for evasion", "use evasion instead of energy shield"),
        ("switch from es to life", "use life instead of es"),
        ("trade some es for life", "life"),
        ("switch from mapping to bossing", "use bossing"),
        ("change from bow to crossbow", "use crossbow"),
        ("get me to 75 chaos res", "get me to 75 chaos res"),
        ("I leveled up to 93", "level 93"),
        ("I hit 95, what now", "level 95, what now"),
        ("I got to 82 % block", "I got to 82 % block"),
        ("change ascendancy to Stormweaver", "use Stormweaver"),
        ("convert to CI", "use CI"),
        ("turn it into a cold build", "a cold build"),
        ("level it to 95", "level 95"),
        ("drop the herald", "remove the herald"),
        ("drop the mana cost to 30", "drop the mana cost to 30"),
        ("keep Grim Feast", "use Grim Feast"),
        ("Headhunter is too expensive", "without Headhunter"),
        ("replace Headhunter, too expensive", "without Headhunter, too expensive"),
        ("swap out Grim Feast", "without Grim Feast"),
        ("replace the expensive uniques", "replace the expensive uniques"),
        ("replace Cold Snap", "without Cold Snap"),
        ("optimize jewels only", ""),
        ("I don't have Headhunter", "without Headhunter"),
        ("I cannot afford Mageblood and want a rare belt", "without Mageblood and want a rare belt"),
        ("gear is too expensive", "gear is too expensive"),
        ("my build has no curse", "more curse"),
        ("it lacks mana", "more mana"),
        ("I don't have enough mana", "more mana"),
        ("I have no idea", "I have no idea"),
        ("it does not have to be cheap", "it does not have to be cheap"),
        ("no curse please", "no curse please"),
        ("+1000 es", "1000 more es"),
        ("leave out the curse", "leave out the curse"),
        ("replace Elemental Focus with something else", "without Elemental Focus"),
        ("change the belt for more life", "for more life"),
    ],
)
def test_an_exchange_reads_as_the_wish_of_a_new_build(prompt: str, rest: str) -> None:
    assert read_refinement(prompt).rest == rest


@pytest.mark.parametrize(
    ("prompt", "slots"),
    [
        ("better boots", {"Boots"}),
        ("upgrade my weapon please", {"Weapon 1", "Weapon 1 Swap"}),
        ("better weapons", set(WEAPON_SLOTS)),
        ("a better focus", {"Weapon 2", "Weapon 2 Swap"}),
        ("find better rings", {"Ring 1", "Ring 2", "Ring 3"}),
        ("use a different amulet", {"Amulet"}),
        ("new gloves and boots", {"Gloves", "Boots"}),
        ("replace my belt with something better", {"Belt"}),
        ("anoint my amulet", {"Amulet"}),
        ("my gloves are trash", {"Gloves"}),
        ("the ring is really bad", {"Ring 1", "Ring 2", "Ring 3"}),
        ("my boots suck", {"Boots"}),
    ],
)
def test_what_is_looked_for_anew_is_all_that_changes(prompt: str, slots: set[str]) -> None:
    found = read_refinement(prompt)
    free = {"Helmet", "Boots", "Gloves", "Belt", "Amulet", "Ring 1", "Ring 2", "Ring 3", *WEAPON_SLOTS}
    assert {slot for slot in free if not found.locks.holds_slot(slot)} == slots
    assert found.locks.holds(Part.TREE)
    assert found.wish.said
    assert found.wish.enough < found.wish.gain


def test_supports_alone_may_be_looked_for_anew() -> None:
    found = read_refinement("get better support gems")
    assert not found.locks.holds(Part.SUPPORTS)
    assert found.locks.holds(Part.GEAR)


@pytest.mark.parametrize(
    ("prompt", "words", "covered"),
    [
        ("more evasion", "evasion", True),
        ("use evasion", "evasion", False),
        ("make it tankier", "tankier", True),
        ("improve the build", "improve", True),
        ("upgrade it with Headhunter", "Headhunter", False),
        ("half the cost", "half the cost", False),
    ],
)
def test_only_the_words_of_the_wish_are_spent_on_it(prompt: str, words: str, covered: bool) -> None:
    assert read_refinement(prompt).covers(words) is covered


@pytest.mark.parametrize(
    ("prompt", "more", "other"),
    [
        ("I need more spirit", {"spirit"}, set()),
        ("increase block chance", {"block"}, set()),
        ("faster cast speed and tankier", {"cast_rate"}, set()),
        ("100 more dexterity", set(), set()),
        ("more crit chance", {"critical_chance"}, set()),
        ("more crit damage", {"critical_damage"}, set()),
        ("higher crit multi, more crit chance", {"critical_chance", "critical_damage"}, set()),
        ("more life regen and more spirit", {"life_regeneration", "spirit"}, set()),
        ("more life and more mana regen", {"mana_regeneration"}, set()),
        ("my boots have no movement speed", {"movement_speed"}, set()),
        ("not enough spirit", {"spirit"}, set()),
        ("I have no chaos resistance and no life regen", {"chaos_resistance", "life_regeneration"}, set()),
        ("change my main skill", set(), {"skill"}),
        ("use a different ascendancy", set(), {"ascendancy"}),
        ("better skill gems", set(), set()),
        ("change my skill to Comet", set(), set()),
    ],
)
def test_more_of_a_figure_and_another_skill_need_no_value(prompt: str, more: set[str], other: set[str]) -> None:
    found = read_refinement(prompt)
    assert (set(found.more), set(found.other)) == (more, other)


@pytest.mark.parametrize("prompt", ["change only two items", "at most 3 new items", "replace at most one item"])
def test_how_many_may_change_is_not_kept_to_and_is_not_lost(prompt: str) -> None:
    found = read_refinement(prompt)
    assert re.search(r"(two|3|one) (new )?items?\b|one item", found.rest)
    assert not found.covers("two items")


def test_points_that_are_left_are_all_that_is_spent() -> None:
    found = read_refinement("I have 10 unspent passive points")
    assert not found.locks.holds(Part.TREE)
    assert found.locks.holds(Part.GEAR)


@pytest.mark.parametrize(
    ("prompt", "slots"),
    [
        ("my helmet and boots are locked", ["Boots", "Helmet"]),
        ("gloves must stay as they are, more dps", ["Gloves"]),
        ("no changes to my belt", ["Belt"]),
        ("I can't change my weapon, more dps", ["Weapon 1", "Weapon 1 Swap", "Weapon 2", "Weapon 2 Swap"]),
    ],
)
def test_what_is_said_to_stay_stays(prompt: str, slots: list[str]) -> None:
    found = read_refinement(prompt)
    assert (found.locks.slots, found.locks.parts) == (slots, [])
    assert found.wish.direction == ("damage" if "dps" in prompt else "balanced")


@pytest.mark.parametrize(
    ("prompt", "free"),
    [
        ("tree only, I can't change gear", {Part.TREE, Part.ATTRIBUTES}),
        ("only the tree may change, more ehp", {Part.TREE, Part.ATTRIBUTES}),
        ("my jewels only please", {Part.JEWELS}),
        ("spend 8 more passive points", {Part.TREE, Part.ATTRIBUTES}),
    ],
)
def test_what_alone_may_change(prompt: str, free: set[Part]) -> None:
    """Found with "tree only, I can't change gear": it changed the gear alone."""
    locks = read_refinement(prompt).locks
    assert {part for part in Part if not locks.holds(part)} == free


@pytest.mark.parametrize(
    ("prompt", "rest"),
    [
        ("I'm short 20 strength", "20 more strength"),
        ("I am 30 dex short", "30 more dex"),
        ("missing 15% chaos res", "15 more chaos res"),
        ("more block and life", "more life"),
        ("higher life and mana", "higher life and higher mana"),
    ],
)
def test_what_is_lacked_or_named_beside_another_is_asked_for_as_more(prompt: str, rest: str) -> None:
    """Found with "short 20 strength": it asked for 20 Strength, which every build has."""
    assert read_refinement(prompt).rest.endswith(rest)


def test_what_more_of_a_figure_is_for_is_not_looked_for_instead_of_it() -> None:
    """Found with "more spirit for another aura": all but skills was locked, and Spirit comes from gear."""
    reading = read_refinement("more spirit for another aura")
    assert (set(reading.more), reading.locks.parts, reading.rest) == ({"spirit"}, [], "")
