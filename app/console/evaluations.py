"""`buildwright eval`: suites of prompts, run and kept under a label."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path

import typer
import yaml

from app.console.exits import Exit
from app.core.config import Settings
from app.core.errors import InputError
from app.core.logs import set_up_logging
from app.metrics.expectations import Check, Expectations, Verdict
from app.model.evaluations import EvaluationRun
from app.model.record import EngineChoice, ReasonerChoice
from app.service.evaluations import load_suite, passed_of
from app.wiring import open_reading, open_services, redactor


async def check_expectations(settings: Settings, file: Path, build_id: str, as_json: bool) -> Exit:
    """Print every check; exit 1 when one failed, 2 when the file cannot be used.

    Raises:
        InputError: the file cannot be read, or is not YAML or JSON.
    """
    wanted = await asyncio.to_thread(read_expectations, file)
    async with open_reading(settings) as store:
        verdict = await store.expectations.check(build_id, wanted)
    typer.echo(verdict.model_dump_json(indent=2) if as_json else _words(verdict))
    return Exit.OK if verdict.passed else Exit.FAILED


def read_expectations(file: Path) -> Expectations:
    """Return the expectations in a YAML or JSON file.

    Raises:
        InputError: it cannot be read, or is not YAML.
        pydantic.ValidationError: it does not hold expectations.
    """
    try:
        return Expectations.model_validate(yaml.safe_load(file.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"Cannot read {file}: {error}.") from error
    except yaml.YAMLError as error:
        raise InputError(f"{file} is neither YAML nor JSON: {error}") from error


def _words(verdict: Verdict) -> str:
    passed = sum(check.passed for check in verdict.checks)
    lines = [_line(check) for check in verdict.checks]
    return "\n".join([*lines, f"{passed} of {len(verdict.checks)} checks passed (score {verdict.score:.3f})"])


def _line(check: Check) -> str:
    calls = f" (calls {', '.join(map(str, check.matched[:10]))})" if check.matched else ""
    return f"{'ok  ' if check.passed else 'FAIL'}  {check.name}: {check.reason}{calls}"


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
    as_json: bool,
) -> Exit:
    """Run the suite and print every verdict; exit 1 when one did not pass."""
    suite = await asyncio.to_thread(load_suite, source, only)
    set_up_logging("DEBUG" if settings.log_level == "DEBUG" else "ERROR", redactor(settings))
    name = label or f"{suite.name}-{datetime.now(UTC):%Y%m%dT%H%M%S}"
    async with open_services(settings) as services:
        runs = await services.evaluations.run(
            suite, name, trials, resume=resume, engine=engine, reasoner=reasoner, told=_tell
        )
    if as_json:
        typer.echo(json.dumps({"label": name, "runs": [run.model_dump(mode="json") for run in runs]}, indent=2))
    else:
        typer.echo(f"{passed_of(runs)} of {len(runs)} runs under {name} passed")
    return Exit.OK if passed_of(runs) == len(runs) else Exit.FAILED


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
