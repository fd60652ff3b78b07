"""What is refused before anything is stored."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.errors import InputError
from app.model.record import BuildRequest
from app.service.intake import check_prompt, check_request, is_plain_text


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
