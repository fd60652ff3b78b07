"""One conversation with one engine child: a call goes out as a line, its answer comes back as a line, in time."""

from __future__ import annotations

import asyncio
import json
import math
import time
from typing import Any, NoReturn

from app.core.errors import EngineCrashed, EngineGarbage, EngineHung, EngineRefused, UnknownFact
from app.core.spans import BUSY, SpanKind, span
from app.engine.protocol import INTERNAL, MAX_LINE_BYTES, Answer, Failure
from app.engine.sandbox import is_runnable, resident_bytes
from app.engine.zygote import Child

BIG_BYTES = 100_000
"""From this size on a text is parsed in a thread, so that the event loop goes on."""


MOST_WAITS, STARVED = 4, 0.5
"""How many deadlines a child gets that would work but is kept from it: one that had less than this share of a processor
while it waited for one. A busy machine is no fault of the engine, and its work would be lost."""


class Channel:
    """Calls to one child, one at a time. After any failure the child is dead and every further call fails."""

    def __init__(self, child: Child, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._child = child
        self._reader = reader
        self._writer = writer
        self._calls = 0
        self._open = True

    @classmethod
    async def to(cls, child: Child, max_line_bytes: int = MAX_LINE_BYTES) -> Channel:
        """Open the conversation with a freshly forked child."""
        try:
            reader, writer = await asyncio.open_unix_connection(sock=child.connection, limit=max_line_bytes)
        except BaseException:
            child.close()
            raise
        return cls(child, reader, writer)

    @property
    def is_open(self) -> bool:
        """Whether calls are possible."""
        return self._open

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._child.pid

    def resident_bytes(self) -> int:
        """Return the child's resident memory, pages shared with the zygote included."""
        return resident_bytes(self._child.pid)

    @property
    def is_fresh(self) -> bool:
        """Whether nothing has been asked yet."""
        return self._calls == 0

    async def call(self, op: str, args: dict[str, Any], deadline_s: float) -> tuple[Any, int]:
        """Return the result of one operation as parsed JSON, and the size of the answer in bytes.

        Raises:
            EngineRefused, UnknownFact: the request is wrong; the child stays usable.
            EngineCrashed, EngineHung, EngineGarbage: the child failed and is dead now.
        """
        if not self._open:
            raise EngineCrashed("the engine child is gone")
        self._calls += 1
        try:
            with span(BUSY, SpanKind.ENGINE) as asking:
                before = cpu_ms(self._child.pid)
                line = await self._exchange({"id": self._calls, "op": op, "args": args}, deadline_s)
                asking.add_cpu(cpu_ms(self._child.pid) - before)
            answer = await asyncio.to_thread(parse, line) if len(line) > BIG_BYTES else parse(line)
            if answer.id != self._calls:
                raise EngineGarbage(f"answer {answer.id} to call {self._calls}")
            if answer.error is not None and answer.error.code == INTERNAL:
                raise EngineCrashed(f"{op}: {answer.error.message}")
        except BaseException:
            self.close()  # a late answer must never meet a later call
            raise
        if answer.error is not None:
            raise _refusal(op, answer.error)
        return answer.result, len(line)

    def close(self) -> None:
        """Kill the child and give back its descriptors."""
        if self._open:
            self._open = False
            self._writer.transport.abort()
            self._child.close()

    async def _exchange(self, request: dict[str, Any], deadline_s: float) -> bytes:
        """Send a request and wait for its answer, longer than the deadline only while the machine keeps the child off.

        What has been received of a line is kept when a wait ends, so that the next one goes on with it.
        """
        self._writer.write(json.dumps(request, allow_nan=False).encode() + b"\n")
        waits = 1
        while True:
            before = cpu_ms(self._child.pid)
            try:
                async with asyncio.timeout(deadline_s):
                    await self._writer.drain()
                    return await self._reader.readuntil(b"\n")
            except TimeoutError as exc:
                used_s = (cpu_ms(self._child.pid) - before) / 1000
                kept_off = used_s < STARVED * deadline_s and is_runnable(self._child.pid)
                if not kept_off or waits == MOST_WAITS:
                    raise EngineHung(f"{request['op']}: no answer within {waits * deadline_s:g} s") from exc
                waits += 1
            except asyncio.LimitOverrunError as exc:
                raise EngineGarbage(f"{request['op']}: the answer is too long") from exc
            except (asyncio.IncompleteReadError, ConnectionError) as exc:
                raise EngineCrashed(f"{request['op']}: the engine child ended") from exc


def cpu_ms(pid: int) -> float:
    """Return the processor time that a process has used; 0 when it is gone.

    Its clock is asked for by number, as clock_getcpuclockid(3) makes it on Linux.
    """
    try:
        return time.clock_gettime((~pid << 3) | 2) * 1000
    except OSError:
        return 0.0


def parse(line: bytes) -> Answer:
    """Read an answer line strictly: numbers must be finite, fields must be ours.

    Raises:
        EngineGarbage: the line is not an answer.
    """
    try:
        data = json.loads(line, parse_constant=_not_finite, parse_float=_finite)
        answer = Answer.model_validate(data, strict=True)
    except (ValueError, RecursionError) as exc:
        raise EngineGarbage(f"not an answer: {line[:80]!r}") from exc
    if answer.ok == (answer.error is not None):
        raise EngineGarbage("an answer needs either a result or an error")
    return answer


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _not_finite(text)


def _not_finite(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a finite number")


def _refusal(op: str, error: Failure) -> EngineRefused | UnknownFact:
    kind = UnknownFact if error.code == UnknownFact.code else EngineRefused
    return kind(f"{op}: {error.message}", reason=error.code)
