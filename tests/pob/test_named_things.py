"""On real Path of Building: what was named is in a small build, and the build obeys the engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.conflicts.case import case_of
from app.conflicts.items import uniques_within_reach
from app.engine.process import ProcessEngine
from app.knowledge.named import names_in
from app.knowledge.words import phrase
from app.model.blueprint import JEWEL_SLOT, Blueprint
from app.model.constraints import Invariant, InvariantSet
from app.model.demands import demands_of
from app.model.names import GearTier, Provenance, Severity
from app.model.record import BuildRequest
from app.model.state import BuildState
from app.search.gear.legality import shopping_list
from app.search.skills.further import uncalled
from tests.fakes.construction import constructed

pytestmark = [pytest.mark.pob, pytest.mark.slow, pytest.mark.deep]


@pytest.fixture
async def engine(pob_path: Path) -> AsyncIterator[ProcessEngine]:
    made = ProcessEngine("pob", {"pob": str(pob_path)}, workers=1)
    await made.start()
    yield made
    await made.close()


async def built(
    engine: ProcessEngine, prompt: str, level: int = 24, **fields: list[str]
) -> tuple[BuildState, Blueprint, set[str]]:
    """Return the constructed build, and every name in it."""
    state = await constructed(engine, prompt, level, **fields)
    assert state.blueprint is not None
    return state, state.blueprint, names_in(state.blueprint, await engine.facts.nodes())


async def test_keystone_support_herald_curse_second_skill_and_unique(engine: ProcessEngine) -> None:
    wished = ["Chaos Inoculation", "Chain I", "Grim Feast", "Enfeeble", "Frost Bomb", "Wanderlust"]
    state, _, names = await built(engine, "spark sorceress with energy shield", with_=wished)
    assert {phrase(name) for name in wished} <= names
    assert state.stats is not None
    assert state.stats.get("Life") == 1
    assert state.stats.get("EnergyShield") > 0
    assert state.stats.get("SpiritUnreserved") >= 0


async def test_without_skeletons_flasks_and_spirit_gems(engine: ProcessEngine) -> None:
    excluded = ["skeletons", "flasks", "spirit gems"]
    _, blueprint, names = await built(engine, "spark sorceress", exclude=excluded)
    assert not any(name.startswith("skeletal") for name in names)
    assert not any(slot.startswith("Flask") for slot in blueprint.items)
    gems = {gem.id: gem for gem in await engine.facts.gems()}
    assert not any(gems[gem.gem_id].spirit for group in blueprint.groups for gem in group.gems)


async def test_a_unique_jewel_sits_in_a_socket_that_is_reached_for_it(engine: ProcessEngine) -> None:
    """With the line for the skill that is played; a jewel that is not calculated is left out."""
    _, blueprint, names = await built(engine, "spark sorceress", with_=["Prism of Belief", "Undying Hate"])
    [(slot, jewel)] = [(s, item) for s, item in blueprint.items.items() if item.title == "Prism of Belief"]
    assert int(slot.removeprefix(JEWEL_SLOT)) in {node.id for node in blueprint.nodes}
    assert "to Level of all Spark Skills" in (jewel.text or "")
    assert phrase("Undying Hate") not in names


async def test_a_skill_that_a_passive_grants_is_had_by_the_passive(engine: ProcessEngine) -> None:
    _, blueprint, names = await built(engine, "incinerate infernalist", 28, with_=["Summon Infernal Hound"])
    assert "loyal hellhound" in names
    assert "Summon Infernal Hound" not in {gem.name for group in blueprint.groups for gem in group.gems}


async def test_minions_that_fire_spells_call_have_one(engine: ProcessEngine) -> None:
    _, blueprint, _ = await built(engine, "raging spirits witch")
    assert blueprint.main is not None
    assert blueprint.main.gems[0].name == "Raging Spirits"
    facts = {gem.id: gem for gem in await engine.facts.gems()}
    assert uncalled(blueprint, facts) == []


async def test_a_chase_unique_that_was_named_is_worn_and_told(engine: ProcessEngine) -> None:
    state, blueprint, _ = await built(engine, "spark sorceress", with_=["Astramentis"])
    [listed] = [one for one in await shopping_list(engine.facts, blueprint) if one["title"] == "Astramentis"]
    assert listed["slot"] == "Amulet"
    assert listed["origin"].words == "chase: hardly anybody finds one"
    asked = Invariant(field="with", value=["Astramentis"], provenance=Provenance.EXPLICIT, reason="said")
    invariants = InvariantSet(invariants=[asked])
    request = BuildRequest(prompt="spark sorceress", level=24, gear=GearTier.MID)
    case = await case_of(engine, demands_of(invariants, request), invariants, state)
    [told] = uniques_within_reach(case)
    assert told.severity is Severity.WARNING
    assert "chase: hardly anybody finds one" in told.message
