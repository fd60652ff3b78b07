"""What the kernel says about a process."""

from __future__ import annotations

from pathlib import Path


def cpu_seconds(pid: int) -> float:
    """Return the processor time that the main thread of a process has used, in seconds, to the nanosecond."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def private_megabytes(pid: int) -> float:
    """Return the memory that a process shares with no other, in MB (10^6 bytes)."""
    rows = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(row.split()[1]) for row in rows if row.startswith("Private_")) * 1024 / 1e6
