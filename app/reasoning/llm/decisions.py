"""From a model's answer to a decision: names become facts, and what the facts contradict is refused.

Every function takes the answer, the brief and the rules' own decision, and raises LlmBadOutput with a sentence that
tells the model what to correct.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.core.errors import LlmBadOutput
from app.knowledge.gems import can_be_main, is_minion, level_required, tags
from app.knowledge.weapons import matches
from app.knowledge.words import listing, phrase
from app.model.facts import GemFact
from app.model.names import Demand, SubProblemName
from app.model.sub_problems import (
    AscendancyChoice,
    Choice,
    Decision,
    DeliveryChoice,
    Option,
    RequirementsChoice,
    ScalingChoice,
    SpiritChoice,
    SurvivabilityChoice,
    SustainChoice,
)
from app.reasoning.llm.game_tools import by_phrase, closest_to, named
from app.reasoning.llm.schemas import (
    AscendancyAnswer,
    DeliveryAnswer,
    ExploreAnswer,
    RequirementsAnswer,
    ScalingAnswer,
    SpiritAnswer,
    SurvivabilityAnswer,
    SustainAnswer,
)
from app.reasoning.questions.brief import Brief
from app.reasoning.questions.damage_delivery import Setup, helpers, setups
from app.reasoning.questions.fit import dealt
from app.reasoning.questions.resource_sustain import cost_per_second
from app.reasoning.questions.spirit_allocation import spirit_of

_NAME = SubProblemName.DAMAGE_DELIVERY


def delivery(answer: DeliveryAnswer, brief: Brief, rules: Decision) -> tuple[str, Choice]:
    """Return the option's name and the choice.

    Raises:
        LlmBadOutput: the skill, what to hold for it, or a helper does not exist or does not fit.
    """
    gem = _main(answer.skill, brief)
    setup = _setup(answer, brief, gem)
    _check_demand(brief, gem, setup)
    choice = DeliveryChoice(
        skill_id=gem.id,
        skill_name=gem.name,
        weapon_types=[setup.weapon],
        off_hand=setup.off_hand,
        helper_skills=_helpers(answer.helper_skills, brief, gem),
        minion=is_minion(gem),
    )
    return f"{gem.name} with {setup.text}", choice


def _main(text: str, brief: Brief) -> GemFact:
    gem = _skill(text, brief)
    if brief.skill is not None and brief.explicit("skill") and gem.id != brief.skill.id:
        raise LlmBadOutput(f"the user asked for {brief.skill.name}")
    if not can_be_main(gem):
        raise LlmBadOutput(f"{gem.name} cannot be the main skill: it deals no damage that is calculated")
    if "minion" in brief.listed("style") and brief.explicit("style") and not is_minion(gem):
        raise LlmBadOutput(f"the user asked for minions, {gem.name} is none")
    return gem


def _skill(text: str, brief: Brief) -> GemFact:
    gem = brief.catalogue.skill(text)
    if gem is None:
        known = by_phrase(brief.catalogue.active, (gem.name for gem in brief.catalogue.active))
        raise LlmBadOutput(f"there is no skill called {text[:60]!r}{closest_to(text, known)}")
    asked = brief.skill is not None and gem.id == brief.skill.id
    if brief.exclusions.gem(gem) and not asked:
        raise LlmBadOutput(f"the user ruled out {gem.name}")
    if level_required(gem) > brief.demands.level and not asked:
        raise LlmBadOutput(f"{gem.name} needs level {level_required(gem)}, the character is {brief.demands.level}")
    return gem


def _setup(answer: DeliveryAnswer, brief: Brief, gem: GemFact) -> Setup:
    """Return the first of the skill's set-ups that holds what the answer wants."""
    possible = setups(brief, gem)
    if brief.explicit("weapon"):
        asked = brief.listed("weapon")
        possible = [s for s in possible if matches(asked, s.weapon) or s.off_hand in asked] or possible
    if not answer.weapon_types:
        return possible[0]
    wanted = {word.strip().lower() for word in answer.weapon_types}
    fitting = [s for s in possible if s.weapon.lower() in wanted or wanted & set(s.weapon.lower().split())]
    if not fitting:
        raise LlmBadOutput(f"{gem.name} can be used with {_texts(possible)}, not with {', '.join(answer.weapon_types)}")
    off = (answer.off_hand or "").strip().lower()
    return next((s for s in fitting if (s.off_hand or "").lower() == off), fitting[0])


def _texts(possible: Sequence[Setup]) -> str:
    return "; ".join(setup.text for setup in possible[:6])


def _helpers(names: Sequence[str], brief: Brief, main: GemFact) -> list[str]:
    """Return the helpers that were named, after those that the user asked for."""
    asked = {gem.id for name in brief.listed("with") if (gem := brief.catalogue.skill(name)) is not None}
    found = [gem for gem in helpers(brief, main) if gem.id in asked]
    found += [gem for name in names if (gem := _skill(name, brief)).id != main.id]
    return list(dict.fromkeys(gem.id for gem in found if not gem.spirit and "persistent" not in tags(gem)))


def _check_demand(brief: Brief, gem: GemFact, setup: Setup) -> None:
    """Refuse what the newest conflict asks to change."""
    demands = brief.constraints(_NAME, Demand.OTHER_SKILL, Demand.OTHER_WEAPON)
    tried = [d.choice for d in brief.prior(_NAME) if isinstance(d.choice, DeliveryChoice)]
    if not demands or not tried:
        return
    if demands[-1].demand is Demand.OTHER_SKILL and gem.id in {choice.skill_id for choice in tried}:
        raise LlmBadOutput(f"another skill than {gem.name} is needed: {demands[-1].text}")
    held = {(choice.skill_id, *choice.weapon_types, choice.off_hand) for choice in tried}
    if (gem.id, setup.weapon, setup.off_hand) in held:
        raise LlmBadOutput(f"{gem.name} with {setup.text} was tried: {demands[-1].text}")


Q = SubProblemName
_MOST_ALTERNATIVES = 4
_LEAST_RECOVERY, _MOST_RECOVERY = 0.5, 5.0
"""Shares of what the rules ask for: outside of these an answer mistakes the unit."""


def decided(answer: ExploreAnswer, brief: Brief, rules: Decision, name: SubProblemName) -> Decision:
    """Return the decision that the answer makes.

    Raises:
        LlmBadOutput: the facts, the user's constraints or earlier attempts contradict it.
    """
    option, choice = _SETTLE[name](answer, brief, rules)
    _check_new(brief, name, option)
    return Decision(
        name=option,
        choice=choice,
        reason=answer.reason,
        provenance=rules.provenance,  # what the user asked for: an answer that contradicts it was refused
        alternatives=_alternatives(answer, rules, option),
    )


def _check_new(brief: Brief, name: SubProblemName, option: str) -> None:
    sub = brief.sub_problems.get(name)
    tried = {decision.name for decision in brief.prior(name)} if sub is not None and sub.constraints else set()
    if brief.is_eliminated(name, option) or option in tried:
        raise LlmBadOutput(f"{option!r} was tried before and did not help; answer with something else")


def _alternatives(answer: ExploreAnswer, rules: Decision, chosen: str) -> list[Option]:
    """Return the rules' options that lost, with the model's reason where it gave one."""
    against = {phrase(other.name): other.rejected_because for other in answer.alternatives}
    first = Option(
        name=rules.name, choice=rules.choice, reason=rules.reason, rejected_because="the model chose another"
    )
    others = [option for option in (first, *rules.alternatives) if option.name != chosen]
    kept = [
        option.model_copy(update={"rejected_because": against.get(phrase(option.name), option.rejected_because)})
        for option in others
    ]
    return kept[:_MOST_ALTERNATIVES]


def _ascendancy(answer: AscendancyAnswer, brief: Brief, rules: Decision) -> tuple[str, Choice]:
    fact = brief.class_fact
    if phrase(answer.class_name) != phrase(fact.name):
        raise LlmBadOutput(f"the class is {fact.name}, not {answer.class_name}")
    if answer.ascendancy is None:
        if isinstance(rules.choice, AscendancyChoice) and rules.choice.ascendancy is None:
            return rules.name, rules.choice
        raise LlmBadOutput(f"the level allows an ascendancy: one of {', '.join(fact.ascendancies)}")
    found = named(answer.ascendancy, by_phrase(fact.ascendancies, fact.ascendancies), f"ascendancy of the {fact.name}")
    asked = brief.invariants.text("ascendancy")
    if brief.explicit("ascendancy") and asked in fact.ascendancies and found != asked:
        raise LlmBadOutput(f"the user asked for {asked}")
    own = [n for n in brief.nodes if n.ascendancy == found and n.kind in ("notable", "keystone")]
    known = by_phrase(own, (node.name for node in own))
    wanted = [named(text, known, f"passive of the {found}").id for text in answer.notables]
    return found, AscendancyChoice(class_name=fact.name, ascendancy=found, notables=list(dict.fromkeys(wanted)))


def _scaling(answer: ScalingAnswer, brief: Brief, rules: Decision) -> tuple[str, Choice]:
    assert isinstance(rules.choice, ScalingChoice)
    gem = _main_skill(brief)
    possible = {*rules.choice.damage_types, *(dealt(gem) if gem else ()), *brief.damage_types}
    types = list(dict.fromkeys(answer.damage_types))
    if not set(types) & possible:
        raise LlmBadOutput(f"the main skill deals {listing(sorted(possible))} damage, not {listing(types)}")
    supports = [gem for gem in brief.catalogue.gems if gem.kind == "support"]
    known = by_phrase(supports, (gem.name for gem in supports))
    gems = [named(text, known, "support").id for text in answer.excluded_supports]
    passives = [node for node in brief.nodes if node.kind in ("notable", "keystone")]
    nodes = [
        named(text, by_phrase(passives, (n.name for n in passives)), "passive").id for text in answer.excluded_passives
    ]
    weight = round(rules.choice.damage_weight * answer.damage_weight, 3)
    choice = ScalingChoice(
        damage_types=types,
        keywords=list(dict.fromkeys(answer.keywords)),
        excluded_gems=sorted({*rules.choice.excluded_gems, *gems}),
        excluded_nodes=sorted({*rules.choice.excluded_nodes, *nodes}),
        damage_weight=weight,
    )
    return f"{listing(types)} damage by {listing(choice.keywords[:3])}, weighed {weight:g}", choice


def _survivability(answer: SurvivabilityAnswer, brief: Brief, rules: Decision) -> tuple[str, Choice]:
    assert isinstance(rules.choice, SurvivabilityChoice)
    layers = list(dict.fromkeys(answer.mitigation))
    _check_defence(brief, answer.pool, layers)
    weight = round(rules.choice.ehp_weight * answer.ehp_weight, 3)
    choice = rules.choice.model_copy(update={"pool": answer.pool, "mitigation": list(layers), "ehp_weight": weight})
    name = f"{answer.pool.replace('_', ' ')} with {listing(layers)}, weighed {weight:g}"
    return name, choice


def _check_defence(brief: Brief, pool: str, layers: list[Any]) -> None:
    gone = brief.exclusions.terms
    used = {pool.replace("_", " "), *(layer.replace("_", " ") for layer in layers)}
    if pool == "hybrid":
        used |= {"life", "energy shield"}
    if used & gone:
        raise LlmBadOutput(f"the user ruled out {listing(sorted(used & gone))}")
    if not brief.explicit("defence"):
        return
    asked = set(brief.listed("defence"))
    pools, wanted = asked & {"life", "energy_shield", "hybrid"}, asked & {"armour", "evasion"}
    if (pools and pool not in pools) or not wanted <= set(layers):
        raise LlmBadOutput(f"the user asked for {listing(sorted(asked))}")


def _sustain(answer: SustainAnswer, brief: Brief, rules: Decision) -> tuple[str, Choice]:
    assert isinstance(rules.choice, SustainChoice)
    gem = _main_skill(brief)
    costs = gem is not None and cost_per_second(gem) > 0
    if (answer.resource != "none") != costs:
        cost = "costs mana" if costs else "costs nothing"
        raise LlmBadOutput(f"the main skill {cost}, so the resource cannot be {answer.resource}")
    least, most = (share * rules.choice.recovery_per_second for share in (_LEAST_RECOVERY, _MOST_RECOVERY))
    wanted = round(min(max(answer.recovery_per_second, least), max(most, least)), 1)
    choice = SustainChoice(
        resource=answer.resource,
        recovery_per_second=wanted,
        prefer_cheaper_supports=answer.prefer_cheaper_supports or rules.choice.prefer_cheaper_supports,
    )
    cheaper = ", cheaper supports" if choice.prefer_cheaper_supports else ""
    return f"{answer.resource}, {wanted:.0f} per second{cheaper}" if costs else rules.name, choice


def _spirit(answer: SpiritAnswer, brief: Brief, rules: Decision) -> tuple[str, Choice]:
    assert isinstance(rules.choice, SpiritChoice)
    gems = [_persistent(text, brief) for text in dict.fromkeys(answer.skills)]
    main = _main_skill(brief)
    budget = spirit_of(brief) - (main.spirit if main else 0.0)
    total = sum(gem.spirit for gem in gems)
    if total > max(budget, 0.0):
        raise LlmBadOutput(f"these skills reserve {total:.0f} Spirit, but about {max(budget, 0.0):.0f} are there")
    free = max(answer.reserve_free, rules.choice.reserve_free)
    names = listing([gem.name for gem in gems]) or "nothing"
    choice = SpiritChoice(skill_ids=[gem.id for gem in gems], reserve_free=free)
    return names + (f", {free:.0f} kept free" if free else ""), choice


def _persistent(text: str, brief: Brief) -> GemFact:
    own = [gem for gem in brief.catalogue.active if gem.spirit > 0]
    gem = named(text, by_phrase(own, (gem.name for gem in own)), "skill that reserves Spirit")
    if brief.exclusions.gem(gem):
        raise LlmBadOutput(f"the user ruled out {gem.name}")
    if level_required(gem) > brief.demands.level:
        raise LlmBadOutput(f"{gem.name} needs level {level_required(gem)}, the character is {brief.demands.level}")
    return gem


def _requirements(answer: RequirementsAnswer, brief: Brief, rules: Decision) -> tuple[str, Choice]:
    """Return the higher of both demands: what the facts ask for is not up for choice."""
    assert isinstance(rules.choice, RequirementsChoice)
    attributes = {name.value: value for name, value in answer.attributes.items() if value}
    for name, value in rules.choice.attributes.items():
        attributes[name] = max(value, attributes.get(name, 0))
    resistances: dict[str, int] = {element: value for element, value in answer.resistances.items()}  # noqa: C416
    for element, percent in rules.choice.resistances.items():
        resistances[element] = max(percent, resistances.get(element, percent))
    choice = RequirementsChoice(attributes=attributes, resistances=resistances)
    needs = listing([f"{value} {name.capitalize()}" for name, value in attributes.items()]) or "no attributes"
    levels = listing([f"{value} % {name}" for name, value in resistances.items()])
    return f"{needs}; {levels}", choice


def _main_skill(brief: Brief) -> GemFact | None:
    found = brief.decided(Q.DAMAGE_DELIVERY, DeliveryChoice)
    return brief.catalogue.by_id.get(found.skill_id) if found else None


_SETTLE: Mapping[SubProblemName, Callable[[Any, Brief, Decision], tuple[str, Choice]]] = {
    Q.ASCENDANCY: _ascendancy,
    Q.DAMAGE_DELIVERY: delivery,
    Q.DAMAGE_SCALING: _scaling,
    Q.SURVIVABILITY: _survivability,
    Q.RESOURCE_SUSTAIN: _sustain,
    Q.SPIRIT_ALLOCATION: _spirit,
    Q.STAT_REQUIREMENTS: _requirements,
}
