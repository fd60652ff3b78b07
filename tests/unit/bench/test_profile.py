"""`bench build --profile`: what belongs to which step, and a whole run on the sketch engine at a low level."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from app.bench.profile import HEAD, busy_seconds, measure, stages_of
from app.core.config import Settings
from app.metrics.advice import WHAT_IF
from app.model.events import CacheUse, ToolEvent
from app.model.names import Phase
from app.model.record import BuildRequest, ProgressData, ProgressEvent
from tests.fakes.samples import WHEN, an_event


def after(seconds: float) -> timedelta:
    return timedelta(seconds=seconds)


def trials(seq: int, begin: float, seconds: float, results: int, cache: CacheUse = CacheUse.MISS) -> ToolEvent:
    known = {"started_at": WHEN + after(begin), "duration_ms": 1000 * seconds, "results": results, "cache": cache}
    return an_event(seq, tool=WHAT_IF, **known)


def step(seq: int, label: str | None, at: float) -> ProgressEvent:
    told = ProgressData(phase=Phase.CONSTRUCT, label=label)
    return ProgressEvent(build_id="b", seq=seq, type="step" if label else "phase", data=told, at=WHEN + after(at))


def test_busy_seconds_add_up_to_the_whole() -> None:
    calls = [(WHEN + after(a), WHEN + after(b)) for a, b in ((-1, 2), (1, 3), (1.5, 1.75), (5, 20))]
    assert busy_seconds(calls, WHEN, WHEN + after(10)) == (2.0, 7.0, 1.0)
    assert busy_seconds([], WHEN, WHEN + after(10)) == (10.0, 0.0, 0.0)


def test_calls_belong_to_the_step_in_which_they_began() -> None:
    calls = [trials(1, 0.5, 1.0, 40), trials(2, 1.5, 1.0, 9), trials(3, 2.5, 1.0, 7, CacheUse.HIT)]
    waited = an_event(4, started_at=WHEN + after(3), duration_ms=1000.0, queue_ms=1000.0, cache=CacheUse.MISS)
    events = [step(1, None, 0.0), step(2, "gear", 2.0), step(3, None, 2.1), step(4, "tree", 4.0)]
    gear, tree = stages_of(events, [*calls, waited])
    assert (gear.step, gear.seconds, gear.candidates, gear.busy) == ("gear", 2.0, 49, (0.5, 1.5, 0.0))
    assert (tree.step, tree.seconds, tree.candidates, tree.busy) == ("tree", 2.0, 7, (1.5, 0.5, 0.0))
    assert stages_of([], calls) == []


@pytest.mark.slow
async def test_both_builds_are_told_and_the_second_has_no_race_between_skills(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data", engine="sketch", pob_path=tmp_path / "none")
    report = await measure(settings, BuildRequest(prompt="lightning sorceress for mapping", level=4))
    whole, named = report["builds"]
    assert named["named"]["skill"] in whole["delivery"]
    assert any("rung 1" in stage["step"] for stage in whole["stages"])
    assert not any("rung 1" in stage["step"] for stage in named["stages"])
    for build in (whole, named):
        assert build["seconds"] >= sum(stage["seconds"] for stage in build["stages"]) > 0
        assert sum(stage["candidates"] for stage in build["stages"]) >= build["evaluations"] > 0
    assert report["plain_per_second"] is None, "there is no plain loop without Path of Building"
    assert set(report["normalised"].values()) == {None}
    assert HEAD in report["table"]
