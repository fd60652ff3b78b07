"""What the race measured, as questions use it: the order of options, their reasons, and the facts told of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.model.base import changed
from app.model.names import SubProblemName
from app.model.race import DRAFTED, Contender, against, behind, figures
from app.model.sub_problems import DeliveryChoice, Discovery, DraftFigures, Option
from app.reasoning.questions.brief import Brief


def measured_first(brief: Brief, options: Sequence[Option]) -> list[Option]:
    """Return the options with those that were raced in front, the best first, and those that cannot be built last."""
    race, winner = brief.race, brief.race.winner if brief.race is not None else None
    if race is None or winner is None:
        return list(options)
    told = {one.option.name: _told(one, winner, len(race.contenders)) for one in race.standing}
    fine = [told[one.option.name] for one in race.standing if not one.out]
    gone = [told[one.option.name] for one in race.standing if one.out]
    return [*fine, *(option for option in options if option.name not in told), *gone]


def _told(contender: Contender, winner: Contender, count: int) -> Option:
    option, last = contender.option, contender.figures[-1] if contender.figures else None
    if contender is winner:
        said = f" Measured best of {count}: {figures(contender.figures[-1])} as a draft." if count > 1 else ""
        return changed(option, reason=f"{option.reason}{said}", measured=last)
    return changed(option, rejected_because=against(contender, winner), measured=last)


def ascendancies_measured_first(brief: Brief, options: Sequence[Option]) -> list[Option]:
    """Return the options with those in front that were measured with the main skill that was decided on."""
    return _best_draft_first(options, _by_ascendancy(brief), "it")


def defences_measured_first(brief: Brief, options: Sequence[Option]) -> list[Option]:
    """Return the options with those in front that were measured with the way to build that won the race."""
    winner = brief.race.winner if brief.race is not None else None
    return _best_draft_first(options, winner.by_defence, winner.option.name) if winner is not None else list(options)


def _best_draft_first(options: Sequence[Option], found: Mapping[str, DraftFigures], subject: str) -> list[Option]:
    """Return the options with those in front of which there are figures, the best first; between equals as they come.

    `subject`: what they were measured with, as a sentence says it.
    """
    named = [option.name for option in options if option.name in found]
    if len(named) < 2:
        return list(options)
    best = min(named, key=lambda name: -found[name].score)
    told: list[Option] = []
    for option in options:
        own = found.get(option.name)
        if own is None:
            told.append(option)
        elif option.name == best:
            said = f" Measured best of {len(named)} with {subject}: {figures(own)} as a draft."
            told.append(changed(option, reason=f"{option.reason}{said}", measured=own))
        else:
            told.append(changed(option, rejected_because=behind(own, found[best]), measured=own))
    return sorted(told, key=lambda one: -found[one.name].score if one.name in found else float("inf"))


def _by_ascendancy(brief: Brief) -> Mapping[str, DraftFigures]:
    """Return what was measured with the main skill that was decided on, by ascendancy."""
    choice = brief.decided(SubProblemName.DAMAGE_DELIVERY, DeliveryChoice)
    if brief.race is None or choice is None:
        return {}
    for contender in brief.race.contenders:
        own = contender.option.choice
        assert isinstance(own, DeliveryChoice)
        if (own.skill_id, own.weapon_types, own.off_hand) == (choice.skill_id, choice.weapon_types, choice.off_hand):
            return contender.by_ascendancy
    return {}


def told_of_race(brief: Brief, name: SubProblemName) -> list[Discovery]:
    """Return what the race measured about the question as a fact with its figures; nothing when none was run."""
    race = brief.race
    if race is None or race.winner is None:
        return []
    measured = {one.option.name: one.figures[-1] for one in race.standing if one.figures}
    if name is SubProblemName.ASCENDANCY:
        measured = dict(_by_ascendancy(brief))
    elif name is SubProblemName.SURVIVABILITY:
        measured = race.winner.by_defence
    if len(measured) < 2:
        return []
    lines = [f"{one}: {figures(found)} (rung {found.rung})" for one, found in measured.items()]
    text = f"{DRAFTED}, {race.evaluations} evaluations; a higher rung came further): {'; '.join(lines)}."
    return [Discovery(sub_problem=name, fact=text, source="race", measured=measured)]
