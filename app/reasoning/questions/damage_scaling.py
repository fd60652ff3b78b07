"""Damage scaling: which damage types and words to look for in passives and affixes, and what to leave out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from app.core.errors import LlmBadOutput
from app.knowledge.claims import NO_GROUNDS
from app.knowledge.gems import ELEMENTS, damage_types_of, dealt, is_attack, is_minion, is_spell, tags
from app.knowledge.words import by_phrase, listing, named
from app.model.base import changed
from app.model.facts import GemFact
from app.model.names import Demand, Goal, Provenance, SubProblemName
from app.model.sub_problems import Choice, Decision, DeliveryChoice, Discovery, Option, ScalingChoice
from app.reasoning.base import FoundBuild
from app.reasoning.questions.base import ExploreAnswer, Name, QuestionKind
from app.reasoning.questions.brief import Brief

DamageType = Literal["physical", "lightning", "cold", "fire", "chaos"]
_STEP = 1.5


class ScalingAnswer(ExploreAnswer):
    """`explore-damage_scaling`. `keywords`: words looked for in passives and affixes; `damage_weight` is
    absolute, None = as the rules weigh it.
    """

    damage_types: Annotated[list[DamageType], Field(min_length=1, max_length=5)]
    keywords: Annotated[list[Name], Field(min_length=1, max_length=16)]
    excluded_supports: Annotated[list[Name], Field(max_length=12)] = Field(default_factory=list)
    excluded_passives: Annotated[list[Name], Field(max_length=12)] = Field(default_factory=list)
    damage_weight: Annotated[float, Field(ge=0.25, le=4.0)] | None = None


class ScalingQuestion(QuestionKind[ScalingAnswer]):
    """What makes the damage grow."""

    name = SubProblemName.DAMAGE_SCALING
    answer = ScalingAnswer
    demands = frozenset({Demand.MORE_DAMAGE, Demand.DROP_SUPPORT})
    requires = (SubProblemName.DAMAGE_DELIVERY,)
    needs_nodes = True

    def waits_for(self, *, ascendancy_named: bool, skill_named: bool) -> list[SubProblemName]:
        """Wait for ascendancy and skill."""
        return [SubProblemName.ASCENDANCY, SubProblemName.DAMAGE_DELIVERY]

    def gather(self, brief: Brief) -> list[Discovery]:
        """Return how much there is to choose from."""
        count = sum(1 for gem in brief.catalogue.gems if gem.kind == "support")
        text = f"{count} support gems and {len(brief.nodes)} passives are known."
        return [self.discovery(text, "gems")]

    def decide(self, brief: Brief) -> Decision:
        """Scale the damage that the main skill deals, critical hits first where it can have them."""
        gem = brief.main_skill
        types = _types(brief, gem)
        words = _words(brief, gem, types)
        shown, source = listing(types), gem.name if gem else "the main skill"
        rare = [word for word in brief.taste.keywords.get("critical", []) if word not in words]
        crit_name, plain_name = f"{shown} damage and critical hits", f"{shown} damage"
        plain_reason = f"{source} deals {shown} damage; this is what multiplies it."
        crit_reason = f"{source} deals {shown} damage, and critical hits multiply it."
        no_gain = "damage over time and minions do not gain from your critical hits"
        critical = _option(brief, types, [*words, *rare], crit_name, crit_reason, no_gain)
        further = "critical hits multiply the damage further"
        plain = _option(brief, types, words, plain_name, plain_reason, further)
        broad = _option(brief, types, ["Damage"], "any damage", "", "it is less focused")
        hits = gem is not None and not is_minion(gem) and "degenonlyspelldamage" not in tags(gem)
        styles = brief.listed("style")
        hits = hits and "damage_over_time" not in styles
        can_be_critical = "critical" in styles or (hits and "critical" not in brief.exclusions.terms)
        first, second = (critical, plain) if can_be_critical else (plain, critical)
        chosen = self.fresh(brief, self._heavier(brief, first))
        provenance = Provenance.EXPLICIT if brief.explicit("damage_type") else Provenance.INFERRED
        return self.choose(brief, [chosen, second, broad], provenance)

    def _heavier(self, brief: Brief, option: Option) -> Iterator[Option]:
        """Yield the answer with the weight that conflicts ask for, then ever heavier."""
        assert isinstance(option.choice, ScalingChoice)
        steps = len(brief.constraints(self.name, Demand.MORE_DAMAGE))
        dropped = brief.constraints(self.name, Demand.DROP_SUPPORT)
        left_out = [c.values.excluded for c in dropped if c.values.excluded]
        gems = [gem.id for gem in brief.catalogue.gems if gem.name in left_out]
        nodes = [node.id for node in brief.nodes if str(node.id) in left_out or node.name in left_out]
        while True:
            choice = changed(
                option.choice,
                damage_weight=round(option.choice.damage_weight * _STEP**steps, 3),
                excluded_gems=sorted({*option.choice.excluded_gems, *gems}),
                excluded_nodes=sorted({*option.choice.excluded_nodes, *nodes}),
            )
            name = option.name if not steps else f"{option.name}, weighed {_STEP**steps:.3g} times"
            yield changed(option, name=name, choice=choice)
            steps += 1

    def settle(self, answer: ScalingAnswer, brief: Brief, usual: Decision) -> tuple[str, Choice]:
        """Refuse damage that the main skill does not deal, and supports and passives that do not exist."""
        assert isinstance(usual.choice, ScalingChoice)
        gem = brief.main_skill
        possible = {*usual.choice.damage_types, *(dealt(gem) if gem else ()), *brief.damage_types}
        types = list(dict.fromkeys(answer.damage_types))
        if not set(types) & possible:
            raise LlmBadOutput(f"the main skill deals {listing(sorted(possible))} damage, not {listing(types)}")
        supports = [gem for gem in brief.catalogue.gems if gem.kind == "support"]
        known = by_phrase(supports, (gem.name for gem in supports))
        gems = [named(text, known, "support").id for text in answer.excluded_supports]
        own = [node for node in brief.nodes if node.kind in ("notable", "keystone")]
        passives = by_phrase(own, (node.name for node in own))
        nodes = [named(text, passives, "passive").id for text in answer.excluded_passives]
        weight = usual.choice.damage_weight if answer.damage_weight is None else round(answer.damage_weight, 3)
        if brief.constraints(self.name, Demand.MORE_DAMAGE):
            weight = max(weight, usual.choice.damage_weight)
        choice = ScalingChoice(
            damage_types=types,
            keywords=[word for word in dict.fromkeys(answer.keywords) if NO_GROUNDS.bear(word)],
            excluded_gems=sorted({*usual.choice.excluded_gems, *gems}),
            excluded_nodes=sorted({*usual.choice.excluded_nodes, *nodes}),
            damage_weight=weight,
        )
        return f"{listing(types)} damage by {listing(choice.keywords[:3])}, weighed {weight:g}", choice

    def recognise(self, found: FoundBuild) -> tuple[str, Choice]:
        """Return what the strongest skill of a finished build deals."""
        main = found.main
        kinds = damage_types_of(main) if main else []
        own = [tag.lower() for tag in (main.tags if main else [])]
        choice = ScalingChoice(damage_types=kinds, keywords=list(dict.fromkeys([*kinds, *own])))
        return " and ".join(kinds) or "what the skill deals", choice


def _types(brief: Brief, gem: GemFact | None) -> list[str]:
    """Return the damage types that the skill deals and the user wants; an attack can also gain what was asked for."""
    own = dealt(gem) if gem else []
    asked = brief.damage_types if brief.sure("damage_type") else []
    both = [kind for kind in own if kind in asked]
    gained = gem is not None and is_attack(gem) and brief.explicit("damage_type")
    extra = [kind for kind in asked if gained and kind not in own]
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
    # passives speak of a "Mace", whether it takes one hand or two
    spoken = [weapon.split()[-1] if weapon.startswith(("One", "Two")) else weapon for weapon in held]
    return list(dict.fromkeys([*words, *(w for topic in topics for w in brief.taste.keywords.get(topic, [])), *spoken]))


def _option(brief: Brief, types: list[str], words: list[str], name: str, reason: str, against: str) -> Option:
    ruled_out, demands = brief.exclusions, brief.demands
    weight = (1.2 if demands.goal is Goal.BOSSING else 1.0) * (0.85 if demands.hardcore else 1.0)
    choice = ScalingChoice(
        damage_types=types,
        keywords=words,
        # what was named is wanted, although a word of it was ruled out
        excluded_gems=[gem.id for gem in brief.catalogue.gems if ruled_out.gem(gem) and not brief.is_named(gem.name)],
        excluded_nodes=[node.id for node in brief.nodes if ruled_out.node(node) and not brief.is_named(node.name)],
        damage_weight=weight,
    )
    return Option(name=name, choice=choice, reason=reason, rejected_because=against)
