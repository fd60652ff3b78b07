"""The driver: what it writes for every way a build can go."""

from __future__ import annotations

import asyncio

import pytest

from app.core.errors import EngineCrashed, EngineMissing, ReasonerError
from app.machine.driver import Driver, DriverLimits
from app.model.blueprint import Blueprint
from app.model.conflicts import BuildConflict
from app.model.events import CallOutcome, ToolEvent
from app.model.names import BuildStatus, ConflictType, Outcome, Phase, Severity, SubProblemName, Trigger
from app.model.record import BuildRecord
from app.model.state import BuildState, Snapshot
from app.model.stats import Stats
from app.phases.base import PhaseContext, PhaseResult
from app.storage.base import Checkpoint
from app.tools.runner import ToolRunner
from tests.fakes.calculators import VERSION, FakeReasoner
from tests.fakes.contexts import RecordedContexts
from tests.fakes.steps import Endless, Raising, steps
from tests.unit.machine.conftest import Workshop


async def test_a_build_goes_through_every_phase_to_its_end(workshop: Workshop) -> None:
    build = await workshop.queued()
    await workshop.driver().drive(build)
    record = await workshop.get(build)
    assert (record.status, record.state.phase, record.state.outcome) == (
        BuildStatus.COMPLETE,
        Phase.COMPLETE,
        Outcome.VALIDATED,
    )
    assert (record.state.iteration, record.epoch, record.attempts) == (1, 1, 0)
    assert record.engine == VERSION
    assert record.reasoner is not None
    assert record.reasoner.name == "rules"
    assert record.xml is not None
    assert record.invariants.text("class") == "Witch"


async def test_people_are_told_every_step_in_order(workshop: Workshop) -> None:
    build = await workshop.queued()
    await workshop.driver().drive(build)
    told = await workshop.told(build)
    assert [data["phase"] for kind, data in told if kind == "phase"] == [
        "explore", "construct", "validate", "iterate", "explore", "construct", "validate", "complete",
    ]  # fmt: skip
    assert told[:5] == [
        ("status", {"status": "queued"}),
        ("status", {"status": "running"}),
        ("step", {"phase": "decompose", "label": "two questions", "done": 0, "total": 0}),
        ("question", {"field": "class", "text": "Which class?", "options": ["Witch"], "assumed": "Witch"}),
        ("phase", {"phase": "explore", "iteration": 0}),
    ]
    assert told[-2:] == [
        ("status", {"status": "complete"}),
        ("finished", {"status": "complete", "outcome": "validated"}),
    ]


async def test_two_builds_of_one_request_are_equal(workshop: Workshop) -> None:
    first, second = await workshop.queued(), await workshop.queued()
    for build in (first, second):
        await workshop.driver().drive(build)
    one, other = await workshop.get(first), await workshop.get(second)
    assert one.state.blueprint == other.state.blueprint
    assert (one.xml, one.state.stats) == (other.xml, other.state.stats)
    assert await workshop.told(first) == await workshop.told(second)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ReasonerError("no idea"), "reasoner_error"),
        (EngineCrashed("gone"), "engine_crashed"),
        (ZeroDivisionError("a bug"), "internal"),
    ],
)
async def test_an_error_fails_the_build_and_it_can_be_resumed(workshop: Workshop, error: Exception, code: str) -> None:
    build = await workshop.queued()
    await workshop.driver(steps(construct=Raising(error))).drive(build)
    record = await workshop.get(build)
    assert record.status is BuildStatus.FAILED
    assert record.failure is not None
    assert record.failure.code == code
    assert "ZeroDivision" not in record.failure.message
    assert record.state.phase is Phase.CONSTRUCT
    assert (await workshop.told(build))[-1][1]["failure"] == record.failure.model_dump()

    await workshop.storage.builds.requeue(build)
    await workshop.driver().drive(build)
    resumed = await workshop.get(build)
    assert (resumed.status, resumed.failure, resumed.epoch) == (BuildStatus.COMPLETE, None, 2)


async def test_an_engine_that_crashes_twice_in_a_call_fails_nothing(workshop: Workshop) -> None:
    build = await workshop.queued()
    workshop.engine.plan("stats", EngineCrashed("1"), EngineCrashed("2"))
    await workshop.driver().drive(build)
    assert (await workshop.get(build)).status is BuildStatus.COMPLETE
    events = await workshop.storage.events.all(build)
    crashed = [event for event in events if event.tool == "pob.stats"][:3]
    assert len({event.call_id for event in crashed}) == 1
    assert [(e.attempt, e.outcome) for e in crashed] == [
        (1, CallOutcome.ERROR),
        (2, CallOutcome.ERROR),
        (3, CallOutcome.OK),
    ]


async def test_an_engine_that_is_not_there_fails_the_build(workshop: Workshop) -> None:
    def missing(record: BuildRecord) -> object:
        raise EngineMissing("install it")

    contexts = RecordedContexts(missing, lambda r: FakeReasoner(), ToolRunner(workshop.storage.events))  # type: ignore[arg-type]
    build = await workshop.queued()
    await Driver(workshop.storage.builds, steps(), contexts).drive(build)
    record = await workshop.get(build)
    assert record.failure is not None
    assert record.failure.code == "engine_missing"


async def test_a_trigger_outside_the_table_fails_the_build(workshop: Workshop) -> None:
    class Leaping:
        async def run(self, ctx: PhaseContext) -> PhaseResult:
            return PhaseResult(ctx.state, Trigger.VALIDATED)

    build = await workshop.queued()
    await workshop.driver(steps(explore=Leaping())).drive(build)
    record = await workshop.get(build)
    assert record.failure is not None
    assert (record.failure.code, record.state.phase) == ("invalid_transition", Phase.EXPLORE)


async def test_a_step_cannot_choose_its_own_phase(workshop: Workshop) -> None:
    class Jumping:
        async def run(self, ctx: PhaseContext) -> PhaseResult:
            return PhaseResult(ctx.state.model_copy(update={"phase": Phase.VALIDATE}), Trigger.DECOMPOSED)

    build = await workshop.queued()
    await workshop.driver(steps(decompose=Jumping(), explore=Raising(ReasonerError("here")))).drive(build)
    assert (await workshop.get(build)).state.phase is Phase.EXPLORE


async def test_cancelling_stops_a_step_in_flight_promptly(workshop: Workshop) -> None:
    endless = Endless()
    build = await workshop.queued()
    driving = asyncio.create_task(workshop.driver(steps(construct=endless)).drive(build))
    await endless.begun.wait()
    await workshop.storage.builds.request_cancel(build)
    await asyncio.wait_for(driving, 30)
    record = await workshop.get(build)
    assert (record.status, record.cancel_requested, endless.ended) == (BuildStatus.CANCELLED, False, "cancelled")
    assert (await workshop.told(build))[-1] == ("finished", {"status": "cancelled", "outcome": None})
    assert record.state.phase is Phase.CONSTRUCT


async def test_cancelling_before_the_first_step_runs_none(workshop: Workshop) -> None:
    build = await workshop.queued()
    await workshop.storage.builds.claim(build)
    await workshop.storage.builds.request_cancel(build)
    await workshop.driver(steps(decompose=Raising(ReasonerError("never")))).drive(build)
    assert (await workshop.get(build)).status is BuildStatus.CANCELLED


async def test_a_cancelled_build_goes_on_when_resumed(workshop: Workshop) -> None:
    build = await workshop.queued()
    await workshop.storage.builds.request_cancel(build)
    await workshop.driver().drive(build)
    assert (await workshop.get(build)).epoch == 0
    await workshop.storage.builds.requeue(build)
    await workshop.driver().drive(build)
    assert (await workshop.get(build)).status is BuildStatus.COMPLETE


async def test_a_zombie_stops_quietly_and_writes_nothing(workshop: Workshop) -> None:
    endless = Endless()
    build = await workshop.queued()
    zombie = asyncio.create_task(workshop.driver(steps(construct=endless), DriverLimits(poll_s=3600)).drive(build))
    await endless.begun.wait()
    await workshop.driver().drive(build)
    finished = await workshop.get(build), await workshop.told(build)
    zombie.cancel()
    await asyncio.wait({zombie})
    assert (await workshop.get(build), await workshop.told(build)) == finished
    assert finished[0].epoch == 2


async def test_a_zombie_that_finishes_its_step_has_it_refused(workshop: Workshop) -> None:
    class Overtaken:
        """While this step runs, another driver takes the build to its end."""

        async def run(self, ctx: PhaseContext) -> PhaseResult:
            await workshop.driver().drive(ctx.build_id)
            return PhaseResult(ctx.state.model_copy(update={"iteration": 99}), Trigger.EXPLORED)

    build = await workshop.queued()
    await workshop.driver(steps(explore=Overtaken()), DriverLimits(poll_s=3600)).drive(build)
    record = await workshop.get(build)
    assert (record.status, record.state.iteration, record.epoch) == (BuildStatus.COMPLETE, 1, 2)
    assert [kind for kind, _ in await workshop.told(build)].count("finished") == 1


async def test_a_zombie_leaves_no_tool_event_behind(workshop: Workshop) -> None:
    class Overtaken:
        """Calls the engine before and after another driver takes the build to its end."""

        async def run(self, ctx: PhaseContext) -> PhaseResult:
            await ctx.engine.facts.classes()
            await workshop.driver().drive(ctx.build_id)
            events.extend(await workshop.storage.events.all(ctx.build_id))
            await ctx.engine.facts.gems()
            return PhaseResult(ctx.state, Trigger.EXPLORED)

    events: list[ToolEvent] = []
    build = await workshop.queued()
    await workshop.driver(steps(explore=Overtaken()), DriverLimits(poll_s=3600)).drive(build)
    assert await workshop.storage.events.all(build) == events
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert "pob.facts.classes" in {event.tool for event in events}
    assert "pob.facts.gems" not in {event.tool for event in events}


async def test_a_zombie_is_stopped_in_the_middle_of_its_step(workshop: Workshop) -> None:
    endless = Endless()
    build = await workshop.queued()
    zombie = asyncio.create_task(workshop.driver(steps(construct=endless)).drive(build))
    await endless.begun.wait()
    await workshop.storage.builds.claim(build)
    await asyncio.wait_for(zombie, 30)
    assert endless.ended == "cancelled"
    assert (await workshop.get(build)).status is BuildStatus.RUNNING


QUICK = DriverLimits(poll_s=0.01, pauses_s=(0.0, 0.0, 0.0))
"""Three trials, one right after the other."""


async def interrupted(workshop: Workshop, times: int = 5) -> str:
    """Return a build whose process has ended so often without a checkpoint."""
    build = await workshop.queued()
    for _ in range(times):
        await workshop.storage.builds.claim(build)  # and the process dies
    return build


async def test_a_build_that_is_interrupted_again_and_again_is_set_aside(workshop: Workshop) -> None:
    build = await interrupted(workshop)
    await workshop.driver().drive(build)
    record = await workshop.get(build)
    assert (record.status, record.failure, record.trials, record.alone) == (BuildStatus.QUEUED, None, 0, False)
    assert record.not_before is not None
    assert 0 < (record.not_before - record.updated_at).total_seconds() <= 5
    await workshop.driver().drive(build)
    await workshop.driver().drive(build, alone=True)
    assert await workshop.get(build) == record, "its time has not come"


async def test_a_trial_alone_does_the_one_step_and_the_build_is_like_any_other(workshop: Workshop) -> None:
    build = await interrupted(workshop)
    driver = workshop.driver(limits=QUICK)
    await driver.drive(build)
    await driver.drive(build)
    assert (await workshop.get(build)).status is BuildStatus.QUEUED, "not beside others"
    await driver.drive(build, alone=True)
    tried = await workshop.get(build)
    assert (tried.status, tried.state.phase) == (BuildStatus.RUNNING, Phase.EXPLORE)
    assert (tried.attempts, tried.trials, tried.alone, tried.not_before) == (0, 0, False, None)
    await driver.drive(build)
    assert (await workshop.get(build)).status is BuildStatus.COMPLETE


async def test_a_build_fails_once_it_has_ended_its_process_all_alone_three_times(workshop: Workshop) -> None:
    build, driver, store = await interrupted(workshop), workshop.driver(limits=QUICK), workshop.storage.builds
    for trial in range(1, 4):
        await driver.drive(build)
        assert (await workshop.get(build)).status is BuildStatus.QUEUED
        claimed = await store.claim(build, alone=True)  # and the process dies
        assert claimed is not None
        assert (claimed.alone, claimed.trials) == (True, trial)
    await driver.drive(build)
    record = await workshop.get(build)
    assert record.failure is not None
    assert (record.status, record.failure.code) == (BuildStatus.FAILED, "crash_loop")


async def test_a_process_that_ends_while_a_build_is_set_aside_speaks_for_the_build(workshop: Workshop) -> None:
    build, driver, store = await interrupted(workshop), workshop.driver(limits=QUICK), workshop.storage.builds
    for _ in range(12):
        await driver.drive(build)
        await store.claim(build, alone=True)  # killed from outside, as the next process is, which has begun nothing yet
        await driver.drive(build)
        await store.pardon()
    record = await workshop.get(build)
    assert (record.status, record.trials) == (BuildStatus.QUEUED, 0)


async def test_a_trial_that_ends_in_good_order_does_not_count(workshop: Workshop) -> None:
    build, endless = await interrupted(workshop), Endless()
    driver = workshop.driver(steps(decompose=endless), QUICK)
    await driver.drive(build)
    for _ in range(6):
        endless.begun.clear()
        trial = asyncio.create_task(driver.drive(build, alone=True))
        await endless.begun.wait()
        trial.cancel()
        await asyncio.wait({trial})
    record = await workshop.get(build)
    assert (record.trials, record.alone, record.failure) == (0, False, None)


async def test_restarts_in_good_order_never_set_a_build_aside(workshop: Workshop) -> None:
    build, endless = await workshop.queued(), Endless()
    for _ in range(8):
        endless.begun.clear()
        driving = asyncio.create_task(workshop.driver(steps(decompose=endless)).drive(build))
        await endless.begun.wait()
        driving.cancel()
        await asyncio.wait({driving})
    record = await workshop.get(build)
    assert (record.attempts, record.not_before, record.epoch) == (0, None, 8)
    await workshop.driver().drive(build)
    assert (await workshop.get(build)).status is BuildStatus.COMPLETE


async def test_a_build_that_is_set_aside_is_cancelled_at_once_and_can_be_resumed(workshop: Workshop) -> None:
    build = await interrupted(workshop)
    await workshop.driver().drive(build)
    assert (await workshop.storage.builds.request_cancel(build)).status is BuildStatus.CANCELLED
    await workshop.storage.builds.requeue(build)
    await workshop.driver().drive(build)
    assert (await workshop.get(build)).status is BuildStatus.COMPLETE


async def test_cancelling_before_its_process_died_ends_it_instead_of_setting_it_aside(workshop: Workshop) -> None:
    build = await interrupted(workshop)
    await workshop.storage.builds.request_cancel(build)
    await workshop.driver().drive(build)
    assert (await workshop.get(build)).status is BuildStatus.CANCELLED


async def test_deleting_a_build_stops_its_step_and_nothing_of_it_is_left(workshop: Workshop) -> None:
    endless, build = Endless(), await workshop.queued()
    driving = asyncio.create_task(workshop.driver(steps(construct=endless)).drive(build))
    await endless.begun.wait()
    await workshop.storage.builds.delete(build)
    await asyncio.wait_for(driving, 30)
    assert endless.ended == "cancelled"
    assert await workshop.told(build) == []
    assert await workshop.storage.events.all(build) == []


async def test_progress_resets_the_crash_count(workshop: Workshop) -> None:
    build = await workshop.queued()
    for _ in range(4):
        await workshop.storage.builds.claim(build)
    await workshop.driver().drive(build)
    record = await workshop.get(build)
    assert (record.status, record.attempts, record.epoch) == (BuildStatus.COMPLETE, 0, 5)


async def test_a_stop_leaves_the_build_runnable_after_the_current_step(workshop: Workshop) -> None:
    stop = asyncio.Event()

    class Stopping:
        async def run(self, ctx: PhaseContext) -> PhaseResult:
            stop.set()
            return PhaseResult(ctx.state.model_copy(update={"done": 1}))

    build = await workshop.queued()
    await workshop.driver(steps(construct=Stopping())).drive(build, stop)
    record = await workshop.get(build)
    assert (record.status, record.state.phase, record.state.done) == (BuildStatus.RUNNING, Phase.CONSTRUCT, 1)
    await workshop.driver().drive(build)
    assert (await workshop.get(build)).status is BuildStatus.COMPLETE


async def test_out_of_time_without_a_valid_build_fails(workshop: Workshop) -> None:
    endless = Endless()
    build = await workshop.queued()
    await workshop.storage.builds.claim(build)
    await workshop.storage.builds.checkpoint(build, 1, Checkpoint(BuildState(phase=Phase.CONSTRUCT)))
    await workshop.driver(steps(construct=endless), DriverLimits(budget_s=1, poll_s=0.01)).drive(build)
    record = await workshop.get(build)
    assert record.failure is not None
    assert (record.failure.code, endless.ended) == ("budget_exceeded", "cancelled")


@pytest.mark.parametrize("phase", [Phase.EXPLORE, Phase.CONSTRUCT, Phase.VALIDATE, Phase.ITERATE])
async def test_out_of_time_with_a_best_build_ends_with_caveats(workshop: Workshop, phase: Phase) -> None:
    conflict = BuildConflict(
        id="x",
        type=ConflictType.DAMAGE_GAP,
        severity=Severity.BLOCKING,
        affected=[SubProblemName.DAMAGE_SCALING],
        message="Too little damage.",
    )
    blueprint = Blueprint(class_name="Witch", ascendancy=None, level=90)
    best = Snapshot(iteration=0, blueprint=blueprint, stats=Stats(engine=VERSION), blocking=1, conflicts=[conflict])
    build = await workshop.queued()
    await workshop.storage.builds.claim(build)
    state = BuildState(phase=phase, iteration=1, best=best, blueprint=blueprint.model_copy(update={"level": 91}))
    await workshop.storage.builds.checkpoint(build, 1, Checkpoint(state))
    await workshop.driver(steps(**{phase.value: Endless()}), DriverLimits(budget_s=0.05, poll_s=0.01)).drive(build)
    record = await workshop.get(build)
    assert (record.status, record.state.outcome) == (BuildStatus.COMPLETE, Outcome.CAVEATS)
    assert record.state.blueprint == blueprint
    assert record.state.caveats == [
        "The time budget of 0.05 s ended before the build was finished.",
        "Too little damage.",
    ]


async def test_driving_what_is_finished_or_unknown_does_nothing(workshop: Workshop) -> None:
    build = await workshop.queued()
    await workshop.driver().drive(build)
    before = await workshop.get(build)
    await workshop.driver().drive(build)
    await workshop.driver().drive("missing")
    assert await workshop.get(build) == before
