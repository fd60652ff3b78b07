"""What the user named to be in the build, as the engine's facts know it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from app.engine.base import Facts
from app.knowledge.exclusions import granting
from app.knowledge.gems import can_be_cut
from app.knowledge.things import Thing, ThingKind, things_of
from app.knowledge.words import phrase
from app.model.blueprint import Blueprint
from app.model.constraints import InvariantSet
from app.model.facts import BaseFact, GemFact, NodeFact, UniqueFact


@dataclass(frozen=True)
class Named:
    """The facts of what was named, in the order in which it was named.

    Passives of one name stand together: any of them is meant. Nothing that the engine does not know is in here.
    """

    skills: tuple[GemFact, ...] = ()
    supports: tuple[GemFact, ...] = ()
    passives: tuple[tuple[NodeFact, ...], ...] = ()
    uniques: tuple[tuple[UniqueFact, ...], ...] = ()
    bases: tuple[BaseFact, ...] = ()


async def named_in(facts: Facts, invariants: InvariantSet) -> Named:
    """Return what the constraint `with` names.

    A name of several kinds means the first of them (skill, support, passive, unique, base); a skill that only a
    passive or an item of the same name grants means that one. One that is no gem means the passives that grant it, and
    nothing where none does.
    """
    names = [phrase(name) for name in invariants.listed("with")]
    if not names:
        return Named()
    known = await things_of(facts)
    gems = {gem.id: gem for gem in await facts.gems()}
    meant = [_meant(known[name], gems) for name in dict.fromkeys(names) if name in known]
    nodes = {str(node.id): node for node in await facts.nodes()}
    bases = {base.name: base for base in await facts.bases()}
    uniques = await facts.uniques()
    first = [things[0] for things in meant]
    skills = [gems[one.id] for one in first if one.kind is ThingKind.SKILL]
    granted = [granting(nodes.values(), skill.name) for skill in skills if not can_be_cut(skill)]
    return Named(
        skills=tuple(skill for skill in skills if can_be_cut(skill)),
        supports=tuple(gems[one.id] for one in first if one.kind is ThingKind.SUPPORT),
        passives=(
            *(tuple(nodes[one.id] for one in things) for things in meant if things[0].kind in _PASSIVES),
            *filter(None, granted),
        ),
        uniques=tuple(
            tuple(unique for unique in uniques if unique.name == one.name)
            for one in first
            if one.kind is ThingKind.UNIQUE
        ),
        bases=tuple(bases[one.id] for one in first if one.kind is ThingKind.BASE),
    )


def names_in(blueprint: Blueprint, nodes: Iterable[NodeFact]) -> set[str]:
    """Return the comparable names of all gems, passives, items and bases of a build."""
    owned = {node.id for node in blueprint.nodes}
    found = {node.name for node in nodes if node.id in owned}
    found |= {gem.name for group in blueprint.groups for gem in group.gems}
    found |= {name for item in blueprint.items.values() for name in (item.title, item.base, item.anoint) if name}
    return {phrase(name) for name in found}


_PASSIVES = frozenset({ThingKind.KEYSTONE, ThingKind.NOTABLE})


def _meant(things: list[Thing], gems: dict[str, GemFact]) -> list[Thing]:
    """Return the things of the kind that is meant by their name."""
    granted = [one for one in things if one.kind is ThingKind.SKILL and gems[one.id].colour is None]
    real = [one for one in things if one not in granted] or granted
    return [one for one in real if one.kind is real[0].kind]
