"""An engine that records every call made to it; implements the Engine port over another engine."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from time import perf_counter
from typing import Any

from pydantic import TypeAdapter

from app.engine.base import Engine, Facts, Outputs, Session
from app.model.blueprint import Blueprint, Change
from app.model.events import ToolKind
from app.model.facts import AffixFact, BaseFact, ClassFact, EdgeFact, GemFact, NodeFact, RuneFact, UniqueFact
from app.model.names import Phase
from app.model.stats import BuildReport, EngineVersion, Inspection, Stats
from app.tools.cache import RAW, Cacheable, Codec, json_codec
from app.tools.payload import canonical_digest, decoded_argument
from app.tools.runner import ToolRunner
from app.tools.scope import Scope

Record = Callable[..., Awaitable[Any]]
"""Makes and records a call: its operation, arguments, what executes it, its codec, and what was waited for it."""
_SHAPES: dict[str, Any] = {
    "classes": list[ClassFact],
    "gems": list[GemFact],
    "nodes": list[NodeFact],
    "edges": list[EdgeFact],
    "bases": list[BaseFact],
    "affixes": list[AffixFact],
    "uniques": list[UniqueFact],
    "runes": list[RuneFact],
    "supports_for": list[str],
}
_CODECS = {what: json_codec(shape, shared=True) for what, shape in _SHAPES.items()}


Answered = dict[tuple[str, str], list[Any]]
"""Answers about the game, by what was asked and about what."""


class AnsweredFacts:
    """What builds under way have asked about the game: one memory for all steps that are done under one claim.

    Whoever claims the build next, or an engine of another version, begins anew. The builds that asked longest ago go
    first; they only ask again.
    """

    def __init__(self, builds: int = 32) -> None:
        self._builds = builds
        self._known: OrderedDict[tuple[Scope, EngineVersion], Answered] = OrderedDict()

    def of(self, scope: Scope, version: EngineVersion) -> Answered:
        """Return what was answered under the claim of this scope, whichever its phase; what is put in stays."""
        claim = replace(scope, phase=Phase.DECOMPOSE), version
        known = self._known.setdefault(claim, {})
        self._known.move_to_end(claim)
        if len(self._known) > self._builds:
            self._known.popitem(last=False)
        return known


class RecordedFacts:
    """Each question to the facts becomes a tool event `pob.facts.<what>`.

    A question to which the answer is `known` is answered from memory and leaves no second event: nothing was called.
    Who asks what another is just asking waits for that answer.
    """

    def __init__(self, inner: Facts, record: Record, known: Answered) -> None:
        self._inner = inner
        self._record = record
        self._known = known
        self._turns: dict[tuple[str, str], asyncio.Lock] = {}

    async def classes(self) -> list[ClassFact]:
        """Return all classes, sorted by name."""
        return await self._ask("classes", {}, self._inner.classes)

    async def gems(self) -> list[GemFact]:
        """Return all active and support gems, sorted by id."""
        return await self._ask("gems", {}, self._inner.gems)

    async def nodes(self) -> list[NodeFact]:
        """Return all passives of the current tree, sorted by id."""
        return await self._ask("nodes", {}, self._inner.nodes)

    async def edges(self) -> list[EdgeFact]:
        """Return all connections of the current tree as they are drawn, sorted."""
        return await self._ask("edges", {}, self._inner.edges)

    async def bases(self) -> list[BaseFact]:
        """Return all item bases that a player can hold, sorted by name."""
        return await self._ask("bases", {}, self._inner.bases)

    async def affixes(self, base: str) -> list[AffixFact]:
        """Return the affixes that can spawn on the base, sorted by id."""
        return await self._ask("affixes", {"base": base}, lambda: self._inner.affixes(base))

    async def uniques(self) -> list[UniqueFact]:
        """Return all unique items, sorted by name then base."""
        return await self._ask("uniques", {}, self._inner.uniques)

    async def runes(self, base: str) -> list[RuneFact]:
        """Return the runes that the base accepts, sorted by name."""
        return await self._ask("runes", {"base": base}, lambda: self._inner.runes(base))

    async def supports_for(self, gem_id: str) -> list[str]:
        """Return ids of the support gems that can support the active gem, sorted."""
        return await self._ask("supports_for", {"gem_id": gem_id}, lambda: self._inner.supports_for(gem_id))

    async def _ask(self, what: str, args: dict[str, str], fn: Callable[[], Awaitable[list[Any]]]) -> list[Any]:
        key = (what, "".join(args.values()))
        if key not in self._known:
            async with self._turns.setdefault(key, asyncio.Lock()):
                if key not in self._known:
                    self._known[key] = await self._record(f"facts.{what}", args, fn, _CODECS[what])
        return list(self._known[key])


Step = Callable[[], Awaitable[BuildReport]]
_NOTHING_LOADED = ""
_COMMITTING = frozenset({"build", "load", "apply"})
"""A session that waited for another's commit would still have to make its own afterwards."""

_CHANGES: TypeAdapter[list[Change]] = TypeAdapter(list[Change])
_CANDIDATES: TypeAdapter[list[list[Change]]] = TypeAdapter(list[list[Change]])
_REPORT = json_codec(BuildReport)
_OUTPUTS = json_codec(list[Outputs])
_STATS = json_codec(Stats)
_INSPECTION = json_codec(Inspection)
_BLUEPRINT = json_codec(Blueprint)


class RecordedEngine:
    """The engine of one step: its calls become tool events `pob.<operation>` in the step's scope.

    The names are the same for every engine; `tool_version` says which one it was. With a `fingerprint` (of the
    engine's files and code) answers are kept for equal questions of any build; without one they never are.
    `answered`: what earlier steps asked about the game.
    """

    def __init__(
        self,
        inner: Engine,
        tools: ToolRunner,
        scope: Scope,
        fingerprint: str | None = None,
        answered: AnsweredFacts | None = None,
    ) -> None:
        self._inner = inner
        self._tools = tools
        self._scope = scope
        self._fingerprint = fingerprint
        self._facts = RecordedFacts(inner.facts, self._record, (answered or AnsweredFacts()).of(scope, inner.version))

    @property
    def version(self) -> EngineVersion:
        """Which engine this is."""
        return self._inner.version

    @property
    def facts(self) -> Facts:
        """What it knows about the game."""
        return self._facts

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        """Open a session in a fresh child process; leaving the context ends the child."""
        began = perf_counter()
        async with self._inner.session() as session:
            if not self._tools.records:
                yield session
                return
            yield RecordedSession(session, self._record, (perf_counter() - began) * 1000)

    async def start(self) -> None:
        """Warm up; the first session would otherwise wait for it."""
        await self._inner.start()

    async def close(self) -> None:
        """Leave the inner engine alone: it belongs to whoever made it, and other builds use it."""

    async def _record(
        self,
        operation: str,
        args: Mapping[str, Any],
        fn: Callable[[], Awaitable[Any]],
        codec: Codec,
        queued_ms: float = 0.0,
    ) -> Any:
        version = f"{self._inner.version.name} {self._inner.version.version}"
        join = operation not in _COMMITTING
        cacheable = None if self._fingerprint is None else Cacheable(codec, self._fingerprint, join)
        return await self._tools.call(
            self._scope,
            ToolKind.POB,
            f"pob.{operation}",
            args,
            fn,
            version=version,
            deterministic=True,
            cacheable=cacheable,
            results=args["candidates"] if operation == "what_if" else 1,
            queued_ms=queued_ms,
        )


class RecordedSession:
    """A recorded session; implements `Session`.

    Each call names the build it is about by a hash of what was loaded and committed, in order, so that equal hashes
    of arguments mean equal questions. A retry repeats the call on the same session, which revives itself.

    A call answered from the cache never reaches the engine's session. When one has to, everything committed until
    then is done there first, step by step as it would have been: the same history gives the same numbers.
    `queued_ms`: what was waited for the session; its first call is told of it.
    """

    def __init__(self, inner: Session, record: Record, queued_ms: float = 0.0) -> None:
        self._inner = inner
        self._recording = record
        self._queued_ms = queued_ms
        self._content = _NOTHING_LOADED
        self._behind: list[Step] = []
        self._catching_up = asyncio.Lock()

    async def build(self, blueprint: Blueprint) -> BuildReport:
        """Load the blueprint, replacing what was there."""
        found = canonical_digest(blueprint)
        args = {"blueprint": found.reference()}
        report = await self._load("build", args, lambda: self._inner.build(blueprint))
        self._content = found.sha256
        return report

    async def load(self, xml: bytes) -> BuildReport:
        """Load a PoB XML file, replacing what was there."""
        report = await self._load("load", {"xml": xml}, lambda: self._inner.load(xml))
        self._content = _sha256(xml)
        return report

    async def apply(self, changes: Sequence[Change], metrics: Sequence[str] = ()) -> BuildReport:
        """Commit the changes in order; with `metrics`, the report holds those of the build as it is then."""
        written = _CHANGES.dump_json(list(changes))
        args = {
            "changes": decoded_argument(written),
            **({"metrics": list(metrics)} if metrics else {}),
            **self._about(),
        }
        executed = False

        async def execute() -> BuildReport:
            nonlocal executed
            await self._catch_up()
            report = await self._inner.apply(changes, metrics)
            executed = True
            return report

        report: BuildReport = await self._record("apply", args, execute, _REPORT)
        if not executed:
            self._behind.append(lambda: self._inner.apply(changes))
        self._content = _sha256(self._content.encode() + written)
        return report

    async def what_if(self, candidates: Sequence[Sequence[Change]], metrics: Sequence[str]) -> list[Outputs]:
        """Return the metrics of each candidate, in order, keeping none of them."""
        args = {
            "candidates": len(candidates),
            "metrics": list(metrics),
            "sha256": _sha256(_CANDIDATES.dump_json([list(candidate) for candidate in candidates])),
            **self._about(),
        }
        outputs: list[Outputs] = await self._ask(
            "what_if", args, lambda: self._inner.what_if(candidates, metrics), _OUTPUTS
        )
        return outputs

    async def stats(self) -> Stats:
        """Return the numbers of the current build after a full recalculation."""
        stats: Stats = await self._ask("stats", self._about(), self._inner.stats, _STATS)
        return stats

    async def inspect(self) -> Inspection:
        """Return requirements, warnings, unparsed lines, idle gems and point counts of the current build."""
        inspection: Inspection = await self._ask("inspect", self._about(), self._inner.inspect, _INSPECTION)
        return inspection

    async def blueprint(self) -> Blueprint:
        """Return the current build as a blueprint."""
        blueprint: Blueprint = await self._ask("blueprint", self._about(), self._inner.blueprint, _BLUEPRINT)
        return blueprint

    async def export(self) -> bytes:
        """Return the canonical PoB XML: equal builds give equal bytes."""
        xml: bytes = await self._ask("export", self._about(), self._inner.export, RAW)
        return xml

    async def _load(self, operation: str, args: Mapping[str, Any], step: Step) -> BuildReport:
        """Replace the build; what was committed before does not matter any more."""
        behind = [step]

        async def execute() -> BuildReport:
            report = await step()
            behind.clear()
            return report

        report: BuildReport = await self._record(operation, args, execute, _REPORT)
        self._behind = behind
        return report

    async def _ask(
        self, operation: str, args: Mapping[str, Any], fn: Callable[[], Awaitable[Any]], codec: Codec
    ) -> Any:
        async def execute() -> Any:
            await self._catch_up()
            return await fn()

        return await self._record(operation, args, execute, codec)

    async def _record(
        self, operation: str, args: Mapping[str, Any], fn: Callable[[], Awaitable[Any]], codec: Codec
    ) -> Any:
        queued_ms, self._queued_ms = self._queued_ms, 0.0
        return await self._recording(operation, args, fn, codec, queued_ms)

    async def _catch_up(self) -> None:
        async with self._catching_up:
            while self._behind:
                await self._behind[0]()
                self._behind.pop(0)

    def _about(self) -> dict[str, str]:
        return {"build_sha256": self._content}


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
