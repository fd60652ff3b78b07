"""Progress of a build as a stream: every event once, in order, until the build has ended."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

from sse_starlette import ServerSentEvent

from app.model.record import ProgressEvent
from app.service.builds import FINISHED
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
