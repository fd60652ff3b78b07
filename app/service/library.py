"""Builds to read: one, many, and as files."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from typing import Literal

from app.core.clock import Clock
from app.core.errors import InputError, NotReady
from app.core.ids import number_of
from app.engine.files.codes import encode
from app.model.names import BuildStatus
from app.service.presentation import Presentation, presentation_of
from app.service.sheet import CharacterSheet, sheet_of
from app.service.view import BuildPage, BuildView, summary_of, valid_state, view_of
from app.storage.base import BuildStore

ExportFormat = Literal["xml", "code", "yaml"]
FRESH_MS = 200.0
KEPT_VIEWS = 256
KEPT_OWNERS = 10_000


@dataclass(frozen=True)
class _Kept:
    view: asyncio.Task[BuildView]
    until_ms: float


class Library:
    """Builds to look at and to throw away; it works beside whoever runs them.

    A view is read at most once in `FRESH_MS`, however many ask for it: polling must not slow the build down. Who
    changes a build calls `forget`, so that everybody sees their own writes at once.
    """

    def __init__(self, store: BuildStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._owners: OrderedDict[str, str] = OrderedDict()

    async def get(self, build_id: str) -> BuildView:
        """Return the build, as it was at most `FRESH_MS` ago.

        Raises:
            NotFound: no such build.
        """
        kept, now = self._kept.get(build_id), self._clock.monotonic_ms()
        failed = kept is not None and kept.view.done() and (kept.view.cancelled() or kept.view.exception() is not None)
        if kept is None or now >= kept.until_ms or failed:
            kept = _Kept(asyncio.create_task(self._read(build_id)), now + FRESH_MS)
            self._kept[build_id] = kept
            self._kept.move_to_end(build_id)
            while len(self._kept) > KEPT_VIEWS:
                self._kept.popitem(last=False)
        return await asyncio.shield(kept.view)

    def forget(self, build_id: str) -> None:
        """Read the build anew the next time: it has just been changed."""
        self._kept.pop(build_id, None)

    async def owner(self, build_id: str) -> str:
        """Return whose build it is.

        Raises:
            NotFound: no such build.
        """
        if (known := self._owners.get(build_id)) is None:
            known = self._owners[build_id] = (await self._store.standing(build_id)).owner
            while len(self._owners) > KEPT_OWNERS:
                self._owners.popitem(last=False)
        return known

    async def delete(self, build_id: str) -> None:
        """Remove a build and everything recorded of it; whoever works on it stops within one step.

        Children keep the id of their parent, where nothing is found any more; they need nothing of it.

        Raises:
            NotFound: no such build.
        """
        await self._store.delete(build_id)
        self._owners.pop(build_id, None)
        self.forget(build_id)

    async def page(
        self,
        status: BuildStatus | None = None,
        limit: int = 50,
        cursor: str | None = None,
        owner: str | None = None,
    ) -> BuildPage:
        """Return builds (of one owner, None = of all), newest first.

        Raises:
            InputError: the cursor is none that a page ended with.
        """
        if cursor is not None:
            _check_cursor(cursor)
        records, following = await self._store.page(status, limit, cursor, owner)
        return BuildPage(items=[summary_of(record) for record in records], next_cursor=following)

    async def present(self, build_id: str) -> Presentation:
        """Return the build with all that a player wants to know of it.

        Raises:
            NotFound: no such build.
        """
        return presentation_of(await self._store.get(build_id))

    async def presented(self, build_id: str) -> tuple[Presentation, CharacterSheet | None]:
        """Return `present` and `sheet` of the build as it is at one moment, read once.

        Raises:
            NotFound: no such build.
        """
        record = await self._store.get(build_id)
        return presentation_of(record), await asyncio.to_thread(sheet_of, record)

    async def sheet(self, build_id: str) -> CharacterSheet | None:
        """Return items, skills and passives of the last valid state, None before there is one.

        Raises:
            NotFound: no such build.
        """
        return await asyncio.to_thread(sheet_of, await self._store.get(build_id))

    async def export(self, build_id: str, form: ExportFormat) -> bytes:
        """Return the last valid state as PoB XML, share code or YAML.

        Raises:
            NotFound: no such build.
            NotReady: there is no valid state yet.
        """
        record = await self._store.get(build_id)
        if record.xml is None:
            raise NotReady("The build has no valid state yet.")
        if form == "xml":
            return record.xml
        if form == "code":
            return encode(record.xml).encode("ascii")
        return valid_state(record).to_yaml().encode()

    async def _read(self, build_id: str) -> BuildView:
        return view_of(await self._store.get(build_id))


def _check_cursor(cursor: str) -> None:
    try:
        number_of(cursor)
    except ValueError as exc:
        place = {"place": "query.cursor", "message": "not a position"}
        raise InputError("query.cursor is not a known position.", errors=[place]) from exc
