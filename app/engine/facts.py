"""What an engine knows about the game, asked once per engine version and then remembered in this process."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import TypeAdapter

from app.engine.client import ProcessSession
from app.model.facts import AffixFact, BaseFact, ClassFact, GemFact, NodeFact, RuneFact, UniqueFact

T = TypeVar("T")
_MAX_REMEMBERED = 512

_CLASSES = TypeAdapter(list[ClassFact])
_GEMS = TypeAdapter(list[GemFact])
_NODES = TypeAdapter(list[NodeFact])
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
