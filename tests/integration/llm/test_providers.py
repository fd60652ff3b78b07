"""What four servers that speak OpenAI's format do differently, as their published documents say (docs/llm.md).

Every exchange was written from those documents; none was recorded.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import Any, ClassVar

import pytest

from app.core.errors import LlmRateLimited, LlmRejected, LlmTimeout, LlmUnavailable
from app.llm.base import Form, Message, Reply, ToolCall, ToolSpec, Usage
from app.llm.chat import HttpChatModel
from tests.fakes.llm_server import Asked, LlmServer, Raw, Reaction, send

ASK = [Message(role="system", content="rules"), Message(role="user", content="which skill?")]
TOOL = ToolSpec(name="search_gems", description="find gems", parameters={"type": "object", "properties": {}})
SCHEMA = {"type": "object", "properties": {"skill": {"type": "string"}}, "required": ["skill"]}
BOUND = Form(tools="none", answer=SCHEMA, name="answer_explore")
CALLED = Form(answer=SCHEMA, name="answer_explore")
SPARK = '{"skill": "Spark"}'


class Refuse(Reaction):
    """An error status with a body."""

    def __init__(self, status: int, body: object, **headers: str) -> None:
        self.status, self.body, self.headers = status, body, headers

    async def play(self, asked: Asked, out: asyncio.StreamWriter) -> None:
        await send(out, json.dumps(self.body).encode(), self.status, **self.headers)


def told(body: object) -> Raw:
    return Raw(json.dumps(body).encode())


def streamed(*lines: object) -> Raw:
    """Events of JSON, and comments as they are."""
    texts = [line if isinstance(line, str) else f"data: {json.dumps(line)}" for line in lines]
    return Raw("\n\n".join([*texts, "data: [DONE]", ""]).encode(), {"Content_Type": "text/event-stream"})


def chat(message: dict[str, Any], finish: str = "stop", **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return {"id": "chatcmpl-1", "object": "chat.completion", "model": "m", "choices": [choice], **more}


def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "m", "choices": [choice], **more}


def call(name: str, arguments: object, **more: Any) -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": "call_1", "type": "function", "function": {"name": name, "arguments": text}, **more}


@asynccontextmanager
async def served(
    react: Callable[[Asked], Reaction] | Reaction, stream: bool = False
) -> AsyncIterator[tuple[LlmServer, HttpChatModel]]:
    async with LlmServer(react if callable(react) else lambda _: react) as server:
        base = f"{server.url}/api/v1"
        model = HttpChatModel("openai", "m", key="sk-or-key-1234", base_url=base, timeout_s=5, stream=stream)
        try:
            yield server, model
        finally:
            await model.close()


async def said(react: Callable[[Asked], Reaction] | Reaction, stream: bool = False, **more: Any) -> Reply:
    async with served(react, stream) as (_, model):
        return await model.complete(ASK, **more)


class TestOpenRouter:
    """Many models behind one address: what it costs is in every answer, and failures can come with status 200."""

    USAGE: ClassVar[dict[str, Any]] = {
        "prompt_tokens": 194,
        "completion_tokens": 12,
        "total_tokens": 206,
        "cost": 0.00095,
        "cost_details": {"upstream_inference_cost": None},
        "prompt_tokens_details": {"cached_tokens": 90, "cache_write_tokens": 100, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 8},
    }

    async def test_an_answer_by_schema_with_its_cost(self) -> None:
        thought = {"reasoning": "Spark, then.", "reasoning_details": [{"type": "reasoning.text", "text": "Spark."}]}
        body = chat({"content": SPARK, "refusal": None, **thought}, native_finish_reason="end_turn", usage=self.USAGE)
        async with served(told({**body, "provider": "Anthropic"})) as (server, model):
            reply = await model.complete(ASK, [TOOL], form=BOUND)
            (asked,) = server.requests
        assert asked.body["response_format"]["json_schema"]["strict"] is True
        assert asked.headers["authorization"] == "Bearer sk-or-key-1234"
        assert reply.text == SPARK
        assert reply.cost_usd == Decimal("0.00095")
        assert reply.usage == Usage(input=194, cache_read=90, cache_write=100, output=12, reasoning=8)

    async def test_a_stream_with_comments_and_usage_at_its_end(self) -> None:
        lines = (
            ": OPENROUTER PROCESSING",
            chunk({"role": "assistant", "content": "", "reasoning": "Hm."}),
            ": OPENROUTER PROCESSING",
            chunk({"content": '{"skill": '}),
            chunk({"content": '"Spark"}'}, "stop"),
            {"id": "chatcmpl-1", "model": "m", "choices": [], "usage": self.USAGE},
        )
        reply = await said(streamed(*lines), stream=True)
        assert (reply.text, reply.cost_usd) == (SPARK, Decimal("0.00095"))

    @pytest.mark.parametrize("stream", [False, True])
    @pytest.mark.parametrize(
        ("code", "kind"),
        [(429, LlmRateLimited), (502, LlmUnavailable), (408, LlmTimeout), (403, LlmRejected), ("oops", LlmUnavailable)],
    )
    async def test_a_failure_after_the_model_began(self, code: object, kind: type[Exception], stream: bool) -> None:
        error = {"code": code, "message": "Provider disconnected", "metadata": {"provider_name": "x"}}
        whole = told({"error": error, "user_id": "u"})
        middle = streamed(chunk({"content": '{"sk'}), {**chunk({"content": ""}, "error"), "error": error})
        with pytest.raises(kind):
            await said(middle if stream else whole, stream)
        choice = {"error": error, "finish_reason": "error", "message": {"role": "assistant", "content": ""}}
        with pytest.raises(kind):
            await said(told({"model": "m", "choices": [choice]}))

    async def test_no_credit_is_final_and_a_wait_is_kept(self) -> None:
        with pytest.raises(LlmRejected, match="402"):
            await said(Refuse(402, {"error": {"code": 402, "message": "Insufficient credits"}}))
        with pytest.raises(LlmUnavailable) as caught:
            await said(Refuse(503, {"error": {"code": 503, "message": "No provider"}}, Retry_After="7"))
        assert caught.value.details["retry_after_s"] == 7.0


class TestVllm:
    """Tools only where the server was started with a parser for them; details of usage only where that was asked."""

    async def test_a_call_with_its_reasoning_beside_it(self) -> None:
        message = {"content": None, "reasoning": "Look first.", "tool_calls": [call("search_gems", {"query": "spark"})]}
        usage = {"prompt_tokens": 24, "total_tokens": 97, "completion_tokens": 73, "prompt_tokens_details": None}
        async with served(told(chat(message, "tool_calls", usage=usage))) as (server, model):
            reply = await model.complete(ASK, [TOOL], form=CALLED)
            assert server.requests[0].body["tool_choice"] == "required"
        assert reply.tool_calls == [ToolCall(id="call_1", name="search_gems", arguments={"query": "spark"})]
        assert reply.usage == Usage(input=24, output=73)

    async def test_cached_tokens_where_the_server_tells_them(self) -> None:
        usage = {"prompt_tokens": 3617, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 1600}}
        reply = await said(told(chat({"content": SPARK, "reasoning_content": "old name"}, usage=usage)))
        assert reply.usage is not None
        assert (reply.usage.cache_read, reply.text) == (1600, SPARK)

    @pytest.mark.parametrize("nested", [False, True], ids=["up to 0.10", "later"])
    async def test_without_a_parser_it_is_asked_without_tools_from_then_on(self, nested: bool) -> None:
        def react(asked: Asked) -> Reaction:
            if "tools" not in asked.body:
                return told(chat({"content": SPARK}))
            wanted = asked.body.get("tool_choice", "auto")
            words = f'"{wanted}" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
            error = {"message": words, "type": "BadRequestError", "param": None, "code": 400}
            return Refuse(400, {"error": error} if nested else {"object": "error", **error})

        async with served(react) as (server, model):
            assert (await model.complete(ASK, [TOOL], form=CALLED)).text == SPARK
            assert "response_format" in server.requests[-1].body
            before = len(server.requests)
            assert (await model.complete(ASK, [TOOL], form=CALLED)).text == SPARK
            assert len(server.requests) == before + 1

    async def test_a_prompt_that_is_too_long_is_final(self) -> None:
        words = "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens."
        error = {"object": "error", "message": words, "type": "BadRequestError", "param": None, "code": 400}
        with pytest.raises(LlmRejected, match="maximum context length"):
            await said(Refuse(400, error))
        with pytest.raises(LlmRejected, match="maximum context length"):
            await said(streamed(error), stream=True)

    async def test_usage_comes_last_in_a_stream_and_only_when_asked_for(self) -> None:
        lines = (
            chunk({"role": "assistant", "content": ""}),
            chunk({"reasoning": "Hm."}),
            chunk({"tool_calls": [{"index": 0, **call("search_gems", "")}]}),
            chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"query": '}}]}),
            chunk({"tool_calls": [{"index": 0, "function": {"arguments": '"spark"}'}}]}, "tool_calls"),
            {"object": "chat.completion.chunk", "choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4}},
        )
        async with served(streamed(*lines), stream=True) as (server, model):
            reply = await model.complete(ASK, [TOOL])
            assert server.requests[0].body["stream_options"] == {"include_usage": True}
        assert reply.tool_calls[0].arguments == {"query": "spark"}
        assert reply.usage == Usage(input=9, output=4)


class TestLlamaCpp:
    """One model in memory: a schema becomes a grammar, tools need a template, and loading takes a while."""

    async def test_an_answer_with_timings_and_what_its_cache_held(self) -> None:
        usage = {"completion_tokens": 48, "prompt_tokens": 440, "prompt_tokens_details": {"cached_tokens": 236}}
        timings = {"cache_n": 236, "prompt_n": 204, "predicted_n": 48, "predicted_per_second": 52.9}
        message = {"content": SPARK, "reasoning_content": "Spark it is."}
        body = chat(message, usage=usage, timings=timings, system_fingerprint="b6000")
        reply = await said(told(body), tools=[TOOL], form=BOUND)
        assert reply.text == SPARK
        assert reply.usage == Usage(input=440, cache_read=236, output=48)

    async def test_a_schema_that_is_no_grammar_is_left_out_and_then_the_tools(self) -> None:
        def react(asked: Asked) -> Reaction:
            if "response_format" in asked.body or "tools" in asked.body:
                words = "Failed to initialize samplers: failed to parse grammar"
                return Refuse(400, {"error": {"code": 400, "message": words, "type": "invalid_request_error"}})
            return told(chat({"content": SPARK}))

        async with served(react) as (server, model):
            assert (await model.complete(ASK, [TOOL], form=BOUND)).text == SPARK
            sent = [("response_format" in asked.body, "tools" in asked.body) for asked in server.requests]
        assert sent == [(True, True), (False, True), (False, False)]

    async def test_tools_without_a_template_are_an_error_of_the_server(self) -> None:
        def react(asked: Asked) -> Reaction:
            if "tools" in asked.body:
                error = {"code": 500, "message": "tools param requires --jinja flag", "type": "server_error"}
                return Refuse(500, {"error": error})
            return told(chat({"content": SPARK}))

        assert (await said(react, tools=[TOOL], form=CALLED)).text == SPARK

    async def test_a_model_that_is_being_loaded_can_be_asked_again(self) -> None:
        error = {"code": 503, "message": "Loading model", "type": "unavailable_error"}
        with pytest.raises(LlmUnavailable, match="Loading model") as caught:
            await said(Refuse(503, {"error": error}))
        assert caught.value.retryable

    async def test_a_prompt_that_is_too_long_is_final(self) -> None:
        words = "the request exceeds the available context size, try increasing it"
        error = {"code": 400, "message": words, "type": "exceed_context_size_error", "n_ctx": 4096}
        with pytest.raises(LlmRejected, match="available context size"):
            await said(Refuse(400, {"error": error}))


class TestOllama:
    """No `tool_choice`, calls that come whole, and errors that can be a bare text."""

    async def test_a_demand_for_a_call_that_is_ignored_still_gives_an_answer(self) -> None:
        usage = {"prompt_tokens": 257, "completion_tokens": 63, "total_tokens": 320}
        body = chat({"content": SPARK, "reasoning": "Hm."}, usage=usage, system_fingerprint="fp_ollama")
        reply = await said(told(body), tools=[TOOL], form=CALLED)
        assert (reply.text, reply.tool_calls) == (SPARK, [])
        assert reply.usage == Usage(input=257, output=63)

    async def test_whole_calls_in_a_stream_are_told_apart_by_their_ids(self) -> None:
        one, two = call("search_gems", {"query": "spark"}), call("search_gems", {"query": "arc"}, id="call_2")
        lines = (
            chunk({"role": "assistant", "content": "", "tool_calls": [one]}),
            chunk({"role": "assistant", "content": "", "tool_calls": [two]}),
            chunk({"role": "assistant", "content": ""}, "tool_calls"),
        )
        reply = await said(streamed(*lines), stream=True, tools=[TOOL])
        assert [(c.id, c.arguments) for c in reply.tool_calls] == [
            ("call_1", {"query": "spark"}),
            ("call_2", {"query": "arc"}),
        ]
        assert reply.usage is None, "unknown, not zero"

    async def test_a_model_without_tools_is_asked_without(self) -> None:
        def react(asked: Asked) -> Reaction:
            if "tools" in asked.body:
                words = "registry.ollama.ai/library/gemma3:4b does not support tools"
                return Refuse(400, {"error": {"message": words, "type": "api_error", "param": None, "code": None}})
            return told(chat({"content": SPARK}))

        assert (await said(react, tools=[TOOL], form=CALLED)).text == SPARK

    async def test_an_error_in_the_middle_of_a_stream(self) -> None:
        broken = {"error": "an error was encountered while running the model"}
        with pytest.raises(LlmUnavailable, match="while running the model"):
            await said(streamed(chunk({"content": "Sp"}), broken), stream=True)

    async def test_a_model_that_is_not_there_is_final(self) -> None:
        error = {"message": 'model "m" not found, try pulling it first', "type": "api_error", "code": None}
        with pytest.raises(LlmRejected, match="not found"):
            await said(Refuse(404, {"error": error}))


@pytest.mark.parametrize(
    ("kind", "error"),
    [("overloaded_error", LlmUnavailable), ("rate_limit_error", LlmRateLimited), ("permission_error", LlmRejected)],
)
async def test_anthropics_format_tells_failures_in_a_stream_too(kind: str, error: type[Exception]) -> None:
    start = {"type": "message_start", "message": {"type": "message", "model": "m", "content": []}}
    broken = {"type": "error", "error": {"type": kind, "message": "Overloaded"}}
    async with LlmServer(lambda _: streamed(start, broken)) as server:
        model = HttpChatModel("anthropic", "m", key=None, base_url=server.url, timeout_s=5, stream=True)
        try:
            with pytest.raises(error):
                await model.complete(ASK)
        finally:
            await model.close()
