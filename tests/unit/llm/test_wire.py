"""Both wire formats: what we send, and what we understand of the answers."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from app.llm import anthropic, openai
from app.llm.base import Message, ToolCall, ToolSpec, Usage

TALK = [
    Message(role="system", content="rules"),
    Message(role="user", content="go"),
    Message(role="assistant", tool_calls=[ToolCall(id="c1", name="search_gems", arguments={"q": "spark"})]),
    Message(role="tool", tool_call_id="c1", content="[]"),
]
TOOL = ToolSpec(name="search_gems", description="find gems", parameters={"type": "object"})


def test_openai_request() -> None:
    sent = openai.body("m", TALK, [TOOL], 100)
    assert [message["role"] for message in sent["messages"]] == ["system", "user", "assistant", "tool"]
    assert sent["messages"][2]["tool_calls"][0]["function"]["arguments"] == '{"q": "spark"}'
    assert sent["tools"][0]["function"]["name"] == "search_gems"
    assert "tools" not in openai.body("m", TALK, [], 100)


def test_anthropic_request() -> None:
    sent = anthropic.body("m", TALK, [TOOL], 100)
    assert [turn["role"] for turn in sent["messages"]] == ["user", "assistant", "user"]
    assert sent["messages"][2]["content"][0] == {"type": "tool_result", "tool_use_id": "c1", "content": "[]"}
    assert sent["system"][0]["text"] == "rules"


def test_openai_answer() -> None:
    got = openai.reply(
        {
            "model": "m-1",
            "choices": [
                {
                    "finish_reason": "tool_calls",
                    "message": {
                        "content": None,
                        "tool_calls": [
                            {"id": "a", "function": {"name": "x", "arguments": '{"n": 1}'}},
                            {"id": "b", "function": {"name": "y", "arguments": "{oops"}},
                            {"id": "c", "function": {"name": "z", "arguments": "[1]"}},
                        ],
                    },
                }
            ],
            "usage": {
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "prompt_tokens_details": {"cached_tokens": 4},
                "completion_tokens_details": {"reasoning_tokens": 2},
            },
        }
    )
    assert got.tool_calls == [ToolCall(id="a", name="x", arguments={"n": 1})]
    assert [bad[:2] for bad in got.bad_arguments] == [("b", "y"), ("c", "z")]
    assert got.usage == Usage(input=10, cache_read=4, output=5, reasoning=2)
    assert got.finish == "tool_calls"


def test_anthropic_usage_includes_the_cached_parts() -> None:
    got = anthropic.reply(
        {
            "type": "message",
            "content": [{"type": "text", "text": "a"}, {"type": "tool_use", "id": "t", "name": "x", "input": {}}],
            "stop_reason": "tool_use",
            "usage": {
                "input_tokens": 504,
                "cache_read_input_tokens": 10,
                "cache_creation_input_tokens": 123,
                "output_tokens": 7,
            },
        }
    )
    assert got.usage == Usage(input=637, cache_read=10, cache_write=123, output=7)
    assert got.tool_calls[0].name == "x"


def test_no_usage_is_unknown_and_not_zero() -> None:
    assert openai.reply({"choices": [{"message": {"content": "hi"}}]}).usage is None
    assert anthropic.reply({"type": "message", "content": []}).usage is None


@pytest.mark.parametrize("payload", [None, [], {}, {"choices": []}, {"choices": [{}]}, {"error": {"message": "x"}}])
def test_anything_else_is_refused(payload: object) -> None:
    with pytest.raises(ValidationError):
        openai.reply(payload)
    with pytest.raises(ValidationError):
        anthropic.reply(payload)


def test_refusals_are_told_apart() -> None:
    assert openai.reply({"choices": [{"message": {"refusal": "no"}}]}).finish == "refusal"
    assert anthropic.reply({"type": "message", "stop_reason": "refusal"}).finish == "refusal"
