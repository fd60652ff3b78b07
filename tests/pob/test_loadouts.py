"""Levelling loadouts on Path of Building: each loads in a fresh process without a fault and is what is told of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.config import Settings
from app.engine.process import ProcessEngine
from app.knowledge.gems import (
    can_be_cut,
    can_be_main,
    comes_as_gem,
    damage_types_of,
    is_spell,
    level_required,
    stands_alone,
)
from app.knowledge.weapons import weapon_words
from app.search.levels import LEVELS
from tests.loadouts import added, finished, passives, seen

pytestmark = [pytest.mark.pob, pytest.mark.timeout(900)]


async def test_the_way_of_a_young_warrior(fresh: ProcessEngine, pob_path: Path, tmp_path: Path) -> None:
    settings = Settings(engine="pob", engine_workers=1, data_dir=tmp_path, pob_path=pob_path)
    record = await finished(settings, "warrior with a two handed mace", 20)
    state, xml = await added(fresh, record)
    assert state.guide is not None
    told = state.guide.loadouts
    assert [one.title for one in told] == ["Levelling 12", "Final 20"]
    found = [await seen(fresh, xml, one) for one in told]
    assert [fault for one in found[:1] for fault in one.faults] == []
    assert [sorted(node.id for node in one.blueprint.nodes) for one in found] == [
        sorted(passives(one, state)) for one in found
    ]
    assert 0 < (told[0].dps or 0.0) < (told[1].dps or 0.0)
    async with fresh.session() as session:
        await session.load(xml)
        assert (await session.blueprint()).level == 20
        assert (await session.stats()).dps == state.stats.dps if state.stats else None


async def test_a_skill_that_a_passive_grants_is_used_from_that_passive_on(
    fresh: ProcessEngine, pob_path: Path, tmp_path: Path
) -> None:
    """A hellhound's loadouts had it from level 12 on, four of them without the passive that grants it."""
    settings = Settings(engine="pob", engine_workers=1, data_dir=tmp_path, pob_path=pob_path)
    record = await finished(settings, "hellhound witch", 40)
    state, xml = await added(fresh, record)
    assert state.guide is not None
    young, grown, _ = state.guide.loadouts
    assert (young.level, young.is_main_skill, young.caveats) == (12, False, [])
    assert "once Loyal Hellhound is there" in young.why
    assert (grown.level, grown.skill, grown.caveats) == (30, "Summon Infernal Hound", [])
    names = {node.id: node.name for node in await fresh.facts.nodes()}
    found = [await seen(fresh, xml, one) for one in (young, grown)]
    assert [fault for one in found for fault in one.faults] == []
    assert "Loyal Hellhound" in {names[node.id] for node in found[1].blueprint.nodes}
    assert "Summon Infernal Hound" not in {step.name for step in state.guide.gems}, "no gem of it is cut"


@pytest.mark.parametrize(
    ("prompt", "level", "damage", "levels"),
    [
        ("mercenary with Explosive Shot, fire", 71, "fire", {30, 50, 70, 71}),
        ("cold sorceress with Comet", 42, "cold", {30, 42}),
    ],
)
async def test_a_build_deals_what_was_asked_on_its_way(
    fresh: ProcessEngine, pob_path: Path, tmp_path: Path, prompt: str, level: int, damage: str, levels: set[int]
) -> None:
    """Who asked for fire was given Plasma Blast at level 70, who asked for cold Essence Drain before Comet.

    At level 12 a crossbow's only fire deals a twentieth of what its bolts do.
    """
    settings = Settings(engine="pob", engine_workers=1, data_dir=tmp_path, pob_path=pob_path)
    record = await finished(settings, prompt, level)
    state, _ = await added(fresh, record)
    assert state.guide is not None
    facts = {fact.name: fact for fact in await fresh.facts.gems() if fact.kind == "active"}
    dealing = {one.level for one in state.guide.loadouts if damage in damage_types_of(facts[one.skill])}
    assert dealing >= levels, [(one.level, one.skill) for one in state.guide.loadouts]
    others = [one.why for one in state.guide.loadouts if one.level not in dealing]
    assert all(f"no {damage} skill" in why for why in others), "what was asked for and is not there is told"


async def test_what_only_an_item_grants_cannot_be_cut(fresh: ProcessEngine) -> None:
    """Found on the way of a lightning sorceress: "His Scattering Calamity" at level 30, which no gem is cut to."""
    gems = {gem.name: gem for gem in await fresh.facts.gems() if gem.kind == "active"}
    assert not [name for name, gem in gems.items() if name.startswith("His ") and can_be_cut(gem)]
    assert all(can_be_cut(gems[name]) for name in ("Spark", "Arc", "Ball Lightning", "Raging Spirits", "Enfeeble"))
    assert all(gem.colour is not None for gem in gems.values() if can_be_cut(gem))
    bound = gems["Summon Spectre"]
    assert (can_be_cut(bound), comes_as_gem(bound)) == (False, True), "a monster is bound into it"
    assert not comes_as_gem(gems["Summon Infernal Hound"])


async def test_what_waits_for_something_else_is_not_levelled_with(fresh: ProcessEngine) -> None:
    """Found on a lightning sorceress's way from level 50 on: Lightning Warp, which strikes only who nearly dies."""
    gems = {gem.name: gem for gem in await fresh.facts.gems() if gem.kind == "active"}
    waiting = (
        "Lightning Warp",
        "Detonate Dead",
        "Devour",
        "Tempest Bell",
        "Frost Wall",
        "Raise Zombie",
        "Snap",
        "Rapid Shot",
    )
    assert not [name for name in waiting if stands_alone(gems[name])]
    assert all(stands_alone(gems[name]) for name in ("Spark", "Arc", "Ball Lightning", "Boneshatter", "Twister"))
    young = [
        gem for gem in gems.values() if stands_alone(gem) and can_be_main(gem) and level_required(gem) <= LEVELS[0]
    ]
    assert sum(is_spell(gem) for gem in young) >= 3
    for weapon in ("Bow", "Crossbow", "Quarterstaff", "Spear", "Two Hand Mace"):
        assert sum(weapon in weapon_words(gem) for gem in young if can_be_cut(gem)) >= 2, weapon
