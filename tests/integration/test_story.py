"""A build from its prompt to what is told of it, read by somebody who only has the file and an engine."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.console.exits import Exit, exit_code
from app.engine.files.codes import decode, encode
from app.engine.files.xml import read
from app.engine.process import ProcessEngine
from app.machine.driver import Driver, DriverLimits
from app.model.names import Effort, Outcome
from app.model.record import BuildRecord, BuildRequest
from app.model.wishes import WishState
from app.reasoning.rules import RulesReasoner
from app.search.sessions import Sharing
from app.service.presentation import as_text, presentation_of
from app.service.view import view_of
from app.storage.store import open_storage
from app.tools.runner import ToolRunner
from app.wiring.services import phase_steps
from tests.fakes.attempts import HandClock
from tests.fakes.contexts import RecordedContexts
from tests.fakes.steps import new_record

_FIGURE = re.compile(r"\d[\d,]*(?:\.\d+)?")


@pytest.fixture
async def engine() -> AsyncIterator[ProcessEngine]:
    engine = ProcessEngine("sketch", workers=1)
    yield engine
    await engine.close()


async def built(engine: ProcessEngine, folder: Path, request: BuildRequest) -> BuildRecord:
    async with open_storage(f"sqlite+aiosqlite:///{folder / 'builds.db'}") as storage:
        contexts = RecordedContexts(lambda _: engine, lambda _: RulesReasoner(), ToolRunner(storage.events))
        driver = Driver(storage.builds, phase_steps(Sharing(1)), contexts, DriverLimits(), HandClock())
        build = (await storage.builds.insert(new_record(request=request))).id
        await driver.drive(build)
        return await storage.builds.get(build)


def section(text: str, title: str) -> list[str]:
    found = re.search(rf"^{re.escape(title)}:\n((?:  .*\n?)+)", text, re.MULTILINE)
    return [] if found is None else [line.strip() for line in found[1].splitlines()]


def said(lines: list[str], name: str) -> str:
    return next(line.removeprefix(f"{name}: ") for line in lines if line.startswith(f"{name}: "))


async def test_what_is_told_is_in_the_file(engine: ProcessEngine, tmp_path: Path) -> None:
    record = await built(engine, tmp_path, BuildRequest(prompt="spark sorceress without totems", level=14))
    assert record.xml is not None
    assert record.state.outcome is Outcome.VALIDATED
    text = as_text(presentation_of(record))
    root = read(record.xml)
    gems = {gem.get("nameSpec") or gem.get("skillId") or "" for gem in root.iter("Gem")}
    async with engine.session() as session:
        await session.load(record.xml)
        values = (await session.stats()).values
    figures = {f"{value:,.0f}" for value in values.values()}
    decisions = section(text, "Decisions")
    measured = [part for line in decisions for part in re.findall(r"Measured: (.*)", line)]
    assert measured, "figures are told"
    times = f"{values['CritMultiplier']:.2f}"
    asked = {figure for line in decisions if line.startswith("Requirements") for figure in _FIGURE.findall(line)}
    for figure in {found for part in measured for found in _FIGURE.findall(part)} - asked:
        assert figure in figures | {times}, figure

    spirit = said(decisions, "Spirit").split(" - ")[0]
    kept = [line for line in section(text, "How to play") if line.startswith("Switch on once and keep: ")]
    assert kept == ([] if spirit == "nothing" else [f"Switch on once and keep: {spirit}."])
    assert spirit in gems | {"nothing"}
    assert said(decisions, "Damage delivery").startswith("Spark with ")
    for line in section(text, "Not chosen"):
        name = line.split(": ", 1)[1].split(" - ")[0]
        assert name.startswith("one more of ") or name not in gems, line
    levelled = [re.fullmatch(r"level (\d+): (.*)", line) for line in section(text, "Levelling: gems")]
    assert all(found is not None and int(found[1]) <= 14 for found in levelled)
    names = {name for found in levelled if found for name in re.split(" with |, ", found[2])}
    assert names <= gems

    notes = (root.findtext("Notes") or "").strip().splitlines()
    assert notes[0] == "Asked and reached"
    assert [f"  {line}" for line in notes[1:4]] == text.split("Asked and reached:\n")[1].splitlines()[:3]
    assert '✓ without totems ("without totems"): nothing of it' in notes
    assert decode(encode(record.xml)) == record.xml


async def test_a_wish_that_cannot_be_met_ends_in_caveats(engine: ProcessEngine, tmp_path: Path) -> None:
    request = BuildRequest(prompt="spark sorceress, at least 20000000 dps, quux", level=4)
    record = await built(engine, tmp_path, request)
    view = view_of(record)
    assert (view.outcome, exit_code(view)) == (Outcome.CAVEATS, Exit.CAVEATS)
    [wish] = [one for one in view.wishes if one.kind == "dps"]
    assert record.state.stats is not None
    assert wish.words == "at least 20000000 dps"
    assert [one.words for one in view.wishes if one.state is WishState.NOT_UNDERSTOOD] == ["quux"]
    assert (wish.state, wish.target, wish.reached) == (WishState.UNMET, 20_000_000.0, record.state.stats.dps)
    assert wish.nearest is not None
    assert "tried: weigh damage higher in passives and gear" in wish.nearest
    assert record.state.iteration > 0
    assert any("Asked for: at least 20,000,000 damage per second" in line for line in view.caveats)
    assert record.xml is not None
    assert "✗ at least 20,000,000 damage per second" in (read(record.xml).findtext("Notes") or "")


async def test_what_the_amulet_is_anointed_with_is_told_as_the_file_has_it(
    engine: ProcessEngine, tmp_path: Path
) -> None:
    record = await built(engine, tmp_path, BuildRequest(prompt="spark sorceress", level=70, effort=Effort.QUICK))
    assert record.xml is not None
    (line,) = [line for line in section(as_text(presentation_of(record)), "Shopping list") if line.startswith("Amulet")]
    told = re.search(r"Allocates (.+?) \((\w+), (\w+), (\w+)\)", line)
    assert told is not None, line
    texts = [item.text or "" for item in read(record.xml).iter("Item")]
    assert [text.count(f"{{enchant}}Allocates {told[1]}\n") for text in texts if "Allocates" in text] == [1]
    notable = next(node for node in await engine.facts.nodes() if node.name == told[1])
    assert notable.recipe == list(told.groups()[1:])
    async with engine.session() as session:
        await session.load(record.xml)
        opened = await session.blueprint()
    assert notable.id not in {node.id for node in opened.nodes}
    assert opened.items["Amulet"].anoint == told[1]
