"""The guide: order of passives and gems, shopping list, and how to play, from facts and a blueprint."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from app.engine.process import ProcessEngine
from app.knowledge.gems import level_required
from app.model.blueprint import Blueprint, GearItem, Gem, PassiveNode, SkillGroup
from app.model.demands import Demands, floors_for
from app.model.facts import GemFact
from app.model.groups import GroupRole, GroupUse
from app.model.names import Effort, GearTier, Goal
from app.model.stats import GrantedEffect
from app.phases.validate.guide import guide_to, how_to_play, measured_guide
from tests.fakes.engine import FactsEngine, small_facts


def gem(name: str, *, kind: str = "active", types: tuple[str, ...] = (), spirit: float = 0.0) -> GemFact:
    return GemFact.model_validate(
        {"id": name, "name": name, "kind": kind, "skill_types": list(types), "spirit": spirit, "tier": 3}
    )


GEMS = {
    fact.id: fact
    for fact in (
        gem("Bolt", types=("Spell",)),
        gem("Faster", kind="support"),
        gem("Herald", types=("HasReservation",), spirit=30.0),
        gem("Hex", types=("AppliesCurse",)),
        gem("Cast on Hit", types=("HasReservation", "Meta"), spirit=60.0),
        gem("Ally", types=("Minion",)),
        gem("Dash"),
    )
}


@pytest.fixture
async def sketch() -> AsyncIterator[ProcessEngine]:
    engine = ProcessEngine("sketch", {}, workers=1)
    await engine.start()
    yield engine
    await engine.close()


def group(*names: str) -> SkillGroup:
    return SkillGroup(gems=[Gem(gem_id=name, name=name) for name in names])


def test_tells_what_to_press_in_which_order() -> None:
    items = {"Flask 1": GearItem(slot="Flask 1", base="Life Flask"), "Charm 1": GearItem(slot="Charm 1", base="Stone")}
    groups = [group("Bolt", "Faster"), group("Herald"), group("Hex"), group("Cast on Hit", "Bolt"), group("Dash")]
    told = how_to_play(Blueprint(class_name="X", level=9, groups=groups, main_group=1, items=items), GEMS)
    assert told == [
        "Switch on once and keep: Herald, Cast on Hit with Bolt.",
        "Before a strong enemy: Hex.",
        "Then repeat Bolt, the main skill (supported by Faster).",
        "Use when ready: Dash.",
        "Drink when low: Life Flask.",
        "Charms act by themselves: Stone.",
    ]


@pytest.mark.parametrize("kind", ["Cooldown", "HasUsageCondition"])
def test_what_is_not_always_ready_is_not_repeated(kind: str) -> None:
    gems = {"Slam": gem("Slam", types=("Attack", kind))}
    told = how_to_play(Blueprint(class_name="X", level=9, groups=[group("Slam")], main_group=1), gems)
    assert told == ["Then use Slam whenever it is ready, the main skill."]


@pytest.mark.parametrize(
    ("keystones", "told"),
    [
        ([], ["Drink when low: Ultimate Life Flask, Ultimate Mana Flask."]),
        (["Chaos Inoculation"], ["Drink when low: Ultimate Mana Flask."]),
        (["Eldritch Battery", "Blood Magic"], ["Drink when low: Ultimate Life Flask."]),
        (["Chaos Inoculation", "Blood Magic"], []),
    ],
)
def test_nobody_drinks_what_recovers_nothing(keystones: list[str], told: list[str]) -> None:
    bases = {"Flask 1": "Ultimate Life Flask", "Flask 2": "Ultimate Mana Flask"}
    items = {slot: GearItem(slot=slot, base=base) for slot, base in bases.items()}
    blueprint = Blueprint(class_name="X", level=9, items=items)
    assert how_to_play(blueprint, GEMS, keystones=keystones) == told


def test_groups_are_played_for_what_they_are_for() -> None:
    groups = [group("Bolt", "Faster"), group("Dash"), group("Herald"), group("Arc")]
    roles = {"Dash": GroupRole.MOVEMENT, "Herald": GroupRole.MOVEMENT, "Arc": GroupRole.CLEAR}
    uses = [GroupUse(skill=skill, role=role, purpose="") for skill, role in roles.items()]
    told = how_to_play(Blueprint(class_name="X", level=9, groups=groups, main_group=1), GEMS, uses)
    assert told == [
        "Switch on once and keep: Herald.",
        "Then repeat Bolt, the main skill (supported by Faster).",
        "Get about with: Dash.",
        "Against packs: Arc.",
    ]


def test_minions_fight_by_themselves() -> None:
    told = how_to_play(Blueprint(class_name="X", level=9, groups=[group("Ally")], main_group=1), GEMS)
    assert told == ["Then summon with Ally and let them fight."]


def test_minions_that_spells_call_are_called_by_repeating_one() -> None:
    called = GEMS["Ally"].model_copy(
        update={"description": "While active, Fire Spells you use yourself will also summon"}
    )
    spell = gem("Fireball", types=("Spell", "Damage", "Fire")).model_copy(update={"tags": ["spell", "fire"]})
    known = {**GEMS, "Ally": called, "Fireball": spell}
    build = Blueprint(class_name="X", level=9, groups=[group("Ally"), group("Bolt"), group("Fireball")], main_group=1)
    assert how_to_play(build, known)[0] == "Then repeat Fireball: each use calls Ally, the main skill."


def test_nothing_to_play_is_said_with_no_words() -> None:
    assert how_to_play(Blueprint(class_name="X", level=1), GEMS) == []


async def test_who_is_granted_what_the_figures_hang_on_is_told_to_use_it(sketch: ProcessEngine) -> None:
    spark, arc = [fact for fact in await sketch.facts.gems() if fact.name in ("Spark", "Arc")]
    groups = [SkillGroup(gems=[Gem(gem_id=spark.id, name=spark.name)])]
    build = Blueprint(class_name="X", level=90, groups=groups, main_group=1)
    used = ["Use when ready: " + arc.name + "."]
    for passive, share, told in ((False, 0.12, used), (False, 0.0, []), (True, 0.0, used)):
        granted = [
            GrantedEffect(skill=name, source="Staff", passive=passive, damage=share, ehp=0.0)
            for name in (arc.name, "Ward")
        ]
        guide = await guide_to(sketch.facts, build, granted)
        assert [line for line in guide.how_to_play if line.startswith("Use")] == told
        assert {step.name for step in guide.gems} == {spark.name}, "nobody cuts a gem of it"


async def test_what_a_passive_was_taken_for_is_told_though_no_figure_hangs_on_it(sketch: ProcessEngine) -> None:
    """An Infernalist took Loyal Hellhound, and was not told of a hound."""
    spark = next(fact for fact in await sketch.facts.gems() if fact.name == "Spark")
    groups = [SkillGroup(gems=[Gem(gem_id=spark.id, name=spark.name)])]
    build = Blueprint(class_name="Sorceress", level=90, groups=groups, main_group=1)
    granted = [GrantedEffect(skill="Hound", source="Loyal Hound", passive=True, damage=0.0, ehp=0.0)]
    floors = floors_for(90, GearTier.MID)
    demands = Demands(level=90, gear=GearTier.MID, goal=Goal.MAPPING, hardcore=False, floors=floors)
    guide = await measured_guide(sketch, build, demands, Effort.NORMAL, granted)
    assert guide.groups[-1].line == "Hound - granted skill: granted by Loyal Hound; its effect is not in the figures"


def test_what_is_triggered_comes_by_itself() -> None:
    gems = {"Storm": gem("Storm", types=("Spell", "Triggered")), "Dash": GEMS["Dash"]}
    told = how_to_play(Blueprint(class_name="X", level=9, groups=[group("Storm"), group("Dash")]), gems)
    assert told == ["Use when ready: Dash.", "Comes by itself: Storm."]


async def test_supports_come_with_their_socket_and_their_tier(sketch: ProcessEngine) -> None:
    gems = await sketch.facts.gems()
    skill = next(fact for fact in gems if fact.name == "Spark")
    supports = sorted((fact for fact in gems if fact.kind == "support" and not fact.lineage), key=lambda f: f.tier)[:4]
    held = [Gem(gem_id=fact.id, name=fact.name) for fact in (skill, *supports)]
    guide = await guide_to(
        sketch.facts, Blueprint(class_name="X", level=90, groups=[SkillGroup(gems=held)], main_group=1)
    )
    levels = {step.name: step.level for step in guide.gems}
    sockets = [1, 1, 20, 45]
    for fact, socket in zip(supports, sockets, strict=True):
        assert levels[fact.name] == max(level_required(skill), level_required(fact), socket)
    assert [step.level for step in guide.gems] == sorted(levels.values())


async def test_a_keystone_of_a_worn_item_counts_like_an_allocated_one() -> None:
    """A Titan with a Mask of the Sanguimancer, which brings Blood Magic, was told to drink a Mana Flask."""
    flask = GearItem(slot="Flask 1", base="Ultimate Life Flask")
    for line, told in (("Chaos Inoculation", []), ("Chaos Inoculations", ["Drink when low: Ultimate Life Flask."])):
        mask = GearItem(slot="Helmet", base="Mask", rarity="UNIQUE", text=f"Rarity: UNIQUE\nMask\n{line}")
        worn = Blueprint(class_name="X", level=90, items={one.slot: one for one in (flask, mask)})
        assert (await guide_to(FactsEngine(small_facts()).facts, worn)).how_to_play == told


async def test_orders_passives_gems_and_items_by_the_engines_facts(sketch: ProcessEngine) -> None:
    classes = await sketch.facts.classes()
    start = classes[0].start_node
    near = [n for n in await sketch.facts.nodes() if start in n.neighbours and n.ascendancy is None][:1]
    gems = {fact.name: fact for fact in await sketch.facts.gems()}
    late = max((g for g in gems.values() if g.kind == "active"), key=lambda g: (g.tier, g.id))
    early = min((g for g in gems.values() if g.kind == "active"), key=lambda g: (g.tier, g.id))
    blueprint = Blueprint(
        class_name=classes[0].name,
        level=90,
        nodes=[*(PassiveNode(id=n.id) for n in near), PassiveNode(id=-1)],
        groups=[SkillGroup(gems=[Gem(gem_id=g.id, name=g.name)]) for g in (late, early)],
        items={"Ring 1": GearItem(slot="Ring 1", base="Sapphire Ring", rarity="NORMAL", item_level=7)},
        main_group=1,
    )
    guide = await guide_to(sketch.facts, blueprint)
    assert [(step.point, step.id, step.name) for step in guide.passives] == [(1, near[0].id, near[0].name)]
    assert [step.name for step in guide.gems] == [early.name, late.name]
    assert guide.gems[0].level < guide.gems[1].level
    assert [(item.slot, item.base, item.level) for item in guide.shopping] == [("Ring 1", "Sapphire Ring", 7)]
