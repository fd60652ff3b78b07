"""The Anthropic messages wire format. Pure mapping."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.llm.base import FREE, Form, Message, Reply, ToolCall, ToolSpec, Usage

PATH = "/v1/messages"
API_VERSION = "2023-06-01"
STREAMING: dict[str, Any] = {"stream": True}
CACHED = {"type": "ephemeral"}
_FINISH = {"end_turn": "stop", "stop_sequence": "stop", "tool_use": "tool_calls", "max_tokens": "length"}


class _Wire(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _Block(_Wire):
    type: str
    text: str = ""
    id: str = ""
    name: str = ""
    input: Any = None


class _Usage(_Wire):
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None


class _Answer(_Wire):
    type: Literal["message"]
    model: str = ""
    content: list[_Block] = Field(default_factory=list)
    stop_reason: str | None = None
    usage: _Usage | None = None


def headers(key: str | None) -> dict[str, str]:
    """Return version and authorisation headers."""
    return {"anthropic-version": API_VERSION, **({"x-api-key": key} if key else {})}


def body(
    model: str,
    messages: Sequence[Message],
    tools: Sequence[ToolSpec],
    max_output_tokens: int,
    form: Form = FREE,
) -> dict[str, Any]:
    """Return the request body.

    Two places are marked for the provider's prompt cache: the end of tools and system prompt, and the end of what was
    said, from where the next request goes on.
    """
    system = "\n\n".join(message.content for message in messages if message.role == "system")
    turns = _turns(messages)
    if turns:
        turns[-1]["content"][-1]["cache_control"] = CACHED
    request: dict[str, Any] = {"model": model, "max_tokens": max_output_tokens, "messages": turns}
    if system:
        request["system"] = [{"type": "text", "text": system, "cache_control": CACHED}]
    if tools:
        request["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.parameters} for tool in tools
        ]
        if form.answer is not None and any(tool.name == form.name for tool in tools):
            request["tool_choice"] = {"type": "any"} if form.tools == "auto" else {"type": "tool", "name": form.name}
        elif form.tools == "none":
            request["tool_choice"] = {"type": "none"}
    return request


def adapted(request: dict[str, Any], complaint: str) -> dict[str, Any] | None:
    """Return the request without a tool choice where a model cannot be made to call one, None otherwise."""
    if "tool_choice" not in complaint or "tool_choice" not in request:
        return None
    return {key: value for key, value in request.items() if key != "tool_choice"}


def reply(payload: object) -> Reply:
    """Read an answer.

    Raises:
        pydantic.ValidationError: it is not one.
    """
    answer = _Answer.model_validate(payload)
    uses = [block for block in answer.content if block.type == "tool_use"]
    good = [block for block in uses if isinstance(block.input, dict)]
    bad = [(block.id, block.name, "arguments are not an object") for block in uses if block not in good]
    return Reply(
        text="".join(block.text for block in answer.content if block.type == "text"),
        tool_calls=[ToolCall(id=block.id, name=block.name, arguments=block.input) for block in good],
        bad_arguments=bad,
        usage=_usage(answer.usage),
        model=answer.model,
        finish="refusal" if answer.stop_reason == "refusal" else _FINISH.get(answer.stop_reason or "", "other"),
    )


_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}


def failure(payload: object) -> tuple[int, str] | None:
    """Return status and words of an error in the middle of a stream, None where there is none."""
    for event in payload if isinstance(payload, list) else []:
        error = event.get("error") if isinstance(event, Mapping) and event.get("type") == "error" else None
        if isinstance(error, Mapping):
            return _STATUSES.get(str(error.get("type")), 500), str(error.get("message", ""))[:300]
    return None


def joined(events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the message that the events make; the figures at its end win over those at its start."""
    start: dict[str, Any] = next((event["message"] for event in events if event.get("type") == "message_start"), {})
    last: Mapping[str, Any] = next((event for event in reversed(events) if event.get("type") == "message_delta"), {})
    opened = {e["index"]: e["content_block"] for e in events if e.get("type") == "content_block_start"}
    return {
        **start,
        "content": [_joined_block(index, block, events) for index, block in sorted(opened.items())],
        "stop_reason": (last.get("delta") or {}).get("stop_reason"),
        "usage": {**(start.get("usage") or {}), **(last.get("usage") or {})} or None,
    }


def _joined_block(index: int, block: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    own = [e["delta"] for e in events if e.get("type") == "content_block_delta" and e.get("index") == index]
    if block.get("type") == "tool_use":
        text = "".join(delta.get("partial_json") or "" for delta in own)
        try:
            return {**block, "input": json.loads(text or "{}")}
        except ValueError:
            return {**block, "input": text}  # not an object: refused as bad arguments, like in an answer in one piece
    return {**block, "text": (block.get("text") or "") + "".join(delta.get("text") or "" for delta in own)}


def _turns(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Tool answers are user turns here, and turns of one side are merged: the format wants them to alternate."""
    spoken = [message for message in messages if message.role != "system"]
    sides = groupby(spoken, key=lambda message: "assistant" if message.role == "assistant" else "user")
    return [{"role": side, "content": [block for one in turn for block in _blocks(one)]} for side, turn in sides]


def _blocks(message: Message) -> list[dict[str, Any]]:
    if message.tool_call_id is not None:
        return [{"type": "tool_result", "tool_use_id": message.tool_call_id, "content": message.content}]
    text = [{"type": "text", "text": message.content}] if message.content else []
    uses = [{"type": "tool_use", "id": c.id, "name": c.name, "input": c.arguments} for c in message.tool_calls]
    return [*text, *uses]


def _usage(wire: _Usage | None) -> Usage | None:
    """The raw figures exclude the cached parts; ours include them, as the GenAI conventions do."""
    if wire is None:
        return None
    read, written = wire.cache_read_input_tokens or 0, wire.cache_creation_input_tokens or 0
    return Usage(
        input=wire.input_tokens + read + written, cache_read=read, cache_write=written, output=wire.output_tokens
    )
