"""Resource sustain: what pays for the main skill, and how much must come back."""

from __future__ import annotations

from collections.abc import Iterator

from app.knowledge.gems import gem_level_at
from app.model.facts import GemFact
from app.model.names import Demand, Provenance, SubProblemName
from app.model.sub_problems import Decision, DeliveryChoice, Option, SustainChoice
from app.reasoning.questions.brief import Brief
from app.reasoning.questions.options import decide, fresh

_NAME = SubProblemName.RESOURCE_SUSTAIN
_SUPPORTS_COST = 1.6
"""Five supports usually multiply the cost of a skill by about this much."""
_STEP = 1.5


def cost_per_second(gem: GemFact) -> float:
    """Return the mana that holding the skill's button costs per second, without supports, at the fact's gem level."""
    rate = 1.0 / gem.cast_time_s if gem.cast_time_s > 0 else 1.0
    return gem.costs.get("Mana", 0.0) * rate + gem.costs.get("ManaPerMinute", 0.0) / 60.0


def decide_sustain(brief: Brief) -> Decision:
    """Pay with mana where the skill costs mana, and ask for recovery in proportion to its cost."""
    delivery = brief.decided(SubProblemName.DAMAGE_DELIVERY, DeliveryChoice)
    gem = brief.catalogue.by_id.get(delivery.skill_id) if delivery else None
    base = _wanted_recovery(brief, gem) if gem else 0.0
    first = fresh(brief, _NAME, _stronger(brief, gem, base))
    cheap = _option(gem, base, cheaper=True, why="supports that cost less also add less damage")
    return decide(
        brief,
        _NAME,
        [o for o in (first, cheap, _life(base)) if o is first or o.name != first.name],
        Provenance.INFERRED,
    )


def _wanted_recovery(brief: Brief, gem: GemFact) -> float:
    """Return mana per second: the cost with supports, scaled down for a gem that is not at level 20 yet."""
    share = gem_level_at(gem, brief.demands.level) / max(1, min(20, gem.natural_max_level))
    return cost_per_second(gem) * share * _SUPPORTS_COST


def _stronger(brief: Brief, gem: GemFact | None, base: float) -> Iterator[Option]:
    steps = len(brief.constraints(_NAME, Demand.MORE_RECOVERY))
    cheaper = bool(brief.constraints(_NAME, Demand.CHEAPER_SKILL, Demand.DROP_SUPPORT))
    missing = sum(float(c.values.missing or 0.0) for c in brief.constraints(_NAME, Demand.MORE_RECOVERY))
    while True:
        yield _option(gem, (base + missing) * _STEP**steps, cheaper=cheaper)
        steps += 1


def _option(gem: GemFact | None, recovery: float, *, cheaper: bool, why: str | None = None) -> Option:
    resource = "mana" if gem is not None and cost_per_second(gem) > 0 else "none"
    choice = SustainChoice.model_validate(
        {"resource": resource, "recovery_per_second": round(recovery, 1), "prefer_cheaper_supports": cheaper}
    )
    name = f"mana, {recovery:.0f} per second" if resource == "mana" else "nothing to pay"
    reason = "The main skill costs nothing."
    if gem is not None and resource == "mana":
        reason = f"{gem.name} costs about {recovery:.0f} mana per second with supports, which must come back."
    return Option(
        name=name + (", cheaper supports" if cheaper else ""), choice=choice, reason=reason, rejected_because=why
    )


def _life(recovery: float) -> Option:
    choice = SustainChoice(resource="life", recovery_per_second=round(recovery, 1))
    why = "paying with life costs effective hit points, and needs a keystone or an ascendancy for it"
    return Option(name="life", choice=choice, rejected_because=why)
