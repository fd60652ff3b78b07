"""The race of a build as its owner sees it."""

from __future__ import annotations

from app.model.base import Model
from app.model.race import Race


class ContenderView(Model):
    """A way to build that was raced: dps and ehp of its draft after the last of `rungs` that it ran, null without.

    These are no figures of a finished build; a begun one is told with passives traded for the gear that it wears, the
    best two with all but finishing touches.
    `out`: why it cannot be built, null when it can.
    """

    name: str
    rungs: int
    dps: float | None
    ehp: float | None
    out: str | None


class DefenceView(Model):
    """A defence that was measured with the winner of the race: dps and ehp of a draft with its armour and tree."""

    name: str
    dps: float
    ehp: float


class RaceView(Model):
    """What explore measured before it decided, the best first; `rungs` are over, `over` = all that were to be run.

    `defences`: empty where the words said which, or nothing was measured yet.
    """

    contenders: list[ContenderView]
    defences: list[DefenceView]
    rungs: int
    evaluations: int
    allowed: int
    over: bool


def race_view(race: Race | None) -> RaceView | None:
    """Return the race, null where nothing was compared."""
    if race is None or not race.contenders:
        return None
    told = [
        ContenderView(
            name=one.option.name,
            rungs=one.rung,
            dps=one.figures[-1].dps if one.figures else None,
            ehp=one.figures[-1].ehp if one.figures else None,
            out=one.out or None,
        )
        for one in race.standing
    ]
    best_first = sorted(race.standing[0].by_defence.items(), key=lambda one: -one[1].score)
    return RaceView(
        contenders=told,
        defences=[DefenceView(name=name, dps=found.dps, ehp=found.ehp) for name, found in best_first],
        rungs=max(race.rungs, *(one.rung for one in race.contenders)),
        evaluations=race.evaluations,
        allowed=race.allowed,
        over=race.over,
    )
