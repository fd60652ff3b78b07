"""Where time goes: named stretches of work inside each other, added up as they end.

`with span("gear", SpanKind.SEARCH):` costs about two microseconds inside a `traced` piece of work, and less outside
of one. Stretches of the same name inside the same one are added up, so a trace is as big as the code, not as its runs.
Tasks begun inside belong to what began them. What runs side by side is counted once in `covered_ms` of what is around.
"""

from __future__ import annotations

from contextvars import ContextVar, Token
from enum import StrEnum
from time import perf_counter, thread_time
from types import TracebackType
from typing import Self


class SpanKind(StrEnum):
    """What the time was for. `frame`: nothing by itself, it only holds others; its own time is unexplained."""

    FRAME = "frame"
    PLANNER = "planner"
    SEARCH = "search"
    ENGINE = "engine"
    MODEL = "model"
    WAIT = "wait"
    STORE = "store"


class SpanTotal:
    """All stretches of one name in one place, in milliseconds.

    `wall_ms`: their lengths added up. `covered_ms`: the part of it in which something inside was going on. `cpu_ms`:
    processor time of this program's thread meanwhile, whoever used it, and of the engine's processes asked in it.
    """

    __slots__ = ("calls", "children", "covered_ms", "cpu_ms", "kind", "name", "wall_ms")

    def __init__(self, name: str, kind: SpanKind) -> None:
        self.name = name
        self.kind = kind
        self.calls = 0
        self.wall_ms = 0.0
        self.covered_ms = 0.0
        self.cpu_ms = 0.0
        self.children: dict[tuple[str, SpanKind], SpanTotal] = {}


_CURRENT: ContextVar[span | None] = ContextVar("span", default=None)


class span:  # noqa: N801 - it is used as a statement
    """A stretch of work; does nothing where nothing is traced, unless `always`.

    `waited_ms` is what was waited in it (`SpanKind.WAIT`), known at its end. Use each once.
    """

    __slots__ = ("_around", "_began", "_covered", "_cpu", "_mark", "_open", "_other_cpu", "_token", "total", "waited_ms")

    def __init__(self, name: str, kind: SpanKind, *, always: bool = False) -> None:
        around = _CURRENT.get()
        self._around = around
        self.waited_ms = 0.0
        self.total: SpanTotal | None = None
        if around is not None and around.total is not None:
            inside = around.total.children
            found = inside.get((name, kind))
            if found is None:
                found = inside[name, kind] = SpanTotal(name, kind)
            self.total = found
        elif always:
            self.total = SpanTotal(name, kind)

    def __enter__(self) -> Self:
        if self.total is None:
            return self
        self._open = 0
        self._covered = self._other_cpu = 0.0
        self._token: Token[span | None] = _CURRENT.set(self)
        self._cpu = thread_time()
        self._began = self._mark = perf_counter()
        around = self._around
        if around is not None:
            if not around._open:
                around._mark = self._began
            around._open += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        total = self.total
        if total is None:
            return
        now = perf_counter()
        if self._open > 0:
            self._covered += now - self._mark
        self._open = -1  # over: what was begun inside and goes on is no longer part of it
        wall_ms = (now - self._began) * 1000
        other_cpu = self._other_cpu
        total.calls += 1
        total.wall_ms += wall_ms
        total.covered_ms += self._covered * 1000
        total.cpu_ms += (thread_time() - self._cpu) * 1000 + other_cpu
        if total.kind is SpanKind.WAIT:
            self.waited_ms += wall_ms
        _CURRENT.reset(self._token)
        around = self._around
        if around is not None and around._open > 0:
            around._open -= 1
            if not around._open:
                around._covered += now - around._mark
            around._other_cpu += other_cpu
            around.waited_ms += self.waited_ms

    def add_cpu(self, milliseconds: float) -> None:
        """Note processor time that another process used for it."""
        if self.total is not None:
            self._other_cpu += milliseconds
