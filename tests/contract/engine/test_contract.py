"""What every engine promises through the port, whatever calculates behind it."""

from __future__ import annotations

import math
import os
import signal
from collections.abc import Sequence
from typing import Any

import pytest
import pytest_asyncio

from app.core.errors import EngineCrashed, EngineError, EngineRefused, InputError
from app.engine.base import Engine, Session
from app.model.blueprint import (
    Allocate,
    Blueprint,
    Change,
    Deallocate,
    Equip,
    GearItem,
    Gem,
    PassiveNode,
    RemoveGroup,
    SetConfig,
    SetGroup,
    SetMain,
    SkillGroup,
    Unequip,
)
from app.model.facts import BaseFact, ClassFact, GemFact, NodeFact

pytestmark = pytest.mark.asyncio(loop_scope="module")

METRICS = ["DPS", "TotalEHP", "Life", "Mana", "FireResist", "Str"]
NO_SUCH_NODE = 999_999_999
TALL = 12
"""Passives in the sample build."""


class Sample:
    """A small build made from what the engine itself says the game has: path of passives, a spell, a body armour."""

    def __init__(self, hero: ClassFact, nodes: dict[int, NodeFact], gem: GemFact, support: GemFact, armour: BaseFact):
        self.hero = hero
        self.nodes = nodes
        self.gem = gem
        self.support = support
        self.armour = armour
        self.path = _walk(nodes, hero.start_node, TALL + 1)

    @property
    def next_node(self) -> int:
        """A passive that connects to the build and is not in it."""
        return self.path[TALL]

    def item(self, **changes: Any) -> GearItem:
        fields = {"slot": self.armour.slots[0], "base": self.armour.name, "title": "Sample Shell", "item_level": 60}
        return GearItem(**{**fields, **changes})

    def group(self, supports: Sequence[GemFact] = (), level: int = 10) -> SkillGroup:
        gems = [
            Gem(gem_id=gem.id, name=gem.name, level=level if gem is self.gem else 1) for gem in (self.gem, *supports)
        ]
        return SkillGroup(label="main", gems=gems)

    def blueprint(self) -> Blueprint:
        return Blueprint(
            class_name=self.hero.name,
            ascendancy=self.hero.ascendancies[0],
            level=80,
            nodes=[self.node(id_) for id_ in self.path[:TALL]],
            items={self.armour.slots[0]: self.item()},
            groups=[self.group()],
            main_group=1,
        )

    def node(self, id_: int) -> PassiveNode:
        return PassiveNode(id=id_, attribute="int" if self.nodes[id_].kind == "attribute" else None)


def _walk(nodes: dict[int, NodeFact], start: int, length: int) -> list[int]:
    """Return passives in breadth-first order from the class start, which keeps every prefix connected."""
    found, seen = [start], {start}
    for id_ in found:
        for other in sorted(nodes[id_].neighbours if id_ in nodes else []):
            plain = other in nodes and nodes[other].ascendancy is None and nodes[other].kind in ("normal", "attribute")
            if plain and other not in seen:
                seen.add(other)
                found.append(other)
    assert len(found) > length, "the class start is connected"
    return found[1 : length + 1]


@pytest_asyncio.fixture(loop_scope="module")
async def sample(engine: Engine) -> Sample:
    facts = engine.facts
    hero = next(hero for hero in await facts.classes() if hero.name == "Sorceress")
    nodes = {node.id: node for node in await facts.nodes()}
    gems = {gem.id: gem for gem in await facts.gems()}
    spells = [gem for gem in gems.values() if gem.kind == "active" and "Spell" in gem.skill_types and gem.modelled]
    gem = next(gem for gem in spells if not gem.weapon_types and gem.name == "Spark")
    support = next(
        gems[id_] for id_ in await facts.supports_for(gem.id) if gems[id_].modelled and not gems[id_].lineage
    )
    armour = next(
        base for base in await facts.bases() if base.type == "Body Armour" and base.requirements.get("level", 0) <= 20
    )
    return Sample(hero, nodes, gem, support, armour)


# version and facts


async def test_the_engine_says_what_it_is(engine: Engine) -> None:
    version = engine.version

    assert version.name in ("pob", "sketch")
    assert version.estimate == (version.name == "sketch")
    assert version.version
    assert version.tree_version == "0_5"


async def test_classes_are_the_games(engine: Engine) -> None:
    classes = await engine.facts.classes()
    names = [hero.name for hero in classes]

    assert names == sorted(names)
    assert {"Witch", "Ranger", "Warrior", "Sorceress", "Huntress", "Mercenary", "Monk", "Druid"} <= set(names)
    assert all(hero.ascendancies for hero in classes)


async def test_gems_are_sorted_unique_and_both_kinds(engine: Engine) -> None:
    gems = await engine.facts.gems()
    ids = [gem.id for gem in gems]

    assert ids == sorted(set(ids))
    assert {gem.kind for gem in gems} == {"active", "support"}
    assert all(gem.name and gem.skill_types for gem in gems if gem.kind == "active")


async def test_nodes_are_sorted_and_their_links_go_both_ways(engine: Engine) -> None:
    nodes = {node.id: node for node in await engine.facts.nodes()}

    assert list(nodes) == sorted(nodes)
    one_way = [
        (a, b) for a, node in nodes.items() for b in node.neighbours if b in nodes and a not in nodes[b].neighbours
    ]
    assert one_way == []


async def test_every_class_starts_somewhere_on_the_tree(engine: Engine) -> None:
    nodes = {node.id: node for node in await engine.facts.nodes()}
    for hero in await engine.facts.classes():
        assert len(_walk(nodes, hero.start_node, 3)) == 3


async def test_bases_affixes_and_runes_fit_together(engine: Engine) -> None:
    bases = await engine.facts.bases()
    names = [base.name for base in bases]
    armour = next(base for base in bases if base.type == "Body Armour")
    affixes = await engine.facts.affixes(armour.name)
    runes = await engine.facts.runes(armour.name)

    assert names == sorted(names)
    assert [affix.id for affix in affixes] == sorted({affix.id for affix in affixes})
    assert {affix.side for affix in affixes} == {"prefix", "suffix"}
    assert all(affix.weight > 0 and affix.lines and affix.group for affix in affixes)
    assert [rune.name for rune in runes] == sorted(rune.name for rune in runes)


async def test_uniques_are_sorted(engine: Engine) -> None:
    uniques = [(unique.name, unique.base) for unique in await engine.facts.uniques()]

    assert uniques == sorted(uniques)


async def test_supports_are_supports(engine: Engine, sample: Sample) -> None:
    supports = {gem.id for gem in await engine.facts.gems() if gem.kind == "support"}
    found = await engine.facts.supports_for(sample.gem.id)

    assert found
    assert found == sorted(found)
    assert set(found) <= supports


@pytest.mark.parametrize("ask", ["affixes", "runes", "supports_for"])
async def test_an_unknown_name_is_an_error_of_the_asker(engine: Engine, ask: str) -> None:
    with pytest.raises((InputError, EngineRefused)):
        await getattr(engine.facts, ask)("No Such Thing")


# building, measuring, exporting


async def test_a_build_has_finite_stats(engine: Engine, sample: Sample) -> None:
    async with engine.session() as session:
        report = await session.build(sample.blueprint())
        stats = await session.stats()

    assert (report.dropped_nodes, report.problems) == ([], [])
    assert stats.engine == engine.version
    assert all(math.isfinite(value) for value in stats.values.values())
    assert stats.get("Life") > 0
    assert stats.get("Mana") > 0
    assert stats.get("TotalEHP") > 0
    assert (stats.dps or 0) > 0


async def test_the_same_build_has_the_same_stats_and_bytes(engine: Engine, sample: Sample) -> None:
    async with engine.session() as one, engine.session() as two:
        results = []
        for session in (one, two, one):
            await session.build(sample.blueprint())
            results.append((await session.stats(), await session.export()))

    assert results[0] == results[1] == results[2]


async def test_export_and_load_give_the_same_stats_and_bytes(engine: Engine, sample: Sample) -> None:
    async with engine.session() as session:
        await session.build(sample.blueprint())
        stats, xml = await session.stats(), await session.export()
    async with engine.session() as session:
        await session.load(xml)

        assert same(await session.stats(), stats) == {}
        assert await session.export() == xml


async def test_the_main_stats_can_be_asked_by_name(engine: Engine, sample: Sample) -> None:
    async with engine.session() as session:
        await session.build(sample.blueprint())
        stats = await session.stats()
        (outputs,) = await session.what_if([[]], METRICS)

    assert set(outputs) <= set(METRICS)
    assert {"DPS", "TotalEHP", "Life"} <= set(outputs)
    assert outputs["Life"] == pytest.approx(stats.get("Life"))
    assert outputs["TotalEHP"] == pytest.approx(stats.get("TotalEHP"))
    assert outputs["DPS"] == pytest.approx(stats.dps)


async def test_inspection_counts_points(engine: Engine, sample: Sample) -> None:
    async with engine.session() as session:
        await session.build(sample.blueprint())
        found = await session.inspect()

    assert found.points["used"] == TALL
    assert found.modelled
    assert found.disabled_reason is None
    assert found.dropped_nodes == []


async def test_a_passive_that_is_not_connected_is_dropped_and_said_so(engine: Engine, sample: Sample) -> None:
    blueprint = sample.blueprint()
    lost = blueprint.model_copy(update={"nodes": [*blueprint.nodes, PassiveNode(id=NO_SUCH_NODE)]})
    async with engine.session() as session:
        report = await session.build(lost)
        with_it = await session.stats()
        await session.build(blueprint)

        assert report.dropped_nodes == [NO_SUCH_NODE]
        assert same(await session.stats(), with_it) == {}


@pytest.mark.parametrize(
    "xml",
    [b"", b"<PathOfBuilding2>", b"<PathOfBuilding/>", b"<html/>", b"\xff\xfe\x00", b"<!DOCTYPE a><PathOfBuilding2/>"],
)
async def test_what_is_no_build_is_refused_and_the_session_goes_on(engine: Engine, sample: Sample, xml: bytes) -> None:
    async with engine.session() as session:
        await session.build(sample.blueprint())
        before = await session.stats()
        with pytest.raises(EngineRefused):
            await session.load(xml)

        assert same(await session.stats(), before) == {}


async def test_an_unknown_class_is_refused(engine: Engine, sample: Sample) -> None:
    async with engine.session() as session:
        with pytest.raises((InputError, EngineRefused)):
            await session.build(sample.blueprint().model_copy(update={"class_name": "Templar"}))


# changes


async def test_changes_are_what_building_with_them_is(engine: Engine, sample: Sample) -> None:
    blueprint = sample.blueprint()
    bare = blueprint.model_copy(update={"nodes": [], "items": {}, "groups": [], "main_group": 0})
    changes: list[Change] = [
        Allocate(nodes=blueprint.nodes),
        Equip(item=sample.item()),
        SetGroup(index=1, group=sample.group()),
        SetMain(index=1),
    ]
    async with engine.session() as session:
        await session.build(blueprint)
        built = await session.stats()
        await session.build(bare)
        report = await session.apply(changes)

        assert (report.dropped_nodes, report.problems) == ([], [])
        assert same(await session.stats(), built) == {}


async def test_a_change_and_its_opposite_change_nothing(engine: Engine, sample: Sample) -> None:
    slot = sample.armour.slots[0]
    pairs: list[tuple[Change, Change]] = [
        (Allocate(nodes=[sample.node(sample.next_node)]), Deallocate(nodes=[sample.next_node])),
        (Unequip(slot=slot), Equip(item=sample.item())),
        (SetGroup(index=2, group=sample.group()), RemoveGroup(index=2)),
        (SetGroup(index=1, group=sample.group(level=1)), SetGroup(index=1, group=sample.group())),
        (SetConfig(key="enemyIsBoss", value="None"), SetConfig(key="enemyIsBoss", value=None)),
    ]
    async with engine.session() as session:
        await session.build(sample.blueprint())
        before = await session.stats()
        for there, back in pairs:
            await session.apply([there])
            await session.apply([back])

            assert same(await session.stats(), before) == {}, there


async def test_each_kind_of_change_does_something(engine: Engine, sample: Sample) -> None:
    changes: list[Change] = [
        Unequip(slot=sample.armour.slots[0]),
        SetGroup(index=1, group=sample.group(level=1)),
        RemoveGroup(index=1),
        Deallocate(nodes=sample.path[:TALL]),
    ]
    for change in changes:
        async with engine.session() as session:
            await session.build(sample.blueprint())
            before = await session.stats()
            await session.apply([change])

            assert same(await session.stats(), before), change


async def test_a_cut_branch_is_reported(engine: Engine, sample: Sample) -> None:
    chain = _chain(sample.nodes, sample.hero.start_node, 4)
    blueprint = sample.blueprint().model_copy(update={"nodes": [sample.node(id_) for id_ in chain]})
    async with engine.session() as session:
        await session.build(blueprint)
        report = await session.apply([Deallocate(nodes=[chain[1]])])
        found = await session.inspect()

    assert sorted(report.dropped_nodes) == sorted(chain[2:])
    assert found.points["used"] == 1


async def test_what_was_dropped_is_gone(engine: Engine, sample: Sample) -> None:
    chain = _chain(sample.nodes, sample.hero.start_node, 4)
    blueprint = sample.blueprint().model_copy(update={"nodes": [sample.node(id_) for id_ in chain]})
    async with engine.session() as session:
        await session.build(blueprint)
        await session.apply([Deallocate(nodes=[chain[1]])])
        await session.apply([Allocate(nodes=[sample.node(chain[1])])])
        alive = await session.inspect()
        kill_child(engine, session)
        with pytest.raises(EngineCrashed):
            await session.stats()
        revived = await session.inspect()

    assert alive.points["used"] == revived.points["used"] == 2


def _chain(nodes: dict[int, NodeFact], start: int, length: int) -> list[int]:
    """Return passives of which each connects only to its neighbours in the list."""

    def longer(path: list[int]) -> list[int] | None:
        if len(path) == length + 1:
            return path[1:]
        for other in sorted(nodes[path[-1]].neighbours):
            free = other in nodes and nodes[other].ascendancy is None and nodes[other].kind in ("normal", "attribute")
            touches = free and set(nodes[other].neighbours) & set(path[:-1])
            found = longer([*path, other]) if free and not touches and other not in path else None
            if found:
                return found
        return None

    found = longer([start])
    assert found
    return found


async def test_a_change_that_cannot_be_made_is_reported_and_the_others_apply(engine: Engine, sample: Sample) -> None:
    async with engine.session() as session:
        await session.build(sample.blueprint())
        report = await session.apply(
            [
                Allocate(nodes=[PassiveNode(id=NO_SUCH_NODE)]),
                Equip(item=GearItem(slot="Helmet", base="No Such Hat")),
                Deallocate(nodes=sample.path[:TALL]),
            ]
        )
        found = await session.inspect()

    assert str(NO_SUCH_NODE) in f"{report.dropped_nodes} {report.problems}"
    assert any("No Such Hat" in problem for problem in report.problems)
    assert found.points["used"] == 0


# what-if


def candidates(sample: Sample) -> list[list[Change]]:
    slot = sample.armour.slots[0]
    return [
        [],
        [Allocate(nodes=[sample.node(sample.next_node)])],
        [Deallocate(nodes=[sample.path[TALL - 1]])],
        [Unequip(slot=slot)],
        [SetGroup(index=1, group=sample.group([sample.support]))],
        [SetGroup(index=1, group=sample.group(level=1)), Unequip(slot=slot)],
        [SetConfig(key="enemyIsBoss", value="None")],
    ]


async def test_what_if_leaves_the_build_unchanged(engine: Engine, sample: Sample) -> None:
    async with engine.session() as session:
        await session.build(sample.blueprint())
        stats, xml = await session.stats(), await session.export()
        await session.what_if(candidates(sample), METRICS)

        assert same(await session.stats(), stats) == {}
        assert await session.export() == xml


async def test_what_if_is_what_a_commit_gives(engine: Engine, sample: Sample) -> None:
    async with engine.session() as session:
        await session.build(sample.blueprint())
        outputs = await session.what_if(candidates(sample), METRICS)
    for candidate, expected in zip(candidates(sample), outputs, strict=True):
        async with engine.session() as session:
            await session.build(sample.blueprint())
            await session.apply(candidate)
            (committed,) = await session.what_if([[]], METRICS)

        assert expected == pytest.approx(committed), candidate


async def test_what_if_does_not_depend_on_order_or_company(engine: Engine, sample: Sample) -> None:
    asked = candidates(sample)
    async with engine.session() as session:
        await session.build(sample.blueprint())
        together = await session.what_if(asked, METRICS)
        backwards = await session.what_if(asked[::-1], METRICS)
        alone = [(await session.what_if([candidate], METRICS))[0] for candidate in asked]

    assert together == backwards[::-1] == alone


async def test_a_candidate_that_cannot_be_tried_is_empty(engine: Engine, sample: Sample) -> None:
    bad: list[list[Change]] = [
        [Equip(item=GearItem(slot="Helmet", base="No Such Hat"))],
        [Allocate(nodes=[PassiveNode(id=NO_SUCH_NODE)])],
        [SetGroup(index=1, group=SkillGroup(gems=[Gem(gem_id="no/such/gem", name="Nothing")]))],
    ]
    async with engine.session() as session:
        await session.build(sample.blueprint())
        before, *outputs, after = await session.what_if([[], *bad, []], METRICS)

    assert outputs == [{}, {}, {}]
    assert before == after != {}


async def test_an_unknown_metric_is_absent(engine: Engine, sample: Sample) -> None:
    async with engine.session() as session:
        await session.build(sample.blueprint())
        (outputs,) = await session.what_if([[]], ["Life", "NoSuchMetric"])

    assert list(outputs) == ["Life"]


# failures


async def test_a_session_without_a_build_is_refused_or_empty_but_alive(engine: Engine, sample: Sample) -> None:
    async with engine.session() as session:
        with pytest.raises(EngineRefused):
            await session.stats()
        await session.build(sample.blueprint())

        assert (await session.stats()).get("Life") > 0


async def test_a_crash_loses_nothing(engine: Engine, sample: Sample) -> None:
    async with engine.session() as session:
        await session.build(sample.blueprint())
        await session.apply([Allocate(nodes=[sample.node(sample.next_node)])])
        before, xml = await session.stats(), await session.export()
        kill_child(engine, session)
        with pytest.raises(EngineError) as caught:
            await session.stats()

        assert isinstance(caught.value, EngineCrashed)
        assert caught.value.retryable
        assert same(await session.stats(), before) == {}
        assert await session.export() == xml


async def test_a_crash_after_loading_a_file_loses_nothing(engine: Engine, sample: Sample) -> None:
    async with engine.session() as session:
        await session.build(sample.blueprint())
        await session.load(await session.export())
        await session.apply([Unequip(slot=sample.armour.slots[0])])
        before = await session.stats()
        kill_child(engine, session)
        with pytest.raises(EngineCrashed):
            await session.what_if([[]], METRICS)

        assert same(await session.stats(), before) == {}


def kill_child(engine: Engine, session: Session) -> None:
    pid = getattr(session, "pid", None)
    assert pid, f"{engine} holds its sessions in processes"
    os.kill(pid, signal.SIGKILL)


def same(one: Any, other: Any) -> dict[str, tuple[float | None, float | None]]:
    """Return the stats that differ by more than rounding."""
    keys = sorted(set(one.values) | set(other.values))
    pairs = {key: (one.values.get(key), other.values.get(key)) for key in keys}
    return {key: pair for key, pair in pairs.items() if None in pair or not math.isclose(*pair, rel_tol=1e-9)}


# blueprint


async def test_a_build_is_read_back_as_a_blueprint_that_gives_the_same_numbers(engine: Engine, sample: Sample) -> None:
    async with engine.session() as session:
        await session.build(sample.blueprint())
        before = await session.stats()
        found = await session.blueprint()
        await session.build(found)

        assert (await session.stats()).values == before.values
    asked = sample.blueprint()
    assert (found.class_name, found.ascendancy, found.level) == (asked.class_name, asked.ascendancy, asked.level)
    assert found.nodes == asked.nodes
    assert [[gem.gem_id for gem in group.gems] for group in found.groups] == [[sample.gem.id]]
    assert found.items.keys() == asked.items.keys()
    assert found.main_group == 1


async def test_a_loaded_file_is_read_as_a_blueprint(engine: Engine, sample: Sample) -> None:
    async with engine.session() as session:
        await session.build(sample.blueprint())
        before, xml = await session.stats(), await session.export()
        await session.load(xml)
        await session.build(await session.blueprint())

        assert (await session.stats()).values == pytest.approx(before.values)


async def test_there_is_no_blueprint_without_a_build(engine: Engine) -> None:
    async with engine.session() as session:
        with pytest.raises(EngineRefused):
            await session.blueprint()
