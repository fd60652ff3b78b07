"""The ChatModel over HTTP: a wire format plus a bounded client."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, Protocol

from pydantic import ValidationError

from app.core.errors import LlmBadOutput, LlmRejected, LlmUnavailable
from app.llm import anthropic, openai
from app.llm.addresses import AddressRule
from app.llm.base import FREE, Form, Message, Reply, ToolSpec
from app.llm.http import JsonClient, failed

ProviderName = Literal["openai", "anthropic"]


class WireFormat(Protocol):
    """What a provider's module offers."""

    PATH: str
    STREAMING: dict[str, Any]

    def headers(self, key: str | None) -> dict[str, str]:
        """Return the headers that authorise a request."""
        ...

    def body(
        self,
        model: str,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        max_output_tokens: int,
        form: Form = FREE,
    ) -> dict[str, Any]:
        """Return the request body."""
        ...

    def adapted(self, request: dict[str, Any], complaint: str) -> dict[str, Any] | None:
        """Return the request without what a service complains about, None when there is nothing to change."""
        ...

    def failure(self, payload: object) -> tuple[int, str] | None:
        """Return status and words of an error that came with a good status, None where there is none."""
        ...

    def joined(self, events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the answer that the events of a streamed one make."""
        ...

    def reply(self, payload: object) -> Reply:
        """Read an answer."""
        ...


FORMATS: Final[dict[ProviderName, WireFormat]] = {"openai": openai, "anthropic": anthropic}
DEFAULT_BASE_URLS: Final[dict[ProviderName, str]] = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
}


NO_TOOLS: Final = (
    "does not support tools",  # Ollama: the model has no template for them
    "--tool-call-parser",  # vLLM: the server was started without one
    "requires --jinja",  # llama.cpp: the same, told as an error of the server
    "parse grammar",  # llama.cpp: the schemas of all tools are too much for it
)
"""What servers say where a model cannot call any of the tools; it is asked without from then on."""


class HttpChatModel:
    """One model at one provider. `timeout_s` bounds a whole request in seconds; `stream` asks for events.

    A streamed answer keeps the connection busy while the model thinks, which some gateways insist on.
    """

    def __init__(
        self,
        provider: ProviderName,
        model: str,
        *,
        key: str | None,
        base_url: str | None,
        timeout_s: float,
        stream: bool = False,
        rule: AddressRule | None = None,
    ) -> None:
        self._stream = stream
        self._provider: ProviderName = provider
        self._model = model
        self._format = FORMATS[provider]
        self._complaints: list[str] = []
        self._without_tools = False
        address = base_url or DEFAULT_BASE_URLS[provider]
        self._client = JsonClient(address, self._format.headers(key), timeout_s, rule=rule)

    @property
    def provider(self) -> str:
        """Return the wire format: openai or anthropic."""
        return self._provider

    @property
    def model(self) -> str:
        """Return the model name that requests ask for."""
        return self._model

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        max_output_tokens: int = 4096,
        form: Form = FREE,
    ) -> Reply:
        """Ask once, without retrying; errors as in `ChatModel.complete`."""
        offered = () if self._without_tools else tools
        body = self._format.body(self._model, messages, offered, max_output_tokens, form)
        if self._stream:
            body |= self._format.STREAMING
        try:
            payload = await self._post(body)
        except (LlmRejected, LlmUnavailable) as error:
            if not offered or not any(words in error.message for words in NO_TOOLS):
                raise
            self._without_tools = True
            return await self.complete(messages, (), max_output_tokens, form)
        if (failure := self._format.failure(payload)) is not None:
            raise failed(*failure)
        try:
            return self._format.reply(self._format.joined(payload) if isinstance(payload, list) else payload)
        except (ValidationError, AttributeError, KeyError, TypeError) as error:
            raise LlmBadOutput(f"the answer is not in the {self._provider} format") from error

    async def _post(self, body: dict[str, Any]) -> Any:
        """Post; what an earlier request was refused for is left out from the start."""
        for complaint in self._complaints:
            body = self._format.adapted(body, complaint) or body
        try:
            return await self._client.post(self._format.PATH, body)
        except LlmRejected as error:
            smaller = self._format.adapted(body, error.message)
            if smaller is None:
                raise
            self._complaints.append(error.message)
            return await self._post(smaller)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()
