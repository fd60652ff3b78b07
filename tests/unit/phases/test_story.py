"""What is told of a finished build is in its file."""

from __future__ import annotations

from typing import Any

import pytest

from app.model.base import changed
from app.model.blueprint import GearItem, Gem, SkillGroup
from app.model.constraints import Invariant, InvariantSet
from app.model.experiments import Spending
from app.model.facts import BaseFact, GemFact
from app.model.names import Effort, Provenance
from app.model.names import SubProblemName as Q
from app.model.state import BuildState
from app.model.stats import DPS
from app.model.sub_problems import (
    AscendancyChoice,
    Choice,
    Decision,
    DeliveryChoice,
    Option,
    ScalingChoice,
    SpiritChoice,
    SubProblem,
    SurvivabilityChoice,
    SustainChoice,
)
from app.model.wishes import WishOutcome, WishState
from app.phases.validate.story import as_built, with_story
from tests.unit.conflicts.conftest import make_case

SPARK = GemFact(id="spark", name="Spark", kind="active")
FLUX = GemFact(id="flux", name="Elemental Conflux", kind="active", spirit=60)
FEAST = GemFact(id="feast", name="Grim Feast", kind="active", spirit=30)
GEMS = {gem.id: gem for gem in (SPARK, FLUX, FEAST)}
GROUPS = [SkillGroup(gems=[Gem(gem_id=g.id, name=g.name)]) for g in (SPARK, FLUX)]


def option(name: str, choice: Choice) -> Option:
    return Option(name=name, choice=choice, rejected_because="less")


def told(
    name: Q,
    choice: Choice,
    *others: Option,
    effort: Effort = Effort.NORMAL,
    plan: str = "the plan",
    why: str = "It was the plan.",
    **build: Any,
) -> Decision:
    decision = Decision(name=plan, choice=choice, reason=why, alternatives=list(others))
    sub = changed(SubProblem(name=name).explore(), decision=decision)
    case = make_case(gems=GEMS, **{"blueprint": {"groups": GROUPS}, **build})
    found = with_story(BuildState(sub_problems={name: sub}), case, effort).sub_problems[name].decision
    assert found is not None
    assert found.built is not None
    return found


def test_what_changes_a_part_of_the_file_stays_among_what_was_not_chosen() -> None:
    names = ["one more of rune sockets: Iron Rune", "other passives for more damage: Pure Power instead of Melding"]
    pool = SurvivabilityChoice(pool="life")
    found = told(Q.SURVIVABILITY, pool, option("life", pool), *(option(name, pool) for name in names))
    assert [one.name for one in found.alternatives] == names


def test_spirit_is_what_reserves_it_and_nothing_of_it_was_not_chosen() -> None:
    found = told(
        Q.SPIRIT_ALLOCATION,
        SpiritChoice(skill_ids=["feast"]),
        option("Elemental Conflux", SpiritChoice(skill_ids=["flux"])),
        option("nothing", SpiritChoice()),
        values={"Spirit": 100.0, "SpiritUnreserved": 40.0},
    )
    assert found.built is not None
    assert found.built.name == "Elemental Conflux"
    assert found.built.reason == (
        "60 of 100 Spirit are reserved. Grim Feast was decided on; what is reserved measured better."
    )
    assert [one.name for one in found.alternatives] == ["nothing"]


def test_a_draft_that_tries_no_spirit_skills_does_not_say_that_it_measured_them() -> None:
    values = {"Spirit": 100.0, "SpiritUnreserved": 40.0}
    found = told(Q.SPIRIT_ALLOCATION, SpiritChoice(skill_ids=["feast"]), effort=Effort.QUICK, values=values)
    assert found.built is not None
    assert found.built.reason == "60 of 100 Spirit are reserved. Grim Feast was decided on; quick effort tries none."


def test_figures_of_resources_are_the_files() -> None:
    found = told(
        Q.RESOURCE_SUSTAIN,
        SustainChoice(recovery_per_second=118.0),
        option("mana, 118 per second, cheaper supports", SustainChoice(prefer_cheaper_supports=True)),
        option("life", SustainChoice(resource="life")),
        values={"ManaPerSecondCost": 499.0, "ManaRegenRecovery": 120.0},
    )
    assert found.built is not None
    assert found.built.reason == "Measured: 499 mana per second are used, 120 recovered."
    assert [one.name for one in found.alternatives] == ["life"]


def test_the_skill_and_what_is_held_are_the_files() -> None:
    wand = BaseFact(name="Attuned Wand", type="Wand")
    choice = DeliveryChoice(skill_id="spark", skill_name="Spark", weapon_types=["Wand"])
    other = option("Grim Feast with wand", DeliveryChoice(skill_id="flux", skill_name="Elemental Conflux"))
    items = [GearItem(slot="Weapon 1", base="Attuned Wand")]
    found = told(Q.DAMAGE_DELIVERY, choice, other, items=items, bases=[wand])
    assert found.built is not None
    assert found.built.name == "Spark with Attuned Wand"
    assert found.built.reason == "It was the plan. Measured: 50,000 damage per second."
    assert found.alternatives == []
    unlike = told(Q.DAMAGE_DELIVERY, changed(choice, weapon_types=["Staff"]), items=items, bases=[wand])
    assert unlike.built is not None
    assert "staff was decided on" in unlike.built.reason
    another = told(Q.DAMAGE_DELIVERY, changed(choice, skill_name="Comet"))
    assert another.built is not None
    assert another.built.reason.startswith("Comet was decided on, the file has Spark.")


def test_a_reason_for_a_damage_type_that_the_build_does_not_deal_says_so() -> None:
    choice = DeliveryChoice(skill_id="spark", skill_name="Spark")
    values = {"TotalDPS": 50_000.0, "LightningHitAverage": 900.0, "ChaosHitAverage": 20.0}
    for kind, words in (("lightning", ""), ("chaos", " The finished build deals hardly any chaos damage.")):
        reason = f"Spark is a {kind} skill."
        found = told(Q.DAMAGE_DELIVERY, choice, why=reason, values=values)
        assert found.built is not None
        assert found.built.reason == f"{reason}{words} Measured: 50,000 damage per second."


@pytest.mark.parametrize(
    ("planned", "values", "name"),
    [
        ("life", {"Life": 2000.0, "EnergyShield": 0.0}, "life"),
        ("hybrid", {"Life": 1.0, "EnergyShield": 9000.0}, "energy shield"),
    ],
)
def test_the_pool_is_the_files(planned: str, values: dict[str, float], name: str) -> None:
    choice = SurvivabilityChoice.model_validate({"pool": planned})
    other = option("energy shield", SurvivabilityChoice(pool="energy_shield"))
    found = told(Q.SURVIVABILITY, choice, other, values=values)
    assert found.built is not None
    assert found.built.name == name
    assert ("was decided on" in found.built.reason) is (planned != name)
    assert [one.name for one in found.alternatives] == (["energy shield"] if name == "life" else [])


def test_the_ascendancy_is_the_files() -> None:
    same = AscendancyChoice(class_name="Sorceress", ascendancy="Stormweaver")
    found = told(Q.ASCENDANCY, changed(same, ascendancy="Chronomancer"), option("Stormweaver", same))
    assert found.built is not None
    assert (found.built.name, found.alternatives) == ("Stormweaver", [])
    assert found.built.reason == "Chronomancer was decided on, the file has this."


def test_an_unmet_wish_says_what_the_next_step_would_give() -> None:
    row = Spending(budget="passive_points", spent=9, metric=DPS, marginal=0.004, next_best="Raw Power")
    decision = Decision(name="x", choice=SpiritChoice(), reason="", spending=[row])
    sub = changed(SubProblem(name=Q.SPIRIT_ALLOCATION).explore(), decision=decision)
    wish = WishOutcome(
        wish="at least 9 dps", words="", kind="dps", target=9.0, reached=1.0, state=WishState.UNMET, nearest="1"
    )
    met = changed(wish, state=WishState.MET)
    state = BuildState(sub_problems={Q.SPIRIT_ALLOCATION: sub}, wishes=[wish, met])
    priced, same = with_story(state, make_case(gems=GEMS), Effort.NORMAL).wishes
    assert priced.nearest == "1; one more of passive points (Raw Power) gives +0.4%, measured"
    assert same == met


@pytest.mark.parametrize(
    ("values", "name", "reason"),
    [
        (
            {"ChaosHitAverage": 70.0, "FireHitAverage": 30.0, "TotalDPS": 100.0, "CritChance": 0.0},
            "chaos and fire damage",
            "Measured: 70% chaos and 30% fire.",
        ),
        (
            {"ColdHitAverage": 70.0, "TotalDPS": 100.0, "CritChance": 50.0, "CritMultiplier": 3.0},
            "cold damage and critical hits",
            "Measured: 100% cold; 50 % critical hits of 3.00 times the damage.",
        ),
        (
            {"ChaosDot": 900.0, "TotalDot": 900.0, "CritChance": 5.0, "CritMultiplier": 2.0},
            "chaos damage",
            "Measured: 100% chaos; 5 % critical hits of 2.00 times the damage.",
        ),
        (
            {"TotalDPS": 100.0, "CritChance": 5.0, "CritMultiplier": 2.0},
            "fire damage",
            "Measured: 5 % critical hits of 2.00 times the damage.",
        ),
        ({}, "fire damage", "The engine does not split the damage."),
    ],
)
def test_the_damage_is_what_the_file_deals(values: dict[str, float], name: str, reason: str) -> None:
    plan = "fire damage and critical hits, weighed higher"
    found = told(Q.DAMAGE_SCALING, ScalingChoice(damage_types=["fire"]), values=values, plan=plan)
    assert found.built is not None
    assert (found.built.name, found.built.reason) == (name, reason)


@pytest.mark.parametrize(
    ("value", "provenance", "tags", "built"),
    [
        ("fire", Provenance.DEFAULT, ["Cold"], "cold"),
        ("fire", Provenance.DEFAULT, ["Cold", "Lightning"], ["lightning", "cold"]),
        ("cold", Provenance.DEFAULT, ["Cold", "Lightning"], "cold"),
        ("fire", Provenance.DEFAULT, [], "fire"),
        ("fire", Provenance.EXPLICIT, ["Cold"], "fire"),
        ("fire", Provenance.INFERRED, ["Cold"], "fire"),
    ],
)
def test_a_damage_type_that_nobody_named_is_what_the_file_deals(
    value: str, provenance: Provenance, tags: list[str], built: str | list[str]
) -> None:
    known = InvariantSet(invariants=[Invariant(field="damage_type", value=value, provenance=provenance, reason="why")])
    case = make_case(gems={"spark": changed(SPARK, tags=tags)}, blueprint={"groups": GROUPS})
    found = as_built(known, case)
    assert found.get("damage_type") == built
    assert found.invariants[0].provenance is provenance
    assert found.invariants[0].reason == ("why" if built == value else "Spark deals it")


def test_the_damage_type_that_is_told_is_the_measured_one_in_what_is_assumed_too() -> None:
    assumed = Invariant(field="damage_type", value="fire", provenance=Provenance.DEFAULT, reason="why")
    known = InvariantSet(invariants=[assumed], assumptions=[assumed.assumption, "Another."])
    values: dict[str, float | None] = {
        "PhysicalHitAverage": 60.0,
        "ChaosHitAverage": 30.0,
        "FireHitAverage": 10.0,
        "TotalDPS": 100.0,
    }
    gems = {"spark": changed(SPARK, tags=["Fire"])}
    found = as_built(known, make_case(gems=gems, blueprint={"groups": GROUPS}, values=values))
    assert found.get("damage_type") == ["physical", "chaos"]
    assert found.assumptions == ["Damage type: physical, chaos (Spark deals it).", "Another."]


def test_without_a_damage_type_or_a_main_skill_nothing_is_told_of_it() -> None:
    known = InvariantSet(
        invariants=[Invariant(field="damage_type", value="fire", provenance=Provenance.DEFAULT, reason="why")]
    )
    assert as_built(InvariantSet(), make_case(gems=GEMS)) == InvariantSet()
    assert as_built(known, make_case(gems={})) == known
