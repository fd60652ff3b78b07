"""Which engines there are, and which serves whom."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Literal

import app
from app.core.config import Settings
from app.core.errors import EngineMissing
from app.engine.base import Engine
from app.engine.pob.install import InstalledPob, status
from app.engine.pob.install import install as install_files
from app.engine.pob.install import status as installed_files
from app.engine.process import ProcessEngine
from app.llm.http import download
from app.model.record import EngineChoice

_ANSWERING = ("engine", "model")
"""The packages whose code shapes what an engine answers."""


def fingerprint(engine: str, pob_home: Path) -> str | None:
    """Return a hash of all that an engine's answers depend on besides the question; None when that is not known.

    Path of Building's files, the Lua inside lupa, and our own code between them and the caller: a change of any of
    them makes every earlier answer another engine's.
    """
    files = ""
    if engine == "pob":
        installed = status(pob_home)
        if installed is None or not installed.sha256:
            return None
        files = installed.sha256
    return hashlib.sha256(f"{engine} {files} {version('lupa')} {_code()}".encode()).hexdigest()


@cache
def _code() -> str:
    found = hashlib.sha256()
    for path in _sources():
        found.update(path.name.encode())
        found.update(path.read_bytes())
    return found.hexdigest()


def _sources() -> Iterator[Path]:
    root = Path(app.__file__).parent
    for package in _ANSWERING:
        files = (path for path in (root / package).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        yield from sorted(files)


EngineName = Literal["pob", "sketch"]


class EngineRoom:
    """Both engines, each started when the first build asks for it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._open: dict[EngineName, ProcessEngine] = {}
        self._opening = asyncio.Lock()

    def resolve(self, choice: EngineChoice) -> EngineName:
        """Return which engine serves the choice: `auto` is the setting's, then PoB where it is installed."""
        wanted = self._settings.engine if choice == "auto" else choice
        if wanted == "auto":
            return "sketch" if installed_pob(self._settings) is None else "pob"
        return wanted

    def check(self, choice: EngineChoice) -> None:
        """Return when the choice can be served.

        Raises:
            EngineMissing: Path of Building is asked for and not installed.
        """
        if self.resolve(choice) == "pob" and installed_pob(self._settings) is None:
            raise EngineMissing(
                f"Path of Building is not installed in {self._settings.pob_home}; run `buildwright pob install`."
            )

    async def engine(self, choice: EngineChoice) -> Engine:
        """Return the started engine that serves the choice.

        Raises:
            EngineMissing: it is not installed.
            EngineError: it does not start.
        """
        self.check(choice)
        name = self.resolve(choice)
        async with self._opening:
            if name not in self._open:
                self._open[name] = self._make(name)
        await self._open[name].start()
        return self._open[name]

    def fingerprint(self, choice: EngineChoice) -> str | None:
        """Return what the answers of the engine that serves the choice depend on; None = nobody knows."""
        return fingerprint(self.resolve(choice), self._settings.pob_home)

    async def close(self) -> None:
        """End all engine processes."""
        for engine in self._open.values():
            await engine.close()

    def _make(self, name: EngineName) -> ProcessEngine:
        options = {"pob": str(self._settings.pob_home)} if name == "pob" else {}
        return ProcessEngine(name, options, workers=engine_workers(self._settings))


def engine_workers(settings: Settings) -> int:
    """Return how many engine sessions may be open: the setting, else one per processor and at least two."""
    return settings.engine_workers or max(2, len(os.sched_getaffinity(0)))


def engine_room(settings: Settings) -> EngineRoom:
    """Return the engines of these settings; nothing starts before it is asked for."""
    return EngineRoom(settings)


def install_pob(settings: Settings, source: Path | None, version: str | None) -> InstalledPob:
    """Install Path of Building where the settings say.

    Raises:
        InstallFailed: the source is not a usable Path of Building.
        DownloadFailed: the release cannot be fetched.
    """
    return install_files(source, settings.pob_home, version, fetch=download)


def installed_pob(settings: Settings) -> InstalledPob | None:
    """Return which Path of Building is installed, or None."""
    return installed_files(settings.pob_home)
