"""What to change, derived from the figures of a build: each sentence with the time that it is about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.core.spans import BUSY, OPENING, WAITING, SpanKind
from app.metrics.efficiency import Metrics
from app.model.base import Model

MOST = 3
ENGINE_CPU = "engine cpu"
"""The part of a row that is processor time of the engine's processes."""

_WORTH = 0.05
"""Less than this share of the wall time is not worth a change."""

_SMALL_BATCH = 8
WHAT_IF = "pob.what_if"
STARVED = 0.6
"""An engine process that gets less of a processor than this while it is asked shares it with something else."""

SESSIONS, BATCH, CACHE = "engine_workers", "whatif_batch", "cache_mb"


class WorkRow(Model):
    """One kind of work in one phase ("" = between phases). `self_ms`: own time, that inside its calls' attempts, engine
    and records included (`parts`); the own times of all rows add up to the wall time, of which `share` is this one's.
    `wall_ms`: with the other rows that it contains. `times`: how often it was entered. The rest are the figures of a
    tool (see `Figures`), null of other work; `score` is that of its productivity."""

    phase: str
    name: str
    kind: SpanKind
    share: float
    self_ms: float
    wall_ms: float
    cpu_ms: float
    parts: dict[str, float]
    times: int
    calls: int | None
    cached: int | None
    avoidable: int | None
    retries: int | None
    wasted_ms: float | None
    tokens: int | None
    cost_usd: str | None
    useful: int | None
    per_second: float | None
    score: float | None


class Remedy(Model):
    """What to change. `ms`: the time that it is about; it cannot save more. `setting`: the one to raise, if any."""

    sentence: str
    ms: float
    setting: str | None = None


def advice_of(metrics: Metrics, rows: Sequence[WorkRow], wall_ms: float | None) -> list[Remedy]:
    """Return up to three pieces of advice, the one about most time first; what is not worth it is left out."""
    whole = wall_ms or metrics.run.wall_ms or 0.0
    found = [*_of_calls(metrics), *(_of_rows(rows, whole) if whole else ())]
    worth = sorted((one for one in found if one.ms >= _WORTH * whole), key=lambda one: (-one.ms, one.sentence))[:MOST]
    return worth or _nothing(rows, whole)


def _of_calls(metrics: Metrics) -> Iterator[Remedy]:
    for phase in metrics.phases:
        for tool in phase.tools:
            where = f"{phase.phase.value}: "
            if tool.avoidable:
                yield Remedy(
                    sentence=f"{where}{tool.tool} was executed {tool.avoidable} times for questions whose answer was"
                    " known: keep it in the cache (BUILDWRIGHT_CACHE_MB, BUILDWRIGHT_CACHE_SKIP)",
                    ms=tool.avoidable_ms,
                    setting=CACHE,
                )
            if tool.wasted_ms:
                failed = tool.attempts - tool.ok_calls
                yield Remedy(
                    sentence=f"{where}{failed} of {tool.attempts} attempts of {tool.tool} came to nothing"
                    f" ({tool.retries} tried again): see their error_type under --events jsonl",
                    ms=tool.wasted_ms,
                )


def _of_rows(rows: Sequence[WorkRow], whole: float) -> Iterator[Remedy]:
    for phase in dict.fromkeys(row.phase for row in rows):
        waited = sum(row.self_ms for row in rows if row.phase == phase and row.name == WAITING)
        yield Remedy(
            sentence=f"{phase or 'the build'} waits {waited / whole:.0%} of the time for engine sessions: raise"
            " BUILDWRIGHT_ENGINE_WORKERS, or let fewer builds run at once",
            ms=waited,
            setting=SESSIONS,
        )
    for row in rows:
        if is_small_batch(row):
            yield Remedy(
                sentence=f"{row.phase}: {row.name} asks {_batch(row):.1f} candidates at a time, and"
                f" {around_calls(row) / whole:.0%} of the build is what each call costs besides: ask for more at once"
                " (BUILDWRIGHT_WHATIF_BATCH), or share them between fewer sessions (BUILDWRIGHT_ENGINE_WORKERS)",
                ms=around_calls(row),
                setting=BATCH,
            )
        if row.kind is SpanKind.MODEL:
            yield Remedy(
                sentence=f"{row.phase}: {row.share:.0%} of the time is the language model ({row.calls} requests): fewer"
                " rounds, shorter prompts or a faster model for this step (BUILDWRIGHT_LLM_MODELS)",
                ms=row.self_ms,
            )
    yield from _of_machine(rows, whole)


def around_calls(row: WorkRow) -> float:
    """Return the milliseconds (ms) of a tool's calls in which the engine neither worked nor was opened."""
    return row.self_ms - row.parts.get(BUSY, 0.0) - row.parts.get(OPENING, 0.0)


def is_small_batch(row: WorkRow) -> bool:
    """Return whether the row is trials asked for a few at a time."""
    return row.name == WHAT_IF and 0.0 < _batch(row) < _SMALL_BATCH


def _batch(row: WorkRow) -> float:
    """Return the candidates of an executed call, 0 where there was none."""
    executed = (row.calls or 0) - (row.cached or 0)
    return (row.useful or 0) / executed if executed else 0.0


def _of_machine(rows: Sequence[WorkRow], whole: float) -> Iterator[Remedy]:
    """Yield what the engine's processes and the store say about the machine."""
    asked, opened, cpu = (sum(row.parts.get(part, 0.0) for row in rows) for part in (BUSY, OPENING, ENGINE_CPU))
    if asked and cpu < STARVED * asked:
        yield Remedy(
            sentence=f"the engine's processes had a processor {cpu / asked:.0%} of the time they were asked: the"
            " machine is busy with something else, or has fewer processors than BUILDWRIGHT_ENGINE_WORKERS",
            ms=asked - cpu,
        )
    yield Remedy(sentence=f"opening engines took {opened / whole:.0%}: let one process make many builds", ms=opened)
    starting = sum(row.self_ms for row in rows if row.name == "engine and reasoner")
    yield Remedy(
        sentence=f"starting the engine took {starting / whole:.0%}: `serve` keeps it running between builds",
        ms=starting,
    )
    kept = sum(row.parts.get("cache", 0.0) + row.parts.get("records", 0.0) for row in rows)
    kept += sum(row.self_ms for row in rows if row.kind is SpanKind.STORE)
    yield Remedy(
        sentence=f"{kept / whole:.0%} of the time is the store (records, cache, checkpoints): put it on a faster disk",
        ms=kept,
    )


def _nothing(rows: Sequence[WorkRow], whole: float) -> list[Remedy]:
    """Return that nothing stands out, and what takes most time."""
    if not rows:
        return [Remedy(sentence="no spans were recorded, so nothing is known of where the time went", ms=0.0)]
    first = rows[0]
    told = f"nothing stands out; most of the time ({first.share:.0%}) is {first.phase} {first.name}".rstrip()
    return [Remedy(sentence=told, ms=first.self_ms)]
