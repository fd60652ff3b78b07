"""Everything with a name that a build can have: skills, supports, passives, uniques, item bases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from app.engine.base import Facts
from app.knowledge.words import phrase
from app.model.facts import BaseFact, GemFact, NodeFact, UniqueFact


class ThingKind(StrEnum):
    """What has the name."""

    SKILL = "skill"
    SUPPORT = "support"
    KEYSTONE = "keystone"
    NOTABLE = "notable"
    UNIQUE = "unique"
    BASE = "base"


@dataclass(frozen=True)
class Thing:
    """A named thing; `id` is the engine's: a gem's id, a passive's number as text, a unique's base, a base's name."""

    kind: ThingKind
    id: str
    name: str


async def things_of(facts: Facts) -> dict[str, list[Thing]]:
    """Return the named things of an engine by comparable name; of several with one name skills come first."""
    return things_among(await facts.gems(), await facts.nodes(), await facts.uniques(), await facts.bases())


def things_among(
    gems: Iterable[GemFact], nodes: Iterable[NodeFact], uniques: Iterable[UniqueFact], bases: Iterable[BaseFact]
) -> dict[str, list[Thing]]:
    """Return the named things among facts by comparable name; of several with one name skills come first."""
    named = [Thing(ThingKind(_GEMS[gem.kind]), gem.id, gem.name) for gem in gems]
    named += [
        Thing(ThingKind(node.kind), str(node.id), node.name) for node in nodes if node.kind in ("keystone", "notable")
    ]
    named += [Thing(ThingKind.UNIQUE, unique.base, unique.name) for unique in uniques]
    named += [Thing(ThingKind.BASE, base.name, base.name) for base in bases]
    return by_name(named)


_GEMS: Mapping[str, str] = {"active": "skill", "support": "support"}


def by_name(things: Iterable[Thing]) -> dict[str, list[Thing]]:
    """Return the things by comparable name, in the order of their kinds and then of their ids."""
    order = list(ThingKind)
    found: dict[str, list[Thing]] = {}
    for thing in sorted(set(things), key=lambda one: (order.index(one.kind), one.id)):
        found.setdefault(phrase(thing.name), []).append(thing)
    return found
