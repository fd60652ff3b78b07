"""The character sheet: everything a blueprint brings to the calculation, added up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from app.engine.protocol import Refused
from app.engine.sketch.gear import ItemEffects, Weapon, Worn
from app.engine.sketch.lines import mean
from app.engine.sketch.pack import Effect, Pack, Skill, Support
from app.model.blueprint import JEWEL_SLOT, MAIN_HAND, OFF_HAND, SWAP, Blueprint, Gem, PassiveNode, SkillGroup
from app.model.names import Attribute

Stats = dict[str, float]
Kind = Literal["flat", "inc"]
NOTHING: frozenset[str] = frozenset()
DAMAGE_TYPES = ("physical", "fire", "cold", "lightning", "chaos")
ELEMENTS = ("fire", "cold", "lightning")


class Sums:
    """Sums over aggregated stats; which stat counts is worked out once per question."""

    def __init__(self, pack: Pack) -> None:
        self._pack = pack
        self._keys: dict[tuple[str, str, frozenset[str], str], tuple[tuple[str, int], ...]] = {}

    def total(self, stats: Stats, quantity: str, kind: Kind, flags: frozenset[str] = NOTHING, type_: str = "") -> float:
        """Return the sum of all stats of a kind for a quantity, a skill's flags and a damage type."""
        question = (quantity, kind, flags, type_)
        keys = self._keys.get(question)
        if keys is None:
            keys = self._keys[question] = tuple(
                (key, -1 if stat.less else 1)
                for key, stat in self._pack.by_quantity.get((quantity, kind), ())
                if stat.flags <= flags and (not stat.types or type_ in stat.types)
            )
        found = 0.0
        for key, sign in keys:
            if key in stats:
                found += sign * stats[key]
        return found

    def scaled(self, stats: Stats, quantity: str, base: float = 0.0) -> float:
        """Return (base + flat) x (1 + increased), the game's rule for a pool or rating."""
        flat = base + self.total(stats, quantity, "flat")
        return flat * (1 + self.total(stats, quantity, "inc") / 100)


def add(into: Stats, more: Stats) -> None:
    """Add stats to stats."""
    for key, value in more.items():
        into[key] = into.get(key, 0.0) + value


def matching(effects: Iterable[Effect], quantity: str, flags: frozenset[str], type_: str = "") -> list[Effect]:
    """Return the effects on a quantity that count for a skill's flags and a damage type."""
    return [e for e in effects if e.to == quantity and e.flags <= flags and (not e.types or type_ in e.types)]


def more(effects: Iterable[Effect]) -> float:
    """Return the product of all more/less effects as a factor."""
    factor = 1.0
    for effect in effects:
        factor *= 1 + effect.more / 100
    return factor


def at_level(samples: tuple[float, ...], levels: tuple[float, ...], level: float) -> float:
    """Return a value between sampled levels: linear, and continued beyond the last by its last slope."""
    if len(samples) == 1 or level <= levels[0]:
        return samples[0]
    for i in range(1, len(levels)):
        if level <= levels[i] or i == len(levels) - 1:
            share = (level - levels[i - 1]) / (levels[i] - levels[i - 1])
            return samples[i - 1] + share * (samples[i] - samples[i - 1])
    return samples[-1]


_STARTS = ("start", "ascendancy_start")


def connected(pack: Pack, blueprint: Blueprint) -> tuple[list[PassiveNode], list[int]]:
    """Return the passives that hold together, in their order, and the ids that do not (unknown or cut off)."""
    wanted = {node.id for node in blueprint.nodes}
    reached: set[int] = set()
    frontier = roots(pack, blueprint)
    while frontier:
        current = frontier.pop()
        reached.add(current)
        for other in pack.neighbours[current]:
            if other in wanted and other not in reached and pack.passives[other].kind not in _STARTS:
                frontier.append(other)
    kept = [node for node in blueprint.nodes if node.id in reached]
    return kept, [node.id for node in blueprint.nodes if node.id not in reached]


def point_counts(pack: Pack, blueprint: Blueprint) -> dict[str, int]:
    """Return used and available points; points in both weapon sets count once."""
    counts = {"used": 0, "used_set1": 0, "used_set2": 0, "ascendancy_used": 0}
    for node in blueprint.nodes:
        passive = pack.passives.get(node.id)
        if passive is None or passive.kind in _STARTS or not passive.cost:
            continue
        if node.id in pack.ascendancy_of:
            counts["ascendancy_used"] += 1
        else:
            counts["used"] += 1
            if node.weapon_set:
                counts[f"used_set{node.weapon_set}"] += 1
    counts["used"] -= min(counts["used_set1"], counts["used_set2"])
    counts["available"] = blueprint.level - 1 + pack.game.points["quest"]
    counts["ascendancy_available"] = pack.game.points["ascendancy"]
    return counts


def roots(pack: Pack, blueprint: Blueprint) -> list[int]:
    """Return the start passives of the class and its ascendancy."""
    chosen = pack.classes[blueprint.class_name]
    return [chosen.start, *(a.start for a in chosen.ascendancies if a.name == blueprint.ascendancy)]


@dataclass(frozen=True, slots=True)
class SkillUse:
    """An active skill as it is socketed: its gem and the supports that act on it."""

    gem: Gem
    skill: Skill
    supports: tuple[Support, ...]


@dataclass(frozen=True, slots=True)
class Sheet:
    """What counts for one build. `lasting` are effects of persistent skills, `reserved` the Spirit they take."""

    blueprint: Blueprint
    stats: Stats
    worn: dict[str, Worn]
    weapon: Weapon | None
    main: SkillUse | None
    lasting: tuple[Effect, ...]
    reserved: float


class Sheets:
    """Makes character sheets."""

    def __init__(self, pack: Pack, items: ItemEffects) -> None:
        self._pack = pack
        self._items = items
        self._passive_stats = {p.id: {k: mean(v) for k, v in p.gives.items()} for p in pack.passives.values()}

    def sheet(self, blueprint: Blueprint, main_group: int | None = None) -> Sheet:
        """Return the sheet of the blueprint for its main group, or another 1-based group.

        Raises:
            Refused: the blueprint names something the pack does not know.
        """
        index = blueprint.main_group if main_group is None else main_group
        group = blueprint.groups[index - 1] if 1 <= index <= len(blueprint.groups) else None
        swapped = bool(group and (group.slot or "").endswith(SWAP))
        worn = {slot: self._items.worn(item) for slot, item in blueprint.items.items()}
        chosen = self._pack.classes.get(blueprint.class_name)
        if chosen is None:
            raise Refused(f"unknown class {blueprint.class_name!r}")
        stats = dict(zip((one.word for one in Attribute), map(float, chosen.attributes), strict=True))
        self._add_passives(stats, blueprint.nodes, 2 if swapped else 1)
        allocated = {node.id for node in blueprint.nodes}
        anointed = {thing.allocates for thing in worn.values() if thing.allocates is not None}
        for node in sorted(anointed - allocated):
            add(stats, self._passive_stats[node])
        self._add_gear(stats, blueprint, worn, swapped)
        hand = worn.get(MAIN_HAND + (SWAP if swapped else ""))
        lasting = [use for g in blueprint.groups if (use := self.use(g)) and use.skill.spirit]
        return Sheet(
            blueprint=blueprint,
            stats=stats,
            worn=worn,
            weapon=hand.weapon if hand else None,
            main=self.use(group) if group else None,
            lasting=tuple(effect for use in lasting for effect in use.skill.effects),
            reserved=sum(use.skill.spirit for use in lasting),
        )

    def use(self, group: SkillGroup) -> SkillUse | None:
        """Return the group's active skill with its supports, or None when nothing is usable in it."""
        if not group.enabled:
            return None
        gems = [(gem, self._pack.gem(gem.gem_id)) for gem in group.gems if gem.enabled]
        active = [(gem, fact) for gem, fact in gems if isinstance(fact, Skill)]
        if not active:
            return None
        gem, skill = active[min(group.main_skill, len(active)) - 1]
        return SkillUse(gem, skill, acting_supports(skill, [f for _, f in gems if isinstance(f, Support)]))

    def _add_passives(self, stats: Stats, nodes: list[PassiveNode], weapon_set: int) -> None:
        for node in nodes:
            if node.weapon_set not in (0, weapon_set):
                continue
            given = self._passive_stats.get(node.id)
            if given is None:
                raise Refused(f"unknown passive {node.id}")
            if given:
                add(stats, given)
            elif node.attribute is not None and self._pack.passives[node.id].kind == "attribute":
                key = node.attribute.word
                stats[key] = stats.get(key, 0.0) + self._pack.game.attribute_passive

    def _add_gear(self, stats: Stats, blueprint: Blueprint, worn: dict[str, Worn], swapped: bool) -> None:
        """Add what acts: the weapon set in use, jewels in allocated sockets, as many charms as the belt holds."""
        sockets = {f"{JEWEL_SLOT}{n.id}" for n in blueprint.nodes}
        charms: list[Worn] = []
        for slot, thing in worn.items():
            if slot.startswith("Charm"):
                charms += [thing] if thing.item.active else []
            elif slot.startswith((MAIN_HAND, OFF_HAND)):
                if slot.endswith(SWAP) == swapped:
                    add(stats, thing.stats)
            elif not slot.startswith("Flask") and (not slot.startswith(JEWEL_SLOT) or slot in sockets):
                add(stats, thing.stats)
        limit = int(min(3, stats.get("charm_slots", 0)))
        for charm in charms[:limit]:
            add(stats, charm.buff)


def acting_supports(skill: Skill, supports: list[Support]) -> tuple[Support, ...]:
    """Return the supports that act on the skill: compatible, and of each family only the last, as in PoB."""
    last = {support.family or support.id: support for support in supports if support.name in skill.supports}
    return tuple(s for s in supports if last.get(s.family or s.id) is s)
