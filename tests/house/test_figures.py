"""The house stays in order: no figure of docs/architecture.md may get worse unnoticed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.house.figures import House, measured

TYPED = {"model/events.py": 1}
"""The arguments of a recorded call are whatever JSON the call was given."""


@pytest.fixture(scope="module")
def house() -> House:
    return measured()


def test_files_are_few_and_short(house: House) -> None:
    assert house.files <= 380
    assert house.longest_file <= 400


def test_functions_hold_one_idea(house: House) -> None:
    assert max(house.lengths) <= 60
    assert len(house.private_once) <= 0.17 * house.functions
    assert len(house.public_once) <= 0.13 * house.functions


def test_state_is_typed(house: House) -> None:
    assert house.untyped == TYPED


def test_a_name_means_one_thing(house: House) -> None:
    assert house.doubled_classes == []


def test_modules_are_nouns(house: House) -> None:
    assert house.gerunds == ["reasoning/questions/damage_scaling.py"], "the question is called so"


def test_it_is_counted_and_not_guessed(tmp_path: Path) -> None:
    (tmp_path / "app" / "model").mkdir(parents=True)
    (tmp_path / "app" / "model" / "mending.py").write_text(
        "class A:\n    x: dict[str, Any]\n\n\ndef _once():\n    pass\n\n\ndef both():\n    _once()\n\n\nboth()\n"
    )
    (tmp_path / "app" / "a.py").write_text("class A:\n    pass\n")
    found = measured(tmp_path)
    assert (found.files, found.functions) == (2, 2)
    assert found.private_once == ["model/mending.py:_once"]
    assert found.public_once == ["model/mending.py:both"]
    assert (found.doubled_classes, found.untyped) == (["A"], {"model/mending.py": 1})
    assert found.gerunds == ["model/mending.py"]
