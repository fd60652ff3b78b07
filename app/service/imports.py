"""Builds from elsewhere: a Path of Building file or share code becomes a finished build."""

from __future__ import annotations

import asyncio
from typing import Annotated, Protocol

from pydantic import Field, StrictBool

from app.core.clock import Clock
from app.core.errors import BadImport, InputError, TooLarge
from app.core.ids import new_build_id
from app.engine.base import Engine
from app.engine.files.codes import MAX_CODE_CHARS, decode
from app.engine.files.xml import MAX_XML_BYTES, canonical
from app.model.base import Model
from app.model.names import LOCAL_OWNER, BuildStatus, Mode
from app.model.record import BuildRecord, BuildRequest, EngineChoice, ReasonerVersion
from app.phases.validate.imported import take_in
from app.reasoning.base import Reasoner
from app.service.view import BuildView, view_of
from app.storage.base import BuildStore


class ImportRequest(Model):
    """Exactly one of both: the XML of a Path of Building 2 build, or its share code.

    `repair`: what to mend ("fix my mana"), or true for every fault; without it the build is only taken in.
    """

    xml: str | None = None
    code: str | None = None
    repair: Annotated[str, Field(max_length=4000)] | StrictBool | None = None


class ImportEngine(Protocol):
    """The engine of one import: what it is asked is recorded once the build is stored."""

    @property
    def engine(self) -> Engine:
        """The engine that records its calls."""
        ...

    async def store_calls(self) -> None:
        """Store the calls made so far; the build that they belong to must be stored by now."""
        ...


class ImportEngines(Protocol):
    """Where an import gets its engine from."""

    async def engine_for(self, build_id: str, choice: EngineChoice) -> ImportEngine:
        """Return the started engine that serves the choice, for one import.

        Raises:
            EngineMissing: it is not installed.
            EngineError: it does not start.
        """
        ...


class Imports:
    """Takes in files; what is imported is a build like any other."""

    def __init__(self, store: BuildStore, engines: ImportEngines, reasoner: Reasoner, clock: Clock) -> None:
        self._store = store
        self._engines = engines
        self._reasoner = reasoner
        self._clock = clock

    async def create(
        self, request: ImportRequest, engine: EngineChoice = "auto", owner: str = LOCAL_OWNER
    ) -> BuildView:
        """Load, recalculate and judge the build of a file, and store it as a finished one.

        Raises:
            InputError: not exactly one of `xml` and `code`.
            TooLarge: it is over the size limit.
            BadImport: it is not a build, or holds what no build has.
            EngineRefused: the engine cannot load it.
        """
        xml = await asyncio.to_thread(file_of, request)
        build_id = new_build_id()
        opened = await self._engines.engine_for(build_id, engine)
        imported = await take_in(opened.engine, self._reasoner, xml)
        blueprint, version, now = imported.state.blueprint, opened.engine.version, self._clock.now()
        assert blueprint is not None
        skill = imported.invariants.text("skill", "build")
        title = f"Imported: {skill} {blueprint.ascendancy or blueprint.class_name}, level {blueprint.level}"
        record = BuildRecord(
            id=build_id,
            owner=owner,
            request=BuildRequest(prompt=title, mode=Mode.INITIAL, engine="pob" if version.name == "pob" else "sketch"),
            status=BuildStatus.COMPLETE,
            invariants=imported.invariants,
            state=imported.state,
            xml=imported.xml,
            engine=version,
            reasoner=ReasonerVersion(name="rules"),
            created_at=now,
            updated_at=now,
        )
        stored = await self._store.insert(record)
        await opened.store_calls()
        return view_of(stored)


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
