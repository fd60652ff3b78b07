"""Items as the game shows them, with what each line is worth."""

from __future__ import annotations

from app.model.base import changed
from app.model.blueprint import Blueprint, PassiveNode
from app.model.facts import UniqueOrigin
from app.model.guide import Guide, ItemLine, Loss, ShoppingItem
from app.model.names import UniqueTier
from app.model.state import BuildState
from app.service.sheet import SheetItem, sheet_of
from tests.fakes.samples import a_complete_record

RING = """
Rarity: RARE
New Ring
Sapphire Ring
Item Level: 60
Quality: 10
Sockets: S
Rune: Iron Rune
Implicits: 2
{rune}+5 to Strength
+25% to Cold Resistance
{range:0.5}+(20-30) to maximum Life
{crafted}+12% to Fire Resistance
"""
UNIQUE = (
    "Rarity: UNIQUE\nFoxshade\nQuilted Vest\nLeague: Old\nImplicits: 0\n{range:1}(80-100)% increased Evasion Rating"
)
FILE = """<?xml version="1.0" encoding="UTF-8"?>
<PathOfBuilding2><Items activeItemSet="2"><Item id="1">{ring}</Item><Item id="2">{unique}</Item><Item id="3">?</Item>
<ItemSet id="1"><Slot name="Ring 2" itemId="1"/></ItemSet>
<ItemSet id="2"><Slot name="Ring 1" itemId="1"/><Slot name="Belt" itemId="3"/><Slot name="Boots" itemId="0"/></ItemSet>
</Items><Tree><Spec><Sockets><Socket nodeId="77" itemId="2"/></Sockets></Spec></Tree></PathOfBuilding2>"""


def items(guide: Guide | None = None) -> dict[str, SheetItem]:
    blueprint = Blueprint(class_name="Monk", level=60, nodes=[PassiveNode(id=1)])
    xml = FILE.format(ring=RING, unique=UNIQUE).encode()
    record = changed(a_complete_record(), xml=xml, state=BuildState(blueprint=blueprint, guide=guide))
    sheet = sheet_of(record)
    assert sheet is not None
    assert sheet.jewels == {"77": "Foxshade"}
    return {item.slot: item for item in sheet.items}


def test_the_active_set_is_worn_and_lines_are_as_rolled() -> None:
    found = items()
    assert set(found) == {"Ring 1", "Belt", "Jewel 77"}
    ring = found["Ring 1"]
    assert (ring.name, ring.base, ring.item_level, ring.quality, ring.runes) == (
        "",
        "Sapphire Ring",
        60,
        10,
        ["Iron Rune"],
    )
    assert [(line.text, line.fixed) for line in ring.lines] == [
        ("+5 to Strength", True),
        ("+25% to Cold Resistance", True),
        ("+25 to maximum Life", False),
        ("+12% to Fire Resistance", False),
    ]
    assert [line.text for line in found["Jewel 77"].lines] == ["100% increased Evasion Rating"]


def test_a_line_tells_what_the_build_loses_without_it() -> None:
    lost = Loss(ehp=0.12)
    line = ItemLine(side="prefix", name="Hale", text="+(20-30) to maximum Life", lost=lost)
    wanted = ShoppingItem(
        slot="Ring 1", base="Sapphire Ring", title="", rarity="RARE", level=60, quality=0, lines=[line]
    )
    ring = items(Guide(shopping=[wanted]))["Ring 1"]
    assert [one.lost for one in ring.lines] == [None, None, lost, None]


def test_a_unique_tells_how_hard_it_is_to_come_by() -> None:
    origin = UniqueOrigin(tier=UniqueTier.RARE, why="drops in maps only")
    wanted = ShoppingItem(
        slot="Jewel 77", base="Quilted Vest", title="Foxshade", rarity="UNIQUE", level=1, quality=0, origin=origin
    )
    found = items(Guide(shopping=[wanted]))
    assert (found["Jewel 77"].origin, found["Ring 1"].origin) == (origin, None)


def test_a_text_that_is_no_item_is_shown_as_it_is() -> None:
    assert items()["Belt"].base == "?"


def test_there_is_no_sheet_before_there_is_a_build() -> None:
    assert sheet_of(changed(a_complete_record(), xml=None)) is None
