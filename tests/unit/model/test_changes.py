"""Changes are pure: the same list gives the same blueprint in every process."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from app.model.blueprint import (
    Allocate,
    Blueprint,
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
    apply_changes,
    condensed,
)
from app.model.names import Attribute

EMPTY = Blueprint(class_name="Sorceress", level=90)


def group(name: str) -> SkillGroup:
    return SkillGroup(label=name, gems=[Gem(gem_id=name, name=name)])


def test_allocate_keeps_order_and_updates_the_attribute_of_a_known_node() -> None:
    first = apply_changes(EMPTY, [Allocate(nodes=[PassiveNode(id=3), PassiveNode(id=1)])])
    second = apply_changes(
        first, [Allocate(nodes=[PassiveNode(id=3, attribute=Attribute.INTELLIGENCE), PassiveNode(id=2)])]
    )
    assert [node.id for node in second.nodes] == [3, 1, 2]
    assert second.nodes[0].attribute is Attribute.INTELLIGENCE
    assert first.nodes[0].attribute is None, "the old blueprint is untouched"


def test_removing_a_group_before_the_main_one_moves_the_main_index() -> None:
    two = apply_changes(
        EMPTY, [SetGroup(index=1, group=group("a")), SetGroup(index=2, group=group("b")), SetMain(index=2)]
    )
    assert apply_changes(two, [RemoveGroup(index=1)]).main_group == 1
    assert apply_changes(two, [RemoveGroup(index=2)]).main_group == 0
    assert [g.label for g in apply_changes(two, [RemoveGroup(index=1)]).groups] == ["b"]


def test_set_group_replaces_in_place() -> None:
    one = apply_changes(EMPTY, [SetGroup(index=1, group=group("a"))])
    assert [g.label for g in apply_changes(one, [SetGroup(index=1, group=group("c"))]).groups] == ["c"]


def test_config_none_means_the_engines_default() -> None:
    configured = apply_changes(EMPTY, [SetConfig(key="enemyIsBoss", value="Boss")])
    assert configured.config == {"enemyIsBoss": "Boss"}
    assert apply_changes(configured, [SetConfig(key="enemyIsBoss", value=None)]).config == {}


@given(st.lists(st.integers(1, 30), unique=True), st.lists(st.integers(1, 30), unique=True))
def test_deallocate_undoes_allocate(kept: list[int], extra: list[int]) -> None:
    base = apply_changes(EMPTY, [Allocate(nodes=[PassiveNode(id=i) for i in kept])])
    new = [i for i in extra if i not in kept]
    grown = apply_changes(base, [Allocate(nodes=[PassiveNode(id=i) for i in new])])
    assert apply_changes(grown, [Deallocate(nodes=new)]) == base


def test_unequip_undoes_equip() -> None:
    worn = apply_changes(EMPTY, [Equip(item=GearItem(slot="Ring 1", base="Gold Ring"))])
    assert worn.items["Ring 1"].base == "Gold Ring"
    assert apply_changes(worn, [Unequip(slot="Ring 1")]) == EMPTY


_IDS = st.integers(1, 6)
_PASSIVES = st.one_of(
    st.builds(Deallocate, nodes=st.lists(_IDS, max_size=4)),
    st.builds(
        Allocate,
        nodes=st.lists(st.builds(PassiveNode, id=_IDS, attribute=st.sampled_from([None, *Attribute])), max_size=4),
    ),
)


@given(st.lists(_IDS, unique=True, max_size=6), st.lists(_PASSIVES, max_size=8))
def test_condensed_changes_do_to_any_passives_what_all_of_them_do(held: list[int], changes: list[Any]) -> None:
    before = apply_changes(EMPTY, [Allocate(nodes=[PassiveNode(id=node) for node in held])])
    assert len(condensed(changes)) == 2
    assert apply_changes(before, condensed(changes)) == apply_changes(before, changes)
