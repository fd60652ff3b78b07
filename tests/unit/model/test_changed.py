"""Data is changed by names and types that exist, or not at all."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from app.model.base import changed
from app.model.blueprint import Blueprint, Equip, GearItem, PassiveNode
from app.model.names import Phase
from app.model.record import BuildRequest
from app.model.state import BuildState

EMPTY = BuildState()


def test_the_copy_has_the_fields_and_shares_the_rest() -> None:
    after = changed(EMPTY, done=3, phase=Phase.EXPLORE, progress_label="decided")
    assert (after.done, after.phase, after.progress_label) == (3, Phase.EXPLORE, "decided")
    assert EMPTY.model_dump() == BuildState().model_dump()
    assert after.discoveries is EMPTY.discoveries


def test_a_misspelt_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="progres_label"):
        changed(EMPTY, progres_label="decided")


@pytest.mark.parametrize(
    "wrong", [{"done": "three"}, {"done": "3"}, {"phase": "explore"}, {"blueprint": {"class_name": "Monk"}}]
)
def test_a_value_of_another_type_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        changed(EMPTY, **wrong)


def test_bounds_of_a_field_hold() -> None:
    request = BuildRequest(prompt="cold monk")
    assert changed(request, level=100).level == 100
    with pytest.raises(ValidationError):
        changed(request, level=101)


def test_lists_of_models_and_unions_of_changes_pass() -> None:
    blueprint = Blueprint(class_name="Monk", level=1)
    ring = GearItem(slot="Ring 1", base="Ruby Ring")
    worn = changed(blueprint, nodes=[PassiveNode(id=4)], items={"Ring 1": ring}, weapon_set=2, config={"boss": True})
    assert worn.nodes == [PassiveNode(id=4)]
    assert changed(EMPTY, committed=[Equip(item=ring)], blueprint=worn).committed == [Equip(item=ring)]
    with pytest.raises(ValidationError):
        changed(blueprint, weapon_set=3)
