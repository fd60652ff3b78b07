"""Where the time of a build went: what is kept of each taking-up's spans."""

from __future__ import annotations

from pydantic import Field

from app.core.spans import SpanKind, SpanTotal
from app.model.base import Model
from app.model.names import Phase

TRACE_SCHEMA_VERSION = "1.0"


class SpanNode(Model):
    """All stretches of one name in one place; milliseconds as in `app.core.spans.SpanTotal`."""

    name: str
    kind: SpanKind
    calls: int
    wall_ms: float
    covered_ms: float
    cpu_ms: float
    children: list[SpanNode] = Field(default_factory=list)

    @classmethod
    def of(cls, total: SpanTotal) -> SpanNode:
        """Return what was added up, to be kept."""
        return cls(
            name=total.name,
            kind=total.kind,
            calls=total.calls,
            wall_ms=round(total.wall_ms, 3),
            covered_ms=round(total.covered_ms, 3),
            cpu_ms=round(total.cpu_ms, 3),
            children=[cls.of(child) for child in total.children.values()],
        )


class StepTrace(Model):
    """The time from one checkpoint of a build (or its claim) to the next; the tree's root is the whole of it.

    `phase`: that of the step. `queued_ms`: with the first step after a claim, how long the build had waited for it.
    """

    schema_version: str = TRACE_SCHEMA_VERSION
    phase: Phase
    queued_ms: float | None = None
    root: SpanNode
