"""The OpenAI chat completions wire format, as OpenAI, OpenRouter, vLLM, llama.cpp and Ollama speak it. Pure mapping."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from math import inf
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from app.llm.base import FREE, Form, Message, Reply, ToolCall, ToolSpec, Usage

PATH = "/chat/completions"
STREAMING: dict[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}
_FINISH = {"stop": "stop", "tool_calls": "tool_calls", "length": "length", "content_filter": "refusal"}


class _Wire(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _Function(_Wire):
    name: str
    arguments: str | dict[str, Any] | None = None


class _Call(_Wire):
    id: str | None = None
    function: _Function


class _Content(_Wire):
    content: str | None = None
    refusal: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(_Wire):
    message: _Content
    finish_reason: str | None = None


class _Details(_Wire):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None


class _Usage(_Wire):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: _Details | None = None
    completion_tokens_details: _Details | None = None
    cost: object = None


class _Completion(_Wire):
    model: str = ""
    choices: list[_Choice] = Field(min_length=1)
    usage: _Usage | None = None


def headers(key: str | None) -> dict[str, str]:
    """Return the authorisation header; a local server may need none."""
    return {"Authorization": f"Bearer {key}"} if key else {}


def body(
    model: str,
    messages: Sequence[Message],
    tools: Sequence[ToolSpec],
    max_output_tokens: int,
    form: Form = FREE,
) -> dict[str, Any]:
    """Return the request body."""
    request: dict[str, Any] = {
        "model": model,
        "messages": [_message(message) for message in messages],
        "max_tokens": max_output_tokens,
        "temperature": 0,
    }
    if tools:
        request["tools"] = [{"type": "function", "function": tool.model_dump()} for tool in tools]
        if form.tools == "none" or form.answer is not None:
            request["tool_choice"] = "none" if form.tools == "none" else "required"
    if form.answer is not None and (form.tools == "none" or not tools):
        # Never beside tools that may be called: several servers constrain the calls too, so that none is possible.
        wanted = {"name": form.name, "strict": True, "schema": strict(form.answer)}
        request["response_format"] = {"type": "json_schema", "json_schema": wanted}
    return request


def strict(schema: Any) -> Any:
    """Return a JSON Schema as strict structured output takes it: every field required, one that may lack may be null.

    https://platform.openai.com/docs/guides/structured-outputs: no other keys, no defaults, anyOf instead of oneOf.
    """
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    told = {"anyOf" if key == "oneOf" else key: strict(value) for key, value in schema.items() if key not in _UNUSUAL}
    if "$defs" in schema:
        told["$defs"] = {name: strict(one) for name, one in schema["$defs"].items()}
    fields = {name: strict(one) for name, one in schema.get("properties", {}).items()}
    for name in schema.get("propertyNames", {}).get("enum", ()):
        fields[name] = strict(schema["additionalProperties"])
    if schema.get("type") == "object":
        needed = schema.get("required", ())
        told["properties"] = {name: one if name in needed else _or_null(one) for name, one in fields.items()}
        told |= {"required": list(fields), "additionalProperties": False}
    return told


_UNUSUAL = frozenset(
    {"default", "discriminator", "title", "$defs", "properties", "propertyNames", "minLength", "maxLength"}
)
"""What strict schemas do not have, and what is put together anew."""


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a value that may be null, too."""
    options = schema.get("anyOf", [schema])
    return schema if {"type": "null"} in options else {"anyOf": [*options, {"type": "null"}]}


def adapted(request: dict[str, Any], complaint: str) -> dict[str, Any] | None:
    """Return the request without what a service complains about, None when there is nothing to change.

    Some models take `max_completion_tokens` instead of `max_tokens`, and some no temperature. Some servers know no
    JSON Schema, or not this one (llama.cpp and Ollama make a grammar of it), or cannot be made to call a tool; then the
    answer comes as text.
    """
    changed = dict(request)
    if any(word in complaint for word in ("response_format", "json_schema", "grammar")):
        changed.pop("response_format", None)
    elif "tool_choice" in complaint or "tool choice" in complaint:
        changed.pop("tool_choice", None)
    if "max_completion_tokens" in complaint and "max_tokens" in changed:
        changed["max_completion_tokens"] = changed.pop("max_tokens")
    if "temperature" in complaint:
        changed.pop("temperature", None)
    return changed if changed != request else None


def reply(payload: object) -> Reply:
    """Read a completion.

    Raises:
        pydantic.ValidationError: it is not one.
    """
    completion = _Completion.model_validate(payload)
    choice = completion.choices[0]
    calls, bad = _calls(choice.message.tool_calls or [])
    refused = choice.message.refusal is not None
    return Reply(
        text=choice.message.content or choice.message.refusal or "",
        tool_calls=calls,
        bad_arguments=bad,
        usage=_usage(completion.usage),
        cost_usd=None if completion.usage is None else _cost(completion.usage.cost),
        model=completion.model,
        finish="refusal" if refused else _FINISH.get(choice.finish_reason or "stop", "other"),
    )


def failure(payload: object) -> tuple[int, str] | None:
    """Return status and words of an error that came with a good status, None where there is none.

    OpenRouter tells so what went wrong once a model had begun, as `error` of the answer, of a choice or of an event;
    others do in the middle of a stream. An error without a status is the server's own.
    """
    for event in payload if isinstance(payload, list) else [payload]:
        choices = event.get("choices") if isinstance(event, Mapping) else None
        for part in (event, *(choices if isinstance(choices, list) else ())):
            error = part.get("error") if isinstance(part, Mapping) else None
            if isinstance(part, Mapping) and part.get("object") == "error":
                error = part
            if error:
                told = error if isinstance(error, Mapping) else {"message": error}
                code = told.get("code")
                return (code if isinstance(code, int) and 400 <= code < 600 else 502), str(told.get("message", ""))[
                    :300
                ]
    return None


def joined(events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the chat completion that the chunks make; the last chunk with usage tells it."""
    choices = [choice for event in events for choice in event.get("choices") or [] if choice.get("index", 0) == 0]
    deltas = [choice.get("delta") or {} for choice in choices]
    message = {
        "content": "".join(delta.get("content") or "" for delta in deltas) or None,
        "refusal": "".join(delta.get("refusal") or "" for delta in deltas) or None,
        "tool_calls": _joined_calls(part for delta in deltas for part in delta.get("tool_calls") or []),
    }
    finish = next((c["finish_reason"] for c in reversed(choices) if c.get("finish_reason")), None)
    return {
        "model": next((event["model"] for event in events if event.get("model")), ""),
        "choices": [{"message": message, "finish_reason": finish}] if choices else [],
        "usage": next((event["usage"] for event in reversed(events) if event.get("usage")), None),
    }


def _joined_calls(parts: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the tool calls; the first part of each names it, later ones add to its arguments.

    Some servers send each call whole and number none of them; another id is another call.
    """
    calls: list[dict[str, Any]] = []
    places: dict[int, int] = {}
    for part in parts:
        function, index = part.get("function") or {}, part.get("index") or 0
        known = calls[places[index]]["id"] if index in places else None
        if index not in places or (known and part.get("id") not in (None, "", known)):
            places[index] = len(calls)
            calls.append({"id": None, "function": {"name": "", "arguments": ""}})
        call = calls[places[index]]
        call["id"] = call["id"] or part.get("id")
        call["function"]["name"] += function.get("name") or ""
        call["function"]["arguments"] += function.get("arguments") or ""
    return calls


def _message(message: Message) -> dict[str, Any]:
    wire: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_call_id is not None:
        wire["tool_call_id"] = message.tool_call_id
    if message.tool_calls:
        wire["tool_calls"] = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": json.dumps(c.arguments)}}
            for c in message.tool_calls
        ]
    return wire


def _calls(wire: Sequence[_Call]) -> tuple[list[ToolCall], list[tuple[str, str, str]]]:
    calls: list[ToolCall] = []
    bad: list[tuple[str, str, str]] = []
    for index, call in enumerate(wire):
        identifier = call.id or f"call_{index}"
        arguments, problem = parse_arguments(call.function.arguments)
        if problem:
            bad.append((identifier, call.function.name, problem))
        else:
            calls.append(ToolCall(id=identifier, name=call.function.name, arguments=arguments))
    return calls, bad


def parse_arguments(raw: str | dict[str, Any] | None) -> tuple[dict[str, Any], str]:
    """Return the arguments and, when they are not a JSON object, what is wrong with them."""
    if raw is None or raw == "":
        return {}, ""
    try:
        value = json.loads(raw) if isinstance(raw, str) else raw
    except ValueError as error:
        return {}, f"arguments are not JSON: {error}"
    return (value, "") if isinstance(value, dict) else ({}, "arguments are not an object")


def _cost(said: object) -> Decimal | None:
    """Return the cost in USD that a provider tells with the usage (OpenRouter does); None of anything but an amount."""
    if isinstance(said, bool) or not isinstance(said, (int, float)) or not 0 <= said < inf:
        return None
    return Decimal(str(said))


def _usage(wire: _Usage | None) -> Usage | None:
    if wire is None:
        return None
    prompt, completion = wire.prompt_tokens_details, wire.completion_tokens_details
    return Usage(
        input=wire.prompt_tokens,
        cache_read=(prompt.cached_tokens or 0) if prompt else 0,
        cache_write=(prompt.cache_write_tokens or 0) if prompt else 0,
        output=wire.completion_tokens,
        reasoning=(completion.reasoning_tokens or 0) if completion else 0,
    )
