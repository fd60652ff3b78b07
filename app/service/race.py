"""The race of a build as its owner sees it."""

from __future__ import annotations

from app.model.base import Model
from app.model.race import Race


class ContenderView(Model):
    """A way to build that was raced: dps and ehp of its draft after the last of `rungs` that it ran, null without.

    These are no figures of a finished build. `out`: why it cannot be built, null when it can.
    """

    name: str
    rungs: int
    dps: float | None
    ehp: float | None
    out: str | None


class RaceView(Model):
    """What explore measured before it decided, the best first; `rungs` are over, `over` = all that were to be run."""

    contenders: list[ContenderView]
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
            rungs=len(one.figures),
            dps=one.figures[-1].dps if one.figures else None,
            ehp=one.figures[-1].ehp if one.figures else None,
            out=one.out or None,
        )
        for one in race.standing
    ]
    return RaceView(
        contenders=told, rungs=race.rungs, evaluations=race.evaluations, allowed=race.allowed, over=race.over
    )
