"""`buildwright import`: somebody's file or share code as a build of this store."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import typer

from app.console.codes import Exit, exit_code
from app.console.files import prepare, write_files
from app.core.config import Settings
from app.core.errors import InputError, TooLarge
from app.engine.pob.code import MAX_CODE_CHARS
from app.model.request import EngineChoice
from app.service.imports import ImportRequest
from app.service.presentation import as_text
from app.wiring import open_services

STDIN = "-"
_PATH_CHARS = 1024
"""What is longer than this is no path but a share code."""


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
