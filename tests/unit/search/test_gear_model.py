"""The joint choice over small pools whose best answer is known, or found by trying every legal item; its output."""

from __future__ import annotations

import ctypes
import itertools
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import pytest

from app.model.base import changed
from app.model.blueprint import AffixRoll
from app.model.demands import NO_FLOOR, Floor, floors_for
from app.model.facts import AffixFact, BaseFact
from app.model.names import GearTier
from app.search.gear.model import ATTRIBUTE_PENALTY, PENALTIES, GearProblem, Minima, choose, stdout_to_stderr
from app.search.gear.pool import GearOption, SlotPool, has, plain_item
from app.search.gear.values import OptionValues, Values
from app.search.objective import Objective, segments

WIDE = Floor(least=1, good=1e12)
"""A floor under which every figure of these tests is worth its logarithm, once."""

OBJECTIVE = Objective(
    changed(floors_for(90, GearTier.MID), dps=WIDE, ehp=WIDE, physical_hit=NO_FLOOR, elemental_hit=NO_FLOOR)
)
LIGHT = BaseFact(name="Light Mitts", type="Gloves", slots=["Gloves"], socket_limit=1)
HEAVY = BaseFact(name="Heavy Mitts", type="Gloves", slots=["Gloves"], requirements={"str": 50})


def affix(name: str, group: str | None = None) -> AffixFact:
    """Return an affix; a name in capitals is a prefix, another a suffix."""
    side = "prefix" if name.isupper() else "suffix"
    return AffixFact(id=name, side=side, name=name, group=group or name, level=1, lines=[name], weight=1)


def pool(
    affixes: Iterable[AffixFact],
    slot: str = "Gloves",
    bases: Sequence[BaseFact] = (LIGHT,),
    per_side: int = 3,
    total: int = 6,
) -> SlotPool:
    facts = {fact.id: fact for fact in affixes}
    names = frozenset(base.name for base in bases)
    by_name = {base.name: base for base in bases}
    return SlotPool(slot, by_name, facts, dict.fromkeys(facts, names), {}, 65, per_side, total)


def damage(share: float, **flat: float) -> Values:
    return Values(damage=share, flat=flat)


def problem(
    pools: Sequence[SlotPool],
    effects: Mapping[str, Values],
    least: Mapping[str, float] | None = None,
    now: Values | None = None,
) -> GearProblem:
    """Return the choice over plain items: `effects` by id of the option, or by slot and id ("Boots/x")."""
    worn = {p.slot: plain_item(p.slot, next(iter(p.bases.values())), 65) for p in pools}
    found = {o: effects.get(f"{o.slot}/{o.id}", effects.get(o.id, Values())) for p in pools for o in p.options()}
    values = OptionValues(now or Values(damage=5.0, life=5.0), found)
    return GearProblem(pools, worn, values, worn, values, OBJECTIVE, Minima(least or {}))


def chosen(asked: GearProblem, slot: str = "Gloves") -> dict[str, int]:
    found = choose(asked)
    assert found is not None
    return {option.id: count for option, count in found[slot].items()}


def test_sides_hold_so_many_and_groups_one() -> None:
    facts = [affix("PAIN", "hurt"), affix("ACHE", "hurt"), affix("BULK"), affix("EDGE"), affix("haste")]
    worth = {"PAIN": 0.3, "ACHE": 0.29, "BULK": 0.1, "EDGE": 0.2, "haste": 0.05}
    effects = {name: damage(share) for name, share in worth.items()}
    assert chosen(problem([pool(facts, per_side=2)], effects)) == {"Light Mitts": 1, "PAIN": 1, "EDGE": 1, "haste": 1}
    assert chosen(problem([pool(facts, per_side=2, total=2)], effects)) == {"Light Mitts": 1, "PAIN": 1, "EDGE": 1}


def test_what_helps_nothing_stays_off_the_item() -> None:
    assert chosen(problem([pool([affix("DULL"), affix("WEAK")])], {"WEAK": damage(1e-6)})) == {"Light Mitts": 1}


def test_what_is_worn_stays_between_near_equals() -> None:
    facts = [affix("haste"), affix("edge")]
    asked = problem([pool(facts, per_side=1)], {"haste": damage(0.10), "edge": damage(0.11)})
    item = asked.worn["Gloves"]
    wearing = replace(asked, worn={"Gloves": changed(item, rarity="RARE", suffixes=[AffixRoll(id="haste")])})
    assert chosen(wearing) == {"Light Mitts": 1, "edge": 1}
    assert chosen(replace(wearing, kept=0.02)) == {"Light Mitts": 1, "haste": 1}
    assert chosen(replace(wearing, kept=0.005)) == {"Light Mitts": 1, "edge": 1}


def test_minima_are_raised_only_where_they_are_known() -> None:
    assert Minima({"Str": 10.0, "Int": 50.0}).raised({"Str": 30.0, "Int": 20.0, "Dex": 9.0}) == Minima(
        {"Str": 30.0, "Int": 50.0}
    )


def test_a_demand_is_met_where_it_costs_least() -> None:
    facts = [affix("haste"), affix("ward")]
    pools = [pool(facts, slot, per_side=1) for slot in ("Boots", "Gloves")]
    effects = {"Boots/haste": damage(0.1), "Gloves/haste": damage(0.2), "ward": damage(0.0, FireResist=30.0)}
    asked = problem(pools, effects, {"FireResist": 30.0})
    assert chosen(asked, "Boots") == {"Light Mitts": 1, "ward": 1}
    assert chosen(asked, "Gloves") == {"Light Mitts": 1, "haste": 1}


def test_a_demand_beyond_reach_is_met_as_far_as_it_can_be() -> None:
    facts = [affix("haste"), affix("ward"), affix("veil")]
    effects = {
        "haste": damage(0.4),
        "ward": damage(0.0, FireResist=30.0),
        "veil": damage(0.0, FireResist=20.0),
    }
    found = chosen(problem([pool(facts, per_side=2)], effects, {"FireResist": 75.0}))
    assert found == {"Light Mitts": 1, "ward": 1, "veil": 1}


def test_affixes_that_exclude_each_other_cannot_both_be_required() -> None:
    both = pool([affix("PAIN", "hurt"), affix("ACHE", "hurt")])
    required = replace(both, required=frozenset({"PAIN", "ACHE"}))
    assert choose(problem([required], {})) is None


def test_what_is_required_is_there_although_it_does_nothing() -> None:
    plain = pool([affix("SPEED"), affix("PAIN")], per_side=1)
    required = replace(plain, required=frozenset({"SPEED"}))
    assert chosen(problem([required], {"PAIN": damage(0.5)})) == {"Light Mitts": 1, "SPEED": 1}


def test_an_affix_is_chosen_only_with_a_base_that_takes_it() -> None:
    plain = pool([affix("PAIN"), affix("EDGE")], bases=[HEAVY, LIGHT])
    hosts = {"PAIN": frozenset({"Heavy Mitts"}), "EDGE": frozenset({"Light Mitts"})}
    split = replace(plain, hosts=hosts)
    strong = Values(damage=5.0, life=5.0, flat={"Str": 60.0})
    asked = problem([split], {"PAIN": damage(0.3), "EDGE": damage(0.2)}, now=strong)
    assert chosen(asked) == {"Heavy Mitts": 1, "PAIN": 1}


@pytest.mark.parametrize(("gain", "expected"), [(0.5, {"Light Mitts": 1}), (0.9, {"Heavy Mitts": 1})])
def test_a_base_must_pay_for_the_attribute_it_lacks(gain: float, expected: dict[str, int]) -> None:
    bare = Values(damage=5.0, life=5.0, flat={"Str": 30.0})
    slots = pool([], bases=[HEAVY, LIGHT])
    assert 0.5 < 20 * ATTRIBUTE_PENALTY < 0.9
    assert chosen(problem([slots], {"Light Mitts": damage(-gain)}, now=bare)) == expected


def test_an_affix_can_pay_for_a_base() -> None:
    bare = Values(damage=5.0, life=5.0, flat={"Str": 30.0})
    slots = pool([affix("brawn"), affix("haste")], bases=[HEAVY, LIGHT], per_side=1)
    effects = {"Light Mitts": damage(-0.5), "brawn": damage(0.0, Str=20.0), "haste": damage(0.1)}
    assert chosen(problem([slots], effects, now=bare)) == {"Heavy Mitts": 1, "brawn": 1}


def test_runes_fill_the_sockets_of_the_base_and_no_more() -> None:
    body = BaseFact(name="Robe", type="Body Armour", slots=["Body Armour"], socket_limit=2)
    made = pool([], "Body Armour", [body])
    runes = {name: frozenset({"Robe"}) for name in ("Iron Rune", "Storm Rune")}
    asked = problem([replace(made, runes=runes)], {"Iron Rune": damage(0.1), "Storm Rune": damage(0.2)})
    assert chosen(asked, "Body Armour") == {"Robe": 1, "Storm Rune": 2}


def test_of_equals_one_is_chosen_and_always_the_same() -> None:
    names = ("ALPHA", "BETA", "GAMMA")
    effects = {name: damage(0.2) for name in names}
    orders = itertools.permutations(names)
    found = [chosen(problem([pool([affix(name) for name in order], per_side=1)], effects)) for order in orders]
    assert all(one == found[0] for one in found)
    assert len(found[0].keys() & set(names)) == 1


def test_chaos_resistance_is_had_for_a_little_and_up_to_its_floor() -> None:
    """A line of 12 % is worth a tenth, so it goes before one that gives less and not before one that gives more."""
    effects = {"chaos": damage(0.0, ChaosResist=12.0), "more": damage(0.0, ChaosResist=12.0)}

    def gloves(least: float, gain: float) -> set[str]:
        slots = pool([affix("chaos"), affix("more"), affix("hits")], per_side=2)
        found = chosen(problem([slots], effects | {"hits": damage(gain)}, {"ChaosResist": least}))
        return found.keys() - {"Light Mitts"}

    assert gloves(24.0, 0.05) == {"chaos", "more"}
    assert "hits" in gloves(24.0, 0.3)
    assert "hits" in gloves(12.0, 0.05)


def test_of_equal_slots_one_serves_and_always_the_same() -> None:
    pools = [pool([affix("ward")], slot) for slot in ("Boots", "Gloves")]
    asked = problem(pools, {"ward": damage(0.0, FireResist=30.0)}, {"FireResist": 30.0})
    found = [sorted(("Boots", "Gloves"), key=lambda slot: "ward" in chosen(asked, slot)) for _ in range(3)]
    assert all(one == found[0] for one in found)
    assert sum("ward" in chosen(asked, slot) for slot in ("Boots", "Gloves")) == 1


def worth_of(asked: GearProblem, options: Iterable[GearOption]) -> float:
    """Return what the choice is worth, straight from the definition: concave worth less the price of shortfalls."""
    picked = list(options)
    effects = [asked.worth.effect[option] for option in picked]
    start = [asked.worth.effect[o] for p in asked.pools for o in p.options() if has(asked.worn[p.slot], o)]
    total = asked.worth.now.damage + sum(e.damage for e in effects) - sum(e.damage for e in start)
    life = asked.worth.now.life + sum(e.life for e in effects) - sum(e.life for e in start)
    gained = sum(min(slope * x + offset for slope, offset in segments(WIDE)) for x in (total, life))
    have = {
        key: asked.plain.now.flat.get(key, 0.0) + sum(e.flat.get(key, 0.0) for e in effects)
        for key in asked.demands.least
    }
    return gained - sum(PENALTIES[key] * max(0.0, least - have[key]) for key, least in asked.demands.least.items())


@pytest.mark.parametrize("seed", range(12))
def test_no_legal_item_is_better(seed: int) -> None:
    dice = random.Random(seed)
    facts = [affix(name, f"group {dice.randrange(4)}") for name in ("A", "B", "C", "d", "e", "f")]
    slots = pool(facts, bases=[LIGHT], per_side=2, total=3)
    effects = {
        fact.id: Values(
            dice.uniform(0, 0.3), dice.uniform(0, 0.3), flat={"FireResist": float(dice.randrange(0, 30, 10))}
        )
        for fact in facts
    }
    asked = problem([slots], effects, {"FireResist": 20.0})
    options = [option for option in slots.options() if option.kind != "base"]
    legal = [
        picked
        for count in range(slots.total + 1)
        for picked in itertools.combinations(options, count)
        if all(sum(o.kind == side for o in picked) <= slots.per_side for side in ("prefix", "suffix"))
        and len({slots.affixes[o.id].group for o in picked}) == count
    ]
    best = max(worth_of(asked, picked) for picked in legal)
    found = choose(asked)
    assert found is not None
    assert worth_of(asked, [o for o in found["Gloves"] if o.kind != "base"]) == pytest.approx(best, rel=1e-3)


def test_native_output_goes_to_stderr_and_only_inside(capfd: pytest.CaptureFixture[str]) -> None:
    native = ctypes.CDLL(None)
    with stdout_to_stderr():
        native.puts(b"noise")
    native.puts(b"result")
    native.fflush(None)
    out, err = capfd.readouterr()
    assert (out, err) == ("result\n", "noise\n")


def test_standard_output_comes_back_after_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="broken"), stdout_to_stderr():
        raise ValueError("broken")
    ctypes.CDLL(None).puts(b"result")
    ctypes.CDLL(None).fflush(None)
    assert capfd.readouterr().out == "result\n"
