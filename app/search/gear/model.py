"""The joint choice over all slots as a mixed-integer linear programme (solved by HiGHS through scipy).

Variables: 1 or 0 per base and affix, a count per rune, and helpers for the concave worth of damage and EHP and for the
shortfall of every demand. Measured differences are taken to add up: logarithms of DPS and EHP, and flat figures.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from app.model.blueprint import GearItem
from app.model.names import Attribute
from app.model.stats import ATTRIBUTE_METRICS, RESISTANCES
from app.search.gear.pool import Option, SlotPool, has
from app.search.gear.values import FLAT, Values, Worth
from app.search.objective import Objective, segments

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
TIDINESS = 1e-4
"""What an option must at least be worth; keeps lines that do nothing off the items."""
_SOLVER = {"mip_rel_gap": 1e-3, "node_limit": 1_000, "disp": False}
"""Bounds in nodes, not seconds, so that the same programme has the same answer on every machine; a choice that is a
thousandth short of the best is put right by the exchanges that follow."""


@dataclass(frozen=True)
class Minima:
    """What the sum over all slots must reach: flat figures, and attributes for requirements (bases add their own)."""

    least: Mapping[str, float]


@dataclass(frozen=True)
class Situation:
    """All that the programme is made from.

    `worn`: the items that `worth` was measured on. `flat_from`: figures and items of the plain build that flat
    effects are counted from, because a capped resistance hides what an affix gives.
    """

    pools: Sequence[SlotPool]
    worn: Mapping[str, GearItem]
    worth: Worth
    plain_items: Mapping[str, GearItem]
    plain: Worth
    objective: Objective
    demands: Minima


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

    def solve(self) -> list[float] | None:
        """Return the best value of each column, or None when nothing is feasible."""
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
                options=_SOLVER,
            )
        return None if found.x is None else [float(value) for value in found.x]


def choose(situation: Situation) -> dict[str, dict[Option, int]] | None:
    """Return per slot the options of the best joint choice, or None when there is no legal one."""
    programme = _Programme()
    columns = _option_columns(programme, situation)
    for pool in situation.pools:
        _slot_rows(programme, pool, columns)
    _worth_rows(programme, situation, columns)
    _demand_rows(programme, situation, columns)
    solution = programme.solve()
    if solution is None:
        return None
    return {
        pool.slot: {o: n for o in pool.options() if o in columns and (n := round(solution[columns[o]])) > 0}
        for pool in situation.pools
    }


def _option_columns(programme: _Programme, situation: Situation) -> dict[Option, int]:
    columns = {}
    order = 0
    for pool in situation.pools:
        most = max(pool.sockets(base) for base in pool.bases)
        for option in pool.options():
            order += 1
            upper = most if option.kind == "rune" else 1
            columns[option] = programme.column(TIDINESS * (1 + 1e-4 * order), 0, upper, whole=True)
    return columns


def _slot_rows(programme: _Programme, pool: SlotPool, columns: Mapping[Option, int]) -> None:
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


def _worth_rows(programme: _Programme, situation: Situation, columns: Mapping[Option, int]) -> None:
    """Add the worth of damage and EHP: the lowest of three lines, because it is concave."""
    objective, floors = situation.objective, situation.objective.floors
    for name, weight, floor in (
        ("damage", objective.damage_weight, floors.dps),
        ("life", objective.ehp_weight, floors.ehp),
    ):
        entries, start = _sum_over(situation, columns, name)
        helper = programme.column(-weight, -1e4, 1e4, whole=False)
        for slope, offset in segments(floor):
            scaled = {column: -slope * value for column, value in entries.items()}
            programme.row({helper: 1.0, **scaled}, -float("inf"), slope * start + offset)


def _sum_over(situation: Situation, columns: Mapping[Option, int], name: str) -> tuple[dict[int, float], float]:
    """Return the coefficients of damage or life, and the value with nothing chosen."""
    start = getattr(situation.worth.now, name)
    entries = {}
    for pool in situation.pools:
        item = situation.worn[pool.slot]
        for option in pool.options():
            effect: float = getattr(situation.worth.effect[option], name)
            start -= effect * has(item, option)
            if effect:
                entries[columns[option]] = effect
    return entries, start


def _demand_rows(programme: _Programme, situation: Situation, columns: Mapping[Option, int]) -> None:
    for key in FLAT:
        entries, start = _flat_sum(situation, columns, key)
        least = situation.demands.least.get(key)
        attribute = key in ATTRIBUTE_METRICS.values()
        if least is None and not attribute:
            continue
        penalty = ATTRIBUTE_PENALTY if attribute else PENALTIES[key]
        missing = programme.column(penalty, 0, 1e6, whole=False)
        if least is not None:
            programme.row({**entries, missing: 1.0}, least - start, float("inf"))
        if attribute:
            _base_requirement_rows(programme, situation, columns, key, {**entries, missing: 1.0}, start)


def _base_requirement_rows(
    programme: _Programme,
    situation: Situation,
    columns: Mapping[Option, int],
    key: str,
    entries: dict[int, float],
    start: float,
) -> None:
    """A base that is chosen must have its attribute requirement met."""
    attribute = next(a for a in Attribute if ATTRIBUTE_METRICS[a] == key)
    for pool in situation.pools:
        for name in sorted(pool.bases):
            needed = pool.bases[name].requirements.get(attribute.value, 0)
            if needed > start:
                column = columns[Option(pool.slot, "base", name)]
                row = dict(entries)
                row[column] = row.get(column, 0.0) - needed
                programme.row(row, -start, float("inf"))


def _flat_sum(situation: Situation, columns: Mapping[Option, int], key: str) -> tuple[dict[int, float], float]:
    """Return the coefficients of a flat figure; what pays for the skill is taken from the latest measurement."""
    latest = key in ("Spirit", "MANA", "LIFE")
    worth, items = (situation.worth, situation.worn) if latest else (situation.plain, situation.plain_items)
    start = worth.now.flat.get(key, 0.0)
    entries = {}
    for pool in situation.pools:
        for option in pool.options():
            effect = worth.effect.get(option, Values()).flat.get(key, 0.0)
            start -= effect * has(items[pool.slot], option)
            if effect:
                entries[columns[option]] = effect
    return entries, start
