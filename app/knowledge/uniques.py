"""How hard unique items are to come by: a rule over the engine's facts, and the table of exceptions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Literal

from app.knowledge.vocabulary import read_domain
from app.model.base import Model
from app.model.facts import UniqueFact, UniqueOrigin
from app.model.names import UniqueTier

GONE = "No longer obtainable"
"""The engine's word for uniques that nothing drops any more."""

UNIQUES_FILE = "uniques.yaml"

KnownBy = Literal["drops", "general"]


class UniqueTable(Model):
    """domain/uniques.yaml: names with where it is known from, and the level from which on what drops is rare."""

    pob_version: str
    late_from: int
    chase: dict[str, KnownBy]
    rare: dict[str, KnownBy]

    def unknown(self, facts: Iterable[UniqueFact]) -> list[str]:
        """Return the names of the table that no unique of the engine has, sorted."""
        return sorted({*self.chase, *self.rare} - {fact.name for fact in facts})


@cache
def unique_table() -> UniqueTable:
    """Read domain/uniques.yaml."""
    return UniqueTable.model_validate(read_domain("uniques"))


def origin_of(fact: UniqueFact) -> UniqueOrigin:
    """Return how hard the unique is to come by: what the table says, else its source, else its level.

    What nothing drops any more is as hard as anything.
    """
    table = unique_table()
    if fact.source == GONE:
        return UniqueOrigin(tier=UniqueTier.CHASE, why="can no longer be obtained")
    source = f"{fact.source[:1].lower()}{fact.source[1:]}"
    if fact.name in table.chase:
        return UniqueOrigin(tier=UniqueTier.CHASE, why=source or "hardly anybody finds one")
    if source:
        return UniqueOrigin(tier=UniqueTier.RARE, why=source)
    if fact.name in table.rare:
        return UniqueOrigin(tier=UniqueTier.RARE, why="seldom drops")
    if fact.level >= table.late_from:
        return UniqueOrigin(tier=UniqueTier.RARE, why="drops in maps only")
    return UniqueOrigin(tier=UniqueTier.COMMON)


_UNHIT = re.compile(
    r"if you (?:have not|haven't) been hit recently|per \d+% (?:of )?current energy shield", re.IGNORECASE
)
_FIRST = re.compile(
    r"increased .*if you (?:have not|haven't) dealt a critical hit recently"
    r"|poison you inflict on targets that are not poisoned"
    r"|by no elemental ailments",
    re.IGNORECASE,
)
_EMPTIES = re.compile(r"consume \d+% of your maximum (?:life|mana) flask charges", re.IGNORECASE)

_PLAIN_ARMOUR = re.compile(r"can only use a normal body armour", re.IGNORECASE)

_AT_A_PRICE = re.compile(
    r"after being damaged by an enemy hit, take damage equal"
    r"|is prevented, then that much life is lost"
    rf"|{_PLAIN_ARMOUR.pattern}|totems only use skills when you|cannot use (?:charms|warcries|life flasks)"
    r"|become ignited when you deal a critical hit, taking"
    r"|take .* when infernal flame reaches maximum"
    r"|grants skill: (?:demon form|into the breach)",
    re.IGNORECASE,
)


def empties_a_flask(lines: Iterable[str]) -> bool:
    """Return whether a line of an item helps only while a flask lasts that it empties: the engine takes it as full."""
    return any(map(_EMPTIES.search, lines))


def is_for_the_unhit(lines: Iterable[str]) -> bool:
    """Return whether a line of an item or a passive helps only who has not been hit: the engine takes everybody so.

    Or most of all, by the energy shield that is left: The Mutable Star doubled the armour of a Warrior with 154 of it.
    """
    return any(map(_UNHIT.search, lines))


def is_for_the_first(lines: Iterable[str]) -> bool:
    """Return whether a line of an item or a passive helps only the first critical hit, poison or ailment of a fight.

    The engine takes every hit as the first.
    """
    return any(map(_FIRST.search, lines))


def is_paid_for_elsewhere(lines: Iterable[str]) -> bool:
    """Return whether a passive takes something for what it gives, and the engine counts the gift alone.

    Phased Form's damage comes four seconds later, and so does what Grasping Wounds prevents; Grinning Immolation and
    Pyromantic Pact burn their owner, Demon Form takes ever more life by the second, and of the flames that Into the
    Breach needs collected the engine takes all ten as there. Nor does it see what may not be worn or used: an affix on
    body armour beside Smith's Masterwork, totems of who fires nothing beside "Cannons, Ready!".
    """
    return any(map(_AT_A_PRICE.search, lines))


def allows_only_plain_armour(lines: Iterable[str]) -> bool:
    """Return whether a passive allows only a Normal body armour, one without affixes."""
    return any(map(_PLAIN_ARMOUR.search, lines))


def helps_at_times(lines: Sequence[str]) -> bool:
    """Return whether an item or a passive gives less than the engine counts: to who is hit, whose flask is empty, ...

    Nothing of the kind is chosen unless it is named.
    """
    return is_for_the_unhit(lines) or is_for_the_first(lines) or empties_a_flask(lines) or is_paid_for_elsewhere(lines)
