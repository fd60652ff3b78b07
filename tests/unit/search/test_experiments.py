"""Named moves on a searched build: refused when impossible, kept only when the engine finds the build better."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic import TypeAdapter

from app.core.errors import UnknownFact
from app.model.blueprint import Blueprint, GearItem, Gem, PassiveNode, SkillGroup
from app.model.constraints import Invariant, InvariantSet
from app.model.facts import AffixFact, BaseFact, UniqueFact
from app.model.moves import Move, named_after
from app.model.names import Provenance
from app.search.experiments import SPENT, MoveExperimenter
from tests.fakes.arithmetic import World, active, node, support
from tests.unit.search.conftest import START, Context

MOVE: TypeAdapter[Move] = TypeAdapter(Move)
NODES = [
    node(1, 2, 5, kind="start"),
    node(2, 1, 3),
    node(3, 2, 4, mods=["40 inc"], kind="notable", name="Bright"),
    node(4, 3, mods=["10 inc"], kind="notable", name="Dim"),
    node(5, 1, mods=["1 inc"], name="Small"),
]
GEMS = [
    active("zap"),
    active("hum", "5 more"),
    support("ten", "10 more"),
    support("fifty", "50 more"),
    support("twenty", "20 more", family="f"),
    support("other twenty", "21 more", family="f"),
    support("steps", "90 more. Can only be used after you have moved."),
]
WORLD = World(nodes=NODES, gems=GEMS)


def moves(*found: dict[str, Any]) -> list[Move]:
    return [MOVE.validate_python(one) for one in found]


def supports(*names: str) -> list[Move]:
    return moves({"op": "set_supports", "skill": "zap", "supports": list(names)})


def allocate(passive: str | int) -> list[Move]:
    return moves({"op": "allocate", "passive": passive})


async def shop(context: Context, blueprint: Blueprint = START, world: World = WORLD) -> MoveExperimenter:
    return await MoveExperimenter.open(context(world, blueprint.model_copy(update={"groups": [ZAP], "main_group": 1})))


ZAP = SkillGroup(gems=[Gem(gem_id="zap", name="zap")])


async def test_an_experiment_tells_gains_and_keeps_nothing(context: Context) -> None:
    found = await shop(context)
    before = found.incumbent.blueprint
    none, ten, fifty, far = await found.experiment(
        [[], supports("ten"), supports("fifty"), allocate("bright")], ["DPS"]
    )
    assert none.gain == 0
    assert ten.gain is not None
    assert fifty.gain is not None
    assert fifty.gain > ten.gain > 0
    assert fifty.figures["DPS"] == pytest.approx(150)
    assert far.figures["DPS"] == pytest.approx(140)
    assert found.incumbent.blueprint == before


@pytest.mark.parametrize(
    ("tried", "words"),
    [
        (supports("Nothing"), "no support called 'Nothing'"),
        (supports("twenty", "other twenty"), "one of each family"),
        (supports("steps"), "does not help at each use, so only who names it has it"),
        (moves({"op": "set_supports", "skill": "Boom", "supports": []}), "the build has no skill 'Boom'; it has zap"),
        (moves({"op": "remove_skill", "skill": "zap"}), "the main skill stays"),
        (moves({"op": "add_skill", "skill": "zap"}), "no room for zap, or the build has it"),
        (moves({"op": "add_skill", "skill": "Boom"}), "no skill called 'Boom'"),
        (allocate("Nowhere"), "no passive 'Nowhere'"),
        (moves({"op": "deallocate", "passive": "Bright"}), "Bright is not allocated"),
        (moves({"op": "equip_unique", "unique": "Nothing"}), "no unique called 'Nothing'"),
        (moves({"op": "craft_item", "slot": "Helmet"}), "nothing is crafted in 'Helmet'"),
    ],
)
async def test_what_is_impossible_says_why(context: Context, tried: list[Move], words: str) -> None:
    found = await shop(context)
    (trial,) = await found.experiment([tried], [])
    assert trial.gain is None
    assert words in trial.problem
    assert words in (await found.keep(tried)).problem


async def test_later_moves_see_what_earlier_ones_changed(context: Context) -> None:
    found = await shop(context)
    both = moves({"op": "add_skill", "skill": "hum", "supports": ["ten"]}, {"op": "remove_skill", "skill": "hum"})
    (trial,) = await found.experiment([both], ["DPS"])
    assert trial.gain == 0
    taken = moves({"op": "add_skill", "skill": "hum", "supports": ["ten"]}) + supports("ten")
    (refused,) = await found.experiment([taken], [])
    assert "used by another skill already" in refused.problem


async def test_only_what_helps_is_kept(context: Context) -> None:
    found = await shop(context)
    assert (await found.keep(supports("fifty"))).problem == ""
    assert [gem.gem_id for gem in found.incumbent.blueprint.groups[0].gems] == ["zap", "fifty"]
    better = found.incumbent.blueprint
    assert "no gain" in (await found.keep(supports("ten"))).problem
    assert "no gain" in (await found.keep(supports("fifty"))).problem
    assert found.incumbent.blueprint == better


async def test_points_that_are_not_there_cannot_be_spent(context: Context) -> None:
    start = START.model_copy(update={"nodes": [PassiveNode(id=5)], "level": 90})
    ctx = context(WORLD, start.model_copy(update={"groups": [ZAP], "main_group": 1}))
    floors = ctx.demands.floors.model_copy(update={"passive_points": 2})
    found = await MoveExperimenter.open(context(WORLD, ctx.blueprint, floors=floors))
    (refused,) = await found.experiment([allocate("Bright")], [])
    assert "there are 2: give passives back as well" in refused.problem
    exchange = moves({"op": "deallocate", "passive": 5}, {"op": "allocate", "passive": 3})
    assert (await found.keep(exchange)).problem == ""
    assert {one.id for one in found.incumbent.blueprint.nodes} == {2, 3}


async def test_ranking_puts_the_best_first(context: Context) -> None:
    found = await shop(context)
    ranked = await found.rank_supports("zap")
    assert [name for name, _ in ranked] == ["fifty", "other twenty", "twenty", "ten"]
    with pytest.raises(UnknownFact):
        await found.rank_supports("Boom")


async def test_the_tree_tells_what_pays_and_what_is_missed_least(context: Context) -> None:
    found = await shop(context, START.model_copy(update={"nodes": [PassiveNode(id=5)]}))
    rows = [(name, trial.made) for name, trial in await found.optimise_tree()]
    assert rows == [("Bright", ("2 points",)), ("Dim", ("3 points",)), ("5", ("gives 1 point back",))]


RING = BaseFact(name="Gold Ring", type="Ring", slots=["Ring 1", "Ring 2"], requirements={"level": 1})
WORN = {"Ring 1": GearItem(slot="Ring 1", base="Gold Ring", rarity="NORMAL")}


def geared() -> World:
    affixes = [
        AffixFact(id="hot", side="prefix", name="Hot", group="g1", level=1, lines=["30 inc"], weight=1),
        AffixFact(id="hotter", side="prefix", name="Hotter", group="g1", level=2, lines=["35 inc"], weight=1),
        AffixFact(id="vast", side="suffix", name="Vast", group="g2", level=1, lines=["200 life"], weight=1),
        AffixFact(id="odd", side="suffix", name="Odd", group="g3", level=1, lines=["5 fame"], weight=1),
    ]
    band = UniqueFact(name="Great Band", base="Gold Ring", type="Ring", level=1, text="x", lines=["90 inc"])
    return World(nodes=NODES, gems=GEMS, bases=[RING], affixes=affixes, uniques=[band])


async def test_a_crafted_item_has_what_helps_and_no_more(context: Context) -> None:
    found = await shop(context, START.model_copy(update={"items": WORN}), geared())
    craft = moves({"op": "craft_item", "slot": "ring 1"})
    (trial,) = await found.experiment([craft], ["DPS"])
    assert trial.figures["DPS"] == pytest.approx(135)
    assert trial.made[0] == "Gold Ring"
    assert (await found.keep(craft)).problem == ""
    ring = found.incumbent.blueprint.items["Ring 1"]
    assert ({roll.id for roll in ring.prefixes}, {roll.id for roll in ring.suffixes}) == ({"hotter"}, {"vast"})


async def test_a_crafted_item_has_what_was_wanted_first(context: Context) -> None:
    found = await shop(context, START.model_copy(update={"items": WORN}), geared())
    fame, unknown = (moves({"op": "craft_item", "slot": "Ring 1", "wants": [want]}) for want in ("FAME", "experience"))
    trial, refused = await found.experiment([fame, unknown], ["DPS"])
    assert trial.made == ("Gold Ring", "35 inc", "5 fame", "200 life")
    assert trial.figures["DPS"] == pytest.approx(135)
    assert refused.problem == "nothing that still fits on a Gold Ring of this gear tier says 'experience'"
    assert named_after(fame) == "craft Ring 1 with FAME"


async def test_a_gain_is_told_with_its_parts(context: Context) -> None:
    found = await shop(context)
    (trial,) = await found.experiment([supports("fifty")], ["DPS"])
    assert trial.gain == pytest.approx(sum(trial.parts.values()))
    assert trial.parts["DPS"] > 0
    assert {name for name, change in trial.parts.items() if change} == {"DPS"}


async def test_a_unique_is_worn_within_the_gear_tier(context: Context) -> None:
    blueprint = START.model_copy(update={"items": WORN, "groups": [ZAP], "main_group": 1})
    ctx = context(geared(), blueprint)
    wear = moves({"op": "equip_unique", "unique": "great band"})
    found = await MoveExperimenter.open(ctx)
    assert (await found.keep(wear)).problem == ""
    assert found.incumbent.blueprint.items["Ring 1"].title == "Great Band"
    poor = ctx.demands.floors.model_copy(update={"gear": ctx.demands.floors.gear.model_copy(update={"max_uniques": 0})})
    refused = await MoveExperimenter.open(context(geared(), blueprint, floors=poor))
    assert "takes no uniques" in (await refused.keep(wear)).problem


async def test_ideas_that_lose_what_the_user_named_are_refused(context: Context) -> None:
    held = SkillGroup(gems=[Gem(gem_id="zap", name="zap"), Gem(gem_id="ten", name="ten")])
    said = Invariant(field="with", value=["Ten"], provenance=Provenance.EXPLICIT, reason="said")
    ctx = context(WORLD, START.model_copy(update={"groups": [held], "main_group": 1}))
    found = await MoveExperimenter.open(replace(ctx, invariants=InvariantSet(invariants=[said])))
    assert (await found.keep(supports("fifty"))).problem == "the user asked for ten"
    assert found.incumbent.blueprint.groups == [held]
    assert (await found.keep(supports("ten", "fifty"))).problem == ""


async def test_trials_end_with_their_evaluations_and_proposals_a_little_later(context: Context) -> None:
    ctx = context(WORLD, START.model_copy(update={"groups": [ZAP], "main_group": 1}))
    found = await MoveExperimenter.open(ctx, 8)
    assert found.left == 6
    tried = await found.experiment([supports(name) for name in ("ten", "fifty", "twenty", "ten", "fifty")], ["DPS"])
    assert [one.problem for one in tried] == [""] * 5
    assert (found.left, [name for name, _ in await found.rank_supports("zap")]) == (1, ["fifty"])
    assert found.left == 0
    assert await found.rank_supports("zap") == []
    assert await found.optimise_tree() == []
    assert [one.problem for one in await found.experiment([supports("ten")], ["DPS"])] == [SPENT]
    assert (await found.keep(supports("ten"))).problem == ""
    refused = await found.keep(supports("fifty"))
    assert (refused.problem, refused.gain) == (SPENT, None)
    assert [gem.name for gem in found.incumbent.blueprint.groups[0].gems] == ["zap", "ten"]


async def test_without_a_number_nothing_is_counted(context: Context) -> None:
    found = await shop(context)
    assert found.left is None
    assert all(not one.problem for one in await found.experiment([supports("ten")] * 200, ["DPS"]))


async def test_what_costs_something_asked_for_is_not_kept(context: Context) -> None:
    async def unmet(blueprint: Blueprint) -> set[str]:
        supports = {gem.name for gem in blueprint.groups[0].gems[1:]}
        return {"the user asked for silence"} if "fifty" in supports else set()

    ctx = context(WORLD, START.model_copy(update={"groups": [ZAP], "main_group": 1}))
    found = await MoveExperimenter.open(ctx, unmet=unmet)
    refused = await found.keep(supports("fifty"))
    assert refused.problem == "the user asked for silence"
    assert found.incumbent.blueprint == ctx.blueprint
    assert (await found.keep(supports("ten"))).problem == ""
