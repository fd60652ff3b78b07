"""Talking to a model until it has answered one question: tool rounds, one repair, and bounds on all of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar

from pydantic import BaseModel

from app.core.errors import BudgetExceeded, LlmBadOutput, LlmRefused
from app.llm.base import ChatModel, Message, Reply
from app.reasoning.answers import parse_answer
from app.reasoning.llm.toolbox import Toolbox
from app.tools.scope import asked

MOST_ROUNDS: Final = 10
"""Tool rounds per question; a model that still asks for tools then has not answered."""

MOST_CALLS: Final = 8
"""Tool calls that are served per round."""

MAX_OUTPUT_TOKENS: Final = 8192

A = TypeVar("A", bound=BaseModel)
T = TypeVar("T")


class Conversation:
    """One question to a model, with the tools it may use."""

    def __init__(self, chat: ChatModel, toolbox: Toolbox, briefing: Sequence[Message]) -> None:
        self._chat = chat
        self._toolbox = toolbox
        self._messages = list(briefing)
        self._turn = 0

    async def answer(self, shape: type[A], settle: Callable[[A], Awaitable[T]]) -> T:
        """Return what `settle` makes of the answer; it raises LlmBadOutput when the answer contradicts the facts.

        An answer that cannot be used is quoted back with the reason, once.

        Raises:
            LlmBadOutput: the answer cannot be used, twice. LlmRefused: the model declines.
            BudgetExceeded: too many tool rounds, or the build's budget is used up.
            LlmError: the provider failed.
        """
        reply = await self._next_answer()
        try:
            return await settle(parse_answer(_text(reply), shape))
        except LlmBadOutput as problem:
            self._say(reply, _repair(problem.message))
        return await settle(parse_answer(_text(await self._next_answer()), shape))

    async def _next_answer(self) -> Reply:
        """Serve tool calls until a reply asks for none."""
        while True:
            reply = await self._ask()
            if not (reply.tool_calls or reply.bad_arguments):
                return reply
            if self._turn > MOST_ROUNDS:
                raise BudgetExceeded(f"{MOST_ROUNDS} tool rounds did not lead to an answer.", which="tool_rounds")
            await self._serve(reply)

    async def _ask(self) -> Reply:
        self._turn += 1
        with asked(self._turn):
            reply = await self._chat.complete(self._messages, self._toolbox.specs, MAX_OUTPUT_TOKENS)
        if reply.finish == "refusal":
            raise LlmRefused("the language model declines to answer")
        return reply

    async def _serve(self, reply: Reply) -> None:
        calls = reply.tool_calls[:MOST_CALLS]
        text = reply.text or ("" if calls else "(a tool call that could not be read)")
        self._messages.append(Message(role="assistant", content=text, tool_calls=calls))
        last = self._turn == MOST_ROUNDS
        for call in calls:
            with asked(self._turn, call.id):
                result = await self._toolbox.serve(call)
            self._messages.append(Message(role="tool", tool_call_id=call.id, content=result))
        notes = [f"The call {name!r} was not made: {problem}." for _, name, problem in reply.bad_arguments[:MOST_CALLS]]
        if len(reply.tool_calls) > MOST_CALLS:
            notes.append(f"Only {MOST_CALLS} calls are served at a time.")
        if last:
            notes.append("No tool rounds are left. Give your answer now.")
        if notes:
            self._messages.append(Message(role="user", content=" ".join(notes)))

    def _say(self, reply: Reply, text: str) -> None:
        self._messages.append(Message(role="assistant", content=reply.text or "(nothing)"))
        self._messages.append(Message(role="user", content=text))


def _text(reply: Reply) -> str:
    """Return the answer's text.

    Raises:
        LlmBadOutput: it was cut off.
    """
    if reply.finish == "length":
        raise LlmBadOutput("the answer was cut off at the length limit; answer more briefly")
    return reply.text


def _repair(problem: str) -> str:
    return (
        f"That answer cannot be used: {problem}\n"
        "Answer the same question again, complete and corrected, as one YAML mapping in the form that was asked for."
    )
