"""What each option of each slot is worth in the current build, measured by what-if."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.engine.base import Outputs
from app.model.blueprint import HAND_SLOTS, JEWEL_SLOT, Blueprint, Equip, GearItem
from app.model.damage import PAYMENTS
from app.model.demands import FIGHT_S
from app.model.stats import (
    ATTRIBUTE_METRICS,
    CHAOS_RESISTANCE,
    DPS,
    EHP,
    FREE_SPIRIT,
    PHYSICAL_HIT,
    RESISTANCES,
    elemental_hit,
    recovery,
)
from app.search.gear.pool import GearOption, SlotPool, has, with_option, without_option
from app.search.incumbent import Incumbent
from app.search.objective import Objective

NOTHING = 1e-9
"""A difference below this is none."""

PAID_WITH = ("Spirit", "MANA", "LIFE")
"""What the skills of a build are paid with; it depends on the skill, so on all else that is worn."""

RECOVERY = "RECOVERY"
"""Hit points that come back per second; a share of the pool, so it depends on all else that is worn."""

FLAT = (*RESISTANCES, CHAOS_RESISTANCE, *ATTRIBUTE_METRICS.values(), *PAID_WITH, RECOVERY)
"""Figures that add up over items: percent, attribute points, Spirit, what is left to pay the skill with, recovery."""


@dataclass(frozen=True)
class Values:
    """Figures of a build, or the differences that an option makes to them.

    `damage`, `life`: natural logarithms of DPS and EHP; `physical`, `elemental`: of the largest hit that is survived.
    `flat`: the keys of `FLAT`.
    """

    damage: float = 0.0
    life: float = 0.0
    physical: float = 0.0
    elemental: float = 0.0
    flat: Mapping[str, float] = field(default_factory=dict)

    def minus(self, other: Values) -> Values:
        """Return the difference."""
        flat = {key: self.flat.get(key, 0.0) - other.flat.get(key, 0.0) for key in (*FLAT, *(self.flat.keys() - FLAT))}
        return Values(
            damage=self.damage - other.damage,
            life=self.life - other.life,
            physical=self.physical - other.physical,
            elemental=self.elemental - other.elemental,
            flat=flat,
        )


ASKED = "asked "
"""Begins the flat key of a metric that the user set a target for, so that none of `FLAT` is hidden by it."""


def wanted_of(objective: Objective) -> dict[str, float]:
    """Return per flat key what the user's targets ask for; a ceiling is a least of what is negative."""
    least = {f"{ASKED}{key}": value for key, value in objective.targets.items()}
    return least | {f"{ASKED}{key}": -value for key, value in objective.ceilings.items()}


def values_of(outputs: Outputs, objective: Objective) -> Values:
    """Read the figures from an engine's outputs.

    MANA is what pool and flask hold beyond `FIGHT_S` seconds of the main skill's net cost; LIFE is net life per second.
    """
    flat = {key: outputs.get(key, 0.0) for key in (*RESISTANCES, CHAOS_RESISTANCE, *ATTRIBUTE_METRICS.values())}
    flat["Spirit"] = outputs.get(FREE_SPIRIT, 0.0)
    flat["MANA"] = outputs.get("ManaUnreserved", 0.0) + objective.flask_mana - FIGHT_S * _drain(outputs, "mana")
    flat["LIFE"] = -_drain(outputs, "life")
    flat[RECOVERY] = recovery(outputs)
    flat |= {f"{ASKED}{key}": outputs.get(key, 0.0) for key in objective.targets}
    flat |= {f"{ASKED}{key}": -outputs.get(key, 0.0) for key in objective.ceilings}
    return Values(
        damage=math.log(max(outputs.get(DPS, 0.0), 1.0)),
        life=math.log(max(outputs.get(EHP, 0.0), 1.0)),
        physical=math.log(max(outputs.get(PHYSICAL_HIT, 0.0), 1.0)),
        elemental=math.log(max(elemental_hit(outputs), 1.0)),
        flat=flat,
    )


def _drain(outputs: Outputs, resource: str) -> float:
    """Return cost minus recovery per second while the main skill is used; nothing when it costs none of this."""
    cost_key, income = PAYMENTS[resource]
    cost = outputs.get(cost_key, 0.0)
    return cost - sum(max(0.0, outputs.get(key, 0.0)) for key in income) if cost > 0 else 0.0


@dataclass(frozen=True)
class OptionValues:
    """The current build's figures and what adding (or keeping) each option changes."""

    now: Values
    effect: Mapping[GearOption, Values]


async def measure(
    incumbent: Incumbent, pools: Sequence[SlotPool], known: Mapping[GearOption, Values] | None = None
) -> OptionValues:
    """Measure every option of the pools on the committed build.

    An option that is on the item counts as what would be lost without it; another as what it adds on top. With
    `known`, options that are far from the best of their kind there keep what is known of them. What does the same in
    several slots is measured once: a line that is not about its item, two slots of one kind that hold the same.
    """
    again = None if known is None else hopeful(pools, known)
    trials = [trial for pool in pools for trial in _trials(pool, incumbent.blueprint.items[pool.slot], again)]
    first: dict[str, int] = {}
    asked = [trial for index, trial in enumerate(trials) if first.setdefault(trial.key, index) == index]
    outputs = await incumbent.outputs_of([[Equip(item=trial.item)] for trial in asked])
    objective = incumbent.objective
    now = values_of(incumbent.outputs, objective)
    effect = {option: (known or {}).get(option, Values()) for pool in pools for option in pool.options()}
    effect |= {GearOption(p.slot, "base", incumbent.blueprint.items[p.slot].base): Values() for p in pools}
    found = {trial.key: out for trial, out in zip(asked, outputs, strict=True)}
    # an item that cannot be tried says nothing about the same line on another
    others = [t for index, t in enumerate(trials) if t.lines and first[t.key] != index and not found[t.key]]
    again_tried = await incumbent.outputs_of([[Equip(item=trial.item)] for trial in others])
    own = {trial.option: out for trial, out in zip(others, again_tried, strict=True)}
    for trial in trials:
        out = own.get(trial.option, found[trial.key])
        if (
            not out
        ):  # it cannot be tried: on the item nobody knows what it gives, off the item it is out of the question
            effect[trial.option] = Values() if trial.there else IMPOSSIBLE
        elif trial.there:
            effect[trial.option] = now.minus(values_of(out, objective))
        else:
            effect[trial.option] = values_of(out, objective).minus(now)
    return OptionValues(now, effect)


IMPOSSIBLE = Values(damage=-50.0, life=-50.0)

TWINS = ("Ring ", JEWEL_SLOT)
"""How the names of slots begin that do the same for the same item."""

_LOCAL = re.compile(
    r"armour|evasion|energy shield|ward|block|defences|spirit|requirements|quality|socket|slot|this item|\bring\b", re.I
)
"""What lines speak of that may act on the item that they are on, and so depend on its base."""


@dataclass(frozen=True)
class _Trial:
    """An item with the option added, or taken off when it is `there`.

    `lines`: what the option says if it does the same in any slot, else empty. `key` is the same for what does the same:
    such an option wherever it is, the same item in a twin slot.
    """

    option: GearOption
    there: bool
    item: GearItem
    lines: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        if self.lines:
            return f"{self.there}/{self.lines}"
        kind = self.option.slot.split(" ")[0] if self.option.slot.startswith(TWINS) else self.option.slot
        return f"{kind}/{self.there}/{self.item.model_dump_json(exclude={'slot'})}"


def _trials(pool: SlotPool, item: GearItem, again: frozenset[GearOption] | None) -> list[_Trial]:
    """Return what is tried in a slot: what is there without each option, and with each absent one of `again` (all)."""
    found = []
    arms = pool.slot in HAND_SLOTS and not all(base.defences for base in pool.bases.values())
    for option in pool.options():
        there = has(item, option) > 0
        if option.kind == "base" and there:
            continue
        if there or again is None or option in again:
            tried = without_option(item, option) if there else with_option(item, option, pool)
            lines = pool.lines_of(option)
            depends = arms or any(_LOCAL.search(line) for line in lines)
            found.append(_Trial(option, there, tried, () if depends else lines))
    return found


BEST_BY_VALUE, BEST_BY_FIGURE = 12, 4
"""How many options of a slot and side are measured again: the best by damage and by life, and by each flat figure."""


def hopeful(pools: Sequence[SlotPool], known: Mapping[GearOption, Values]) -> frozenset[GearOption]:
    """Return the options worth measuring again: all bases, and per slot and kind the best by anything that counts."""
    found: set[GearOption] = set()
    asked = {key for values in known.values() for key in values.flat if key.startswith(ASKED)}
    for pool in pools:
        by_kind: dict[str, list[GearOption]] = {}
        for option in pool.options():
            by_kind.setdefault(option.kind, []).append(option)
        found |= set(by_kind.pop("base", ()))
        for options in by_kind.values():
            found |= _best(options, {o: known[o].damage for o in options if o in known}, BEST_BY_VALUE)
            found |= _best(options, {o: known[o].life for o in options if o in known}, BEST_BY_VALUE)
            found |= _best(options, {o: known[o].physical for o in options if o in known}, BEST_BY_FIGURE)
            found |= _best(options, {o: known[o].elemental for o in options if o in known}, BEST_BY_FIGURE)
            for key in (*FLAT, *sorted(asked)):
                worth = {o: known[o].flat.get(key, 0.0) for o in options if o in known}
                found |= _best(options, worth, BEST_BY_FIGURE)
    return frozenset(found)


def _best(options: Sequence[GearOption], worth: Mapping[GearOption, float], most: int) -> set[GearOption]:
    helping = [option for option in options if worth.get(option, 0.0) > NOTHING]
    return set(sorted(helping, key=lambda option: (-worth[option], option))[:most])


def items_of(blueprint: Blueprint, pools: Sequence[SlotPool]) -> dict[str, GearItem]:
    """Return the items in the slots of the pools."""
    return {pool.slot: blueprint.items[pool.slot] for pool in pools}
