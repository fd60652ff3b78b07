"""What every EvaluationStore promises."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.core.errors import Conflict
from app.model.evaluations import EvaluationRun, Finding
from app.storage.store import Storage
from tests.fakes.steps import new_record

WHEN = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
async def build(storage: Storage) -> str:
    return (await storage.builds.insert(new_record())).id


def a_run(build: str, task: str = "a", trial: int = 1, label: str = "old", **more: Any) -> EvaluationRun:
    known: dict[str, Any] = {
        "suite": "s",
        "build_id": build,
        "passed": True,
        "selected": None,
        "checks": [Finding(name="n", passed=True, reason="r")],
        "seconds": 1.5,
        "at": WHEN,
    }
    return EvaluationRun(label=label, task=task, trial=trial, **(known | more))


async def test_runs_come_back_by_task_and_trial(storage: Storage, build: str) -> None:
    runs = [a_run(build, "b"), a_run(build, "a", 2, selected=False, passed=False), a_run(build, "a")]
    for run in runs:
        await storage.evaluations.add(run)
    assert await storage.evaluations.of("old") == [runs[2], runs[1], runs[0]]
    assert await storage.evaluations.of("nothing") == []


async def test_a_trial_is_stored_once(storage: Storage, build: str) -> None:
    await storage.evaluations.add(a_run(build))
    with pytest.raises(Conflict):
        await storage.evaluations.add(a_run(build, seconds=9.0))
    assert [run.seconds for run in await storage.evaluations.of("old")] == [1.5]


async def test_labels_are_counted_newest_first(storage: Storage, build: str) -> None:
    for trial in (1, 2):
        await storage.evaluations.add(a_run(build, trial=trial, passed=trial == 1))
    await storage.evaluations.add(a_run(build, label="new", at=WHEN + timedelta(days=1)))
    found = await storage.evaluations.labels()
    assert [(label.label, label.tasks, label.runs, label.passed) for label in found] == [
        ("new", 1, 1, 1),
        ("old", 1, 2, 1),
    ]
    assert found[1].at == WHEN
