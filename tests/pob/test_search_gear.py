"""Gear on real Path of Building: what the search makes can be made, fits the tier, and caps the resistances."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.engine.process import ProcessEngine
from app.knowledge.uniques import helps_at_times
from app.model.blueprint import Equip
from app.model.constraints import InvariantSet
from app.model.demands import Demands, floors_for
from app.model.names import GearTier, Goal
from app.model.stats import DPS
from app.model.sub_problems import (
    AscendancyChoice,
    DeliveryChoice,
    RequirementsChoice,
    ScalingChoice,
    SpiritChoice,
    SurvivabilityChoice,
    SustainChoice,
)
from app.search.base import Plan, SearchContext, StageResult
from app.search.gear.legality import gear_findings, shopping_list
from app.search.gear.loadout import optimise_gear, pools_of
from app.search.gear.pool import has, with_option, without_option
from app.search.gear.values import FLAT, Values, items_of, measure, values_of
from app.search.incumbent import Incumbent
from app.search.sessions import Sharing, open_parallel
from app.search.stages.foundation import blank, found
from tests.pob.legality import illegal_items

pytestmark = [pytest.mark.pob, pytest.mark.slow]

CASES: dict[str, tuple[AscendancyChoice, str, list[str], list[str], int, GearTier]] = {
    "caster in starter gear": (
        AscendancyChoice(class_name="Sorceress", ascendancy="Stormweaver"),
        "Spark",
        ["Wand"],
        ["energy_shield"],
        70,
        GearTier.STARTER,
    ),
    "bow in mid gear": (
        AscendancyChoice(class_name="Ranger", ascendancy="Deadeye"),
        "Lightning Arrow",
        ["Bow"],
        ["evasion"],
        85,
        GearTier.MID,
    ),
    "spear with a unique in mid gear": (
        AscendancyChoice(class_name="Huntress", ascendancy="Amazon"),
        "Primal Strikes",
        ["Spear"],
        ["evasion"],
        90,
        GearTier.MID,
    ),
    "mace in endgame gear": (
        AscendancyChoice(class_name="Warrior", ascendancy="Titan"),
        "Boneshatter",
        ["Two Hand Mace"],
        ["armour"],
        92,
        GearTier.ENDGAME,
    ),
}


@pytest.fixture
async def engine(pob_path: Path) -> AsyncIterator[ProcessEngine]:
    made = ProcessEngine("pob", {"pob": str(pob_path)}, workers=2)
    await made.start()
    yield made
    await made.close()


async def dressed(engine: ProcessEngine, case: str) -> tuple[SearchContext, StageResult, bytes, dict[str, float]]:
    """Found a build and make its gear; no passives are taken, so gear has to do all of it."""
    ascendancy, skill, weapons, mitigation, level, tier = CASES[case]
    gem = next(g for g in await engine.facts.gems() if g.name == skill and g.kind == "active")
    plan = Plan(
        ascendancy=ascendancy,
        delivery=DeliveryChoice(skill_id=gem.id, skill_name=skill, weapon_types=weapons),
        scaling=ScalingChoice(),
        survivability=SurvivabilityChoice(mitigation=mitigation),
        sustain=SustainChoice(),
        spirit=SpiritChoice(),
        requirements=RequirementsChoice(),
    )
    bare = _context(engine, plan, level, tier)
    blueprint = await blank(bare)
    async with open_parallel(engine, blueprint, Sharing(2)) as parallel:
        ctx = replace(bare, session=parallel, blueprint=blueprint)
        start = await found(ctx)
        before = await parallel.stats()
        result = await optimise_gear(replace(ctx, blueprint=start.blueprint))
        after, xml = await parallel.stats(), await parallel.export()
    assert (after.dps or 0.0) > 3 * (before.dps or 1.0)
    return ctx, result, xml, after.values


def _context(engine: ProcessEngine, plan: Plan, level: int, tier: GearTier) -> SearchContext:
    return SearchContext(
        engine=engine,
        session=None,  # type: ignore[arg-type]
        blueprint=None,  # type: ignore[arg-type]
        plan=plan,
        demands=Demands(level=level, gear=tier, goal=Goal.MAPPING, hardcore=False, floors=floors_for(level, tier)),
        invariants=InvariantSet(),
        seed=0,
    )


@pytest.mark.parametrize("case", sorted(CASES))
async def test_the_gear_can_be_made_and_caps_resistances(engine: ProcessEngine, pob_path: Path, case: str) -> None:
    ctx, result, xml, values = await dressed(engine, case)
    assert illegal_items(xml, pob_path, ctx.demands.gear.value) == []
    assert await gear_findings(engine.facts, result.blueprint, ctx.demands.floors.gear) == []
    assert (
        min(values[f"{element}Resist"] for element in ("Fire", "Cold", "Lightning"))
        >= ctx.demands.floors.resistance.least
    )
    assert values[DPS] > 0
    listed = await shopping_list(engine.facts, result.blueprint)
    ranks = [entry["origin"].tier.rank for entry in listed if entry["rarity"] == "UNIQUE"]
    limits = ctx.demands.floors.gear
    worn_texts = [item.text for item in result.blueprint.items.values() if item.text]
    assert not any(helps_at_times(text.splitlines()) for text in worn_texts), "the bow wore The Lethal Draw"
    assert ranks or "unique" not in case, "a unique is worth wearing there"
    assert len(ranks) <= limits.max_uniques
    assert all(rank <= limits.rarest_unique.rank for rank in ranks)
    worn = {entry["slot"] for entry in listed}
    assert {"Weapon 1", "Helmet", "Body Armour", "Gloves", "Boots", "Belt", "Amulet", "Ring 1", "Ring 2"} <= worn


@pytest.mark.parametrize("case", ["caster in starter gear", "bow in mid gear"])
async def test_what_is_measured_once_for_several_slots_is_the_same_in_each(engine: ProcessEngine, case: str) -> None:
    ctx, result, _, _ = await dressed(engine, case)
    async with open_parallel(engine, result.blueprint, Sharing(2)) as session:
        incumbent = await Incumbent.open(replace(ctx, session=session, blueprint=result.blueprint))
        pools = await pools_of(replace(ctx, session=session, blueprint=result.blueprint))
        worn = items_of(result.blueprint, pools)
        before = incumbent.trials
        found = await measure(incumbent, pools)
        shared = incumbent.trials - before
        alone = {
            o: without_option(worn[p.slot], o) if has(worn[p.slot], o) else with_option(worn[p.slot], o, p)
            for p in pools
            for o in p.options()
            if not (o.kind == "base" and has(worn[p.slot], o))
        }
        outputs = await incumbent.outputs_of([[Equip(item=item)] for item in alone.values()])
    assert shared < 0.8 * len(alone)
    now = values_of(incumbent.outputs, incumbent.objective)
    for option, out in ((option, out) for option, out in zip(alone, outputs, strict=True) if out):
        there, tried = has(worn[option.slot], option) > 0, values_of(out, incumbent.objective)
        gain = now.minus(tried) if there else tried.minus(now)
        for one, other in zip(_figures(found.effect[option]), _figures(gain), strict=True):
            assert one == pytest.approx(other, rel=1e-9, abs=1e-9), option


def _figures(values: Values) -> list[float]:
    return [values.damage, values.life, values.physical, values.elemental, *(values.flat.get(key, 0.0) for key in FLAT)]
