"""Figures as pictures: where they stand on a strip of 100 units, so that templates only draw."""

from __future__ import annotations

from collections.abc import Sequence
from math import log10
from typing import Final

from app.metrics.efficiency import Metrics
from app.metrics.usage import UsageReport
from app.model.anchors import Anchors, Quartiles
from app.model.base import Model
from app.model.damage import DamageKind
from app.model.demands import ELEMENTAL_RESISTANCE_CAP
from app.model.experiments import Refinement, Spending
from app.model.names import SubProblemName
from app.service.presentation import COMPARED, number, percent
from app.service.view import BuildView, DamageView, StatsView

WIDTH: Final = 100.0

_ELEMENTS: Final = ("fire", "cold", "lightning", "chaos")


class Strip(Model):
    """A figure among real players': places from 0 to `WIDTH`, null where it is unknown; `words` says the same."""

    label: str
    value: str
    here: float | None
    lower: float | None = None
    median: float | None = None
    upper: float | None = None
    words: str = ""


class Bar(Model):
    """A bar from `start`, `length` units long; `kind` names its colour, `cap` is where a limit stands."""

    label: str
    value: str
    kind: str
    start: float = 0.0
    length: float
    cap: float | None = None


class Upgrade(Model):
    """One more unit of a budget: what it would buy, and the measured relative gain."""

    budget: str
    buys: str
    metric: str
    gain: float


class Row(Model):
    """A figure before and after."""

    label: str
    before: str
    after: str


def strips(stats: StatsView, players: Anchors) -> list[Strip]:
    """Return the headline figures beside real players' quartiles."""
    pool = None if stats.life is None else stats.life + (stats.energy_shield or 0.0)
    return [
        _strip("Damage per second", stats.dps, players.dps),
        _strip("Effective hit points", stats.ehp, players.ehp),
        _strip("Life and shield", pool, players.life_and_shield),
        _strip("Largest physical hit", stats.max_hit.get("physical"), players.physical_hit),
        _strip("Spirit", stats.spirit, players.spirit),
        _strip("Chaos resistance", stats.chaos_resistance, players.chaos_resistance, " %"),
    ]


def _strip(label: str, value: float | None, known: Quartiles, unit: str = "") -> Strip:
    """Return the strip on a logarithmic scale, or a straight one where a figure is not above zero."""
    figures = [known.lower, known.median, known.upper, *([] if value is None else [value])]
    straight = unit != "" or min(figures) <= 0
    lowest, highest = (min(0.0, *figures), max(100.0, *figures)) if straight else (min(figures) / 2, max(figures) * 2)

    def place(figure: float) -> float:
        at = (figure - lowest) / (highest - lowest) if straight else log10(figure / lowest) / log10(highest / lowest)
        return round(min(1.0, max(0.0, at)) * WIDTH, 2)

    shown = number(value) + (unit if value is not None else "")
    return Strip(
        label=label,
        value=shown,
        here=None if value is None else place(value),
        lower=place(known.lower),
        median=place(known.median),
        upper=place(known.upper),
        words=f"players: {number(known.lower)} to {number(known.upper)}{unit}, median {number(known.median)}{unit}"
        + ("" if value is None else f"; {_standing(value, known)}"),
    )


def _standing(value: float, known: Quartiles) -> str:
    if value < known.lower:
        return "below three quarters of them"
    if value > known.upper:
        return "above three quarters of them"
    return "above the median" if value >= known.median else "below the median"


def resistances(stats: StatsView) -> list[Bar]:
    """Return a bar per resistance; below zero there is none."""
    found = {name: getattr(stats, f"{name}_resistance") for name in _ELEMENTS}
    return [
        Bar(
            label=name.capitalize(),
            value=percent(value),
            kind=name,
            length=min(WIDTH, max(0.0, value or 0.0)),
            cap=ELEMENTAL_RESISTANCE_CAP,
        )
        for name, value in found.items()
    ]


def hits(stats: StatsView) -> list[Bar]:
    """Return a bar per damage type: the largest hit that is survived, against the largest of them that is bounded."""
    most = max((hit for hit in stats.max_hit.values() if number(hit) != "no limit"), default=1.0) or 1.0
    return [
        Bar(label=kind.capitalize(), value=number(hit), kind=kind, length=min(WIDTH, hit / most * WIDTH))
        for kind, hit in stats.max_hit.items()
    ]


_COLOURS: Final = 6


def damage_stack(damage: DamageView) -> list[Bar]:
    """Return the sources that count as parts of one bar, the largest first."""
    bars: list[Bar] = []
    start = 0.0
    for place, source in enumerate(one for one in damage.sources if one.kind is not DamageKind.SECOND_SKILL):
        length = source.share * WIDTH
        bars.append(
            Bar(label=source.name, value=number(source.dps), kind=f"s{place % _COLOURS}", start=start, length=length)
        )
        start += length
    return bars


def upgrades(view: BuildView, most: int = 6) -> list[Upgrade]:
    """Return what the next unit of each budget would buy, the largest measured gain first."""
    spent: Sequence[Spending] = [
        one
        for name in SubProblemName
        if (asked := view.sub_problems.get(name)) is not None and asked.decision is not None
        for one in asked.decision.spending
    ]
    found = {
        (one.budget, one.metric): Upgrade(
            budget=one.budget,
            buys=one.next_best,
            metric=_METRICS.get(one.metric or "", one.metric or ""),
            gain=one.marginal,
        )
        for one in spent
        if one.marginal is not None and one.marginal > 0 and one.next_best
    }
    return sorted(found.values(), key=lambda one: (-one.gain, one.budget))[:most]


def before_and_after(refinement: Refinement | None) -> list[Row]:
    """Return the figures that a refinement is judged by, before and after it; none before it has been searched."""
    if refinement is None or not refinement.after:
        return []
    return [
        Row(label=label, before=number(before), after=number(refinement.after.get(key)))
        for key, label in COMPARED.items()
        if (before := refinement.before.get(key)) is not None
    ]


def slowest(found: UsageReport) -> list[Bar]:
    """Return a bar per tool that took long, against the longest."""
    most = max((one.seconds for one in found.slowest), default=1.0) or 1.0
    return [
        Bar(
            label=one.tool,
            value=f"{one.seconds:,.1f} s in {one.calls:,} calls",
            kind="bar",
            length=one.seconds / most * WIDTH,
        )
        for one in found.slowest
    ]


def times(metrics: Metrics) -> list[Bar]:
    """Return how long each phase's tools were busy, against the longest."""
    most = max((phase.busy_ms or 0.0 for phase in metrics.phases), default=0.0) or 1.0
    return [
        Bar(
            label=phase.phase.value.capitalize(),
            value=f"{(phase.busy_ms or 0.0) / 1000:,.1f} s",
            kind="bar",
            length=(phase.busy_ms or 0.0) / most * WIDTH,
        )
        for phase in metrics.phases
    ]


_METRICS: Final = {"DPS": "damage", "TotalEHP": "effective hit points"}
