"""Facts worth knowing before a question is answered, as short texts with their figures."""

from __future__ import annotations

from app.model.choices import DeliveryChoice
from app.model.names import SubProblemName
from app.model.subproblems import Discovery
from app.reasoning.rules.brief import Brief
from app.reasoning.rules.delivery import rank_skills
from app.reasoning.rules.gems import gem_level_at
from app.reasoning.rules.requiring import attributes_needed
from app.reasoning.rules.spirit import spirit_of
from app.reasoning.rules.sustain import cost_per_second

Q = SubProblemName


def discoveries(brief: Brief, name: SubProblemName) -> list[Discovery]:
    """Return what the engine's facts say about a question."""
    match name:
        case Q.ASCENDANCY:
            own = brief.class_fact.ascendancies
            return [
                _found(name, f"The {brief.class_fact.name} can become {', '.join(own)}.", "classes", ascendancies=own)
            ]
        case Q.DAMAGE_DELIVERY:
            return _skills(brief)
        case Q.DAMAGE_SCALING:
            count = sum(1 for gem in brief.catalogue.gems if gem.kind == "support")
            return [
                _found(name, f"{count} support gems and {len(brief.nodes)} passives are known.", "gems", supports=count)
            ]
        case Q.SURVIVABILITY:
            ehp = brief.floors.ehp
            here = f"At level {brief.level} with {brief.gear.value} gear"
            text = f"{here}, {ehp.least:.0f} effective hit points are the least, {ehp.good:.0f} are good."
            return [_found(name, text, "floors", least=ehp.least, good=ehp.good)]
        case Q.RESOURCE_SUSTAIN:
            return _cost(brief)
        case Q.SPIRIT_ALLOCATION:
            total = spirit_of(brief)
            return [
                _found(name, f"About {total:.0f} Spirit can be reserved at level {brief.level}.", "gems", spirit=total)
            ]
        case Q.STAT_REQUIREMENTS:
            needs = attributes_needed(brief)
            return [_found(name, f"The gems and weapon chosen ask for {needs}.", "gems", **needs)]


def _found(name: SubProblemName, fact: str, source: str, **data: object) -> Discovery:
    return Discovery(sub_problem=name, fact=fact, source=f"facts.{source}", data=data)


def _skills(brief: Brief) -> list[Discovery]:
    ranked = rank_skills(brief)
    best = {judged.gem.name: round(judged.total, 1) for judged in ranked[:5]}
    text = f"{len(ranked)} skills could be the main skill; the best fits are {', '.join(best)}."
    return [_found(Q.DAMAGE_DELIVERY, text, "gems", best=best)]


def _cost(brief: Brief) -> list[Discovery]:
    delivery = brief.decided(Q.DAMAGE_DELIVERY, DeliveryChoice)
    gem = brief.catalogue.by_id.get(delivery.skill_id) if delivery else None
    if gem is None:
        return []
    cost = round(cost_per_second(gem), 1)
    level = gem_level_at(gem, brief.level)
    highest = min(20, gem.natural_max_level)
    text = f"{gem.name} costs {cost} mana per second at gem level {highest}; gem level {level} is usable."
    return [_found(Q.RESOURCE_SUSTAIN, text, "gems", mana_per_second=cost, gem_level=level)]
