"""Stat requirements: the attributes that gems, supports and weapons ask for, and the resistances to reach."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from app.knowledge.gems import attributes_of, gem_requirement
from app.knowledge.weapons import word_of
from app.knowledge.words import listing
from app.model.base import changed
from app.model.demands import ELEMENTAL_RESISTANCE_CAP
from app.model.names import Attribute, Demand, Provenance, SubProblemName
from app.model.sub_problems import Choice, Constraint, Decision, DeliveryChoice, Discovery, Option, RequirementsChoice
from app.reasoning.base import FoundBuild
from app.reasoning.questions.base import ExploreAnswer, QuestionKind
from app.reasoning.questions.brief import Brief

Element = Literal["fire", "cold", "lightning", "chaos"]
_PER_SUPPORT, _SUPPORTS = 5, 5
_STEP = 1.5
_ATTRIBUTES = ("str", "dex", "int")
_NAMES = {"str": "str", "dex": "dex", "int": "int", "strength": "str", "dexterity": "dex", "intelligence": "int"}
_ELEMENTS = ("fire", "cold", "lightning")


class RequirementsAnswer(ExploreAnswer):
    """`explore-stat_requirements`. Attribute points by str / dex / int, resistances in percent by element."""

    attributes: dict[Attribute, Annotated[int, Field(ge=0, le=500)]]
    resistances: dict[Element, Annotated[int, Field(ge=-60, le=150)]]


class RequirementsQuestion(QuestionKind[RequirementsAnswer]):
    """Which attributes and resistances the build must reach."""

    name = SubProblemName.STAT_REQUIREMENTS
    answer = RequirementsAnswer
    demands = frozenset({Demand.MORE_ATTRIBUTES, Demand.MORE_RESISTANCE, Demand.MORE_EFFECTIVE_LIFE})
    requires = (SubProblemName.DAMAGE_DELIVERY,)
    needs_bases = True

    def waits_for(self, *, ascendancy_named: bool, skill_named: bool) -> list[SubProblemName]:
        """Wait for skill, defence and Spirit."""
        return [SubProblemName.DAMAGE_DELIVERY, SubProblemName.SURVIVABILITY, SubProblemName.SPIRIT_ALLOCATION]

    def gather(self, brief: Brief) -> list[Discovery]:
        """Return the attributes that are needed."""
        needs = _needed(brief)
        return [self.discovery(f"The gems and weapon chosen ask for {needs}.", "gems")]

    def decide(self, brief: Brief) -> Decision:
        """Ask for what the decided skills and weapon need; conflicts raise it."""
        base, resistances = _needed(brief), dict.fromkeys(_ELEMENTS, ELEMENTAL_RESISTANCE_CAP)
        if wanted := round(brief.demands.floors.chaos_resistance.least):
            resistances["chaos"] = wanted
        chosen = self.fresh(brief, self._raised(brief, base, resistances))
        more = {name: value + 20 for name, value in base.items()}
        spare = _option(more, resistances, "more than the build needs")
        bare = _option({}, resistances, "gems and weapon could not be used")
        return self.choose(brief, [chosen, spare, bare], Provenance.INFERRED)

    def _raised(self, brief: Brief, attributes: dict[str, int], resistances: dict[str, int]) -> Iterator[Option]:
        """Yield the targets that conflicts ask for, then ever higher ones."""
        for constraint in brief.constraints(self.name, Demand.MORE_ATTRIBUTES):
            attributes = attributes | _more_attributes(attributes, constraint)
        for constraint in brief.constraints(self.name, Demand.MORE_RESISTANCE):
            resistances = resistances | _more_resistance(resistances, constraint)
        weight = round(_STEP ** len(brief.constraints(self.name, Demand.MORE_EFFECTIVE_LIFE)), 3)
        while True:
            yield _option(attributes, resistances, ehp_weight=weight)
            attributes = {name: round(value * 1.2) + 5 for name, value in attributes.items()}
            resistances = {name: value + (10 if name in _ELEMENTS else 0) for name, value in resistances.items()}

    def settle(self, answer: RequirementsAnswer, brief: Brief, usual: Decision) -> tuple[str, Choice]:
        """Return the higher of both demands: what the facts ask for is not up for choice."""
        assert isinstance(usual.choice, RequirementsChoice)
        attributes = {name.value: value for name, value in answer.attributes.items() if value}
        for name, value in usual.choice.attributes.items():
            attributes[name] = max(value, attributes.get(name, 0))
        resistances: dict[str, int] = {element: value for element, value in answer.resistances.items()}  # noqa: C416
        for element, percent in usual.choice.resistances.items():
            resistances[element] = max(percent, resistances.get(element, percent))
        choice = changed(usual.choice, attributes=attributes, resistances=resistances)
        needs = listing([f"{value} {name.capitalize()}" for name, value in attributes.items()]) or "no attributes"
        levels = listing([f"{value} % {name}" for name, value in resistances.items()])
        return f"{needs}; {levels}", choice

    def recognise(self, found: FoundBuild) -> tuple[str, Choice]:
        """Return what the gear and gems of a finished build ask for."""
        needs: dict[str, int] = {}
        for asked in found.inspection.requirements:
            if asked.attribute != "level":
                needs[asked.attribute] = max(needs.get(asked.attribute, 0), round(asked.required))
        resistances = dict.fromkeys(_ELEMENTS, ELEMENTAL_RESISTANCE_CAP)
        return "what gear and gems ask for", RequirementsChoice(attributes=needs, resistances=resistances)


def _needed(brief: Brief) -> dict[str, int]:
    """Return the attributes needed: the most that the main skill, its supports or the best weapon of the level ask for.

    Persistent skills are left to the search, which adds only those whose needs are met.
    """
    delivery = brief.decided(SubProblemName.DAMAGE_DELIVERY, DeliveryChoice)
    words = delivery.weapon_types if delivery else []
    held = [base for base in brief.bases if word_of(base) in words]
    usable = [base for base in held if base.requirements.get("level", 1) <= brief.demands.level]
    weapon = max(usable, key=lambda base: (base.requirements.get("level", 1), base.name), default=None)
    needs: Counter[str] = Counter({n: weapon.requirements.get(n, 0) for n in _ATTRIBUTES} if weapon else {})
    if (gem := brief.main_skill) is not None:
        needs |= Counter(gem_requirement(gem, brief.demands.level))
        needs |= Counter(dict.fromkeys(attributes_of(gem), _PER_SUPPORT * _SUPPORTS))
    return {name: needs[name] for name in _ATTRIBUTES if needs[name]}


def _more_attributes(now: dict[str, int], constraint: Constraint) -> dict[str, int]:
    name = _NAMES.get((constraint.values.attribute or "").lower())
    if name is None:
        return {key: round(value * 1.2) + 5 for key, value in now.items()}
    wanted = int(constraint.values.required or 0) + 5
    return {name: max(wanted, round(now.get(name, 0) * 1.1) + 5)}


def _more_resistance(now: dict[str, int], constraint: Constraint) -> dict[str, int]:
    asked = constraint.values.element or ""
    names = [name for name in now if name in asked] or list(_ELEMENTS)
    missing = constraint.values.missing
    extra = 10 if missing is None else max(5, int(missing))
    return {name: now.get(name, ELEMENTAL_RESISTANCE_CAP) + extra for name in names}


def _option(
    attributes: dict[str, int], resistances: dict[str, int], why: str | None = None, ehp_weight: float = 1.0
) -> Option:
    needs = ", ".join(f"{value} {name.capitalize()}" for name, value in attributes.items()) or "no attributes"
    lowest = min((resistances[name] for name in _ELEMENTS if name in resistances), default=ELEMENTAL_RESISTANCE_CAP)
    choice = RequirementsChoice(attributes=attributes, resistances=resistances, ehp_weight=ehp_weight)
    cap = f"elemental resistances are capped at {ELEMENTAL_RESISTANCE_CAP} %"
    reason = f"Skills, supports and weapon ask for {needs}; {cap}."
    name = f"{needs}, {lowest} % resistances"
    if ehp_weight != 1:
        name = f"{name}, hit points weighed {ehp_weight:.3g} times"
    return Option(name=name, choice=choice, reason=reason, rejected_because=why)
