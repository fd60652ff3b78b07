"""A session that outlives its child: it knows what the build is, and tells a fresh child after a failure."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import FiniteFloat, TypeAdapter, ValidationError

from app.core.errors import BadImport, EngineError, EngineGarbage, EngineRefused
from app.core.spans import QUEUING, SpanKind, span
from app.engine.channel import BIG_BYTES, Channel
from app.engine.files.xml import canonical
from app.model.base import Model, changed
from app.model.blueprint import Allocate, Blueprint, Change, Deallocate, apply_changes, condensed
from app.model.stats import BuildReport, Inspection, Stats

T = TypeVar("T")
Outputs = dict[str, float]
_OUTPUTS = TypeAdapter(list[dict[str, FiniteFloat]])
_BLUEPRINT = TypeAdapter(Blueprint)
_TEXT = TypeAdapter(str)
_REPORT = TypeAdapter(BuildReport)
_STATS = TypeAdapter(Stats)
_INSPECTION = TypeAdapter(Inspection)


@dataclass(frozen=True)
class SessionLimits:
    """Bounds on one child: seconds per call, extra seconds per what-if candidate, candidates per call, memory."""

    call_deadline_s: float = 60.0
    candidate_deadline_s: float = 0.25
    chunk: int = 200
    memory_bytes: int = 1_500_000_000


@dataclass
class _Truth:
    """How to bring a fresh child to the current build: what was loaded, then the changes not folded into it.

    `dropped` are passives of the blueprint that the engine did not take; later changes must not revive them.
    `ends_in_passives`: the last batch changes passives alone, and more of that kind is folded into it, because a search
    on a file commits thousands of trees, which a fresh child had to go through one by one.
    """

    base: Blueprint | bytes | None = None
    dropped: list[int] = field(default_factory=list)
    batches: list[list[Change]] = field(default_factory=list)
    ends_in_passives: bool = False

    def commit(self, changes: Sequence[Change], report: BuildReport) -> None:
        """Note committed changes; only those that worked out as written may be folded into the blueprint."""
        if not isinstance(self.base, Blueprint) or self.batches or report.problems:
            self._append(changes, report)
            return
        try:
            gone, now_gone = Deallocate(nodes=self.dropped), Deallocate(nodes=report.dropped_nodes)
            self.base = apply_changes(self.base, [gone, *changes, now_gone])
            self.dropped = []
        except IndexError:  # a group that is not there, which the engine let pass: it will let it pass again
            self._append(changes, report)

    def _append(self, changes: Sequence[Change], report: BuildReport) -> None:
        passives = _passives(changes)
        if report.problems or len(passives) < len(changes):
            self.batches.append(list(changes))
            self.ends_in_passives = False
            return
        before = self.batches.pop() if self.ends_in_passives else []
        every = [*_passives(before), *passives, Deallocate(nodes=report.dropped_nodes)]
        self.batches.append([*condensed(every)])
        self.ends_in_passives = True


def _passives(changes: Sequence[Change]) -> list[Allocate | Deallocate]:
    return [change for change in changes if isinstance(change, Allocate | Deallocate)]


class ProcessSession:
    """A build in a child process; implements `Session`.

    A failed call raises its typed error and leaves the session without a child. The next call opens a fresh one,
    brings it to the same build and goes on, so repeating a failed call is all that a caller has to do.
    """

    def __init__(self, open_channel: Callable[[], Awaitable[Channel]], limits: SessionLimits) -> None:
        self._open_channel = open_channel
        self._limits = limits
        self._channel: Channel | None = None
        self._truth = _Truth()
        self._lock = asyncio.Lock()
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The child's process id, None while there is none."""
        return self._channel.pid if self._channel is not None and self._channel.is_open else None

    async def build(self, blueprint: Blueprint) -> BuildReport:
        """Load the blueprint, replacing what was there."""
        async with self._turn(), self._fresh() as channel:
            report = await self._build(channel, blueprint)
            self._truth = _Truth(blueprint, report.dropped_nodes)
            return report

    async def load(self, xml: bytes) -> BuildReport:
        """Load a PoB XML file of at most 1 MB, replacing what was there.

        Raises:
            EngineRefused: it is not a build that the engine can load.
        """
        try:
            clean = await asyncio.to_thread(canonical, xml)
        except BadImport as exc:
            raise EngineRefused(exc.message) from exc
        async with self._turn(), self._fresh() as channel:
            report = await self._load(channel, clean)
            self._truth = _Truth(clean)
            return report

    async def apply(self, changes: Sequence[Change], metrics: Sequence[str] = ()) -> BuildReport:
        """Commit the changes in order; with `metrics`, the report holds those of the build as it is then."""
        async with self._turn():
            channel = await self._ready()
            report = await self._apply(channel, changes)
            if metrics:
                try:
                    (outputs,) = await self._what_if(channel, [[]], metrics)
                except BaseException:
                    channel.close()  # it holds what is not committed: whoever asks again must find the build before
                    raise
                report = changed(report, outputs=outputs)
            self._truth.commit(changes, report)
            return report

    async def what_if(self, candidates: Sequence[Sequence[Change]], metrics: Sequence[str]) -> list[Outputs]:
        """Return the metrics of each candidate, in order, keeping none of them; long lists are asked in parts."""
        async with self._turn():
            outputs: list[Outputs] = []
            for start in range(0, len(candidates), self._limits.chunk):
                part = candidates[start : start + self._limits.chunk]
                outputs += await self._what_if(await self._ready(), part, metrics)
            return outputs

    async def stats(self) -> Stats:
        """Return the numbers of the current build after a full recalculation."""
        return await self.ask("stats", {}, _STATS)

    async def inspect(self) -> Inspection:
        """Return requirements, warnings, unparsed lines, idle gems and point counts of the current build."""
        return await self.ask("inspect", {}, _INSPECTION)

    async def blueprint(self) -> Blueprint:
        """Return the current build as a blueprint."""
        return await self.ask("blueprint", {}, _BLUEPRINT)

    async def export(self) -> bytes:
        """Return the canonical PoB XML: equal builds give equal bytes."""
        text = await self.ask("export", {}, _TEXT)
        try:
            return await asyncio.to_thread(canonical, text.encode())
        except BadImport as exc:
            raise EngineGarbage(f"export: {exc.message}") from exc

    async def ask(self, op: str, args: dict[str, Any], shape: TypeAdapter[T]) -> T:
        """Call one operation that changes nothing and return its result in shape."""
        async with self._turn():
            channel = await self._ready()
            return await self._shaped(channel, op, args, shape, self._limits.call_deadline_s)

    async def close(self) -> None:
        """End the child; the session is of no further use."""
        self._closed = True
        self.drop()

    def drop(self) -> None:
        """End the child, if there is one; the next call opens a fresh one."""
        if self._channel is not None:
            self._channel.close()

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """Wait until nobody else asks this session something."""
        if self._lock.locked():
            with span(QUEUING, SpanKind.WAIT):
                await self._lock.acquire()
        else:
            await self._lock.acquire()
        try:
            yield
        finally:
            self._lock.release()

    @asynccontextmanager
    async def _fresh(self) -> AsyncIterator[Channel]:
        """Open a child that has not held a build yet, because builds leave traces in it; drop it when loading fails."""
        channel = self._channel
        if channel is None or not channel.is_open or not channel.is_fresh:
            channel = await self._open()
        try:
            yield channel
        except BaseException:
            channel.close()  # the session goes on with the build it had before
            raise

    async def _open(self) -> Channel:
        self._check_open()
        self.drop()
        self._channel = await self._open_channel()
        try:
            self._check_open()
        except EngineError:
            self.drop()  # it was closed meanwhile, and nobody closes it a second time
            raise
        return self._channel

    def _check_open(self) -> None:
        if self._closed:
            raise EngineError("the session is closed")

    async def _ready(self) -> Channel:
        """Return a child that holds the current build: the one at hand, or a fresh one if that is dead or too big."""
        channel = self._channel
        if channel is not None and channel.is_open and channel.resident_bytes() <= self._limits.memory_bytes:
            return channel
        channel = await self._open()
        await self._replay(channel)
        return channel

    async def _replay(self, channel: Channel) -> None:
        try:
            if isinstance(self._truth.base, Blueprint):
                await self._build(channel, self._truth.base)
            elif self._truth.base is not None:
                await self._load(channel, self._truth.base)
            for batch in self._truth.batches:
                await self._apply(channel, batch)
        except BaseException:
            channel.close()  # half a build must not be taken for the whole
            raise

    async def _build(self, channel: Channel, blueprint: Blueprint) -> BuildReport:
        return await self._report(channel, "build", {"blueprint": _json(blueprint)})

    async def _load(self, channel: Channel, xml: bytes) -> BuildReport:
        return await self._report(channel, "load", {"xml": xml.decode()})

    async def _apply(self, channel: Channel, changes: Sequence[Change]) -> BuildReport:
        return await self._report(channel, "apply", {"changes": [_json(change) for change in changes]})

    async def _report(self, channel: Channel, op: str, args: dict[str, Any]) -> BuildReport:
        return await self._shaped(channel, op, args, _REPORT, self._limits.call_deadline_s)

    async def _what_if(
        self, channel: Channel, candidates: Sequence[Sequence[Change]], metrics: Sequence[str]
    ) -> list[Outputs]:
        asked = [[_json(change) for change in candidate] for candidate in candidates]
        deadline_s = self._limits.call_deadline_s + self._limits.candidate_deadline_s * len(asked)
        args = {"candidates": asked, "metrics": list(metrics)}
        outputs = await self._shaped(channel, "what_if", args, _OUTPUTS, deadline_s)
        if len(outputs) != len(asked):
            channel.close()
            raise EngineGarbage(f"what_if: {len(outputs)} answers to {len(asked)} candidates")
        return outputs

    async def _shaped(
        self, channel: Channel, op: str, args: dict[str, Any], shape: TypeAdapter[T], deadline_s: float
    ) -> T:
        result, size = await channel.call(op, args, deadline_s)
        try:
            if size > BIG_BYTES:
                return await asyncio.to_thread(shape.validate_python, result)
            return shape.validate_python(result)
        except ValidationError as exc:
            channel.close()
            raise EngineGarbage(f"{op}: {exc.error_count()} fields are not as agreed") from exc


def _json(data: Model) -> dict[str, Any]:
    return data.model_dump(mode="json")
