"""Who starts in the race: the ways to build that the user's words allow.

What players reach for and what earlier races told only order them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.model.base import changed
from app.model.memory import RaceMemory, agreement
from app.model.names import SubProblemName, SubProblemStatus
from app.model.race import Contender
from app.model.sub_problems import AscendancyChoice, Choice, Decision, DeliveryChoice, Option
from app.reasoning.questions import QUESTIONS
from app.reasoning.questions.brief import Brief
from app.reasoning.questions.damage_delivery import ways
from app.reasoning.questions.survivability import defences

Q = SubProblemName
TABLE_RACES = 4
"""Races that a table which always agreed with them weighs as much as."""


def contenders_of(brief: Brief, most: int) -> list[Contender]:
    """Return the contenders, the likeliest first; a skill that was decided on (the user named it) starts alone.

    Where earlier races were remembered, twice as many are looked at, and those start that are then the likeliest.
    """
    delivery = brief.sub_problems[Q.DAMAGE_DELIVERY].decision
    own = None if delivery is None else Option(name=delivery.name, choice=delivery.choice, reason=delivery.reason)
    found: list[Contender] = []
    tried = defences(brief)
    offered = [own] if own is not None else ways(brief, 2 * most if brief.races else most)
    for option in likeliest_first(offered, brief.class_fact.name, brief.races)[:most]:
        answered = _answered(brief, option.choice)
        answers = {name: _choice(answered, name) for name in Q}
        found.append(Contender(option=option, ascendancies=_ascendancies(answered), defences=tried, answers=answers))
    return found


def _answered(brief: Brief, way: Choice) -> Brief:
    """Return the brief as if damage came that way and the rules had answered what is not decided yet."""
    brief = _decided(brief, Q.DAMAGE_DELIVERY, Decision(name="to be tried", choice=way, reason=""))
    for name in Q:
        if brief.sub_problems[name].decision is None:
            brief = _decided(brief, name, QUESTIONS[name].decide(brief))
    return brief


def _decided(brief: Brief, name: Q, decision: Decision) -> Brief:
    decided = changed(brief.sub_problems[name], status=SubProblemStatus.DECIDED, decision=decision)
    return replace(brief, sub_problems={**brief.sub_problems, name: decided})


def _choice(brief: Brief, name: Q) -> Choice:
    decision = brief.sub_problems[name].decision
    assert decision is not None, "all were answered"
    return decision.choice


def _ascendancies(brief: Brief) -> list[AscendancyChoice]:
    """Return the ascendancies that are open, likeliest first: those that were named, one where the level has none."""
    decision = brief.sub_problems[Q.ASCENDANCY].decision
    assert decision is not None, "it was answered"
    first = decision.choice
    assert isinstance(first, AscendancyChoice)
    named = brief.ascendancies if brief.explicit("ascendancy") else brief.open_ascendancies
    others = [option.choice for option in decision.alternatives] if brief.demands.floors.ascendancy_points > 0 else []
    return [first, *(one for one in others if isinstance(one, AscendancyChoice) and one.ascendancy in named)]


def likeliest_first(options: Sequence[Option], class_name: str, races: Sequence[RaceMemory]) -> list[Option]:
    """Return ways to build, given in the table's order, in the order in which they should start.

    A way's estimate is how far (in e-folds of score) it is expected to be behind the best:

        estimate = w * table + (1 - w) * learned
        w = TABLE_RACES * agreement / (TABLE_RACES * agreement + n)

    `learned` is the mean of what it was behind in the n races of the class that it ran; w = 1 where it ran none. The
    table spreads all ways evenly from 0 to twice the mean of everything learned: table = 2 * mean * (place + 1/2) /
    number of ways. So the more races, the less the table counts, and the less, the worse it agreed with them
    (`agreement`). The lowest estimate comes first, the table's order between equals. Without races nothing changes.
    """
    known = [[one for one in race.results if one.class_name == class_name] for race in races]
    behind = [one.behind for few in known for one in few]
    if not behind:
        return list(options)
    mean, trust = sum(behind) / len(behind), TABLE_RACES * agreement(known)
    by_way: dict[tuple[str, str], list[float]] = {}
    for one in (one for few in known for one in few):
        by_way.setdefault((one.skill_id, one.hands), []).append(one.behind)

    def estimate(place: int) -> float:
        ran, table = by_way.get(_way(options[place]), []), 2 * mean * (place + 0.5) / len(options)
        weight = trust / (trust + len(ran)) if ran else 1.0
        return weight * table + (1 - weight) * (sum(ran) / len(ran) if ran else 0.0)

    return [options[place] for place in sorted(range(len(options)), key=lambda place: (estimate(place), place))]


def _way(option: Option) -> tuple[str, str]:
    assert isinstance(option.choice, DeliveryChoice), "a way to build is a main skill"
    return option.choice.skill_id, option.choice.hands
