"""The judge of items finds what is wrong with an item, and nothing wrong with one that can be made."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from app.engine.pob.install import status
from app.engine.process import ProcessEngine
from app.knowledge.uniques import GONE, origin_of, unique_table
from app.model.names import UniqueTier
from tests.pob.legality import illegal_items, main

pytestmark = pytest.mark.pob

HELMET = """Rarity: RARE
Probe
Spired Greathelm
Crafted: true
Prefix: {range:0.500}IncreasedLife4
Suffix: {range:0.500}FireResist4
Suffix: {range:0.500}Strength3
Item Level: 45
Quality: 20
Sockets: S
Rune: Iron Rune
Implicits: 1
{rune}16% increased Armour, Evasion and Energy Shield
+47 to maximum Life
+23% to Fire Resistance
+15 to Strength"""


def file_of(*items: str, level: int = 70) -> bytes:
    texts = "".join(f"<Item>{escape(text)}</Item>" for text in items)
    return f'<PathOfBuilding2><Build level="{level}"/><Items>{texts}</Items></PathOfBuilding2>'.encode()


def judged(text: str, pob_path: Path, tier: str = "starter", level: int = 70) -> str:
    return "; ".join(illegal_items(file_of(text, level=level), pob_path, tier))


AMULET = """Rarity: RARE
Probe
Gold Amulet
Item Level: 45
Quality: 0
Implicits: 2
{enchant}Allocates Storm Swell
{tags:drop}(12-20)% increased Rarity of Items found"""


@pytest.mark.parametrize(
    ("item", "tier", "level", "fault"),
    [
        (AMULET, "mirror", 70, ""),
        (AMULET, "starter", 70, "starter at level 70 has no"),
        (AMULET, "mirror", 64, "mirror at level 64 has no"),
        (AMULET.replace("Storm Swell", "Storm Smell"), "mirror", 70, "0 notables are meant"),
        (
            AMULET.replace("Implicits: 2", "Implicits: 3\n{enchant}Allocates Storm Swell"),
            "mirror",
            70,
            "two enchantments",
        ),
        (HELMET.replace("Implicits: 1", "Implicits: 2\n{enchant}Allocates Storm Swell"), "mirror", 70, "is anointed"),
        (HELMET.replace("{rune}", "{enchant}{rune}"), "starter", 70, ""),
    ],
)
def test_what_anoints_an_amulet(pob_path: Path, item: str, tier: str, level: int, fault: str) -> None:
    found = judged(item, pob_path, tier, level)
    assert fault in found
    assert found == "" or fault


def test_an_item_that_can_be_made_has_no_fault(pob_path: Path) -> None:
    assert judged(HELMET, pob_path) == ""


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("Spired Greathelm", "Spired Hat", "no such base"),
        ("IncreasedLife4", "IncreasedLife99", "no affix is called"),
        ("Prefix: {range:0.500}IncreasedLife4", "Suffix: {range:0.500}IncreasedLife4", "is a Prefix"),
        ("IncreasedLife4", "LocalIncreasedEnergyShield4", "cannot spawn on the base"),
        ("FireResist4", "FireResist8", "needs item level 82"),
        ("FireResist4", "FireResist8", "above the tier's 40"),
        ("{range:0.500}FireResist4", "{range:1.000}FireResist4", "not in the middle"),
        ("+23% to Fire", "+33% to Fire", "says"),
        ("+23% to Fire Resistance", "+23% to Cold Resistance", "belongs to nothing"),
        ("\n+15 to Strength", "", "is missing"),
        ("Strength3", "FireResist3", "2 affixes of group"),
        ("Quality: 20", "Quality: 28", "quality 28"),
        ("Sockets: S", "Sockets: S S", "2 sockets, 1 can be made"),
        ("Rune: Iron Rune", "Rune: Iron Rune\nRune: Iron Rune", "2 runes in 1 sockets"),
        ("Rune: Iron Rune", "Rune: No Rune", "does nothing here"),
        ("16% increased Armour", "40% increased Armour", "says"),
        ("Rarity: RARE", "Rarity: MAGIC", "2 of Suffix, 1 fit"),
    ],
)
def test_every_fault_is_found(pob_path: Path, old: str, new: str, fault: str) -> None:
    assert old in HELMET
    changed = HELMET.replace(old, new)
    if fault.startswith("2 of Suffix"):
        changed = changed.replace("Probe\n", "")
    assert fault in judged(changed, pob_path)


def test_more_affixes_than_the_tier_allows(pob_path: Path) -> None:
    more = HELMET.replace("Suffix: {range:0.500}Str", "Suffix: {range:0.500}ColdResist4\nSuffix: {range:0.500}Str")
    more = more.replace("Suffix: {range:0.500}Fire", "Prefix: {range:0.500}IncreasedMana4\nSuffix: {range:0.500}Fire")
    assert "5 affixes, starter allows 3" in judged(more, pob_path)
    assert "affixes, endgame" not in judged(more, pob_path, "endgame")


def test_bases_and_runes_need_levels(pob_path: Path) -> None:
    assert "the base needs level" in judged(HELMET, pob_path, level=5)


UNIQUE = """Rarity: UNIQUE
Dream Fragments
Sapphire Ring
Item Level: 40
Implicits: 1
+25% to Cold Resistance
20% increased maximum Mana
+50% to Cold Resistance"""


def test_uniques_are_counted_and_read(pob_path: Path) -> None:
    assert "there is no such unique" in judged(UNIQUE.replace("Sapphire", "Ruby"), pob_path, "mid")
    assert "there is no such unique" in judged(UNIQUE.replace("Dream", "Bad"), pob_path, "mid")
    assert "is not one of its lines" in judged(UNIQUE.replace("20% increased", "90% increased"), pob_path, "mid")
    assert "1 uniques, starter allows 0" in judged(UNIQUE, pob_path)
    assert "3 uniques, mid allows 2" in "; ".join(illegal_items(file_of(UNIQUE, UNIQUE, UNIQUE), pob_path, "mid"))


def test_uniques_have_to_be_had(pob_path: Path) -> None:
    gone = UNIQUE.replace("Dream Fragments\nSapphire Ring", "Infernoclasp\nPlate Belt")
    boss = UNIQUE.replace("Dream Fragments\nSapphire Ring", "Ingenuity\nUtility Belt")
    assert "endgame: Source: No longer obtainable" in judged(gone, pob_path, "endgame")
    assert "mid: Source: Drops from" in judged(boss, pob_path, "mid")
    assert "Source" not in judged(boss, pob_path, "endgame")


@pytest.mark.parametrize(
    ("name", "base", "tiers"),
    [
        ("Dream Fragments", "Sapphire Ring", ["endgame", "mirror"]),
        ("Mageblood", "Utility Belt", ["mirror"]),
        ("Thunderfist", "Utility Wraps", ["endgame", "mirror"]),
        ("Polcirkeln", "Sapphire Ring", ["mid", "endgame", "mirror"]),
    ],
)
def test_uniques_belong_to_tiers(pob_path: Path, name: str, base: str, tiers: list[str]) -> None:
    text = UNIQUE.replace("Dream Fragments\nSapphire Ring", f"{name}\n{base}")
    allowed = [tier for tier in ("mid", "endgame", "mirror") if "too hard" not in judged(text, pob_path, tier)]
    assert allowed == tiers


async def test_the_table_of_uniques_is_about_this_path_of_building(pob_path: Path) -> None:
    engine = ProcessEngine("pob", {"pob": str(pob_path)}, workers=1)
    try:
        await engine.start()
        uniques = await engine.facts.uniques()
    finally:
        await engine.close()
    installed = status(pob_path)
    assert installed is not None
    assert unique_table().pob_version == installed.version
    assert unique_table().unknown(uniques) == []
    tiers = [origin_of(unique).tier for unique in uniques]
    common, rare, chase = (tiers.count(tier) for tier in UniqueTier)
    assert common > len(tiers) / 2 > rare > chase > 0
    assert all(unique.source.startswith("Drops from ") for unique in uniques if unique.source not in ("", GONE))
    assert any(unique.source == GONE for unique in uniques)


def test_the_script_says_what_is_wrong(pob_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = tmp_path / "good.xml", tmp_path / "bad.xml"
    good.write_bytes(file_of(HELMET))
    bad.write_bytes(file_of(HELMET.replace("Quality: 20", "Quality: 99")))
    assert main(["starter", str(good)]) == 0
    assert main(["starter", str(bad)]) == 1
    assert "quality 99" in capsys.readouterr().out
    assert main(["golden", str(good)]) == 2


RADIUS = """Rarity: RARE
Probe
Time-Lost Sapphire
Crafted: true
Prefix: {range:0.500}JewelRadiusLargeSize
Prefix: {range:0.500}JewelRadiusSpellDamage
Suffix: {range:0.500}JewelRadiusSmallNodeEffect
Item Level: 45
Quality: 0
Radius: Small
Implicits: 0
Upgrades Radius to Large
Small Passive Skills in Radius also grant 2% increased Spell Damage
20% increased Effect of Small Passive Skills in Radius"""
PRISM = """Rarity: UNIQUE
Prism of Belief
Diamond
LevelReq: 0
Limited to: 1
Implicits: 0
{range:0.5}+(1-3) to Level of all Spark Skills
Corrupted"""
DARKNESS = """Rarity: UNIQUE
Against the Darkness
Time-Lost Diamond
Radius: Small
Limited to: 1
Implicits: 0
Small Passive Skills in Radius also grant 1% increased maximum Life
{range:0.5}Notable Passive Skills in Radius also grant +(8-12) to Spirit"""


@pytest.mark.parametrize(
    ("item", "tier", "fault"),
    [
        (RADIUS, "endgame", ""),
        (RADIUS.replace("Radius: Small", "Radius: Large"), "endgame", "radius Large"),
        (RADIUS.replace("Radius: Small\n", ""), "endgame", "radius none"),
        (RADIUS.replace("Time-Lost Sapphire", "Sapphire"), "endgame", "cannot spawn on the base"),
        (RADIUS.replace("also grant 2%", "also grant 3%"), "endgame", "its range is"),
        (RADIUS.replace("SpellDamage", "Armour"), "endgame", "JewelRadiusArmour: cannot spawn on the base"),
        (PRISM, "endgame", ""),
        (PRISM, "mid", "mid: Source"),
        (PRISM.replace("Spark", "Spork"), "endgame", "is not one of its lines"),
        (PRISM.replace("(1-3)", "4"), "endgame", "is not one of its lines"),
        (DARKNESS, "endgame", ""),
        (DARKNESS.replace("Notable Passive", "Small Passive"), "endgame", "is not one of its lines"),
    ],
)
def test_jewels_with_a_radius_and_those_of_many_lines(item: str, tier: str, fault: str, pob_path: Path) -> None:
    found = judged(item, pob_path, tier, 90)
    assert fault in found if fault else not found, found
