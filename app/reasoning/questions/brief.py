"""Everything a decision looks at, in one place: constraints, facts, and what is decided already."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from app.knowledge.catalogue import Catalogue
from app.knowledge.gems import DAMAGE_TYPES, ELEMENTS, tags
from app.knowledge.vocabulary import ClassTaste, Phrases, Preferences, Vocabulary, preferences, vocabulary
from app.knowledge.words import phrase
from app.model.constraints import InvariantSet
from app.model.demands import Demands, demands_of
from app.model.facts import BaseFact, ClassFact, GemFact, NodeFact
from app.model.names import Demand, Provenance, SubProblemName
from app.model.record import BuildRequest
from app.model.sub_problems import Choice, Constraint, Decision, DeliveryChoice, SubProblem
from app.reasoning.base import ReasoningContext


@dataclass(frozen=True)
class Exclusions:
    """Excluded things: the words as written, and the tags and weapons they stand for."""

    written: frozenset[str]
    terms: frozenset[str]
    weapons: frozenset[str]

    @classmethod
    def of(cls, words: Iterable[str], vocabulary: Vocabulary) -> Exclusions:
        """Translate excluded words."""
        written = frozenset(phrase(word) for word in words)
        terms = _canonical(written, vocabulary.exclusions)
        weapons = _canonical(written, vocabulary.weapons)
        return cls(written, terms, weapons)

    def gem(self, gem: GemFact) -> bool:
        """Say whether the gem is excluded, by name or by one of its tags."""
        if not self.written:
            return False
        if phrase(gem.name) in self.written:
            return True
        return bool({term.replace(" ", "") for term in self.terms} & tags(gem))

    def node(self, node: NodeFact) -> bool:
        """Say whether the passive is excluded: by name, or because a line speaks of something excluded."""
        if not self.written:
            return False
        if phrase(node.name) in self.written | self.terms:
            return True
        lines = " / ".join(node.mods).casefold()
        return any(_spoken(term) in lines for term in self.terms if term not in {"unique", "flask", "charm", "meta"})


def _canonical(written: frozenset[str], table: Phrases) -> frozenset[str]:
    return frozenset(name for name, texts in table.items() if written & {name, *texts})


def _spoken(term: str) -> str:
    """Return how a passive's line speaks of the term; a damage type is excluded as damage, not as resistance."""
    if term in DAMAGE_TYPES:
        return f"{term} damage"
    return {"life": "maximum life", "curse": "curse", "mark": "marked"}.get(term, term)


C = TypeVar("C", bound=Choice)


@dataclass(frozen=True)
class Brief:
    """The brief for one question; `nodes` are filled only for the questions that look at passives."""

    request: BuildRequest
    invariants: InvariantSet
    sub_problems: dict[SubProblemName, SubProblem]
    eliminated: frozenset[tuple[SubProblemName, str]]
    catalogue: Catalogue
    bases: tuple[BaseFact, ...] = ()
    nodes: tuple[NodeFact, ...] = ()
    doubted: frozenset[tuple[SubProblemName, str]] = frozenset()

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
        return Exclusions.of(self.listed("exclude"), vocabulary())

    @cached_property
    def skill(self) -> GemFact | None:
        """The main skill that was asked for, or None."""
        return self.catalogue.skill(self.invariants.text("skill")) if self.invariants.get("skill") else None

    def listed(self, field: str) -> list[str]:
        """Return a constraint of one or several words as a list of words."""
        return self.invariants.listed(field)

    @cached_property
    def damage_types(self) -> list[str]:
        """The damage types asked for, "elemental" as the three elements."""
        wanted = self.listed("damage_type")
        return [one for kind in wanted for one in (ELEMENTS if kind == "elemental" else (kind,))]

    def explicit(self, field: str) -> bool:
        """Say whether the user set the constraint."""
        found = self.invariants.find(field)
        return found is not None and found.provenance is Provenance.EXPLICIT

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
