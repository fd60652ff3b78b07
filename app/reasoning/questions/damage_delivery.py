"""Damage delivery: the main skill, what to hold for it, and which skills help."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from app.core.errors import LlmBadOutput
from app.engine.base import Facts
from app.knowledge.gems import (
    ELEMENTS,
    TOO_AWKWARD,
    called_by,
    can_be_cut,
    can_be_main,
    charges_up,
    cost_per_second,
    dealt,
    has_style,
    is_attack,
    is_minion,
    level_required,
    tags,
    waits,
)
from app.knowledge.styles import BY_ITSELF, OF_MINIONS
from app.knowledge.weapons import held_by, matches
from app.knowledge.words import by_phrase, closest_to, listing, named
from app.model.base import changed
from app.model.blueprint import HAND_SLOTS
from app.model.conflicts import Details
from app.model.facts import GemFact
from app.model.names import Demand, Goal, Provenance, SubProblemName
from app.model.sub_problems import Choice, Decision, DeliveryChoice, Discovery, Option
from app.reasoning.base import FoundBuild
from app.reasoning.questions.base import ExploreAnswer, Name, QuestionKind, check_usable
from app.reasoning.questions.brief import Brief
from app.reasoning.questions.fit import KNOWN, Judgement, Setup, asked_in, judge, setups, wants_hands
from app.reasoning.questions.measured import measured_first, told_of_race

_MOST_OPTIONS = 40


class DeliveryAnswer(ExploreAnswer):
    """`explore-damage_delivery`. `weapon_types`: words such as Wand, Bow, Quarterstaff; `off_hand` or null."""

    skill: Name
    weapon_types: Annotated[list[Name], Field(max_length=4)] = Field(default_factory=list)
    off_hand: Name | None = None
    helper_skills: Annotated[list[Name], Field(max_length=6)] = Field(default_factory=list)
    supports: Annotated[list[Name], Field(max_length=5)] = Field(default_factory=list)


class DeliveryQuestion(QuestionKind[DeliveryAnswer]):
    """Which skill deals the damage, with what in hand."""

    name = SubProblemName.DAMAGE_DELIVERY
    answer = DeliveryAnswer
    demands = frozenset({Demand.OTHER_SKILL, Demand.OTHER_WEAPON, Demand.CHEAPER_SKILL})
    answered_by = "skill"
    needs_bases = True
    needs_nodes = True

    def is_answered(self, brief: Brief) -> bool:
        """Say whether a skill was named, and what to hold is not worth a race: a keystone would fill the other hand."""
        second = setups(brief, brief.skill)[1:2] if brief.skill is not None else []
        return super().is_answered(brief) and not any(held_by(one.weapon, one.off_hand, ()) for one in second)

    def waits_for(self, *, ascendancy_named: bool, skill_named: bool) -> list[SubProblemName]:
        """Wait for the ascendancy where that alone was named."""
        return [SubProblemName.ASCENDANCY] if ascendancy_named and not skill_named else []

    def gather(self, brief: Brief) -> list[Discovery]:
        """Return the skills that fit best, with their points."""
        ranked = _ranked(brief)
        best = {judged.gem.name: round(judged.total, 1) for judged in ranked[:5]}
        text = f"{len(ranked)} skills could be the main skill; the best fits are {', '.join(best)}."
        return [self.discovery(text, "gems"), *told_of_race(brief, self.name)]

    def decide(self, brief: Brief) -> Decision:
        """Choose the main skill asked for, else the one that was measured best, or fits best where none was.

        The first skill's other set-ups stand behind the next two skills.
        """
        ranked = _ranked(brief)
        best = ranked[0]
        first, *more = [_option(brief, best, setup, None) for setup in setups(brief, best.gem)]
        rest = [_option(brief, j, setups(brief, j.gem)[0], best) for j in ranked[1:_MOST_OPTIONS]]
        for option in more:
            rest.insert(2, changed(option, rejected_because=f"{first.name} suits the class better"))
        tried = [d.choice for d in brief.prior(self.name) if isinstance(d.choice, DeliveryChoice)]

        def is_banned(option: Option) -> bool:
            assert isinstance(option.choice, DeliveryChoice)
            return self._is_banned(brief, option.choice, tried)

        def is_another_skill(option: Option) -> bool:
            assert isinstance(option.choice, DeliveryChoice)
            return bool(brief.skills) and option.choice.skill_id not in {gem.id for gem in brief.skills}

        provenance = Provenance.EXPLICIT if brief.invariants.is_settled("skill") else Provenance.INFERRED
        options = measured_first(brief, [first, *rest])
        return self.choose(brief, options, provenance, banned=is_banned, forbidden=is_another_skill)

    def _is_banned(self, brief: Brief, choice: DeliveryChoice, tried: Sequence[DeliveryChoice]) -> bool:
        """Say whether the newest conflict rules the choice out by demanding another skill, weapon or a cheaper one."""
        demands = brief.constraints(self.name, *self.demands)
        if not demands or not tried:
            return False
        match demands[-1].demand:
            case Demand.OTHER_SKILL:
                able = _able(brief, demands[-1].values)
                wrong = bool(able) and choice.skill_id not in able
                return choice.skill_id in {t.skill_id for t in tried} or wrong
            case Demand.OTHER_WEAPON:
                return choice.skill_id != tried[-1].skill_id or _held(choice) in {_held(t) for t in tried}
            case _:
                known = brief.catalogue.by_id
                costs = [cost_per_second(known[t.skill_id]) for t in tried if t.skill_id in known]
                return bool(costs) and not cost_per_second(known[choice.skill_id]) < min(costs)

    def settle(self, answer: DeliveryAnswer, brief: Brief, usual: Decision) -> tuple[str, Choice]:
        """Refuse what does not exist, does not fit, was ruled out, or what the newest conflict asks to change."""
        gem = _usable(answer.skill, brief)
        if brief.skills and brief.explicit("skill") and gem not in brief.skills:
            raise LlmBadOutput(f"the user asked for {_either(brief)}")
        if not can_be_main(gem):
            raise LlmBadOutput(f"{gem.name} cannot be the main skill: it deals no damage that is calculated")
        of_minions = bool(OF_MINIONS & set(brief.listed("style"))) and brief.explicit("style")
        # what the rules would take may be taken: where no minion fits, they have nothing better either
        if of_minions and not is_minion(gem) and gem.id != getattr(usual.choice, "skill_id", None):
            raise LlmBadOutput(f"the user asked for minions, {gem.name} is none")
        setup = _answered_setup(answer, brief, gem)
        demands = brief.constraints(self.name, Demand.OTHER_SKILL, Demand.OTHER_WEAPON)
        tried = [d.choice for d in brief.prior(self.name) if isinstance(d.choice, DeliveryChoice)]
        if demands and tried:
            why = demands[-1].text
            if demands[-1].demand is Demand.OTHER_SKILL and gem.id in {choice.skill_id for choice in tried}:
                raise LlmBadOutput(f"another skill than {gem.name} is needed: {why}")
            if (gem.id, setup.weapon, setup.off_hand or "") in {_held(choice) for choice in tried}:
                raise LlmBadOutput(f"{gem.name} with {setup.text} was tried: {why}")
        # the helpers that were named come after those that the user asked for
        asked = {one.id for name in brief.listed("with") if (one := brief.catalogue.skill(name)) is not None}
        helping = [helper for helper in _helpers(brief, gem) if helper.id in asked]
        helping += [helper for name in answer.helper_skills if (helper := _usable(name, brief)).id != gem.id]
        lasting = [helper.id for helper in helping if not helper.spirit and "persistent" not in tags(helper)]
        offered = [one for one in brief.catalogue.gems if one.kind == "support" and not brief.exclusions.gem(one)]
        supports = by_phrase(offered, (one.name for one in offered))
        choice = DeliveryChoice(
            skill_id=gem.id,
            skill_name=gem.name,
            weapon_types=[setup.weapon],
            off_hand=setup.off_hand,
            helper_skills=list(dict.fromkeys(lasting)),
            supports=[named(name, supports, "support").id for name in dict.fromkeys(answer.supports)],
            minion=is_minion(gem),
        )
        return f"{gem.name} with {setup.text}", choice

    async def check(self, decision: Decision, facts: Facts) -> None:
        """Refuse a main skill that no support fits: such a build would stand still."""
        choice = decision.choice
        if isinstance(choice, DeliveryChoice) and not await facts.supports_for(choice.skill_id):
            raise LlmBadOutput(f"no support gem fits {choice.skill_name}")

    def recognise(self, found: FoundBuild) -> tuple[str, Choice]:
        """Return main skill and weapons of a finished build."""
        main, worn = found.main, found.blueprint.items
        weapon, other = (found.bases.get(worn[slot].base) if slot in worn else None for slot in HAND_SLOTS)
        choice = DeliveryChoice(
            skill_id=main.id if main else "",
            skill_name=main.name if main else "no main skill",
            weapon_types=[weapon.type] if weapon else [],
            off_hand=other.type if other else None,
            minion=main is not None and is_minion(main),
        )
        return choice.skill_name, choice


def _able(brief: Brief, wanted: Details) -> set[str]:
    """Return the skills that deal the damage, or are played in the style, that a conflict wants of another skill."""
    mains = [gem for gem in brief.catalogue.active if can_be_main(gem)]
    if wanted.style is not None:
        return {gem.id for gem in mains if has_style(gem, wanted.style)}
    kinds = set(ELEMENTS) if wanted.element == "elemental" else {wanted.element}
    return {gem.id for gem in mains if kinds & set(dealt(gem))}


def _ranked(brief: Brief) -> list[Judgement]:
    """Return the skills that the build could be made around, best first; those asked for stand in front."""
    asked = {gem.id for gem in brief.skills}
    fitting = [gem for gem in brief.catalogue.active if can_be_main(gem) and not brief.exclusions.gem(gem)]
    reachable = [gem for gem in fitting if level_required(gem) <= brief.demands.level] or fitting
    wants_minions = bool(OF_MINIONS & set(brief.listed("style"))) or any(map(is_minion, brief.skills))
    of_kind = [gem for gem in reachable if is_minion(gem) == wants_minions] or reachable or list(brief.catalogue.active)
    judged = sorted((judge(brief, gem) for gem in of_kind), key=lambda j: (-j.total, j.gem.id))
    named = sorted((judge(brief, gem) for gem in brief.skills), key=lambda j: (-j.total, j.gem.id))
    return [*named, *(j for j in judged if j.gem.id not in asked)]


def _either(brief: Brief) -> str:
    """Return the main skills that were asked for, in words."""
    return " or ".join(gem.name for gem in brief.skills)


RIDDEN = frozenset({"Rhoa Mount"})
"""Companions that carry who summons them: they fight only while nobody rides them."""


def ways(brief: Brief, most: int) -> list[Option]:
    """Return up to `most` skills with what to hold that the user's words allow, those that fit best first.

    Of several main skills that were named those start and no other. Words cut the field: damage type, weapon and style
    that were asked for are had by all that start, or as much of it as any skill has. Where there are fewer skills,
    further things to hold for the best of them join in. Left out is what would win by a figure that nobody plays:
    monsters that must first be found, skills that wait for Glory or get too hot; and objects that must be broken,
    companions that are ridden, skills that only an item grants, what is awkward to use, and but against bosses what
    charges up before every use, unless players of the class are known to build on it.
    """
    fitting, named = _as_asked(brief, _nearest(brief)), wants_hands(brief)
    if brief.skills:
        fitting = [one for one in _ranked(brief) if one.gem in brief.skills]
    offered = [(one, setups(brief, one.gem)) for one in (fitting if named else fitting[:most])]
    if named:  # one skill can be used with all that was asked for, another with a part of it
        hands = max((asked_in(brief, held[0]) for _, held in offered), default=0)
        kept = [(one, [s for s in held if asked_in(brief, s) == hands]) for one, held in offered]
        offered = [(one, held) for one, held in kept if held][:most]
    first = [_option(brief, judged, held[0], None) for judged, held in offered]
    more = [_option(brief, judged, setup, None) for judged, held in offered for setup in held[1:2]]
    return [*first, *more][:most]


def _as_asked(brief: Brief, fitting: list[Judgement]) -> list[Judgement]:
    """Return those of the most kinds that were asked for: a bear is a shapeshifter, a wolf is no bear."""
    asked = BY_ITSELF & set(brief.listed("style")) if brief.explicit("style") else frozenset[str]()
    of = {one.gem.id: sum(has_style(one.gem, style) for style in asked) for one in fitting}
    return [one for one in fitting if of[one.gem.id] == max(of.values())]


def _nearest(brief: Brief) -> list[Judgement]:
    """Return the skills that can be raced and have all that was asked for, or as much of it as any has.

    No mace skill deals cold damage, and no spear skill calls minions: which of the words weigh more is as everywhere,
    and whether passives, supports or gear bring the rest about is for the race to measure.
    """
    playable = [one for one in _ranked(brief) if _is_playable(brief, one)]
    prices = {one.gem.id: _missed(brief, one) for one in playable}
    least = min(prices.values(), default=0.0)
    return [one for one in playable if prices[one.gem.id] == least]


_GUESS, _SHAPE = 0.25, 1.5
"""Share of its price that a damage type has which nobody asked for, and another word points to; how much more a style
counts that nothing but the skill brings: other things make a bear deal fire damage, nothing makes a fire spell a bear.
"""


def _missed(brief: Brief, judged: Judgement) -> float:
    """Return the price, in points, of what a skill has not of what was asked for, or is guessed of its damage type."""
    shaped = not BY_ITSELF.isdisjoint(brief.listed("style"))
    weights = {
        "damage type": 1.0 if brief.explicit("damage_type") else _GUESS if brief.sure("damage_type") else 0.0,
        "weapon": 1.0 if brief.explicit("weapon") else 0.0,
        "style": (_SHAPE if shaped else 1.0) if brief.explicit("style") else 0.0,
    }
    return sum(weight * max(0.0, -judged.points[topic]) for topic, weight in weights.items())


def _is_playable(brief: Brief, judged: Judgement) -> bool:
    points = judged.points
    if judged.gem.monsters or waits(judged.gem) or called_by(judged.gem):
        return False
    known = points["experience"] >= KNOWN
    granted = not can_be_cut(judged.gem) and any(map(can_be_cut, brief.catalogue.active))
    slow = brief.demands.goal is not Goal.BOSSING and charges_up(judged.gem)
    return known or not (judged.gem.name in RIDDEN or granted or slow or points["handling"] < -TOO_AWKWARD)


def _option(brief: Brief, judged: Judgement, setup: Setup, better: Judgement | None) -> Option:
    gem, owner = judged.gem, brief.class_fact.name
    kinds = listing(dealt(gem)) or "damage over time"
    goal, usual = brief.demands.goal, "works in maps and against bosses"
    fits = {Goal.MAPPING: "clears maps well", Goal.BOSSING: "does well against bosses", Goal.LEVELING: "is ready early"}
    is_so = goal is Goal.LEVELING or judged.points["goal"] > 0
    good_for = fits.get(goal, usual) if is_so else usual
    reason = f"{gem.name} with {setup.text} is a {kinds} skill that suits the {owner} and {good_for}."
    if is_minion(gem) and not brief.explicit("skill"):
        reason = f"{gem.name}: minions that suit the {owner}; {setup.text} strengthen them."
    elif brief.explicit("skill") and gem in brief.skills:
        which = "it" if brief.skill is not None else gem.name
        reason = f"You asked for {_either(brief)}; with {setup.text} {which} deals {kinds} damage."
    choice = DeliveryChoice(
        skill_id=gem.id,
        skill_name=gem.name,
        weapon_types=[setup.weapon],
        off_hand=setup.off_hand,
        helper_skills=[helper.id for helper in _helpers(brief, gem)],
        minion=is_minion(gem),
    )
    return Option(
        name=f"{gem.name} with {setup.text}",
        choice=choice,
        score=round(judged.total, 2),
        reason=reason,
        rejected_because=judged.loses_to(better) if better else None,
    )


def _helpers(brief: Brief, gem: GemFact) -> list[GemFact]:
    """Return the skills that help the main one: those asked for, a curse for its damage, a mark for attacks."""
    wanted = [brief.catalogue.skill(name) for name in brief.listed("with")]
    names = [name for kind in dealt(gem)[:1] for name in brief.taste.curses.get(kind, [])]
    if is_attack(gem):
        names += brief.taste.marks.get("attack", [])[:1]
    first: dict[str, GemFact] = {}
    for one in (*wanted, *(brief.catalogue.skill(name) for name in names)):
        if one is None or one.id == gem.id or brief.exclusions.gem(one) or level_required(one) > brief.demands.level:
            continue
        if not one.spirit and "persistent" not in tags(one):
            first.setdefault(one.id, one)
    return list(first.values())


def _held(choice: DeliveryChoice) -> tuple[str, ...]:
    return (choice.skill_id, *choice.weapon_types, choice.off_hand or "")


def _usable(text: str, brief: Brief) -> GemFact:
    """Return the skill that a model names.

    Raises:
        LlmBadOutput: it does not exist, was ruled out, or comes later.
    """
    gem = brief.catalogue.skill(text)
    if gem is None:
        known = by_phrase(brief.catalogue.active, (gem.name for gem in brief.catalogue.active))
        raise LlmBadOutput(f"there is no skill called {text[:60]!r}{closest_to(text, known)}")
    if brief.skill is None or gem.id != brief.skill.id:
        check_usable(brief, gem)
    return gem


def _answered_setup(answer: DeliveryAnswer, brief: Brief, gem: GemFact) -> Setup:
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
        offered, refused = (
            "; ".join(setup.text for setup in possible[:6]),
            listing([repr(one) for one in answer.weapon_types]),
        )
        raise LlmBadOutput(f"{gem.name} can be used with {offered}, not with {refused}")
    off = (answer.off_hand or "").strip().lower()
    return next((s for s in fitting if (s.off_hand or "").lower() == off), fitting[0])
