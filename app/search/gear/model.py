"""The joint choice over all slots as a mixed-integer linear programme (solved by HiGHS through scipy).

Variables: 1 or 0 per base and affix, a count per rune, and helpers for the concave worth of damage and EHP and for the
shortfall of every demand. Measured differences are taken to add up: logarithms of DPS and EHP, and flat figures.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from app.model.blueprint import GearItem
from app.model.names import Effort
from app.model.stats import ATTRIBUTE_METRICS, CHAOS_RESISTANCE, RESISTANCES
from app.search.effort import LIMITS
from app.search.gear.pool import GearOption, SlotPool, has
from app.search.gear.values import ASKED, FLAT, PAID_WITH, RECOVERY, OptionValues, Values
from app.search.objective import CHAOS_LACK, HIT_SHARE, NO_RECOVERY, Objective, lack_segments, segments

_ONE_AT_A_TIME = threading.Lock()


@contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """Let file descriptor 1 be standard error while the block runs (in one thread at a time; others wait).

    HiGHS prints a debugging line now and then whatever its options say, and it would end up in front of `--json`.
    """
    with _ONE_AT_A_TIME:
        flush = ctypes.CDLL(None).fflush
        flush(None)
        kept = os.dup(1)
        try:
            os.dup2(2, 1)
            yield
        finally:
            flush(None)
            os.dup2(kept, 1)
            os.close(kept)


PENALTIES = {**dict.fromkeys(RESISTANCES, 0.5), "Spirit": 0.3, "MANA": 0.004, "LIFE": 0.05}
"""Worth of one missing unit (percent, point, mana of a fight, life per second); far above what an affix can give."""
ATTRIBUTE_PENALTY = 0.04
OUT_OF_REACH = 1e5
"""More of any figure than all gear together can give."""

TIDINESS = 1e-4
"""What an option must at least be worth; keeps lines that do nothing off the items."""
_SOLVER = {"node_limit": 1_000, "disp": False}
"""Bounds in nodes, not seconds, so that the same programme has the same answer on every machine."""

LEAST_GAP = LIMITS[Effort.NORMAL].gear_gap
"""A choice that is a thousandth short of the best is put right by the exchanges that follow."""


@dataclass(frozen=True)
class Minima:
    """What the sum over all slots must reach: flat figures, and attributes for requirements (bases add their own)."""

    least: Mapping[str, float]

    def raised(self, least: Mapping[str, float]) -> Minima:
        """Return the minima where these figures must reach at least so much as well."""
        return Minima({key: max(value, least.get(key, value)) for key, value in self.least.items()})


@dataclass(frozen=True)
class GearProblem:
    """All that the programme is made from.

    `worn`: the items that `worth` was measured on. `plain`, `plain_items`: figures and items of the plain build that
    flat effects are counted from, because a capped resistance hides what an affix gives. `gap`: how far (relative) the
    choice may be from the best. `kept`: what an option that is worn counts for besides its worth, in e-folds, so
    that nothing is exchanged for less than measured differences are wrong by.
    """

    pools: Sequence[SlotPool]
    worn: Mapping[str, GearItem]
    worth: OptionValues
    plain_items: Mapping[str, GearItem]
    plain: OptionValues
    objective: Objective
    demands: Minima
    gap: float = LEAST_GAP
    kept: float = 0.0


@dataclass
class _Programme:
    """Columns, rows and bounds as they are collected."""

    cost: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    lower: list[float] = field(default_factory=list)
    whole: list[int] = field(default_factory=list)
    rows: list[tuple[dict[int, float], float, float]] = field(default_factory=list)

    def column(self, cost: float, lower: float, upper: float, whole: bool) -> int:
        self.cost.append(cost)
        self.lower.append(lower)
        self.upper.append(upper)
        self.whole.append(int(whole))
        return len(self.cost) - 1

    def row(self, entries: dict[int, float], low: float, high: float) -> None:
        self.rows.append((entries, low, high))

    def solve(self, gap: float) -> list[float] | None:
        """Return the value of each column, no farther than `gap` from the best; None when nothing is feasible."""
        data = [value for entries, _, _ in self.rows for value in entries.values()]
        at = [index for index, (entries, _, _) in enumerate(self.rows) for _ in entries]
        columns = [column for entries, _, _ in self.rows for column in entries]
        matrix = coo_array((data, (at, columns)), shape=(len(self.rows), len(self.cost))).tocsr()
        with stdout_to_stderr():
            found = milp(
                c=np.array(self.cost),
                integrality=np.array(self.whole),
                bounds=Bounds(np.array(self.lower), np.array(self.upper)),
                constraints=LinearConstraint(
                    matrix, [low for _, low, _ in self.rows], [high for _, _, high in self.rows]
                ),
                options={**_SOLVER, "mip_rel_gap": gap},
            )
        return None if found.x is None else [float(value) for value in found.x]


def choose(problem: GearProblem) -> dict[str, dict[GearOption, int]] | None:
    """Return per slot the options of the best joint choice, or None when there is no legal one."""
    programme = _Programme()
    columns: dict[GearOption, int] = {}
    for pool in problem.pools:
        most = max(pool.sockets(base) for base in pool.bases)
        for option in pool.options():
            # each a little dearer than the one before, so that equals need not be weighed against each other
            cost = TIDINESS * (1 + 1e-4 * (len(columns) + 1))
            cost -= problem.kept if has(problem.worn[pool.slot], option) else 0.0
            columns[option] = programme.column(cost, 0, most if option.kind == "rune" else 1, whole=True)
    for pool in problem.pools:
        _slot_rows(programme, pool, columns)
    # Add the worth of damage and EHP and what hits lack: each the lowest of some lines, because it is concave.
    objective, floors = problem.objective, problem.objective.floors
    hits = HIT_SHARE * objective.ehp_weight
    figures: list[tuple[Callable[[Values], float], float, list[tuple[float, float]]]] = [
        (lambda values: values.damage, objective.damage_weight, segments(floors.dps)),
        (lambda values: values.life, objective.ehp_weight, segments(floors.ehp)),
        (lambda values: values.physical, hits, lack_segments(floors.physical_hit)),
        (lambda values: values.elemental, hits, lack_segments(floors.elemental_hit)),
    ]
    for figure, weight, lines in figures:
        entries, start = _sum_over(problem, columns, problem.worth, problem.worn, figure)
        helper = programme.column(-weight, -1e4, 1e4, whole=False)
        for slope, offset in lines:
            scaled = {column: -slope * value for column, value in entries.items()}
            programme.row({helper: 1.0, **scaled}, -float("inf"), slope * start + offset)
    _demand_rows(programme, problem, columns)
    solution = programme.solve(problem.gap)
    if solution is None:
        return None
    return {
        pool.slot: {o: n for o in pool.options() if o in columns and (n := round(solution[columns[o]])) > 0}
        for pool in problem.pools
    }


def _slot_rows(programme: _Programme, pool: SlotPool, columns: Mapping[GearOption, int]) -> None:
    """One base; affixes within side, total and group; affixes and runes only on bases that take them."""
    inf = float("inf")
    options = pool.options()
    bases = {option.id: columns[option] for option in options if option.kind == "base"}
    programme.row(dict.fromkeys(bases.values(), 1.0), 1, 1)
    affixes = [option for option in options if option.kind in ("prefix", "suffix")]
    for side in ("prefix", "suffix"):
        programme.row({columns[o]: 1.0 for o in affixes if o.kind == side}, 0, pool.per_side)
    programme.row({columns[o]: 1.0 for o in affixes}, 0, pool.total)
    for group in sorted({fact.group for fact in pool.affixes.values()}):
        members = {columns[o]: 1.0 for o in affixes if pool.affixes[o.id].group == group}
        if len(members) > 1:
            programme.row(members, 0, 1)
    for option in affixes:
        hosts = {bases[name]: -1.0 for name in sorted(pool.hosts[option.id]) if name in bases}
        programme.row({columns[option]: 1.0, **hosts}, -inf, 0)
        if option.id in pool.required:
            programme.row({columns[option]: 1.0, **hosts}, 0, 0)
    runes = [option for option in options if option.kind == "rune"]
    rooms = {column: -float(pool.sockets(name)) for name, column in bases.items()}
    programme.row({**{columns[o]: 1.0 for o in runes}, **rooms}, -inf, 0)
    for option in runes:
        hosts = {bases[name]: -4.0 for name in sorted(pool.runes[option.id]) if name in bases}
        programme.row({columns[option]: 1.0, **hosts}, -inf, 0)


def _demand_rows(programme: _Programme, problem: GearProblem, columns: Mapping[GearOption, int]) -> None:
    """Price what is missing of each flat figure; a base that is chosen must have its attribute requirement met.

    What pays for the skill, recovery and chaos resistance are counted from the latest measurement, the rest from the
    plain build.
    """
    attributes = {metric: attribute for attribute, metric in ATTRIBUTE_METRICS.items()}
    back = sum(NO_RECOVERY) * problem.objective.ehp_weight / max(problem.objective.floors.recovery.good, 1.0)
    chaos = CHAOS_LACK * problem.objective.ehp_weight
    penalties = {**PENALTIES, **dict.fromkeys(attributes, ATTRIBUTE_PENALTY), RECOVERY: back, CHAOS_RESISTANCE: chaos}
    asked = [key for key in sorted(problem.demands.least) if key.startswith(ASKED)]
    penalties |= {key: _price(problem, key) for key in asked}
    for key in (*FLAT, *asked):
        least = problem.demands.least.get(key)
        attribute = attributes.get(key)
        if least is None and attribute is None:
            continue
        latest = key in (*PAID_WITH, RECOVERY, CHAOS_RESISTANCE, *asked)
        worth, items = (problem.worth, problem.worn) if latest else (problem.plain, problem.plain_items)
        entries, start = _sum_over(problem, columns, worth, items, partial(_flat, key))
        if key in asked and least is not None:
            least = min(least, start + OUT_OF_REACH)  # a target beyond all that gear gives is as good as any other
        missing = programme.column(penalties[key], 0, 1e6, whole=False)
        entries = {**entries, missing: 1.0}
        if least is not None:
            programme.row(entries, least - start, float("inf"))
        if attribute is None:
            continue
        for pool in problem.pools:
            for name in sorted(pool.bases):
                needed = pool.bases[name].requirements.get(attribute, 0)
                if needed > start:
                    column = columns[GearOption(pool.slot, "base", name)]
                    programme.row({**entries, column: entries.get(column, 0.0) - needed}, -start, float("inf"))


def _price(problem: GearProblem, key: str) -> float:
    """Return the worth of one unit that is missing to a target: what it costs in the score where the build is now."""
    least = problem.demands.least[key]
    scale = max(abs(least), 1.0)
    short = max(0.0, least - problem.worth.now.flat.get(key, 0.0)) / scale
    return problem.objective.slope_of(key.removeprefix(ASKED), short) / scale


def _flat(key: str, values: Values) -> float:
    return values.flat.get(key, 0.0)


def _sum_over(
    problem: GearProblem,
    columns: Mapping[GearOption, int],
    worth: OptionValues,
    items: Mapping[str, GearItem],
    figure: Callable[[Values], float],
) -> tuple[dict[int, float], float]:
    """Return the coefficients of a figure, and its value with nothing chosen: `worth` was measured on `items`."""
    start = figure(worth.now)
    entries = {}
    for pool in problem.pools:
        for option in pool.options():
            effect = figure(worth.effect.get(option, Values()))
            start -= effect * has(items[pool.slot], option)
            if effect:
                entries[columns[option]] = effect
    return entries, start
