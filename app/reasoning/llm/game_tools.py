"""Search tools: what the engine knows about the game, found by words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import Field

from app.engine.base import Facts
from app.knowledge.gems import level_required
from app.knowledge.words import by_phrase, named, phrase
from app.model.facts import AffixFact, BaseFact, GemFact, NodeFact, UniqueFact
from app.reasoning.llm.toolbox import Arguments, Tool

T = TypeVar("T")
MOST_RESULTS: Final = 20
Words = Annotated[str, Field(max_length=100, description="words to look for, all of which must occur; empty = any")]
Text = Annotated[str, Field(min_length=1, max_length=80)]


class GemSearch(Arguments):
    """Active skills by words in name, tags and description."""

    query: Words = ""
    persistent: Annotated[bool, Field(description="only skills that reserve Spirit")] = False


class SupportSearch(Arguments):
    """Supports that a skill can have."""

    skill: Text
    query: Words = ""


class PassiveSearch(Arguments):
    """Passives of the main tree by words in name and lines."""

    query: Words
    kind: Literal["notable", "keystone", "any"] = "any"


class AffixSearch(Arguments):
    """Affixes that an item base can have."""

    base: Text
    query: Words = ""
    side: Literal["prefix", "suffix", "any"] = "any"


class BaseSearch(Arguments):
    """Item bases by words in name and type."""

    query: Words
    max_level: Annotated[int, Field(ge=1, le=100)] = 100


class UniqueSearch(Arguments):
    """Unique items by words in name, base, type and lines."""

    query: Words
    max_level: Annotated[int, Field(ge=1, le=100)] = 100


class RuneSearch(Arguments):
    """Runes that an item base accepts."""

    base: Text
    query: Words = ""


class AscendancySearch(Arguments):
    """The passives of an ascendancy."""

    ascendancy: Text


class GameSearch:
    """The search tools over one engine's facts."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def tools(self) -> list[Tool]:
        """Return all search tools."""
        return [
            Tool("search_gems", "Find active skills.", GemSearch, self.gems),
            Tool("search_supports", "Find supports that a skill can have.", SupportSearch, self.supports),
            Tool("search_passives", "Find passives of the main tree.", PassiveSearch, self.passives),
            Tool("search_affixes", "Find affixes that an item base can have.", AffixSearch, self.affixes),
            Tool("search_bases", "Find item bases.", BaseSearch, self.bases),
            Tool("search_uniques", "Find unique items.", UniqueSearch, self.uniques),
            Tool("search_runes", "Find runes that an item base accepts.", RuneSearch, self.runes),
            Tool("search_ascendancy", "List an ascendancy's passives.", AscendancySearch, self.ascendancy),
        ]

    async def gems(self, asked: GemSearch) -> list[dict[str, Any]]:
        """Return active skills."""
        own = [g for g in await self._facts.gems() if g.kind == "active" and (g.spirit > 0 or not asked.persistent)]
        return [_gem(g) for g in _matching(own, asked.query, lambda g: [g.name, *g.tags, g.description])]

    async def supports(self, asked: SupportSearch) -> list[dict[str, Any]]:
        """Return supports that fit the skill."""
        gems = await self._facts.gems()
        active = [gem for gem in gems if gem.kind == "active"]
        skill = named(asked.skill, by_phrase(active, (gem.name for gem in active)), "skill")
        fitting = set(await self._facts.supports_for(skill.id))
        own = [gem for gem in gems if gem.id in fitting]
        return [_support(g) for g in _matching(own, asked.query, lambda g: [g.name, *g.tags, g.description])]

    async def passives(self, asked: PassiveSearch) -> list[dict[str, Any]]:
        """Return passives."""
        own = [n for n in await self._facts.nodes() if n.ascendancy is None and _is_kind(n, asked.kind)]
        return [_node(n) for n in _matching(own, asked.query, lambda n: [n.name, *n.mods])]

    async def affixes(self, asked: AffixSearch) -> list[dict[str, Any]]:
        """Return affixes, the highest levels first."""
        base = await self._base(asked.base)
        found = [a for a in await self._facts.affixes(base.name) if asked.side in ("any", a.side)]
        found.sort(key=lambda a: (-a.level, a.id))
        return [_affix(a) for a in _matching(found, asked.query, lambda a: [a.name, *a.lines, *a.tags])]

    async def bases(self, asked: BaseSearch) -> list[dict[str, Any]]:
        """Return item bases, the highest levels first."""
        found = [b for b in await self._facts.bases() if b.requirements.get("level", 1) <= asked.max_level]
        found.sort(key=lambda b: (-b.requirements.get("level", 1), b.name))
        return [_base(b) for b in _matching(found, asked.query, lambda b: [b.name, b.type, b.sub_type, *b.slots])]

    async def uniques(self, asked: UniqueSearch) -> list[dict[str, Any]]:
        """Return unique items."""
        found = [u for u in await self._facts.uniques() if u.level <= asked.max_level]
        return [_unique(u) for u in _matching(found, asked.query, lambda u: [u.name, u.base, u.type, *u.lines])]

    async def runes(self, asked: RuneSearch) -> list[dict[str, Any]]:
        """Return runes."""
        base = await self._base(asked.base)
        found = await self._facts.runes(base.name)
        return [r.model_dump() for r in _matching(found, asked.query, lambda r: [r.name, *r.lines])]

    async def ascendancy(self, asked: AscendancySearch) -> list[dict[str, Any]]:
        """Return the notables of an ascendancy."""
        own = [n for n in await self._facts.nodes() if n.ascendancy is not None]
        known = by_phrase([n.ascendancy for n in own], (str(n.ascendancy) for n in own))
        wanted = named(asked.ascendancy, known, "ascendancy")
        return [_node(n) for n in own if n.ascendancy == wanted and n.kind in ("notable", "keystone")]

    async def _base(self, name: str) -> BaseFact:
        bases = await self._facts.bases()
        return named(name, by_phrase(bases, (base.name for base in bases)), "item base")


def _matching(things: Iterable[T], query: str, texts: Callable[[T], Sequence[str]]) -> list[T]:
    """Return the things of which the texts hold every word of the query, those with it in the name first."""
    words = phrase(query).split()
    found = [(thing, [phrase(text) for text in texts(thing)]) for thing in things]
    hits = [(thing, known[0]) for thing, known in found if all(any(w in text for text in known) for w in words)]
    hits.sort(key=lambda pair: not all(word in pair[1] for word in words))
    return [thing for thing, _ in hits[:MOST_RESULTS]]


def _is_kind(node: NodeFact, kind: str) -> bool:
    return node.kind in ("notable", "keystone", "normal") if kind == "any" else node.kind == kind


def _gem(gem: GemFact) -> dict[str, Any]:
    return {
        "name": gem.name,
        "tags": gem.tags,
        "weapons": gem.weapon_types,
        "level": level_required(gem),
        "spirit": gem.spirit,
        "costs": gem.costs,
        "modelled": gem.modelled,
        "description": gem.description[:200],
    }


def _support(gem: GemFact) -> dict[str, Any]:
    return {"name": gem.name, "tags": gem.tags, "colour": gem.colour, "description": gem.description[:200]}


def _node(node: NodeFact) -> dict[str, Any]:
    return {"id": node.id, "name": node.name, "kind": node.kind, "lines": node.mods}


def _affix(affix: AffixFact) -> dict[str, Any]:
    return {"name": affix.name, "side": affix.side, "level": affix.level, "lines": affix.lines, "group": affix.group}


def _base(base: BaseFact) -> dict[str, Any]:
    kept = ("name", "type", "sub_type", "slots", "requirements", "implicits", "defences", "weapon")
    return {key: value for key, value in base.model_dump().items() if key in kept and value}


def _unique(unique: UniqueFact) -> dict[str, Any]:
    return {"name": unique.name, "base": unique.base, "type": unique.type, "level": unique.level, "lines": unique.lines}
