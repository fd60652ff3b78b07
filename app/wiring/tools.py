"""What makes and records calls: within which quota, with answers kept where, counted by whom."""

from __future__ import annotations

from app.core.clock import SystemClock
from app.core.config import Settings
from app.storage.base import EventStore, UsageStore
from app.storage.opening import Storage
from app.tools.cache import CachePolicy, ResultCache
from app.tools.quota import Quota, QuotaLimits
from app.tools.runner import ToolRunner
from app.tools.telemetry import Observer
from app.wiring.stores import redactor

_MEGABYTE = 1_000_000


def result_cache(settings: Settings, opened: Storage) -> ResultCache:
    """Return the cache of these settings over the store."""
    hours = settings.cache_ttl_hours
    policy = CachePolicy(
        memory_bytes=min(settings.cache_mb, settings.cache_memory_mb) * _MEGABYTE,
        store_bytes=settings.cache_mb * _MEGABYTE,
        ttl_s=None if hours is None else hours * 3600,
        skip=frozenset(tool.strip() for tool in settings.cache_skip.split(",")),
    )
    return ResultCache(opened.results, policy, SystemClock())


def tool_runner(
    settings: Settings, events: EventStore, usage: UsageStore, cache: ResultCache, observer: Observer
) -> ToolRunner:
    """Return what makes and records every call of these settings."""
    limits = QuotaLimits(
        build_calls=settings.build_budget_calls,
        day_calls=settings.day_budget_calls,
        day_tokens=settings.day_budget_tokens,
        day_usd=settings.day_budget_usd,
    )
    return ToolRunner(
        events,
        SystemClock(),
        redactor(settings),
        cache=cache,
        quota=Quota(usage, limits, SystemClock()),
        observer=observer,
    )
