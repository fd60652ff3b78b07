"""Recording engines and reasoners."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from app.core.errors import EngineCrashed, EngineRefused
from app.engine.base import Engine
from app.model.base import changed
from app.model.blueprint import Blueprint, PassiveNode, SetMain
from app.model.constraints import InvariantSet
from app.model.events import CallOutcome, ToolKind
from app.model.names import Phase, SubProblemName
from app.model.record import BuildRequest
from app.model.state import BuildState
from app.model.stats import EngineVersion
from app.reasoning.base import Reasoner, ReasoningContext
from app.reasoning.recorded import RecordedReasoner
from app.tools.engine import AnsweredFacts, RecordedEngine, RecordedFacts
from app.tools.scope import Scope
from tests.fakes.attempts import Bench
from tests.fakes.calculators import VERSION, FakeEngine, FakeReasoner


class NewerEngine(FakeEngine):
    @property
    def version(self) -> EngineVersion:
        return changed(VERSION, version="newer")


WITCH = Blueprint(class_name="Witch", ascendancy=None, level=90)


async def test_every_call_of_a_session_is_recorded(bench: Bench) -> None:
    engine: Engine = RecordedEngine(FakeEngine(), bench.runner(), bench.scope)
    async with engine.session() as session:
        await session.build(WITCH)
        await session.apply([SetMain(index=1)])
        outputs = await session.what_if([[], [SetMain(index=2)]], ["Life", "DPS"])
        stats = await session.stats()
        await session.inspect()
        xml = await session.export()
        await session.load(xml)
    assert len(outputs) == 2
    assert stats.engine == engine.version == VERSION
    events = await bench.events()
    assert [e.tool for e in events] == [
        "pob.build", "pob.apply", "pob.what_if", "pob.stats", "pob.inspect", "pob.export", "pob.load",
    ]  # fmt: skip
    assert {(e.kind, e.tool_version, e.outcome) for e in events} == {(ToolKind.POB, "fake 1", CallOutcome.OK)}
    what_if = events[2].args or {}
    assert (what_if["candidates"], what_if["metrics"]) == (2, ["Life", "DPS"])
    assert set(events[0].args or {}) == {"blueprint"}
    assert (events[1].args or {})["changes"] == [{"op": "set_main", "index": 1}]


async def test_the_same_question_about_another_build_is_another_question(bench: Bench) -> None:
    engine = RecordedEngine(FakeEngine(), bench.runner(), bench.scope)
    other = WITCH.model_copy(update={"nodes": [PassiveNode(id=1)]})
    for blueprint in (WITCH, other, WITCH):
        async with engine.session() as session:
            await session.build(blueprint)
            await session.stats()
    hashes = [e.args_sha256 for e in await bench.events() if e.tool == "pob.stats"]
    assert hashes[0] == hashes[2] != hashes[1]


async def test_a_crash_is_repeated_on_the_same_session(bench: Bench) -> None:
    inner = FakeEngine()
    inner.plan("stats", EngineCrashed("gone"))
    async with RecordedEngine(inner, bench.runner(), bench.scope).session() as session:
        await session.build(WITCH)
        stats = await session.stats()
    assert stats.values["Life"] > 0
    assert inner.opened == 1
    assert [(e.tool, e.attempt, e.outcome) for e in await bench.events()] == [
        ("pob.build", 1, CallOutcome.OK),
        ("pob.stats", 1, CallOutcome.ERROR),
        ("pob.stats", 2, CallOutcome.OK),
    ]


async def test_facts_are_asked_once_per_step(bench: Bench) -> None:
    inner = FakeEngine()
    engine = RecordedEngine(inner, bench.runner(), bench.scope)
    first, second = await engine.facts.classes(), await engine.facts.classes()
    assert first == second
    assert first is not second
    assert inner.known.asked == 1
    assert await engine.facts.supports_for("a") == ["a"]
    assert await engine.facts.supports_for("b") == ["b"]
    assert [(e.tool, e.args) for e in await bench.events()] == [
        ("pob.facts.classes", {}),
        ("pob.facts.supports_for", {"gem_id": "a"}),
        ("pob.facts.supports_for", {"gem_id": "b"}),
    ]


async def test_what_is_just_being_asked_is_waited_for_and_asked_again_when_it_fails(bench: Bench) -> None:
    facts = RecordedEngine(FakeEngine(), bench.runner(), bench.scope).facts
    first, second = await asyncio.gather(facts.supports_for("a"), facts.supports_for("a"))
    assert first == second
    assert len(await bench.events()) == 1

    answers = iter([EngineRefused("not now"), ["b"]])

    async def record(*_: object) -> object:
        await asyncio.sleep(0)
        answer = next(answers)
        if isinstance(answer, EngineRefused):
            raise answer
        return answer

    asked = RecordedFacts(FakeEngine().facts, record, {})
    refused, given = await asyncio.gather(asked.supports_for("a"), asked.supports_for("a"), return_exceptions=True)
    assert isinstance(refused, EngineRefused)
    assert given == ["b"]


async def test_facts_are_asked_once_under_one_claim_whatever_the_phase(bench: Bench) -> None:
    inner, newer, answered = FakeEngine(), NewerEngine(), AnsweredFacts()

    async def ask(engine: Engine, scope: Scope) -> None:
        assert await RecordedEngine(engine, bench.runner(), scope, None, answered).facts.classes()

    await ask(inner, bench.scope)
    await ask(inner, replace(bench.scope, phase=Phase.VALIDATE))
    assert inner.known.asked == 1
    await ask(inner, replace(bench.scope, epoch=2))
    assert inner.known.asked == 2
    await ask(newer, bench.scope)
    assert newer.known.asked == 1
    await ask(inner, bench.scope)
    assert inner.known.asked == 2


async def test_what_the_longest_idle_build_asked_is_forgotten() -> None:
    answered = AnsweredFacts(builds=2)
    for build_id in ("a", "b", "a", "c"):
        answered.of(Scope(build_id, Phase.EXPLORE), VERSION)[("classes", "")] = []
    assert answered.of(Scope("a", Phase.EXPLORE), VERSION)
    assert not answered.of(Scope("b", Phase.EXPLORE), VERSION)


async def test_closing_a_recorded_engine_leaves_the_shared_one_open(bench: Bench) -> None:
    engine = RecordedEngine(FakeEngine(), bench.runner(), bench.scope)
    await engine.start()
    await engine.close()
    assert await engine.facts.classes()


async def test_a_reasoner_is_recorded_with_the_calls_it_makes(bench: Bench) -> None:
    engine = RecordedEngine(FakeEngine(), bench.runner(), bench.scope)
    reasoner: Reasoner = RecordedReasoner(FakeReasoner(), bench.runner(), bench.scope)
    ctx = ReasoningContext(BuildRequest(prompt="a witch"), InvariantSet(), BuildState(), engine)
    (found,) = await reasoner.gather(ctx, SubProblemName.SURVIVABILITY)
    await reasoner.resolve(ctx, [])
    gather, classes, resolve = await bench.events()
    assert [e.tool for e in (gather, classes, resolve)] == ["rules.gather", "pob.facts.classes", "rules.resolve"]
    assert classes.parent_call_id == gather.call_id == found.call_id
    assert gather.sub_problem is classes.sub_problem is SubProblemName.SURVIVABILITY
    assert resolve.sub_problem is None
    assert gather.kind is ToolKind.OTHER


async def test_a_step_of_a_language_model_names_the_model_and_is_no_request_itself(bench: Bench) -> None:
    reasoner = RecordedReasoner(FakeReasoner("llm", "some-model"), bench.runner(), bench.scope)
    await reasoner.extract(BuildRequest(prompt="a witch"), FakeEngine())
    (event,) = await bench.events()
    assert (event.tool, event.kind, event.tool_version) == ("llm.extract", ToolKind.OTHER, "some-model")
    assert (reasoner.name, reasoner.model) == ("llm", "some-model")
