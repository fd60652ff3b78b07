"""Damage delivery: the main skill, what to hold for it, and which skills help."""

from __future__ import annotations

from dataclasses import dataclass

from app.knowledge.gems import can_be_main, is_attack, is_minion, level_required, tags
from app.knowledge.weapons import CASTER, MARTIAL, UNARMED, matches, needs_shield, two_handed, weapon_words, word_of
from app.knowledge.words import listing
from app.model.facts import GemFact
from app.model.names import Demand, Provenance, SubProblemName
from app.model.sub_problems import Decision, DeliveryChoice, Option
from app.reasoning.questions.brief import Brief
from app.reasoning.questions.fit import Judgement, dealt, judge
from app.reasoning.questions.options import decide
from app.reasoning.questions.resource_sustain import cost_per_second


@dataclass(frozen=True)
class Setup:
    """A weapon and what goes with it."""

    weapon: str
    off_hand: str | None = None

    @property
    def text(self) -> str:
        """The set-up in words."""
        return " and ".join(part.lower() for part in (self.weapon, self.off_hand) if part)


_FOR_SPELLS = (Setup("Wand", "Focus"), Setup("Staff"), Setup("Wand", "Shield"), Setup("Sceptre", "Focus"))
_FOR_MINIONS = (Setup("Sceptre", "Focus"), Setup("Sceptre", "Shield"), Setup("Wand", "Focus"), Setup("Staff"))


def setups(brief: Brief, gem: GemFact) -> list[Setup]:
    """Return the set-ups the skill works with and the engine has items for, best first; never empty."""
    words = weapon_words(gem)
    if is_minion(gem) and not words:
        found = list(_FOR_MINIONS)
    elif words or is_attack(gem):
        found = _martial(words or _any_weapon(brief), needs_shield(gem))
    else:
        found = list(_FOR_SPELLS)
    kept = [
        s for s in (_with_known_off_hand(brief, s) for s in found) if _exists(brief, s) and not _ruled_out(brief, s)
    ]
    return sorted(kept or found[:1], key=lambda setup: _rank(brief, setup))


def _any_weapon(brief: Brief) -> list[str]:
    own = [weapon for weapon in brief.class_taste.weapons if weapon in MARTIAL]
    return list(dict.fromkeys([*own, "One Hand Mace", "Spear"]))


def _martial(words: list[str], shield: bool) -> list[Setup]:
    usable = [w for w in words if not (shield and two_handed(w)) and not (shield and w == "Bow")] or ["One Hand Mace"]
    return [Setup(weapon, _off_hand(weapon)) for weapon in usable]


def _off_hand(weapon: str) -> str | None:
    if weapon == "Bow":
        return "Quiver"
    return None if two_handed(weapon) or weapon == UNARMED else "Shield"


def _exists(brief: Brief, setup: Setup) -> bool:
    return not brief.bases or setup.weapon == UNARMED or setup.weapon in {word_of(base) for base in brief.bases}


def _with_known_off_hand(brief: Brief, setup: Setup) -> Setup:
    known = not brief.bases or setup.off_hand in {base.type for base in brief.bases}
    return setup if known else Setup(setup.weapon)


def _ruled_out(brief: Brief, setup: Setup) -> bool:
    gone = brief.exclusions.weapons
    return matches(gone, setup.weapon) or setup.off_hand in gone


def _rank(brief: Brief, setup: Setup) -> tuple[int, int, int]:
    """Order set-ups: those asked for, then those the class usually holds, then our own order."""
    asked = brief.listed("weapon")
    hits = matches(asked, setup.weapon) + (setup.off_hand in asked)
    if "block" in brief.listed("defence"):
        hits += setup.off_hand == "Shield"
    own = brief.class_taste.weapons
    usual = own.index(setup.weapon) if setup.weapon in own else len(own)
    every = (*CASTER, *MARTIAL)
    if setup.weapon in CASTER:
        usual = 0
    return (-hits, usual, every.index(setup.weapon) if setup.weapon in every and setup.weapon not in CASTER else 0)


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
    reachable = [gem for gem in fitting if level_required(gem) <= brief.demands.level] or fitting
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
        brief.demands.goal.value, "works in maps and against bosses"
    )


def helpers(brief: Brief, gem: GemFact) -> list[GemFact]:
    """Return the skills that help the main one: those asked for, a curse for its damage, a mark for attacks."""
    named = [brief.catalogue.skill(name) for name in brief.listed("with")]
    names = [name for kind in dealt(gem)[:1] for name in brief.taste.curses.get(kind, [])]
    if is_attack(gem):
        names += brief.taste.marks.get("attack", [])[:1]
    known = [*named, *(brief.catalogue.skill(name) for name in names)]
    usable = [g for g in known if g and not brief.exclusions.gem(g) and level_required(g) <= brief.demands.level]
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
