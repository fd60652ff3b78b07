"""Talking to a model until it has answered one question: tool rounds, one repair, and bounds on all of it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, Protocol, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from app.core.errors import BudgetExceeded, LlmBadOutput, LlmRefused
from app.llm.base import FREE, Form, Judge, Message, Reply, ToolCall, ToolSpec
from app.model.dialogue import DialogueLimits
from app.reasoning.llm.toolbox import Toolbox, schema_of
from app.tools.scope import asked

MAX_ANSWER_CHARS = 100_000
_FENCE = re.compile(r"^(`{3,}|~{3,})[^\n`]*\n(.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL)
_FIRST_KEY = re.compile(r"^[A-Za-z_][\w-]*[ \t]*:(?:[ \t]|$)", re.MULTILINE)

M = TypeVar("M", bound=BaseModel)


class _PlainLoader(yaml.SafeLoader):
    """Safe YAML without aliases: an answer has no use for them and they can explode."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Refuse aliases before they are resolved."""
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not allowed")
        return super().compose_node(parent, index)


def parse_answer(text: str, model: type[M]) -> M:
    """Return the answer as `model`.

    Accepts a fenced block (the last one that is a mapping wins), a bare mapping, and a mapping after a preamble.

    Raises:
        LlmBadOutput: nothing in the text fits; the message says why, short enough to quote back.
    """
    if len(text) > MAX_ANSWER_CHARS:
        raise LlmBadOutput(f"the answer is longer than {MAX_ANSWER_CHARS} characters")
    return checked(_mapping(text), model)


def checked(value: Mapping[str, Any], model: type[M]) -> M:
    """Return the answer as `model`; a field that is null is as good as left out.

    Raises:
        LlmBadOutput: it does not fit; the message says why, short enough to quote back.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        with suppress(ValidationError):
            return model.model_validate(_without_nulls(value))
        lines = [f"{'.'.join(map(str, item['loc'])) or 'answer'}: {item['msg']}" for item in error.errors()[:8]]
        raise LlmBadOutput("; ".join(lines)[:1000]) from error


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(one) for key, one in value.items() if one is not None}
    return [_without_nulls(one) for one in value] if isinstance(value, list) else value


def _mapping(text: str) -> dict[str, Any]:
    """Return the first mapping among the fenced blocks, the last block first, the whole text, and its end."""
    reason = "the answer has no YAML mapping"
    blocks = [body for _, body in reversed(_FENCE.findall(text))]
    first = _FIRST_KEY.search(text)
    for candidate in [*blocks, text, *([text[first.start() :]] if first else [])]:
        try:
            value = yaml.load(candidate, Loader=_PlainLoader)  # noqa: S506 - the loader is a SafeLoader
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            known = getattr(error, "problem", None) or (
                error if type(error) is yaml.YAMLError else type(error).__name__
            )
            line = getattr(getattr(error, "problem_mark", None), "line", None)
            where = "" if line is None else f" in line {line + 1}"
            reason = f"the answer is not YAML: {' '.join(str(known).split())[:200]}{where}"
            continue
        if isinstance(value, dict):
            return value
    raise LlmBadOutput(reason)


_AGAIN = "Answer the same question again, complete and corrected, in the form that was asked for."
A = TypeVar("A", bound=BaseModel)
T = TypeVar("T")


class JudgedChat(Protocol):
    """A chat model that is told which of its replies could not be used."""

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        max_output_tokens: int = 4096,
        form: Form = FREE,
        judge: Judge | None = None,
    ) -> Reply:
        """Ask once, as `ChatModel.complete`; `judge` hears the reply first."""
        ...


class Conversation:
    """One question to a model, with the tools it may use. `answer` is the name of the tool that takes its answer.

    A model that still asks for tools when the rounds of `limits` are over has not answered.
    """

    def __init__(
        self,
        chat: JudgedChat,
        toolbox: Toolbox,
        beginning: Sequence[Message],
        limits: DialogueLimits,
        answer: str = "answer",
    ) -> None:
        self._chat = chat
        self._toolbox = toolbox
        self._messages = list(beginning)
        self._limits = limits
        self._name = answer
        self._turn = 0

    @property
    def heard(self) -> list[str]:
        """Return what the model was sent so far, by people and tools."""
        return [message.content for message in self._messages if message.role in ("user", "tool")]

    async def answer(self, shape: type[A], settle: Callable[[A], Awaitable[T]]) -> T:
        """Return what `settle` makes of the answer; it raises LlmBadOutput when the answer contradicts the facts.

        An answer that cannot be used is quoted back with the reason, once.

        Raises:
            LlmBadOutput: the answer cannot be used, twice. LlmRefused: the model declines.
            BudgetExceeded: too many tool rounds, or the build's budget is used up.
            LlmError: the provider failed.
        """
        found: list[T] = []
        problem: LlmBadOutput | None = None

        async def judge(reply: Reply) -> str:
            nonlocal problem
            if self._wants_tools(reply):
                return ""
            if reply.finish == "refusal":
                return "the language model declines to answer"
            try:
                found.append(await settle(self._read(reply, shape)))
            except LlmBadOutput as error:
                problem = error
                return error.message
            return ""

        reply = await self._next_answer(judge, shape)
        if problem is not None:
            self._object(reply, problem)
            problem = None
            await self._next_answer(judge, shape)
        if problem is not None:
            raise problem
        return found[-1]

    def _answers(self, reply: Reply) -> list[ToolCall]:
        return [call for call in reply.tool_calls if call.name == self._name]

    def _wants_tools(self, reply: Reply) -> bool:
        return bool(reply.tool_calls or reply.bad_arguments) and not self._answers(reply)

    def _read(self, reply: Reply, shape: type[A]) -> A:
        """Return the answer, be it the arguments of its tool or a text.

        Raises:
            LlmBadOutput: it was cut off, or does not fit.
        """
        if reply.finish == "length":
            raise LlmBadOutput("the answer was cut off at the length limit; answer more briefly")
        calls = self._answers(reply)
        return checked(calls[-1].arguments, shape) if calls else parse_answer(reply.text, shape)

    def _object(self, reply: Reply, problem: LlmBadOutput) -> None:
        """Quote an answer back with what is wrong with it."""
        calls = self._answers(reply)[-1:]
        text = f"That answer cannot be used: {problem.message}\n{_AGAIN}"
        said = reply.text or ("" if calls else "(nothing)")
        self._messages.append(Message(role="assistant", content=said, tool_calls=calls))
        if calls:
            self._messages.append(Message(role="tool", tool_call_id=calls[0].id, content=text))
        else:
            self._messages.append(Message(role="user", content=text))

    async def _next_answer(self, judge: Judge, shape: type[BaseModel]) -> Reply:
        """Serve tool calls until a reply asks for none."""
        while True:
            reply = await self._ask(judge, shape)
            if not self._wants_tools(reply):
                return reply
            if self._turn > self._limits.rounds:
                told = f"{self._limits.rounds} tool rounds did not lead to an answer."
                raise BudgetExceeded(told, which="tool_rounds")
            await self._serve(reply)

    async def _ask(self, judge: Judge, shape: type[BaseModel]) -> Reply:
        self._turn += 1
        tools: Literal["auto", "none"] = "auto" if self._turn <= self._limits.rounds else "none"
        form = Form(tools=tools, answer=schema_of(shape), name=self._name)
        with asked(self._turn):
            reply = await self._chat.complete(self._messages, self._toolbox.specs, self._limits.output, form, judge)
        if reply.finish == "refusal":
            raise LlmRefused("the language model declines to answer")
        return reply

    async def _serve(self, reply: Reply) -> None:
        most = self._limits.calls
        calls = reply.tool_calls[:most]
        text = reply.text or ("" if calls else "(a tool call that could not be read)")
        self._messages.append(Message(role="assistant", content=text, tool_calls=calls))
        last = self._turn == self._limits.rounds
        for call in calls:
            with asked(self._turn, call.id):
                result = await self._toolbox.serve(call)
            self._messages.append(Message(role="tool", tool_call_id=call.id, content=result))
        notes = [f"The call {name!r} was not made: {problem}." for _, name, problem in reply.bad_arguments[:most]]
        if len(reply.tool_calls) > most:
            notes.append(f"Only {most} calls are served at a time.")
        if last:
            notes.append("No tool rounds are left. Give your answer now.")
        if notes:
            self._messages.append(Message(role="user", content=" ".join(notes)))
