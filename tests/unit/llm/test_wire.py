"""Both wire formats: what we send, and what we understand of the answers."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from app.llm import anthropic, openai
from app.llm.base import Form, Message, ToolCall, ToolSpec, Usage

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
    cached = {"cache_control": {"type": "ephemeral"}}
    assert sent["messages"][2]["content"][0] == {"type": "tool_result", "tool_use_id": "c1", "content": "[]", **cached}
    assert sent["system"] == [{"type": "text", "text": "rules", **cached}]
    assert "cache_control" not in sent["messages"][1]["content"][0], "only the end of what was said"


ANSWER = ToolSpec(name="answer_iterate", description="answer", parameters={"type": "object"})
SCHEMA = {
    "type": "object",
    "properties": {
        "skill": {"type": "string", "title": "Skill", "maxLength": 80},
        "points": {"type": "object", "propertyNames": {"enum": ["str"]}, "additionalProperties": {"type": "integer"}},
        "moves": {"type": "array", "items": {"oneOf": [{"$ref": "#/$defs/Add"}], "discriminator": {}}, "default": []},
    },
    "required": ["skill", "points"],
    "$defs": {"Add": {"type": "object", "properties": {"op": {"const": "add"}}, "required": ["op"]}},
}


def test_an_answer_is_a_call_where_tools_may_be_called() -> None:
    form = Form(answer=SCHEMA, name="answer_iterate")
    sent = openai.body("m", TALK, [TOOL, ANSWER], 100, form)
    assert sent["tool_choice"] == "required"
    assert "response_format" not in sent
    assert anthropic.body("m", TALK, [TOOL, ANSWER], 100, form)["tool_choice"] == {"type": "any"}


def test_an_answer_is_bound_to_its_schema_where_no_tool_may_be_called() -> None:
    """The tools are those of every request, so that what was sent before stays a prefix."""
    form = Form(tools="none", answer=SCHEMA, name="answer_iterate")
    sent = openai.body("m", TALK, [TOOL, ANSWER], 100, form)
    assert sent["tool_choice"] == "none"
    assert sent["tools"] == openai.body("m", TALK, [TOOL, ANSWER], 100)["tools"]
    assert sent["response_format"]["json_schema"]["name"] == "answer_iterate"
    assert sent["response_format"]["json_schema"]["schema"] == {
        "type": "object",
        "properties": {
            "skill": {"type": "string"},
            "points": {
                "type": "object",
                "properties": {"str": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
                "required": ["str"],
                "additionalProperties": False,
            },
            "moves": {"anyOf": [{"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/Add"}]}}, {"type": "null"}]},
        },
        "required": ["skill", "points", "moves"],
        "additionalProperties": False,
        "$defs": {
            "Add": {
                "type": "object",
                "properties": {"op": {"const": "add"}},
                "required": ["op"],
                "additionalProperties": False,
            }
        },
    }
    named = {"type": "tool", "name": "answer_iterate"}
    assert anthropic.body("m", TALK, [TOOL, ANSWER], 100, form)["tool_choice"] == named
    assert anthropic.body("m", TALK, [TOOL], 100, Form(tools="none"))["tool_choice"] == {"type": "none"}


def test_what_a_server_lacks_is_left_out() -> None:
    form = Form(tools="none", answer=SCHEMA, name="answer_iterate")
    sent = openai.body("m", TALK, [TOOL], 100, form)
    prose = openai.adapted(sent, "Unknown field 'response_format'")
    assert prose is not None
    assert set(sent) - set(prose) == {"response_format"}
    free = openai.adapted(sent, "tool_choice is not supported")
    assert free is not None
    assert set(sent) - set(free) == {"tool_choice"}
    called = anthropic.body("m", TALK, [TOOL], 100, form)
    assert anthropic.adapted({**called, "tool_choice": {"type": "any"}}, "tool_choice may not be any") == {
        key: value for key, value in called.items() if key != "tool_choice"
    }
    assert anthropic.adapted(called, "no such model") is None


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
