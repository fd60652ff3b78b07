"""`buildwright tune`: what the last builds say about the settings, and with --auto the settings changed accordingly."""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime

import typer

from app.core.config import Settings
from app.core.errors import InputError
from app.metrics.steps import TUNABLE, TunedSettings, TuningEffect, TuningReport, suggestion
from app.model.names import BuildStatus
from app.wiring import open_reading
from app.wiring.tuned import read_tuned, tuned, write_tuned

BUILDS = 10
"""So many finished builds are looked at, the newest."""


async def tune(settings: Settings, auto: bool, forget: bool, as_json: bool) -> None:
    """Print what is suggested; with `auto` it is in force from the next start on, with `forget` nothing is.

    Raises:
        InputError: both at once, or what is kept cannot be read or written.
    """
    if auto and forget:
        raise InputError("Say --auto or --forget, not both.")
    if forget:
        await asyncio.to_thread(write_tuned, settings, None)
    known, now = await asyncio.to_thread(read_tuned, settings), tuned(settings)
    async with open_reading(settings) as store:
        page = await store.library.page(BuildStatus.COMPLETE, BUILDS)
        found = [(item.created_at, await store.recordings.metrics(item.id)) for item in page.items]
    after = [one for at, one in found if known is not None and at >= known.since]
    before = [one for at, one in found if known is None or at < known.since]
    processors = len(os.sched_getaffinity(0))
    workers = now.engine_workers or max(2, processors)
    measured = after if known is not None else before
    wanted = suggestion(measured, workers, now.whatif_batch, now.cache_memory_mb, processors, datetime.now(UTC))
    if auto and wanted is not None:
        await asyncio.to_thread(write_tuned, settings, _joined(known, wanted))
    report = TuningReport(
        applied=auto and wanted is not None,
        in_force=known,
        suggested=wanted,
        before=TuningEffect.of(before) if known is not None else None,
        after=TuningEffect.of(after) if known is not None else None,
    )
    typer.echo(report.model_dump_json(indent=2) if as_json else tuning_text(report))


def _joined(known: TunedSettings | None, wanted: TunedSettings) -> TunedSettings:
    """Return what is in force with the change."""
    if known is None:
        return wanted
    kept = {name: getattr(wanted, name) or getattr(known, name) for name in TUNABLE}
    return wanted.model_copy(update=kept)


def tuning_text(report: TuningReport) -> str:
    """Return the report for people."""
    lines = []
    if report.in_force is not None and report.before is not None and report.after is not None:
        lines.append(f"In force since {report.in_force.since:%Y-%m-%d %H:%M}: {'; '.join(report.in_force.reasons)}")
        lines += [f"  {name}: {_told(effect)}" for name, effect in (("before", report.before), ("after", report.after))]
    if report.suggested is None:
        lines.append("Nothing to suggest: too few builds with spans, or nothing that a setting would change.")
    else:
        lines += [f"Suggested: {reason}" for reason in report.suggested.reasons]
        lines.append("It holds from the next start on." if report.applied else "`buildwright tune --auto` applies it.")
    return "\n".join(lines)


def _told(effect: TuningEffect) -> str:
    seconds = "-" if effect.seconds is None else f"{effect.seconds:,.1f} s"
    score = "-" if effect.productivity is None else f"{effect.productivity:.3f}"
    return f"{effect.builds} builds, {seconds} each, productivity {score}"
