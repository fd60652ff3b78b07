"""Progress of a build as lines on stderr, as it happens."""

from __future__ import annotations

import asyncio
from typing import Any

import typer

from app.model.record import ProgressEvent
from app.service.builds import FINISHED
from app.service.services import Services

POLL_S = 0.1


async def follow(services: Services, build_id: str) -> None:
    """Print every progress event of the build until it has ended."""
    seen, printer = 0, Printer()
    while True:
        over = (await services.library.get(build_id)).status in FINISHED
        for event in await services.recordings.progress(build_id, seen):
            seen = event.seq
            for line in printer.lines(event):
                typer.echo(line, err=True)
        if over:
            return
        await asyncio.sleep(POLL_S)


class Printer:
    """Turns events into lines: a heading per phase, a line per step."""

    def __init__(self) -> None:
        self._phase = ""

    def lines(self, event: ProgressEvent) -> list[str]:
        """Return the lines for people; none for events that say nothing new."""
        data = event.data
        if event.type == "step":
            return [*self._heading(str(data.get("phase", ""))), f"   {_count(data)}{data.get('label', '')}"]
        if event.type == "question":
            return [f" ? {data.get('text', '')}"]
        if event.type == "finished":
            why = (data.get("failure") or {}).get("message")
            ending = str(data.get("outcome") or data.get("status", ""))
            return [f"== {ending}: {why}" if why else f"== {ending}"]
        return []

    def _heading(self, phase: str) -> list[str]:
        if phase == self._phase:
            return []
        self._phase = phase
        return [f"== {phase}"]


def _count(data: dict[str, Any]) -> str:
    done, total = data.get("done"), data.get("total")
    return f"[{done}/{total}] " if done is not None and total else ""
