"""Spirit: persistent skills worth their reservation, best first; the search measures which of them stay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import Field

from app.core.errors import LlmBadOutput
from app.knowledge.gems import (
    attributes_of,
    damage_types_of,
    dealt,
    is_attack,
    is_minion,
    is_spell,
    level_required,
    tags,
    usual_spirit,
)
from app.knowledge.weapons import weapon_words
from app.knowledge.words import by_phrase, listing, named
from app.model.facts import GemFact
from app.model.names import Demand, Provenance, SubProblemName
from app.model.sub_problems import (
    Choice,
    Decision,
    DeliveryChoice,
    Discovery,
    Option,
    SpiritChoice,
    SurvivabilityChoice,
)
from app.reasoning.base import FoundBuild
from app.reasoning.questions.base import ExploreAnswer, Name, QuestionKind, check_usable
from app.reasoning.questions.brief import Brief

_ODD = frozenset({"meta", "trigger", "invocation"})


class SpiritAnswer(ExploreAnswer):
    """`explore-spirit_allocation`. `skills`: persistent skills, best first; `reserve_free` Spirit stays unreserved."""

    skills: Annotated[list[Name], Field(max_length=8)]
    reserve_free: Annotated[float, Field(ge=0, le=300)] = 0.0


class SpiritQuestion(QuestionKind[SpiritAnswer]):
    """What the Spirit is reserved for."""

    name = SubProblemName.SPIRIT_ALLOCATION
    answer = SpiritAnswer
    demands = frozenset({Demand.LESS_SPIRIT})
    requires = (SubProblemName.DAMAGE_DELIVERY,)

    def waits_for(self, *, ascendancy_named: bool, skill_named: bool) -> list[SubProblemName]:
        """Wait for skill and defence."""
        return [SubProblemName.DAMAGE_DELIVERY, SubProblemName.SURVIVABILITY]

    def gather(self, brief: Brief) -> list[Discovery]:
        """Return how much Spirit there is."""
        total = _available(brief)
        text = f"About {total:.0f} Spirit can be reserved at level {brief.demands.level}."
        return [self.discovery(text, "gems")]

    def decide(self, brief: Brief) -> Decision:
        """Fill the Spirit that the level usually has with the skills that serve the build best."""
        scored = [(score, gem) for gem in brief.catalogue.active if (score := _score(brief, gem)) > 0]
        ranked = [gem for _, gem in sorted(scored, key=lambda pair: (-pair[0], pair[1].id))]
        chosen = self.fresh(brief, self._smaller(brief, ranked))
        taken = set(chosen.choice.skill_ids) if isinstance(chosen.choice, SpiritChoice) else set()
        why = "other persistent skills serve this build more"
        others = [_option([gem], 0.0, why) for gem in ranked if gem.id not in taken]
        nothing = _option([], 0.0, "unused Spirit is wasted")
        return self.choose(brief, [chosen, *others[:4], nothing], Provenance.INFERRED)

    def _smaller(self, brief: Brief, ranked: Sequence[GemFact]) -> Iterator[Option]:
        """Yield what fits the Spirit, then ever less of it; each conflict about Spirit takes one skill away."""
        available = _available(brief) - (brief.main_skill.spirit if brief.main_skill else 0.0)
        less = brief.constraints(self.name, Demand.LESS_SPIRIT)
        over = max((float(c.values.over or 0.0) for c in less), default=0.0)
        fitting: list[GemFact] = []
        for gem in ranked:
            if sum(g.spirit for g in fitting) + gem.spirit <= available:
                fitting.append(gem)
        drop = len(less)
        while True:
            yield _option(fitting[: max(0, len(fitting) - drop)], over if drop else 0.0)
            drop += 1

    def settle(self, answer: SpiritAnswer, brief: Brief, usual: Decision) -> tuple[str, Choice]:
        """Refuse skills that do not exist, were ruled out or come later, and more Spirit than there is."""
        assert isinstance(usual.choice, SpiritChoice)
        own = [gem for gem in brief.catalogue.active if gem.spirit > 0]
        known = by_phrase(own, (gem.name for gem in own))
        gems: list[GemFact] = []
        for text in dict.fromkeys(answer.skills):
            gem = named(text, known, "skill that reserves Spirit")
            check_usable(brief, gem)
            gems.append(gem)
        available = max(_available(brief) - (brief.main_skill.spirit if brief.main_skill else 0.0), 0.0)
        total = sum(gem.spirit for gem in gems)
        if total > available:
            raise LlmBadOutput(f"these skills reserve {total:.0f} Spirit, but about {available:.0f} are there")
        free = max(answer.reserve_free, usual.choice.reserve_free)
        names = listing([gem.name for gem in gems]) or "nothing"
        choice = SpiritChoice(skill_ids=[gem.id for gem in gems], reserve_free=free)
        return names + (f", {free:.0f} kept free" if free else ""), choice

    def recognise(self, found: FoundBuild) -> tuple[str, Choice]:
        """Return the skills of a finished build that reserve Spirit."""
        leaders = [found.leader(index) for index in range(1, len(found.blueprint.groups) + 1)]
        choice = SpiritChoice(skill_ids=[fact.id for fact in leaders if fact is not None and fact.spirit > 0])
        return f"{len(choice.skill_ids)} persistent skills", choice


def _available(brief: Brief) -> float:
    """Return the Spirit that a character of this level and gear can plausibly reserve."""
    delivery = brief.decided(SubProblemName.DAMAGE_DELIVERY, DeliveryChoice)
    return usual_spirit(brief.demands.level, sceptre=delivery is not None and "Sceptre" in delivery.weapon_types)


def _score(brief: Brief, gem: GemFact) -> float:
    """Return how well a persistent skill serves the build; 0 or less = not at all."""
    wished = brief.is_named(gem.name)
    main = brief.main_skill
    if gem.spirit <= 0 or (main is not None and gem.id == main.id) or not _fits(brief, gem, wished):
        return 0.0
    lists = brief.taste.spirit
    kinds = dealt(main) if main else brief.damage_types
    ranks = [lists[topic].index(gem.name) for topic in _topics(brief, kinds) if gem.name in lists.get(topic, [])]
    score = 100.0 if wished else 0.0
    score += sum(20.0 - 3.0 * rank for rank in ranks)
    score += 5.0 * len(set(damage_types_of(gem)) & set(kinds))
    have = brief.class_fact.attributes
    wanted = attributes_of(gem)
    if wanted and have:
        score += sum(have.get(a, 0) for a in wanted) / len(wanted) - max(have.values())
    return score - gem.spirit / 30.0


def _fits(brief: Brief, gem: GemFact, wished: bool) -> bool:
    """Say whether the build can use the skill; odd ones and minions only where they were wished for or fit."""
    delivery = brief.decided(SubProblemName.DAMAGE_DELIVERY, DeliveryChoice)
    minions = delivery is not None and delivery.minion
    if brief.exclusions.gem(gem) or level_required(gem) > brief.demands.level or not (gem.modelled or wished):
        return False
    if not wished and (tags(gem) & _ODD or (is_minion(gem) and not minions)):
        return False
    words = weapon_words(gem)
    return not words or any(weapon in words for weapon in (delivery.weapon_types if delivery else []))


def _topics(brief: Brief, kinds: Sequence[str]) -> list[str]:
    """Return what the build is about, in the words under which experienced players list persistent skills."""
    gem, topics = brief.main_skill, list(kinds)
    if len(set(topics) & {"lightning", "cold", "fire"}) > 1:
        topics.append("elemental")
    if gem is not None:
        topics += ["minion"] if is_minion(gem) else ["spell"] if is_spell(gem) else ["attack"] if is_attack(gem) else []
        topics += [tag for tag in ("melee", "projectile") if tag in tags(gem)]
    survival = brief.decided(SubProblemName.SURVIVABILITY, SurvivabilityChoice)
    topics += [survival.pool, *survival.mitigation] if survival else []
    return list(dict.fromkeys([*topics, *brief.listed("style")]))


def _option(gems: Sequence[GemFact], free: float, why: str | None = None) -> Option:
    names = ", ".join(gem.name for gem in gems) or "nothing"
    reason = "Nothing worth the Spirit there is."
    if gems:
        reason = f"{names}: {sum(gem.spirit for gem in gems):.0f} Spirit for what serves this build most."
    choice = SpiritChoice(skill_ids=[gem.id for gem in gems], reserve_free=free)
    name = names + (f", {free:.0f} kept free" if free else "")
    return Option(name=name, choice=choice, reason=reason, rejected_because=why)
