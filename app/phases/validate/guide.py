"""From a finished blueprint to what its player needs: order of passives and gems, shopping list, how to play."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.engine.base import Engine, Facts
from app.knowledge.gems import calls, comes_as_gem, level_required, tags, waits
from app.model.base import changed
from app.model.blueprint import Blueprint, Gem, PassiveNode, SkillGroup
from app.model.demands import Demands
from app.model.facts import GemFact, NodeFact
from app.model.groups import GroupRole, GroupUse
from app.model.guide import GemStep, Guide, ItemLine, PassiveStep, ShoppingItem
from app.model.names import Effort
from app.model.stats import GrantedEffect
from app.search.gear.legality import shopping_list
from app.search.gear.worth import ItemWorth, worth_of_items
from app.search.sessions import USUAL, open_parallel
from app.search.skills.further import LEAST_SHARE, group_uses
from app.search.skills.gems import support_slots

Gems = Mapping[str, GemFact]
_CURSES, _TRIGGERED = frozenset({"AppliesCurse", "Mark"}), frozenset({"Triggered"})


async def guide_to(facts: Facts, blueprint: Blueprint, granted: Sequence[GrantedEffect] = ()) -> Guide:
    """Return the guide; passives and gems that the engine does not know are left out.

    `granted` skills, of items and passives, are told where figures hang on them or a passive was taken for them.
    """
    nodes = {node.id: node for node in await facts.nodes()}
    gems = {gem.id: gem for gem in await facts.gems()}
    return Guide(
        **passive_steps(blueprint, nodes),
        gems=_gem_steps(blueprint, gems),
        shopping=[_item(entry) for entry in await shopping_list(facts, blueprint)],
        how_to_play=how_to_play(_with(blueprint, granted, gems), gems, keystones=_keystones(blueprint, nodes)),
    )


def _with(blueprint: Blueprint, granted: Sequence[GrantedEffect], gems: Gems) -> Blueprint:
    """Return the build with groups for what is granted to it and told."""
    named = {fact.name: Gem(gem_id=fact.id, name=fact.name) for fact in gems.values() if fact.kind == "active"}
    more = [SkillGroup(gems=[named[one.skill]]) for one in told(granted, blueprint) if one.skill in named]
    return changed(blueprint, groups=[*blueprint.groups, *more])


def told(granted: Sequence[GrantedEffect], blueprint: Blueprint) -> list[GrantedEffect]:
    """Return the granted skills that a part of the figures hangs on, and those of passives that lead no own group."""
    own = {group.gems[0].name for group in blueprint.groups if group.gems}
    return [one for one in granted if max(one.damage, one.ehp) >= LEAST_SHARE or (one.passive and one.skill not in own)]


def _granted_use(one: GrantedEffect) -> GroupUse:
    damage, ehp = (share if share >= LEAST_SHARE else None for share in (one.damage, one.ehp))
    purpose = f"granted by {one.source or 'what is worn'}"
    counted = None if damage or ehp else False
    return GroupUse(skill=one.skill, role=GroupRole.GRANTED, purpose=purpose, damage=damage, ehp=ehp, counted=counted)


def passive_steps(blueprint: Blueprint, nodes: Mapping[int, NodeFact]) -> dict[str, list[PassiveStep]]:
    """Return the guide's passives and those of the ascendancy, in the order of the blueprint."""
    known = [node for node in blueprint.nodes if node.id in nodes]
    return {
        "passives": _steps([node for node in known if nodes[node.id].ascendancy is None], nodes),
        "ascendancy": _steps([node for node in known if nodes[node.id].ascendancy is not None], nodes),
    }


async def measured_guide(
    engine: Engine, blueprint: Blueprint, demands: Demands, effort: Effort, granted: Sequence[GrantedEffect] = ()
) -> Guide:
    """Return the guide with what lines of crafted items and skill groups are worth, measured in sessions of its own.

    With quick effort nothing is measured.

    Raises:
        EngineError: the engine failed beyond retry.
    """
    guide = await guide_to(engine.facts, blueprint, granted)
    if effort is Effort.QUICK:
        return guide
    async with open_parallel(engine, blueprint, USUAL) as session:
        gems = {gem.id: gem for gem in await engine.facts.gems()}
        keystones = _keystones(blueprint, {node.id: node for node in await engine.facts.nodes()})
        worth = await worth_of_items(engine.facts, session, blueprint, demands)
        uses = await group_uses(session, blueprint, gems, demands.goal)
    uses += [_granted_use(one) for one in told(granted, blueprint)]
    played = how_to_play(_with(blueprint, granted, gems), gems, uses, keystones)
    guide = changed(guide, groups=uses, how_to_play=played)
    return changed(guide, shopping=[_weighed(item, worth) for item in guide.shopping], at_tiers=list(worth.at_tiers))


def _weighed(item: ShoppingItem, worth: ItemWorth) -> ShoppingItem:
    """Return the item with its losses, the lines that matter most first."""
    lost = worth.lines.get(item.slot, {})
    lines = [changed(line, lost=lost.get(line.affix)) for line in item.lines]
    lines.sort(key=lambda line: -line.lost.weight if line.lost is not None else 0.0)
    return changed(item, lines=lines, one_tier_lower=worth.one_tier_lower.get(item.slot))


def _steps(nodes: Sequence[PassiveNode], facts: Mapping[int, NodeFact]) -> list[PassiveStep]:
    return [
        PassiveStep(
            point=point,
            id=node.id,
            name=facts[node.id].name,
            kind=facts[node.id].kind,
            attribute=node.attribute,
            weapon_set=node.weapon_set,
        )
        for point, node in enumerate(nodes, start=1)
    ]


def _gem_steps(blueprint: Blueprint, gems: Gems) -> list[GemStep]:
    """Return the gems by the level from which they can be used, those of the main skill first.

    A support comes with the socket that holds it and not before uncut gems of its tier are found, lower tiers first;
    lineage supports, which bosses of maps drop, come last.
    """
    main = blueprint.main
    found = [
        (step.level, group is not main, index, place, step)
        for index, group in enumerate(blueprint.groups)
        if group.enabled and group.gems and group.gems[0].gem_id in gems
        for place, step in enumerate(_cut(group, gems))
    ]
    return [step for *_, step in sorted(found, key=lambda entry: entry[:4])]


FIRST_MAPS = 65
"""Character level at the end of the campaign, from which on maps are played."""


def _cut(group: SkillGroup, gems: Gems) -> list[GemStep]:
    known = [(gem, gems[gem.gem_id]) for gem in group.gems if gem.gem_id in gems]
    skills = [(gem, fact) for gem, fact in known if fact.kind != "support"]
    supports = [entry for entry in known if entry[1].kind == "support"]
    supports.sort(key=lambda entry: (entry[1].lineage, entry[1].tier))
    first = max(level_required(fact) for _, fact in skills) if skills else 1
    name = group.gems[0].name
    cut = [gem for gem, fact in skills if comes_as_gem(fact)]
    steps = [GemStep(level=first, name=gem.name, group=name, support=False) for gem in cut]
    for held, (gem, fact) in enumerate(supports, start=1):
        level = max(first, level_required(fact), socket_level(held), FIRST_MAPS if fact.lineage else 1)
        steps.append(GemStep(level=level, name=gem.name, group=name, support=True))
    return steps


def socket_level(supports: int) -> int:
    """Return the character level from which a skill can hold so many supports."""
    return next((level for level in range(1, 101) if support_slots(level) >= supports), 100)


def _item(entry: Mapping[str, object]) -> ShoppingItem:
    names = {"level": "item_level"}
    fields = {
        key: entry[names.get(key, key)] for key in ShoppingItem.model_fields if key not in ("lines", "one_tier_lower")
    }
    lines = entry["lines"]
    assert isinstance(lines, list)
    return ShoppingItem.model_validate({**fields, "lines": [ItemLine.model_validate(line) for line in lines]})


_SAID: Mapping[GroupRole, str] = {
    GroupRole.MOVEMENT: "Get about with: {}.",
    GroupRole.CLEAR: "Against packs: {}.",
    GroupRole.SINGLE_TARGET: "Against one that lasts longer: {}.",
}
"""How a group of the role is used, where that is not just when it is ready."""


_RECOVERS_NOTHING: Mapping[str, str] = {"Chaos Inoculation": "Life Flask", "Blood Magic": "Mana Flask"}
"""Keystones with which flasks of a kind, told by the end of their base's name, have nothing to recover."""


def _keystones(blueprint: Blueprint, nodes: Mapping[int, NodeFact]) -> list[str]:
    """Return the keystones that are allocated, then those that worn items bring with a line of their own."""
    found = [nodes[node.id] for node in blueprint.nodes if node.id in nodes]
    own = [node.name for node in found if node.kind == "keystone"]
    known = {node.name for node in nodes.values() if node.kind == "keystone"}
    lines = {line.strip() for item in blueprint.items.values() for line in (item.text or "").splitlines()}
    return [*own, *sorted(known & lines - set(own))]


def how_to_play(
    blueprint: Blueprint, gems: Gems, uses: Sequence[GroupUse] = (), keystones: Sequence[str] = ()
) -> list[str]:
    """Return in a few sentences what to press, in what order, and what runs by itself.

    `uses` say what groups are for; `keystones` are the names of those that the build has.
    """
    main = blueprint.main
    others = [group for group in blueprint.groups if group is not main and group.enabled and group.gems]
    lasting = [group for group in others if is_lasting(group, gems)]
    curses = [group for group in others if group not in lasting and _is_of(group, gems, _CURSES)]
    roles = {use.skill: use.role for use in uses}
    free = [group for group in others if group not in lasting]
    of_role = [(text, [g for g in free if roles.get(g.gems[0].name) is role]) for role, text in _SAID.items()]
    placed = [*lasting, *curses, *(group for _, groups in of_role for group in groups)]
    rest = [group for group in others if group not in placed]
    triggered = [group for group in rest if _is_of(group, gems, _TRIGGERED)]
    lines = [
        _named("Switch on once and keep: {}.", lasting, gems),
        _named("Before a strong enemy: {}.", curses, gems),
        f"Then {_main_use(main, free, gems)}." if main is not None and main.gems else "",
        *(_named(text, groups, gems) for text, groups in of_role),
        _named("Use when ready: {}.", [group for group in rest if group not in triggered], gems),
        _named("Comes by itself: {}.", triggered, gems),
        *_consumables(blueprint, keystones),
    ]
    return [line for line in lines if line]


def _main_use(group: SkillGroup, others: Sequence[SkillGroup], gems: Gems) -> str:
    fact = gems.get(group.gems[0].gem_id)
    name = group.gems[0].name
    spells = [gems[one.gems[0].gem_id] for one in others if one.gems[0].gem_id in gems] if fact is not None else []
    if fact is not None and (calling := [spell.name for spell in spells if calls(spell, fact)]):
        return f"repeat {calling[0]}: each use calls {name}, the main skill"
    if fact is not None and "Minion" in fact.skill_types:
        return f"summon with {name} and let them fight"
    pauses = fact is not None and (waits(fact) or "cooldown" in tags(fact))
    use = f"use {name} whenever it is ready" if pauses else f"repeat {name}"
    return f"{use}, the main skill" + _supported(group.gems, gems)


def _supported(of: Sequence[Gem], gems: Gems) -> str:
    names = [gem.name for gem in of[1:] if (fact := gems.get(gem.gem_id)) is not None and fact.kind == "support"]
    return f" (supported by {', '.join(names)})" if names else ""


def is_lasting(group: SkillGroup, gems: Gems) -> bool:
    """Say whether the group's skill is switched on once and reserves Spirit."""
    fact = gems.get(group.gems[0].gem_id)
    return fact is not None and (fact.spirit > 0 or "HasReservation" in fact.skill_types)


def _is_of(group: SkillGroup, gems: Gems, types: frozenset[str]) -> bool:
    """Say whether the group's skill is of one of these types."""
    fact = gems.get(group.gems[0].gem_id)
    return fact is not None and bool(types & set(fact.skill_types))


def _named(text: str, groups: Sequence[SkillGroup], gems: Gems) -> str:
    names = [group.gems[0].name + _triggers(group, gems) for group in groups]
    return text.format(", ".join(names)) if names else ""


def _triggers(group: SkillGroup, gems: Gems) -> str:
    """Return what a meta gem triggers: active gems behind the first one."""
    names = [gem.name for gem in group.gems[1:] if (fact := gems.get(gem.gem_id)) is not None and fact.kind == "active"]
    return f" with {', '.join(names)}" if names else ""


def _consumables(blueprint: Blueprint, keystones: Sequence[str]) -> list[str]:
    useless = tuple(_RECOVERS_NOTHING[name] for name in keystones if name in _RECOVERS_NOTHING)
    flasks = [item.base for slot, item in sorted(blueprint.items.items()) if slot.startswith("Flask")]
    flasks = [base for base in flasks if not base.endswith(useless)]
    charms = [item.base for slot, item in sorted(blueprint.items.items()) if slot.startswith("Charm")]
    drink = [f"Drink when low: {', '.join(flasks)}."] if flasks else []
    return [*drink, *([f"Charms act by themselves: {', '.join(charms)}."] if charms else [])]
