"""Spirit: persistent skills worth their reservation, best first; the search measures which of them stay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.knowledge.gems import attributes_of, damage_types_of, is_attack, is_minion, is_spell, level_required, tags
from app.knowledge.weapons import weapon_words
from app.model.facts import GemFact
from app.model.names import Demand, Provenance, SubProblemName
from app.model.sub_problems import Decision, DeliveryChoice, Option, SpiritChoice, SurvivabilityChoice
from app.reasoning.questions.brief import Brief
from app.reasoning.questions.fit import dealt
from app.reasoning.questions.options import decide, fresh

_NAME = SubProblemName.SPIRIT_ALLOCATION
_ODD = frozenset({"meta", "trigger", "invocation"})
_BY_LEVEL = ((65, 100.0), (45, 60.0), (20, 30.0))
"""Spirit that quest rewards have usually given from this level on."""
_FROM_GEAR = 30.0
_SCEPTRE = 100.0


def decide_spirit(brief: Brief) -> Decision:
    """Fill the Spirit that the level usually has with the skills that serve the build best."""
    ranked = _ranked(brief)
    chosen = fresh(brief, _NAME, _smaller(brief, ranked))
    taken = set(chosen.choice.skill_ids) if isinstance(chosen.choice, SpiritChoice) else set()
    others = [
        _option([gem], 0.0, "other persistent skills serve this build more") for gem in ranked if gem.id not in taken
    ]
    return decide(brief, _NAME, [chosen, *others[:4], _option([], 0.0, "unused Spirit is wasted")], Provenance.INFERRED)


def spirit_of(brief: Brief) -> float:
    """Return the Spirit that a character of this level and gear can plausibly reserve."""
    quests = next((points for level, points in _BY_LEVEL if brief.demands.level >= level), 0.0)
    delivery = brief.decided(SubProblemName.DAMAGE_DELIVERY, DeliveryChoice)
    sceptre = _SCEPTRE if delivery and "Sceptre" in delivery.weapon_types else 0.0
    return quests + sceptre + (_FROM_GEAR if brief.demands.level >= 65 else 0.0)


def _ranked(brief: Brief) -> list[GemFact]:
    scored = [(score, gem) for gem in brief.catalogue.active if (score := _score(brief, gem)) > 0]
    return [gem for _, gem in sorted(scored, key=lambda pair: (-pair[0], pair[1].id))]


def _score(brief: Brief, gem: GemFact) -> float:
    """Return how well a persistent skill serves the build; 0 or less = not at all."""
    named = gem.name in brief.listed("with")
    main = _main(brief)
    if gem.spirit <= 0 or (main is not None and gem.id == main.id) or not _fits(brief, gem, named):
        return 0.0
    lists = brief.taste.spirit
    ranks = [lists[topic].index(gem.name) for topic in _topics(brief) if gem.name in lists.get(topic, [])]
    score = 100.0 if named else 0.0
    score += sum(20.0 - 3.0 * rank for rank in ranks)
    score += 5.0 * len(set(damage_types_of(gem)) & set(_damage(brief)))
    have = brief.class_fact.attributes
    wanted = attributes_of(gem)
    if wanted and have:
        score += sum(have.get(a, 0) for a in wanted) / len(wanted) - max(have.values())
    return score - gem.spirit / 30.0


def _fits(brief: Brief, gem: GemFact, named: bool) -> bool:
    delivery = brief.decided(SubProblemName.DAMAGE_DELIVERY, DeliveryChoice)
    minions = delivery is not None and delivery.minion
    if brief.exclusions.gem(gem) or level_required(gem) > brief.demands.level or not gem.modelled:
        return False
    if not named and (tags(gem) & _ODD or (is_minion(gem) and not minions)):
        return False
    words = weapon_words(gem)
    held = delivery.weapon_types if delivery else []
    return not words or any(weapon in words for weapon in held)


def _main(brief: Brief) -> GemFact | None:
    delivery = brief.decided(SubProblemName.DAMAGE_DELIVERY, DeliveryChoice)
    return brief.catalogue.by_id.get(delivery.skill_id) if delivery else None


def _damage(brief: Brief) -> list[str]:
    gem = _main(brief)
    return dealt(gem) if gem else brief.damage_types


def _topics(brief: Brief) -> list[str]:
    gem = _main(brief)
    topics = list(_damage(brief))
    if len(set(topics) & {"lightning", "cold", "fire"}) > 1:
        topics.append("elemental")
    if gem is not None:
        topics += ["minion"] if is_minion(gem) else ["spell"] if is_spell(gem) else ["attack"] if is_attack(gem) else []
        topics += [tag for tag in ("melee", "projectile") if tag in tags(gem)]
    survival = brief.decided(SubProblemName.SURVIVABILITY, SurvivabilityChoice)
    topics += [survival.pool, *survival.mitigation] if survival else []
    return list(dict.fromkeys([*topics, *brief.listed("style")]))


def _smaller(brief: Brief, ranked: Sequence[GemFact]) -> Iterator[Option]:
    """Yield what fits the Spirit, then ever less of it; each conflict about Spirit takes one skill away."""
    reserved = _main(brief)
    budget = spirit_of(brief) - (reserved.spirit if reserved else 0.0)
    less = brief.constraints(_NAME, Demand.LESS_SPIRIT)
    over = max((float(c.values.over or 0.0) for c in less), default=0.0)
    fitting: list[GemFact] = []
    for gem in ranked:
        if sum(g.spirit for g in fitting) + gem.spirit <= budget:
            fitting.append(gem)
    drop = len(less)
    while True:
        yield _option(fitting[: max(0, len(fitting) - drop)], over if drop else 0.0)
        drop += 1


def _option(gems: Sequence[GemFact], free: float, why: str | None = None) -> Option:
    total = sum(gem.spirit for gem in gems)
    names = ", ".join(gem.name for gem in gems) or "nothing"
    reason = (
        f"{names}: {total:.0f} Spirit for what serves this build most."
        if gems
        else "Nothing worth the Spirit there is."
    )
    choice = SpiritChoice(skill_ids=[gem.id for gem in gems], reserve_free=free)
    return Option(
        name=names + (f", {free:.0f} kept free" if free else ""), choice=choice, reason=reason, rejected_because=why
    )
