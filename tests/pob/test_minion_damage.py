"""What a minion build reports, calculated again by fresh processes: one minion times how many are out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from app.engine.pob.backend import PobBackend
from app.model.stats import DPS
from tests.pob.conftest import Child, Facts, rare

pytestmark = pytest.mark.pob

ARMY = {"Skeletal Arsonist": 2, "Skeletal Sniper": 1}


def _infernalist(facts: Facts) -> dict[str, Any]:
    def group(name: str, count: int, *supports: str) -> dict[str, Any]:
        skill = facts.gem(name, level=7, choices={"count": count})
        return {"gems": [skill, *(facts.gem(support) for support in supports)], "in_full_dps": True}

    return {
        "class_name": "Witch",
        "ascendancy": "Infernalist",
        "level": 24,
        "nodes": facts.passives("Witch", 20),
        "items": {"Weapon 1": rare("Weapon 1", "Rattling Sceptre")},
        "groups": [
            group("Skeletal Arsonist", ARMY["Skeletal Arsonist"], "Fiery Death"),
            group("Skeletal Sniper", ARMY["Skeletal Sniper"]),
        ],
        "main_group": 1,
        "config": {},
    }


def _one_minion(fresh: Callable[[], Child], xml: str, group: int) -> float:
    """Damage per second of one minion of the group, from the file alone."""
    child = fresh()
    child.call("load", xml=xml)
    child.call("apply", changes=[{"op": "set_main", "index": group}])
    values = child.stats()
    child.close()
    return values["Minion.TotalDPS"]


def test_reported_damage_is_one_minion_times_those_that_are_out(warm_backend: PobBackend, facts: Facts) -> None:
    child = Child(warm_backend)
    report = child.build(_infernalist(facts))
    assert report["problems"] == []
    stats, xml = child.call("stats"), child.call("export")
    child.close()
    assert stats["values"]["SpiritUnreserved"] >= 0, "every minion is fed"
    single = [_one_minion(lambda: Child(warm_backend), xml, group) for group in (1, 2)]
    expected = sum(one * count for one, count in zip(single, ARMY.values(), strict=True))
    assert stats["values"][DPS] == pytest.approx(expected, rel=0.01)
    assert stats["values"]["FullDPS"] > 1.5 * stats["values"][DPS], "the explosions on death are in PoB's sum"
    hits = [source for source in stats["damage"]["sources"] if source["kind"] == "minion"]
    assert [source["name"] for source in hits] == ["2 x Skeletal Arsonist", "Skeletal Sniper"]


def test_only_monsters_that_can_be_found_and_have_a_rate_are_offered(facts: Facts) -> None:
    """A Riptide is met nowhere and has no time between attacks: PoB calculates thirty a second."""
    monsters = facts.gems["Summon Spectre"]["monsters"]
    assert "Vaal Skeletal Priest" in monsters.values()
    assert len(monsters) > 300
    assert {"Riptide", "Firebreather", "Spearfisher"}.isdisjoint(monsters.values())


@pytest.mark.parametrize(
    ("monster", "counts"),
    [("Zealous Excavator", False), ("Cultist Witch", False), ("Vaal Skeletal Priest", True), ("Giant Maw", True)],
)
def test_a_blast_that_something_else_sets_off_has_no_rate(
    warm_backend: PobBackend, facts: Facts, monster: str, counts: bool
) -> None:
    """An orb explodes when it has come near, not once a second."""
    known: dict[str, str] = facts.gems["Summon Spectre"]["monsters"]
    key = min(one for one, name in known.items() if name == monster)
    build = _infernalist(facts)
    build["groups"] = [{"gems": [facts.gem("Summon Spectre", level=7, choices={"skillMinion": key})]}]
    child = Child(warm_backend)
    report = child.build(build | {"spectres": [key]})
    stats = child.call("stats")
    child.close()
    assert report["problems"] == []
    assert stats["values"]["Minion.TotalDPS"] > 0
    assert (stats["damage"]["dps"] is not None) is counts
