"""What quests give counts from the level on at which they are done, and as passives all that somebody pays for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.engine.pob.backend import PobBackend
from app.knowledge.uniques import is_for_the_first, is_for_the_unhit, is_paid_for_elsewhere
from app.model.blueprint import ConfigValue
from app.model.demands import QUEST_LEVELS, QUEST_REWARDS, QUESTS_OF_ACTS, quest_spirit
from app.model.facts import GemFact
from app.model.names import Goal
from app.search.base import config_for
from tests.pob.conftest import Child, Facts

pytestmark = pytest.mark.pob

Values = dict[str, float]
Of = Callable[..., Values]
GIVEN = ("Spirit", "Life", "Mana", "ColdResistTotal", "FireResistTotal", "LightningResistTotal")
_FIELD = re.compile(r'\["(\w+)"\] = "?(.+?)"?,?(?=\n|$)')
NONE = 1
"""Path of Building's least Spirit."""
MAIN = GemFact(id="none", name="none", kind="active")


def at(level: int, **config: Any) -> dict[str, Any]:
    """A character of the level with nothing but what quests give."""
    bare: dict[str, Any] = {
        "class_name": "Sorceress",
        "ascendancy": None,
        "nodes": [],
        "items": {},
        "groups": [],
        "main_group": 0,
    }
    return {**bare, "level": level, "config": config}


@pytest.fixture(scope="module")
def child(warm_backend: PobBackend) -> Iterator[Child]:
    child = Child(warm_backend)
    yield child
    child.close()


@pytest.fixture(scope="module")
def of(child: Child) -> Of:
    def measured(level: int, **config: ConfigValue) -> Values:
        assert child.build(at(level, **config))["problems"] == []
        values = child.stats()
        return {name: values.get(name, 0.0) for name in GIVEN}

    return measured


@pytest.mark.parametrize(
    ("level", "spirit", "resistances"),
    [
        (1, NONE, (0, 0, 0)),
        (28, 30, (10, 0, 0)),
        (36, 60, (10, 0, 10)),
        (60, 60, (10, 10, 10)),
        (61, 100, (10, 10, 10)),
    ],
)
def test_a_character_has_what_quests_up_to_its_level_give(
    of: Of, level: int, spirit: float, resistances: tuple[float, ...]
) -> None:
    config = config_for(Goal.ALL_ROUND, level, MAIN)
    found, penalty = of(level, **config), config["resistancePenalty"]
    assert isinstance(penalty, int)
    assert found["Spirit"] == spirit == max(NONE, quest_spirit(level))
    assert tuple(found[name] - penalty for name in GIVEN[3:]) == resistances


def test_without_the_known_quests_nothing_is_given(of: Of) -> None:
    """So no quest of the engine is missing in our table; all of them count where nothing is said."""
    none: dict[str, Any] = dict.fromkeys(QUEST_REWARDS, False)
    bare, rich = of(90, resistancePenalty=0, **none), of(90, resistancePenalty=0)
    assert [bare[name] for name in ("Spirit", *GIVEN[3:])] == [NONE, 0, 0, 0]
    assert rich["Spirit"] == 100
    assert rich["Life"] == pytest.approx((bare["Life"] + 20) * 1.05, abs=1)
    assert rich["Mana"] == pytest.approx(bare["Mana"] * 1.05, abs=1)


def test_areas_have_the_levels_of_our_tables(pob_path: Path) -> None:
    text = (pob_path / "src" / "Data" / "QuestRewards.lua").read_text()
    quests = [dict(_FIELD.findall(entry)) for entry in re.findall(r"\n\t\{(.*?)\n\t\}", text, re.DOTALL)]
    points = sorted(int(quest["AreaLevel"]) for quest in quests if "questPoints" in quest)
    stats = [quest for quest in quests if "Stat" in quest and "questPoints" not in quest]
    rewards = {f"quest{one['Description']}{one['Area']}{one['Info']}": int(one["AreaLevel"]) for one in stats}
    acts = Counter(quest["Act"] for quest in quests if "questPoints" in quest)
    assert tuple(points) == QUEST_LEVELS
    assert tuple(acts[act] for act in sorted(acts)) == QUESTS_OF_ACTS
    assert rewards == QUEST_REWARDS


def test_what_is_paid_for_elsewhere_is_known_by_its_lines(facts: Facts) -> None:
    lines = {node["name"]: node["mods"] for node in facts.nodes.values()}
    assert {name for name, mods in lines.items() if is_paid_for_elsewhere(mods)} == {
        "Phased Form",
        "Grasping Wounds",
        "Smith's Masterwork",
        "Cannons, Ready!",
        "Oasis",
        "Grinning Immolation",
        "Pyromantic Pact",
        "Demonic Possession",
        "Waking Dream",
    }
    first = {name for name, mods in lines.items() if is_for_the_first(mods)}
    assert {"Dispatch Foes", "First Sting", "Direct Approach"} <= first
    assert "Careful Consideration" in {name for name, mods in lines.items() if is_for_the_unhit(mods)}


def test_what_helps_who_is_not_hit_is_known_by_its_lines(child: Child) -> None:
    """The Mutable Star was 52 % of a Warrior's effective hit points, by 154 energy shield that the first hit takes."""
    lines = {fact["name"]: fact["lines"] for fact in child.call("uniques")}
    assert {name for name, said in lines.items() if is_for_the_unhit(said)} >= {"The Mutable Star", "Hyrri's Ire"}
