"""Routes on what happened to builds: live events, tool events, metrics, expectations, comparisons."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import date
from typing import Annotated, Literal

from fastapi import APIRouter, Header, Query
from sse_starlette import EventSourceResponse, ServerSentEvent

from app.api.access import READS, USES, AccessDep, OwnBuild, own_build
from app.api.dependencies import Cursor, ServicesDep, parse_sequence
from app.api.problems import documented
from app.core.errors import BadRequest, NotFound, StorageBusy
from app.metrics.breakdown import BuildMetrics
from app.metrics.comparison import Comparison
from app.metrics.expectations import Expectations, Verdict, check_usable
from app.metrics.limits import InvalidMatcher
from app.metrics.usage import UsageBy, UsageReport
from app.model.events import CallOutcome
from app.model.names import Phase
from app.service import Services
from app.service.builds import FINISHED
from app.service.recordings import AttemptPage, CallPage, ToolFilter

router = APIRouter(prefix="/v1", tags=["recordings"])
HEARTBEAT_S = 15
POLL_S = 0.25
IDLE_POLLS = 8
LastEventId = Annotated[str | None, Header(alias="Last-Event-ID", max_length=40)]
ToolName = Annotated[str | None, Query(max_length=100)]
Ids = Annotated[str, Query(min_length=1, max_length=1000, description="Builds (or label:NAME), separated by commas")]


async def watch(services: Services, build_id: str, after: int) -> AsyncIterator[ServerSentEvent]:
    """Yield events with a greater sequence number; end when the build is finished and all were sent, or is deleted.

    The status is read before the events, so that nothing written together with the end can be missed.
    """
    idle = 0
    while True:
        try:
            over = idle % IDLE_POLLS == 0 and (await services.library.get(build_id)).status in FINISHED
        except NotFound:
            return
        events = await services.recordings.progress(build_id, after)
        for event in events:
            after = event.seq
            told = event.data.model_dump(mode="json")
            data = {"build_id": build_id, "seq": after, "type": event.type, "at": event.at.isoformat(), **told}
            yield ServerSentEvent(data=json.dumps(data, ensure_ascii=False), event=event.type, id=str(after))
        if over and not events:
            return
        idle = 0 if events else idle + 1
        if not events:
            await asyncio.sleep(POLL_S)


@router.get(
    "/builds/{build_id}/events",
    dependencies=[READS],
    response_class=EventSourceResponse,
    responses={200: {"content": {"text/event-stream": {}}}, **documented(NotFound, StorageBusy)},
)
async def stream_events(
    build_id: OwnBuild, services: ServicesDep, last_event_id: LastEventId = None
) -> EventSourceResponse:
    """Stream progress as Server-Sent Events until the build ends; `Last-Event-ID` resumes without a gap."""
    after = parse_sequence(last_event_id, "header.Last-Event-ID")
    await services.library.get(build_id)
    return EventSourceResponse(watch(services, build_id, after), ping=HEARTBEAT_S)


@router.get("/builds/{build_id}/tool-events", dependencies=[READS], responses=documented(NotFound, StorageBusy))
async def list_tool_events(
    build_id: OwnBuild,
    services: ServicesDep,
    phase: Phase | None = None,
    tool: ToolName = None,
    outcome: CallOutcome | None = None,
    cursor: Cursor = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
    view: Literal["attempts", "calls"] = "attempts",
) -> AttemptPage | CallPage:
    """List recorded tool calls: every attempt, or attempts folded into calls."""
    wanted = ToolFilter(phase, tool, outcome, parse_sequence(cursor, "query.cursor"), limit)
    if view == "calls":
        return await services.recordings.calls(build_id, wanted)
    return await services.recordings.attempts(build_id, wanted)


@router.get("/builds/{build_id}/metrics", dependencies=[READS], responses=documented(NotFound, StorageBusy))
async def show_metrics(build_id: OwnBuild, services: ServicesDep) -> BuildMetrics:
    """Show calls, success and time per run, phase and tool; where all of the time went, and what to change."""
    return await services.recordings.metrics(build_id)


@router.post(
    "/builds/{build_id}/expectations",
    dependencies=[READS],
    responses=documented(BadRequest, NotFound, InvalidMatcher, StorageBusy),
)
async def check_expectations(build_id: str, body: Expectations, services: ServicesDep, access: AccessDep) -> Verdict:
    """Check what must and must not have been called; every check names the calls that matched, or why none did."""
    await asyncio.to_thread(check_usable, body)  # said before anything is said of the build, its owner included
    await own_build(build_id, access, services)
    return await services.expectations.check(build_id, body)


@router.get("/usage", dependencies=[USES], responses=documented(StorageBusy))
async def show_usage(
    services: ServicesDep,
    access: AccessDep,
    by: UsageBy = UsageBy.DAY,
    since: Annotated[date | None, Query(description="a day in UTC; by default 30 days ago")] = None,
) -> UsageReport:
    """Add up what builds used: builds, success, seconds, calls, tokens, cost, the slowest tools, budgets left."""
    return await services.usage.usage(by, since, access)


@router.get("/compare", dependencies=[READS], responses=documented(NotFound, StorageBusy))
async def compare_builds(ids: Ids, services: ServicesDep, access: AccessDep) -> Comparison:
    """Compare two or more builds: tool use, outcome, cost; the first is what the others are held against."""
    return await services.comparisons.compare([name.strip() for name in ids.split(",")], access)
