"""Where the time of a build went: its spans as one tree, as rows sorted by time, and with what the calls brought in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pydantic import Field

from app.core.spans import BUSY, OPENING, QUEUING, SpanKind
from app.metrics.advice import ENGINE_CPU, Remedy, WorkRow, advice_of
from app.metrics.efficiency import Metrics, ToolFigures
from app.metrics.estimates import CostReport
from app.metrics.figures import rate
from app.model.base import Model
from app.model.names import Phase
from app.model.spans import SpanNode, StepTrace

INSIDE_A_CALL = frozenset({"attempt", BUSY, OPENING, QUEUING, "cache", "records"})
"""Spans that belong to the call they are in; by themselves they say how its time was spent."""


class Stretch(Model):
    """A span in the tree of a build. `wall_ms`: its share of the build's wall time: what runs side by side shares it,
    so that the parts of a stretch add up to it. `self_ms`: what no part of it explains. `cpu_ms`: processor time of
    the program's thread meanwhile and of the engine's processes asked in it."""

    name: str
    kind: SpanKind
    calls: int
    wall_ms: float
    self_ms: float
    cpu_ms: float
    children: list[Stretch] = Field(default_factory=list)


class TimeAccount(Model):
    """All of the wall time: `wall_ms` = `explained_ms` + `rest_ms`; the rest is the own time of mere frames.

    `wall_ms`: from claim to last checkpoint, summed over taking-ups. `queued_ms`: before that, null where unknown.
    `kinds`: own time by what it was for. `steps`: checkpoints. Processes that died took their last step's spans along.
    """

    wall_ms: float
    explained_ms: float
    rest_ms: float
    rest_share: float | None
    queued_ms: float | None
    steps: int
    kinds: dict[SpanKind, float]
    tree: Stretch

    @classmethod
    def of(cls, traces: Sequence[StepTrace]) -> TimeAccount | None:
        """Return the account of a build's steps, None where nothing was recorded."""
        if not traces:
            return None
        merged = _Merged("build", SpanKind.FRAME)
        for trace in traces:
            merged.add(trace.root, 1.0)
        kinds = dict.fromkeys(SpanKind, 0.0)
        for one in merged.walk():
            kinds[one.kind] += one.self_ms
        rest = kinds.pop(SpanKind.FRAME)
        queued = [trace.queued_ms for trace in traces if trace.queued_ms is not None]
        return cls(
            wall_ms=merged.wall_ms,
            explained_ms=sum(kinds.values()),
            rest_ms=rest,
            rest_share=rate(rest, merged.wall_ms),
            queued_ms=sum(queued) if queued else None,
            steps=len(traces),
            kinds=kinds,
            tree=merged.stretch(),
        )


@dataclass
class _Merged:
    """Spans of one place, added up over the steps of a build."""

    name: str
    kind: SpanKind
    calls: int = 0
    wall_ms: float = 0.0
    self_ms: float = 0.0
    cpu_ms: float = 0.0
    children: dict[tuple[str, SpanKind], _Merged] = field(default_factory=dict)

    def add(self, node: SpanNode, share: float) -> None:
        """Add a span of which this share of the time counts; parts that ran side by side share what they cover."""
        parts_ms = sum(child.wall_ms for child in node.children)
        covered_ms = min(node.covered_ms, node.wall_ms) if parts_ms else 0.0
        self.calls += node.calls
        self.wall_ms += node.wall_ms * share
        self.self_ms += (node.wall_ms - covered_ms) * share
        self.cpu_ms += node.cpu_ms
        for child in node.children:
            inside = self.children.setdefault((child.name, child.kind), _Merged(child.name, child.kind))
            inside.add(child, share * covered_ms / parts_ms if parts_ms else 0.0)

    def walk(self) -> Iterable[_Merged]:
        """Yield it and all in it."""
        yield self
        for child in self.children.values():
            yield from child.walk()

    def stretch(self) -> Stretch:
        """Return it with its parts, the longest first."""
        parts = sorted((child.stretch() for child in self.children.values()), key=lambda one: (-one.wall_ms, one.name))
        known = {name: getattr(self, name) for name in ("name", "kind", "calls", "wall_ms", "self_ms", "cpu_ms")}
        return Stretch(**known, children=parts)


def rows_of(account: TimeAccount, metrics: Metrics) -> list[WorkRow]:
    """Return what was done in each phase, calls with their figures, that with most own time first."""
    found: dict[tuple[str, str], _Sum] = {}
    for phase in account.tree.children:
        is_phase = phase.kind is SpanKind.FRAME
        _collect(phase, phase.name if is_phase else "", None, found)
    _collect(account.tree.model_copy(update={"children": []}), "", None, found)
    used = {(phase.phase.value, tool.tool): tool for phase in metrics.phases for tool in phase.tools}
    rows = [
        _row(phase, name, total, account.wall_ms, used.get((phase, name))) for (phase, name), total in found.items()
    ]
    return sorted(rows, key=lambda row: (-row.self_ms, row.phase, row.name))


@dataclass
class _Sum:
    kind: SpanKind
    calls: int = 0
    wall_ms: float = 0.0
    self_ms: float = 0.0
    cpu_ms: float = 0.0
    parts: dict[str, float] = field(default_factory=dict)


def _collect(one: Stretch, phase: str, owner: str | None, found: dict[tuple[str, str], _Sum]) -> None:
    """Add a stretch to its row; what is inside a call belongs to the call's."""
    inner = owner is not None and one.name in INSIDE_A_CALL
    name = owner if inner and owner is not None else one.name
    total = found.setdefault((phase, name), _Sum(one.kind))
    total.self_ms += one.self_ms
    if inner:
        total.parts[one.name] = total.parts.get(one.name, 0.0) + one.self_ms
        if one.name == BUSY:
            total.parts[ENGINE_CPU] = total.parts.get(ENGINE_CPU, 0.0) + one.cpu_ms
    else:
        total.calls += one.calls
        total.wall_ms += one.wall_ms
        total.cpu_ms += one.cpu_ms
    for child in one.children:
        _collect(child, phase, name, found)


def _row(phase: str, name: str, total: _Sum, wall_ms: float, tool: ToolFigures | None) -> WorkRow:
    brought, tokens = (None, None) if tool is None else (tool.productivity, tool.tokens)
    return WorkRow(
        phase=phase,
        name="rest" if total.kind is SpanKind.FRAME else name,
        kind=total.kind,
        share=rate(total.self_ms, wall_ms) or 0.0,
        self_ms=total.self_ms,
        wall_ms=total.wall_ms,
        cpu_ms=total.cpu_ms,
        parts=total.parts,
        times=total.calls,
        calls=None if tool is None else tool.calls,
        cached=None if tool is None else tool.cached,
        avoidable=None if tool is None else tool.avoidable,
        retries=None if tool is None else tool.retries,
        wasted_ms=None if tool is None else tool.wasted_ms,
        tokens=None if tokens is None else tokens.get("input", 0) + tokens.get("output", 0),
        cost_usd=None if tool is None else tool.cost_usd,
        useful=None if tool is None else tool.useful,
        per_second=None if brought is None else brought.per_second,
        score=None if brought is None else brought.score,
    )


class BuildMetrics(Metrics):
    """The metrics of one build with its time. `time` is null and `rows` empty where no spans were recorded.

    `language_model`: null where none was asked.
    """

    time: TimeAccount | None
    rows: list[WorkRow]
    advice: list[Remedy]
    language_model: CostReport | None = None

    @classmethod
    def of(cls, metrics: Metrics, traces: Sequence[StepTrace]) -> BuildMetrics:
        """Return the metrics with what the spans say."""
        account = TimeAccount.of(traces)
        rows = [] if account is None else rows_of(account, metrics)
        wall_ms = None if account is None else account.wall_ms
        known = {name: getattr(metrics, name) for name in Metrics.model_fields}
        return cls(**known, time=account, rows=rows, advice=advice_of(metrics, rows, wall_ms))

    def chosen(self, phase: Phase | None, tool: str | None) -> list[WorkRow]:
        """Return the rows of a phase, and of a tool or other work by its name; None = all."""
        return [row for row in self.rows if phase in (None, row.phase) and tool in (None, row.name)]
