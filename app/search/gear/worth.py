"""What the lines of the worn items are worth to a finished build: measured by taking each away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.engine.base import Facts, Outputs, Session
from app.model.base import changed
from app.model.blueprint import AffixRoll, Blueprint, Change, Equip, GearItem
from app.model.demands import Demands, GearLimits, gear_limits
from app.model.facts import AffixFact, NodeFact
from app.model.guide import GearFigures, Loss
from app.model.names import GearTier
from app.model.stats import DPS, EHP, MOVEMENT
from app.search.gear.legality import ANOINT, can_anoint, knowledge, recipes_of
from app.search.gear.pool import best_tiers, wording
from app.search.incumbent import EPSILON, required_attributes
from app.search.objective import METRICS, Objective

SHOWN_TIERS = (GearTier.STARTER, GearTier.MID, GearTier.ENDGAME)

Affixes = Mapping[str, Mapping[str, AffixFact]]
"""Per base, its affixes by id."""

Recipes = Mapping[str, NodeFact]
"""The notables that an amulet can be anointed with, by name."""


@dataclass(frozen=True)
class ItemWorth:
    """Per slot: what is lost without each affix (by id), and with the same lines one gear tier lower.

    `at_tiers`: the build's figures with the same lines at what each tier has; none where those are one.
    """

    lines: Mapping[str, Mapping[str, Loss]]
    one_tier_lower: Mapping[str, Loss]
    at_tiers: tuple[GearFigures, ...]


async def worth_of_items(facts: Facts, session: Session, blueprint: Blueprint, demands: Demands) -> ItemWorth:
    """Measure the crafted items of the blueprint that the session holds; uniques and items given as text stay."""
    items = {slot: item for slot, item in sorted(blueprint.items.items()) if item.text is None and rolls_of(item)}
    anointed = {slot: item for slot, item in sorted(blueprint.items.items()) if item.anoint}
    if not items:
        return ItemWorth({}, {}, ())
    known = await knowledge(facts, (item.base for item in items.values()))
    affixes: Affixes = {name: found.affixes for name, found in known.items()}
    taken = [(slot, roll.id) for slot, item in items.items() for roll in rolls_of(item)]
    taken += [(slot, ANOINT) for slot in anointed]
    tiers = list(GearTier)
    lower = gear_limits(tiers[max(0, tiers.index(demands.gear) - 1)], demands.level)
    recipes = recipes_of(await facts.nodes()) if anointed else {}
    lowered = {slot: at_limits(item, affixes[item.base], lower, {}, recipes) for slot, item in items.items()}
    tried = [*(without(blueprint.items[slot], affix) for slot, affix in taken), *lowered.values()]
    candidates: list[list[Change]] = [[Equip(item=item)] for item in tried]
    now, *found = await session.what_if([[], *candidates], METRICS)
    objective = Objective(demands.floors).requiring(required_attributes(await session.inspect()))
    losses = [_loss(objective, now, outputs) for outputs in found]
    lines: dict[str, dict[str, Loss]] = {}
    for (slot, affix), loss in zip(taken, losses, strict=False):
        lines.setdefault(slot, {})[affix] = loss
    return ItemWorth(
        lines=lines,
        one_tier_lower=dict(zip(lowered, losses[len(taken) :], strict=True)),
        at_tiers=await _at_tiers(session, items, affixes, lines, recipes, demands),
    )


async def _at_tiers(
    session: Session,
    items: Mapping[str, GearItem],
    affixes: Affixes,
    lines: Mapping[str, Mapping[str, Loss]],
    recipes: Recipes,
    demands: Demands,
) -> tuple[GearFigures, ...]:
    tiers = [tier for tier in GearTier if tier in {*SHOWN_TIERS, demands.gear}]
    limits = [gear_limits(tier, demands.level) for tier in tiers]
    dressed: list[list[Change]] = [
        [Equip(item=at_limits(item, affixes[item.base], one, lines[slot], recipes)) for slot, item in items.items()]
        for one in limits
    ]
    found = await session.what_if(dressed, METRICS)
    figures = tuple(
        GearFigures(gear=tier, dps=outputs[DPS], ehp=outputs[EHP])
        for tier, outputs in zip(tiers, found, strict=True)
        if DPS in outputs and EHP in outputs
    )
    return figures if len({(one.dps, one.ehp) for one in figures}) > 1 else ()


def rolls_of(item: GearItem) -> list[AffixRoll]:
    """Return the affixes of an item, prefixes first."""
    return [*item.prefixes, *item.suffixes]


def without(item: GearItem, affix: str) -> GearItem:
    """Return the item without the affix, or without what it is anointed with."""
    if affix == ANOINT:
        return changed(item, anoint="")
    return _keeping(item, [roll for roll in rolls_of(item) if roll.id != affix])


def at_limits(
    item: GearItem,
    affixes: Mapping[str, AffixFact],
    limits: GearLimits,
    losses: Mapping[str, Loss],
    recipes: Recipes,
) -> GearItem:
    """Return the item with the same lines as good as the limits allow; the least important ones go when too many.

    It stays anointed where the limits have the emotions.
    """
    best = {
        (fact.side, wording(fact.lines)): fact.id for fact in best_tiers(list(affixes.values()), limits.max_affix_level)
    }
    kept = sorted(
        (roll for roll in rolls_of(item) if roll.id in affixes),
        key=lambda roll: -losses[roll.id].weight if roll.id in losses else 0.0,
    )[: limits.max_affixes]
    swapped = {}
    for roll in kept:
        fact = affixes[roll.id]
        if (other := best.get((fact.side, wording(fact.lines)))) is not None:
            swapped[roll.id] = changed(roll, id=other)
    sides = {side: [swapped[r.id] for r in getattr(item, side) if r.id in swapped] for side in ("prefixes", "suffixes")}
    return changed(item, **sides, anoint=item.anoint if can_anoint(item.anoint, recipes, limits) else "")


def _keeping(item: GearItem, rolls: Sequence[AffixRoll]) -> GearItem:
    kept = {roll.id for roll in rolls}
    return changed(
        item,
        prefixes=[roll for roll in item.prefixes if roll.id in kept],
        suffixes=[roll for roll in item.suffixes if roll.id in kept],
    )


def _loss(objective: Objective, now: Outputs, outputs: Outputs) -> Loss:
    """Return the shares of DPS and EHP that are lost, and whether a demand is met less, or one walks slower."""

    def share(key: str) -> float:
        return round(1.0 - outputs.get(key, 0.0) / now[key], 4) if now.get(key, 0.0) > 0 else 0.0

    before, after = objective.shortfalls(now), objective.shortfalls(outputs)
    unmet = any(after[guard] > before[guard] + EPSILON for guard in before)
    unmet = unmet or objective.chaos_gap(outputs) > objective.chaos_gap(now) + EPSILON
    slower = outputs.get(MOVEMENT, 1.0) < now.get(MOVEMENT, 1.0) - EPSILON
    return Loss(damage=share(DPS), ehp=share(EHP), needed=unmet or slower)
