"""What an item of a slot can have (bases, affixes, runes), and items with some of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from app.core.errors import UnknownFact
from app.knowledge.words import phrase
from app.model.base import changed
from app.model.blueprint import AffixRoll, Equip, GearItem
from app.model.facts import AffixFact, BaseFact, RuneFact
from app.search.base import SearchContext
from app.search.gear.bases import socket_count, usable
from app.search.gear.legality import MAX_QUALITY, is_bonded, side_limit, slot_fits
from app.search.incumbent import EPSILON, Incumbent

Kind = Literal["base", "prefix", "suffix", "rune"]
_COMMON_RUNE = re.compile(r"^(Lesser |Greater |Perfect )?\w+ Rune$")
_NUMBER = re.compile(r"[+-]?\(?[+-]?\d[\d.]*(?:-[+-]?\d[\d.]*)?\)?")
_MOVEMENT = "increased movement speed"
_TIERLESS_TYPES = frozenset({"Flask", "Charm"})


@dataclass(frozen=True, order=True)
class GearOption:
    """One thing an item of the slot can have: its base, an affix, or a rune."""

    slot: str
    kind: Kind
    id: str


@dataclass(frozen=True)
class SlotPool:
    """The choices of one slot.

    `affixes`: the best tier of each kind within the gear tier. `hosts`: the bases that an affix fits, `runes`: those
    that a rune fits, `rune_lines`: what it says there. `required`: affixes that the item must have (movement speed on
    boots).
    """

    slot: str
    bases: Mapping[str, BaseFact]
    affixes: Mapping[str, AffixFact]
    hosts: Mapping[str, frozenset[str]]
    runes: Mapping[str, frozenset[str]]
    item_level: int
    per_side: int
    total: int
    required: frozenset[str] = field(default_factory=frozenset)
    rune_lines: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def options(self) -> list[GearOption]:
        """Return every choice in a fixed order."""
        found = [GearOption(self.slot, "base", name) for name in sorted(self.bases)]
        found += [GearOption(self.slot, self.affixes[key].side, key) for key in sorted(self.affixes)]
        return found + [GearOption(self.slot, "rune", name) for name in sorted(self.runes)]

    def sockets(self, base: str) -> int:
        """Return the rune sockets of an item of the base."""
        return socket_count(self.bases[base])

    def lines_of(self, option: GearOption) -> tuple[str, ...]:
        """Return what an affix or rune says; a base says nothing here."""
        rune = self.rune_lines.get(option.id, ()) if option.kind == "rune" else ()
        return tuple(self.affixes[option.id].lines if option.id in self.affixes else sorted(rune))

    def tells(self, option: GearOption, words: str) -> bool:
        """Say whether a line of an affix or rune has all of the words, in any order."""
        return any(set(phrase(words).split()) <= set(phrase(line).split()) for line in self.lines_of(option))

    def without(self, banned: set[str]) -> SlotPool:
        """Return the pool without these affixes and runes."""
        return replace(
            self,
            affixes={key: fact for key, fact in self.affixes.items() if key not in banned},
            runes={name: hosts for name, hosts in self.runes.items() if name not in banned},
        )

    def saying(self, lines: Sequence[str]) -> set[str]:
        """Return the affixes and runes of which a line, apart from its numbers, is among the given ones."""
        asked = {wording([line]) for line in lines if not is_bonded(line)}
        found = {fact.id for fact in self.affixes.values() if asked & {wording([line]) for line in fact.lines}}
        return found | {rune for rune in self.runes if asked & {wording([line]) for line in self.rune_lines[rune]}}


async def slot_pool(ctx: SearchContext, slot: str, bases: Sequence[BaseFact]) -> SlotPool:
    """Ask the engine what fits the bases and keep the best tier of each kind that the gear tier allows.

    Runes are those that anybody can buy: named ones and soul cores are rare finds. Boots without movement speed are no
    boots, so the tier of it that every base takes is required of them. What says something that the user ruled out is
    left out.
    """
    facts, limits, excluded = ctx.engine.facts, ctx.demands.floors.gear, ctx.exclusions
    affixes: dict[str, AffixFact] = {}
    hosts: dict[str, set[str]] = {}
    runes: dict[str, set[str]] = {}
    rune_lines: dict[str, set[str]] = {}
    tiers: dict[tuple[str, ...], list[AffixFact]] = {}
    for base in bases:
        kind = (base.type, base.sub_type, *base.tags)  # all that decides which affixes a base can have
        if kind not in tiers:
            tiers[kind] = best_tiers(await facts.affixes(base.name), limits.max_affix_level)
        for fact in tiers[kind]:
            if excluded.said(fact.lines):
                continue
            affixes[fact.id] = fact
            hosts.setdefault(fact.id, set()).add(base.name)
        for rune in best_runes(await facts.runes(base.name) if socket_count(base) else [], limits.max_affix_level):
            if excluded.said(line for line in rune.lines if not is_bonded(line)):
                continue
            runes.setdefault(rune.name, set()).add(base.name)
            rune_lines.setdefault(rune.name, set()).update(rune.lines)
    speeds = [fact.id for fact in affixes.values() if wording(fact.lines).endswith(_MOVEMENT) and len(fact.lines) == 1]
    return SlotPool(
        slot=slot,
        bases={base.name: base for base in bases},
        affixes=affixes,
        hosts={key: frozenset(names) for key, names in hosts.items()},
        runes={name: frozenset(names) for name, names in runes.items()},
        item_level=max(1, limits.max_affix_level),
        per_side=side_limit(bases[0], "RARE"),
        total=min(limits.max_affixes, 2 * side_limit(bases[0], "RARE")),
        required=frozenset(sorted(speeds)[:1]) if slot == "Boots" else frozenset(),
        rune_lines={name: frozenset(lines) for name, lines in rune_lines.items()},
    )


def best_tiers(affixes: Sequence[AffixFact], max_level: int) -> list[AffixFact]:
    """Return the highest tier of each kind of affix; tiers of one kind say the same with other numbers."""
    best: dict[tuple[str, str], AffixFact] = {}
    for fact in sorted(affixes, key=lambda fact: (fact.level, fact.id)):
        if fact.weight > 0 and fact.level <= max_level:
            best[fact.side, wording(fact.lines)] = fact
    return [best[key] for key in sorted(best)]


def best_runes(runes: Sequence[RuneFact], max_level: int) -> list[RuneFact]:
    """Return the highest tier of each kind of rune that anybody can buy: a lesser one only gives less of the same."""
    best: dict[str, RuneFact] = {}
    for rune in sorted(runes, key=lambda rune: (rune.level, rune.name)):
        if rune.level <= max_level and _COMMON_RUNE.match(rune.name):
            best[wording(rune.lines)] = rune
    return [best[key] for key in sorted(best)]


def wording(lines: Sequence[str]) -> str:
    """Return lines without their numbers: what an affix does, whatever its tier."""
    return _NUMBER.sub("#", "\n".join(lines).casefold())


def plain_item(slot: str, base: BaseFact, item_level: int) -> GearItem:
    """Return an item without affixes; armour, weapons and flasks are brought to full quality."""
    improved = base.socket_limit > 0 or base.type == "Flask"
    return GearItem(
        slot=slot,
        base=base.name,
        rarity="NORMAL" if base.type in _TIERLESS_TYPES else "RARE",
        item_level=max(item_level, 1),
        quality=MAX_QUALITY if improved else 0,
        sockets=socket_count(base),
    )


def has(item: GearItem, option: GearOption) -> int:
    """Return how often the option is on the item (runes can be there twice)."""
    match option.kind:
        case "base":
            return int(item.base == option.id)
        case "prefix":
            return sum(roll.id == option.id for roll in item.prefixes)
        case "suffix":
            return sum(roll.id == option.id for roll in item.suffixes)
        case "rune":
            return item.runes.count(option.id)


def has_room(item: GearItem, option: GearOption, pool: SlotPool) -> bool:
    """Return whether the affix could be on the item as well: its side is not full and nothing of its group is there."""
    rolls = (*item.prefixes, *item.suffixes)
    own = item.prefixes if option.kind == "prefix" else item.suffixes
    groups = {pool.affixes[roll.id].group for roll in rolls if roll.id in pool.affixes}
    return len(own) < pool.per_side and not has(item, option) and pool.affixes[option.id].group not in groups


def with_option(item: GearItem, option: GearOption, pool: SlotPool) -> GearItem:
    """Return the item with the option added, or with that base under the same affixes."""
    roll = AffixRoll(id=option.id)
    match option.kind:
        case "base":
            base = pool.bases[option.id]
            fitting = [rune for rune in item.runes if option.id in pool.runes.get(rune, ())]
            quality = plain_item(item.slot, base, 1).quality
            return changed(item, base=base.name, sockets=pool.sockets(base.name), runes=fitting, quality=quality)
        case "prefix":
            return changed(item, prefixes=[*item.prefixes, roll])
        case "suffix":
            return changed(item, suffixes=[*item.suffixes, roll])
        case "rune":
            return changed(item, runes=[*item.runes, option.id])


def without_option(item: GearItem, option: GearOption) -> GearItem:
    """Return the item with the affix, or one such rune, taken off."""
    match option.kind:
        case "prefix":
            return changed(item, prefixes=[r for r in item.prefixes if r.id != option.id])
        case "suffix":
            return changed(item, suffixes=[r for r in item.suffixes if r.id != option.id])
        case _:
            runes = list(item.runes)
            runes.remove(option.id)
            return changed(item, runes=runes)


def made_of(pool: SlotPool, counts: Mapping[GearOption, int]) -> GearItem:
    """Return the item that the chosen options make."""
    chosen = [option for option in pool.options() if counts.get(option, 0) > 0]
    base = next(option.id for option in chosen if option.kind == "base")
    item = plain_item(pool.slot, pool.bases[base], pool.item_level)
    for option in chosen:
        for _ in range(counts[option] if option.kind != "base" else 0):
            item = with_option(item, option, pool)
    return item


async def crafted(
    ctx: SearchContext, incumbent: Incumbent, slot: str, base_name: str, wants: Sequence[str] = ()
) -> tuple[GearItem, list[str]]:
    """Return the best item found for the slot on the base, within the gear tier, and its lines.

    `wants`: words of lines that it must have, such as "mana"; of the affixes that say one the best is taken first.

    Raises:
        UnknownFact: the base does not exist, does not fit the slot or cannot be had by this character, or nothing that
            still fits says what is wanted.
    """
    known = usable(await ctx.engine.facts.bases(), ctx)
    base = next((b for b in known if b.name.casefold() == base_name.casefold() and slot_fits(b, slot)), None)
    if base is None:
        raise UnknownFact(f"{base_name} does not exist, or does not fit {slot} of this character")
    pool = await slot_pool(replace(ctx, blueprint=incumbent.blueprint), slot, [base])
    item = plain_item(slot, base, pool.item_level)
    for required in sorted(pool.required):
        fact = pool.affixes[required]
        item = with_option(item, GearOption(slot, fact.side, fact.id), pool)
    for want in wants:
        options = [option for option in pool.options() if _fits(option, item, pool) and pool.tells(option, want)]
        if not options:
            raise UnknownFact(f"nothing that still fits on a {base.name} of this gear tier says {want!r}")
        item, _ = await _with_best(incumbent, item, options, pool)
    while True:  # the addition that helps most, until none helps or nothing more fits
        options = [option for option in pool.options() if _fits(option, item, pool)]
        better, gain = await _with_best(incumbent, item, options, pool)
        if gain <= EPSILON:
            break
        item = better
    lines = [line for roll in (*item.prefixes, *item.suffixes) for line in pool.affixes[roll.id].lines]
    return item, [*lines, *item.runes]


async def _with_best(
    incumbent: Incumbent, item: GearItem, options: Sequence[GearOption], pool: SlotPool
) -> tuple[GearItem, float]:
    """Return the item with the option that helps most, the first of equals, and what it adds to the score."""
    items = [with_option(item, option, pool) for option in options]
    gains = await incumbent.gains([[Equip(item=one)] for one in (item, *items)])
    best = max(range(1, len(gains)), key=lambda i: (gains[i], -i), default=0)
    return (items[best - 1] if best else item), (gains[best] - gains[0] if gains[best] > gains[0] else 0.0)


def _fits(option: GearOption, item: GearItem, pool: SlotPool) -> bool:
    if option.kind == "base":
        return False
    if option.kind == "rune":
        return len(item.runes) < item.sockets and item.base in pool.runes[option.id]
    return len(item.prefixes) + len(item.suffixes) < pool.total and has_room(item, option, pool)
