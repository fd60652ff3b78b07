"""`buildwright compare`, `expect` and `eval`: builds next to each other, held against what is required, in suites."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean

import typer
from pydantic import TypeAdapter

from app.bench.reasoners import against, against_text
from app.console.exits import Exit
from app.core.config import Settings
from app.core.errors import InputError
from app.core.logs import set_up_logging
from app.metrics.comparison import Comparison, compare
from app.metrics.deltas import Delta, Deltas
from app.metrics.documents import Document
from app.metrics.expectations import Expectations, Verdict, check_usable
from app.metrics.limits import InvalidMatcher
from app.metrics.results import read_file
from app.model.base import changed
from app.model.evaluations import EvaluationRun
from app.model.record import EngineChoice, ReasonerChoice
from app.service.comparisons import check_names
from app.service.evaluations import load_suite, passed_of
from app.wiring import open_reading, open_services, redactor

_NONE = "-"


async def compare_builds(settings: Settings, names: Sequence[str], as_json: bool) -> None:
    """Print the comparison; the first is what the others are held against. Names that end in .json are result files.

    Raises:
        InputError: a file is no result file, or files are mixed with builds or labels.
    """
    if any(name.endswith(".json") for name in names):
        found = await asyncio.to_thread(compare_files, names)
    else:
        async with open_reading(settings) as store:
            found = await store.comparisons.compare(names)
    typer.echo(found.model_dump_json(indent=2) if as_json else comparison_text(found))


def compare_files(names: Sequence[str]) -> Comparison:
    """Return the comparison of result files; it needs no store.

    Raises:
        InputError: one of them is no result file, or not two to ten different ones are named.
    """
    check_names(names)
    if not all(name.endswith(".json") for name in names):
        raise InputError("Compare result files with result files; `eval import` puts one under its label.")
    files = {name: read_file(Path(name)) for name in names}
    engines = {tuple(file.engines) for file in files.values()}
    notes = ["The numbers come from different engines or engine versions."] if len(engines) > 1 else []
    return compare([file.subject(name) for name, file in files.items()], notes)


async def export_results(settings: Settings, label: str, file: Path) -> None:
    """Write the runs under the label into a file.

    Raises:
        NotFound: no run under the label.
        InputError: the file cannot be written.
    """
    async with open_reading(settings) as store:
        found = await store.comparisons.export(label)
    try:
        await asyncio.to_thread(file.write_text, found.model_dump_json(indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"Cannot write {file}: {error.strerror or error}.") from error
    typer.echo(f"{len(found.runs)} runs under {label} written to {file}")


async def import_results(settings: Settings, file: Path) -> None:
    """Keep the runs of a result file under its label.

    Raises:
        InputError: it is no result file.
        Conflict: there are runs under its label already.
    """
    found = await asyncio.to_thread(read_file, file)
    async with open_reading(settings) as store:
        await store.comparisons.bring(found, datetime.now(UTC))
    typer.echo(f"{len(found.runs)} runs are under the label {found.label}; compare them as label:{found.label}")


def comparison_text(found: Comparison) -> str:
    """Return the comparison as tables; "-" = no data."""
    uses, outcomes, costs = found.tool_use.rows, found.outcomes.rows, found.costs
    tools: Rows = {
        "total calls": [str(use.total_calls) for use in uses],
        "tasks with tools": [f"{use.tasks_with_tools} of {use.tasks}" for use in uses],
        "average per task": [number(use.avg_calls_per_task) for use in uses],
        "success rate": [
            f"{use.success_rate:.1%} [{use.success_interval.low:.1%} .. {use.success_interval.high:.1%}]"
            if use.success_rate is not None and use.success_interval is not None
            else _NONE
            for use in uses
        ],
        "selection accuracy": [
            f"{use.selection_accuracy:.0%} of {use.selection_tasks}"
            if use.selection_accuracy is not None
            else "no expectations"
            for use in uses
        ],
    }
    for name in uses[0].histogram if uses else {}:
        tools[f"tasks with {name} calls"] = [str(use.histogram[name]) for use in uses]
    results: Rows = {
        "validated": [f"{row.valid_runs} of {row.runs}" for row in outcomes],
        "DPS": [number(row.dps) for row in outcomes],
        "EHP": [number(row.ehp) for row in outcomes],
        "blocking conflicts": [number(row.blocking) for row in outcomes],
        "warnings": [number(row.warnings) for row in outcomes],
    }
    spent: Rows = {
        "seconds": [number(row.seconds) for row in costs],
        "seconds per valid build": [number(row.seconds_per_valid_build) for row in costs],
        "calls per valid build": [number(row.calls_per_valid_build) for row in costs],
        "USD": [_NONE if row.usd is None else f"{'' if row.cost_complete else '>= '}{row.usd}" for row in costs],
        "USD per valid build": [number(row.usd_per_valid_build, 4) for row in costs],
    }
    parts = [
        *found.notes,
        _table("TOOL USE", found.subjects, tools, found.tool_use.reason),
        _table("OUTCOME", found.subjects, results, None),
        _table("COST (all runs, failed ones included)", found.subjects, spent, None),
    ]
    for deltas in found.deltas:
        head = f"{deltas.subject} AGAINST {deltas.baseline}"
        parts.append("\n".join([head, *(_delta_line(delta) for delta in deltas.metrics)]))
        parts += _parts_text(deltas)
    parts += [f"unmatched: {gap.task} (not in {', '.join(gap.missing_in)})" for gap in found.unmatched]
    return "\n\n".join(parts)


Rows = dict[str, list[str]]


def _table(title: str, subjects: Sequence[str], rows: Rows, reason: str | None) -> str:
    if reason is not None:
        return f"{title}\n  {reason}"
    head = f"  {'':<24}" + "".join(f"{name:>28}" for name in subjects)
    return "\n".join([title, head, *(f"  {name:<24}" + "".join(f"{v:>28}" for v in row) for name, row in rows.items())])


_MOST_PARTS = 8
"""Tools shown of each comparison, those whose time differs most; `--json` has all."""


def _parts_text(deltas: Deltas) -> list[str]:
    parts = [*deltas.phases, *deltas.tools[:_MOST_PARTS]]
    rows = [
        f"  {part.part:<36}"
        + "".join(f"{number(known[name].difference, 1 if name != 'productivity' else 3):>14}" for name in _PART_COLUMNS)
        for part in parts
        if (known := {delta.metric: delta for delta in part.metrics})
    ]
    head = f"  {'':<36}" + "".join(f"{column:>14}" for column in _PART_COLUMNS.values())
    texts = ["\n".join(["BY PHASE AND TOOL (differences, those in time first)", head, *rows])] if rows else []
    calls = [
        f"  {one.task}: call {one.call}, {one.baseline or 'none'} / {one.subject or 'none'}"
        + (" with other arguments" if one.same_tool else "")
        for one in deltas.first_differences
    ]
    return [*texts, *(["\n".join(["FIRST CALL THAT DIFFERS", *calls])] if calls else [])]


_PART_COLUMNS = {
    "calls": "calls",
    "sum_ms": "ms",
    "retries": "retries",
    "wasted_ms": "wasted ms",
    "useful_per_second": "useful/s",
    "productivity": "productivity",
}


def _delta_line(delta: Delta) -> str:
    if delta.difference is None:
        return f"  {delta.metric:<18}{_NONE:>14}  {delta.reason}"
    ratio = "" if delta.ratio is None else f"  x{delta.ratio:.3f}"
    interval = f"  no interval: {delta.reason}"
    if delta.interval is not None:
        interval = f"  [{delta.interval.low:,.2f} .. {delta.interval.high:,.2f}] over {delta.pairs} tasks"
    return f"  {delta.metric:<18}{delta.difference:>+14,.2f}{ratio}{interval}"


def number(value: float | None, digits: int = 1) -> str:
    """Return the number for a table, "-" for no data."""
    return _NONE if value is None else f"{value:,.{digits}f}"


async def check_expectations(settings: Settings, file: Path, build_id: str, as_json: bool) -> Exit:
    """Print every check; exit 1 when one failed, 2 when the file cannot be used.

    Raises:
        InputError: the file cannot be used.
    """
    wanted = await asyncio.to_thread(read_expectations, file)
    async with open_reading(settings) as store:
        verdict = await store.expectations.check(build_id, wanted)
    typer.echo(verdict.model_dump_json(indent=2) if as_json else verdict_text(verdict))
    return Exit.OK if verdict.passed else Exit.FAILED


def read_expectations(file: Path) -> Expectations:
    """Return the expectations in a YAML or JSON file.

    Raises:
        InputError: it cannot be read, or does not hold expectations.
        InvalidMatcher: a matcher or pattern in it is unusable.
    """
    document = Document(file)
    wanted = document.read(TypeAdapter(Expectations))
    try:
        check_usable(wanted)
    except InvalidMatcher as error:
        raise document.unusable(error) from error
    return wanted


def verdict_text(verdict: Verdict) -> str:
    """Return every check on a line, and how many passed."""
    lines = []
    for check in verdict.checks:
        calls = f" (calls {', '.join(map(str, check.matched[:10]))})" if check.matched else ""
        lines.append(f"{'ok  ' if check.passed else 'FAIL'}  {check.name}: {check.reason}{calls}")
    passed = sum(check.passed for check in verdict.checks)
    return "\n".join([*lines, f"{passed} of {len(verdict.checks)} checks passed (score {verdict.score:.3f})"])


async def run_suite(
    settings: Settings,
    source: str,
    *,
    trials: int,
    label: str | None,
    only: list[str] | None,
    resume: bool,
    engine: EngineChoice,
    reasoner: ReasonerChoice,
    against_rules: bool,
    as_json: bool,
) -> Exit:
    """Run the suite and print every verdict; exit 1 when one did not pass.

    With the language model each build is also held against what every build must be, and beside one that the rules
    make of the same task, unless `against_rules` is off.
    """
    suite = await asyncio.to_thread(load_suite, source, only)
    set_up_logging("DEBUG" if settings.log_level == "DEBUG" else "ERROR", redactor(settings))
    name = label or f"{suite.name}-{datetime.now(UTC):%Y%m%dT%H%M%S}"
    model = against_rules and reasoner == "llm"
    # who is built second must not be taught by who is built first
    async with open_services(changed(settings, memory="off") if model else settings) as services:
        services.builds.check(engine, reasoner)
        evals = services.evaluations
        twins = []
        if model:
            told = f"{name}{BY_RULES}"
            twins = await evals.run(
                suite, told, trials, resume=resume, engine=engine, reasoner="rules", sound=True, told=_tell
            )
        runs = await evals.run(
            suite, name, trials, resume=resume, engine=engine, reasoner=reasoner, sound=reasoner == "llm", told=_tell
        )
        brought = [(await services.recordings.metrics(run.build_id)).productivity for run in runs]
        rows = await against(services, twins, runs) if model else []
    if as_json:
        listed = [
            {**run.model_dump(mode="json"), "productivity": found.model_dump(mode="json")}
            for run, found in zip(runs, brought, strict=True)
        ]
        table = {"against_rules": [row.model_dump(mode="json") for row in rows]} if model else {}
        typer.echo(json.dumps({"label": name, "runs": listed, **table}, indent=2))
    else:
        scores = [found.score for found in brought if found.score is not None]
        mean = f", productivity {fmean(scores):.3f} on average" if scores else ""
        typer.echo("\n".join([*against_text(rows), f"{passed_of(runs)} of {len(runs)} runs under {name} passed{mean}"]))
    return Exit.OK if passed_of(runs) == len(runs) else Exit.FAILED


BY_RULES = "-rules"
"""What the label of the rules' runs ends in, beside which those of a language model are held."""


async def list_labels(settings: Settings, as_json: bool) -> None:
    """Print every label with its counts."""
    async with open_reading(settings) as store:
        labels = await store.labels.labels()
    if as_json:
        typer.echo(json.dumps([label.model_dump(mode="json") for label in labels], indent=2))
        return
    lines = [
        f"{label.label:<40} {label.suite:<16} {label.passed:>4} of {label.runs:<4} runs passed, {label.tasks} tasks,"
        f" {label.at:%Y-%m-%d %H:%M}"
        for label in labels
    ]
    typer.echo("\n".join(lines) or "No evaluations yet.")


def _tell(run: EvaluationRun) -> None:
    word = "ok  " if run.passed else "FAIL"
    typer.echo(f"{word}  {run.task} #{run.trial}  {run.seconds:.1f} s  {run.build_id}", err=True)
    for check in run.checks:
        if not check.passed:
            typer.echo(f"      {check.name}: {check.reason}", err=True)
