"""What every finished build must be, whoever decided: each fault is seen, and a good build has none."""

from __future__ import annotations

from typing import Any

import pytest

from app.model.base import changed
from app.model.blueprint import Blueprint
from app.model.conflicts import BuildConflict
from app.model.names import ConflictType, Severity, SubProblemStatus
from app.model.names import SubProblemName as Q
from app.model.record import BuildRecord
from app.model.stats import Stats
from app.model.sub_problems import AscendancyChoice, Built, Decision, DeliveryChoice, SpiritChoice, SubProblem
from app.model.wishes import WishOutcome, WishState
from app.service.evaluations import demands_on, objective_of, soundness
from app.service.view import view_of
from tests.fakes.samples import ENGINE, a_complete_record

XML = b"""<PathOfBuilding2><Build level="90" className="Sorceress" ascendClassName="Stormweaver"/><Skills>
<Skill><Gem nameSpec="Spark" gemId="spark" enabled="true"/></Skill>
<Skill><Gem nameSpec="Archmage" gemId="archmage" enabled="true"/></Skill>
<Skill><Gem nameSpec="Arc" gemId="arc" enabled="false"/></Skill></Skills></PathOfBuilding2>"""
FIGURES = {"TotalEHP": 20_000.0, "Life": 1500.0, "ManaUnreserved": 500.0, "ManaCost": 30.0}
SPIRIT = SpiritChoice(skill_ids=["archmage"], reserve_free=0)


def record(reason: str = "The model: It deals 50,000 damage per second.", **more: Any) -> BuildRecord:
    """Return a good build, apart from what is given."""
    base = a_complete_record()
    plain = Decision(name="Archmage", choice=SPIRIT, reason="fits")
    spirit = SubProblem(name=Q.SPIRIT_ALLOCATION, status=SubProblemStatus.DECIDED, decision=plain)
    subs = {**base.state.sub_problems, Q.SPIRIT_ALLOCATION: spirit}
    told = {
        Q.DAMAGE_DELIVERY: (
            "Spark with wand",
            "Measured: 50,000.",
            DeliveryChoice(skill_id="spark", skill_name="Spark"),
        ),
        Q.ASCENDANCY: ("Stormweaver", "fits", AscendancyChoice(class_name="Sorceress", ascendancy="Stormweaver")),
        Q.SPIRIT_ALLOCATION: ("Archmage", "100 of 100 Spirit are reserved.", SPIRIT),
        **more.pop("told", {}),
    }
    for name, sub in subs.items():
        assert sub.decision is not None
        built, why, choice = told.get(name, ("x", "y", sub.decision.choice))
        decision = changed(sub.decision, reason=reason, built=Built(name=built, reason=why))
        subs[name] = changed(sub, decision=decision.model_copy(update={"choice": choice}))
    values = FIGURES | more.pop("values", {}) | {"CombinedDPS": more.pop("dps", 50_000.0)}
    stats = Stats(engine=ENGINE, values=values)
    state = base.state.model_copy(update={"sub_problems": subs, "stats": stats, **more})
    return base.model_copy(update={"state": state})


def faults(found: BuildRecord, xml: bytes = XML) -> dict[str, str]:
    checks = soundness(view_of(found), found.state, xml)
    assert [one.name for one in checks] == ["castable", "wishes met", "plan is the build", "no unfounded claim"]
    return {one.name: one.reason for one in checks if not one.passed}


def test_a_good_build_has_no_fault() -> None:
    assert faults(record()) == {}


def test_what_only_a_levelling_loadout_has_is_not_in_the_build() -> None:
    skills = XML.partition(b"<Skills>")[2].partition(b"</Skills>")[0]
    own = b'<SkillSet id="1">' + skills.replace(b"Spark", b"Comet").replace(b'"spark"', b'"comet"') + b"</SkillSet>"
    way = b'<SkillSet id="2" title="Levelling 30">' + skills + b"</SkillSet>"
    for chosen, first in ((b"1", own + way), (b"1", way.replace(b'"2"', b'"3"') + own)):
        xml = XML.replace(b"<Skills>", b'<Skills activeSkillSet="' + chosen + b'">').replace(skills, first)
        assert "Spark is told and not in the file" in faults(record(), xml)["plan is the build"]
    xml = XML.replace(b"<Skills>", b'<Skills activeSkillSet="2">').replace(skills, own + way)
    assert faults(record(), xml) == {}


def wish(state: WishState) -> WishOutcome:
    return WishOutcome(wish="at least 90,000 hit points", words="90k", kind="ehp", target=9e4, reached=2e4, state=state)


def conflict(severity: Severity) -> BuildConflict:
    return BuildConflict(
        id="stat_requirement:x",
        type=ConflictType.STAT_REQUIREMENT,
        severity=severity,
        affected=[],
        message="Too few Int.",
    )


@pytest.mark.parametrize(
    ("more", "check", "words"),
    [
        ({"dps": 0.0, "reason": "It fits."}, "castable", "it deals no damage"),
        ({"values": {"ManaCost": 600.0}}, "castable", "one use costs more mana than there is"),
        ({"conflicts": [conflict(Severity.BLOCKING)]}, "castable", "Too few Int."),
        ({"wishes": [wish(WishState.UNMET)]}, "wishes met", "at least 90,000 hit points"),
        ({"reason": "The model: It deals 70,000 damage per second."}, "no unfounded claim", "It deals 70,000"),
        ({"reason": "The model: Verified by experts."}, "no unfounded claim", "Verified by experts."),
        ({"assumptions": ["The model: It doubles."]}, "no unfounded claim", "It doubles."),
    ],
)
def test_each_fault_is_seen(more: dict[str, Any], check: str, words: str) -> None:
    found = faults(record(**more))
    assert list(found) == [check]
    assert words in found[check]


@pytest.mark.parametrize(
    ("question", "built", "reason", "choice", "words"),
    [
        (
            Q.DAMAGE_DELIVERY,
            "Comet with wand",
            "",
            DeliveryChoice(skill_id="c", skill_name="Comet"),
            "Comet is told and not",
        ),
        (Q.DAMAGE_DELIVERY, "Arc with wand", "", DeliveryChoice(skill_id="a", skill_name="Arc"), "Arc is told and not"),
        (
            Q.DAMAGE_DELIVERY,
            "Spark",
            "",
            DeliveryChoice(skill_id="a", skill_name="Arc"),
            "Arc was decided on, Spark was",
        ),
        (Q.ASCENDANCY, "Lich", "", AscendancyChoice(class_name="Witch", ascendancy="Lich"), "Lich is told and not"),
        (Q.SPIRIT_ALLOCATION, "nothing", "", SpiritChoice(skill_ids=["ghost"]), "1 Spirit skills were decided on"),
    ],
)
def test_a_plan_that_is_not_the_build_is_seen(question: Q, built: str, reason: str, choice: Any, words: str) -> None:
    found = faults(record(told={question: (built, reason, choice)}))
    assert list(found) == ["plan is the build"]
    assert words in found["plan is the build"]


def test_a_change_of_plan_that_is_told_is_none() -> None:
    told = (
        "Spark with wand",
        "Arc was decided on, the file has Spark.",
        DeliveryChoice(skill_id="a", skill_name="Arc"),
    )
    assert faults(record(told={Q.DAMAGE_DELIVERY: told})) == {}
    spirit = ("nothing", "Ghost Dance was decided on; what is reserved measured better.", SpiritChoice(skill_ids=["g"]))
    assert faults(record(told={Q.SPIRIT_ALLOCATION: spirit})) == {}


def test_a_met_wish_and_one_without_effect_are_no_fault() -> None:
    assert faults(record(wishes=[wish(WishState.MET), wish(WishState.NO_EFFECT)])) == {}


def test_a_gem_is_there_under_either_folder() -> None:
    spirit = ("Archmage", "", SpiritChoice(skill_ids=["Metadata/Items/Gems/archmage"]))
    assert faults(record(told={Q.SPIRIT_ALLOCATION: spirit})) == {}


def test_a_mana_flask_pays_for_what_is_used() -> None:
    costly = view_of(record())
    assert costly.stats is not None
    values = {**costly.stats.values, "ManaUnreserved": 500.0, "ManaPerSecondCost": 200.0, "ManaRegenRecovery": 50.0}
    costly = changed(costly, stats=changed(costly.stats, values=values))
    dry, drinking = (objective_of(changed(costly, flask_mana=mana), demands_on(costly)) for mana in (0.0, 5000.0))
    assert dry is not None
    assert drinking is not None
    assert drinking > dry + 0.5


def test_builds_are_held_against_the_same_demands() -> None:
    good, better = view_of(record()), view_of(record(dps=60_000.0))
    demands = demands_on(good)
    assert (demands.level, demands.hardcore) == (90, False)
    one, other = objective_of(good, demands), objective_of(better, demands)
    assert one is not None
    assert other is not None
    assert other > one
    none = record().model_copy(
        update={"state": changed(record().state, stats=None, blueprint=Blueprint(class_name="x", level=1))}
    )
    assert objective_of(view_of(none), demands) is None
