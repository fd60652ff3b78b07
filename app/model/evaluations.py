"""What became of a task of an evaluation suite."""

from __future__ import annotations

from datetime import datetime

from app.model.base import Model


class Finding(Model):
    """One thing that was required, and whether it held."""

    name: str
    passed: bool
    reason: str


class EvaluationRun(Model):
    """One trial of one task, under the label that runs are compared by.

    `selected`: whether all expectations on calls held, None when the task has none. `seconds`: from request to end.
    """

    label: str
    suite: str
    task: str
    trial: int
    build_id: str
    passed: bool
    selected: bool | None
    checks: list[Finding]
    seconds: float
    at: datetime


class LabelSummary(Model):
    """All runs under a label."""

    label: str
    suite: str
    tasks: int
    runs: int
    passed: int
    at: datetime
