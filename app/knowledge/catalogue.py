"""The engine's facts as decisions need them: by name, by id, by class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from app.engine.base import Engine
from app.knowledge.exclusions import granting, grants
from app.knowledge.gems import can_be_cut
from app.knowledge.things import Thing, things_among
from app.knowledge.words import phrase
from app.model.facts import BaseFact, ClassFact, GemFact, NodeFact, UniqueFact


@dataclass(frozen=True)
class Catalogue:
    """Classes and gems of one engine; `nodes`, `uniques` and `bases` only where everything was asked for."""

    classes: tuple[ClassFact, ...]
    gems: tuple[GemFact, ...]
    nodes: tuple[NodeFact, ...] = ()
    uniques: tuple[UniqueFact, ...] = ()
    bases: tuple[BaseFact, ...] = ()

    @classmethod
    async def of(cls, engine: Engine, *, everything: bool = False) -> Catalogue:
        """Ask the engine for its classes and gems, and for `everything` else that has a name."""
        classes = sorted(await engine.facts.classes(), key=lambda fact: fact.name)
        gems = sorted(await engine.facts.gems(), key=lambda fact: fact.id)
        if not everything:
            return cls(tuple(classes), tuple(gems))
        nodes, uniques, bases = await engine.facts.nodes(), await engine.facts.uniques(), await engine.facts.bases()
        return cls(tuple(classes), tuple(gems), tuple(nodes), tuple(uniques), tuple(bases))

    @cached_property
    def things(self) -> dict[str, list[Thing]]:
        """What is known of everything that has a name, by comparable name."""
        return things_among(self.gems, self.nodes, self.uniques, self.bases)

    @cached_property
    def active(self) -> tuple[GemFact, ...]:
        """Active skills, sorted by id."""
        return tuple(gem for gem in self.gems if gem.kind == "active")

    @cached_property
    def by_id(self) -> dict[str, GemFact]:
        """Gems by id."""
        return {gem.id: gem for gem in self.gems}

    @cached_property
    def by_name(self) -> dict[str, GemFact]:
        """Active skills by comparable name; of several with one name the one that has a colour, then the first id."""
        # the last of one name stays; a text's characters, negated, sort it backwards
        ordered = sorted(self.active, key=lambda gem: (gem.colour is not None, [-ord(char) for char in gem.id]))
        return {phrase(gem.name): gem for gem in ordered}

    def granting(self, skill: GemFact) -> list[str]:
        """Return the ascendancies of which alone a passive grants the skill; none of one that a gem or item gives."""
        if can_be_cut(skill) or grants(skill, self.bases):
            return []
        found = granting(self.nodes, skill.name)
        return sorted({node.ascendancy for node in found if node.ascendancy is not None})

    def skill(self, name: str) -> GemFact | None:
        """Return the active skill of this name or id, or None."""
        gem = self.by_id.get(name)
        return gem if gem is not None and gem.kind == "active" else self.by_name.get(phrase(name))

    def class_named(self, name: str) -> ClassFact | None:
        """Return the class of this name, or None."""
        wanted = phrase(name)
        return next((fact for fact in self.classes if phrase(fact.name) == wanted), None)

    def class_of(self, ascendancy: str) -> ClassFact | None:
        """Return the class that has this ascendancy, or None."""
        wanted = phrase(ascendancy)
        return next((c for c in self.classes if wanted in {phrase(name) for name in c.ascendancies}), None)

    def class_of_first(self, ascendancies: Sequence[str]) -> ClassFact | None:
        """Return the class that has the first of the ascendancies, or None where there is none."""
        return self.class_of(ascendancies[0]) if ascendancies else None

    def ascendancy_named(self, name: str) -> str | None:
        """Return the ascendancy's proper name, or None."""
        wanted = phrase(name)
        return next((a for c in self.classes for a in c.ascendancies if phrase(a) == wanted), None)
