"""The worth of one more unit: measured for every budget that a made build spends, and true when bought."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from app.core.config import Settings
from app.engine.process import ProcessEngine
from app.model.blueprint import Allocate, PassiveNode
from app.model.experiments import Spending
from app.model.names import Attribute
from app.model.record import BuildRequest
from app.service.view import BuildView
from app.wiring import open_services

TRIED = {
    "passive_points",
    "support_slots",
    "spirit",
    "affix_slots",
    "rune_sockets",
    "jewel_sockets",
    "str",
    "dex",
    "int",
}


def rows_of(view: BuildView) -> dict[str, Spending]:
    return {row.budget: row for sub in view.sub_problems.values() if sub.decision for row in sub.decision.spending}


async def test_every_budget_says_what_one_more_unit_is_worth(tmp_path: Path) -> None:
    async with open_services(Settings(data_dir=tmp_path, engine="sketch")) as services:
        accepted = await services.builds.create(BuildRequest(prompt="titan with maces", level=80))
        await services.builds.wait(accepted.id)
        view = await services.library.get(accepted.id)
        xml = await services.library.export(accepted.id, "xml")
    rows = rows_of(view)
    assert {name for name in TRIED if rows[name].marginal is None} == set()
    assert rows["affix_slots"].spent < (rows["affix_slots"].available or 0)
    assert rows["rune_sockets"].next_best.endswith(")")
    assert rows["jewel_sockets"].next_best.startswith("another ")
    strength = rows["str"]
    more, _, what = strength.next_best.partition(" ")
    assert (strength.metric, what) == ("TotalEHP", "more Strength")
    assert int(more) in (5, 6), "what an attribute passive gives, and that with what increases attributes"
    assert strength.marginal == pytest.approx(await worth_of_strength(xml) / int(more), rel=1e-3)


@asynccontextmanager
async def open_engine() -> AsyncIterator[ProcessEngine]:
    engine = ProcessEngine("sketch", workers=1)
    try:
        yield engine
    finally:
        await engine.close()


async def worth_of_strength(xml: bytes) -> float:
    """Return the relative gain in effective hit points of one more passive that gives Strength, bought for real."""
    async with open_engine() as engine, engine.session() as session:
        await session.load(xml)
        before = (await session.stats()).values["TotalEHP"]
        owned = {node.id for node in (await session.blueprint()).nodes}
        nodes = {node.id: node for node in await engine.facts.nodes()}
        beside = {near for node in owned for near in nodes[node].neighbours}
        free = sorted(n.id for n in nodes.values() if n.kind == "attribute" and n.id in beside - owned)
        await session.apply([Allocate(nodes=[PassiveNode(id=free[0], attribute=Attribute.STRENGTH)])])
        after = (await session.stats()).values["TotalEHP"]
    return after / before - 1
