"""`buildwright build`, `refine`, `repair`, `import`: a build from a sentence, or from somebody's file or code."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import typer

from app.console.exits import Exit, complain, exit_code
from app.core.config import Settings
from app.core.errors import EngineError, InputError, NotReady, TooLarge, TreeUnavailable
from app.core.logs import set_up_logging
from app.engine.files.codes import MAX_CODE_CHARS
from app.model.access import EVERYONE
from app.model.base import changed
from app.model.record import BuildRequest, EngineChoice, ProgressEvent
from app.service import Services
from app.service.builds import FINISHED
from app.service.imports import ImportRequest
from app.service.library import ExportFormat, Library
from app.service.presentation import as_text
from app.service.refinement import RefineRequest
from app.service.view import BuildView
from app.wiring import open_services, redactor

ENDINGS: dict[ExportFormat, str] = {"xml": "xml", "code": "code.txt", "yaml": "state.yaml"}
POLL_S = 0.1
IDLE_POLLS = 8
"""Of so many looks for events one reads the build as well: that takes a state apart, an event does not."""
GRACE_S = 5.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
STDIN = "-"
_PATH_CHARS = 1024
"""What is longer than this is no path but a share code."""


def prepare(folder: Path) -> None:
    """Make sure that files can be written before any work is done.

    Raises:
        InputError: the folder cannot be made or written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".buildwright-probe"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise InputError(f"Cannot write to {folder}: {error.strerror}.") from error


async def write_files(library: Library, build_id: str, folder: Path) -> dict[str, str]:
    """Write the last valid state in every form; return the paths by form, empty when there is no valid state."""
    written: dict[str, str] = {}
    for form, ending in ENDINGS.items():
        try:
            content = await library.export(build_id, form)
        except NotReady:
            return {}
        path = folder / f"{build_id}.{ending}"
        await asyncio.to_thread(path.write_bytes, content)
        written[form] = str(path)
    return written


async def write_tree(services: Services, build_id: str, folder: Path) -> dict[str, str]:
    """Write the picture of the passive tree beside them; none where the engine that made the build cannot draw it."""
    sheet = await services.library.sheet(build_id)
    if sheet is None or (await services.library.get(build_id)).engine.name != "pob":
        return {}
    try:
        picture = await services.trees.svg(sheet)
    except (TreeUnavailable, EngineError):  # the build is what was asked for; it stands without its picture
        return {}
    path = folder / f"{build_id}.tree.svg"
    await asyncio.to_thread(path.write_bytes, picture)
    return {"tree": str(path)}


async def follow(services: Services, build_id: str) -> None:
    """Print every progress event of the build until it has ended.

    The status is read before the events, so that nothing written together with the end is missed.
    """
    seen, idle, printer = 0, 0, Printer()
    while True:
        over = idle % IDLE_POLLS == 0 and (await services.library.get(build_id)).status in FINISHED
        events = await services.recordings.progress(build_id, seen)
        for event in events:
            seen = event.seq
            for line in printer.lines(event):
                typer.echo(line, err=True)
        if over:
            return
        idle = 0 if any(event.type == "finished" for event in events) else idle + 1
        await asyncio.sleep(POLL_S)


class Printer:
    """Turns events into lines: a heading per phase, a line per step."""

    def __init__(self) -> None:
        self._phase = ""

    def lines(self, event: ProgressEvent) -> list[str]:
        """Return the lines for people; none for events that say nothing new."""
        data = event.data
        if event.type == "step":
            phase = data.phase.value if data.phase else ""
            heading = [] if phase == self._phase else [f"== {phase}"]
            self._phase = phase
            count = f"[{data.done}/{data.total}] " if data.done is not None and data.total else ""
            return [*heading, f"   {count}{data.label or ''}"]
        if event.type == "question":
            return [f" ? {data.text or ''}"]
        if event.type == "finished":
            why = data.failure.message if data.failure is not None else None
            ending = data.outcome or data.status or ""
            return [f"== {ending}: {why}" if why else f"== {ending}"]
        return []


async def make_build(settings: Settings, request: BuildRequest, folder: Path, as_json: bool) -> Exit:
    """Make the build, show it and write its files; an interrupt keeps the last valid state."""

    async def start(services: Services) -> BuildView:
        expected = await services.estimates.before(request.effort, request.reasoner, EVERYONE)
        if expected.models:
            typer.echo(expected.text, err=True)
        return await services.builds.create(request)

    return await _made(settings, start, folder, as_json)


async def refine_build(settings: Settings, build_id: str, prompt: str, folder: Path, as_json: bool) -> Exit:
    """Refine a finished build; otherwise as `make_build`."""
    asked = RefineRequest(prompt=prompt)
    return await _made(settings, lambda services: services.refinements.refine(build_id, asked), folder, as_json)


async def repair_build(
    settings: Settings, file_or_code: str, sentence: str, engine: EngineChoice, folder: Path, as_json: bool
) -> Exit:
    """Import a file and mend what is wrong with it; otherwise as `make_build`."""
    request = await asyncio.to_thread(read_source, file_or_code)
    asked = changed(request, repair=sentence or True)
    return await _made(settings, lambda services: services.repairs.create(asked, engine), folder, as_json)


async def _made(
    settings: Settings, start: Callable[[Services], Awaitable[BuildView]], folder: Path, as_json: bool
) -> Exit:
    set_up_logging("DEBUG" if settings.log_level == "DEBUG" else "ERROR", redactor(settings))
    prepare(folder)
    async with open_services(settings) as services:
        view = await start(services)
        interrupted = await watch(services, view.id)
        shown = await services.library.present(view.id)
        files = await write_files(services.library, view.id, folder)
        files |= await write_tree(services, view.id, folder) if files else {}
        asked = await services.estimates.report(view.id)
    typer.echo(shown.build.model_dump_json(indent=2) if as_json else as_text(shown, files))
    if asked is not None:
        typer.echo(f"\n{asked.text}", err=as_json)
    if interrupted:
        complain("interrupted; " + ("the last valid state is kept" if files else "there was no valid state yet"))
        return Exit.INTERRUPTED
    return exit_code(shown.build)


async def watch(services: Services, build_id: str) -> bool:
    """Print the build's progress to its end; return whether a signal cut it short."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, stop.set)
    try:
        progress = asyncio.create_task(follow(services, build_id))
        signalled = asyncio.create_task(stop.wait())
        await asyncio.wait({progress, signalled}, return_when=asyncio.FIRST_COMPLETED)
        signalled.cancel()
        if not stop.is_set():
            await progress
            await services.builds.wait(build_id)
            return False
        await services.builds.cancel(build_id)
        await asyncio.wait({progress}, timeout=GRACE_S)
        progress.cancel()
        return True
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)


async def import_build(
    settings: Settings, file_or_code: str, engine: EngineChoice, folder: Path, as_json: bool
) -> Exit:
    """Import, show and write the build; exit 0 without faults, 3 with some."""
    request = await asyncio.to_thread(read_source, file_or_code)
    prepare(folder)
    async with open_services(settings) as services:
        made = await services.imports.create(request, engine)
        shown = await services.library.present(made.id)
        files = await write_files(services.library, made.id, folder)
    typer.echo(shown.build.model_dump_json(indent=2) if as_json else as_text(shown, files))
    return exit_code(shown.build)


def read_source(file_or_code: str) -> ImportRequest:
    """Return what to import: the content of a file or of stdin ("-"), which may be either form, or the code itself.

    Raises:
        InputError: the file cannot be read or is not text.
        TooLarge: it is larger than any share code.
    """
    text = _text(file_or_code)
    if text.lstrip().startswith("<"):
        return ImportRequest(xml=text)
    return ImportRequest(code=text.strip())


def _text(file_or_code: str) -> str:
    if file_or_code == STDIN:
        return _decoded(sys.stdin.buffer.read(MAX_CODE_CHARS + 1), "stdin")
    path = Path(file_or_code)
    if len(file_or_code) > _PATH_CHARS or not path.exists():
        if "/" in file_or_code[:2] or file_or_code.endswith((".xml", ".txt")):
            raise InputError(f"There is no file {file_or_code[:200]}.")
        return file_or_code
    try:
        with path.open("rb") as source:
            return _decoded(source.read(MAX_CODE_CHARS + 1), file_or_code)
    except OSError as error:
        raise InputError(f"Cannot read {file_or_code}: {error.strerror}.") from error


def _decoded(content: bytes, name: str) -> str:
    if len(content) > MAX_CODE_CHARS:
        raise TooLarge(f"{name} is larger than {MAX_CODE_CHARS} bytes.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is not text.") from error
