"""Faults to plant into a sound build, one each, and what a repair may touch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from app.engine.base import Facts
from app.model.blueprint import AffixRoll, Blueprint, GearItem, Gem, SkillGroup
from app.model.facts import AffixFact, BaseFact, GemFact, NodeFact
from app.model.names import Attribute, ConflictType, SubProblemName

T = ConflictType
Q = SubProblemName


@dataclass(frozen=True)
class World:
    """What the faults are made of."""

    nodes: dict[int, NodeFact]
    gems: dict[str, GemFact]
    bases: dict[str, BaseFact]
    affixes: dict[str, dict[str, AffixFact]]
    supported: dict[str, frozenset[str]]


async def world_of(facts: Facts, blueprint: Blueprint) -> World:
    """Return the facts about what the build wears and uses."""
    worn = sorted({item.base for item in blueprint.items.values()})
    used = sorted({group.gems[0].gem_id for group in blueprint.groups if group.gems})
    return World(
        nodes={node.id: node for node in await facts.nodes()},
        gems={gem.id: gem for gem in await facts.gems()},
        bases={base.name: base for base in await facts.bases()},
        affixes={base: {affix.id: affix for affix in await facts.affixes(base)} for base in worn},
        supported={gem: frozenset(await facts.supports_for(gem)) for gem in used},
    )


Plant = Callable[[Blueprint, World], Blueprint]


def with_item(blueprint: Blueprint, slot: str, item: GearItem | None) -> Blueprint:
    items = {key: value for key, value in blueprint.items.items() if key != slot}
    return blueprint.model_copy(update={"items": items if item is None else {**items, slot: item}})


def without_lines(blueprint: Blueprint, world: World, word: str) -> Blueprint:
    """Take every affix that says the word off every item, and every rune with it."""
    for slot, item in blueprint.items.items():
        kept = {side: _kept(getattr(item, side), world.affixes[item.base], word) for side in ("prefixes", "suffixes")}
        blueprint = with_item(blueprint, slot, item.model_copy(update=kept))
    return blueprint


def _kept(rolls: list[AffixRoll], known: dict[str, AffixFact], word: str) -> list[AffixRoll]:
    return [r for r in rolls if r.id not in known or word not in " ".join(known[r.id].lines)]


def unmet_attribute(blueprint: Blueprint, world: World) -> Blueprint:
    """All attribute passives give Strength or Dexterity to whom Intelligence matters, and the other way round."""
    most = max(Attribute, key=lambda one: sum(node.attribute is one for node in blueprint.nodes))
    other = Attribute.STRENGTH if most is not Attribute.STRENGTH else Attribute.INTELLIGENCE
    nodes = [n.model_copy(update={"attribute": other}) if n.attribute is not None else n for n in blueprint.nodes]
    word = {Attribute.STRENGTH: "Strength", Attribute.DEXTERITY: "Dexterity", Attribute.INTELLIGENCE: "Intelligence"}
    return without_lines(blueprint.model_copy(update={"nodes": nodes}), world, word[most])


def overflowed_spirit(blueprint: Blueprint, world: World) -> Blueprint:
    """Two more persistent skills than Spirit pays for."""
    used = {group.gems[0].gem_id for group in blueprint.groups}
    dear = sorted(
        (
            gem
            for gem in world.gems.values()
            if gem.spirit >= 60 and gem.id not in used and "Meta" not in gem.skill_types
        ),
        key=lambda gem: (-gem.spirit, gem.id),
    )
    more = [SkillGroup(gems=[Gem(gem_id=gem.id, name=gem.name, level=1)]) for gem in dear[:4]]
    return blueprint.model_copy(update={"groups": [*blueprint.groups, *more]})


def broken_path(blueprint: Blueprint, world: World) -> Blueprint:
    """A passive early on the way is missing."""
    plain = [n for n in blueprint.nodes if world.nodes[n.id].ascendancy is None]
    return blueprint.model_copy(update={"nodes": [n for n in blueprint.nodes if n.id != plain[3].id]})


def wrong_weapon(blueprint: Blueprint, world: World) -> Blueprint:
    """A weapon that the main skill does not go with."""
    main = world.gems[blueprint.groups[blueprint.main_group - 1].gems[0].gem_id]
    kind = "Bow" if "Bow" not in main.weapon_types else "Wand"
    base = min(
        (b for b in world.bases.values() if b.type == kind), key=lambda b: (b.requirements.get("level", 0), b.name)
    )
    without = with_item(blueprint, "Weapon 2", None)
    return with_item(without, "Weapon 1", GearItem(slot="Weapon 1", base=base.name, rarity="NORMAL"))


def uncapped_cold(blueprint: Blueprint, world: World) -> Blueprint:
    """No item resists cold, by its lines or by a rune of the cold."""
    return _without_runes(without_lines(blueprint, world, "Cold Resistance"), "Glacial")


def _without_runes(blueprint: Blueprint, word: str = "") -> Blueprint:
    for slot, item in blueprint.items.items():
        kept = ["None" if word in rune else rune for rune in item.runes]
        blueprint = with_item(blueprint, slot, item.model_copy(update={"runes": kept}))
    return blueprint


def unsustained_mana(blueprint: Blueprint, world: World) -> Blueprint:
    """No mana flask, and no item gives mana."""
    return with_item(_without_runes(without_lines(blueprint, world, "Mana")), "Flask 2", None)


def dead_support(blueprint: Blueprint, world: World) -> Blueprint:
    """The last support of the main skill is one that cannot support it."""
    index = blueprint.main_group - 1
    group = blueprint.groups[index]
    fit = world.supported[group.gems[0].gem_id]
    dead = min(
        (gem for gem in world.gems.values() if gem.kind == "support" and gem.id not in fit and not gem.lineage),
        key=lambda gem: gem.id,
    )
    gems = [*group.gems[:-1], Gem(gem_id=dead.id, name=dead.name, level=1)]
    groups = [*blueprint.groups[:index], group.model_copy(update={"gems": gems}), *blueprint.groups[index + 1 :]]
    return blueprint.model_copy(update={"groups": groups})


def illegal_item(blueprint: Blueprint, world: World) -> Blueprint:
    """A helmet with two affixes of one group, the better one above the tier."""
    item = blueprint.items["Helmet"]
    by_group: dict[str, list[AffixFact]] = {}
    for affix in world.affixes[item.base].values():
        if affix.side == "prefix":
            by_group.setdefault(affix.group, []).append(affix)
    pair = max(by_group.values(), key=lambda found: (len(found), found[0].group))
    best = sorted(pair, key=lambda affix: (affix.level, affix.id))[-2:]
    return with_item(
        blueprint, "Helmet", item.model_copy(update={"prefixes": [AffixRoll(id=affix.id) for affix in best]})
    )


def contended_ring(blueprint: Blueprint, world: World) -> Blueprint:
    """One ring carries resistances and attributes for the build, and is now plain."""
    bare = {"prefixes": [], "suffixes": [], "rarity": "NORMAL", "runes": []}
    for slot in ("Ring 1", "Amulet"):
        blueprint = with_item(blueprint, slot, blueprint.items[slot].model_copy(update=bare))
    return blueprint


def too_many_points(blueprint: Blueprint, world: World) -> Blueprint:
    """Five passives more than the level gives."""
    have = {node.id for node in blueprint.nodes}
    tree = [n for n in blueprint.nodes if world.nodes[n.id].ascendancy is None]
    like = tree[0]
    free = sorted(
        near
        for node in tree
        for near in world.nodes[node.id].neighbours
        if near not in have and near in world.nodes and world.nodes[near].ascendancy is None
        if world.nodes[near].kind == "normal"
    )
    more = [like.model_copy(update={"id": near, "attribute": None}) for near in dict.fromkeys(free)][:5]
    return blueprint.model_copy(update={"nodes": [*blueprint.nodes, *more]})


@dataclass(frozen=True)
class Fault:
    """How to plant it, the conflicts of which at least one must be seen, and the questions that a repair may open."""

    plant: Plant
    seen_as: frozenset[ConflictType]
    concerns: frozenset[SubProblemName]


def _fault(plant: Plant, seen_as: Iterable[ConflictType], *concerns: SubProblemName) -> Fault:
    return Fault(plant, frozenset(seen_as), frozenset(concerns))


_SHORT_OF_GEAR = (T.RESISTANCE_GAP, T.STAT_REQUIREMENT, T.ATTRIBUTE_SQUEEZE, T.SURVIVABILITY_GAP)

FAULTS: dict[str, Fault] = {
    "unmet attribute": _fault(
        unmet_attribute, [T.STAT_REQUIREMENT, T.ATTRIBUTE_SQUEEZE], Q.STAT_REQUIREMENTS, Q.DAMAGE_DELIVERY
    ),
    "overflowed Spirit": _fault(overflowed_spirit, [T.SPIRIT_OVERFLOW], Q.SPIRIT_ALLOCATION, Q.STAT_REQUIREMENTS),
    "broken path": _fault(broken_path, [T.TREE_OVERFLOW], Q.DAMAGE_SCALING),
    "wrong weapon": _fault(wrong_weapon, [T.CORE_ASSUMPTION_INVALIDATED], Q.DAMAGE_DELIVERY),
    "uncapped cold": _fault(uncapped_cold, [T.RESISTANCE_GAP], Q.STAT_REQUIREMENTS),
    "unsustained mana": _fault(
        unsustained_mana, [T.SUSTAIN_GAP, T.STAT_REQUIREMENT], Q.RESOURCE_SUSTAIN, Q.STAT_REQUIREMENTS
    ),
    "dead support": _fault(dead_support, [T.INEFFECTIVE_SUPPORT], Q.DAMAGE_DELIVERY, Q.STAT_REQUIREMENTS),
    "illegal item": _fault(illegal_item, [T.ILLEGAL_ITEM], Q.STAT_REQUIREMENTS),
    "contention on one ring": _fault(contended_ring, _SHORT_OF_GEAR, Q.STAT_REQUIREMENTS),
    "too many points": _fault(too_many_points, [T.TREE_OVERFLOW], Q.DAMAGE_SCALING),
}
"""Every fault by name."""

REPRESENTATIVE = ("broken path", "uncapped cold", "dead support", "wrong weapon")
"""One of each kind: passives, gear, gems, and what everything else rests on."""
