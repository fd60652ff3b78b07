"""How long a tool may take to score full marks: the 95th percentile of a committed baseline."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

BASELINE = "baseline.json"
"""The file's name; `buildwright bench baseline` renews it."""

Budgets = Mapping[str, Mapping[str, float]]
"""Milliseconds by engine name and tool."""


def load_budgets(path: Path) -> Budgets:
    """Return the budgets in the file; none when there is no file.

    Raises:
        ValueError, KeyError: the file is not a baseline.
    """
    if not path.is_file():
        return {}
    found = json.loads(path.read_text(encoding="utf-8"))
    return {
        engine: {tool: float(known["p95_ms"]) for tool, known in section["tools"].items()}
        for engine, section in found.items()
    }
