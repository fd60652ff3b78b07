"""Recorded facts; implements the Facts port over another."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from app.engine.base import Facts
from app.model.facts import AffixFact, BaseFact, ClassFact, GemFact, NodeFact, RuneFact, UniqueFact
from app.tools.codec import Codec, json_codec

Record = Callable[[str, Mapping[str, Any], Callable[[], Awaitable[Any]], Codec], Awaitable[Any]]
_SHAPES: dict[str, Any] = {
    "classes": list[ClassFact],
    "gems": list[GemFact],
    "nodes": list[NodeFact],
    "bases": list[BaseFact],
    "affixes": list[AffixFact],
    "uniques": list[UniqueFact],
    "runes": list[RuneFact],
    "supports_for": list[str],
}
_CODECS = {what: json_codec(shape, shared=True) for what, shape in _SHAPES.items()}


class RecordedFacts:
    """Each question to the facts becomes a tool event `pob.facts.<what>`.

    A question asked again in the same step is answered from memory and leaves no second event: nothing was called.
    """

    def __init__(self, inner: Facts, record: Record) -> None:
        self._inner = inner
        self._record = record
        self._known: dict[tuple[str, str], list[Any]] = {}

    async def classes(self) -> list[ClassFact]:
        """Return all classes, sorted by name."""
        return await self._ask("classes", {}, self._inner.classes)

    async def gems(self) -> list[GemFact]:
        """Return all active and support gems, sorted by id."""
        return await self._ask("gems", {}, self._inner.gems)

    async def nodes(self) -> list[NodeFact]:
        """Return all passives of the current tree, sorted by id."""
        return await self._ask("nodes", {}, self._inner.nodes)

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
            self._known[key] = await self._record(what, args, fn, _CODECS[what])
        return list(self._known[key])
