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


BUSY, OPENING, WAITING = "engine process", "opening an engine", "waiting for a free engine"
QUEUING = "waiting for the session"
"""Names of the engine's stretches, which the metrics look for."""


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
    """A stretch of work; does nothing where nothing is traced, unless `always`. Use each once.

    `waited_ms`: what was waited in it (`SpanKind.WAIT`), known at its end. `running`: how many stretches go on inside
    it just now, since `mark`; -1 when it is over. `covered`: seconds in which there were any.
    """

    __slots__ = ("_around", "_began", "_cpu", "_token", "covered", "mark", "other_cpu", "running", "total", "waited_ms")

    def __init__(self, name: str, kind: SpanKind, *, always: bool = False) -> None:
        around = _CURRENT.get()
        self._around = around
        self.waited_ms = 0.0
        self.total: SpanTotal | None = None
        if around is not None and around.total is not None:
            known = around.total.children
            found = known.get((name, kind))
            if found is None:
                found = known[name, kind] = SpanTotal(name, kind)
            self.total = found
        elif always:
            self.total = SpanTotal(name, kind)

    def __enter__(self) -> Self:
        if self.total is None:
            return self
        self.running = 0
        self.covered = self.other_cpu = 0.0
        self._token: Token[span | None] = _CURRENT.set(self)
        self._cpu = thread_time()
        self._began = self.mark = perf_counter()
        around = self._around
        if around is not None and around.running >= 0:
            if not around.running:
                around.mark = self._began
            around.running += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        total = self.total
        if total is None:
            return
        now = perf_counter()
        if self.running > 0:
            self.covered += now - self.mark
        self.running = -1
        wall_ms, other_cpu = (now - self._began) * 1000, self.other_cpu
        total.calls += 1
        total.wall_ms += wall_ms
        total.covered_ms += self.covered * 1000
        total.cpu_ms += (thread_time() - self._cpu) * 1000 + other_cpu
        if total.kind is SpanKind.WAIT:
            self.waited_ms += wall_ms
        _CURRENT.reset(self._token)
        around = self._around
        if around is not None and around.running > 0:
            around.running -= 1
            if not around.running:
                around.covered += now - around.mark
            around.other_cpu += other_cpu
            around.waited_ms += self.waited_ms

    def add_cpu(self, milliseconds: float) -> None:
        """Note processor time that another process used for it."""
        if self.total is not None:
            self.other_cpu += milliseconds


class Trace:
    """Everything that is done from here on, cut into parts; begin and close it in one task."""

    def __init__(self) -> None:
        self._root = _root()

    def cut(self) -> SpanTotal:
        """Return the part since the last cut, whole, and begin the next."""
        done = self.close()
        self._root = _root()
        return done

    def close(self) -> SpanTotal:
        """Return the part since the last cut; nothing is traced any more."""
        self._root.__exit__(None, None, None)
        assert self._root.total is not None
        return self._root.total


def _root() -> span:
    """Begin a stretch that is inside no other."""
    token = _CURRENT.set(None)
    root = span("build", SpanKind.FRAME, always=True)
    _CURRENT.reset(token)
    root.__enter__()
    return root
