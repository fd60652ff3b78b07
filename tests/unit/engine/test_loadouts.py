"""Several loadouts in one file: by title, items shared, what is active untouched; each can be chosen and taken out."""

from __future__ import annotations

import pytest

from app.core.errors import BadImport
from app.engine.files.loadouts import loadout_of, titles, with_loadouts, without_levelling
from app.engine.files.xml import canonical, read

RING, CAP = "Rarity: RARE\nA\nIron Ring", "Rarity: NORMAL\nCap"


def build(*items: str, nodes: str = "1", level: int = 90, jewel: str = "") -> bytes:
    """A build that wears the items in slots A, B ..., with a jewel in socket 7."""
    texts = [f'<Item id="{n}">\n{text}\n</Item>' for n, text in enumerate([*items, *([jewel] if jewel else [])], 1)]
    worn = [f'<Slot name="{chr(64 + n)}" itemId="{n}"/>' for n in range(1, len(items) + 1)]
    sockets = f'<Socket nodeId="7" itemId="{len(items) + 1}"/>' if jewel else ""
    return canonical(
        f'<PathOfBuilding2><Build level="{level}" mainSocketGroup="1"/>'
        f'<Tree activeSpec="1"><Spec nodes="{nodes}"><Sockets>{sockets}</Sockets></Spec></Tree>'
        f'<Skills activeSkillSet="1"><SkillSet id="1"><Skill label="{nodes}"/></SkillSet></Skills>'
        f'<Items activeItemSet="1">{"".join(texts)}<ItemSet id="1">{"".join(worn)}</ItemSet></Items>'
        f'<Config activeConfigSet="1"><ConfigSet id="1" title="Default"/></Config></PathOfBuilding2>'.encode()
    )


def worn(xml: bytes) -> list[str]:
    """What the active item set wears."""
    root = read(xml)
    chosen = root.find("Items").get("activeItemSet")  # type: ignore[union-attr]
    texts = {item.get("id"): (item.text or "").strip() for item in root.iter("Item")}
    return [texts[slot.get("itemId")] for slot in root.findall(f"Items/ItemSet[@id='{chosen}']/Slot")]


def test_each_has_its_title_and_the_first_stays_active() -> None:
    xml = with_loadouts(build(RING), "Final 90", {"Levelling 12": build(CAP, nodes="2", level=12)})
    root = read(xml)
    assert titles(xml) == ["Final 90", "Levelling 12"]
    assert [root.find(s).get(a) for s, a in (("Tree", "activeSpec"), ("Items", "activeItemSet"))] == ["1", "1"]  # type: ignore[union-attr]
    assert worn(xml) == [RING]
    assert root.find("Build").get("level") == "90"  # type: ignore[union-attr]
    assert canonical(xml) == xml


def test_a_loadout_can_be_chosen() -> None:
    files = {f"Levelling {level}": build(CAP, RING, nodes=str(level)) for level in (12, 30)}
    xml = loadout_of(with_loadouts(build(RING), "Final 90", files), "Levelling 30", 30)
    root = read(xml)
    assert root.find("Tree").get("activeSpec") == "3"  # type: ignore[union-attr]
    assert root.find("Skills").get("activeSkillSet") == "3"  # type: ignore[union-attr]
    assert root.find("Build").get("level") == "30"  # type: ignore[union-attr]
    assert worn(xml) == [CAP, RING]
    with pytest.raises(BadImport, match="Levelling 50"):
        loadout_of(xml, "Levelling 50", 50)


def test_equal_items_are_there_once() -> None:
    xml = with_loadouts(build(RING), "Final 90", {"Levelling 12": build(CAP, RING)})
    assert [(item.text or "").strip() for item in read(xml).iter("Item")] == [RING, CAP]


def test_jewels_go_with_their_tree() -> None:
    jewel = "Rarity: MAGIC\nRuby"
    xml = with_loadouts(build(RING), "Final 90", {"Levelling 70": build(CAP, jewel=jewel)})
    root = read(xml)
    second = root.findall("Tree/Spec")[1]
    number = second.find("Sockets/Socket").get("itemId")  # type: ignore[union-attr]
    assert (root.find(f"Items/Item[@id='{number}']").text or "").strip() == jewel  # type: ignore[union-attr]


def test_the_way_can_be_taken_out_and_the_rest_stays() -> None:
    own = with_loadouts(build(RING), "Final 90", {"My own": build(CAP, nodes="3")})
    xml = with_loadouts(own, "Final 90", {"Levelling 12": build("Rarity: NORMAL\nRags", nodes="2")})
    assert titles(xml) == ["Final 90", "My own", "Levelling 12"]
    assert without_levelling(xml) == own
    assert without_levelling(own) == own
    chosen = loadout_of(xml, "Levelling 12", 12)  # what is active stays, whatever it is called
    assert titles(without_levelling(chosen)) == ["Final 90", "My own", "Levelling 12"]


def test_the_level_can_follow_the_points() -> None:
    xml = with_loadouts(build(RING), "Final 90", {}, level_by_points=True)
    assert read(xml).find("Build").get("characterLevelAutoMode") == "true"  # type: ignore[union-attr]


def test_what_is_no_whole_build_is_refused() -> None:
    bare = b"<PathOfBuilding2><Build level='9'/></PathOfBuilding2>"
    assert titles(bare) == []
    assert without_levelling(bare) == bare
    with pytest.raises(BadImport):
        with_loadouts(bare, "Final 9", {})
    with pytest.raises(BadImport):
        with_loadouts(build(RING), "Final 90", {"Levelling 12": bare})
