"""Services that want the same request said differently."""

from __future__ import annotations

import asyncio
import json

import pytest

from app.core.errors import LlmBadOutput, LlmRejected
from app.llm.base import Form, Message, ToolSpec
from app.llm.chat import HttpChatModel, ProviderName
from tests.fakes.llm_server import Asked, LlmServer, Raw, Reaction, Say, send

ASK = [Message(role="user", content="hi")]


class Complain(Reaction):
    """Refuse a request with a sentence about one of its fields."""

    def __init__(self, sentence: str) -> None:
        self.sentence = sentence

    async def play(self, asked: Asked, out: asyncio.StreamWriter) -> None:
        await send(out, json.dumps({"error": {"message": self.sentence}}).encode(), 400)


def picky(asked: Asked) -> Reaction:
    if "max_tokens" in asked.body:
        return Complain("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
    if "temperature" in asked.body:
        return Complain("Unsupported value: 'temperature' does not support 0 with this model.")
    return Say("hello")


def model(server: LlmServer) -> HttpChatModel:
    return HttpChatModel("openai", "m", key=None, base_url=f"{server.url}/v1", timeout_s=5)


async def test_what_a_model_does_not_take_is_left_out_from_then_on() -> None:
    async with LlmServer(picky) as server:
        chat = model(server)
        assert (await chat.complete(ASK)).text == "hello"
        assert len(server.requests) == 3
        assert (await chat.complete(ASK)).text == "hello"
        assert len(server.requests) == 4
        assert server.requests[-1].body["max_completion_tokens"] == 4096
        await chat.close()


def old_server(asked: Asked) -> Reaction:
    """Know neither JSON Schema nor a tool that must be called; say so as such servers do."""
    if "response_format" in asked.body:
        return Complain("response_format.type: must be one of text, json_object")
    if asked.body.get("tool_choice") == "required":
        return Complain("tool_choice 'required' is not supported by this server")
    return Say("skill: Spark")


async def test_what_a_server_can_do_is_found_out_once() -> None:
    """Two requests are refused in all, whatever is asked afterwards; then the answer comes as text."""
    tool = ToolSpec(name="answer_x", description="the answer", parameters={"type": "object"})
    must = Form(tools="none", answer={"type": "object", "properties": {}}, name="answer_x")
    async with LlmServer(old_server) as server:
        chat = model(server)
        for form in (must, Form(answer={}, name="answer_x"), must, Form(answer={}, name="answer_x"), must):
            assert (await chat.complete(ASK, [tool], form=form)).text == "skill: Spark"
        await chat.close()
    assert len(server.requests) == 5 + 2
    assert all("response_format" not in asked.body for asked in server.requests[1:])
    assert [asked.body.get("tool_choice") for asked in server.requests] == ["none", "none", "required", *[None] * 4]


def toolless(asked: Asked) -> Reaction:
    """Refuse tools, as Ollama does for a model that was not made for them."""
    return Complain("registry.ollama.ai/library/tiny does not support tools") if "tools" in asked.body else Say("{}")


async def test_a_model_without_tools_is_asked_without_them_and_bound_to_the_schema() -> None:
    tool = ToolSpec(name="answer_x", description="the answer", parameters={"type": "object"})
    async with LlmServer(toolless) as server:
        chat = model(server)
        for _ in range(3):
            assert (
                await chat.complete(ASK, [tool], form=Form(answer={"type": "object"}, name="answer_x"))
            ).text == "{}"
        await chat.close()
    assert ["tools" in asked.body for asked in server.requests] == [True, False, False, False]
    assert all("response_format" in asked.body for asked in server.requests[1:])


async def test_other_complaints_are_final() -> None:
    async with LlmServer(lambda _: Complain("no such model")) as server:
        chat = model(server)
        with pytest.raises(LlmRejected):
            await chat.complete(ASK)
        assert len(server.requests) == 1
        await chat.close()


async def test_a_complaint_that_does_not_end_is_final() -> None:
    async with LlmServer(lambda _: Complain("temperature, max_completion_tokens")) as server:
        chat = model(server)
        with pytest.raises(LlmRejected):
            await chat.complete(ASK)
        assert len(server.requests) == 2
        await chat.close()


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize(
    "said",
    [
        Say("skill: Spark"),
        Say("first", calls=[("search_gems", {"query": "spark"}), ("search_runes", {})]),
        Say("no usage", usage=None),
        Say("cut", finish="length"),
        Say(""),
    ],
    ids=lambda said: said.text or "nothing",
)
async def test_a_streamed_answer_is_the_same_as_one_in_a_piece(provider: ProviderName, said: Say) -> None:
    async with LlmServer(lambda _: said) as server:
        base = f"{server.url}/v1" if provider == "openai" else server.url
        replies = []
        for stream in (False, True):
            chat = HttpChatModel(provider, "m", key=None, base_url=base, timeout_s=5, stream=stream)
            replies.append(await chat.complete(ASK))
            await chat.close()
        assert replies[0] == replies[1]
        assert [asked.body.get("stream", False) for asked in server.requests] == [False, True]


@pytest.mark.parametrize("body", [b"data: {oops\n\n", b"data: [1]\n\n", b"data: 7\n\n", b"", b": nothing\n\n"])
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_a_stream_of_nonsense_is_a_bad_answer(provider: ProviderName, body: bytes) -> None:
    async with LlmServer(lambda _: Raw(body, {"Content_Type": "text/event-stream"})) as server:
        chat = HttpChatModel(provider, "m", key=None, base_url=server.url, timeout_s=5, stream=True)
        with pytest.raises(LlmBadOutput):
            await chat.complete(ASK)
        await chat.close()
