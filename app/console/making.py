"""`buildwright build`: one build in this process, with the same use cases as the API."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Iterator
from pathlib import Path

import typer

from app.console.codes import Exit, complain, exit_code
from app.console.files import prepare, write_files
from app.console.progress import follow
from app.core.config import Settings
from app.core.logs import set_up_logging
from app.model.request import BuildRequest
from app.service.presentation import Presentation, as_text
from app.service.services import Services
from app.wiring import open_services, redactor

GRACE_S = 5.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


async def make_build(settings: Settings, request: BuildRequest, folder: Path, as_json: bool) -> Exit:
    """Make the build, show it and write its files; an interrupt keeps the last valid state."""
    set_up_logging("DEBUG" if settings.log_level == "DEBUG" else "ERROR", redactor(settings))
    prepare(folder)
    async with open_services(settings) as services:
        view = await services.builds.create(request)
        interrupted = await _watch(services, view.id)
        shown = await services.library.present(view.id)
        files = await write_files(services.library, view.id, folder)
    _show(shown, files, as_json)
    if interrupted:
        complain("interrupted; " + ("the last valid state is kept" if files else "there was no valid state yet"))
        return Exit.INTERRUPTED
    return exit_code(shown.build)


async def _watch(services: Services, build_id: str) -> bool:
    """Follow the build to its end; return whether a signal cut it short."""
    stop = asyncio.Event()
    with _signals(stop):
        following = asyncio.create_task(follow(services, build_id))
        stopping = asyncio.create_task(stop.wait())
        await asyncio.wait({following, stopping}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if not stop.is_set():
            await following
            await services.builds.wait(build_id)
            return False
        await services.builds.cancel(build_id)
        await asyncio.wait({following}, timeout=GRACE_S)
        following.cancel()
        return True


@contextlib.contextmanager
def _signals(stop: asyncio.Event) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, stop.set)
    try:
        yield
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)


def _show(shown: Presentation, files: dict[str, str], as_json: bool) -> None:
    typer.echo(shown.build.model_dump_json(indent=2) if as_json else as_text(shown, files))
