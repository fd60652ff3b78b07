"""What "better" means: demands first, then damage and effective hit points on a logarithmic scale.

Damage and EHP are worth most below their floor, less between `least` and `good`, less again above `good` and least
in plenty, so a search fills the floors before it trades one for the other. The largest hits that are survived and
recovery cost what they lack, on the same scale, and give nothing once they are good. Every other demand (resistances,
sustain, Spirit, attributes) is a guard: it costs in proportion to its shortfall and gives nothing once it is met.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property, lru_cache

from app.knowledge.styles import layer_targets, style_stat, style_targets, type_targets
from app.model.base import changed
from app.model.conflicts import Details
from app.model.constraints import INVARIANTS, asked_figures, bounds
from app.model.damage import PAYMENT_METRICS, PAYMENTS, unpayable
from app.model.demands import FIGHT_S, Floor, Floors, asked_pool
from app.model.names import Attribute, Demand
from app.model.stats import (
    ATTRIBUTE_METRICS,
    CHAOS_HIT,
    CHAOS_RESISTANCE,
    DPS,
    EHP,
    ELEMENTAL_HITS,
    FREE_SPIRIT,
    HITS,
    MOVEMENT,
    PHYSICAL_HIT,
    RECOVERY_METRICS,
    REQUIREMENT_METRICS,
    RESISTANCES,
    elemental_hit,
    recovery,
)
from app.model.sub_problems import Constraint
from app.search.base import SearchContext

LEAST_CHAOS_HIT, WEAK_SPOT = 0.2, 0.5
"""Share of the EHP floor that the largest chaos hit must reach, and the price of having none of it."""

HIT_SHARE = 0.5
"""What a missing e-fold of the physical, or of the elemental, hit costs of what one of EHP does: together as much."""

NO_RECOVERY = (1.0, 0.5)
"""Price of no recovery at all: for what lacks to `least`, and for what lacks to `good`."""

CHAOS_LACK = 0.01
"""Price of one percent of chaos resistance below its floor: more than an ordinary line of an item gives otherwise."""

SLOWNESS = 2.0
"""Price of standing still; a tenth slower costs a tenth of it."""

METRICS: tuple[str, ...] = tuple(
    dict.fromkeys(
        (
            DPS,
            EHP,
            FREE_SPIRIT,
            *RESISTANCES,
            CHAOS_RESISTANCE,
            *HITS,
            MOVEMENT,
            *ATTRIBUTE_METRICS.values(),
            *REQUIREMENT_METRICS.values(),
            *PAYMENT_METRICS,
            *(cost for cost, _ in PAYMENTS.values()),
            *(key for _, income in PAYMENTS.values() for key in income),
            *RECOVERY_METRICS,
        )
    )
)
"""What a candidate is asked for: damage per second, effective hit points, percent, points, points per second."""

BELOW, BETWEEN, ABOVE, PLENTY = 4.0, 1.0, 0.6, 0.25
"""Worth of one e-fold below `least`, up to `good`, up to `AMPLE` times good, and beyond that."""

AMPLE = 2.5
"""Beyond this multiple of `good` the other quantity deserves the effort more."""

INFEASIBLE, MOST_EXCESS = 2.0, 2.0
"""Gap of a skill that cannot be used even once, and how much more it grows with what the cost is above the limit."""

DRAIN, DRAIN_ON_THE_WAY = 0.15, 0.05
"""Share of the gap that is about what recovery lacks, in finished builds and while levelling, where enemies fall sooner
and fill the flask again; the rest is about what pool and flask lack for a fight."""


class Guard(StrEnum):
    """A demand that a stage can switch off while a later stage is still going to meet it."""

    RESISTANCE = "resistance"
    SUSTAIN = "sustain"
    SPIRIT = "spirit"
    ATTRIBUTES = "attributes"


MINIMUM_STEP, MINIMUM_WEIGHT, MINIMUM_SCALE, MINIMUM_SLACK = 0.5, 6.0, 60.0, 1e-7
"""A minimum that is missed costs a step and a slope over the shortfall's share (or of the scale)."""

TARGET_WEIGHT, TARGET_NEAR = 6.0, 0.25
"""Price of having nothing of a target, and the share of it within which a shortfall is felt most: the price levels off
with distance, so that a target out of reach does not spoil everything else."""

URGED = 8.0
"""Price, besides, of having nothing of a target that a conflict urges, once for each time: it does not level off, so a
build goes on towards what it was far from. The first construction does not pay it, because most that is far is out of
reach, and everything else would be given up for nothing."""

WITHIN_REACH = 4.0
"""Up to this multiple of what is good a target for damage or EHP is a floor; one beyond it is merely worked towards."""

HITS_AND_RECOVERY, TARGETS = "hits and recovery", "targets"
"""Names of parts of the score that are no figure of the engine: hits survived with recovery; what must be reached."""

_GUARD_WEIGHT = {Guard.RESISTANCE: 4.0, Guard.SUSTAIN: 4.0, Guard.SPIRIT: 8.0, Guard.ATTRIBUTES: 4.0}
ALL_GUARDS = frozenset(Guard)
LEFT_TO_GEAR = (Guard.RESISTANCE, Guard.ATTRIBUTES)
"""What gear sees to: while there is none yet, it would tell builds apart by what they all get."""


@dataclass(frozen=True)
class Objective:
    """A score for engine outputs; higher is better, differences are in weighted e-folds of damage or EHP.

    `pressed` guards count twice, because a conflict asked for them. `flask_mana`: mana that a full flask gives back in
    all. `required`: attribute points needed (str/dex/int), taken from an inspection because a trial does not count
    support colours; a trial's own requirement (gems, items) counts when it is higher. `minima`: metrics that must not
    be lower than this, whatever else is gained. `targets` and `ceilings`: what the user asked metrics to reach, or
    not to pass; `urged`: how often conflicts asked for it again.
    """

    floors: Floors
    damage_weight: float = 1.0
    ehp_weight: float = 1.0
    flask_mana: float = 0.0
    drain: float = DRAIN
    guards: frozenset[Guard] = ALL_GUARDS
    pressed: frozenset[Guard] = frozenset()
    required: Mapping[Attribute, float] = field(default_factory=dict)
    minima: Mapping[str, float] = field(default_factory=dict)
    targets: Mapping[str, float] = field(default_factory=dict)
    ceilings: Mapping[str, float] = field(default_factory=dict)
    urged: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """What a candidate is asked for: `METRICS`, and what targets are about besides."""
        return tuple(dict.fromkeys((*METRICS, *sorted(self.targets), *sorted(self.ceilings))))

    @cached_property
    def _weights(self) -> tuple[tuple[Guard, str, float], ...]:
        """The guards in a fixed order, the name of each, and what it costs when all of it is unmet."""
        pressed = {guard: 2.0 if guard in self.pressed else 1.0 for guard in self.guards}
        return tuple((guard, guard.value, _GUARD_WEIGHT[guard] * pressed[guard]) for guard in sorted(self.guards))

    @cached_property
    def _needs(self) -> tuple[tuple[Attribute, str, str, float], ...]:
        """Per attribute the metric of it, that of what a candidate requires, and what is required of any candidate."""
        return tuple((a, ATTRIBUTE_METRICS[a], REQUIREMENT_METRICS[a], self.required.get(a, 0.0)) for a in Attribute)

    def score(self, outputs: Mapping[str, float]) -> float:
        """Return the score, or minus infinity when the candidate could not be tried (no outputs)."""
        if not outputs:
            return -math.inf
        part = self.parts(outputs)
        guarded = sum(-part[name] for _, name, _ in self._weights)
        life = part[EHP] + part[HITS_AND_RECOVERY]
        return part[DPS] + life - guarded + part[TARGETS] + part[MOVEMENT]

    def parts(self, outputs: Mapping[str, float]) -> dict[str, float]:
        """Return what each thing that is looked at adds to the score; together they are the score."""
        lacking = self.shortfalls(outputs)
        guarded = {name: -(weight * lacking[guard]) for guard, name, weight in self._weights}
        return {
            DPS: self.damage_weight * worth(outputs.get(DPS, 0.0), self.floors.dps),
            EHP: self.ehp_weight * worth(outputs.get(EHP, 0.0), self.floors.ehp),
            HITS_AND_RECOVERY: self.ehp_weight * self.weakness(outputs),
            **guarded,
            TARGETS: -self.missed(outputs),
            # walking slower than a naked character has its price
            MOVEMENT: -(SLOWNESS * max(0.0, 1.0 - outputs.get(MOVEMENT, 1.0))),
        }

    def weakness(self, outputs: Mapping[str, float]) -> float:
        """Return what weak hits, missing recovery and chaos resistance cost; a figure that is not there costs none."""
        floors = self.floors
        price = -CHAOS_LACK * self.chaos_gap(outputs) if CHAOS_RESISTANCE in outputs else 0.0
        if PHYSICAL_HIT in outputs:
            price += HIT_SHARE * lack(outputs[PHYSICAL_HIT], floors.physical_hit)
        if ELEMENTAL_HITS[0] in outputs:
            price += HIT_SHARE * lack(elemental_hit(outputs), floors.elemental_hit)
        chaos = LEAST_CHAOS_HIT * floors.ehp.least
        if CHAOS_HIT in outputs and chaos > 0:
            price -= WEAK_SPOT * max(0.0, 1.0 - outputs[CHAOS_HIT] / chaos)
        if RECOVERY_METRICS[0] in outputs:
            back = recovery(outputs)
            for cost, wanted in zip(NO_RECOVERY, (floors.recovery.least, floors.recovery.good), strict=True):
                price -= cost * max(0.0, 1.0 - back / wanted) if wanted > 0 else 0.0
        return price

    def chaos_gap(self, outputs: Mapping[str, float]) -> float:
        """Return the percent of chaos resistance that are missing; none where nobody asks, or gear still sees to it."""
        asked = Guard.RESISTANCE in self.guards
        return self.floors.chaos_resistance.short_of(outputs.get(CHAOS_RESISTANCE, 0.0)) if asked else 0.0

    def missed(self, outputs: Mapping[str, float]) -> float:
        """Return the price of the minima and targets that are not reached; 0 when all are.

        Targets for resistances are no matter while gear is still going to see to resistances.
        """
        price = sum(self.price_of(metric, short) for metric, short in self.short_of(outputs).items())
        for metric, least in self.minima.items():
            short = least - outputs.get(metric, 0.0)
            if short > MINIMUM_SLACK * max(1.0, abs(least)):
                price += MINIMUM_STEP + MINIMUM_WEIGHT * short / max(abs(least), MINIMUM_SCALE)
        return price

    def price_of(self, metric: str, short: float) -> float:
        """Return the price of a target or ceiling that is missed by this share of it."""
        return TARGET_WEIGHT * (1.0 - math.exp(-short / TARGET_NEAR)) + URGED * self.urged.get(metric, 0) * short

    def slope_of(self, metric: str, short: float) -> float:
        """Return how much that price grows with the share, never less than a straight line to its most would."""
        return TARGET_WEIGHT * max(1.0, math.exp(-short / TARGET_NEAR) / TARGET_NEAR) + URGED * self.urged.get(
            metric, 0
        )

    def short_of(self, outputs: Mapping[str, float]) -> dict[str, float]:
        """Return the share that is missing to each target, and the share by which each ceiling is passed."""
        later = () if Guard.RESISTANCE in self.guards else (*RESISTANCES, CHAOS_RESISTANCE)
        short = {key: (least - outputs.get(key, 0.0), least) for key, least in self.targets.items() if key not in later}
        short |= {key: (outputs.get(key, 0.0) - most, most) for key, most in self.ceilings.items()}
        return {key: missing / max(abs(wanted), 1.0) for key, (missing, wanted) in short.items() if missing > 0}

    def shortfalls(self, outputs: Mapping[str, float]) -> dict[Guard, float]:
        """Return how much of each demand is unmet; 0 = met, 1 = nothing of it is there (resistances: up to 3)."""
        wanted = self.floors.resistance.least
        return {
            Guard.RESISTANCE: sum(max(0.0, wanted - outputs.get(key, 0.0)) / max(wanted, 1.0) for key in RESISTANCES),
            Guard.SUSTAIN: sustain_gap(outputs, self.flask_mana, self.drain),
            Guard.SPIRIT: max(0.0, -outputs.get(FREE_SPIRIT, 0.0)) / 50,
            Guard.ATTRIBUTES: sum(gap / max(need, 1.0) for need, gap in self.attribute_gaps(outputs).values()),
        }

    def without(self, *guards: Guard) -> Objective:
        """Return the same objective with these guards off."""
        return replace(self, guards=self.guards - set(guards))

    def requiring(self, required: Mapping[Attribute, float]) -> Objective:
        """Return the same objective with these attribute requirements."""
        return replace(self, required=dict(required))

    def attribute_gaps(self, outputs: Mapping[str, float]) -> dict[Attribute, tuple[float, float]]:
        """Return per attribute what is needed and how many points of it are missing."""
        found: dict[Attribute, tuple[float, float]] = {}
        for attribute, there, asked, least in self._needs:
            need = max(least, outputs.get(asked, 0.0))
            found[attribute] = (need, max(0.0, need - outputs.get(there, 0.0)))
        return found

    def short_attribute(self, outputs: Mapping[str, float]) -> Attribute | None:
        """Return the attribute of which most is missing, None where none is."""
        gaps = self.attribute_gaps(outputs)
        worst = min(Attribute, key=lambda a: (-gaps[a][1], a.value))
        return worst if gaps[worst][1] > 0 else None


@lru_cache(maxsize=64)
def _lines(least: float, good: float) -> tuple[tuple[float, float], ...]:
    return tuple(segments(Floor(least=least, good=good)))


def segments(floor: Floor) -> list[tuple[float, float]]:
    """Return the lines (slope, height at 0) over the logarithm of a value whose lowest is its worth.

    The worth is 0 at `floor.least` and concave: every further e-fold is worth as much as the last one or less.
    """
    least = math.log(max(floor.least, 1.0))
    good = math.log(max(floor.good, floor.least, 1.0))
    lines = [(BELOW, -BELOW * least)]
    for slope, start in ((BETWEEN, least), (ABOVE, good), (PLENTY, good + math.log(AMPLE))):
        before, height = lines[-1]
        lines.append((slope, height + (before - slope) * start))
    return lines


def worth(value: float, floor: Floor) -> float:
    """Return the worth of a value in weighted e-folds from `floor.least`: steep below it, flatter and flatter above."""
    logarithm = math.log(max(value, 1.0))
    # written out: planners ask this some hundred thousand times
    (below, a), (between, b), (above, c), (plenty, d) = _lines(floor.least, floor.good)
    return min(below * logarithm + a, between * logarithm + b, above * logarithm + c, plenty * logarithm + d)


@lru_cache(maxsize=64)
def _top(least: float, good: float) -> float:
    return worth(good, Floor(least=least, good=good))


def lack(value: float, floor: Floor) -> float:
    """Return what a figure that is no aim in itself costs: 0 from `good` on, else what `worth` lacks of that."""
    return min(0.0, worth(value, floor) - _top(floor.least, floor.good))


def lack_segments(floor: Floor) -> list[tuple[float, float]]:
    """Return the lines over the logarithm of a value whose lowest is its `lack`."""
    top = worth(floor.good, floor)
    return [*((slope, height - top) for slope, height in segments(floor)[:2]), (0.0, 0.0)]


def sustain_gap(outputs: Mapping[str, float], flask_mana: float = 0.0, drain: float = DRAIN) -> float:
    """Return how badly the main skill is paid for: 0 = by recovery alone, up to 1 per resource, more if infeasible.

    Mana that pool and flask can supply for `FIGHT_S` costs little (`drain` at most), more than that much; life must be
    recovered. A use that costs more than the pool, or life that kills within a few uses, is infeasible in any case.
    """
    gap = sum(INFEASIBLE + min(MOST_EXCESS, cost.excess) for cost in unpayable(outputs))
    for resource, (cost_key, income_keys) in PAYMENTS.items():
        cost = outputs.get(cost_key, 0.0)
        lost = cost - sum(outputs.get(key, 0.0) for key in income_keys) if cost > 0 else 0.0
        if lost <= 0:
            continue
        stored = max(0.0, outputs.get("ManaUnreserved", 0.0)) + flask_mana if resource == "mana" else 0.0
        gap += drain * lost / cost + (1.0 - drain) * max(0.0, 1.0 - stored / (lost * FIGHT_S))
    return gap


def raised(floor: Floor, target: float | None) -> Floor:
    """Return the floor with the target in it, as what is least or, where that is not plausible, as what is good."""
    if target is None:
        return floor
    least = max(floor.least, target) if target <= WITHIN_REACH * floor.good else floor.least
    return Floor(least=least, good=max(floor.good, target))


def urged(constraints: Sequence[Constraint], asked: Collection[str]) -> dict[str, int]:
    """Return per metric in how many rounds a conflict asked for a figure of the user's, or of a style, that is missed.

    Once any is urged, all figures that were asked for (`asked`) are: one is not to be had at the price of another.
    """
    figures = {(c.iteration, stat) for c in constraints for stat in _stats_of(c.values)}
    times = Counter(stat for _, stat in figures)
    return {stat: max(1, times[stat]) for stat in sorted({*asked, *times})} if times else {}


def _stats_of(values: Details) -> Sequence[str]:
    figure = INVARIANTS[values.target].figure if values.target is not None else None
    style = style_stat(values.style) if values.style is not None else None
    return [*(figure.stats if figure is not None else ()), *([style] if style is not None else [])]


def _asked_types(ctx: SearchContext) -> dict[str, float]:
    """Return the shares of damage that the user asked for: none of minions or of an estimate, which tell none."""
    if not ctx.invariants.is_explicit("damage_type") or ctx.plan.delivery.minion or ctx.engine.version.estimate:
        return {}
    return type_targets(ctx.invariants.listed("damage_type"))


_PAYMENT_DEMANDS = {Demand.CHEAPER_SKILL, Demand.MORE_RECOVERY}


def objective_for(ctx: SearchContext) -> Objective:
    """Return the objective of a build, with the weights that the answers carry.

    Goal, hardcore and repairs are weighed where the question is answered, and nowhere else.
    """
    demands = {constraint.demand for constraint in ctx.plan.constraints}
    target = max(ctx.demands.floors.ehp.good, ctx.plan.survivability.ehp_target)
    # what a style or a layer asks for gives way to what was asked for in figures
    least, most = asked_pool(ctx.invariants, ctx.demands)
    figures, layers = asked_figures(ctx.invariants), layer_targets(ctx.invariants.listed("defence"))
    styles = style_targets(ctx.invariants.listed("style"), ctx.demands.level)
    asked = least | layers | styles | _asked_types(ctx) | figures
    life = raised(Floor(least=ctx.demands.floors.ehp.least, good=target), asked.pop(EHP, None))
    hurt = raised(ctx.demands.floors.dps, asked.pop(DPS, None))
    floors = changed(ctx.demands.floors, dps=hurt, ehp=life)
    again = urged(ctx.plan.constraints, figures)
    asked |= figures if again else {}
    targets, ceilings = bounds(asked)
    return Objective(
        floors=floors,
        targets=targets,
        ceilings=most | ceilings,
        urged=again,
        damage_weight=ctx.plan.scaling.damage_weight,
        ehp_weight=ctx.plan.survivability.ehp_weight * ctx.plan.requirements.ehp_weight,
        pressed=frozenset(
            {Guard.SUSTAIN} if demands & _PAYMENT_DEMANDS or ctx.plan.sustain.prefer_cheaper_supports else ()
        ),
    )
