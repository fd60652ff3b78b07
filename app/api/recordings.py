"""Routes on what happened to a build: live events, tool events, metrics."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated, Literal

from fastapi import APIRouter, Header, Query
from sse_starlette import EventSourceResponse, ServerSentEvent

from app.api.deps import Cursor, ServicesDep, parse_sequence
from app.api.problems import documented
from app.core.errors import NotFound, StorageBusy
from app.metrics.efficiency import Metrics
from app.model.events import CallOutcome
from app.model.names import Phase
from app.model.record import ProgressEvent
from app.service.builds import FINISHED
from app.service.recordings import AttemptPage, CallPage, ToolFilter
from app.service.services import Services

HEARTBEAT_S = 15
POLL_S = 0.25
IDLE_POLLS = 8


async def watch(services: Services, build_id: str, after: int) -> AsyncIterator[ServerSentEvent]:
    """Yield events with a greater sequence number; end when the build is finished and all of them were sent.

    The status is read before the events, so that nothing written together with the end can be missed.
    """
    idle = 0
    while True:
        over = idle % IDLE_POLLS == 0 and await _finished(services, build_id)
        events = await services.recordings.progress(build_id, after)
        for event in events:
            after = event.seq
            yield _frame(event)
        if over and not events:
            return
        idle = 0 if events else idle + 1
        if not events:
            await asyncio.sleep(POLL_S)


async def _finished(services: Services, build_id: str) -> bool:
    return (await services.library.get(build_id)).status in FINISHED


def _frame(event: ProgressEvent) -> ServerSentEvent:
    data = {"build_id": event.build_id, "seq": event.seq, "type": event.type, "at": event.at.isoformat(), **event.data}
    return ServerSentEvent(data=json.dumps(data, ensure_ascii=False), event=event.type, id=str(event.seq))


router = APIRouter(prefix="/v1/builds/{build_id}", tags=["recordings"])
LastEventId = Annotated[str | None, Header(alias="Last-Event-ID", max_length=40)]
ToolName = Annotated[str | None, Query(max_length=100)]


@router.get(
    "/events",
    response_class=EventSourceResponse,
    responses={200: {"content": {"text/event-stream": {}}}, **documented(NotFound, StorageBusy)},
)
async def stream_events(build_id: str, services: ServicesDep, last_event_id: LastEventId = None) -> EventSourceResponse:
    """Stream progress as Server-Sent Events until the build ends; `Last-Event-ID` resumes without a gap."""
    after = parse_sequence(last_event_id, "header.Last-Event-ID")
    await services.library.get(build_id)
    return EventSourceResponse(watch(services, build_id, after), ping=HEARTBEAT_S)


@router.get("/tool-events", responses=documented(NotFound, StorageBusy))
async def list_tool_events(
    build_id: str,
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


@router.get("/metrics", responses=documented(NotFound, StorageBusy))
async def show_metrics(build_id: str, services: ServicesDep) -> Metrics:
    """Show calls, success and time: per run, per phase, per phase and tool."""
    return await services.recordings.metrics(build_id)
