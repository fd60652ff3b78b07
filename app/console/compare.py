"""`buildwright compare`: builds next to each other, as tables for people or JSON."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from app.core.config import Settings
from app.metrics.comparison import Comparison, Delta, Deltas, Outcomes, ToolUse
from app.metrics.figures import Interval
from app.wiring import open_reading

_NONE = "-"


async def compare_builds(settings: Settings, names: Sequence[str], as_json: bool) -> None:
    """Print the comparison; the first is what the others are held against."""
    async with open_reading(settings) as store:
        found = await store.comparisons.compare(names)
    typer.echo(found.model_dump_json(indent=2) if as_json else comparison_text(found))


def comparison_text(found: Comparison) -> str:
    """Return the comparison as tables; "-" = no data."""
    parts = [
        *found.notes,
        _table("TOOL USE", found.subjects, _tool_rows(found.tool_use.rows), found.tool_use.reason),
        _table("OUTCOME", found.subjects, _outcome_rows(found.outcomes.rows), None),
        _table("COST (all runs, failed ones included)", found.subjects, _cost_rows(found), None),
        *(_delta_table(deltas) for deltas in found.deltas),
    ]
    parts += [f"unmatched: {gap.task} (not in {', '.join(gap.missing_in)})" for gap in found.unmatched]
    return "\n\n".join(parts)


Rows = dict[str, list[str]]


def _tool_rows(uses: Sequence[ToolUse]) -> Rows:
    rows: Rows = {
        "total calls": [str(use.total_calls) for use in uses],
        "tasks with tools": [f"{use.tasks_with_tools} of {use.tasks}" for use in uses],
        "average per task": [number(use.avg_calls_per_task) for use in uses],
        "success rate": [_rate(use.success_rate, use.success_interval) for use in uses],
        "selection accuracy": [_selection(use) for use in uses],
    }
    buckets = uses[0].histogram if uses else {}
    return rows | {f"tasks with {name} calls": [str(use.histogram[name]) for use in uses] for name in buckets}


def _selection(use: ToolUse) -> str:
    return (
        "no expectations"
        if use.selection_accuracy is None
        else f"{use.selection_accuracy:.0%} of {use.selection_tasks}"
    )


def _outcome_rows(outcomes: Sequence[Outcomes]) -> Rows:
    return {
        "validated": [f"{row.valid_runs} of {row.runs}" for row in outcomes],
        "DPS": [number(row.dps) for row in outcomes],
        "EHP": [number(row.ehp) for row in outcomes],
        "blocking conflicts": [number(row.blocking) for row in outcomes],
        "warnings": [number(row.warnings) for row in outcomes],
    }


def _cost_rows(found: Comparison) -> Rows:
    return {
        "seconds": [number(row.seconds) for row in found.costs],
        "seconds per valid build": [number(row.seconds_per_valid_build) for row in found.costs],
        "calls per valid build": [number(row.calls_per_valid_build) for row in found.costs],
        "USD": [_usd(row.usd, row.cost_complete) for row in found.costs],
        "USD per valid build": [number(row.usd_per_valid_build, 4) for row in found.costs],
    }


def _usd(usd: str | None, complete: bool) -> str:
    return _NONE if usd is None else f"{'' if complete else '>= '}{usd}"


def _table(title: str, subjects: Sequence[str], rows: Rows, reason: str | None) -> str:
    if reason is not None:
        return f"{title}\n  {reason}"
    head = f"  {'':<24}" + "".join(f"{name:>28}" for name in subjects)
    return "\n".join([title, head, *(f"  {name:<24}" + "".join(f"{v:>28}" for v in row) for name, row in rows.items())])


def _delta_table(deltas: Deltas) -> str:
    head = f"{deltas.subject} AGAINST {deltas.baseline}"
    return "\n".join([head, *(_delta_line(delta) for delta in deltas.metrics)])


def _delta_line(delta: Delta) -> str:
    if delta.difference is None:
        return f"  {delta.metric:<14}{_NONE:>14}  {delta.reason}"
    ratio = "" if delta.ratio is None else f"  x{delta.ratio:.3f}"
    interval = "" if delta.interval is None else f"  [{_span(delta.interval)}] over {delta.pairs} tasks"
    return f"  {delta.metric:<14}{delta.difference:>+14,.2f}{ratio}{interval}"


def _span(interval: Interval) -> str:
    return f"{interval.low:,.2f} .. {interval.high:,.2f}"


def _rate(value: float | None, interval: Interval | None) -> str:
    if value is None or interval is None:
        return _NONE
    return f"{value:.1%} [{interval.low:.1%} .. {interval.high:.1%}]"


def number(value: float | None, digits: int = 1) -> str:
    """Return the number for a table, "-" for no data."""
    return _NONE if value is None else f"{value:,.{digits}f}"
