"""Which engines there are, and which serves whom."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Literal

from app.core.config import Settings
from app.core.errors import EngineMissing
from app.engine.base import Engine
from app.engine.pob.install import InstalledPob
from app.engine.pob.install import install as install_files
from app.engine.pob.install import status as installed_files
from app.engine.process import ProcessEngine
from app.llm.http import download
from app.model.request import EngineChoice
from app.wiring.fingerprint import fingerprint

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
