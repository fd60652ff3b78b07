"""Making calls: every attempt is recorded before it starts and completed when it ends, whatever ends it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import Any, Generic, NamedTuple, TypeVar

from app.core.clock import Clock, SystemClock
from app.core.errors import AppError, BudgetExceeded, EngineHung, ReasonerError
from app.core.ids import new_call_id
from app.core.logs import Redactor
from app.core.spans import SpanKind, span
from app.model.base import changed
from app.model.events import CacheUse, CallOutcome, ToolEvent, ToolKind
from app.storage.base import EventStore
from app.telemetry.observers import Observer
from app.tools.cache import Cacheable, CachedResult, Codec, ResultCache, cache_key
from app.tools.limits import Quota
from app.tools.payload import Digest, arguments, digest, digest_bytes
from app.tools.recorder import Recorder
from app.tools.scope import Asked, Scope, current_asked, current_call, current_question, inside

T = TypeVar("T")
Describe = Callable[[Any], Mapping[str, Any]]
_BACKOFF_FIRST_S = 0.05
_BACKOFF_LONGEST_S = 2.0
_ERROR_CHARS = 500
SPANS = {ToolKind.LLM: SpanKind.MODEL, ToolKind.POB: SpanKind.ENGINE, ToolKind.OTHER: SpanKind.PLANNER}
"""What the time of a call counts as."""


class _Call(NamedTuple):
    """What all attempts of one call share."""

    scope: Scope
    kind: ToolKind
    tool: str
    version: str
    call_id: str
    args: dict[str, Any]
    args_sha256: str
    bytes_in: int
    cache: CacheUse
    timeout_s: float | None
    describe: Describe | None
    attempts: int
    deadline_s: float | None
    results: int = 1
    queued_ms: float = 0.0
    codec: Codec | None = None


class _Answer(NamedTuple, Generic[T]):
    """What an attempt gave, the milliseconds it took, and the result's bytes where they were needed for the record."""

    result: T
    took_ms: float
    data: bytes | None


class ToolRunner:
    """Runs calls within their quota, with attempts, timeouts and events, or answers them from the cache."""

    records = True
    """Whether what a call is about is written down: without, nobody needs to work it out."""

    def __init__(
        self,
        events: EventStore,
        clock: Clock | None = None,
        redactor: Redactor | None = None,
        attempts: int = 3,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        seed: int = 0,
        cache: ResultCache | None = None,
        quota: Quota | None = None,
        observer: Observer | None = None,
    ) -> None:
        self._recorder = Recorder(events, observer)
        self._quota = quota
        self._clock = clock or SystemClock()
        self._redactor = redactor or Redactor()
        self._attempts = attempts
        self._sleep = sleep
        self._random = random.Random(seed)  # noqa: S311  jitter is no secret
        self._cache = cache

    @property
    def dropped_events(self) -> int:
        """How many records could not be written: the store's trouble never fails a call."""
        return self._recorder.dropped

    async def call(
        self,
        scope: Scope,
        kind: ToolKind,
        tool: str,
        args: Mapping[str, Any],
        fn: Callable[[], Awaitable[T]],
        *,
        version: str = "",
        deterministic: bool = False,
        timeout_s: float | None = None,
        deadline_s: float | None = None,
        retries: int | None = None,
        describe: Describe | None = None,
        cacheable: Cacheable | None = None,
        results: int = 1,
        queued_ms: float = 0.0,
    ) -> T:
        """Return what `fn` returns, trying again after errors that say a repeat can help.

        `timeout_s` bounds one attempt, `deadline_s` all of them and the pauses between, in seconds; `retries` is the
        number of attempts in all (default 3). `deterministic`: equal arguments give equal results,
        so a repeat could have been avoided. `describe` turns the result into further fields of the event
        (usage, cost, cache, provider_call_id, result_sha256 ...). `cacheable`: an answer given to an equal call before
        is returned instead, and of equal calls made at once only one is executed; only good answers are kept.
        `results`: how many results a good answer holds. `queued_ms`: what was waited for the call before it was made.

        Raises:
            EngineHung, ReasonerError: `timeout_s` or `deadline_s` passed, for an engine call or another.
            BudgetExceeded: the quota allows no further attempt.
            AppError: whatever the last attempt raised.
        """
        known = arguments(tool, version, args)
        kept = None if self._cache is None or not self._cache.takes(tool) else cacheable
        unkept = CacheUse.BYPASS if deterministic else CacheUse.UNCACHEABLE
        call = _Call(
            scope=scope,
            kind=kind,
            tool=tool,
            version=version,
            call_id=new_call_id(),
            args=self._redactor.data(known.shown),
            args_sha256=known.sha256,
            bytes_in=known.size,
            cache=unkept if kept is None else CacheUse.MISS,
            timeout_s=timeout_s,
            describe=describe,
            attempts=self._attempts if retries is None else retries,
            deadline_s=deadline_s,
            results=results,
            queued_ms=queued_ms,
            codec=None if kept is None else kept.codec,
        )
        with span(tool, SPANS[kind]):
            if kept is None or self._cache is None:
                return (await self._attempts_of(call, fn)).result
            return await self._sought(call, fn, self._cache, kept)

    async def _sought(self, call: _Call, fn: Callable[[], Awaitable[T]], cache: ResultCache, cacheable: Cacheable) -> T:
        """Return the answer from the cache, else execute the call for everybody who asks."""
        event, began_ms = self._event(call, 1), self._clock.monotonic_ms()
        key = cache_key(call.args_sha256, cacheable.fingerprint)
        with span("cache", SpanKind.STORE):
            found = await cache.seek(key, cacheable.join)
        if found.answer is not None and (value := found.answer.decoded(cacheable.codec)) is not None:
            kept: T = value
            took_ms = self._clock.monotonic_ms() - began_ms
            fields = _recorded(digest_bytes(found.answer.data))
            known = {"original_ms": found.answer.took_ms, "results": call.results}
            ended = {"outcome": CallOutcome.OK, "cache": found.use, "duration_ms": took_ms, **known, **fields}
            await self._recorder.record(event.model_copy(update=ended))
            return kept
        answer: CachedResult | None = None
        try:
            given, codec = await self._attempts_of(call, fn), cacheable.codec
            data = codec.encode(given.result) if given.data is None else given.data
            answer = CachedResult(data, given.result if codec.shared else None, took_ms=given.took_ms)
            return given.result
        finally:
            cache.settle(key, call.tool, answer, found.leads)

    async def _attempts_of(self, call: _Call, fn: Callable[[], Awaitable[T]]) -> _Answer[T]:
        async with _deadline(call, call.deadline_s):
            for attempt in range(1, call.attempts + 1):
                try:
                    return await self._attempt(call, attempt, fn)
                except AppError as error:
                    if attempt == call.attempts or not _can_help(error):
                        raise
                    # Full jitter: from none up to a bound that doubles; or what the error asks for if that is longer.
                    bound_s = min(_BACKOFF_LONGEST_S, _BACKOFF_FIRST_S * 2 ** (attempt - 1))
                    asked_s = error.details.get("retry_after_s")
                    pause_s = max(self._random.uniform(0, bound_s), asked_s if isinstance(asked_s, float) else 0.0)
                await self._sleep(pause_s)
        raise ValueError("a call needs at least one attempt")

    async def _attempt(self, call: _Call, attempt: int, fn: Callable[[], Awaitable[T]]) -> _Answer[T]:
        event = self._event(call, attempt)
        if self._quota is not None:
            try:
                await self._quota.admit(event.build_id)
            except BudgetExceeded as error:
                refusal = self._failed(error) | {"error_type": str(error.details.get("which", error.code))}
                rejected = changed(event, **{**refusal, "outcome": CallOutcome.REJECTED, "duration_ms": 0.0})
                await self._recorder.record(rejected)
                raise
        stored = await self._recorder.start(event)
        began_ms = self._clock.monotonic_ms()
        ending: dict[str, Any] = {"outcome": CallOutcome.CANCELLED}
        last = True
        waited = span("attempt", SPANS[call.kind], always=True)
        try:
            with waited, inside(call.call_id):
                async with _deadline(call, call.timeout_s):
                    result = await fn()
            took_ms = self._clock.monotonic_ms() - began_ms
            ending = dict(call.describe(result)) if call.describe is not None else {}
            data = None
            if "result_sha256" not in ending:
                data = None if call.codec is None else call.codec.encode(result)
                ending = {**_recorded(digest(result) if data is None else digest_bytes(data)), **ending}
            ending = {"outcome": CallOutcome.OK, "results": call.results, **ending}
            return _Answer(result, took_ms, data)
        except BaseException as error:
            ending = self._failed(error)
            last = attempt == call.attempts or not _can_help(error)
            raise
        finally:
            took_ms = self._clock.monotonic_ms() - began_ms
            queue_ms = waited.waited_ms + (call.queued_ms if attempt == 1 else 0.0)
            self._recorder.finish(event, stored, {**ending, "duration_ms": took_ms, "queue_ms": queue_ms}, last)

    def _event(self, call: _Call, attempt: int) -> ToolEvent:
        asked = current_asked() or Asked(turn=0)
        return ToolEvent(
            build_id=call.scope.build_id,
            seq=0,
            phase=call.scope.phase,
            sub_problem=current_question(),
            kind=call.kind,
            tool=call.tool,
            tool_version=call.version,
            call_id=call.call_id,
            turn=asked.turn,
            parent_call_id=current_call(),
            provider_call_id=asked.provider_call_id,
            attempt=attempt,
            started_at=self._clock.now(),
            args=call.args,
            args_sha256=call.args_sha256,
            bytes_in=call.bytes_in,
            cache=call.cache,
            epoch=call.scope.epoch,
        )

    def _failed(self, error: BaseException) -> dict[str, Any]:
        timed_out = isinstance(error, (EngineHung, TimeoutError)) or isinstance(error.__cause__, TimeoutError)
        outcome = CallOutcome.TIMEOUT if timed_out else CallOutcome.ERROR
        return {
            "outcome": CallOutcome.CANCELLED if isinstance(error, asyncio.CancelledError) else outcome,
            "error_type": error.code if isinstance(error, AppError) else type(error).__name__,
            "error_message": self._redactor.text(str(error))[:_ERROR_CHARS],
        }


_UNBOUNDED = nullcontext()


def _deadline(call: _Call, seconds: float | None) -> AbstractAsyncContextManager[None]:
    return _UNBOUNDED if seconds is None else _bounded(call, seconds)


@asynccontextmanager
async def _bounded(call: _Call, seconds: float) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds) as deadline:
            yield
    except TimeoutError as exc:
        if not deadline.expired():
            raise
        failure = EngineHung if call.kind is ToolKind.POB else ReasonerError
        raise failure(f"{call.tool} did not answer within {seconds:g} s") from exc


def _can_help(error: BaseException) -> bool:
    return isinstance(error, AppError) and error.retryable


def _recorded(found: Digest) -> dict[str, Any]:
    return {"result_sha256": found.sha256, "bytes_out": found.size, "result_preview": found.preview}


class UnrecordedRunner(ToolRunner):
    """Makes each call once, with neither record nor cache nor quota; for measuring only."""

    records = False

    async def call(
        self,
        scope: Scope,
        kind: ToolKind,
        tool: str,
        args: Mapping[str, Any],
        fn: Callable[[], Awaitable[T]],
        **options: Any,
    ) -> T:
        """Return what `fn` returns."""
        return await fn()
