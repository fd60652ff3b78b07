"""`bench build --profile`: where the wall time of a build goes, step by step, and how many engines work meanwhile.

Two builds of one prompt, each on a store of its own: everything open, and with skill, weapon and ascendancy named, so
that there is no race between skills. Machines differ, so seconds are also given multiplied with the candidates a second
that a plain loop in Lua tries on the same machine in the same run (`bench whatif`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import fmean
from typing import Any

from app.bench.builds import PROMPTS, cores, judged, scratch_services, timed_build
from app.bench.explore import request_for
from app.bench.whatif import plain_rate
from app.core.config import Settings
from app.metrics.advice import WHAT_IF
from app.metrics.figures import is_executed
from app.model.events import Attempt, ToolKind
from app.model.names import SubProblemName
from app.model.record import BuildRequest, ProgressEvent
from app.model.state import BuildState
from app.model.sub_problems import AscendancyChoice, Option

LATER = ("loadouts", "groups")
"""Spans of what builds did not have when the goal of `GOAL` was set: loadouts on the way up, skills for a purpose."""
GOAL = 2000.0
"""Seconds times plain-loop candidates a second that a build without a race and `LATER` should take at most."""

OPEN = BuildRequest(prompt=PROMPTS[0])

Calls = Sequence[Attempt]


@dataclass(frozen=True)
class Stage:
    """What one step of a build took: wall seconds, candidates tried, seconds with no, one, two or more engines busy."""

    phase: str
    step: str
    seconds: float
    candidates: int
    busy: tuple[float, float, float]

    def line(self) -> str:
        """Return it as a row of the table."""
        engines = "".join(f"{seconds:8.2f}" for seconds in self.busy)
        return f"{self.phase:<10}{self.seconds:8.2f}{self.candidates:8,d}{engines}  {self.step[:70]}"


HEAD = f"{'phase':<10}{'s':>8}{'tried':>8}{'none':>8}{'one':>8}{'more':>8}  step (seconds with so many engines busy)"


async def measure(settings: Settings, request: BuildRequest = OPEN) -> dict[str, Any]:
    """Return both builds step by step, the plain loop's rate, and seconds times rate beside the goal.

    `plain_per_second` is the mean of the rates before and after, and null, with all that depends on it, where Path of
    Building is not installed.
    """
    rates = [await plain_rate(settings)]
    whole, named = await _profiled(settings, request)
    alone, _ = await _profiled(settings, named)
    rates.append(await plain_rate(settings))
    known = [rate for rate in rates if rate is not None]
    plain = fmean(known) if known else None
    seconds = {"everything": whole["seconds"], "named, without loadouts and purposes": _earlier(alone)}
    times = {scope: None if plain is None else round(each * plain) for scope, each in seconds.items()}
    return {
        "benchmark": "build profile",
        "cores": cores(),
        "plain_per_second": plain and round(plain, 1),
        "seconds": {scope: round(each, 1) for scope, each in seconds.items()},
        "normalised": times,
        "goal": GOAL,
        "builds": [whole, alone],
        "table": [
            *_table(whole),
            "",
            *_table(alone),
            "",
            *(_scope(seconds[each], times[each], each) for each in seconds),
        ],
    }


def _scope(seconds: float, normalised: int | None, scope: str) -> str:
    told = "Path of Building is not installed" if normalised is None else f"{normalised:,} (goal {GOAL:,.0f})"
    return f"{scope}: {seconds:.1f} s, times the plain loop's candidates a second: {told}"


def _earlier(build: dict[str, Any]) -> float:
    """Return the seconds of a build but for what builds did not have when the goal was set."""
    return float(build["seconds"] - sum(build["later_seconds"].values()))


def _table(build: dict[str, Any]) -> list[str]:
    whole = f"{build['prompt']}: {build['seconds']:.1f} s, {build['outcome']}, {build['evaluations']:,} evaluations"
    return [whole, HEAD, *(Stage(**stage).line() for stage in build["stages"])]


async def _profiled(settings: Settings, request: BuildRequest) -> tuple[dict[str, Any], BuildRequest]:
    """Make one build; return what is read off it, and the request that names what it chose."""
    async with scratch_services(settings) as services:
        build_id, seconds = await timed_build(services, request)
        stages = stages_of(await services.recordings.progress(build_id), await services.recordings.timings(build_id))
        rows = (await services.recordings.metrics(build_id)).rows
        later = {name: round(sum(row.wall_ms for row in rows if row.name == name) / 1000, 2) for name in LATER}
        report = await judged(services, build_id)
        figures = {key: report.get(key) for key in ("outcome", "delivery", "dps", "ehp", "evaluations")}
        told = {"prompt": request.prompt, "named": request.overrides, "seconds": round(seconds, 2)}
        state = BuildState.from_yaml((await services.library.export(build_id, "yaml")).decode())
        profile = {**told, **figures, "later_seconds": later, "stages": [vars(stage) for stage in stages]}
        return profile, _named(state, request)


def _named(state: BuildState, request: BuildRequest) -> BuildRequest:
    """Return the request with skill, weapon and ascendancy as the build has them."""
    chosen = {name: question.decision.choice for name, question in state.sub_problems.items() if question.decision}
    delivery, ascendancy = chosen.get(SubProblemName.DAMAGE_DELIVERY), chosen.get(SubProblemName.ASCENDANCY)
    if delivery is None or not isinstance(ascendancy, AscendancyChoice):
        return request
    asked = request_for(request, Option(name="", choice=delivery))
    named = {"ascendancy": ascendancy.ascendancy} if ascendancy.ascendancy else {}
    return asked.model_copy(update={"overrides": {**asked.overrides, **named}})


def stages_of(events: Sequence[ProgressEvent], calls: Calls) -> list[Stage]:
    """Return what each step took: from the step before it to its own end.

    A call's candidates belong to the step in which it began; answers from the cache keep no engine busy.
    """
    known = [call for call in calls if call.kind is ToolKind.POB]
    stages, before = [], events[0].at if events else None
    for event in events:
        if event.type != "step" or before is None:
            continue
        tried = sum(
            call.results or 0 for call in known if call.tool == WHAT_IF and before <= call.started_at < event.at
        )
        phase = event.data.phase.value if event.data.phase else ""
        busy = busy_seconds([_busy(call) for call in known if is_executed(call)], before, event.at)
        stages.append(Stage(phase, event.data.label or "", (event.at - before).total_seconds(), tried, busy))
        before = event.at
    return stages


Interval = tuple[datetime, datetime]


def _busy(call: Attempt) -> Interval:
    """Return from when to when a call kept an engine busy: what it waited for one before does not count."""
    end = call.started_at + timedelta(milliseconds=call.duration_ms or 0.0)
    return min(call.started_at + timedelta(milliseconds=call.queue_ms or 0.0), end), end


def busy_seconds(intervals: Sequence[Interval], begin: datetime, end: datetime) -> tuple[float, float, float]:
    """Return the seconds between two times that none, one, and two or more of the intervals cover."""
    cut = [(max(a, begin), min(b, end)) for a, b in intervals if a < end and b > begin]
    edges = sorted([(begin, 0), (end, 0), *((a, 1) for a, _ in cut), *((b, -1) for _, b in cut)])
    spent, running = [0.0, 0.0, 0.0], 0
    for (at, change), (until, _) in pairwise(edges):
        running += change
        spent[min(running, 2)] += (until - at).total_seconds()
    return spent[0], spent[1], spent[2]
