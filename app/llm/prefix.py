"""How much of what a model is sent it was sent before: what providers can answer from their prompt caches.

Tokens are estimated at four characters each. A request is the text that providers make of it: tools first, then the
schema of the answer where one is sent, then the messages; changing a tool or the schema changes all of it.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from typing import Final

from app.llm.base import CHARS_PER_TOKEN, Message
from app.llm.transcript import ChatRequest, Exchange
from app.model.base import Model

TOTAL: Final = "total"
_MOST_LINES = 60
_LINE_CHARS = 160
"""Longer lines are broken, so that a diff shows where in them something differs."""


class StepSpending(Model):
    """What the requests of a step held. `tokens`: estimated tokens of input; `again`: those of them that are an exact
    prefix of an earlier request to the same model. What the provider reported: `input`, `cached`, `output` tokens, None
    where an answer did not say.
    """

    step: str
    requests: int
    tokens: int
    again: int
    input: int | None = None
    cached: int | None = None
    output: int | None = None

    @property
    def share(self) -> float:
        """Return which share of the tokens was sent before, 0-1."""
        return self.again / self.tokens if self.tokens else 0.0


def text_of(request: ChatRequest) -> str:
    """Return the request as one text, in the order in which providers put it before the model."""
    bound = request.form.answer is not None and (request.form.tools == "none" or not request.tools)
    form = [_json(request.form.answer)] if bound else []
    return "\n".join([*(_json(tool.model_dump()) for tool in request.tools), *form, *map(_said, request.messages)])


def _said(message: Message) -> str:
    calls = [_json({"id": call.id, "name": call.name, "arguments": call.arguments}) for call in message.tool_calls]
    return "\n".join([f"[{message.role} {message.tool_call_id or ''}]", message.content, *calls])


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def common_prefix(one: str, other: str) -> int:
    """Return how many characters the beginnings of two texts have in common."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def spending(exchanges: Sequence[Exchange]) -> list[StepSpending]:
    """Return what each step's requests held, in the order of the steps, and all of them together as `total`."""
    earlier: list[tuple[str, str]] = []
    rows: list[StepSpending] = []
    for one in exchanges:
        if one.request is None:
            continue
        text = text_of(one.request)
        again = max((common_prefix(text, known) for model, known in earlier if model == one.model), default=0)
        earlier.append((one.model, text))
        usage = None if one.reply is None else one.reply.usage
        told = (None, None, None) if usage is None else (usage.input, usage.cache_read, usage.output)
        rows.append(
            StepSpending(
                step=one.step,
                requests=1,
                tokens=len(text) // CHARS_PER_TOKEN,
                again=again // CHARS_PER_TOKEN,
                input=told[0],
                cached=told[1],
                output=told[2],
            )
        )
    steps = list(dict.fromkeys(row.step for row in rows))
    return [*(_sum(step, [row for row in rows if row.step == step]) for step in steps), _sum(TOTAL, rows)]


def _sum(step: str, rows: Sequence[StepSpending]) -> StepSpending:
    return StepSpending(
        step=step,
        requests=sum(row.requests for row in rows),
        tokens=sum(row.tokens for row in rows),
        again=sum(row.again for row in rows),
        input=_reported([row.input for row in rows]),
        cached=_reported([row.cached for row in rows]),
        output=_reported([row.output for row in rows]),
    )


def _reported(figures: Sequence[int | None]) -> int | None:
    known = [figure for figure in figures if figure is not None]
    return sum(known) if known and len(known) == len(figures) else None


def difference(recorded: ChatRequest, now: ChatRequest) -> list[str]:
    """Return what differs as the lines of a diff, shortened; empty where nothing does."""
    if recorded == now:
        return []
    lines = difflib.unified_diff(_lines(recorded), _lines(now), "recorded", "now", lineterm="", n=2)
    told = list(lines)
    return told if len(told) <= _MOST_LINES else [*told[:_MOST_LINES], f"... and {len(told) - _MOST_LINES} more lines"]


def _lines(request: ChatRequest) -> list[str]:
    lines = [f"most output tokens: {request.max_output_tokens}", f"form: {_json(request.form.model_dump())}"]
    lines += [f"tool: {_json(tool.model_dump())}" for tool in request.tools]
    for number, message in enumerate(request.messages, start=1):
        lines += [f"message {number}, {message.role}:", *message.content.split("\n")]
        lines += [f"calls {call.name} ({call.id}) {_json(call.arguments)}" for call in message.tool_calls]
    return [line[at : at + _LINE_CHARS] for line in lines for at in range(0, len(line) or 1, _LINE_CHARS)]
