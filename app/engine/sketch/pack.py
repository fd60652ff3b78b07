"""The fact pack under `domain/facts`: what the sketch engine knows about the game, read once."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, TypeAdapter

from app.model.base import Model
from app.model.facts import AttributeName, NodeKind

Number = int | float
Span = Number | tuple[Number, Number]
"""A fixed number or the lowest and highest roll."""
Spans = Span | tuple[Span, Span]
"""The numbers of a line: one, or two for "Adds # to #"."""
Amount = Number | tuple[Number, Number]
"""What a passive or rune gives: one number, or two for "Adds # to #"."""


class Stat(Model):
    """One kind of line: its wording and what it changes (see the head of stats.yaml)."""

    line: str
    to: tuple[str, ...] = ()
    kind: Literal["flat", "inc"] = "flat"
    types: frozenset[str] = frozenset()
    flags: frozenset[str] = frozenset()
    less: bool = False


class Effect(Model):
    """What a support or persistent skill does; `per` scales it by a pool, e.g. {mana: 100} = per 100 mana."""

    to: str
    more: float = 0.0
    inc: float = 0.0
    flat: float = 0.0
    types: frozenset[str] = frozenset()
    flags: frozenset[str] = frozenset()
    per: dict[str, float] = Field(default_factory=dict)


class Ascendancy(Model):
    """An ascendancy: its number within the class, PoB's key for it and its start passive."""

    name: str
    id: int
    key: str
    start: int


class CharacterClass(Model):
    """A class: its number in the tree, start passive and starting attributes (str, dex, int)."""

    name: str
    id: int
    start: int
    attributes: tuple[int, int, int]
    ascendancies: list[Ascendancy]


class Passive(Model):
    """A passive; `to` names connections towards higher ids, `other` counts lines left out, `recipe` anoints."""

    id: int
    name: str
    kind: NodeKind = "normal"
    at: tuple[float, float]
    to: tuple[int, ...] = ()
    gives: dict[str, Amount] = Field(default_factory=dict)
    other: int = 0
    cost: int = 1
    recipe: tuple[str, ...] = ()


class WeaponNumbers(Model):
    """Base numbers of a weapon: damage per hit, attacks per second, critical hit chance in percent, reload seconds."""

    damage: tuple[float, float]
    rate: float
    crit: float
    range: float
    reload: float = 0.0


class GrantedSkill(Model):
    """A skill that comes with a base; its level follows the item level when `levels` is given."""

    skill: str
    levels: tuple[int, int] | None = None
    intelligence: float = 0.0


class Base(Model):
    """An item base; `sub` as in PoB, `buff` is what an active charm gives."""

    name: str
    type: str
    sub: str = ""
    tags: frozenset[str]
    sockets: int = 0
    requires: dict[str, int] = Field(default_factory=dict)
    defences: dict[str, float] = Field(default_factory=dict)
    weapon: WeaponNumbers | None = None
    implicit: dict[str, Spans] = Field(default_factory=dict)
    grants: GrantedSkill | None = None
    buff: dict[str, float] = Field(default_factory=dict)
    flask: dict[str, float] = Field(default_factory=dict)


class AffixFamily(Model):
    """Affixes of one group and wording; `tiers` are (id, name, item level, spans of each stat)."""

    group: str
    side: Literal["prefix", "suffix"]
    stats: tuple[str, ...]
    on: tuple[str, ...]
    tags: tuple[str, ...] = ()
    only: str = ""
    tiers: tuple[tuple[Any, ...], ...]


class Affix(Model):
    """One tier of a family."""

    id: str
    name: str
    level: int
    spans: tuple[Spans, ...]
    family: AffixFamily


class Rune(Model):
    """A rune: stats by kind of item (armour, weapon, wand ...); "other" counts lines left out."""

    name: str
    level: int = 0
    given: dict[str, dict[str, Amount]] = Field(alias="in")


class GemRecord(Model):
    """What active and support gems share. `id` is our id and PoB's, the rest is how PoB's files name it."""

    id: str
    game_id: str
    name: str
    skill: str
    variant: str
    colour: AttributeName | None = None
    tier: int = 0
    tags: tuple[str, ...] = ()
    effects: tuple[Effect, ...] = ()


class Support(GemRecord):
    """A support gem; `cost` is percent more mana cost."""

    family: str | None = None
    cost: float = 0.0


class Skill(GemRecord):
    """An active skill (see the head of skills.yaml); tuples over the sampled gem levels.

    `weapons` are base types it works with, `wields` the same in the words of the game, `supports` names of gems.
    """

    attributes: tuple[int, int, int] = (0, 0, 0)
    types: tuple[str, ...] = ()
    weapons: tuple[str, ...] = ()
    wields: tuple[str, ...] = ()
    flags: frozenset[str] = frozenset()
    supports: tuple[str, ...] = ()
    spirit: float = 0.0
    mana: tuple[float, ...] = ()
    cast_time: float = 0.0
    delay: float = 0.0
    crit: float = 0.0
    damage: dict[str, tuple[tuple[float, float], ...]] = Field(default_factory=dict)
    multiplier: tuple[float, ...] = ()
    speed: float = 0.0
    convert: dict[str, float] = Field(default_factory=dict)
    bolts: tuple[float, ...] = ()
    reload_speed: float = 0.0

    @cached_property
    def deals_damage(self) -> bool:
        """Return whether the calculator has numbers for a hit."""
        return bool(self.damage or self.multiplier)


class EnemyKind(Model):
    """How a configured enemy differs from a monster of its level."""

    damage: float
    resistance: float
    penetration: float


class Game(Model):
    """Rules and tables of game.yaml; `quests`: what each gives, by Path of Building's option for it."""

    version: str
    tree_version: str
    quests: dict[str, dict[str, int]]
    resistance_penalty: float
    points: dict[str, int]
    attribute_passive: int
    gem_levels: tuple[int, ...]
    gem_samples: tuple[float, ...]
    enemy: dict[str, Any]
    enemies: dict[str, EnemyKind]


class Pack:
    """All facts, indexed by the names under which they are asked for."""

    def __init__(self, folder: Path) -> None:
        self.game = Game.model_validate(_read(folder, "game"))
        self.stats = TypeAdapter(dict[str, Stat]).validate_python(_read(folder, "stats"))
        self.classes = {c.name: c for c in TypeAdapter(list[CharacterClass]).validate_python(_read(folder, "classes"))}
        tree = TypeAdapter(list[Passive]).validate_python(_read(folder, "tree"))
        ascendancies = TypeAdapter(dict[str, list[Passive]]).validate_python(_read(folder, "ascendancies"))
        self.ascendancy_of = {p.id: name for name, passives in ascendancies.items() for p in passives}
        self.passives = {p.id: p for p in [*tree, *(p for ps in ascendancies.values() for p in ps)]}
        self.notables = {p.name: p for p in tree if p.kind == "notable"}
        self.bases = {b.name: b for b in TypeAdapter(list[Base]).validate_python(_read(folder, "bases"))}
        self.families = TypeAdapter(list[AffixFamily]).validate_python(_read(folder, "affixes"))
        self.runes = {r.name: r for r in TypeAdapter(list[Rune]).validate_python(_read(folder, "runes"))}
        self.skills = {s.id: s for s in TypeAdapter(list[Skill]).validate_python(_read(folder, "skills"))}
        self.supports = {s.id: s for s in TypeAdapter(list[Support]).validate_python(_read(folder, "supports"))}

    @cached_property
    def affixes(self) -> dict[tuple[str, str], Affix]:
        """Return all affixes by (table, id); the table is "Jewel" for jewels, else ""."""
        return {
            (f.only, tier[0]): Affix(id=tier[0], name=tier[1], level=tier[2], spans=tier[3:], family=f)
            for f in self.families
            for tier in f.tiers
        }

    @cached_property
    def neighbours(self) -> dict[int, tuple[int, ...]]:
        """Return the connections of each passive in both directions, sorted."""
        found: dict[int, set[int]] = {i: set() for i in self.passives}
        for passive in self.passives.values():
            for other in passive.to:
                found[passive.id].add(other)
                found[other].add(passive.id)
        return {i: tuple(sorted(others)) for i, others in found.items()}

    @cached_property
    def by_quantity(self) -> dict[tuple[str, str], tuple[tuple[str, Stat], ...]]:
        """Return the stats that change a quantity, by (quantity, kind)."""
        found: dict[tuple[str, str], list[tuple[str, Stat]]] = {}
        for key, stat in self.stats.items():
            for quantity in stat.to:
                found.setdefault((quantity, stat.kind), []).append((key, stat))
        return {key: tuple(stats) for key, stats in found.items()}

    @cached_property
    def gems_by_name(self) -> dict[str, Skill | Support]:
        """Return all gems by name."""
        gems: list[Skill | Support] = [*self.skills.values(), *self.supports.values()]
        return {gem.name: gem for gem in gems}

    def gem(self, gem_id: str) -> Skill | Support | None:
        """Return the gem of that id, or None."""
        return self.skills.get(gem_id) or self.supports.get(gem_id)


def _read(folder: Path, name: str) -> Any:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    with (folder / f"{name}.yaml").open(encoding="utf-8") as file:
        return yaml.load(file, Loader=loader)  # noqa: S506 - a safe loader either way
