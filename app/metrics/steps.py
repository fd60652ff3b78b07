"""What the figures of the last builds say about the settings: one step up or down, within bounds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from math import ceil
from statistics import fmean

from app.core.spans import BUSY, SpanKind
from app.metrics.advice import ENGINE_CPU, STARVED, WHAT_IF, around_calls, is_small_batch
from app.metrics.breakdown import BuildMetrics
from app.model.base import Model

FEWEST_BUILDS = 3
MOST_MEMORY_MB = 512
MOST_BATCH = 32
TUNABLE = ("engine_workers", "whatif_batch", "cache_memory_mb")
"""The settings that are measured."""
_WAITING = _AROUND_CALLS = 0.10
_LOOKING_UP = 0.05
"""Shares of the wall time from which a setting is worth a change."""
_FOUND = 0.5
"""Share of lookups that find an answer from which on more memory is worth a try: what is not known is in no memory."""


class TunedSettings(Model):
    """Settings as measured; null = left as they are. `since`: builds asked for after it are made with them.

    `reasons`: why, one sentence per change.
    """

    schema_version: str = "1.0"
    since: datetime
    engine_workers: int | None = None
    whatif_batch: int | None = None
    cache_memory_mb: int | None = None
    reasons: list[str]


class TuningEffect(Model):
    """Builds before and after the last change: how many, mean seconds of wall, mean productivity."""

    builds: int
    seconds: float | None
    productivity: float | None

    @classmethod
    def of(cls, found: Sequence[BuildMetrics]) -> TuningEffect:
        """Return what these builds took."""
        walls = [one.time.wall_ms / 1000 for one in found if one.time is not None]
        scores = [one.productivity.score for one in found if one.productivity.score is not None]
        return cls(
            builds=len(found),
            seconds=fmean(walls) if walls else None,
            productivity=fmean(scores) if scores else None,
        )


class TuningReport(Model):
    """What is in force, what is suggested (null: nothing), and what the last change did."""

    applied: bool
    in_force: TunedSettings | None
    suggested: TunedSettings | None
    before: TuningEffect | None
    after: TuningEffect | None


def suggestion(
    found: Sequence[BuildMetrics], workers: int, batch: int, memory_mb: int, processors: int, now: datetime
) -> TunedSettings | None:
    """Return one step for each setting that the builds say something about, None where they say nothing.

    `workers`, `batch` and `memory_mb` are in force. Sessions go down by a half when the engine's processes are starved
    of processors, and up by one, to one per processor, when builds wait for them and they are not. What a call of
    trials costs besides the engine's work is saved by larger batches, doubled to 32. The memory of the cache is
    doubled, to 512 MB, when looking answers up takes long and most are found. Fewer than three builds say nothing.
    """
    traced = [one for one in found if one.time is not None and one.time.wall_ms]
    if len(traced) < FEWEST_BUILDS:
        return None
    whole = sum(one.time.wall_ms for one in traced if one.time is not None)
    rows = [row for one in traced for row in one.rows]
    asked, cpu, looked_up = (sum(row.parts.get(part, 0.0) for row in rows) for part in (BUSY, ENGINE_CPU, "cache"))
    waited = sum(row.self_ms for row in rows if row.kind is SpanKind.WAIT)
    reasons, sessions, larger, memory = [], None, None, None
    if asked and cpu < STARVED * asked and workers > 1:
        sessions = max(1, ceil(workers / 2))
        reasons.append(
            f"engine processes had a processor {cpu / asked:.0%} of the time: {workers} → {sessions} sessions"
        )
    elif waited >= _WAITING * whole and workers < processors:
        sessions = workers + 1
        reasons.append(f"builds waited {waited / whole:.0%} of the time for sessions: {workers} → {sessions}")
    around = sum(around_calls(row) for row in rows if row.name == WHAT_IF)
    if around >= _AROUND_CALLS * whole and workers > 1 and batch < MOST_BATCH and any(map(is_small_batch, rows)):
        larger = min(MOST_BATCH, 2 * batch)
        reasons.append(f"what calls of trials cost besides took {around / whole:.0%}: batches {batch} → {larger}")
    lookups, answered = (sum(getattr(one.run, name) for one in traced) for name in ("cache_lookups", "cached"))
    if looked_up >= _LOOKING_UP * whole and answered >= _FOUND * max(lookups, 1) and 0 < memory_mb < MOST_MEMORY_MB:
        memory = min(MOST_MEMORY_MB, 2 * memory_mb)
        reasons.append(f"looking answers up took {looked_up / whole:.0%}: {memory_mb} → {memory} MB in memory")
    if not reasons:
        return None
    return TunedSettings(
        since=now, engine_workers=sessions, whatif_batch=larger, cache_memory_mb=memory, reasons=reasons
    )
