"""Metrics of a build's tool events: per run, per phase, per phase and tool, and one efficiency figure.

Pure: events in, figures out. Definitions are those of `app.tools.figures` and `app.tools.efficiency`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.model.base import Model
from app.model.events import EVENT_SCHEMA_VERSION, Attempt
from app.model.names import Phase
from app.tools.efficiency import Efficiency, efficiency
from app.tools.figures import Figures, History, figures


class ToolFigures(Figures):
    """The figures of one tool in one phase."""

    tool: str
    kind: str


class PhaseFigures(Figures):
    """The figures of one phase, tools by name."""

    phase: Phase
    tools: list[ToolFigures]


class Metrics(Model):
    """The metrics of one build; phases in the order of their first call."""

    schema_version: str = EVENT_SCHEMA_VERSION
    run: Figures
    phases: list[PhaseFigures]
    efficiency: Efficiency


def measure(
    events: Sequence[Attempt],
    *,
    ended: bool = True,
    budgets_ms: Mapping[str, float] | None = None,
    budget_usd: float | None = None,
) -> Metrics:
    """Return the metrics of all events of one build.

    `ended`: whether the build is finished, so that a call without an end counts as failed. `budgets_ms`: the time
    per tool that scores full marks; without any, time is not scored. `budget_usd`: likewise for money.
    """
    ordered = sorted(events, key=lambda event: event.seq)
    history = History.of(ordered, ended)
    run = figures(ordered, history, leaves_only=True)
    phases = dict.fromkeys(event.phase for event in ordered)
    return Metrics(
        run=run,
        phases=[_phase(phase, [e for e in ordered if e.phase is phase], history) for phase in phases],
        efficiency=efficiency(ordered, run, budgets_ms or {}, budget_usd),
    )


def _phase(phase: Phase, events: Sequence[Attempt], history: History) -> PhaseFigures:
    whole = figures(events, history, leaves_only=True)
    tools = [_tool(name, [e for e in events if e.tool == name], history) for name in sorted({e.tool for e in events})]
    return PhaseFigures(phase=phase, tools=tools, **whole.model_dump())


def _tool(tool: str, events: Sequence[Attempt], history: History) -> ToolFigures:
    whole = figures(events, history, leaves_only=False)
    return ToolFigures(tool=tool, kind=events[0].kind.value, **whole.model_dump())
