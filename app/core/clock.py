"""Time as a port, so that tests can hold it still."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Wall time for records, monotonic time for durations."""

    def now(self) -> datetime:
        """Return the current time, aware, in UTC."""
        ...

    def monotonic_ms(self) -> float:
        """Return milliseconds from an arbitrary start, never going back."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the current time, aware, in UTC."""
        return datetime.now(UTC)

    def monotonic_ms(self) -> float:
        """Return milliseconds from an arbitrary start, never going back."""
        return time.monotonic() * 1000
