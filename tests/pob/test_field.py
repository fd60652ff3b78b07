"""Who starts in a race on Path of Building: what people play, holding what was asked for and what is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.bench.explore import offers
from app.core.config import Settings
from app.engine.process import ProcessEngine
from app.knowledge.catalogue import Catalogue
from app.model.blueprint import MAIN_HAND, OFF_HAND
from app.model.names import ConflictType, Effort
from app.model.record import BuildRequest
from app.model.state import BuildState
from app.model.sub_problems import DeliveryChoice
from app.model.wishes import WishState
from app.reasoning.prompt.extract import extract_from
from app.wiring import open_services

pytestmark = [pytest.mark.pob, pytest.mark.slow, pytest.mark.timeout(900)]


async def test_what_waits_for_something_is_built_only_by_name(fresh: ProcessEngine) -> None:
    """Found on a Titan for bossing: Hammer of the Gods, 168,684 damage per second as if Glory were always full."""
    free = await offers(fresh, BuildRequest(prompt="titan with maces for bossing", level=90))
    witch = await offers(fresh, BuildRequest(prompt="witch", level=90))
    mercenary = await offers(fresh, BuildRequest(prompt="mercenary with crossbow", level=90))
    assert not [option.name for option in mercenary if option.name.startswith("Rapid Shot")]
    warrior, caster = ({option.name.partition(" with ")[0] for option in some} for some in (free, witch))
    assert {"Boneshatter", "Sunder"} <= warrior
    assert "Hammer of the Gods" not in warrior
    assert caster
    assert not {"Detonate Dead", "Raise Zombie"} & caster


async def test_what_charges_up_clears_no_maps_unless_players_build_on_it(fresh: ProcessEngine) -> None:
    """Found on "lightning sorceress for mapping": Plasma Blast, one shot in two to three seconds, 92,000 damage."""

    async def field(prompt: str) -> set[str]:
        offered = await offers(fresh, BuildRequest(prompt=prompt, level=90))
        return {one.name.partition(" with ")[0] for one in offered}

    assert "Plasma Blast" in await field("lightning sorceress for bossing")
    assert "Plasma Blast" in await field("plasma blast mercenary for mapping")
    for prompt in ("lightning sorceress for mapping", "lightning sorceress"):
        assert not {"Plasma Blast", "Flameblast"} & await field(prompt)
    assert "Perfect Strike" in await field("titan for mapping")


async def test_a_word_cuts_the_field_as_far_as_any_skill_has_it(fresh: ProcessEngine) -> None:
    """Found on "poison huntress amazon spear": chaos was guessed of it, which only Toxic Domain deals, and it waits.

    Without a single skill that had all of the words there was no race, and what waits was built: 6,234 damage.
    """
    fields = {
        prompt: [one.name for one in await offers(fresh, BuildRequest(prompt=prompt, level=90))]
        for prompt in ("poison huntress spear", "wither huntress spear", "cold warrior mace", "minion huntress spear")
    }
    for name in ("Twister", "Rake", "Whirling Slash"):
        assert f"{name} with spear and shield" in fields["poison huntress spear"]
        assert f"{name} with spear and shield" in fields["wither huntress spear"]
    assert "Boneshatter with two hand mace" in fields["cold warrior mace"]
    assert "Skeletal Arsonist with spear and shield" in fields["minion huntress spear"]
    assert not any("Toxic Domain" in name for names in fields.values() for name in names)


async def quickly(pob_path: Path, folder: Path, prompt: str, level: int) -> BuildState:
    """Return the state of a first draft of the prompt."""
    settings = Settings(engine="pob", engine_workers=1, data_dir=folder, pob_path=pob_path)
    async with open_services(settings) as services:
        view = await services.builds.create(BuildRequest(prompt=prompt, level=level, effort=Effort.QUICK))
        await services.builds.wait(view.id)
        return BuildState.from_yaml((await services.library.export(view.id, "yaml")).decode())


async def test_who_casts_what_a_staff_grants_holds_one_that_does(
    fresh: ProcessEngine, pob_path: Path, tmp_path: Path
) -> None:
    state = await quickly(pob_path, tmp_path, "firebolt sorceress", 30)
    assert state.blueprint is not None
    bases = {base.name: base for base in await fresh.facts.bases()}
    held = bases[state.blueprint.items[MAIN_HAND].base]
    assert any("Firebolt" in line for line in held.implicits)
    assert not [one for one in state.conflicts if one.type is ConflictType.ILLEGAL_ITEM]


async def test_bare_hands_use_what_a_quarterstaff_would(fresh: ProcessEngine, pob_path: Path, tmp_path: Path) -> None:
    """Found on "unarmed monk": Shattering Concoction, which no Monk has; players take Hollow Palm Technique."""
    field = [one.name for one in await offers(fresh, BuildRequest(prompt="unarmed monk", level=85))]
    assert "Ice Strike with bare hands" in field
    assert all(name.endswith("with bare hands") for name in field)
    state = await quickly(pob_path, tmp_path, "unarmed ice strike monk", 60)
    assert {wish.state for wish in state.wishes} == {WishState.MET}
    assert state.blueprint is not None
    assert not {MAIN_HAND, OFF_HAND} & state.blueprint.items.keys()
    nodes = {node.id: node.name for node in await fresh.facts.nodes()}
    assert "Hollow Palm Technique" in {nodes[node.id] for node in state.blueprint.nodes}
    assert state.stats is not None
    assert (state.stats.dps or 0.0) > 1000


@pytest.mark.parametrize(
    ("prompt", "held"),
    [
        ("dual wield maces warrior", ["One Hand Mace", "One Hand Mace"]),
        ("giant's blood titan with a shield", ["Two Hand Mace", "Shield"]),
        ("giants blood dual two handed maces titan", ["Two Hand Mace", "Two Hand Mace"]),
        ("lightning spear amazon with a sceptre", ["Spear", "Sceptre"]),
    ],
)
async def test_each_hand_holds_what_was_asked_for(
    fresh: ProcessEngine, pob_path: Path, tmp_path: Path, prompt: str, held: list[str]
) -> None:
    """Found on "dual wield maces warrior": a mace for two hands, and dual wield told as not reached."""
    field = [one.choice for one in await offers(fresh, BuildRequest(prompt=prompt, level=85))]
    assert {(way.weapon_types[0], way.off_hand) for way in field if isinstance(way, DeliveryChoice)} == {tuple(held)}
    state = await quickly(pob_path, tmp_path, prompt, 75)
    assert {wish.state for wish in state.wishes} == {WishState.MET}
    assert not [one for one in state.conflicts if one.type is ConflictType.ILLEGAL_ITEM]
    assert state.blueprint is not None
    bases = {base.name: base.type for base in await fresh.facts.bases()}
    assert [bases[state.blueprint.items[slot].base] for slot in (MAIN_HAND, OFF_HAND)] == held


async def test_what_a_keystone_out_of_reach_would_allow_is_not_held(pob_path: Path, tmp_path: Path) -> None:
    """Found on "giant's blood titan" of level 10: a shield in the file and the shopping list that nobody could hold."""
    state = await quickly(pob_path, tmp_path, "giant's blood titan", 10)
    assert state.blueprint is not None
    assert MAIN_HAND in state.blueprint.items
    assert OFF_HAND not in state.blueprint.items
    assert [wish.wish for wish in state.wishes if wish.state is WishState.UNMET] == ["with Giant's Blood"]


@pytest.mark.parametrize("skill", ["herald of ice", "herald of blood", "herald of thunder"])
async def test_what_every_weapon_can_be_used_with_points_to_no_mace(fresh: ProcessEngine, skill: str) -> None:
    """Found on "herald of ice mapper": a Warrior, because a mace stands first among weapons."""
    found = extract_from(BuildRequest(prompt=f"{skill} mapper"), await Catalogue.of(fresh, everything=True))
    assert found.get("class") in {"Huntress", "Monk", "Ranger"}


async def test_a_keystone_about_hands_is_raced_where_it_was_named(fresh: ProcessEngine) -> None:
    """Unasked it is hardly better once finished, and begun it is so far ahead that better ones stay behind."""

    async def field(prompt: str) -> list[str]:
        return [one.name for one in await offers(fresh, BuildRequest(prompt=prompt, level=85))]

    both = ["Boneshatter with two hand mace and shield", "Boneshatter with two hand mace and two hand mace"]
    assert await field("giant's blood titan with boneshatter") == both
    plain = ["Boneshatter with two hand mace", "Boneshatter with one hand mace and shield"]
    for prompt in ("titan with boneshatter", "titan with boneshatter, no giant's blood"):
        assert await field(prompt) == plain
