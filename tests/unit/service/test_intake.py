"""What is refused before anything is stored."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.errors import InputError
from app.knowledge.values import allowed, is_plain_text, words_of
from app.model.constraints import INVARIANTS, Count, Kind
from app.model.record import BuildRequest
from app.service.intake import check_prompt, check_request


def test_keeps_line_breaks_and_other_languages() -> None:
    assert check_prompt(" 電撃の魔女\r\n\tmapping 🙂 ") == "電撃の魔女\r\n\tmapping 🙂"


@given(st.text(max_size=50))
def test_what_passes_holds_no_control_characters(text: str) -> None:
    if is_plain_text(text):
        assert text.encode().decode() == text
        assert not any(ord(char) < 32 and char not in "\t\n\r" for char in text)
        assert "\x7f" not in text


@given(st.text(max_size=20), st.characters(categories=["Cc", "Cs"], exclude_characters="\t\n\r"), st.text(max_size=20))
def test_one_control_character_anywhere_is_enough(before: str, bad: str, after: str) -> None:
    assert not is_plain_text(before + bad + after)


def test_accepts_every_known_override() -> None:
    overrides: dict[str, str | int | float | bool | list[str]] = {
        "class": "Witch",
        "level": 1,
        "hardcore": True,
        "exclude": ["minions"],
        "gear": "starter",
        "goal": "bossing",
    }
    request = BuildRequest(prompt="a witch", overrides=overrides)
    assert check_request(request).overrides == overrides


@pytest.mark.parametrize("level", [0, 101, -1, 1.5, True, "90"])
def test_a_level_is_a_whole_number_from_1_to_100(level: int) -> None:
    with pytest.raises(InputError, match=r"overrides\.level"):
        check_request(BuildRequest(prompt="a witch").model_copy(update={"overrides": {"level": level}}))


GOOD: dict[Kind, list[Any]] = {Kind.FLAG: [True, False], Kind.NUMBER: [1, 90, 100], Kind.TARGET: [90_000.0, 1, 0.5]}
BAD: dict[Kind, list[Any]] = {
    Kind.FLAG: ["yes", 1, [True]],
    Kind.NUMBER: [0, 101, "90", True, 1.5, [90]],
    Kind.TARGET: [0, -5, "90k", True, 1e12, float("nan"), [90]],
    Kind.WORD: ["nonsense", 5, True, "", ["nonsense"]],
}


@pytest.mark.parametrize("field", INVARIANTS)
def test_every_constraint_can_be_set_with_what_it_can_be(field: str) -> None:
    constraint = INVARIANTS[field]
    words = list(words_of(constraint)) if constraint.kind is Kind.WORD else ["Anything", "Else"]
    good: list[Any] = GOOD.get(constraint.kind) or [*words, *([words[:2]] if constraint.count is not Count.ONE else [])]
    for value in good:
        assert check_request(BuildRequest(prompt="a build", overrides={field: value})).overrides == {field: value}


@pytest.mark.parametrize("field", INVARIANTS)
def test_a_value_that_cannot_be_meant_is_refused_with_what_can(field: str) -> None:
    constraint = INVARIANTS[field]
    bad = BAD.get(constraint.kind, ["", "  ", "\x07", "x" * 201, 5, ["a", ""], ["word"] * 21])
    if constraint.count is Count.ONE and constraint.kind not in (Kind.FLAG, Kind.NUMBER, Kind.TARGET):
        bad = [*bad, ["one", "two"]]
    for value in bad:
        request = BuildRequest(prompt="a build").model_copy(update={"overrides": {field: value}})
        with pytest.raises(InputError) as refused:
            check_request(request)
        assert str(refused.value) == f"overrides.{field} must be {allowed(constraint)}"
