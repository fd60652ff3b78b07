"""Stat requirements: the attributes that gems, supports and weapons ask for, and the resistances to reach."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from app.knowledge.gems import attributes_of, gem_level_at
from app.knowledge.weapons import word_of
from app.model.demands import ELEMENTAL_RESISTANCE_CAP
from app.model.facts import GemFact
from app.model.names import Demand, GearTier, Provenance, SubProblemName
from app.model.sub_problems import Constraint, Decision, DeliveryChoice, Option, RequirementsChoice
from app.reasoning.questions.brief import Brief
from app.reasoning.questions.options import decide, fresh

_NAME = SubProblemName.STAT_REQUIREMENTS
_PER_SUPPORT, _SUPPORTS = 5, 5
_NAMES = {"str": "str", "dex": "dex", "int": "int", "strength": "str", "dexterity": "dex", "intelligence": "int"}
_ELEMENTS = ("fire", "cold", "lightning")


def decide_requirements(brief: Brief) -> Decision:
    """Ask for what the decided skills and weapon need; conflicts raise it."""
    base = attributes_needed(brief)
    chosen = fresh(brief, _NAME, _raised(brief, base))
    spare = _option(
        {name: value + 20 for name, value in base.items()}, _resistances(brief, 0), "more than the build needs"
    )
    bare = _option({}, _resistances(brief, 0), "gems and weapon could not be used")
    return decide(brief, _NAME, [chosen, spare, bare], Provenance.INFERRED)


def attributes_needed(brief: Brief) -> dict[str, int]:
    """Return the attributes needed: the most that the main skill, its supports or the weapon ask for.

    Persistent skills are left to the search, which adds only those whose needs are met.
    """
    delivery = brief.decided(SubProblemName.DAMAGE_DELIVERY, DeliveryChoice)
    gem = brief.catalogue.by_id.get(delivery.skill_id) if delivery else None
    needs: Counter[str] = Counter(_weapon(brief, delivery.weapon_types if delivery else []))
    if gem is not None:
        needs |= Counter(gem_requirement(gem, brief.demands.level))
        needs |= Counter(dict.fromkeys(attributes_of(gem), _PER_SUPPORT * _SUPPORTS))
    return {name: needs[name] for name in ("str", "dex", "int") if needs[name]}


def gem_requirement(gem: GemFact, level: int) -> dict[str, int]:
    """Return a skill gem's attribute requirement at the level a character of this level can use.

    4 + (5 + 2.25 x (L - 3)) x share^0.9, L the level requirement, share 1 for one attribute and 1/2 for two: the
    figures that Path of Building shows (205 for one attribute at level 90).
    """
    names = attributes_of(gem)
    levels = gem.level_requirements
    at = levels[gem_level_at(gem, level) - 1] if levels else level
    share = (1 / len(names)) ** 0.9 if names else 0.0
    need = round((5 + 2.25 * (min(at, level) - 3)) * share) + 4
    return dict.fromkeys(names, max(0, need) if need >= 14 else 0)


def _weapon(brief: Brief, words: Iterable[str]) -> dict[str, int]:
    """Return what the best weapon base of the level asks for."""
    held = [base for base in brief.bases if word_of(base) in set(words)]
    usable = [base for base in held if base.requirements.get("level", 1) <= brief.demands.level]
    best = max(usable, key=lambda base: (base.requirements.get("level", 1), base.name), default=None)
    return {name: best.requirements.get(name, 0) for name in ("str", "dex", "int")} if best else {}


def _resistances(brief: Brief, extra: int) -> dict[str, int]:
    wanted = dict.fromkeys(_ELEMENTS, ELEMENTAL_RESISTANCE_CAP + extra)
    if brief.demands.gear is GearTier.ENDGAME and brief.demands.level >= 76:
        wanted["chaos"] = 30
    return wanted


def _raised(brief: Brief, base: dict[str, int]) -> Iterator[Option]:
    """Yield the targets that conflicts ask for, then ever higher ones."""
    attributes, resistances = dict(base), _resistances(brief, 0)
    for constraint in brief.constraints(_NAME, Demand.MORE_ATTRIBUTES):
        attributes |= _more(attributes, constraint)
    for constraint in brief.constraints(_NAME, Demand.MORE_RESISTANCE):
        resistances |= _more_resistance(resistances, constraint)
    while True:
        yield _option(attributes, resistances)
        attributes = {name: round(value * 1.2) + 5 for name, value in attributes.items()}
        resistances = {name: value + (10 if name in _ELEMENTS else 0) for name, value in resistances.items()}


def _more(now: dict[str, int], constraint: Constraint) -> dict[str, int]:
    name = _NAMES.get((constraint.values.attribute or "").lower())
    if name is None:
        return {key: round(value * 1.2) + 5 for key, value in now.items()}
    required = constraint.values.required
    wanted = int(required or 0) + 5
    return {name: max(wanted, round(now.get(name, 0) * 1.1) + 5)}


def _more_resistance(now: dict[str, int], constraint: Constraint) -> dict[str, int]:
    asked = constraint.values.element or ""
    names = [name for name in now if name in asked] or list(_ELEMENTS)
    missing = constraint.values.missing
    extra = 10 if missing is None else max(5, int(missing))
    return {name: now.get(name, ELEMENTAL_RESISTANCE_CAP) + extra for name in names}


def _option(attributes: dict[str, int], resistances: dict[str, int], why: str | None = None) -> Option:
    needs = ", ".join(f"{value} {name.capitalize()}" for name, value in attributes.items()) or "no attributes"
    lowest = min((resistances[name] for name in _ELEMENTS if name in resistances), default=ELEMENTAL_RESISTANCE_CAP)
    choice = RequirementsChoice(attributes=attributes, resistances=resistances)
    cap = f"elemental resistances are capped at {ELEMENTAL_RESISTANCE_CAP} %"
    reason = f"Skills, supports and weapon ask for {needs}; {cap}."
    return Option(name=f"{needs}, {lowest} % resistances", choice=choice, reason=reason, rejected_because=why)
