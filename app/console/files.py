"""The files that a build leaves: XML, share code, state."""

from __future__ import annotations

import asyncio
from pathlib import Path

from app.core.errors import InputError, NotReady
from app.service.library import ExportFormat, Library

ENDINGS: dict[ExportFormat, str] = {"xml": "xml", "code": "code.txt", "yaml": "state.yaml"}


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
