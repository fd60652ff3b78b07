"""Importing: a Path of Building file or share code becomes a finished build."""

from __future__ import annotations

import asyncio
from typing import Protocol

from app.core.clock import Clock
from app.core.errors import BadImport, InputError, TooLarge
from app.core.ids import BuildId, new_build_id
from app.engine.base import Engine
from app.engine.files.codes import MAX_CODE_CHARS, decode
from app.engine.files.xml import MAX_XML_BYTES, canonical
from app.model.base import Model
from app.model.names import BuildStatus, Mode, Phase
from app.model.record import BuildRecord, BuildRequest, EngineChoice, ReasonerVersion
from app.phases.validate.imported import Imported, take_in
from app.reasoning.base import Reasoner
from app.service.view import BuildView, view_of
from app.storage.base import BuildStore, EventStore
from app.tools.engine import RecordedEngine
from app.tools.recorder import BufferedEvents
from app.tools.runner import ToolRunner
from app.tools.scope import Scope


class ImportRequest(Model):
    """Exactly one of both: the XML of a Path of Building 2 build, or its share code."""

    xml: str | None = None
    code: str | None = None


class ImportEngines(Protocol):
    """Where an import gets its engine from."""

    async def engine(self, choice: EngineChoice) -> Engine:
        """Return the started engine that serves the choice.

        Raises:
            EngineMissing: it is not installed.
            EngineError: it does not start.
        """
        ...


class Imports:
    """Takes in files; what is imported is a build like any other."""

    def __init__(
        self,
        store: BuildStore,
        events: EventStore,
        engines: ImportEngines,
        reasoner: Reasoner,
        clock: Clock,
    ) -> None:
        self._store = store
        self._events = events
        self._engines = engines
        self._reasoner = reasoner
        self._clock = clock

    async def create(self, request: ImportRequest, engine: EngineChoice = "auto") -> BuildView:
        """Load, recalculate and judge the build of a file, and store it as a finished one.

        Raises:
            InputError: not exactly one of `xml` and `code`.
            TooLarge: it is over the size limit.
            BadImport: it is not a build, or holds what no build has.
            EngineRefused: the engine cannot load it.
        """
        xml = await asyncio.to_thread(file_of, request)
        calculator = await self._engines.engine(engine)
        build_id, held = new_build_id(), BufferedEvents()
        calls = ToolRunner(held, self._clock)
        recorded = RecordedEngine(calculator, calls, Scope(build_id, Phase.VALIDATE))
        imported = await take_in(recorded, self._reasoner, xml)
        stored = await self._store.insert(self._record(build_id, imported, calculator))
        await held.store_in(self._events)
        return view_of(stored)

    def _record(self, build_id: BuildId, imported: Imported, engine: Engine) -> BuildRecord:
        now = self._clock.now()
        return BuildRecord(
            id=build_id,
            request=BuildRequest(prompt=_title(imported), mode=Mode.INITIAL, engine=_choice(engine)),
            status=BuildStatus.COMPLETE,
            invariants=imported.invariants,
            state=imported.state,
            xml=imported.xml,
            engine=engine.version,
            reasoner=ReasonerVersion(name="rules"),
            created_at=now,
            updated_at=now,
        )


def file_of(request: ImportRequest) -> bytes:
    """Return the canonical XML of what was sent, read within the bounds for untrusted text.

    Raises:
        InputError: not exactly one of `xml` and `code`.
        TooLarge: it is over the size limit.
        BadImport: it is not a build, or holds what no build has.
    """
    if (request.xml is None) == (request.code is None):
        raise InputError("send either xml or code", errors=[{"place": "body", "message": "either xml or code"}])
    if request.code is not None:
        if len(request.code) > MAX_CODE_CHARS:
            raise TooLarge(f"a share code may have at most {MAX_CODE_CHARS} characters")
        return canonical(decode(request.code))
    text = request.xml or ""
    try:
        content = text.encode()
    except UnicodeEncodeError as exc:
        raise BadImport("the XML holds characters that are not Unicode text") from exc
    if len(content) > MAX_XML_BYTES:
        raise TooLarge(f"an XML file may have at most {MAX_XML_BYTES} bytes")
    return canonical(content)


def _choice(engine: Engine) -> EngineChoice:
    return "pob" if engine.version.name == "pob" else "sketch"


def _title(imported: Imported) -> str:
    blueprint = imported.state.blueprint
    assert blueprint is not None
    skill = imported.invariants.text("skill", "build")
    return f"Imported: {skill} {blueprint.ascendancy or blueprint.class_name}, level {blueprint.level}"
