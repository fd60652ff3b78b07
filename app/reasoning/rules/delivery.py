"""Damage delivery: the main skill, what to hold for it, and which skills help."""

from __future__ import annotations

from app.model.choices import DeliveryChoice
from app.model.facts import GemFact
from app.model.names import Demand, Provenance, SubProblemName
from app.model.subproblems import Decision, Option
from app.reasoning.rules.brief import Brief
from app.reasoning.rules.choosing import decide
from app.reasoning.rules.gems import can_be_main, is_attack, is_minion, level_required, tags
from app.reasoning.rules.judging import Judgement, dealt, judge
from app.reasoning.rules.setups import Setup, setups
from app.reasoning.rules.sustain import cost_per_second
from app.reasoning.rules.words import listing

_NAME = SubProblemName.DAMAGE_DELIVERY
_MOST_OPTIONS = 40


def decide_delivery(brief: Brief) -> Decision:
    """Choose the main skill asked for, else the one that fits best, with the best thing to hold for it."""
    ranked = rank_skills(brief)
    options = _options(brief, ranked)
    provenance = Provenance.EXPLICIT if brief.explicit("skill") else Provenance.INFERRED
    tried = [d.choice for d in brief.prior(_NAME) if isinstance(d.choice, DeliveryChoice)]
    return decide(
        brief,
        _NAME,
        options,
        provenance,
        banned=lambda option: _is_banned(brief, option, tried),
        forbidden=lambda option: _is_another_skill(brief, option),
    )


def rank_skills(brief: Brief) -> list[Judgement]:
    """Return the skills that the build could be made around, best first; the skill asked for stands alone in front."""
    asked = brief.skill
    fitting = [gem for gem in brief.catalogue.active if can_be_main(gem) and not brief.exclusions.gem(gem)]
    reachable = [gem for gem in fitting if level_required(gem) <= brief.level] or fitting
    wants_minions = "minion" in brief.listed("style") or (asked is not None and is_minion(asked))
    of_kind = [gem for gem in reachable if is_minion(gem) == wants_minions] or reachable or list(brief.catalogue.active)
    judged = sorted((judge(brief, gem) for gem in of_kind), key=lambda j: (-j.total, j.gem.id))
    if asked is None:
        return judged
    return [judge(brief, asked), *(j for j in judged if j.gem.id != asked.id)]


def _options(brief: Brief, ranked: list[Judgement]) -> list[Option]:
    """Return every skill with its best set-up, the first skill with all of its set-ups behind the next two skills."""
    best = ranked[0]
    first, *more = [_option(brief, best, setup, None) for setup in setups(brief, best.gem)]
    rest = [_option(brief, j, setups(brief, j.gem)[0], best) for j in ranked[1:_MOST_OPTIONS]]
    for option in more:
        rest.insert(2, option.model_copy(update={"rejected_because": f"{first.name} suits the class better"}))
    return [first, *rest]


def _option(brief: Brief, judged: Judgement, setup: Setup, better: Judgement | None) -> Option:
    gem = judged.gem
    choice = DeliveryChoice(
        skill_id=gem.id,
        skill_name=gem.name,
        weapon_types=[setup.weapon],
        off_hand=setup.off_hand,
        helper_skills=[helper.id for helper in helpers(brief, gem)],
        minion=is_minion(gem),
    )
    return Option(
        name=f"{gem.name} with {setup.text}",
        choice=choice,
        score=round(judged.total, 2),
        reason=_reason(brief, gem, setup),
        rejected_because=judged.loses_to(better) if better else None,
    )


def _reason(brief: Brief, gem: GemFact, setup: Setup) -> str:
    kinds = listing(dealt(gem)) or "damage over time"
    if is_minion(gem) and not brief.explicit("skill"):
        return f"{gem.name}: minions that suit the {brief.class_fact.name}; {setup.text} strengthen them."
    if brief.explicit("skill") and brief.skill is not None and brief.skill.id == gem.id:
        return f"You asked for {gem.name}; with {setup.text} it deals {kinds} damage."
    owner = brief.class_fact.name
    return f"{gem.name} with {setup.text} is a {kinds} skill that suits the {owner} and {_goal_words(brief)}."


def _goal_words(brief: Brief) -> str:
    return {"mapping": "clears maps well", "bossing": "does well against bosses", "leveling": "is ready early"}.get(
        brief.goal.value, "works in maps and against bosses"
    )


def helpers(brief: Brief, gem: GemFact) -> list[GemFact]:
    """Return the skills that help the main one: those asked for, a curse for its damage, a mark for attacks."""
    named = [brief.catalogue.skill(name) for name in brief.listed("with")]
    names = [name for kind in dealt(gem)[:1] for name in brief.taste.curses.get(kind, [])]
    if is_attack(gem):
        names += brief.taste.marks.get("attack", [])[:1]
    known = [*named, *(brief.catalogue.skill(name) for name in names)]
    usable = [g for g in known if g and not brief.exclusions.gem(g) and level_required(g) <= brief.level]
    return _unique(usable, gem)


def _unique(gems: list[GemFact], main: GemFact) -> list[GemFact]:
    first: dict[str, GemFact] = {}
    for gem in gems:
        if gem.id != main.id and not gem.spirit and "persistent" not in tags(gem):
            first.setdefault(gem.id, gem)
    return list(first.values())


def _is_another_skill(brief: Brief, option: Option) -> bool:
    """Say whether the option is not the skill that the constraints name."""
    assert isinstance(option.choice, DeliveryChoice)
    return brief.skill is not None and option.choice.skill_id != brief.skill.id


def _is_banned(brief: Brief, option: Option, tried: list[DeliveryChoice]) -> bool:
    """Say whether the newest conflict rules the option out by demanding another skill, weapon or a cheaper skill."""
    assert isinstance(option.choice, DeliveryChoice)
    choice = option.choice
    demands = brief.constraints(_NAME, Demand.OTHER_SKILL, Demand.OTHER_WEAPON, Demand.CHEAPER_SKILL)
    if not demands or not tried:
        return False
    match demands[-1].demand:
        case Demand.OTHER_SKILL:
            return choice.skill_id in {t.skill_id for t in tried}
        case Demand.OTHER_WEAPON:
            return choice.skill_id != tried[-1].skill_id or _held(choice) in {_held(t) for t in tried}
        case _:
            return not _is_cheaper(brief, choice, tried)


def _held(choice: DeliveryChoice) -> tuple[str, ...]:
    return (choice.skill_id, *choice.weapon_types, choice.off_hand or "")


def _is_cheaper(brief: Brief, choice: DeliveryChoice, tried: list[DeliveryChoice]) -> bool:
    costs = [cost_per_second(brief.catalogue.by_id[t.skill_id]) for t in tried if t.skill_id in brief.catalogue.by_id]
    return not costs or cost_per_second(brief.catalogue.by_id[choice.skill_id]) < min(costs)
