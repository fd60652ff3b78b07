"""Suites: what they may hold, and what ships."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.errors import InputError
from app.metrics.limits import InvalidMatcher
from app.model.names import GearTier
from app.service.evaluations import SuiteTask, check_facts, load_suite
from app.service.view import view_of
from tests.fakes.samples import a_complete_record


def test_the_suite_that_ships_asks_something_of_every_class_at_every_stage() -> None:
    suite = load_suite("classes")
    assert len(suite.tasks) == 24
    assert {task.gear for task in suite.tasks} == {GearTier.STARTER, GearTier.MID, GearTier.ENDGAME}
    for task in suite.tasks:
        assert task.expectations is not None
        assert task.expectations.max_calls
        assert any(pointer.endswith("/class_name") for pointer in task.facts)
    assert len(load_suite("classes", ["druid"]).tasks) == 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "valid list"),
        ("[]", "needs tasks"),
        ("- {name: a}", "prompt"),
        ("- {name: a, prompt: abc}\n- {name: a, prompt: abc}", "name of its own"),
        ("- {name: a, prompt: abc, wat: 1}", "wat"),
        ("- {name: a, prompt: abc, expectations: {}}", "at least one constraint"),
        ("- {name: a, prompt: abc, level: 0}", "level"),
        ("- [", "not YAML"),
    ],
)
def test_what_is_no_suite_is_refused(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "suite.yaml"
    file.write_text(text)
    with pytest.raises(InputError, match=said):
        load_suite(str(file))


@pytest.mark.parametrize("part", ["facts: {/status: {wat: 1}}", "expectations: {expect: [{tool: /(/}]}"])
def test_matchers_are_checked_before_anything_is_built(tmp_path: Path, part: str) -> None:
    file = tmp_path / "suite.yaml"
    file.write_text(f"- name: a\n  prompt: a witch\n  {part}\n")
    with pytest.raises(InvalidMatcher):
        load_suite(str(file))


@pytest.mark.parametrize(("source", "only"), [("nothing", None), ("missing.yaml", None), ("classes", ["bard"])])
def test_what_is_not_there(source: str, only: list[str] | None) -> None:
    with pytest.raises(InputError):
        load_suite(source, only)


def test_facts_are_held_against_the_build_as_its_owner_sees_it() -> None:
    facts = {
        "/status": {"equals": "complete"},
        "/stats/dps": {"range": {"gt": 50000}},
        "/stats/str": {"equals": 50},
        "/stats/ehp": {"range": {"gt": 10**9}},
        "/nothing": {"equals": 1},
        "/failure": {"absent": True},
    }
    task = SuiteTask(name="t", prompt="a witch", facts=facts)
    found = check_facts(task, view_of(a_complete_record()))
    assert [(check.name.removeprefix("fact "), check.passed) for check in found] == [
        ("/status", True),
        ("/stats/dps", True),
        ("/stats/str", True),
        ("/stats/ehp", False),
        ("/nothing", False),
        ("/failure", True),
    ]
    assert all(check.reason for check in found)
