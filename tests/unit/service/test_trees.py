"""The passive tree as a picture."""

from __future__ import annotations

from lxml import etree

from app.model.blueprint import PassiveNode
from app.model.facts import EdgeFact, NodeFact
from app.service.sheet import CharacterSheet, SheetItem
from app.service.trees import TreeDrawing, gathered, tree_svg

SVG = "{http://www.w3.org/2000/svg}"


def node(number: int, x: float, y: float, kind: str = "normal", ascendancy: str | None = None) -> NodeFact:
    return NodeFact(id=number, name=f"<{number}>", kind=kind, x=x, y=y, ascendancy=ascendancy)


NODES = [
    node(1, 0, 0, "start"),
    node(2, 100, 0),
    node(3, 200, 100, "socket"),
    node(4, 300, 0),
    node(5, 9000, 9000, ascendancy="Titan"),
    node(6, 9100, 9200, ascendancy="Titan"),
    node(7, 5000, 0, ascendancy="Invoker"),
]
EDGES = [EdgeFact(a=1, b=2), EdgeFact(a=2, b=3, radius=100, clockwise=True), EdgeFact(a=3, b=4), EdgeFact(a=5, b=6)]
JEWEL = SheetItem(slot="Jewel 3", name="A & B", base="Ruby", rarity="RARE", item_level=1, quality=0)


def picture(*taken: PassiveNode) -> etree._Element:
    sheet = CharacterSheet(
        class_name="Warrior", ascendancy="Titan", level=9, items=[JEWEL], groups=[], main_group=0, nodes=list(taken)
    )
    return etree.fromstring(tree_svg(TreeDrawing(version="1", nodes=gathered(NODES), edges=EDGES), sheet).encode())


def test_ascendancies_stand_in_the_middle_and_the_rest_where_it_was() -> None:
    places = {one.id: (one.x, one.y) for one in gathered(NODES)}
    assert (places[5], places[6], places[7]) == ((-50.0, -100.0), (50.0, 100.0), (0.0, 0.0))
    assert places[4] == (300.0, 0.0)


def test_what_is_allocated_is_drawn_with_its_connections_and_names() -> None:
    root = picture(PassiveNode(id=2), PassiveNode(id=3, weapon_set=1), PassiveNode(id=99))
    circles = root.findall(f"{SVG}circle")
    assert [one.get("cx") for one in circles] == ["100", "200"]
    assert [one.findtext(f"{SVG}title") for one in circles] == ["<2>", "<3>: A & B"]
    whole, _, both, first = [path.get("d") for path in root.findall(f"{SVG}path")]
    assert whole == "M0 0L100 0M100 0A100 100 0 0 1 200 100M200 100L300 0M-50 -100L50 100"
    assert (both, first) == ("M0 0L100 0", "M100 0A100 100 0 0 1 200 100")
    assert root.findtext(f"{SVG}title") == "Passive tree of a level 9 Titan: 2 passives"


def test_other_ascendancies_are_left_out() -> None:
    (dots,) = [path.get("d") for path in picture().findall(f"{SVG}path") if path.get("stroke-linecap")]
    assert dots is not None
    assert dots.count("h0") == len(NODES) - 1
