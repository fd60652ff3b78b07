"""The group `buildwright llm`: what is said to a language model during a build, recorded and replayed offline."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from app.bench.builds import scratch_services
from app.console.build import watch
from app.console.exits import Exit, complain, exit_code, run
from app.core.config import Settings
from app.core.errors import AppError
from app.core.logs import set_up_logging
from app.llm.prefix import StepSpending, difference, spending
from app.llm.transcript import Replay, Transcript, TranscriptEnd, TranscriptFile, TranscriptHead, read_transcript
from app.model.base import Model, changed
from app.model.names import BuildStatus, Effort, GearTier
from app.model.record import BuildRequest
from app.service import Services
from app.service.view import BuildView
from app.wiring import ConfiguredEngines, open_services, redactor

NOWHERE = "http://127.0.0.1:9/v1"
"""Stands for the model's address while a transcript answers in its place; nothing is ever sent there."""

llm = typer.Typer(help="What is said to a language model: recorded, and replayed without one.", no_args_is_help=True)
JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON on stdout")]


@llm.command("record")
def llm_record(
    prompt: Annotated[str, typer.Argument(metavar="PROMPT", help="What you want, in your own words")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The transcript; a file that is there is kept")],
    level: Annotated[int | None, typer.Option(help="Character level, 1-100")] = None,
    gear: Annotated[GearTier | None, typer.Option(help="How good the gear may be")] = None,
    effort: Annotated[Effort, typer.Option(help="How much is tried")] = Effort.NORMAL,
    engine: Annotated[Literal["auto", "pob", "sketch"], typer.Option(help="Who calculates")] = "auto",
    as_json: JsonFlag = False,
) -> None:
    """Build with the language model and save every exchange with it, secrets taken out. Exit codes as of build."""

    async def record() -> Exit:
        asked = BuildRequest(prompt=prompt, level=level, gear=gear, effort=effort, engine=engine, reasoner="llm")
        return await record_build(Settings(), asked, out, as_json)

    run(record)


@llm.command("replay")
def llm_replay(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `llm record` wrote")],
    as_json: JsonFlag = False,
) -> None:
    """Make the recorded build again with the recorded answers, offline, and say what is asked differently now.

    Exit 0 every request and the result are as recorded, 1 something differs, 2 the file cannot be used.
    """
    run(lambda: replay_file(Settings(), file, as_json))


class ReplayReport(Model):
    """What a replay found. `requests` were made, `recorded` are in the file; `first`: number (from 1) and step of the
    first request that differs, with its `diff`. `unused`: steps whose recorded answers nothing asked for.
    """

    origin: Literal["recorded", "written"]
    recorded: int
    requests: int
    first: str | None = None
    diff: list[str]
    unused: list[str]
    was: TranscriptEnd | None = None
    now: TranscriptEnd
    spending: list[StepSpending]

    @property
    def same(self) -> bool:
        """Return whether every request and the result are as recorded."""
        return self.first is None and not self.unused and self.was in (None, self.now)


async def record_build(settings: Settings, request: BuildRequest, path: Path, as_json: bool) -> Exit:
    """Make the build and write its transcript; what earlier builds taught is left out, as in a replay.

    Raises:
        InputError: the file is there already or cannot be written.
        ReasonerMissing: no language model is set up.
    """
    asked = changed(request, engine=ConfiguredEngines(settings).resolve(request.engine))
    model, models = settings.llm_model or "none", settings.llm_models
    head = TranscriptHead(provider=settings.llm_provider, model=model, models=models, request=asked)
    file = TranscriptFile(path, head, redactor(settings).data)
    set_up_logging("DEBUG" if settings.log_level == "DEBUG" else "ERROR", redactor(settings))
    try:
        async with open_services(changed(settings, memory="off"), around=file.around) as services:
            view = await _made(services, asked)
    except AppError:
        await asyncio.to_thread(file.drop)
        raise
    end, rows = end_of(view), spending(file.exchanges)
    file.close(end)
    told = {"id": view.id, "file": str(path), "end": end.model_dump(), "spending": [row.model_dump() for row in rows]}
    lines = [*spending_text(rows), "", f"{view.id}: {ended(end)}", f"transcript  {path}"]
    typer.echo(json.dumps(told, indent=2) if as_json else "\n".join(lines))
    return exit_code(view)


async def replay_file(settings: Settings, path: Path, as_json: bool) -> Exit:
    """Make the transcript's build again with its answers, on an empty store, and print what differs.

    Raises:
        InputError: the file is no transcript that this version reads.
        EngineMissing: it needs Path of Building, which is not installed.
    """
    known = await asyncio.to_thread(read_transcript, path)
    head, replay = known.head, Replay(known)
    alone = changed(
        settings,
        llm_provider=head.provider,
        llm_model=head.model,
        llm_models=head.models,
        llm_base_url=NOWHERE,
        llm_api_key=None,
    )
    set_up_logging("DEBUG" if settings.log_level == "DEBUG" else "ERROR", redactor(settings))
    async with scratch_services(alone, around=replay.around) as services:
        view = await _made(services, changed(head.request, reasoner="llm"))
    report = report_of(known, replay, end_of(view))
    typer.echo(report.model_dump_json(indent=2) if as_json else report_text(report))
    if view.status is BuildStatus.CANCELLED:
        return Exit.INTERRUPTED
    return Exit.OK if report.same else Exit.FAILED


async def _made(services: Services, request: BuildRequest) -> BuildView:
    made = await services.builds.create(request)
    if await watch(services, made.id):
        complain("interrupted")
    services.library.forget(made.id)
    return await services.library.get(made.id)


def end_of(view: BuildView) -> TranscriptEnd:
    """Return how the build ended, as a transcript keeps it."""
    stats = view.stats
    return TranscriptEnd(
        outcome=(view.outcome or view.status).value,
        engine="" if stats is None else f"{stats.engine} {stats.version}",
        dps=None if stats is None else stats.dps,
        ehp=None if stats is None else stats.ehp,
    )


def ended(end: TranscriptEnd) -> str:
    """Return how a build ended in words."""
    figures = [f"{value:,.0f} {name}" for name, value in (("DPS", end.dps), ("EHP", end.ehp)) if value is not None]
    return ", ".join([end.outcome, *figures, *([end.engine] if end.engine else [])])


def report_of(known: Transcript, replay: Replay, now: TranscriptEnd) -> ReplayReport:
    """Return what the replay found; a written exchange without a request is not compared."""
    first, diff = None, []
    for number, (asked, answered) in enumerate(replay.asked, start=1):
        there = None if answered is None else known.exchanges[answered].request
        if answered is None:
            first, diff = f"request {number}, {asked.step}", ["the transcript has no answer left for this step"]
        elif there is not None and asked.request is not None and (diff := difference(there, asked.request)):
            first = f"request {number}, {asked.step}"
        if first is not None:
            break
    return ReplayReport(
        origin=known.head.origin,
        recorded=len(known.exchanges),
        requests=len(replay.asked),
        first=first,
        diff=diff,
        unused=[one.step for one in replay.unused],
        was=known.end,
        now=now,
        spending=spending([asked for asked, _ in replay.asked]),
    )


def report_text(report: ReplayReport) -> str:
    """Return the report for people."""
    lines = [f"{report.requests} requests, {report.recorded} exchanges in the {report.origin} transcript"]
    if report.first is None:
        lines.append("Every request is as recorded." if report.origin == "recorded" else "Requests are not compared.")
    else:
        lines += [f"The first that differs: {report.first}", *report.diff]
    if report.unused:
        lines.append(f"Answers that nothing asked for: {', '.join(report.unused)}")
    lines += ["", *spending_text(report.spending), ""]
    was = "" if report.was is None else f", recorded: {ended(report.was)}"
    lines.append(f"The build: {ended(report.now)}{', as recorded' if report.was == report.now else was}")
    return "\n".join(lines)


def spending_text(rows: Sequence[StepSpending]) -> list[str]:
    """Return the requests' sizes as a table; tokens are estimated at four characters each, "-" = not reported."""
    told = [["step", "requests", "tokens in", "sent before", "share", "reported in", "cached", "out"]]
    for row in rows:
        reported = ("-" if figure is None else f"{figure:,}" for figure in (row.input, row.cached, row.output))
        told.append([row.step, str(row.requests), f"{row.tokens:,}", f"{row.again:,}", f"{row.share:.0%}", *reported])
    widths = [max(len(row[column]) for row in told) for column in range(len(told[0]))]
    return [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in told
    ]
