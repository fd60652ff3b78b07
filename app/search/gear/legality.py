"""Is an item craftable, and does its gear tier allow it? A pure check of one item against the engine's facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.engine.base import Facts
from app.knowledge.uniques import GONE, allows_only_plain_armour, origin_of
from app.knowledge.weapons import IN_ONE_HAND
from app.knowledge.words import phrase
from app.model.blueprint import OFF_HAND, SWAP, Blueprint, GearItem
from app.model.demands import EMOTIONS, GearLimits
from app.model.facts import AffixFact, BaseFact, NodeFact, RuneFact, UniqueFact
from app.model.stats import ItemFinding

MAX_QUALITY = 20
EMPTY_SOCKET = "None"
BONDED = "Bonded:"
"""Starts the lines of a rune that only characters with bonded runes have; for all others they are just text."""
ANOINT = "anoint"
"""Stands for the line of what an amulet is anointed with, where affixes stand by their ids."""

_SMALL = {"Jewel": 2, "Flask": 1, "Charm": 1}
_PER_SIDE = {"NORMAL": 0, "MAGIC": 1, "RARE": 3}


@dataclass(frozen=True)
class BaseKnowledge:
    """What may be on items of one base: the base itself, its affixes and runes by id or name."""

    base: BaseFact | None
    affixes: Mapping[str, AffixFact] = field(default_factory=dict)
    runes: Mapping[str, RuneFact] = field(default_factory=dict)


def is_bonded(line: str) -> bool:
    """Return whether the line says what a rune does only for characters with bonded runes."""
    return line.startswith(BONDED)


def side_limit(base: BaseFact, rarity: str) -> int:
    """Return how many prefixes, and as many suffixes, an item of the base and rarity can have.

    Rare equipment has 3 + 3, a jewel 2 + 2; flasks and charms are magic at best, 1 + 1.
    """
    return min(_PER_SIDE.get(rarity, 0), _SMALL.get(base.type, 3))


def slot_fits(base: BaseFact, slot: str, keystones: Collection[str] = ()) -> bool:
    """Return whether the base can be put into the slot; every jewel socket counts as the slot "Jewel".

    By one of the build's keystones the other hand may hold a weapon for two.
    """
    plain = slot.removesuffix(SWAP)
    wanted = "Jewel" if plain.startswith("Jewel") else plain
    if wanted == OFF_HAND and base.type in {IN_ONE_HAND.get(name) for name in keystones}:
        return True
    return not base.slots or any(known.removesuffix(SWAP).strip() == wanted for known in base.slots)


def item_problems(
    item: GearItem, known: BaseKnowledge, limits: GearLimits, level: int, keystones: Collection[str] = ()
) -> list[str]:
    """Return why the item is not craftable within the gear tier, in words; empty = legal.

    `level` is the character's, as are `keystones`. Items given as text are not structured and have their own check
    (`text_problems`).
    """
    if known.base is None:
        return [f"no base is called {item.base}"]
    base = known.base
    problems = []
    if not slot_fits(base, item.slot, keystones):
        problems.append(f"{base.name} does not fit {item.slot}")
    if base.requirements.get("level", 0) > level:
        problems.append(f"{base.name} needs level {base.requirements['level']}, the character is {level}")
    if not 0 <= item.quality <= MAX_QUALITY:
        problems.append(f"quality {item.quality} is not 0 to {MAX_QUALITY}")
    if item.rarity == "RARE" and base.type in ("Flask", "Charm"):
        problems.append(f"a {base.type.lower()} cannot be rare")
    allowed = side_limit(base, item.rarity)
    for sides, rolls in (("prefixes", item.prefixes), ("suffixes", item.suffixes)):
        if len(rolls) > allowed:
            problems.append(f"{len(rolls)} {sides}, {allowed} are possible")
    return [*problems, *_affix_problems(item, known, limits), *_rune_problems(item, base, known)]


def text_problems(item: GearItem, uniques: Iterable[UniqueFact], limits: GearLimits, level: int) -> list[str]:
    """Return why an item given as text is not allowed: only a known unique within the tier and level can be checked."""
    if item.rarity != "UNIQUE":
        return []
    fact = next((u for u in uniques if u.name == item.title and u.base == item.base), None)
    if fact is None and limits.gone_uniques:
        return []  # what somebody wears may be newer than the facts, or on a base that was upgraded
    if fact is None:
        return [f"no unique is called {item.title} on {item.base}"]
    wanted = is_named(item, limits)
    problems = [] if limits.max_uniques or wanted else ["the gear tier allows no uniques"]
    problems += [barred] if not wanted and (barred := unobtainable(fact, limits)) else []
    if fact.level > level:
        problems.append(f"needs level {fact.level}, the character is {level}")
    return problems


def is_named(item: GearItem, limits: GearLimits) -> bool:
    """Return whether the user asked for the unique item by its name."""
    return item.rarity == "UNIQUE" and phrase(item.title) in {phrase(name) for name in limits.named}


def unobtainable(fact: UniqueFact, limits: GearLimits) -> str | None:
    """Return why a character of the tier will not get the unique, None when it may."""
    origin = origin_of(fact)
    if fact.source == GONE:
        return None if limits.gone_uniques else origin.why
    if origin.tier.rank <= limits.rarest_unique.rank:
        return None
    return f"is too hard to come by for the gear tier ({origin.words})"


def recipes_of(nodes: Iterable[NodeFact]) -> dict[str, NodeFact]:
    """Return the notables that an amulet can be anointed with, by name; of one name only where one notable has it."""
    notables = [node for node in nodes if node.kind == "notable" and node.ascendancy is None]
    count = Counter(node.name for node in notables)
    return {node.name: node for node in notables if node.recipe and count[node.name] == 1}


def can_pay(recipe: Iterable[str], limits: GearLimits) -> bool:
    """Return whether the gear tier has all emotions of a recipe."""
    return set(recipe) <= set(EMOTIONS[: limits.emotions])


def can_anoint(name: str, recipes: Mapping[str, NodeFact], limits: GearLimits) -> bool:
    """Return whether the gear tier can anoint an amulet with the notable of that name."""
    return name in recipes and can_pay(recipes[name].recipe, limits)


def anoint_problems(
    item: GearItem, base: BaseFact | None, recipes: Mapping[str, NodeFact], limits: GearLimits
) -> list[str]:
    """Return why the item cannot be anointed with what it is, in words; empty = it can, or is not."""
    if not item.anoint:
        return []
    if base is None or base.type != "Amulet":
        return [f"{item.base} cannot be anointed"]
    if item.anoint not in recipes:
        return [f"nothing anoints with {item.anoint}"]
    recipe = recipes[item.anoint].recipe
    return [] if can_pay(recipe, limits) else [f"the gear tier does not have {', '.join(recipe)} for {item.anoint}"]


def _affix_problems(item: GearItem, known: BaseKnowledge, limits: GearLimits) -> list[str]:
    """Return what is wrong with the number of all affixes, with each of them, and with two of one group."""
    problems = []
    every = [*(("prefix", roll) for roll in item.prefixes), *(("suffix", roll) for roll in item.suffixes)]
    if len(every) > limits.max_affixes:
        problems.append(f"{len(every)} affixes, the gear tier allows {limits.max_affixes}")
    for side, roll in every:
        fact = known.affixes.get(roll.id)
        if fact is None or fact.weight <= 0:
            problems.append(f"{roll.id} cannot be on {item.base}")
            continue
        if fact.side != side:
            problems.append(f"{roll.id} is a {fact.side}, not a {side}")
        if fact.level > item.item_level:
            problems.append(f"{fact.id} needs item level {fact.level}, the item has {item.item_level}")
        if fact.level > limits.max_affix_level:
            problems.append(f"{fact.id} has level {fact.level}, the gear tier allows {limits.max_affix_level}")
        if not 0.0 <= roll.roll <= 1.0:
            problems.append(f"{roll.id} is rolled outside its range")
    groups = Counter(known.affixes[roll.id].group for _, roll in every if roll.id in known.affixes)
    shared = [f"{count} affixes of the group {group}" for group, count in sorted(groups.items()) if count > 1]
    return [*problems, *shared]


def _rune_problems(item: GearItem, base: BaseFact, known: BaseKnowledge) -> list[str]:
    problems = []
    if item.sockets > base.socket_limit:
        problems.append(f"{item.sockets} sockets, {base.socket_limit} are possible")
    if len(item.runes) > item.sockets:
        problems.append(f"{len(item.runes)} runes in {item.sockets} sockets")
    problems.extend(
        f"{rune} cannot be put into {item.base}"
        for rune in sorted(set(item.runes))
        if rune != EMPTY_SOCKET and rune not in known.runes
    )
    return problems


async def knowledge(facts: Facts, names: Iterable[str]) -> dict[str, BaseKnowledge]:
    """Ask the engine what may be on each of the bases; an unknown base has no facts."""
    bases = {base.name: base for base in await facts.bases()}
    result = {}
    for name in sorted(set(names)):
        base = bases.get(name)
        if base is None:
            result[name] = BaseKnowledge(None)
            continue
        affixes = {fact.id: fact for fact in await facts.affixes(name)}
        runes = {fact.name: fact for fact in await facts.runes(name)} if base.socket_limit else {}
        result[name] = BaseKnowledge(base, affixes, runes)
    return result


async def gear_findings(facts: Facts, blueprint: Blueprint, limits: GearLimits) -> list[ItemFinding]:
    """Check every item of the build and the number of uniques; return the faults, sorted by slot."""
    items = [blueprint.items[slot] for slot in sorted(blueprint.items)]
    known = await knowledge(facts, (item.base for item in items if item.text is None))
    uniques = await facts.uniques() if any(item.text is not None for item in items) else []
    anointed = any(item.anoint for item in items)
    nodes = await facts.nodes()
    recipes = recipes_of(nodes) if anointed else {}
    bases = {base.name: base for base in await facts.bases()} if anointed else {}
    keystones = {node.name for node in nodes if node.kind == "keystone" and node.id in blueprint.passives}
    findings: list[ItemFinding] = []
    for item in items:
        if item.text is None:
            problems = item_problems(item, known[item.base], limits, blueprint.level, keystones)
        else:
            problems = text_problems(item, uniques, limits, blueprint.level)
        problems += anoint_problems(item, bases.get(item.base), recipes, limits)
        findings.extend(ItemFinding(slot=item.slot, line=item.title or item.base, reason=p) for p in problems)
    findings += [*_beyond_limits(items, uniques), *_barred(blueprint, nodes)]
    worn = [item for item in items if item.rarity == "UNIQUE" and not is_named(item, limits)]
    if len(worn) > limits.max_uniques:
        reason = f"{len(worn)} uniques, the gear tier allows {limits.max_uniques}"
        findings.append(ItemFinding(slot=worn[-1].slot, line=worn[-1].title, reason=reason))
    return findings


def _barred(blueprint: Blueprint, nodes: Iterable[NodeFact]) -> list[ItemFinding]:
    """Return a fault for a body armour that a passive of the build does not allow; the engine lets it count."""
    armour, owned = blueprint.items.get("Body Armour"), {node.id for node in blueprint.nodes}
    if armour is None or armour.rarity == "NORMAL":
        return []
    barring = sorted(node.name for node in nodes if node.id in owned and allows_only_plain_armour(node.mods))
    reason = "allows only a Normal body armour, one without affixes"
    return [
        ItemFinding(slot=armour.slot, line=armour.title or armour.base, reason=f"{name} {reason}") for name in barring
    ]


def _beyond_limits(items: Sequence[GearItem], uniques: Iterable[UniqueFact]) -> list[ItemFinding]:
    """Return a fault for each name of which more are worn than one character can use."""
    limits = {fact.name: fact.limit for fact in uniques if fact.limit}
    worn = [item for item in items if item.rarity == "UNIQUE" and item.title in limits]
    last = {item.title: (item, sum(other.title == item.title for other in worn)) for item in worn}
    return [
        ItemFinding(slot=item.slot, line=name, reason=f"{count} are worn, {limits[name]} can be used")
        for name, (item, count) in sorted(last.items())
        if count > limits[name]
    ]


def _affixes_of(item: GearItem, known: BaseKnowledge) -> list[AffixFact]:
    """Return the item's affixes as far as they are known on its base, prefixes first."""
    return [known.affixes[roll.id] for roll in (*item.prefixes, *item.suffixes) if roll.id in known.affixes]


async def lines_said(facts: Facts, blueprint: Blueprint) -> dict[str, list[str]]:
    """Return per slot what affixes and runes say, or the text of an item that is given as text; not what its base does.

    What a rune says only for characters with bonded runes is left out.
    """
    items = list(blueprint.items.values())
    known = await knowledge(facts, (item.base for item in items if item.text is None))
    uniques = {(fact.name, fact.base): fact for fact in await facts.uniques()}
    found: dict[str, list[str]] = {}
    for item in items:
        if item.text is None:
            runes = known[item.base].runes
            told = [line for fact in _affixes_of(item, known[item.base]) for line in fact.lines]
            told += [line for rune in item.runes if rune in runes for line in runes[rune].lines]
            found[item.slot] = [line for line in told if not is_bonded(line)]
        elif (fact := uniques.get((item.title, item.base))) is not None and fact.lines:
            found[item.slot] = fact.lines_in(item.text)
        else:
            found[item.slot] = item.text.partition("Implicits: ")[2].split("\n")
    return found


async def shopping_list(facts: Facts, blueprint: Blueprint) -> list[dict[str, Any]]:
    """Return per slot, sorted: base, rarity, item level, quality, runes and the lines the item must have.

    A unique item's lines have its name; the ranges are those it drops with; its origin says how hard it is to come by,
    None where the engine does not know it. What an amulet is anointed with is its first line, with the emotions that
    do it.
    """
    items = [blueprint.items[slot] for slot in sorted(blueprint.items)]
    known = await knowledge(facts, (item.base for item in items if item.text is None))
    named = any(item.rarity == "UNIQUE" for item in items)
    uniques = {(fact.name, fact.base): fact for fact in (await facts.uniques() if named else [])}
    recipes = recipes_of(await facts.nodes()) if any(item.anoint for item in items) else {}
    found = []
    for item in items:
        unique = uniques.get((item.title, item.base)) if item.rarity == "UNIQUE" else None
        if unique is not None and unique.lines:
            lines = [{"side": "unique", "name": item.title, "text": line} for line in unique.lines_in(item.text or "")]
        else:
            has = _affixes_of(item, known[item.base]) if item.base in known else []
            lines = [
                {"side": fact.side, "name": fact.name, "text": " / ".join(fact.lines), "affix": fact.id} for fact in has
            ]
        if item.anoint:
            emotions = f" ({', '.join(recipes[item.anoint].recipe)})" if item.anoint in recipes else ""
            text = f"Allocates {item.anoint}{emotions}"
            lines.insert(0, {"side": "enchant", "name": item.anoint, "text": text, "affix": ANOINT})
        entry: dict[str, Any] = {
            "slot": item.slot,
            "base": item.base,
            "title": item.title,
            "rarity": item.rarity,
            "item_level": item.item_level,
            "quality": item.quality,
            "runes": list(item.runes),
            "lines": lines,
            "origin": origin_of(unique) if unique is not None else None,
        }
        found.append(entry)
    return found
