"""The pieces of a refinement on their own: a file with locks, a record of commits, screening, order, improvements."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from app.core.errors import InvalidTransition
from app.model.base import changed
from app.model.blueprint import JEWEL_SLOT, Allocate, Blueprint, Deallocate, GearItem, PassiveNode, SetGroup, SkillGroup
from app.model.experiments import Wish
from app.model.moves import Locks, Part
from app.model.stats import DPS
from app.search.passives.graph import loaded_graph
from app.search.refine.improvements import changeable_slots, competing_bases
from app.search.refine.search import check, improve, open_work, order, read_parent, screen
from app.search.refine.work import Candidate, Work
from app.search.sessions import LoadedSession, Sharing
from app.search.skills.gems import gem
from tests.fakes.arithmetic import ArithmeticEngine, World, active, node, support
from tests.unit.search.conftest import START, Context

NODES = [
    node(1, 2, 3, kind="start"),
    node(2, 4, mods=["10 inc"]),
    node(3, mods=["300 life"]),
    node(4, mods=["40 inc"], kind="notable"),
    node(5, kind="socket"),
]
GEMS = [active("zap"), support("boost", "20 more"), support("drag", "-20 more")]
WORLD = World(nodes=NODES, gems=GEMS)
OWNED = changed(START, nodes=[PassiveNode(id=2)])
MORE_DAMAGE = Wish(direction="damage", gain=0.2, loss=0.1)


def file_of(blueprint: Blueprint) -> bytes:
    return blueprint.model_dump_json().encode()


@asynccontextmanager
async def work_on(
    context: Context, blueprint: Blueprint = OWNED, locks: Locks | None = None, world: World = WORLD
) -> AsyncIterator[Work]:
    ctx = context(world, blueprint)
    parent = await read_parent(ctx.engine, file_of(blueprint), blueprint, None)
    async with open_work(ctx, parent, MORE_DAMAGE, locks or Locks(), [], Sharing(1)) as work:
        yield work


async def loaded(locks: Locks, blueprint: Blueprint = OWNED) -> LoadedSession:
    session = LoadedSession(ArithmeticEngine(WORLD).new_session(blueprint), file_of(blueprint), blueprint, locks)
    await session.open()
    return session


async def test_what_is_locked_cannot_be_tried_nor_committed() -> None:
    session = await loaded(Locks(parts=[Part.TREE]))
    buy, gem_change = (
        Allocate(nodes=[PassiveNode(id=4)]),
        SetGroup(index=1, group=SkillGroup(gems=START.groups[0].gems)),
    )
    tried = await session.what_if([[buy], [gem_change], [Deallocate(nodes=[2])]], [DPS])
    assert [bool(outputs) for outputs in tried] == [False, True, False]
    with pytest.raises(InvalidTransition):
        await session.apply([buy])


async def test_a_file_goes_back_only_to_where_it_was() -> None:
    session = await loaded(Locks())
    await session.apply([Allocate(nodes=[PassiveNode(id=4)])])
    await session.build(OWNED)
    assert session.made == []
    assert (await session.what_if([[]], [DPS]))[0][DPS] == pytest.approx(110.0)
    with pytest.raises(InvalidTransition):
        await session.build(START)


async def test_passives_of_one_weapon_set_stay() -> None:
    blueprint = changed(START, nodes=[PassiveNode(id=2, weapon_set=1)])
    session = await loaded(Locks(), blueprint)
    assert await session.what_if([[Deallocate(nodes=[2])]], [DPS]) == [{}]


async def test_commits_are_recorded_with_their_reason_and_forgotten_when_taken_back(context: Context) -> None:
    async with work_on(context) as work:
        before = work.incumbent.blueprint
        work.incumbent.reason = "passive tree"
        gain = await work.incumbent.commit([Allocate(nodes=[PassiveNode(id=4)])])
        (commit,) = work.incumbent.commits
        assert gain > 0
        assert (commit.build, commit.reason) == (before, "passive tree")
        assert commit.after[DPS] > commit.before[DPS]
        await work.incumbent.rewind(before)
        assert work.incumbent.commits == []


def candidates(*gains: float) -> list[Candidate]:
    return [Candidate("x", (), {}, gain) for gain in gains]


@pytest.mark.parametrize(("damage", "where"), [(True, 1), (False, 3)])
def test_what_is_free_comes_first_and_supports_early_only_for_damage(damage: bool, where: int) -> None:
    screened = {"supports": [], "passive tree": candidates(0.1), "items": candidates(0.2, 0.1), "free Spirit": []}
    found = order(screened, damage)
    assert found[0] == "free Spirit"
    assert found.index("supports") == where
    assert found.index("items") < found.index("passive tree")


def test_what_promised_nothing_is_not_tried() -> None:
    assert order({"passive tree": [], "items": candidates(0.2)}, damage=True) == ["items"]


async def test_locked_improvements_and_those_without_means_are_not_screened(context: Context) -> None:
    async with work_on(context, locks=Locks(parts=[Part.GEAR, Part.JEWELS])) as work:
        work.points, work.ascendancy_points = 0, 0
        screened = await screen(work)
    assert {"items", "jewels", "unspent passive points", "unspent ascendancy points"}.isdisjoint(screened)
    assert {"passive tree", "supports"} <= screened.keys()


async def test_points_that_are_left_are_spent_on_the_wish(context: Context) -> None:
    async with work_on(context) as work:
        work.points = 1
        commits = await improve(work, "unspent passive points", [])
        assert {n.id for n in work.incumbent.blueprint.nodes} == {2, 4}
        assert [commit.reason for commit in commits] == ["unspent passive points"]
        assert work.points == 0


async def test_a_repair_leaves_alone_what_is_only_not_the_best(context: Context) -> None:
    blueprint = changed(OWNED, groups=[SkillGroup(gems=[START.groups[0].gems[0], gem(GEMS[2], 90)])])
    ctx = context(WORLD, blueprint)
    parent = await read_parent(ctx.engine, file_of(blueprint), blueprint, None)
    async with open_work(ctx, parent, Wish(direction="repair"), Locks(), [], Sharing(1)) as work:
        assert not await improve(work, "supports", [])
        assert work.incumbent.blueprint == blueprint
    async with open_work(ctx, parent, MORE_DAMAGE, Locks(), [], Sharing(1)) as work:
        assert await improve(work, "supports", [])


async def test_supports_are_exchanged_for_better_ones(context: Context) -> None:
    group = SkillGroup(gems=[START.groups[0].gems[0], gem(GEMS[2], 90)])
    async with work_on(context, changed(OWNED, groups=[group])) as work:
        await improve(work, "supports", [])
        assert [g.gem_id for g in work.incumbent.blueprint.groups[0].gems] == ["zap", "boost"]


async def test_what_a_fresh_session_says_of_changes(context: Context) -> None:
    ctx = context(WORLD, OWNED)
    parent = await read_parent(ctx.engine, file_of(OWNED), OWNED, None)
    checked = await check(ctx.engine, parent, [Allocate(nodes=[PassiveNode(id=4)])])
    assert [parent.outputs[DPS], checked.outputs[DPS]] == pytest.approx([110.0, 150.0])
    assert (await check(ctx.engine, parent, [])).xml == parent.xml


def worn(*slots: str, rarity: str = "RARE") -> dict[str, GearItem]:
    return {slot: GearItem(slot=slot, base="Base", rarity=rarity) for slot in slots}


ARMOUR = ("Helmet", "Body Armour", "Gloves", "Boots", "Amulet", "Ring 1", "Ring 2", "Belt")


@pytest.mark.parametrize(
    ("items", "locks", "missing"),
    [
        (worn(*ARMOUR), Locks(), set()),
        (worn(*ARMOUR) | worn("Boots", rarity="UNIQUE"), Locks(), {"Boots"}),
        (worn(*ARMOUR) | worn("Boots", rarity="NORMAL"), Locks(), {"Boots"}),
        (worn(*ARMOUR), Locks(slots=["Belt"]), {"Belt"}),
        (worn(*ARMOUR[1:]), Locks(), {"Helmet"}),
        (worn(*ARMOUR[2:]), Locks(), set()),
    ],
)
async def test_which_slots_may_change(
    context: Context, items: dict[str, GearItem], locks: Locks, missing: set[str]
) -> None:
    async with work_on(context, changed(OWNED, items=items), locks) as work:
        assert set(ARMOUR) - set(changeable_slots(work, jewels=False)) == missing


async def test_jewels_go_into_allocated_sockets(context: Context) -> None:
    blueprint = changed(OWNED, nodes=[PassiveNode(id=2), PassiveNode(id=5)])
    async with work_on(context, blueprint) as work:
        work.incumbent.blueprint = blueprint  # the toy engine drops what hangs on nothing
        assert changeable_slots(work, jewels=True) == [f"{JEWEL_SLOT}5"]


async def test_a_hand_that_holds_nothing_has_no_competing_bases(context: Context) -> None:
    async with work_on(context) as work:
        assert competing_bases(work, "Weapon 1") == []


@pytest.mark.parametrize(("owned", "expected"), [([2, 4], True), ([4], False), ([], True)])
async def test_a_tree_that_hangs_on_nothing_is_another_one(owned: Sequence[int], expected: bool) -> None:
    blueprint = changed(START, nodes=[PassiveNode(id=i) for i in owned])
    graph = await loaded_graph(ArithmeticEngine(WORLD).facts, blueprint)
    assert (graph is not None) is expected


async def test_single_islands_lead_nowhere() -> None:
    line = [node(n, n + 1, kind="start" if n == 1 else "normal") for n in range(1, 30)] + [node(40, 41), node(41)]
    blueprint = changed(START, nodes=[PassiveNode(id=i) for i in [*range(2, 25), 40]])
    graph = await loaded_graph(ArithmeticEngine(World(nodes=line, gems=GEMS)).facts, blueprint)
    assert graph is not None
    assert graph.neighbours[40] == ()
    assert 41 not in graph.routes(frozenset({*range(2, 25), 40}), 3)
