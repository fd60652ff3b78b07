"""The chat port: messages and tools in, one reply out. Adapters speak a provider's wire format."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from decimal import Decimal
from typing import Any, Final, Literal, Protocol

from pydantic import Field

from app.model.base import Model

CHARS_PER_TOKEN: Final = 4
"""A rule of thumb, used where a provider reports no usage and to foresee the size of a request."""


class ToolCall(Model):
    """A call the model wants made; `id` is the provider's and may repeat between replies."""

    id: str
    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class Message(Model):
    """One turn. `tool_call_id` marks a tool's answer; `tool_calls` what an assistant turn asked for."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str = ""
    tool_calls: list[ToolCall] = Field(default_factory=list)
    tool_call_id: str | None = None


class ToolSpec(Model):
    """A tool on offer: `parameters` is a JSON Schema object."""

    name: str
    description: str
    parameters: dict[str, Any]


class Usage(Model):
    """Tokens of one request. `input` includes the cached parts, `output` includes reasoning."""

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0


class Reply(Model):
    """What the model answered. `usage` is None when the provider reported none (unknown, not zero).

    `finish`: stop | tool_calls | length | refusal | other. `bad_arguments` lists tool calls whose arguments were not
    a JSON object: (id, name, what was wrong). `cost_usd`: what the provider says it costs, None where it says nothing.
    """

    text: str = ""
    tool_calls: list[ToolCall] = Field(default_factory=list)
    bad_arguments: list[tuple[str, str, str]] = Field(default_factory=list)
    usage: Usage | None = None
    cost_usd: Decimal | None = None
    model: str = ""
    finish: str = "stop"


class Form(Model):
    """How a reply is to look. `tools` none: the tools stay on offer, so that what was sent before stays a prefix, and
    must not be called. `answer`: a JSON Schema that the answer must fit, None = any text. `name` is what to call it,
    and the name of the tool among those on offer that takes the answer as its arguments, where there is one.

    With `tools` auto the reply is a call, of a tool or of the answer's; with none it is the answer and nothing else.
    """

    tools: Literal["auto", "none"] = "auto"
    answer: dict[str, Any] | None = None
    name: str = "answer"


FREE: Final = Form()
"""Any text, any tool."""

Judge = Callable[[Reply], Awaitable[str]]
"""Says why a reply cannot be used; empty = it can."""


class ChatModel(Protocol):
    """A language model that can call tools."""

    @property
    def provider(self) -> str:
        """Return the wire format: openai or anthropic."""
        ...

    @property
    def model(self) -> str:
        """Return the model name that requests ask for."""
        ...

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        max_output_tokens: int = 4096,
        form: Form = FREE,
    ) -> Reply:
        """Ask once, without retrying.

        Raises:
            LlmUnavailable: refused, 5xx, connection lost. LlmTimeout: the deadline passed. LlmRateLimited: 429.
            LlmRejected: other 4xx or a redirect. LlmBadOutput: the answer is not the provider's format.
        """
        ...


class OuterChat:
    """What a chat model over another one shares with it: the wire format and the name that requests ask for."""

    def __init__(self, inner: ChatModel) -> None:
        self._inner = inner

    @property
    def provider(self) -> str:
        """Return the wire format: openai or anthropic."""
        return self._inner.provider

    @property
    def model(self) -> str:
        """Return the model name that requests ask for."""
        return self._inner.model
