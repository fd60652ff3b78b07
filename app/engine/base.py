"""The engine port: what phases and searches may ask of a calculator.

An `Engine` opens `Session`s. A session holds one build, answers about it and can try candidates without keeping
them. Sessions are independent: what happens in one is never seen in another.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from app.model.blueprint import Blueprint, Change
from app.model.facts import AffixFact, BaseFact, ClassFact, GemFact, NodeFact, RuneFact, UniqueFact
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

    async def apply(self, changes: Sequence[Change]) -> BuildReport:
        """Commit the changes in order; a change that cannot be made is reported, the others still apply."""
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
