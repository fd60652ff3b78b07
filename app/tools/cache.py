"""Answers that were given before: in memory, then in the store; and one execution where several ask at once."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from pydantic import TypeAdapter

from app.core.clock import Clock, SystemClock
from app.model.events import CacheUse
from app.storage.base import KeptResult, ResultStore


@dataclass(frozen=True)
class Codec:
    """How one kind of result is written and read. `shared`: nobody changes it, so one object may serve everybody."""

    encode: Callable[[Any], bytes]
    decode: Callable[[bytes], Any]
    shared: bool = False


def json_codec(shape: Any, shared: bool = False) -> Codec:
    """Return the codec of results with this type; numbers keep every digit."""
    adapter: TypeAdapter[Any] = TypeAdapter(shape)
    return Codec(adapter.dump_json, adapter.validate_json, shared)


RAW = Codec(bytes, bytes)
"""For results that are bytes already."""


@dataclass(frozen=True)
class Cacheable:
    """The results of a call may be kept: how, and under which fingerprint of everything else they depend on.

    `join`: whether to wait for an equal call under way. Not where the call must be made anyway sooner or later: it
    would only be made later.
    """

    codec: Codec
    fingerprint: str
    join: bool = True


_log = logging.getLogger(__name__)
_MEGABYTE = 1_000_000
_BATCH = 64
"""So many new answers are written to the store in one transaction."""


@dataclass(frozen=True)
class CachePolicy:
    """What is kept, for how long and how much. `skip`: tools that are always executed. `ttl_s` None = for ever.

    A byte bound of 0 turns that part of the cache off.
    """

    memory_bytes: int = 64 * _MEGABYTE
    store_bytes: int = 256 * _MEGABYTE
    ttl_s: float | None = None
    skip: frozenset[str] = frozenset()


@dataclass
class CachedResult:
    """A result as bytes; `value` is the decoded object where it may be shared. `took_ms`: what making it took."""

    data: bytes
    value: Any = None
    born_ms: float = 0.0
    took_ms: float | None = None

    def decoded(self, codec: Codec) -> Any:
        """Return the result itself, None when what was kept cannot be read any more."""
        if self.value is not None:
            return self.value
        try:
            value = codec.decode(self.data)
        except ValueError:
            return None
        if codec.shared:
            self.value = value
        return value


@dataclass(frozen=True)
class CacheLookup:
    """What asking gave: an answer and where it came from, or none.

    Who `leads` must settle the key: others are waiting for it.
    """

    answer: CachedResult | None
    use: CacheUse
    leads: bool = False


class ResultCache:
    """Keeps answers under a hash of everything they depend on. The store's trouble only makes it forget.

    Least recently used answers go first, in memory at once, in the store when a batch is written.
    """

    def __init__(self, store: ResultStore, policy: CachePolicy | None = None, clock: Clock | None = None) -> None:
        self._store = store
        self._policy = policy or CachePolicy()
        self._clock = clock or SystemClock()
        self._kept: OrderedDict[str, CachedResult] = OrderedDict()
        self._bytes = 0
        self._flights: dict[str, asyncio.Future[CachedResult | None]] = {}
        self._unwritten: dict[str, KeptResult] = {}
        self._writing = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def bytes_in_memory(self) -> int:
        """How many bytes of answers are in memory."""
        return self._bytes

    def takes(self, tool: str) -> bool:
        """Whether results of the tool are kept."""
        return tool not in self._policy.skip and bool(self._policy.memory_bytes or self._policy.store_bytes)

    async def seek(self, key: str, join: bool = True) -> CacheLookup:
        """Return the answer kept, or with `join` that of somebody who is just getting it.

        Without either (`MISS`) the caller gets it and calls `settle`, whatever happens.
        """
        while join and key in self._flights:
            answer = await asyncio.shield(self._flights[key])
            if answer is not None:
                return CacheLookup(answer, CacheUse.COALESCED)
        leads = key not in self._flights
        if leads:
            self._flights[key] = asyncio.get_running_loop().create_future()
        try:
            answer = await self._kept_result(key)
        except BaseException:
            self._land(key, None, leads)
            raise
        if answer is not None:
            self._land(key, answer, leads)
            return CacheLookup(answer, CacheUse.HIT)
        return CacheLookup(None, CacheUse.MISS, leads)

    def settle(self, key: str, tool: str, answer: CachedResult | None, leads: bool = True) -> None:
        """Give the answer to whoever waits and keep it; None = there is none, so somebody else may try."""
        if answer is not None:
            self._remember(key, answer)
            if self._policy.store_bytes and len(answer.data) <= self._policy.store_bytes:
                self._unwritten[key] = KeptResult(key, tool, answer.data, self._clock.now(), answer.took_ms)
                if len(self._unwritten) >= _BATCH:
                    task = asyncio.create_task(self._flush())
                    self._tasks.add(task)
                    task.add_done_callback(self._tasks.discard)
        self._land(key, answer, leads)

    async def close(self) -> None:
        """Write what is not in the store yet."""
        await asyncio.gather(*self._tasks)
        await self._flush()

    def _land(self, key: str, answer: CachedResult | None, leads: bool) -> None:
        if leads:
            self._flights.pop(key).set_result(answer)

    def _remember(self, key: str, answer: CachedResult) -> None:
        if len(answer.data) > self._policy.memory_bytes:
            return
        if key in self._kept:
            self._bytes -= len(self._kept.pop(key).data)
        answer.born_ms = self._clock.monotonic_ms()
        self._kept[key] = answer
        self._bytes += len(answer.data)
        while self._bytes > self._policy.memory_bytes:
            _, oldest = self._kept.popitem(last=False)
            self._bytes -= len(oldest.data)

    async def _kept_result(self, key: str) -> CachedResult | None:
        """Return what is kept and not too old: from memory, else from the store with what was stored after it."""
        ttl_s, answer = self._policy.ttl_s, self._kept.get(key)
        if answer is not None:
            if ttl_s is None or self._clock.monotonic_ms() - answer.born_ms <= ttl_s * 1000:
                self._kept.move_to_end(key)
                return answer
            self._bytes -= len(self._kept.pop(key).data)
        if not self._policy.store_bytes:
            return None
        since = None if ttl_s is None else self._clock.now() - timedelta(seconds=ttl_s)
        try:
            found = await self._store.find(key, since)
        except Exception as error:
            _log.warning("the cache could not be read: %s", type(error).__name__)
            return None
        for kept in reversed(found):
            self._remember(kept.key, CachedResult(kept.data, took_ms=kept.took_ms))
        return self._kept.get(key) or (CachedResult(found[0].data, took_ms=found[0].took_ms) if found else None)

    async def _flush(self) -> None:
        async with self._writing:
            batch, self._unwritten = list(self._unwritten.values()), {}
            try:
                await self._store.keep(batch, self._policy.store_bytes)
            except Exception as error:
                _log.warning("%d answers were not cached: %s", len(batch), type(error).__name__)


def cache_key(args_sha256: str, fingerprint: str) -> str:
    """Return the key of a call: its tool, version and arguments (hashed already), and what else it depends on."""
    return hashlib.sha256(f"{args_sha256} {fingerprint}".encode()).hexdigest()
