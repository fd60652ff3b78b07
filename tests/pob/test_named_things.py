"""On real Path of Building: what was named is in a small build, and the build obeys the engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.engine.process import ProcessEngine
from app.knowledge.named import names_in
from app.knowledge.words import phrase
from app.model.blueprint import JEWEL_SLOT, Blueprint
from app.model.state import BuildState
from tests.fakes.construction import constructed

pytestmark = [pytest.mark.pob, pytest.mark.slow, pytest.mark.deep]


@pytest.fixture
async def engine(pob_path: Path) -> AsyncIterator[ProcessEngine]:
    made = ProcessEngine("pob", {"pob": str(pob_path)}, workers=1)
    await made.start()
    yield made
    await made.close()


async def built(engine: ProcessEngine, prompt: str, **fields: list[str]) -> tuple[BuildState, Blueprint, set[str]]:
    """Return the constructed build, and every name in it."""
    state = await constructed(engine, prompt, **fields)
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
