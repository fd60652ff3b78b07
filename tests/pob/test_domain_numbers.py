"""Every name and number in the knowledge files is what Path of Building says."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum
from typing import Any

import pytest

from app.engine.pob.backend import PobBackend
from app.model import names as vocabulary
from tests.knowledge import FILES, Row, knowledge, numbers, rows, strategies
from tests.pob.conftest import Child, Facts

pytestmark = pytest.mark.pob

EXAMPLES = ("Vile Robe", "Attuned Wand", "Warmonger Bow")
TIER_LEVELS = {"starter": 40, "mid": 55, "endgame": 75, "mirror": 82}
QUALITIES = {"Lesser": "Lesser ", "Plain": "", "Greater": "Greater ", "Perfect": "Perfect "}
BARE: dict[str, Any] = {
    "class_name": "Sorceress",
    "ascendancy": None,
    "level": 90,
    "nodes": [],
    "items": {},
    "groups": [],
    "main_group": 0,
    "config": {},
}
Check = dict[str, Any]
Answer = Callable[[Check], Any]


@pytest.fixture(scope="module")
def uniques(warm_backend: PobBackend) -> dict[str, dict[str, Any]]:
    return {unique["name"]: unique for unique in warm_backend.handle("uniques", {})}


@pytest.fixture(scope="module")
def runes(warm_backend: PobBackend) -> dict[str, dict[str, list[str]]]:
    """Runes by example base and name."""
    return {
        base: {rune["name"]: rune["lines"] for rune in warm_backend.handle("runes", {"base": base})}
        for base in EXAMPLES
    }


@pytest.fixture(scope="module")
def known(facts: Facts, uniques: dict[str, Any], runes: dict[str, dict[str, Any]]) -> set[str]:
    """Every name that may stand in backticks: things of the game and words of our own vocabulary."""
    found = {*facts.gems, *facts.bases, *facts.classes, *(node["name"] for node in facts.nodes.values()), *uniques}
    found |= {name for cls in facts.classes.values() for name in cls["ascendancies"]}
    found |= {name for of_base in runes.values() for name in of_base}
    kinds = [kind for kind in vars(vocabulary).values() if isinstance(kind, type) and issubclass(kind, StrEnum)]
    found |= {str(value) for kind in kinds for value in kind}
    found |= {strategy for strategy, _, _ in strategies()}
    return found | set(FILES) | _families(runes) | {"backticks", "strategy"}


def _families(runes: dict[str, dict[str, Any]]) -> set[str]:
    """Return names of runes without their quality."""
    return {re.sub(r"^(Lesser|Greater|Perfect) ", "", name) for of_base in runes.values() for name in of_base}


@pytest.mark.parametrize("file", FILES)
def test_every_name_exists(file: str, known: set[str]) -> None:
    assert sorted(set(knowledge(file).ticked) - known) == []


def test_headers_hold(warm_backend: PobBackend, facts: Facts) -> None:
    """Every check of every header; each that needs a build has a fresh one."""
    wrong = []
    for file in FILES:
        for check in knowledge(file).checks:
            answer = _answer(check, warm_backend, facts)
            if answer != pytest.approx(check["is"]):
                wrong.append((file, check, answer))
    assert wrong == []


def _answer(check: Check, backend: PobBackend, facts: Facts) -> Any:
    kind = next(key for key in check if key not in ("text", "is"))
    return ANSWERS[kind](check[kind], backend, facts)


def _constant(path: str, backend: PobBackend, facts: Facts) -> float:
    group, key = path.split(".", 1)
    assert group in {"misc", "gameConstants", "characterConstants"}
    assert backend._pob is not None
    return float(backend._pob._lua.eval(f"data.{group}[ [==[{key}]==] ]".encode()))


def _count(of: str, backend: PobBackend, facts: Facts) -> int:
    if of == "ascendancies":
        return sum(len(cls["ascendancies"]) for cls in facts.classes.values())
    kind = {"attribute_passives": "attribute", "keystones": "keystone", "sockets": "socket"}[of]
    return sum(node["kind"] == kind and not node.get("ascendancy") for node in facts.nodes.values())


def _stats(backend: PobBackend, **changes: Any) -> dict[str, float]:
    child = Child(backend)
    try:
        child.build({**BARE, **changes})
        return child.stats()
    finally:
        child.close()


def _stat(name: str, backend: PobBackend, facts: Facts) -> float:
    return _stats(backend)[name]


def _support(of: tuple[str, str, str], backend: PobBackend, facts: Facts) -> float:
    """Return the attribute that one support asks for, in a build that asks for nothing else of it."""
    skill, support, attribute = of
    gems = [facts.gem(skill, level=1), facts.gem(support, level=1)]
    key = f"Req{attribute.capitalize()}"
    assert not _stats(backend, groups=[{"gems": gems[:1]}], main_group=1).get(key)
    return _stats(backend, groups=[{"gems": gems}], main_group=1)[key]


def _gem_level(level: int, backend: PobBackend, facts: Facts) -> int:
    return int(facts.gems["Spark"]["level_requirements"][level - 1])


def _enemy(boss: str, backend: PobBackend, facts: Facts) -> float:
    """Return the enemy's resistance in percent: what is missing of the damage that an ordinary enemy takes."""
    spark = {"groups": [{"gems": [facts.gem("Spark")]}], "main_group": 1}
    dps = [_stats(backend, config={"enemyIsBoss": of}, **spark)["AverageHit"] for of in ("None", boss)]
    return (1 - dps[1] / dps[0]) * 100


def _penalty(_: bool, backend: PobBackend, facts: Facts) -> float:
    return _stats(backend)["FireResist"] - _stats(backend, config={"resistancePenalty": 0})["FireResist"]


def _quests(backend: PobBackend) -> list[dict[str, Any]]:
    assert backend._pob is not None
    listed = backend._pob._lua.eval(b"data.questRewards")
    return [{key.decode(): value for key, value in quest.items()} for quest in listed.values()]


def _quest_points(_: bool, backend: PobBackend, facts: Facts) -> int:
    return sum(quest.get("questPoints", 0) for quest in _quests(backend))


def _quest_spirit(areas: list[int], backend: PobBackend, facts: Facts) -> list[int]:
    lines = {int(quest["AreaLevel"]): quest.get("Stat", b"").decode() for quest in _quests(backend)}
    gains = {level: int(numbers(line)[0]) for level, line in lines.items() if line.endswith("to Spirit")}
    assert sorted(gains) == areas
    return [gains[area] for area in areas]


ANSWERS: dict[str, Callable[[Any, PobBackend, Facts], Any]] = {
    "constant": _constant,
    "count": _count,
    "stat": _stat,
    "support": _support,
    "gem_level": _gem_level,
    "enemy": _enemy,
    "resistance_penalty": _penalty,
    "quest_points": _quest_points,
    "quest_spirit": _quest_spirit,
}


def test_skills_are_as_said(facts: Facts) -> None:
    table = rows("Skill", "Tier")
    assert len(table) > 60
    for row in table:
        gem = facts.gems[row["Skill"]]
        levels = gem["level_requirements"]
        assert int(row["Tier"]) == gem["tier"], row
        assert int(row["From level"]) == max(1, levels[max(gem["tier"], 1) - 1]), row
        own = [kind for kind in ("physical", "lightning", "cold", "fire", "chaos") if kind in gem["tags"]]
        assert row["Damage"] == (", ".join(own) or "weapon"), row
        costs = [gem["costs"].get("Mana", 0), round(gem["costs"].get("ManaPerMinute", 0) / 60)]
        assert numbers(row["Mana"]) == [cost for cost in costs if cost], row


def test_spirit_is_as_said(facts: Facts) -> None:
    table = rows("Spirit skill", "Spirit")
    assert len(table) > 30
    for row in table:
        assert float(row["Spirit"]) == facts.gems[row["Spirit skill"]]["spirit"], row


def test_classes_are_as_said(facts: Facts) -> None:
    table = {row["Class"]: row for row in rows("Class", "Str")}
    assert set(table) == set(facts.classes)
    for name, cls in facts.classes.items():
        row = table[name]
        own = {key.lower(): int(row[key]) for key in ("Str", "Dex", "Int")}
        assert own == cls["attributes"], name
        assert sorted(row["Ascendancies"].split(", ")) == sorted(cls["ascendancies"]), name


def test_ascendancy_passives_are_theirs(facts: Facts) -> None:
    table = rows("Ascendancy", "Passive")
    assert {row["Ascendancy"] for row in table} == {a for cls in facts.classes.values() for a in cls["ascendancies"]}
    nodes = {(node.get("ascendancy"), node["name"]): node for node in facts.nodes.values()}
    for row in table:
        node = nodes[row["Ascendancy"], row["Passive"]]
        assert node["kind"] == "notable" or node.get("choice_of"), row
        assert row.marked("Passive") == bool(node["unparsed"]), row


def test_keystones_are_keystones(facts: Facts) -> None:
    keystones = {node["name"] for node in facts.nodes.values() if node["kind"] == "keystone"}
    assert {row["Keystone"] for row in rows("Keystone")} <= keystones


def test_uniques_are_as_said(uniques: dict[str, dict[str, Any]]) -> None:
    table = rows("Unique", "Base")
    assert len(table) > 80
    for row in table:
        unique = uniques[row["Unique"]]
        assert (row["Base"], int(row["Level"])) == (unique["base"], unique["level"]), row
        assert row.marked("Unique") == bool(unique["unparsed"]), row


def test_sockets_are_as_said(facts: Facts) -> None:
    for row in rows("Base type", "Sockets"):
        limits = {base["socket_limit"] for base in facts.bases.values() if base["type"] == row["Base type"]}
        assert limits == {int(row["Sockets"])}, row


def test_common_runes_are_as_said(runes: dict[str, dict[str, list[str]]]) -> None:
    table = rows("Rune", "On", "Lesser")
    assert len(table) > 20
    for row in table:
        for title, quality in QUALITIES.items():
            lines = runes[row["On"]][quality + row["Rune"]]
            assert float(row[title]) == max(numbers(lines[0])), (row, lines)


def test_rune_qualities_have_the_levels_said(warm_backend: PobBackend) -> None:
    levels = {rune["name"]: rune["level"] for rune in warm_backend.handle("runes", {"base": "Vile Robe"})}
    said = "lesser from level 1, plain from 15, greater from 30), perfect runes (from 50)"
    assert said in knowledge("runes.md").body
    for row in rows("Rune", "On", "Lesser"):
        if row["On"] == "Vile Robe":
            assert [levels[quality + row["Rune"]] for quality in QUALITIES.values()] == numbers(said), row


def test_other_runes_are_as_said(runes: dict[str, dict[str, list[str]]]) -> None:
    table = rows("Rune", "On", "Effect")
    assert len(table) > 5
    for row in table:
        assert row["Effect"] == runes[row["On"]][row["Rune"]][0], row


def test_affixes_are_as_said(facts: Facts) -> None:
    table = rows("Affix group", "On")
    assert len(table) > 15
    for row in table:
        for tier, limit in TIER_LEVELS.items():
            assert numbers(row[tier]) == numbers(_best(facts, row, limit)), (row, tier)


def _best(facts: Facts, row: Row, limit: int) -> str:
    """Return the line of the best affix of the row's group within the tier's level."""
    of_group = [a for a in facts.affixes(row["On"]).values() if a["group"] == row["Affix group"]]
    best = max((a for a in of_group if a["level"] <= limit), key=lambda affix: affix["level"])
    return str(best["lines"][0])
