"""The tools on offer: searching what the engine knows by words, and trying changes on a build without keeping any."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import Field

from app.core.errors import ToolRefused
from app.engine.base import Facts
from app.knowledge.claims import OF_DRAFT
from app.knowledge.gems import level_required
from app.knowledge.uniques import origin_of
from app.knowledge.words import by_phrase, named, phrase
from app.model.facts import BaseFact, NodeFact
from app.model.moves import CraftItem, Move, Trial
from app.model.stats import DPS, EHP, FREE_SPIRIT
from app.reasoning.base import Drafts, Experimenter
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
        return [
            {
                "name": gem.name,
                "tags": gem.tags,
                "weapons": gem.weapon_types,
                "level": level_required(gem),
                "spirit": gem.spirit,
                "costs": gem.costs,
                "modelled": gem.modelled,
                "description": gem.description,
            }
            for gem in _matching(own, asked.query, lambda g: [g.name, *g.tags, g.description])
        ]

    async def supports(self, asked: SupportSearch) -> list[dict[str, Any]]:
        """Return supports that fit the skill."""
        gems = await self._facts.gems()
        active = [gem for gem in gems if gem.kind == "active"]
        skill = named(asked.skill, by_phrase(active, (gem.name for gem in active)), "skill")
        fitting = set(await self._facts.supports_for(skill.id))
        own = [gem for gem in gems if gem.id in fitting]
        return [
            {"name": g.name, "tags": g.tags, "colour": g.colour, "description": g.description}
            for g in _matching(own, asked.query, lambda g: [g.name, *g.tags, g.description])
        ]

    async def passives(self, asked: PassiveSearch) -> list[dict[str, Any]]:
        """Return passives."""
        kinds = ("notable", "keystone", "normal") if asked.kind == "any" else (asked.kind,)
        own = [n for n in await self._facts.nodes() if n.ascendancy is None and n.kind in kinds]
        return [_node(n) for n in _matching(own, asked.query, lambda n: [n.name, *n.mods])]

    async def affixes(self, asked: AffixSearch) -> list[dict[str, Any]]:
        """Return affixes, the highest levels first."""
        base = await self._base(asked.base)
        found = [a for a in await self._facts.affixes(base.name) if asked.side in ("any", a.side)]
        found.sort(key=lambda a: (-a.level, a.id))
        return [
            {"name": a.name, "side": a.side, "level": a.level, "lines": a.lines, "group": a.group}
            for a in _matching(found, asked.query, lambda a: [a.name, *a.lines, *a.tags])
        ]

    async def bases(self, asked: BaseSearch) -> list[dict[str, Any]]:
        """Return item bases, the highest levels first."""
        found = [b for b in await self._facts.bases() if b.requirements.get("level", 1) <= asked.max_level]
        found.sort(key=lambda b: (-b.requirements.get("level", 1), b.name))
        kept = ("name", "type", "sub_type", "slots", "requirements", "implicits", "defences", "weapon")
        return [
            {key: value for key, value in base.model_dump().items() if key in kept and value}
            for base in _matching(found, asked.query, lambda b: [b.name, b.type, b.sub_type, *b.slots])
        ]

    async def uniques(self, asked: UniqueSearch) -> list[dict[str, Any]]:
        """Return unique items, each with how hard it is to come by."""
        found = [u for u in await self._facts.uniques() if u.level <= asked.max_level]
        return [
            {
                "name": u.name,
                "base": u.base,
                "type": u.type,
                "level": u.level,
                "tier": origin_of(u).words,
                "lines": u.lines,
            }
            for u in _matching(found, asked.query, lambda u: [u.name, u.base, u.type, *u.lines])
        ]

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


def _node(node: NodeFact) -> dict[str, Any]:
    return {"id": node.id, "name": node.name, "kind": node.kind, "lines": node.mods}


Metric = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9.]{0,59}$")]
Metrics = Annotated[
    list[Metric], Field(max_length=8, description="PoB's output names, such as DPS, TotalEHP, Life, FireResist")
]
Moves = Annotated[list[Move], Field(min_length=1, max_length=8)]
_SMALLEST_PART = 5e-4
"""Parts of the score that change by less are left out."""

_USUAL = (DPS, EHP, "Life", "EnergyShield", FREE_SPIRIT)


class ReadStats(Arguments):
    """The build's figures; empty = all."""

    metrics: Annotated[list[Metric], Field(max_length=40)] = Field(default_factory=list)


OnDraft = Annotated[
    Text | None, Field(description="in explore: the draft of the race to try it on; left out = the best one")
]


class WhatIf(Arguments):
    """Changes that are tried together."""

    changes: Moves
    draft: OnDraft = None
    metrics: Metrics = Field(default_factory=lambda: list(_USUAL))


class RankSupports(Arguments):
    """A skill that the build has."""

    skill: Text


class OptimiseTree(Arguments):
    """Nothing to say."""


class Craft(Arguments):
    """A slot, the base to craft on where it matters, and what the item must have."""

    slot: Text
    base: Text | None = None
    wants: Annotated[
        list[Text],
        Field(max_length=6, description="words of lines that it must have: mana, fire resistance, spell damage"),
    ] = Field(default_factory=list)


class ExperimentRow(Arguments):
    """One row of an experiment."""

    name: Text
    changes: Moves


class RunExperiment(Arguments):
    """Variants, each tried by itself, and the metrics that the table shows."""

    variants: Annotated[list[ExperimentRow], Field(min_length=1, max_length=12)]
    draft: OnDraft = None
    metrics: Metrics = Field(default_factory=lambda: list(_USUAL))


class BuildTrials:
    """The tools over an experimenter. A `gain` above 0 means that the build's score would rise.

    `drafts`: what is tried on where there is no build yet.
    """

    def __init__(self, experimenter: Experimenter | None = None, drafts: Drafts | None = None) -> None:
        self._given = experimenter
        self._drafts = drafts

    @property
    def _experimenter(self) -> Experimenter:
        if self._given is None:
            raise ToolRefused("there is no build to try it on yet")
        return self._given

    def tools(self) -> list[Tool]:
        """Return construct's own tools."""
        return [
            Tool("read_stats", "Read the figures of the build as it is.", ReadStats, self.stats),
            Tool("what_if", "Try changes together, keeping none.", WhatIf, self.what_if),
            Tool("rank_supports", "Rank the supports that a skill could have.", RankSupports, self.supports),
            Tool("optimise_tree", "Find the passives that would pay most per point.", OptimiseTree, self.tree),
            Tool("craft_item", "Craft the best item for a slot and try it on.", Craft, self.craft),
            Tool("run_experiment", "Try variants one by one and get a table.", RunExperiment, self.experiment),
        ]

    async def stats(self, asked: ReadStats) -> dict[str, float]:
        """Return figures."""
        figures = await self._experimenter.read_stats()
        wanted = asked.metrics or sorted(figures)
        return {name: round(figures[name], 2) for name in wanted if name in figures}

    async def what_if(self, asked: WhatIf) -> dict[str, Any]:
        """Return what the changes would do."""
        (row,) = await self._tried(asked.draft, [asked.changes], asked.metrics)
        return row

    async def _tried(
        self, draft: str | None, variants: Sequence[Sequence[Move]], metrics: Sequence[str]
    ) -> list[dict[str, Any]]:
        """Return a row per variant, on the build or else on a draft, whose name is in its rows."""
        if self._given is not None or self._drafts is None:
            if draft is not None and self._given is not None:
                raise ToolRefused("there is a build now: leave `draft` out")
            return [shown(trial) for trial in await self._experimenter.experiment(variants, metrics)]
        name = draft or self._drafts.names[0]
        return [{OF_DRAFT: name, **shown(one)} for one in await self._drafts.experiment(name, variants, metrics)]

    async def supports(self, asked: RankSupports) -> list[dict[str, Any]]:
        """Return supports, the most helpful first."""
        return [
            {"support": name, **shown(trial)} for name, trial in await self._experimenter.rank_supports(asked.skill)
        ]

    async def tree(self, asked: OptimiseTree) -> list[dict[str, Any]]:
        """Return passives, the best per point first."""
        return [{"passive": name, **shown(trial)} for name, trial in await self._experimenter.optimise_tree()]

    async def craft(self, asked: Craft) -> dict[str, Any]:
        """Return the item and what it would do."""
        move = CraftItem(op="craft_item", slot=asked.slot, base=asked.base, wants=asked.wants)
        (trial,) = await self._experimenter.experiment([[move]], list(_USUAL))
        return shown(trial)

    async def experiment(self, asked: RunExperiment) -> list[dict[str, Any]]:
        """Return one row per variant, the build as it is first."""
        rows = await self._tried(asked.draft, [[], *(v.changes for v in asked.variants)], asked.metrics)
        names = ["as it is", *(variant.name for variant in asked.variants)]
        return [{"variant": name, **row} for name, row in zip(names, rows, strict=True)]


def shown(trial: Trial) -> dict[str, Any]:
    """Return a trial as a model sees it: `why` are the parts of the score that change, the most important first."""
    row: dict[str, Any] = {"gain": None if trial.gain is None else round(trial.gain, 5)}
    parts = sorted(trial.parts.items(), key=lambda part: (-abs(part[1]), part[0]))
    if why := {name: round(change, 4) for name, change in parts if abs(change) >= _SMALLEST_PART}:
        row["why"] = why
    row |= {name: round(value, 2) for name, value in trial.figures.items()}
    if trial.made:
        row["made"] = list(trial.made)
    if trial.problem:
        row["problem"] = trial.problem
    return row
