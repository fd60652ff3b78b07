"""`buildwright eval`: suites of prompts, run and kept under a label."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime

import typer

from app.console.codes import Exit
from app.core.config import Settings
from app.core.logs import set_up_logging
from app.model.evaluations import EvaluationRun
from app.model.request import EngineChoice, ReasonerChoice
from app.service.evaluations import passed_of
from app.service.suites import load_suite
from app.wiring import open_reading, open_services, redactor


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
