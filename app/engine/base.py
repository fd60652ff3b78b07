"""The engine port: what phases and searches may ask of a calculator.

An `Engine` opens `Session`s. A session holds one build, answers about it and can try candidates without keeping
them. Sessions are independent: what happens in one is never seen in another.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypeVar

from pydantic import TypeAdapter

from app.engine.client import ProcessSession
from app.model.blueprint import Blueprint, Change
from app.model.facts import AffixFact, BaseFact, ClassFact, EdgeFact, GemFact, NodeFact, RuneFact, UniqueFact
from app.model.stats import BuildReport, EngineVersion, Inspection, Stats

Outputs = dict[str, float]
"""The requested metrics of one candidate; a metric that the engine does not produce is absent, infinity is 1e12."""


class Facts(Protocol):
    """What the engine knows about the game; answers never depend on a build unless one is named."""

    async def classes(self) -> list[ClassFact]:
        """Return all classes, sorted by name."""
        ...

    async def gems(self) -> list[GemFact]:
        """Return all active and support gems, sorted by id."""
        ...

    async def nodes(self) -> list[NodeFact]:
        """Return all passives of the current tree, ascendancies included, sorted by id."""
        ...

    async def edges(self) -> list[EdgeFact]:
        """Return all connections of the current tree as they are drawn, sorted; none when the engine has no drawing."""
        ...

    async def bases(self) -> list[BaseFact]:
        """Return all item bases that a player can hold (charms, flasks, jewels included), sorted by name."""
        ...

    async def affixes(self, base: str) -> list[AffixFact]:
        """Return the affixes that can spawn on the base (weight > 0), sorted by id."""
        ...

    async def uniques(self) -> list[UniqueFact]:
        """Return all unique items, sorted by name then base."""
        ...

    async def runes(self, base: str) -> list[RuneFact]:
        """Return the runes that the base accepts, sorted by name."""
        ...

    async def supports_for(self, gem_id: str) -> list[str]:
        """Return ids of the support gems that can support the active gem, sorted."""
        ...


class Session(Protocol):
    """One build in a calculator. After a crash the next call continues in a new child with the same build."""

    async def build(self, blueprint: Blueprint) -> BuildReport:
        """Load the blueprint, replacing what was there."""
        ...

    async def load(self, xml: bytes) -> BuildReport:
        """Load a PoB XML file of at most 1 MB, replacing what was there.

        Raises:
            EngineRefused: it is not a build that the engine can load.
        """
        ...

    async def apply(self, changes: Sequence[Change], metrics: Sequence[str] = ()) -> BuildReport:
        """Commit the changes in order; a change that cannot be made is reported, the others still apply.

        With `metrics`, the report holds those of the build as it is then, as `what_if` gives them.
        """
        ...

    async def what_if(self, candidates: Sequence[Sequence[Change]], metrics: Sequence[str]) -> list[Outputs]:
        """Return the metrics of each candidate (a list of changes tried together), in order, keeping none of them.

        An empty candidate gives the current build. A candidate that cannot be tried gives an empty dict.
        """
        ...

    async def stats(self) -> Stats:
        """Return the numbers of the current build after a full recalculation."""
        ...

    async def inspect(self) -> Inspection:
        """Return requirements, warnings, unparsed lines, idle gems and point counts of the current build."""
        ...

    async def blueprint(self) -> Blueprint:
        """Return the current build as a blueprint, so that a loaded file can be changed and built anew.

        Passives are those that hold together, on the engine's current tree; items keep their text as it is.
        """
        ...

    async def export(self) -> bytes:
        """Return the canonical PoB XML: equal builds give equal bytes."""
        ...


class Engine(Protocol):
    """A calculator: facts, sessions and its version."""

    @property
    def version(self) -> EngineVersion:
        """Which engine this is."""
        ...

    @property
    def facts(self) -> Facts:
        """What it knows about the game."""
        ...

    def session(self) -> AbstractAsyncContextManager[Session]:
        """Open a session in a fresh child process; leaving the context ends the child."""
        ...

    async def start(self) -> None:
        """Warm up; the first session would otherwise wait for it."""
        ...

    async def close(self) -> None:
        """End all child processes."""
        ...


T = TypeVar("T")
_MAX_REMEMBERED = 512

_CLASSES = TypeAdapter(list[ClassFact])
_GEMS = TypeAdapter(list[GemFact])
_NODES = TypeAdapter(list[NodeFact])
_EDGES = TypeAdapter(list[EdgeFact])
_BASES = TypeAdapter(list[BaseFact])
_AFFIXES = TypeAdapter(list[AffixFact])
_UNIQUES = TypeAdapter(list[UniqueFact])
_RUNES = TypeAdapter(list[RuneFact])
_IDS = TypeAdapter(list[str])


class ProcessFacts:
    """Facts from a session of their own; implements `Facts`. Answers are the same for the same engine version."""

    def __init__(self, session: ProcessSession) -> None:
        self._session = session
        self._known: dict[tuple[str, str], list[Any]] = {}

    def forget(self) -> None:
        """Drop what is remembered, because another engine version answers now."""
        self._known.clear()

    async def classes(self) -> list[ClassFact]:
        """Return all classes, sorted by name."""
        return await self._all("classes", {}, _CLASSES)

    async def gems(self) -> list[GemFact]:
        """Return all active and support gems, sorted by id."""
        return await self._all("gems", {}, _GEMS)

    async def nodes(self) -> list[NodeFact]:
        """Return all passives of the current tree, ascendancies included, sorted by id."""
        return await self._all("nodes", {}, _NODES)

    async def edges(self) -> list[EdgeFact]:
        """Return all connections of the current tree as they are drawn, sorted."""
        return await self._all("edges", {}, _EDGES)

    async def bases(self) -> list[BaseFact]:
        """Return all item bases that a player can hold, sorted by name."""
        return await self._all("bases", {}, _BASES)

    async def affixes(self, base: str) -> list[AffixFact]:
        """Return the affixes that can spawn on the base, sorted by id.

        Raises:
            UnknownFact: no such base.
        """
        return await self._all("affixes", {"base": base}, _AFFIXES)

    async def uniques(self) -> list[UniqueFact]:
        """Return all unique items, sorted by name then base."""
        return await self._all("uniques", {}, _UNIQUES)

    async def runes(self, base: str) -> list[RuneFact]:
        """Return the runes that the base accepts, sorted by name.

        Raises:
            UnknownFact: no such base.
        """
        return await self._all("runes", {"base": base}, _RUNES)

    async def supports_for(self, gem_id: str) -> list[str]:
        """Return ids of the support gems that can support the active gem, sorted.

        Raises:
            UnknownFact: no such gem.
        """
        return await self._all("supports_for", {"gem_id": gem_id}, _IDS)

    async def _all(self, op: str, args: dict[str, str], shape: TypeAdapter[list[T]]) -> list[T]:
        key = (op, "".join(args.values()))
        if key not in self._known:
            answer = await self._session.ask(op, args, shape)
            if len(self._known) >= _MAX_REMEMBERED:
                del self._known[next(iter(self._known))]
            self._known[key] = answer
        return list(self._known[key])
