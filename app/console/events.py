"""`buildwright metrics ID --events jsonl`: the recorded attempts, one JSON object per line."""

from __future__ import annotations

import typer

from app.core.config import Settings
from app.service.recordings import ToolFilter
from app.wiring import open_reading

_PAGE = 500


async def export_events(settings: Settings, build_id: str) -> None:
    """Print every attempt in start order, page by page; what arrives meanwhile is printed, too."""
    after = 0
    async with open_reading(settings) as store:
        while True:
            page = await store.recordings.attempts(build_id, ToolFilter(after=after, limit=_PAGE))
            for event in page.tool_events:
                typer.echo(event.model_dump_json())
                after = event.seq
            if page.next_cursor is None:
                return
