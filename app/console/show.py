"""`show`, `list`, `metrics`, `conflicts`, `export`, `memory`: the read side, beside a server if one is running."""

from __future__ import annotations

from datetime import date
from typing import Literal

import typer

from app.core.config import Settings
from app.core.errors import InputError
from app.metrics.usage import UsageBy, UsageReport, UsageRow
from app.model.access import EVERYONE
from app.service.conflict_graph import conflicts_mermaid, conflicts_svg
from app.service.library import ExportFormat
from app.service.memories import MOST_LISTED, MemoryPage
from app.service.presentation import as_markdown, as_text
from app.service.recordings import ToolFilter
from app.wiring import open_reading

Form = Literal["mermaid", "svg"]


async def draw_conflicts(settings: Settings, build_id: str, form: Form) -> None:
    """Print the picture."""
    async with open_reading(settings) as store:
        conflicts = (await store.library.get(build_id)).conflicts
    picture = conflicts_mermaid(conflicts) if form == "mermaid" else conflicts_svg(conflicts).decode()
    typer.echo(picture, nl=False)


_PAGE = 500


async def export_events(settings: Settings, build_id: str) -> None:
    """Print every attempt in start order, page by page; what arrives meanwhile is printed, too."""
    after = 0
    async with open_reading(settings) as store:
        while True:
            page = await store.recordings.attempts(build_id, ToolFilter(after=after, limit=_PAGE))
            for event in page.tool_events:
                typer.echo(event.model_dump_json())
                after = event.seq
            if page.next_cursor is None:
                return


ShowFormat = Literal["text", "markdown", "json", "full"]


async def show_build(settings: Settings, build_id: str, form: ShowFormat) -> None:
    """Print one build; `json` is what the API returns, `full` all of its presentation as JSON."""
    async with open_reading(settings) as store:
        shown = await store.library.present(build_id)
    words = {
        "text": lambda: as_text(shown),
        "markdown": lambda: as_markdown(shown).rstrip(),
        "json": lambda: shown.build.model_dump_json(indent=2),
        "full": lambda: shown.model_dump_json(indent=2),
    }
    typer.echo(words[form]())


async def list_builds(settings: Settings, limit: int, as_json: bool) -> None:
    """Print the newest builds."""
    async with open_reading(settings) as store:
        page = await store.library.page(limit=limit)
    if as_json:
        typer.echo(page.model_dump_json(indent=2))
    else:
        lines = []
        for item in page.items:
            ended = item.outcome.value if item.outcome else item.status.value
            lines.append(f"{item.id}  {item.created_at:%Y-%m-%d %H:%M}  {ended:<10} {item.prompt[:70]}")
        typer.echo("\n".join(lines) or "No builds yet.")


async def show_usage(settings: Settings, by: UsageBy, since: date | None, as_json: bool) -> None:
    """Print what builds used since the day."""
    async with open_reading(settings) as store:
        found = await store.usage.usage(by, since, EVERYONE)
    typer.echo(found.model_dump_json(indent=2) if as_json else usage_text(found))


def usage_text(found: UsageReport) -> str:
    """Return usage as a table for people; "-" = no data, ">=" = a lower bound."""
    names = {"builds": 8, "valid": 7, "build s": 10, "calls": 9, "ok": 6, "call s": 10, "tokens": 11, "USD": 12}
    head = f"{found.by.value:<24}" + "".join(f"{name:>{width}}" for name, width in names.items()) + f"{'USD/valid':>12}"
    lines = [f"Since {found.since}", head, *(_usage_row(row) for row in (*found.rows, found.total))]
    if found.slowest:
        lines.append("")
        lines += [
            f"slowest: {one.tool}, {one.seconds:,.1f} s in {one.calls:,} calls of {one.mean_ms:,.1f} ms"
            for one in found.slowest
        ]
    left = [f"{value} {name}" for name, value in found.budget_left.model_dump().items() if value is not None]
    return "\n".join([*lines, *([f"left today: {', '.join(left)}"] if left else [])])


def _usage_row(row: UsageRow) -> str:
    usd = "-" if row.usd is None else f"{'' if row.cost_complete else '>='}{float(row.usd):,.4f}"
    each = "-" if row.usd_per_valid_build is None else f"{row.usd_per_valid_build:,.4f}"
    ok = "-" if row.ok_rate is None else f"{row.ok_rate:.0%}"
    seconds = "-" if row.build_seconds is None else f"{row.build_seconds:,.0f}"
    return (
        f"{row.name:<24}{row.builds:>8}{row.valid:>7}{seconds:>10}{row.calls:>9}{ok:>6}{row.call_seconds:>10,.0f}"
        f"{row.tokens:>11,}{usd:>12}{each:>12}"
    )


async def export_build(settings: Settings, build_id: str, form: ExportFormat) -> None:
    """Write the last valid state to stdout."""
    async with open_reading(settings) as store:
        content = await store.library.export(build_id, form)
    typer.echo(content, nl=not content.endswith(b"\n"))


async def show_memory(settings: Settings, as_json: bool) -> None:
    """Print what is remembered."""
    async with open_reading(settings) as store:
        page = await store.memories.page()
    typer.echo(page.model_dump_json(indent=2) if as_json else memory_text(page))


async def forget_memory(settings: Settings, skill: str | None, everything: bool) -> None:
    """Forget the builds of a skill, or all of them.

    Raises:
        InputError: neither or both are named.
        NotFound: nothing is remembered of the skill.
    """
    if everything == (skill is not None):
        raise InputError("Name a skill with --skill, or say --all.")
    async with open_reading(settings) as store:
        many = await store.memories.forget(skill)
    typer.echo(f"Forgot {many} build{'' if many == 1 else 's'}.")


def memory_text(page: MemoryPage) -> str:
    """Return what is remembered as text for people."""
    blocks = []
    for item in page.items:
        lines = [f"{item.skill}, {item.goal}, {item.engine}: {item.builds} builds, best score {item.score:+.3f}"]
        for title, found in (("supports", item.supports), ("passives", item.notables), ("gear", item.bases)):
            lines += [f"  {title}: {one.name} ({one.score:+.3f}, {one.builds} builds)" for one in found]
        lines += [f"  failed: {f.option} ({f.sub_problem.value.replace('_', ' ')}): {f.reason}" for f in item.failures]
        blocks.append("\n".join(lines))
    for race in page.races:
        about = f"Races of the {race.class_name}, {race.goal}, {race.engine}: {race.races}"
        lines = [f"{about}, tables of tastes agreed {race.agreement:.0%}"]
        ways = race.ways[:MOST_LISTED]
        lines += [f"  {w.skill} with {w.hands}: {w.behind:.2f} behind the best ({w.races} races)" for w in ways]
        blocks.append("\n".join(lines))
    blocks = blocks or ["Nothing is remembered yet."]
    wishes = [f"  {wish.field} = {wish.value} ({wish.builds} builds)" for wish in page.wishes]
    return "\n\n".join([*blocks, *(["\n".join(["Asked for in words:", *wishes])] if wishes else [])])
