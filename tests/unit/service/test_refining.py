"""Import and refinement through the use cases, on the estimator: the whole way of a child, without Path of Building."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import yaml

from app.bench.refinement import broken_locks, worn
from app.core.config import Settings
from app.engine.files.codes import encode
from app.engine.files.xml import read
from app.engine.sketch.backend import SketchBackend
from app.model.names import Mode, Phase, Provenance, SubProblemName
from app.model.record import BuildRequest
from app.phases.explore.refinement import KEPT
from app.service import Services
from app.service.imports import ImportRequest
from app.service.refinement import RefineRequest
from app.service.view import BuildView
from app.wiring import open_services
from tests.unit.engine.sketch import samples


@pytest.fixture(scope="module")
def file() -> bytes:
    """A level-90 Sorceress with gear, passives and supports, as the estimator writes it."""
    backend = SketchBackend()
    backend.warm()
    blueprint = samples.Builder(backend).build(samples.RECIPES[0])
    backend.handle("build", {"blueprint": blueprint.model_dump(mode="json")})
    text: str = backend.handle("export", {})
    return text.encode()


@pytest.fixture
async def services(tmp_path: Path) -> AsyncIterator[Services]:
    async with open_services(Settings(engine="sketch", engine_workers=2, data_dir=tmp_path)) as opened:
        yield opened


async def _refined(services: Services, parent: BuildView, prompt: str) -> BuildView:
    child = await services.refinements.refine(parent.id, RefineRequest(prompt=prompt))
    await services.builds.wait(child.id)
    services.library.forget(child.id)
    return await services.library.get(child.id)


async def _stopped(services: Services, build_id: str, enough: Callable[[BuildView], bool]) -> BuildView:
    """Let the build get so far, then cancel it; return it as it was then."""
    for _ in range(2400):
        view = await services.library.get(build_id)
        if enough(view):
            await services.builds.cancel(build_id)
            await services.builds.wait(build_id)
            return view
        await asyncio.sleep(0.05)
    raise AssertionError(f"the build never got so far: {view.progress}")


async def test_an_imported_file_is_a_finished_build(services: Services, file: bytes) -> None:
    view = await services.imports.create(ImportRequest(xml=file.decode()))
    said = {item.field: item for item in view.invariants}
    assert (view.status.value, view.mode, view.parent_id) == ("complete", Mode.INITIAL, None)
    for field, value in (("class", "Sorceress"), ("level", 90), ("skill", "Spark")):
        assert (said[field].value, said[field].provenance) == (value, Provenance.EXPLICIT)
    assert view.stats is not None
    assert view.stats.estimate
    assert set(view.links) >= {"xml", "code", "state"}
    assert all(asked.decision is not None for asked in view.sub_problems.values())


async def test_the_calls_of_an_import_are_recorded(services: Services, file: bytes) -> None:
    view = await services.imports.create(ImportRequest(xml=file.decode()))
    metrics = await services.recordings.metrics(view.id)
    tools = {tool.tool for phase in metrics.phases for tool in phase.tools}
    assert {"pob.load", "pob.stats", "pob.inspect", "pob.export"} <= tools
    assert metrics.run.success_rate == 1.0


async def test_xml_and_share_code_give_the_same_build(services: Services, file: bytes) -> None:
    one = await services.imports.create(ImportRequest(xml=file.decode()))
    two = await services.imports.create(ImportRequest(code=encode(file)))
    assert one.stats == two.stats
    assert one.conflicts == two.conflicts
    assert await services.library.export(one.id, "xml") == await services.library.export(two.id, "xml")


async def test_what_was_exported_can_be_imported_again(services: Services, file: bytes) -> None:
    one = await services.imports.create(ImportRequest(xml=file.decode()))
    text = await services.library.export(one.id, "xml")
    two = await services.imports.create(ImportRequest(xml=text.decode()))
    assert await services.library.export(two.id, "xml") == text
    assert yaml.safe_load(await services.library.export(two.id, "yaml"))["origin"] == "imported"


async def test_a_refinement_reaches_the_wish_and_keeps_what_it_must(services: Services, file: bytes) -> None:
    parent = await services.imports.create(ImportRequest(xml=file.decode()))
    before = await services.library.export(parent.id, "xml")
    child = await _refined(services, parent, "more effective HP, keep the weapon and the boots")
    after = await services.library.export(child.id, "xml")
    assert child.refinement is not None
    assert child.refinement.reached, child.refinement.verdict
    assert child.refinement.after["TotalEHP"] >= 1.15 * child.refinement.before["TotalEHP"]
    assert child.refinement.after["DPS"] >= 0.95 * child.refinement.before["DPS"]
    assert child.refinement.changes
    assert all(row.reason for row in child.refinement.changes)
    assert [(wish.kind, wish.state) for wish in child.wishes] == [("refinement", "met"), ("kept", "met")]
    reasons = {name: sub.decision.reason for name, sub in child.sub_problems.items() if sub.decision is not None}
    assert len(reasons) == len(SubProblemName)
    asked = {name for name, reason in reasons.items() if not reason.startswith(KEPT)}
    assert asked == {SubProblemName.SURVIVABILITY}
    tools = {tool.tool for p in (await services.recordings.metrics(child.id)).phases for tool in p.tools}
    assert {"rules.gather", "rules.reconsider", "rules.assess"} <= tools
    assert {"Weapon 1", "Boots"} <= set(worn(read(before)))
    assert not broken_locks(before, after, child.refinement.locks)
    assert await services.library.export(parent.id, "xml") == before


async def test_the_budget_and_every_experiment_are_reported(services: Services, file: bytes) -> None:
    parent = await services.imports.create(ImportRequest(xml=file.decode()))
    child = await _refined(services, parent, "more effective HP")
    spent = child.exploration
    assert spent is not None
    assert (spent.mode, spent.experiments) == (Mode.REFINEMENT, len(child.experiments))
    assert 0 < spent.experiments <= spent.experiments_allowed
    assert spent.trials == sum(experiment.engine_calls for experiment in child.experiments)
    screening, *checks = child.experiments
    assert (screening.stage, {check.stage for check in checks}) == ("screen", {"check"})
    assert len(screening.variants) <= spent.variants_allowed
    assert all(experiment.verdict and experiment.question for experiment in child.experiments)


async def test_keeping_everything_gives_the_parent_byte_for_byte(services: Services, file: bytes) -> None:
    parent = await services.imports.create(ImportRequest(xml=file.decode()))
    child = await _refined(services, parent, "more damage, but keep everything")
    assert child.refinement is not None
    assert child.refinement.reached is False
    assert child.refinement.changes == []
    assert child.refinement.verdict.startswith("No change recommended")
    assert child.refinement.verdict in child.caveats
    assert child.stats == parent.stats
    assert await services.library.export(child.id, "xml") == await services.library.export(parent.id, "xml")


async def test_the_same_wish_gives_the_same_child(services: Services, file: bytes) -> None:
    parent = await services.imports.create(ImportRequest(xml=file.decode()))
    one = await _refined(services, parent, "more effective HP")
    two = await _refined(services, parent, "more effective HP")
    assert one.refinement == two.refinement
    assert one.experiments == two.experiments
    assert await services.library.export(one.id, "xml") == await services.library.export(two.id, "xml")


async def test_constraints_persist_and_changes_are_shown(services: Services, file: bytes) -> None:
    parent = await services.imports.create(ImportRequest(xml=file.decode()))
    child = await _refined(services, parent, "hardcore, so make it tankier; keep everything")
    changed = {change.field: change for change in child.invariant_changes}
    assert (changed["hardcore"].before, changed["hardcore"].after) == (False, True)
    assert changed["hardcore"].reason
    kept = {item.field: item.value for item in child.invariants}
    assert (kept["class"], kept["level"], kept["skill"]) == ("Sorceress", 90, "Spark")


async def test_decisions_say_what_they_spend(services: Services, file: bytes) -> None:
    parent = await services.imports.create(ImportRequest(xml=file.decode()))
    child = await _refined(services, parent, "more damage, but keep everything")
    rows = {
        row.budget: row for asked in child.sub_problems.values() if asked.decision for row in asked.decision.spending
    }
    assert {"passive_points", "ascendancy_points", "support_slots", "spirit", "str", "dex", "int"} <= set(rows)
    assert rows["passive_points"].spent == 113
    assert rows["passive_points"].marginal is not None
    given_up = [option for asked in child.sub_problems.values() for option in asked.alternatives]
    assert any(option.name.startswith("one more of passive points") for option in given_up)


async def test_a_fundamental_wish_is_decided_anew(services: Services, file: bytes) -> None:
    parent = await services.imports.create(ImportRequest(xml=file.decode()))
    child = await services.refinements.refine(parent.id, RefineRequest(prompt="play Arc instead of Spark, more damage"))
    view = await _stopped(services, child.id, lambda view: view.exploration is not None)
    changed = {change.field: (change.before, change.after) for change in view.invariant_changes}
    assert changed["skill"] == ("Spark", "Arc")
    assert view.exploration is not None
    assert view.exploration.mode is Mode.STRATEGIC
    assert view.refinement is None
    assert any("thought through anew" in text for text in view.assumptions)


async def test_another_weapon_is_another_build_with_the_same_skill(services: Services, file: bytes) -> None:
    parent = await services.imports.create(ImportRequest(xml=file.decode()))
    child = await services.refinements.refine(parent.id, RefineRequest(prompt="switch to a staff"))
    view = await _stopped(services, child.id, lambda view: view.exploration is not None)
    assert view.exploration is not None
    assert view.exploration.mode is Mode.STRATEGIC
    kept = {item.field: item.value for item in view.invariants}
    assert (kept["weapon"], kept["skill"], kept["class"]) == ("Staff", "Spark", "Sorceress")


async def test_a_strategic_child_keeps_what_was_said_before(services: Services, file: bytes) -> None:
    parent = await services.imports.create(ImportRequest(xml=file.decode()))
    asked = BuildRequest(prompt="cold damage instead, hardcore", mode=Mode.STRATEGIC, parent_id=parent.id)
    child = await services.builds.create(asked)
    view = await _stopped(services, child.id, lambda view: bool(view.sub_problems))
    said = {item.field: (item.value, item.provenance) for item in view.invariants}
    assert said["class"] == ("Sorceress", Provenance.EXPLICIT)
    assert said["level"] == (90, Provenance.EXPLICIT)
    assert said["hardcore"] == (True, Provenance.EXPLICIT)
    assert said["damage_type"] == ("cold", Provenance.EXPLICIT)
    assert {change.field for change in view.invariant_changes} >= {"hardcore", "skill", "damage_type"}


async def test_a_strategic_build_compares_ways_of_dealing_damage(services: Services) -> None:
    asked = BuildRequest(prompt="a sorceress for bossing", level=60, mode=Mode.STRATEGIC)
    build = await services.builds.create(asked)
    view = await _stopped(services, build.id, lambda view: bool(view.experiments))
    screening, checking = view.experiments[:2]
    assert (screening.stage, checking.stage) == ("screen", "check")
    assert 2 <= len(screening.variants) <= 4
    assert {variant.name for variant in checking.variants} <= {variant.name for variant in screening.variants}
    assert screening.engine_calls > 0
    assert view.exploration is not None
    assert (view.exploration.mode, view.exploration.experiments) == (Mode.STRATEGIC, 2)
    decision = view.sub_problems[SubProblemName.DAMAGE_DELIVERY].decision
    assert decision is not None
    assert decision.name in {variant.name for variant in checking.variants}


async def test_an_initial_build_spends_nothing_on_experiments(services: Services) -> None:
    build = await services.builds.create(BuildRequest(prompt="a sorceress for bossing", level=60))
    view = await _stopped(services, build.id, lambda view: view.phase is Phase.CONSTRUCT)
    assert view.exploration is not None
    assert (view.exploration.mode, view.exploration.entry) == (Mode.INITIAL, Phase.DECOMPOSE)
    assert (view.exploration.experiments, view.experiments) == (0, [])
