"""Locks: which changes touch what must stay."""

from __future__ import annotations

import pytest

from app.model.blueprint import (
    Allocate,
    Blueprint,
    Change,
    Deallocate,
    Equip,
    GearItem,
    Gem,
    PassiveNode,
    RemoveGroup,
    SetConfig,
    SetGroup,
    SetMain,
    SkillGroup,
    Unequip,
)
from app.model.moves import Locks, Part
from app.model.names import Attribute

GROUP = SkillGroup(gems=[Gem(gem_id="spark", name="Spark")])
BUILD = Blueprint(
    class_name="Sorceress",
    level=90,
    nodes=[PassiveNode(id=1, attribute=Attribute.STRENGTH), PassiveNode(id=9)],
    groups=[GROUP],
    main_group=1,
)
HELMET = Equip(item=GearItem(slot="Helmet", base="Hat"))
JEWEL = Equip(item=GearItem(slot="Jewel 7", base="Ruby"))
CHARM = Equip(item=GearItem(slot="Charm 1", base="Stone Charm"))
BUY = Allocate(nodes=[PassiveNode(id=2)])
SWITCH = Allocate(nodes=[PassiveNode(id=1, attribute=Attribute.DEXTERITY)])
ASCEND = Allocate(nodes=[PassiveNode(id=50)])
SUPPORTED = SetGroup(index=1, group=SkillGroup(gems=[*GROUP.gems, Gem(gem_id="s", name="S")]))
NEW_GROUP = SetGroup(index=2, group=GROUP)


@pytest.mark.parametrize(
    ("locks", "change", "forbidden"),
    [
        (Locks(), HELMET, False),
        (Locks(slots=["Helmet"]), HELMET, True),
        (Locks(slots=["Helmet"]), Unequip(slot="Helmet"), True),
        (Locks(slots=["Boots"]), HELMET, False),
        (Locks(parts=[Part.GEAR]), HELMET, True),
        (Locks(parts=[Part.GEAR]), JEWEL, False),
        (Locks(parts=[Part.JEWELS]), JEWEL, True),
        (Locks(parts=[Part.FLASKS]), CHARM, True),
        (Locks(parts=[Part.TREE]), BUY, True),
        (Locks(parts=[Part.TREE]), SWITCH, True),
        (Locks(parts=[Part.ATTRIBUTES]), SWITCH, True),
        (Locks(parts=[Part.ATTRIBUTES]), BUY, False),
        (Locks(parts=[Part.TREE]), Deallocate(nodes=[9]), True),
        (Locks(parts=[Part.TREE]), ASCEND, False),
        (Locks(parts=[Part.ASCENDANCY]), ASCEND, True),
        (Locks(parts=[Part.SUPPORTS]), SUPPORTED, True),
        (Locks(parts=[Part.SUPPORTS]), SetGroup(index=1, group=GROUP), False),
        (Locks(parts=[Part.SUPPORTS]), NEW_GROUP, False),
        (Locks(parts=[Part.SPIRIT]), NEW_GROUP, True),
        (Locks(), RemoveGroup(index=1), True),
        (Locks(), SetMain(index=1), True),
        (Locks(), SetConfig(key="enemyIsBoss", value="None"), True),
    ],
)
def test_forbidden_changes(locks: Locks, change: Change, forbidden: bool) -> None:
    assert locks.forbid(change, BUILD, ascendancy={50}) is forbidden
