"""`show`, `list`, `metrics`, `export`: the read side, beside a running server if there is one."""

from __future__ import annotations

from typing import Literal

import typer

from app.core.config import Settings
from app.metrics.efficiency import Metrics
from app.metrics.figures import Figures
from app.service.conflict_graph import conflicts_mermaid, conflicts_svg
from app.service.library import ExportFormat
from app.service.presentation import as_markdown, as_text
from app.service.recordings import ToolFilter
from app.service.view import BuildSummary
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
        typer.echo("\n".join(_line(item) for item in page.items) or "No builds yet.")


async def show_metrics(settings: Settings, build_id: str, as_json: bool) -> None:
    """Print calls, success and time per phase and tool."""
    async with open_reading(settings) as store:
        found = await store.recordings.metrics(build_id)
    typer.echo(found.model_dump_json(indent=2) if as_json else metrics_table(found))


async def export_build(settings: Settings, build_id: str, form: ExportFormat) -> None:
    """Write the last valid state to stdout."""
    async with open_reading(settings) as store:
        content = await store.library.export(build_id, form)
    typer.echo(content, nl=not content.endswith(b"\n"))


def metrics_table(metrics: Metrics) -> str:
    """Return metrics as a table for people; "-" = no data."""
    head = f"{'phase':<11}{'tool':<24}{'calls':>7}{'attempts':>9}{'ok':>7}{'p50 ms':>10}{'max ms':>10}{'busy ms':>10}"
    rows = [_row(phase.phase.value, tool.tool, tool) for phase in metrics.phases for tool in phase.tools]
    return "\n".join([head, *rows, _row("run", "", metrics.run)])


def _row(phase: str, tool: str, found: Figures) -> str:
    ok = "-" if found.success_rate is None else f"{found.success_rate:.0%}"
    times = "".join(f"{_ms(value):>10}" for value in (found.p50_ms, found.max_ms, found.busy_ms))
    return f"{phase:<11}{tool:<24}{found.calls:>7}{found.attempts:>9}{ok:>7}{times}"


def _ms(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"


def _line(item: BuildSummary) -> str:
    ended = item.outcome.value if item.outcome else item.status.value
    return f"{item.id}  {item.created_at:%Y-%m-%d %H:%M}  {ended:<10} {item.prompt[:70]}"
