"""Answers of a model: tolerant of how they are wrapped, strict about what they say."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

from app.core.errors import LlmBadOutput
from app.reasoning.llm.conversation import MAX_ANSWER_CHARS, parse_answer


class Pick(BaseModel):
    model_config = ConfigDict(extra="forbid")

    option: str
    score: int = 0


@pytest.mark.parametrize(
    "text",
    [
        "option: Spark\nscore: 3",
        "```yaml\noption: Spark\nscore: 3\n```",
        "Sure! Here it is:\n\n```yml\noption: Spark\nscore: 3\n```\nHope that helps.",
        "~~~\noption: Spark\nscore: 3\n~~~",
        "I choose this.\noption: Spark\nscore: 3\n",
        '{"option": "Spark", "score": 3}',
        '```json\n{"option": "Spark", "score": 3}\n```',
        "```\nnot: [closed\n```\n```yaml\noption: Spark\nscore: 3\n```",
        "option: Spark\r\nscore: 3\r\n",
    ],
)
def test_wrapping_does_not_matter(text: str) -> None:
    assert parse_answer(text, Pick) == Pick(option="Spark", score=3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no YAML mapping"),
        ("I am sorry, I cannot help with that.", "no YAML mapping"),
        ("- a\n- b", "no YAML mapping"),
        ("option: Spark\nscore: [1, 2", "not YAML"),
        ("option: Spark\nscore: many", "score"),
        ("score: 1", "option"),
        ("option: Spark\nphase: complete", "phase"),
        ("option: &a Spark\nscore: *a", "aliases"),
        ("option: !!python/object/apply:os.system ['id']", "not YAML"),
        ("x" * (MAX_ANSWER_CHARS + 1), "longer than"),
        ("[" * 50_000, "not YAML"),
    ],
)
def test_what_does_not_fit_is_named(text: str, message: str) -> None:
    with pytest.raises(LlmBadOutput, match=message):
        parse_answer(text, Pick)


def test_an_alias_bomb_costs_nothing() -> None:
    bomb = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))
    started = time.process_time()
    with pytest.raises(LlmBadOutput):
        parse_answer(bomb, Pick)
    assert time.process_time() - started < 5


@given(st.text(max_size=400))
def test_arbitrary_text_gives_an_answer_or_our_error(text: str) -> None:
    assert len(outcome_of(text)) <= 1100


def outcome_of(text: str) -> str:
    try:
        return parse_answer(text, Pick).option
    except LlmBadOutput as error:
        return error.message
