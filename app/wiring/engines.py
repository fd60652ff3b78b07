"""Which engines there are, and which serves whom."""

from __future__ import annotations

import asyncio
import hashlib
import os
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter

import app
from app.core.clock import Clock
from app.core.config import Settings
from app.core.errors import EngineMissing
from app.engine.base import Engine
from app.engine.pob.install import InstalledPob, status
from app.engine.pob.install import install as install_files
from app.engine.pob.install import status as installed_files
from app.engine.probe import BACKEND as PROBE
from app.engine.probe import Confinement
from app.engine.process import ProcessEngine
from app.llm.http import download
from app.model.names import Phase
from app.model.record import EngineChoice
from app.storage.base import EventStore
from app.tools.engine import RecordedEngine
from app.tools.recorder import BufferedEvents
from app.tools.runner import ToolRunner
from app.tools.scope import Scope

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
    found, root = hashlib.sha256(), Path(app.__file__).parent
    for package in _ANSWERING:
        files = (path for path in (root / package).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        for path in sorted(files):
            found.update(path.name.encode())
            found.update(path.read_bytes())
    return found.hexdigest()


EngineName = Literal["pob", "sketch"]


class ConfiguredEngines:
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
                options = {"pob": str(self._settings.pob_home)} if name == "pob" else {}
                self._open[name] = ProcessEngine(name, options, workers=engine_workers(self._settings))
        await self._open[name].start()
        return self._open[name]

    def fingerprint(self, choice: EngineChoice) -> str | None:
        """Return what the answers of the engine that serves the choice depend on; None = nobody knows."""
        return fingerprint(self.resolve(choice), self._settings.pob_home)

    async def close(self) -> None:
        """End all engine processes."""
        for engine in self._open.values():
            await engine.close()


def engine_workers(settings: Settings) -> int:
    """Return how many engine sessions may be open: the setting, else one per processor and at least two."""
    return settings.engine_workers or max(2, len(os.sched_getaffinity(0)))


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


async def probe_confinement() -> Confinement:
    """Return what engine processes are kept from on this machine, by trying it in one.

    Raises:
        EngineError: it does not start.
    """
    engine = ProcessEngine(PROBE, workers=1)
    try:
        await engine.start()
        async with engine.session() as session:
            refused = await session.ask("attempts", {"service": os.getpid()}, TypeAdapter(dict[str, bool]))
        return Confinement(refused=refused, missing=engine.missing_guards)
    finally:
        await engine.close()


class RecordedImport:
    """The engine of one import, which keeps its calls until the build is stored; implements `ImportEngine`."""

    def __init__(self, engine: Engine, build_id: str, events: EventStore, clock: Clock) -> None:
        self._buffer = BufferedEvents()
        self._events = events
        self._engine = RecordedEngine(engine, ToolRunner(self._buffer, clock), Scope(build_id, Phase.VALIDATE))

    @property
    def engine(self) -> Engine:
        """The engine that records its calls."""
        return self._engine

    async def store_calls(self) -> None:
        """Store the calls made so far; the build that they belong to must be stored by now."""
        await self._buffer.store_in(self._events)


class RecordedImports:
    """The engines of these settings, for imports; implements `ImportEngines`."""

    def __init__(self, engines: ConfiguredEngines, events: EventStore, clock: Clock) -> None:
        self._engines = engines
        self._events = events
        self._clock = clock

    async def engine_for(self, build_id: str, choice: EngineChoice) -> RecordedImport:
        """Return the started engine that serves the choice, for one import.

        Raises:
            EngineMissing: it is not installed.
            EngineError: it does not start.
        """
        return RecordedImport(await self._engines.engine(choice), build_id, self._events, self._clock)
