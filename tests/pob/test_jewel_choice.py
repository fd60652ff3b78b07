"""Jewels chosen for their sockets on real Path of Building: they can be made and keep their promise."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.engine.process import ProcessEngine
from app.model.base import changed
from app.model.blueprint import JEWEL_SLOT, Blueprint
from app.model.constraints import InvariantSet
from app.model.demands import Demands, floors_for
from app.model.names import GearTier, Goal
from app.model.sub_problems import AscendancyChoice, DeliveryChoice
from app.search.base import SearchContext
from app.search.gear.jewels import LEAST_GAIN, JewelChoice, plain_jewel
from app.search.gear.pool import slot_pool
from app.search.incumbent import Incumbent
from app.search.sessions import Sharing, open_parallel
from tests.pob.conftest import Facts
from tests.pob.legality import illegal_items
from tests.unit.search.conftest import PLAN

pytestmark = [pytest.mark.pob, pytest.mark.slow]


@pytest.fixture
async def engine(pob_path: Path) -> AsyncIterator[ProcessEngine]:
    made = ProcessEngine("pob", {"pob": str(pob_path)}, workers=2)
    await made.start()
    yield made
    await made.close()


async def chosen(engine: ProcessEngine, start: Blueprint, sessions: int) -> tuple[Blueprint, float, bytes]:
    """Return the build after the choice, what it gained as measured anew, and its file."""
    demands = Demands(
        level=90,
        gear=GearTier.ENDGAME,
        goal=Goal.MAPPING,
        hardcore=False,
        floors=floors_for(90, GearTier.ENDGAME),
    )
    plan = replace(
        PLAN,
        ascendancy=AscendancyChoice(class_name="Sorceress", ascendancy="Stormweaver"),
        delivery=DeliveryChoice(skill_id=start.groups[0].gems[0].gem_id, skill_name="Spark"),
    )
    async with open_parallel(engine, start, Sharing(sessions)) as panel:
        ctx = SearchContext(engine, panel, start, plan, demands, InvariantSet(), 0)
        pool = await slot_pool(ctx, f"{JEWEL_SLOT}0", [b for b in await engine.facts.bases() if b.name == "Sapphire"])
        sockets = {n.id for n in await engine.facts.nodes() if n.kind == "socket"} & {n.id for n in start.nodes}
        jewels = {f"{JEWEL_SLOT}{n}": changed(plain_jewel(pool), slot=f"{JEWEL_SLOT}{n}") for n in sorted(sockets)}
        ctx = replace(ctx, blueprint=changed(start, items={**start.items, **jewels}))
        await panel.build(ctx.blueprint)
        incumbent = await Incumbent.open(ctx)
        await incumbent.learn_requirements()
        before = incumbent.score
        taken = await JewelChoice(ctx, incumbent, 800).run()
        assert taken
        assert incumbent.trials < 900
        promised = incumbent.score
        await panel.build(incumbent.blueprint)
        assert await incumbent.measure() == pytest.approx(promised)
        assert promised - before >= LEAST_GAIN * len(taken)
        inspection = await panel.inspect()
        assert not [finding for finding in inspection.unparsed if finding.slot.startswith(JEWEL_SLOT)]
        return incumbent.blueprint, promised - before, await panel.export()


async def test_jewels_can_be_made_and_do_not_depend_on_how_many_engines_try_them(
    engine: ProcessEngine, facts: Facts, pob_path: Path
) -> None:
    plain = Blueprint.model_validate(facts.sorceress() | {"nodes": facts.passives("Sorceress", 400)})
    blueprint, gain, xml = await chosen(engine, plain, 1)
    again, same, _ = await chosen(engine, plain, 2)
    assert again.items == blueprint.items
    assert same == pytest.approx(gain)
    jewels = [item for slot, item in blueprint.items.items() if slot.startswith(JEWEL_SLOT)]
    assert any(item.has_radius for item in jewels)
    faults = illegal_items(xml, pob_path, GearTier.ENDGAME.value)
    named = {item.title or item.base for item in jewels}
    assert not [fault for fault in faults if any(name in fault for name in named)], faults
