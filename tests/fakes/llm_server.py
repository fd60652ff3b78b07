"""A language model's service on loopback: real HTTP, scripted answers, and every way of misbehaving.

`LlmServer(script)` speaks both wire formats. The script gets what was asked and returns what to do: say something,
call tools, or one of the faults below.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import yaml

PIECEMEAL = ("decisions", "build", "questions", "facts", "options")
"""Blocks of which only the entries are shown that are new."""

_STEP = re.compile(r"^Step: (\S+)", re.M)
_BLOCK = r"<untrusted (\w+) what='{name}'>\n(.*?)\n</untrusted \1>"


@dataclass(frozen=True)
class Asked:
    """One request: `step` is the prompt's name, `turn` counts the model's own turns before it (0-based)."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.body["messages"])

    @property
    def texts(self) -> list[str]:
        """All texts of the user's side and of tools, in order."""
        return [
            text
            for message in self.messages
            if message["role"] not in ("assistant", "system")
            for text in _texts(message)
        ]

    @property
    def current(self) -> list[dict[str, Any]]:
        """The messages of the step that is asked about: from the last one that names a step."""
        named = [i for i, one in enumerate(self.messages) if any(_STEP.search(text) for text in _texts(one))]
        return self.messages[named[-1] :] if named else self.messages

    @property
    def step(self) -> str:
        found = [_STEP.search(text) for text in _texts(self.current[0])]
        return next((one.group(1) for one in found if one), "")

    @property
    def questions(self) -> list[str]:
        """The questions that this step puts, the one whose turn it is first."""
        found = re.search(r"One entry for each of: (.*?)\.", "\n".join(_texts(self.current[0])))
        return found.group(1).split(", ") if found else []

    @property
    def turn(self) -> int:
        return sum(message["role"] == "assistant" for message in self.current)

    @property
    def tools(self) -> list[str]:
        """The tools that this step has."""
        found = re.search(r"^Tools of this step: (.*?)\.", "\n".join(_texts(self.current[0])), re.M)
        return found.group(1).split(", ") if found else []

    @property
    def offered(self) -> list[str]:
        """All tools that the request lists."""
        return [tool.get("name") or tool["function"]["name"] for tool in self.body.get("tools", [])]

    def block(self, name: str) -> Any:
        """Return an input block's data as of now, None when it was not sent; entries that were shown before hold."""
        text = "\n".join([*_system(self.body), *self.texts])
        shown = [yaml.safe_load(body) for _, body in re.findall(_BLOCK.format(name=re.escape(name)), text, re.S)]
        if shown and name in PIECEMEAL:
            return {key: value for one in shown for key, value in one.items()}
        return shown[-1] if shown else None

    @property
    def results(self) -> list[Any]:
        """The results of tool calls of this step so far, decoded."""
        own = "\n".join(text for message in self.current for text in _texts(message))
        found = re.findall(r"<untrusted (\w+) what='result of [\w-]+'>\n(.*?)\n</untrusted \1>", own, re.S)
        return [json.loads(text) for _, text in found]


def _texts(message: dict[str, Any]) -> list[str]:
    content = message.get("content") or ""
    if isinstance(content, str):
        return [content]
    return [str(block.get("text") or block.get("content") or "") for block in content]


def _system(body: dict[str, Any]) -> list[str]:
    own = [text for message in body["messages"] if message["role"] == "system" for text in _texts(message)]
    return [*own, *(block["text"] for block in body.get("system", []))]


class Reaction:
    """What the server does with a request."""

    async def play(self, asked: Asked, out: asyncio.StreamWriter) -> None:
        raise NotImplementedError


@dataclass
class Say(Reaction):
    """Answer with a text, tool calls, or both; `usage` (input, output) None = none reported."""

    text: str = ""
    calls: list[tuple[str, Any]] = field(default_factory=list)
    usage: tuple[int, int] | None = (1000, 100)
    finish: str | None = None

    async def play(self, asked: Asked, out: asyncio.StreamWriter) -> None:
        anthropic = asked.path.endswith("/messages")
        whole = (_anthropic if anthropic else _openai)(self, asked)
        if not asked.body.get("stream"):
            await send(out, json.dumps(whole).encode())
            return
        events = (_anthropic_events if anthropic else _openai_events)(whole)
        text = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
        await send(out, text.encode(), Content_Type="text/event-stream; charset=utf-8")


@dataclass
class Answer(Say):
    """An answer as a careful model gives it: as the request wants it, by a call, as JSON, or as a fenced mapping."""

    data: dict[str, Any] = field(default_factory=dict)

    async def play(self, asked: Asked, out: asyncio.StreamWriter) -> None:
        named = re.search(r"Answer by calling (\w+);", "\n".join(_texts(asked.current[0])))
        choice = asked.body.get("tool_choice")
        forced = choice in ("required", {"type": "any"}) or (isinstance(choice, dict) and choice["type"] == "tool")
        if forced and named and named.group(1) in asked.offered:
            await Say(calls=[(named.group(1), self.data)], usage=self.usage, finish=self.finish).play(asked, out)
        elif "response_format" in asked.body:
            await Say(json.dumps(self.data), usage=self.usage, finish=self.finish).play(asked, out)
        else:
            await super().play(asked, out)


def answer(data: dict[str, Any], **more: Any) -> Answer:
    """Return an answer; `text` is how it looks where no other form is asked for."""
    return Answer(f"```yaml\n{yaml.safe_dump(data, sort_keys=False)}```", data=data, **more)


def _openai(say: Say, asked: Asked) -> dict[str, Any]:
    calls = [
        {"id": f"call_{asked.turn}_{i}", "type": "function", "function": {"name": n, "arguments": _arguments(a)}}
        for i, (n, a) in enumerate(say.calls)
    ]
    message = {"role": "assistant", "content": say.text or None, **({"tool_calls": calls} if calls else {})}
    finish = say.finish or ("tool_calls" if calls else "stop")
    body: dict[str, Any] = {"model": asked.body["model"], "choices": [{"message": message, "finish_reason": finish}]}
    if say.usage:
        body["usage"] = {"prompt_tokens": say.usage[0], "completion_tokens": say.usage[1]}
    return body


def _arguments(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _anthropic(say: Say, asked: Asked) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": say.text}] if say.text else []
    content += [
        {"type": "tool_use", "id": f"toolu_{asked.turn}_{i}", "name": n, "input": a}
        for i, (n, a) in enumerate(say.calls)
    ]
    stop = say.finish or ("tool_use" if say.calls else "end_turn")
    body = {"type": "message", "model": asked.body["model"], "content": content, "stop_reason": stop}
    if say.usage:
        body["usage"] = {"input_tokens": say.usage[0], "output_tokens": say.usage[1]}
    return body


def _openai_events(whole: dict[str, Any]) -> list[dict[str, Any]]:
    """The answer in pieces: texts and arguments cut in two, usage in a last chunk without choices."""
    choice, model = whole["choices"][0], {"model": whole["model"]}
    text = choice["message"]["content"] or ""
    deltas: list[dict[str, Any]] = [{"content": text[: len(text) // 2]}, {"content": text[len(text) // 2 :]}]
    for index, call in enumerate(choice["message"].get("tool_calls", [])):
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        first = {"name": name, "arguments": arguments[:3]}
        deltas += [
            {"tool_calls": [{"index": index, "id": call["id"], "function": first}]},
            {"tool_calls": [{"index": index, "function": {"arguments": arguments[3:]}}]},
        ]
    chunks = [{**model, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({**model, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]})
    return [*chunks, *([{**model, "choices": [], "usage": whole["usage"]}] if "usage" in whole else [])]


def _anthropic_events(whole: dict[str, Any]) -> list[dict[str, Any]]:
    usage = whole.get("usage", {})
    start = {**whole, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1} if usage else None}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}]
    for index, block in enumerate(whole["content"]):
        tool = block["type"] == "tool_use"
        opened = {**block, "input": {}} if tool else {**block, "text": ""}
        delta = {"partial_json": json.dumps(block["input"])} if tool else {"text": block["text"]}
        events += [
            {"type": "content_block_start", "index": index, "content_block": opened},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    end = {"type": "message_delta", "delta": {"stop_reason": whole["stop_reason"]}}
    return [*events, {**end, **({"usage": {"output_tokens": usage["output_tokens"]}} if usage else {})}]


async def send(out: asyncio.StreamWriter, body: bytes, status: int = 200, **headers: str) -> None:
    """Send a whole answer."""
    own = {name.replace("_", "-"): value for name, value in headers.items()}
    given = {"Content-Type": "application/json", "Content-Length": str(len(body)), **own}
    lines = [f"HTTP/1.1 {status} X", *(f"{name}: {value}" for name, value in given.items())]
    out.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
    await out.drain()


@dataclass
class Status(Reaction):
    """An error status, echoing the request's authorisation as careless services do."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)

    async def play(self, asked: Asked, out: asyncio.StreamWriter) -> None:
        echo = {
            "error": {"message": f"failed for {asked.headers.get('authorization')} {asked.headers.get('x-api-key')}"}
        }
        await send(out, json.dumps(echo).encode(), self.status, **self.headers)


class Hang(Reaction):
    """Nothing at all, not even headers."""

    async def play(self, asked: Asked, out: asyncio.StreamWriter) -> None:
        await asyncio.sleep(3600)


@dataclass
class Drip(Reaction):
    """One byte every `every_s` seconds, for ever."""

    every_s: float

    async def play(self, asked: Asked, out: asyncio.StreamWriter) -> None:
        out.write(b"HTTP/1.1 200 X\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n")
        while True:
            out.write(b" ")
            await out.drain()
            await asyncio.sleep(self.every_s)


class Cut(Reaction):
    """Half of the announced body, then the connection ends."""

    async def play(self, asked: Asked, out: asyncio.StreamWriter) -> None:
        out.write(b'HTTP/1.1 200 X\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n{"choices": [')
        await out.drain()


@dataclass
class Raw(Reaction):
    """Any bytes as a good answer."""

    body: bytes
    headers: dict[str, str] = field(default_factory=dict)

    async def play(self, asked: Asked, out: asyncio.StreamWriter) -> None:
        await send(out, self.body, 200, **self.headers)


@dataclass
class Huge(Reaction):
    """An answer of so many bytes, sent as fast as they are taken."""

    size: int = 50_000_000

    async def play(self, asked: Asked, out: asyncio.StreamWriter) -> None:
        out.write(f"HTTP/1.1 200 X\r\nContent-Type: application/json\r\nContent-Length: {self.size}\r\n\r\n".encode())
        for _ in range(self.size // 65536 + 1):
            out.write(b" " * 65536)
            await out.drain()


def gzip_bomb() -> Raw:
    """A small body that unpacks to 50 MB."""
    return Raw(gzip.compress(b" " * 50_000_000), {"Content_Encoding": "gzip"})


Script = Callable[[Asked], Reaction]


class LlmServer:
    """The service; `requests` are all that came in, in order."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.requests: list[Asked] = []
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> LlmServer:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *exc: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def steps(self) -> list[str]:
        """The steps that were asked about, one entry per request."""
        return [asked.step for asked in self.requests]

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await self._serve(reader, writer)
        self._tasks.discard(task)
        writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (asked := await _read(reader)) is not None:
            self.requests.append(asked)
            reaction = self.script(asked)
            await reaction.play(asked, writer)
            if isinstance(reaction, Cut):
                return


async def _read(reader: asyncio.StreamReader) -> Asked | None:
    first = await reader.readline()
    if not first:
        return None
    headers: dict[str, str] = {}
    while (line := await reader.readline()) not in (b"\r\n", b""):
        name, _, value = line.decode().partition(":")
        headers[name.strip().lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Asked(first.split()[1].decode(), headers, json.loads(body or b"{}"))
