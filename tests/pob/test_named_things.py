"""On real Path of Building: what was named is in a small build, and the build obeys the engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.core.ids import BuildId
from app.engine.process import ProcessEngine
from app.model.base import changed
from app.model.constraints import Invariant, InvariantSet
from app.model.names import GearTier, Phase, Provenance
from app.model.record import BuildRequest
from app.model.state import BuildState
from app.phases.base import PhaseContext
from app.phases.construct.stages import ConstructPhase
from app.reasoning.rules import RulesReasoner
from tests.unit.reasoning.planning import plan_with

pytestmark = [pytest.mark.pob, pytest.mark.slow, pytest.mark.deep]
LEVEL = 24


@pytest.fixture
async def engine(pob_path: Path) -> AsyncIterator[ProcessEngine]:
    made = ProcessEngine("pob", {"pob": str(pob_path)}, workers=1)
    await made.start()
    yield made
    await made.close()


async def built(engine: ProcessEngine, prompt: str, **fields: list[str]) -> tuple[BuildState, set[str]]:
    """Return the constructed build of a prompt with further explicit wishes, and every name in it."""
    request = BuildRequest(prompt=prompt, level=LEVEL, gear=GearTier.MID)
    said = [
        Invariant(field=name.rstrip("_"), value=value, provenance=Provenance.EXPLICIT, reason="said")
        for name, value in fields.items()
    ]
    found = await RulesReasoner().extract(request, engine)
    others = [one for one in found.invariants if one.field not in {i.field for i in said}]
    invariants: InvariantSet = changed(found, invariants=[*others, *said])
    planned = await plan_with(request, engine, invariants)
    state = changed(planned.state, phase=Phase.CONSTRUCT)
    while True:
        ctx = PhaseContext(
            build_id=BuildId("b"),
            request=request,
            invariants=invariants,
            state=state,
            engine=engine,
            reasoner=RulesReasoner(),
        )
        result = await ConstructPhase(sessions=1).run(ctx)
        state = result.state
        if result.trigger is not None:
            break
    assert state.blueprint is not None
    nodes = {node.id: node.name for node in await engine.facts.nodes()}
    names = {nodes[node.id] for node in state.blueprint.nodes}
    names |= {gem.name for group in state.blueprint.groups for gem in group.gems}
    return state, names | {item.title or item.base for item in state.blueprint.items.values()}


async def test_keystone_support_herald_curse_second_skill_and_unique(engine: ProcessEngine) -> None:
    wished = ["Chaos Inoculation", "Chain I", "Grim Feast", "Enfeeble", "Frost Bomb", "Wanderlust"]
    state, names = await built(engine, "spark sorceress with energy shield", with_=wished)
    assert set(wished) <= names
    assert state.stats is not None
    assert state.stats.get("Life") == 1
    assert state.stats.get("EnergyShield") > 0
    assert state.stats.get("SpiritUnreserved") >= 0


async def test_without_skeletons_flasks_and_spirit_gems(engine: ProcessEngine) -> None:
    excluded = ["skeletons", "flasks", "spirit gems"]
    state, names = await built(engine, "spark sorceress", exclude=excluded)
    assert not any(name.startswith("Skeletal") for name in names)
    assert state.blueprint is not None
    assert not any(slot.startswith("Flask") for slot in state.blueprint.items)
    gems = {gem.id: gem for gem in await engine.facts.gems()}
    assert not any(gems[gem.gem_id].spirit for group in state.blueprint.groups for gem in group.gems)
