"""What the figures of the last builds say about the settings: one step up or down, within bounds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from math import ceil
from statistics import fmean

from app.core.spans import BUSY, SpanKind
from app.metrics.advice import ENGINE_CPU, STARVED
from app.metrics.breakdown import BuildMetrics
from app.model.base import Model

FEWEST_BUILDS = 3
MOST_MEMORY_MB = 512
_WAITING = 0.10
_LOOKING_UP = 0.05
"""Shares of the wall time from which a setting is worth a change."""


class TunedSettings(Model):
    """Settings as measured; null = left as they are. `since`: builds asked for after it are made with them.

    `reasons`: why, one sentence per change.
    """

    schema_version: str = "1.0"
    since: datetime
    engine_workers: int | None = None
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
    found: Sequence[BuildMetrics], workers: int, memory_mb: int, processors: int, now: datetime
) -> TunedSettings | None:
    """Return one step for each setting that the builds say something about, None where they say nothing.

    `workers` and `memory_mb` are in force. Sessions go down by a half when the engine's processes are starved of
    processors, and up by one, to one per processor, when builds wait for them and they are not. The memory of the cache
    is doubled, to 512 MB, when looking answers up in the store takes long. Fewer than three builds say nothing.
    """
    traced = [one for one in found if one.time is not None and one.time.wall_ms]
    if len(traced) < FEWEST_BUILDS:
        return None
    whole = sum(one.time.wall_ms for one in traced if one.time is not None)
    rows = [row for one in traced for row in one.rows]
    asked, cpu, looked_up = (sum(row.parts.get(part, 0.0) for row in rows) for part in (BUSY, ENGINE_CPU, "cache"))
    waited = sum(row.self_ms for row in rows if row.kind is SpanKind.WAIT)
    reasons, sessions, memory = [], None, None
    if asked and cpu < STARVED * asked and workers > 1:
        sessions = max(1, ceil(workers / 2))
        reasons.append(
            f"engine processes had a processor {cpu / asked:.0%} of the time: {workers} → {sessions} sessions"
        )
    elif waited >= _WAITING * whole and workers < processors:
        sessions = workers + 1
        reasons.append(f"builds waited {waited / whole:.0%} of the time for sessions: {workers} → {sessions}")
    if looked_up >= _LOOKING_UP * whole and 0 < memory_mb < MOST_MEMORY_MB:
        memory = min(MOST_MEMORY_MB, 2 * memory_mb)
        reasons.append(f"looking answers up took {looked_up / whole:.0%}: {memory_mb} → {memory} MB in memory")
    if not reasons:
        return None
    return TunedSettings(since=now, engine_workers=sessions, cache_memory_mb=memory, reasons=reasons)
