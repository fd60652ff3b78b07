"""Everything a decision looks at, in one place: constraints, facts, and what is decided already."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from app.knowledge.catalogue import Catalogue
from app.knowledge.exclusions import Exclusions, ruled_out
from app.knowledge.gems import ELEMENTS, INFLICTED_BY
from app.knowledge.named import Named, named_in
from app.knowledge.vocabulary import ClassTaste, Preferences, preferences
from app.knowledge.weapons import CASTER, MARTIAL, unfound, word_of
from app.knowledge.words import phrase
from app.model.constraints import InvariantSet
from app.model.demands import Demands, demands_of
from app.model.facts import BaseFact, ClassFact, GemFact, NodeFact
from app.model.memory import RaceMemory
from app.model.names import Demand, Provenance, SubProblemName
from app.model.race import Race
from app.model.record import BuildRequest
from app.model.sub_problems import Choice, Constraint, Decision, DeliveryChoice, SubProblem
from app.reasoning.base import ReasoningContext

C = TypeVar("C", bound=Choice)


@dataclass(frozen=True)
class Brief:
    """The brief for one question; `nodes` are filled only for the questions that look at passives.

    `race`: what was measured, once it is over. `races`: what earlier builds measured, where memory is used.
    """

    request: BuildRequest
    invariants: InvariantSet
    sub_problems: dict[SubProblemName, SubProblem]
    eliminated: frozenset[tuple[SubProblemName, str]]
    catalogue: Catalogue
    bases: tuple[BaseFact, ...] = ()
    nodes: tuple[NodeFact, ...] = ()
    doubted: frozenset[tuple[SubProblemName, str]] = frozenset()
    named: Named = field(default_factory=Named)
    race: Race | None = None
    races: tuple[RaceMemory, ...] = ()

    @classmethod
    async def of(cls, ctx: ReasoningContext, *, bases: bool = False, nodes: bool = False) -> Brief:
        """Ask the engine for the facts that the question needs."""
        facts = ctx.engine.facts
        return cls(
            request=ctx.request,
            invariants=ctx.invariants,
            sub_problems=ctx.state.sub_problems,
            eliminated=frozenset((e.sub_problem, e.option) for e in ctx.state.eliminated),
            catalogue=await Catalogue.of(ctx.engine),
            bases=tuple(await facts.bases()) if bases else (),
            nodes=tuple(await facts.nodes()) if nodes else (),
            doubted=frozenset((e.sub_problem, e.option) for e in ctx.state.doubted),
            named=await named_in(facts, ctx.invariants),
            race=ctx.state.race if ctx.state.race is not None and ctx.state.race.over else None,
            races=tuple(ctx.races),
        )

    @property
    def taste(self) -> Preferences:
        """The curated preferences."""
        return preferences()

    @cached_property
    def class_fact(self) -> ClassFact:
        """The character's class; the first one when the constraint names none that exists."""
        return self.catalogue.class_named(self.invariants.text("class")) or self.catalogue.classes[0]

    @cached_property
    def class_taste(self) -> ClassTaste:
        """What the class usually plays."""
        empty = ClassTaste(weapons=[], damage_types=[], skills=[], minions=[])
        return self.taste.classes.get(self.class_fact.name, empty)

    @cached_property
    def demands(self) -> Demands:
        """What the build must reach."""
        return demands_of(self.invariants, self.request)

    @cached_property
    def exclusions(self) -> Exclusions:
        """What was ruled out."""
        return ruled_out(self.invariants)

    @cached_property
    def skills(self) -> list[GemFact]:
        """The skills of which the user wants one as the main skill; empty when none was named."""
        return [gem for name in self.listed("skill") if (gem := self.catalogue.skill(name)) is not None]

    @property
    def skill(self) -> GemFact | None:
        """The main skill that was asked for, or None, also where one of several was."""
        return self.skills[0] if len(self.skills) == 1 else None

    @cached_property
    def ascendancies(self) -> list[str]:
        """The ascendancies of the class of which one was asked for; empty where it is open."""
        return [name for name in self.listed("ascendancy") if name in self.class_fact.ascendancies]

    @cached_property
    def open_ascendancies(self) -> list[str]:
        """The ascendancies of the class that are not ruled out, or asked for; all of them where none is left."""
        every, unwanted = self.class_fact.ascendancies, self.exclusions.people.difference(self.ascendancies)
        return [name for name in every if name not in unwanted] or every

    def listed(self, field: str) -> list[str]:
        """Return a constraint of one or several words as a list of words."""
        return self.invariants.listed(field)

    @cached_property
    def damage_types(self) -> list[str]:
        """The damage types asked for, "elemental" as the three elements.

        Where they were only guessed, those of which the ailment that was asked for comes as well: physical hits poison.
        """
        wanted = self.listed("damage_type")
        found = [one for kind in wanted for one in (ELEMENTS if kind == "elemental" else (kind,))]
        styles = [] if self.explicit("damage_type") else self.listed("style")
        return list(dict.fromkeys([*found, *(one for style in styles for one in INFLICTED_BY.get(style, ()))]))

    @cached_property
    def weapons(self) -> list[str]:
        """What is to be held, in our words for weapons: what was asked for and exists, and the kinds of named items."""
        held = {*MARTIAL, *CASTER, "Shield", "Focus", "Quiver"}
        kinds = {base.name: word for base in self.bases if (word := word_of(base)) in held}
        worn = [base.name for base in self.named.bases]
        worn += [unique.base for options in self.named.uniques for unique in options]
        asked = [word for word in self.listed("weapon") if not unfound(word)]
        return list(dict.fromkeys([*asked, *(kinds[name] for name in worn if name in kinds)]))

    def is_named(self, name: str) -> bool:
        """Say whether the user named it to be in the build."""
        return phrase(name) in {phrase(one) for one in self.listed("with")}

    def explicit(self, field: str) -> bool:
        """Say whether the user set the constraint."""
        return self.invariants.is_explicit(field)

    def sure(self, field: str) -> bool:
        """Say whether the constraint is more than a default."""
        found = self.invariants.find(field)
        return found is not None and found.provenance is not Provenance.DEFAULT

    def decided(self, name: SubProblemName, kind: type[C]) -> C | None:
        """Return the choice decided for another question, or None."""
        sub = self.sub_problems.get(name)
        choice = sub.decision.choice if sub and sub.decision else None
        return choice if isinstance(choice, kind) else None

    @property
    def main_skill(self) -> GemFact | None:
        """The main skill that was decided on, or None."""
        delivery = self.decided(SubProblemName.DAMAGE_DELIVERY, DeliveryChoice)
        return self.catalogue.by_id.get(delivery.skill_id) if delivery else None

    def constraints(self, name: SubProblemName, *demands: Demand) -> list[Constraint]:
        """Return the constraints on a question that make one of the demands."""
        sub = self.sub_problems.get(name)
        return [c for c in sub.constraints if c.demand in demands] if sub else []

    def prior(self, name: SubProblemName) -> list[Decision]:
        """Return earlier answers to a question, oldest first."""
        sub = self.sub_problems.get(name)
        return list(sub.prior_attempts) if sub else []

    def is_doubted(self, name: SubProblemName, option: str) -> bool:
        """Say whether an option failed in an earlier build of this kind."""
        return (name, option) in self.doubted

    def is_eliminated(self, name: SubProblemName, option: str) -> bool:
        """Say whether an option was tried and failed."""
        return (name, option) in self.eliminated
