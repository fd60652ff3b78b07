"""The search on real Path of Building: a level 90 build with mid gear reaches the floors and keeps every rule."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.core.ids import BuildId
from app.engine.process import ProcessEngine
from app.model.constraints import InvariantSet
from app.model.demands import floors_for
from app.model.names import GearTier, Phase, SubProblemName, SubProblemStatus, Trigger
from app.model.record import BuildRequest
from app.model.state import BuildState
from app.model.sub_problems import (
    AscendancyChoice,
    Choice,
    Decision,
    DeliveryChoice,
    RequirementsChoice,
    ScalingChoice,
    SpiritChoice,
    SubProblem,
    SurvivabilityChoice,
    SustainChoice,
)
from app.phases.base import PhaseContext
from app.phases.construct.stages import ConstructPhase
from app.reasoning.rules import RulesReasoner
from app.search.sessions import Sharing

pytestmark = [pytest.mark.pob, pytest.mark.slow]
FLOORS = floors_for(90, GearTier.MID)


@pytest.fixture
async def engine(pob_path: Path) -> AsyncIterator[ProcessEngine]:
    made = ProcessEngine("pob", {"pob": str(pob_path)}, workers=3)
    await made.start()
    yield made
    await made.close()


def decided(*choices: Choice) -> BuildState:
    names = {choice.kind: SubProblemName(choice.kind) for choice in choices}
    subs = {
        names[choice.kind]: SubProblem(
            name=names[choice.kind],
            status=SubProblemStatus.DECIDED,
            decision=Decision(name=choice.kind, choice=choice, reason="given by the test"),
        )
        for choice in choices
    }
    return BuildState(phase=Phase.CONSTRUCT, sub_problems=subs)


async def constructed(engine: ProcessEngine, state: BuildState) -> tuple[BuildState, Trigger, bytes | None]:
    """Run construct to its end with the rules reasoner."""
    while True:
        ctx = PhaseContext(
            build_id=BuildId("b"),
            request=BuildRequest(prompt="a build"),
            invariants=InvariantSet(),
            state=state,
            engine=engine,
            reasoner=RulesReasoner(),
        )
        result = await ConstructPhase(Sharing(3)).run(ctx)
        state = result.state
        if result.trigger is not None:
            return state, result.trigger, result.xml


CASES: dict[str, tuple[AscendancyChoice, str, list[str], str | None, list[str], list[str]]] = {
    "caster": (
        AscendancyChoice(class_name="Sorceress", ascendancy="Stormweaver"),
        "Spark",
        ["Wand", "Staff"],
        "Focus",
        ["lightning", "spell", "critical"],
        ["energy_shield"],
    ),
    "melee": (
        AscendancyChoice(class_name="Warrior", ascendancy="Titan"),
        "Boneshatter",
        ["Two Hand Mace"],
        None,
        ["mace", "melee", "physical"],
        ["armour"],
    ),
}


@pytest.mark.parametrize("case", ["caster", pytest.param("melee", marks=pytest.mark.deep)])
async def test_a_build_reaches_the_floors_and_keeps_the_rules(engine: ProcessEngine, case: str) -> None:
    ascendancy, skill, weapons, off_hand, keywords, mitigation = CASES[case]
    gem = next(g for g in await engine.facts.gems() if g.name == skill and g.kind == "active")
    state = decided(
        ascendancy,
        DeliveryChoice(skill_id=gem.id, skill_name=skill, weapon_types=weapons, off_hand=off_hand),
        ScalingChoice(keywords=keywords),
        SurvivabilityChoice(mitigation=mitigation),
        SustainChoice(),
        SpiritChoice(),
        RequirementsChoice(),
    )
    built, trigger, xml = await constructed(engine, state)
    assert trigger is Trigger.CONSTRUCTED
    assert xml is not None
    stats, inspection = built.stats, built.inspection
    assert stats is not None
    assert inspection is not None
    assert (stats.dps or 0.0) >= FLOORS.dps.least
    assert stats.get("TotalEHP") >= FLOORS.ehp.least
    assert min(stats.get(f"{element}Resist") for element in ("Fire", "Cold", "Lightning")) >= 75
    assert [r for r in inspection.requirements if r.required > r.available] == []
    assert stats.get("SpiritUnreserved") >= 0
    assert (inspection.points["used"], inspection.points["ascendancy_used"]) == (113, 8)
    assert (inspection.idle_gems, inspection.dropped_nodes, inspection.disabled_reason) == ([], [], None)
    await _agrees_with_its_own_file(engine, xml, stats.values)


async def _agrees_with_its_own_file(engine: ProcessEngine, xml: bytes, values: dict[str, float]) -> None:
    async with engine.session() as session:
        await session.load(xml)
        again = await session.stats()
    for key in ("DPS", "TotalEHP", "Life", "FireResist"):
        assert again.get(key) == pytest.approx(values[key], rel=1e-3)
