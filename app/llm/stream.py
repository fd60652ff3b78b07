"""Streamed answers: events put together into the answer that the same service would have given in one piece. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Event = Mapping[str, Any]
_DONE = "[DONE]"


def events_of(text: str) -> list[Any]:
    """Return the data of Server-Sent Events, in order.

    Raises:
        ValueError: one of them is not JSON.
    """
    lines = (line[5:].strip() for line in text.splitlines() if line.startswith("data:"))
    return [json.loads(line) for line in lines if line and line != _DONE]


def openai_completion(events: Sequence[Event]) -> dict[str, Any]:
    """Return the chat completion that the chunks make; the last chunk with usage tells it."""
    choices = [choice for event in events for choice in event.get("choices") or [] if choice.get("index", 0) == 0]
    deltas = [choice.get("delta") or {} for choice in choices]
    message = {
        "content": "".join(delta.get("content") or "" for delta in deltas) or None,
        "refusal": "".join(delta.get("refusal") or "" for delta in deltas) or None,
        "tool_calls": _calls(part for delta in deltas for part in delta.get("tool_calls") or []),
    }
    finish = next((c["finish_reason"] for c in reversed(choices) if c.get("finish_reason")), None)
    return {
        "model": next((event["model"] for event in events if event.get("model")), ""),
        "choices": [{"message": message, "finish_reason": finish}] if choices else [],
        "usage": next((event["usage"] for event in reversed(events) if event.get("usage")), None),
    }


def _calls(parts: Iterable[Event]) -> list[dict[str, Any]]:
    """Return the tool calls; the first part of each names it, later ones add to its arguments."""
    calls: dict[int, dict[str, Any]] = {}
    for part in parts:
        function = part.get("function") or {}
        call = calls.setdefault(part.get("index", 0), {"id": None, "function": {"name": "", "arguments": ""}})
        call["id"] = call["id"] or part.get("id")
        call["function"]["name"] += function.get("name") or ""
        call["function"]["arguments"] += function.get("arguments") or ""
    return [calls[index] for index in sorted(calls)]


def anthropic_message(events: Sequence[Event]) -> dict[str, Any]:
    """Return the message that the events make; the figures at its end win over those at its start."""
    start: dict[str, Any] = next((event["message"] for event in events if event.get("type") == "message_start"), {})
    last = next((event for event in reversed(events) if event.get("type") == "message_delta"), {})
    opened = {e["index"]: e["content_block"] for e in events if e.get("type") == "content_block_start"}
    return {
        **start,
        "content": [_block(index, block, events) for index, block in sorted(opened.items())],
        "stop_reason": (last.get("delta") or {}).get("stop_reason"),
        "usage": {**(start.get("usage") or {}), **(last.get("usage") or {})} or None,
    }


def _block(index: int, block: Event, events: Sequence[Event]) -> dict[str, Any]:
    own = [e["delta"] for e in events if e.get("type") == "content_block_delta" and e.get("index") == index]
    if block.get("type") == "tool_use":
        return {**block, "input": _input("".join(delta.get("partial_json") or "" for delta in own))}
    return {**block, "text": (block.get("text") or "") + "".join(delta.get("text") or "" for delta in own)}


def _input(text: str) -> Any:
    try:
        return json.loads(text or "{}")
    except ValueError:
        return text  # not an object: refused as bad arguments, like in an answer in one piece
