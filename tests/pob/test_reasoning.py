"""The rules reasoner over every skill and class that Path of Building knows."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from app.engine.process import ProcessEngine
from app.knowledge.catalogue import Catalogue
from app.knowledge.gems import can_be_main, tags
from app.knowledge.vocabulary import preferences, vocabulary
from app.knowledge.weapons import UNARMED, weapon_words, word_of
from app.model.facts import GemFact
from app.model.names import SubProblemName
from app.model.record import BuildRequest
from app.model.sub_problems import AscendancyChoice, DeliveryChoice, SpiritChoice
from app.reasoning.prompt.extract import extract_from
from tests.fakes.engine import FactsEngine, FakeFacts
from tests.unit.reasoning.planning import decision, plan

pytestmark = [pytest.mark.pob, pytest.mark.asyncio(loop_scope="module")]
Q = SubProblemName
RECOGNISED = 0.95


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(pob_path: Path) -> AsyncIterator[FactsEngine]:
    """Path of Building's facts, asked once."""
    engine = ProcessEngine("pob", {"pob": str(pob_path)})
    await engine.start()
    facts = engine.facts
    yield FactsEngine(
        FakeFacts(await facts.classes(), await facts.gems(), await facts.nodes(), await facts.bases()), engine.version
    )
    await engine.close()


async def _mains(world: FactsEngine) -> list[GemFact]:
    return [gem for gem in await world.facts.gems() if can_be_main(gem)]


async def test_every_skill_typed_in_a_prompt_is_recognised(world: FactsEngine) -> None:
    catalogue = await Catalogue.of(world)
    missed = []
    for gem in catalogue.active:
        found = extract_from(BuildRequest(prompt=f"{gem.name} build"), catalogue)
        named = found.get("with")
        if gem.name not in (found.get("skill"), *(named if isinstance(named, list) else [])):
            missed.append(gem.name)

    share = 1 - len(missed) / len(catalogue.active)
    assert share >= RECOGNISED, f"{share:.1%} of {len(catalogue.active)} recognised; missed: {missed}"


async def test_every_skill_leads_to_a_full_plan_around_it(world: FactsEngine) -> None:
    types = {word_of(base) for base in await world.facts.bases()} | {UNARMED}
    gems = {gem.id: gem for gem in await world.facts.gems()}
    for gem in await _mains(world):
        ctx = await plan(f"{gem.name} build", world)
        delivery = decision(ctx, Q.DAMAGE_DELIVERY).choice
        assert isinstance(delivery, DeliveryChoice)
        # who writes "grenade" means a way to play, not the shot that every crossbow has
        assert "grenade" in tags(gems[delivery.skill_id]) if gem.name == "Grenade" else delivery.skill_name == gem.name
        assert set(delivery.weapon_types) <= types
        words = weapon_words(gems[delivery.skill_id])
        assert not words or set(delivery.weapon_types) <= set(words), gem.name
        assert all(decision(ctx, name).reason for name in Q)


@pytest.mark.parametrize(
    ("prompt", "who"),
    [
        ("acidic concoction poison", ("Ranger", "Pathfinder")),
        ("poison concoction mapping", ("Ranger", "Pathfinder")),
        ("manifest weapon", ("Warrior", "Smith of Kitava")),
        ("shattering concoction monk", ("Monk", None)),
        ("explosive concoction deadeye", ("Ranger", "Deadeye")),
        ("chaos bolt", ("Witch", None)),
    ],
)
async def test_a_skill_that_only_an_ascendancy_grants_names_it(
    world: FactsEngine, prompt: str, who: tuple[str, str | None]
) -> None:
    """Found on "acidic concoction poison": a Martial Artist, who cannot have it. What was said of the class holds."""
    found = extract_from(BuildRequest(prompt=prompt), await Catalogue.of(world, everything=True))
    assert (found.get("class"), found.get("ascendancy")) == who


@pytest.mark.parametrize(
    ("prompt", "named"),
    [
        ("infernalist fire hound minions ignite", "Loyal Hellhound"),
        ("hellhound infernalist", "Loyal Hellhound"),
        ("summoner lich with skeletal mages and offerings", "Pain Offering"),
        ("bone offering minion witch", "Bone Offering"),
    ],
)
async def test_what_players_call_a_passive_or_a_helper(world: FactsEngine, prompt: str, named: str) -> None:
    found = extract_from(BuildRequest(prompt=prompt), await Catalogue.of(world, everything=True))
    assert found.get("with") == [named]
    assert found.not_understood == []


@pytest.mark.parametrize(
    ("prompt", "weapon"),
    [("soulrend lich", "Staff"), ("chaos bolt witch", "Wand"), ("skeletal warriors infernalist", "Sceptre")],
)
async def test_a_skill_that_an_item_grants_is_planned_with_it(world: FactsEngine, prompt: str, weapon: str) -> None:
    """Found on "soulrend lich": with a wand, which does not grant it, as if it were a gem."""
    delivery = decision(await plan(prompt, world), Q.DAMAGE_DELIVERY).choice
    assert isinstance(delivery, DeliveryChoice)
    assert delivery.weapon_types == [weapon]


async def test_a_skill_that_cannot_be_the_main_one_still_gives_a_plan(world: FactsEngine) -> None:
    mains = {gem.name for gem in await _mains(world)}
    others = [gem for gem in await world.facts.gems() if gem.kind == "active" and gem.name not in mains]
    for gem in others[::7]:
        ctx = await plan(f"{gem.name} build", world)
        delivery = decision(ctx, Q.DAMAGE_DELIVERY).choice
        assert isinstance(delivery, DeliveryChoice)
        assert delivery.skill_name != gem.name


async def test_every_class_and_damage_type_gives_a_skill_that_deals_it(world: FactsEngine) -> None:
    facts = {gem.id: gem for gem in await world.facts.gems()}
    for fact in await world.facts.classes():
        for kind in ("physical", "fire", "cold", "lightning", "chaos"):
            ctx = await plan(f"{kind} {fact.name}", world)
            delivery, chosen = decision(ctx, Q.DAMAGE_DELIVERY).choice, decision(ctx, Q.ASCENDANCY).choice
            assert isinstance(delivery, DeliveryChoice)
            assert isinstance(chosen, AscendancyChoice)
            gem = facts[delivery.skill_id]
            assert chosen.class_name == fact.name
            assert chosen.ascendancy in fact.ascendancies
            assert kind in gem.tags or (kind == "physical" and "attack" in gem.tags), f"{kind} {fact.name}: {gem.name}"


async def test_every_ascendancy_is_recognised(world: FactsEngine) -> None:
    catalogue = await Catalogue.of(world)
    for fact in catalogue.classes:
        for name in fact.ascendancies:
            found = extract_from(BuildRequest(prompt=f"{name} build"), catalogue)
            assert (found.get("class"), found.get("ascendancy")) == (fact.name, name)


async def test_the_vocabulary_names_only_what_exists(world: FactsEngine) -> None:
    catalogue, words, taste = await Catalogue.of(world), vocabulary(), preferences()
    lists = [*taste.spirit.values(), *taste.curses.values(), *taste.marks.values()]
    skills = {
        *words.skill_aliases.values(),
        *(name for entry in words.foreign.values() for name in entry.skills),
        *(name for own in taste.classes.values() for name in (*own.skills, *own.minions)),
        *(name for own in lists for name in own),
    }
    known = {a for fact in catalogue.classes for a in fact.ascendancies}

    assert {name for name in skills if catalogue.skill(name) is None} == set()
    assert set(words.classes) == set(taste.classes) == {fact.name for fact in catalogue.classes}
    assert set(words.ascendancies) == set(taste.ascendancies) == known


async def test_persistent_skills_fit_the_spirit_there_is(world: FactsEngine) -> None:
    facts = {gem.id: gem for gem in await world.facts.gems()}
    for fact in await world.facts.classes():
        choice = decision(await plan(f"{fact.name} build", world), Q.SPIRIT_ALLOCATION).choice
        assert isinstance(choice, SpiritChoice)
        assert 0 < sum(facts[i].spirit for i in choice.skill_ids) <= 130
