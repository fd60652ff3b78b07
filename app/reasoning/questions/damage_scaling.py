"""Damage scaling: which damage types and words to look for in passives and affixes, and what to leave out."""

from __future__ import annotations

from collections.abc import Iterator

from app.knowledge.gems import ELEMENTS, is_attack, is_minion, is_spell, tags
from app.knowledge.words import listing
from app.model.facts import GemFact
from app.model.names import Demand, Goal, Provenance, SubProblemName
from app.model.sub_problems import Decision, DeliveryChoice, Option, ScalingChoice
from app.reasoning.questions.brief import Brief
from app.reasoning.questions.fit import dealt
from app.reasoning.questions.options import decide, fresh

_NAME = SubProblemName.DAMAGE_SCALING
_STEP = 1.5


def decide_scaling(brief: Brief) -> Decision:
    """Scale the damage that the main skill deals, critical hits first where it can have them."""
    delivery = brief.decided(SubProblemName.DAMAGE_DELIVERY, DeliveryChoice)
    gem = brief.catalogue.by_id.get(delivery.skill_id) if delivery else None
    first, *others = _ways(brief, gem)
    chosen = fresh(brief, _NAME, _heavier(brief, first))
    provenance = Provenance.EXPLICIT if brief.explicit("damage_type") else Provenance.INFERRED
    return decide(brief, _NAME, [chosen, *others], provenance)


def _ways(brief: Brief, gem: GemFact | None) -> list[Option]:
    types = _types(brief, gem)
    words = _words(brief, gem, types)
    shown = listing(types)
    source = gem.name if gem else "the main skill"
    plain = _option(
        brief, types, words, f"{shown} damage", f"{source} deals {shown} damage; this is what multiplies it."
    )
    crit = [word for word in brief.taste.keywords.get("critical", []) if word not in words]
    critical = _option(
        brief,
        types,
        [*words, *crit],
        f"{shown} damage and critical hits",
        f"{source} deals {shown} damage, and critical hits multiply it.",
    )
    broad = _option(brief, types, ["Damage"], "any damage", "")
    ways = [critical, plain] if _can_be_critical(brief, gem) else [plain, critical]
    why = {
        critical.name: "damage over time and minions do not gain from your critical hits",
        plain.name: "critical hits multiply the damage further",
    }
    return [*(way.model_copy(update={"rejected_because": why[way.name]}) for way in ways), broad]


def _types(brief: Brief, gem: GemFact | None) -> list[str]:
    own = dealt(gem) if gem else []
    asked = [kind for kind in brief.damage_types if brief.sure("damage_type")]
    both = [kind for kind in own if kind in asked]
    extra = [
        kind
        for kind in asked
        if gem is not None and is_attack(gem) and brief.explicit("damage_type") and kind not in own
    ]
    return both or [*own, *extra] or brief.damage_types or ["physical"]


def _words(brief: Brief, gem: GemFact | None, types: list[str]) -> list[str]:
    words = [f"{kind.capitalize()} Damage" for kind in types]
    if set(types) & set(ELEMENTS):
        words.append("Elemental Damage")
    own = tags(gem) if gem else frozenset()
    topics = ["minion"] if gem and is_minion(gem) else []
    topics += ["spell"] if gem and is_spell(gem) else ["attack"] if gem and is_attack(gem) else []
    topics += [t for t in ("projectile", "melee", "slam", "totem", "grenade", "area", "companion") if t in own]
    topics += ["damage_over_time"] if "damageovertime" in own else []
    topics += [style for style in brief.listed("style") if style in brief.taste.keywords]
    delivery = brief.decided(SubProblemName.DAMAGE_DELIVERY, DeliveryChoice)
    held = [weapon for weapon in (delivery.weapon_types if delivery else []) if gem and is_attack(gem)]
    found = [*words, *(w for topic in topics for w in brief.taste.keywords.get(topic, [])), *(_spoken(w) for w in held)]
    return list(dict.fromkeys(found))


def _spoken(weapon: str) -> str:
    """Return the word that passives use for a weapon."""
    return weapon.split()[-1] if weapon.startswith(("One", "Two")) else weapon


def _can_be_critical(brief: Brief, gem: GemFact | None) -> bool:
    if "critical" in brief.listed("style"):
        return True
    if gem is None or "critical" in brief.exclusions.terms or is_minion(gem):
        return False
    return "degenonlyspelldamage" not in tags(gem)


def _option(brief: Brief, types: list[str], words: list[str], name: str, reason: str) -> Option:
    ruled_out = brief.exclusions
    choice = ScalingChoice(
        damage_types=types,
        keywords=words,
        excluded_gems=[gem.id for gem in brief.catalogue.gems if ruled_out.gem(gem)],
        excluded_nodes=[node.id for node in brief.nodes if ruled_out.node(node)],
        damage_weight=_base_weight(brief),
    )
    return Option(name=name, choice=choice, reason=reason, rejected_because="it is less focused")


def _base_weight(brief: Brief) -> float:
    return {Goal.BOSSING: 1.2, Goal.LEVELING: 1.0}.get(brief.demands.goal, 1.0) * (
        0.85 if brief.demands.hardcore else 1.0
    )


def _heavier(brief: Brief, option: Option) -> Iterator[Option]:
    """Yield the answer with the weight that conflicts ask for, then ever heavier."""
    assert isinstance(option.choice, ScalingChoice)
    steps = len(brief.constraints(_NAME, Demand.MORE_DAMAGE))
    left_out = [c.values.excluded for c in brief.constraints(_NAME, Demand.DROP_SUPPORT) if c.values.excluded]
    gems = [gem.id for gem in brief.catalogue.gems if gem.name in left_out]
    nodes = [node.id for node in brief.nodes if str(node.id) in left_out or node.name in left_out]
    while True:
        weight = round(option.choice.damage_weight * _STEP**steps, 3)
        choice = option.choice.model_copy(
            update={
                "damage_weight": weight,
                "excluded_gems": sorted({*option.choice.excluded_gems, *gems}),
                "excluded_nodes": sorted({*option.choice.excluded_nodes, *nodes}),
            }
        )
        name = option.name if not steps else f"{option.name}, weighed {_STEP**steps:.3g} times"
        yield option.model_copy(update={"name": name, "choice": choice})
        steps += 1
