"""Targets that the user set: worked towards in tree, supports and gear, and harmless where they are out of reach."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from app.knowledge.styles import CRITICAL_CHANCE
from app.model.base import changed
from app.model.conflicts import Details
from app.model.constraints import Invariant, InvariantSet, asked_figures
from app.model.demands import NO_FLOOR, Floor, asked_pool, demands_of
from app.model.names import Demand, Effort, Provenance
from app.model.stats import EHP
from app.model.sub_problems import Constraint
from app.search.base import SearchContext
from app.search.gear.loadout import optimise_gear
from app.search.incumbent import Incumbent
from app.search.levels import level_objective
from app.search.objective import (
    METRICS,
    TARGET_WEIGHT,
    URGED,
    WITHIN_REACH,
    Guard,
    Objective,
    objective_for,
    raised,
)
from app.search.stages.passives import grow_tree, polish_tree
from app.search.stages.skills import main_supports, support_rules
from tests.fakes.arithmetic import World, active, node, support
from tests.unit.search.conftest import FLOORS, Context
from tests.unit.search.test_gear_search import AMULET, HELMET, affix


def asked(**targets: float) -> InvariantSet:
    return InvariantSet(
        invariants=[
            Invariant(field=name, value=value, provenance=Provenance.EXPLICIT, reason="you wrote it")
            for name, value in targets.items()
        ]
    )


def test_targets_are_read_in_the_units_of_the_engine() -> None:
    assert asked_figures(asked(life=3000, movement_speed=30)) == {"Life": 3000, "EffectiveMovementSpeedMod": 1.3}
    found = asked_figures(asked(elemental_resistances=70, fire_resistance=75))
    assert found == {"FireResist": 75, "ColdResist": 70, "LightningResist": 70}
    assert asked_figures(InvariantSet()) == {}


def test_a_plausible_target_is_a_floor_and_another_is_worked_towards() -> None:
    floor = Floor(least=100, good=200)
    assert raised(floor, None) == floor
    assert raised(floor, 150) == Floor(least=150, good=200)
    assert raised(floor, 50) == floor
    assert raised(floor, WITHIN_REACH * 200) == Floor(least=800, good=800)
    assert raised(floor, WITHIN_REACH * 200 + 1) == Floor(least=100, good=801)


def test_the_objective_carries_targets_and_asks_for_their_metrics(context: Context) -> None:
    ctx = replace(context(World()), invariants=asked(dps=1e6, ehp=20_000, mana=500, mana_cost=30, chaos_resistance=75))
    made = objective_for(ctx)
    assert made.targets == {"Mana": 500, "ChaosResist": 75}
    assert made.ceilings == {"ManaCost": 30}
    assert made.metrics == (*METRICS, "Mana")
    assert made.floors.ehp.least == 20_000
    assert objective_for(context(World())).metrics == METRICS


def test_the_price_of_a_target_levels_off_with_distance() -> None:
    made = Objective(FLOORS, targets={"Life": 1000}, ceilings={"ManaCost": 10})
    price = [made.missed({"Life": life, "ManaCost": 10}) for life in (1100, 1000, 900, 800, 100, 0)]
    assert price[:2] == [0, 0]
    assert price[2] > price[3] - price[2] > 10 * (price[5] - price[4]) > 0
    assert price[5] < TARGET_WEIGHT
    assert made.missed({"Life": 1000, "ManaCost": 20}) > 0


@pytest.mark.parametrize(
    ("types", "provenance", "minion", "estimate", "targets"),
    [
        (["cold"], Provenance.EXPLICIT, False, False, {"DamageType.cold": 0.51}),
        (["cold", "fire"], Provenance.EXPLICIT, False, False, {"DamageType.cold": 0.255, "DamageType.fire": 0.255}),
        (["elemental"], Provenance.EXPLICIT, False, False, {"DamageType.elemental": 0.51}),
        (["cold"], Provenance.INFERRED, False, False, {}),
        (["cold"], Provenance.EXPLICIT, True, False, {}),
        (["cold"], Provenance.EXPLICIT, False, True, {}),
    ],
)
def test_a_damage_type_that_was_asked_for_is_worked_towards(
    context: Context,
    monkeypatch: pytest.MonkeyPatch,
    types: list[str],
    provenance: Provenance,
    minion: bool,
    estimate: bool,
    targets: dict[str, float],
) -> None:
    """Not what the skill alone suggests; a minion's types and an estimate's are not in a candidate's figures."""
    wish = Invariant(field="damage_type", value=types, provenance=provenance, reason="prompt")
    ctx = replace(context(World()), invariants=InvariantSet(invariants=[wish]))
    ctx = replace(ctx, plan=replace(ctx.plan, delivery=changed(ctx.plan.delivery, minion=minion)))
    version = changed(ctx.engine.version, estimate=estimate)
    monkeypatch.setattr(type(ctx.engine), "version", property(lambda _: version))
    assert objective_for(ctx).targets == targets


def test_on_the_way_only_the_damage_type_counts_of_what_was_asked(context: Context) -> None:
    """A ranger's trees for level 50 gave a seventh of the damage away for the evasion of a finished build."""
    types = Invariant(field="damage_type", value=["cold"], provenance=Provenance.EXPLICIT, reason="prompt")
    layer = Invariant(field="defence", value=["evasion"], provenance=Provenance.EXPLICIT, reason="prompt")
    wishes = [types, layer, *asked(life=3000, ehp=90_000, mana_cost=30).invariants]
    ctx = replace(context(World()), invariants=InvariantSet(invariants=wishes))
    here, there = level_objective(ctx), objective_for(ctx)
    assert set(there.targets) > {"Life", "DamageType.cold"}
    assert set(here.targets) == {"DamageType.cold"}
    assert here.ceilings == {}
    assert here.floors.ehp.least == ctx.demands.floors.ehp.least < there.floors.ehp.good


def test_the_price_of_an_urged_target_does_not_level_off() -> None:
    made = Objective(FLOORS, targets={"Life": 1000})
    once, twice = (replace(made, urged={"Life": times}) for times in (1, 2))
    far, near = {"Life": 100.0}, {"Life": 900.0}
    assert once.missed({"Life": 1000}) == 0
    gained = [one.missed(far) - one.missed(near) for one in (made, once, twice)]
    assert [round(after - before, 6) for before, after in pairwise(gained)] == [URGED * 0.8] * 2
    assert made.missed(far) - made.missed({"Life": 200.0}) < 0.1 * (once.missed(far) - once.missed({"Life": 200.0}))


def test_a_round_urges_the_figure_that_it_was_put_for(context: Context) -> None:
    ctx = replace(context(World()), invariants=asked(life=3000, ehp=20_000, mana=500, chaos_resistance=75))
    assert objective_for(ctx).urged == {}
    rounds = [
        constraint("life", 1),
        constraint("life", 1),
        constraint("life", 2),
        constraint("ehp", 2),
        constraint(None, 2),
    ]
    again = objective_for(replace(ctx, plan=replace(ctx.plan, constraints=tuple(rounds))))
    assert again.urged == {"Life": 2, EHP: 1, "Mana": 1, "ChaosResist": 1}, "what is met is held"
    assert again.targets == {"Life": 3000, EHP: 20_000, "Mana": 500, "ChaosResist": 75}
    assert again.floors == objective_for(ctx).floors


def test_a_round_urges_the_figure_of_the_style_that_it_was_put_for(context: Context) -> None:
    style = Invariant(field="style", value=["critical", "tanky"], provenance=Provenance.EXPLICIT, reason="prompt")
    ctx = replace(context(World()), invariants=InvariantSet(invariants=[style, *asked(life=3000).invariants]))
    rounds = [
        Constraint(conflict_id="c", demand=Demand.MORE_DAMAGE, values=Details(style=one), iteration=round_)
        for one, round_ in (("critical", 1), ("critical", 2), ("tanky", 2))
    ]
    again = objective_for(replace(ctx, plan=replace(ctx.plan, constraints=tuple(rounds))))
    assert again.urged == {"CritChance": 2, "Life": 1}, "no figure tells who is tanky; what is met is held"
    assert again.targets == {"CritChance": CRITICAL_CHANCE, "Life": 3000}
    far, near = ({"CritChance": chance, "Life": 3000.0} for chance in (5.0, 15.0))
    assert again.missed(far) - again.missed(near) > 2 * URGED * (near["CritChance"] - far["CritChance"]) / 40


def constraint(target: str | None, iteration: int) -> Constraint:
    return Constraint(
        conflict_id="c", demand=Demand.MORE_EFFECTIVE_LIFE, values=Details(target=target), iteration=iteration
    )


def test_targets_for_resistances_wait_for_gear() -> None:
    made = Objective(FLOORS, targets={"ChaosResist": 75})
    assert made.missed({"ChaosResist": 0}) > 0
    assert made.without(Guard.RESISTANCE).missed({"ChaosResist": 0}) == 0


NODES = [
    node(1, 2, 4, 6, kind="start"),
    node(2, 3),
    node(3, mods=["40 inc"], kind="notable"),
    node(4, 5, mods=["60 mana"]),
    node(5, mods=["60 mana"], kind="notable"),
    node(6, 7, mods=["5 inc"]),
    node(7, mods=["5 inc"]),
]


async def tree(context: Context, points: int, **targets: float) -> set[int]:
    ctx = context(World(nodes=NODES, gems=[active("zap")]), floors=changed(FLOORS, passive_points=points))
    ctx = replace(ctx, invariants=asked(**targets))
    grown = await grow_tree(ctx)
    polished = await polish_tree(replace(ctx, blueprint=grown.blueprint))
    return {n.id for n in polished.blueprint.nodes}


async def test_the_tree_works_towards_a_target(context: Context) -> None:
    assert await tree(context, 2) == {2, 3}
    assert await tree(context, 2, mana=120) == {4, 5}
    assert await tree(context, 4, mana=60) == {2, 3, 4, 6}


async def test_targets_out_of_reach_leave_the_tree_as_it_would_be(context: Context) -> None:
    assert await tree(context, 2, mana=1e9, dps=2e7) == {2, 3}


async def test_supports_that_cost_too_much_lose_to_a_ceiling(context: Context) -> None:
    gems = [active("zap"), support("dear", "30 more, 100 cost"), support("fair", "20 more")]
    ctx = context(World(gems=gems), level=10)
    assert {g.gem_id for g in (await main_supports(ctx)).blueprint.groups[0].gems} == {"zap", "dear", "fair"}
    ctx = replace(context(World(gems=gems), level=10), invariants=asked(mana_cost=10))
    assert {g.gem_id for g in (await main_supports(ctx)).blueprint.groups[0].gems} == {"zap", "fair"}


RIVALS = [affix(f"rival{n}", "suffix", "30 inc") for n in range(3)]
CHAOS = [affix("pure", "suffix", "20 chaos"), affix("blue", "prefix", "50 mana"), affix("pain", "prefix", "40 inc")]


async def dressed(context: Context, **targets: float) -> tuple[SearchContext, dict[str, float]]:
    made = World(nodes=[node(1, kind="start")], gems=[active("zap")], bases=[AMULET, HELMET], affixes=[*RIVALS, *CHAOS])
    ctx = context(made)
    floors = changed(ctx.demands.floors, chaos_resistance=NO_FLOOR)
    ctx = replace(ctx, invariants=asked(**targets), demands=changed(ctx.demands, floors=floors))
    await optimise_gear(ctx)
    return ctx, (await ctx.session.stats()).values


async def test_gear_works_towards_targets(context: Context) -> None:
    _, plain = await dressed(context)
    assert plain["ChaosResist"] == 0
    _, found = await dressed(context, chaos_resistance=40, mana=50)
    assert found["ChaosResist"] == 40
    assert found["Mana"] >= 50


async def test_an_impossible_target_does_not_spoil_the_rest(context: Context) -> None:
    _, plain = await dressed(context)
    _, found = await dressed(context, dps=2e7, mana=1e9, ehp=1e9)
    for key in ("FireResist", "ColdResist", "LightningResist", "TotalEHP", "DPS"):
        assert found[key] >= plain[key] * 0.999


def test_styles_set_targets_and_figures_win(context: Context) -> None:
    style = Invariant(
        field="style", value=["max_block", "life_stacking"], provenance=Provenance.EXPLICIT, reason="said"
    )
    said = asked(life=1234)
    ctx = replace(context(World()), invariants=InvariantSet(invariants=[style, *said.invariants]))
    assert objective_for(ctx).targets == {"EffectiveBlockChance": 75.0, "Life": 1234}


@pytest.mark.parametrize(
    ("asked", "provenance", "least", "most"),
    [
        ("life", Provenance.EXPLICIT, {"Life": 2052.0}, {"EnergyShield": 0.8 * 2052.0}),
        ("energy_shield", Provenance.EXPLICIT, {"EnergyShield": 2052.0}, {}),
        ("hybrid", Provenance.EXPLICIT, {}, {}),
        (["life", "energy_shield"], Provenance.EXPLICIT, {}, {}),
        (["life", "armour"], Provenance.EXPLICIT, {"Life": 2052.0}, {"EnergyShield": 0.8 * 2052.0}),
        ("life", Provenance.INFERRED, {}, {}),
    ],
)
def test_a_pool_that_was_asked_for_is_worked_towards(
    asked: str | list[str], provenance: Provenance, least: dict[str, float], most: dict[str, float]
) -> None:
    said = Invariant(field="defence", value=asked, provenance=provenance, reason="")
    invariants = InvariantSet(invariants=[said])
    assert asked_pool(invariants, demands_of(invariants)) == (least, most)


@pytest.mark.parametrize(("missed", "exchanged"), [((), False), (("critical",), True)])
async def test_a_draft_exchanges_supports_in_a_round_only(
    context: Context, missed: tuple[str, ...], exchanged: bool
) -> None:
    ctx = replace(context(World(gems=[active("zap")])), effort=Effort.QUICK)
    rounds = [Constraint(conflict_id="c", demand=Demand.MORE_DAMAGE, values=Details(style=one)) for one in missed]
    ctx = replace(ctx, plan=replace(ctx.plan, constraints=tuple(rounds)))
    rules = await support_rules(ctx, await Incumbent.open(ctx), 1, {})
    assert rules.exchanges is exchanged


async def test_a_support_for_an_ailment_is_required_where_nothing_brings_it_about(context: Context) -> None:
    style = Invariant(field="style", value=["bleed"], provenance=Provenance.EXPLICIT, reason="said")
    ctx = replace(context(World(gems=[active("zap")])), invariants=InvariantSet(invariants=[style]))
    incumbent, facts = await Incumbent.open(ctx), {"b3": changed(support("Bleed III"), id="b3")}
    assert (await support_rules(ctx, incumbent, 1, facts)).required == ("b3",)
    incumbent.outputs = {**incumbent.outputs, "DamageShare.bleed": 0.1}
    assert (await support_rules(ctx, incumbent, 1, facts)).required == ()
