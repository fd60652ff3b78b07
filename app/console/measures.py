"""`buildwright metrics`: where the time of a build went, what it cost, what to change."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import typer

from app.core.config import Settings
from app.core.errors import InputError
from app.metrics.advice import WorkRow
from app.metrics.breakdown import BuildMetrics
from app.metrics.flame import flame_svg
from app.model.access import EVERYONE
from app.model.names import Effort, Phase
from app.model.record import ReasonerChoice
from app.wiring import open_reading

MOST_ROWS = 30
_COLUMNS = [
    "share",
    "own ms",
    "wall ms",
    "calls",
    "cached",
    "wasted ms",
    "retries",
    "tokens",
    "USD",
    "useful/s",
    "score",
]


async def show_estimate(settings: Settings, effort: Effort, reasoner: ReasonerChoice, as_json: bool) -> None:
    """Print what a build would ask of a language model.

    Raises:
        ReasonerMissing: one is asked for and not set up.
    """
    async with open_reading(settings) as store:
        found = await store.estimates.before(effort, reasoner, EVERYONE)
    typer.echo(found.model_dump_json(indent=2) if as_json else found.text)


async def show_metrics(
    settings: Settings, build_id: str, phase: Phase | None, tool: str | None, flame: Path | None, as_json: bool
) -> None:
    """Print where the time went; with `flame` write the picture, too.

    Raises:
        NotFound: no such build.
        InputError: nothing of the phase and tool was recorded, no spans were, or the file cannot be written.
    """
    async with open_reading(settings) as store:
        found = await store.recordings.metrics(build_id)
    rows = found.chosen(phase, tool)
    if (phase is not None or tool is not None) and not rows:
        known = ", ".join(sorted({f"{row.phase} {row.name}".strip() for row in found.rows})) or "nothing"
        raise InputError(f"Nothing of that is recorded of {build_id}; there is: {known}.")
    if flame is not None:
        await asyncio.to_thread(_write, flame, found, build_id)
    if as_json:
        told = found.model_copy(update={"rows": rows}) if phase is not None or tool is not None else found
        typer.echo(told.model_dump_json(indent=2))
    else:
        typer.echo(metrics_text(found, rows, whole=phase is None and tool is None))


def _write(file: Path, found: BuildMetrics, build_id: str) -> None:
    if found.time is None:
        raise InputError(f"No spans are recorded of {build_id}, so there is no flame view.")
    try:
        file.write_bytes(flame_svg(found.time.tree))
    except OSError as error:
        raise InputError(f"Cannot write {file}: {error.strerror or error}.") from error


def metrics_text(found: BuildMetrics, rows: Sequence[WorkRow], *, whole: bool) -> str:
    """Return the table, sorted by own time, and below it what to change; "-" = no data."""
    head = f"{'phase':<10} {'work':<28}" + "".join(f"{name:>10}" for name in _COLUMNS)
    shown = rows[:MOST_ROWS]
    left = f"... and {len(rows) - len(shown)} rows more; --json has all of them" if len(rows) > len(shown) else None
    table = [head, *map(_line, shown), *([left] if left else [])] if rows else ["No spans are recorded."]
    advice = [f"- {one.sentence} ({one.ms / 1000:,.1f} s)" for one in found.advice]
    return "\n".join([*_summary(found), "", *table, *(["", "What to change:", *advice] if whole else [])])


def _summary(found: BuildMetrics) -> list[str]:
    run, time, brought = found.run, found.time, found.productivity
    usd = "-" if run.cost_usd is None else f"{'' if run.cost_complete else '>= '}{run.cost_usd} ({run.cost_source})"
    tokens = None if run.tokens is None else run.tokens.get("input", 0) + run.tokens.get("output", 0)
    lines = (
        []
        if time is None
        else [
            f"wall {time.wall_ms / 1000:,.1f} s, {1 - (time.rest_share or 0.0):.1%} of it explained: "
            + ", ".join(
                f"{kind.value} {ms / 1000:,.1f} s" for kind, ms in sorted(time.kinds.items(), key=lambda e: -e[1])
            )
            + (f"; queued {time.queued_ms / 1000:,.1f} s before" if time.queued_ms is not None else "")
        ]
    )
    called = (
        f"{run.calls} calls, {run.attempts} attempts, {run.retries} retries, {run.cached} from the cache"
        f" (saved {_cell(run.saved_ms)} ms), {_cell(run.wasted_ms)} ms wasted, {_cell(tokens)} tokens, {usd} USD"
    )
    came = (
        f"efficiency {_cell(found.efficiency.score, 3)}, productivity {_cell(brought.score, 3)}:"
        f" {brought.useful:,} useful results, {_cell(brought.per_second, 1)} per second,"
        f" {_cell(brought.per_call, 2)} per call, {_cell(brought.per_usd)} per USD"
    )
    asked = [] if found.language_model is None else [found.language_model.text]
    return [*lines, called, came, *asked]


def _line(row: WorkRow) -> str:
    cells = [
        f"{row.share:.1%}",
        _cell(row.self_ms, 1),
        _cell(row.wall_ms, 1),
        _cell(row.calls if row.calls is not None else row.times),
        _cell(row.cached),
        _cell(row.wasted_ms),
        _cell(row.retries),
        _cell(row.tokens),
        row.cost_usd or "-",
        _cell(row.per_second, 1),
        _cell(row.score, 2),
    ]
    return f"{row.phase or '-':<10} {row.name[:28]:<28}" + "".join(f"{cell:>10}" for cell in cells)


def _cell(value: float | None, digits: int = 0) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"
