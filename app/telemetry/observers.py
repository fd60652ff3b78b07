"""Who is told about calls and builds as they happen: ports, and several observers as one."""

from __future__ import annotations

from typing import Protocol

from app.model.events import ToolEvent
from app.model.record import BuildRecord


class Observer(Protocol):
    """Who is told about tool calls as they happen; it must not raise and not take long."""

    def started(self, event: ToolEvent) -> None:
        """An attempt begins."""
        ...

    def finished(self, event: ToolEvent, last: bool) -> None:
        """An attempt that was started is over; `last` when the call is, too."""
        ...

    def recorded(self, event: ToolEvent, last: bool) -> None:
        """An attempt is over that was never started: answered from a cache, or rejected."""
        ...


class BuildObserver(Protocol):
    """Who is told about builds as they are worked on; it must not raise and not take long."""

    def taken_up(self, record: BuildRecord) -> None:
        """A runner begins to work on the build, or goes on with it."""
        ...

    def stepping(self, record: BuildRecord) -> None:
        """A step of the build's phase begins."""
        ...

    def put_down(self, record: BuildRecord) -> None:
        """The runner works on the build no longer: it has ended, or somebody else or a later process goes on."""
        ...


class Tracing(Observer, BuildObserver, Protocol):
    """Who is told about builds and about their calls."""


class Observers:
    """Several observers as one; implements `Tracing`."""

    def __init__(self, *observers: Tracing) -> None:
        self._observers = observers

    def taken_up(self, record: BuildRecord) -> None:
        """Tell all that a runner begins to work on the build."""
        for observer in self._observers:
            observer.taken_up(record)

    def stepping(self, record: BuildRecord) -> None:
        """Tell all that a step begins."""
        for observer in self._observers:
            observer.stepping(record)

    def put_down(self, record: BuildRecord) -> None:
        """Tell all that the runner works on the build no longer."""
        for observer in self._observers:
            observer.put_down(record)

    def started(self, event: ToolEvent) -> None:
        """Tell all that an attempt begins."""
        for observer in self._observers:
            observer.started(event)

    def finished(self, event: ToolEvent, last: bool) -> None:
        """Tell all that an attempt is over."""
        for observer in self._observers:
            observer.finished(event, last)

    def recorded(self, event: ToolEvent, last: bool) -> None:
        """Tell all about an attempt that was never started."""
        for observer in self._observers:
            observer.recorded(event, last)
