"""kill -9 at every commit, at random instants, and of the owner of a file."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import pytest

from app.metrics.efficiency import measure
from app.model.events import CallOutcome
from tests.crash.harness import (
    KILLED,
    Plan,
    When,
    ending,
    faults,
    run,
    spawn,
    submit,
    survives_every_kill,
    tool_events,
    url_in,
)

SMALL = "tests.crash.harness:small_product"


@pytest.mark.slow
@pytest.mark.parametrize("when", ["before", "inside", "after"])
def test_a_build_survives_a_kill_at_every_checkpoint(tmp_path: Path, when: When) -> None:
    assert survives_every_kill(tmp_path, SMALL, when) == 15


@pytest.mark.slow
def test_a_build_survives_kills_at_tool_events(tmp_path: Path) -> None:
    assert survives_every_kill(tmp_path, SMALL, "after", events=True, stride=7) > 50


def test_a_call_that_died_with_its_process_stays_incomplete(tmp_path: Path) -> None:
    url = url_in(tmp_path)
    build = submit(url)
    assert run(Plan(url, SMALL, at=3, when="after", events=True)) == KILLED
    (died,) = tool_events(url, build)
    assert (died.outcome, died.duration_ms) == (CallOutcome.INCOMPLETE, None)
    assert run(Plan(url, SMALL)) == 0
    events = tool_events(url, build)
    assert events[0] == died
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    run_figures = measure(events).run
    assert (run_figures.incomplete_calls, run_figures.calls - run_figures.ok_calls) == (1, 1)
    assert measure(events, ended=False).run.success_rate == 1.0


@pytest.mark.slow
def test_kills_at_random_instants_lose_nothing(tmp_path: Path) -> None:
    calm = url_in(tmp_path)
    reference = submit(calm)
    began = time.monotonic()
    assert run(Plan(calm, SMALL)) == 0
    whole_s = time.monotonic() - began
    expected = ending(calm, reference)
    kills = 0
    for seed in range(8):
        folder = tmp_path / str(seed)
        folder.mkdir()
        url = url_in(folder)
        build = submit(url)
        chance = random.Random(seed)
        for _ in range(3):
            process = spawn(Plan(url, SMALL))
            process.join(chance.uniform(0, whole_s))
            if process.exitcode is None and process.pid is not None:
                os.kill(process.pid, signal.SIGKILL)
            process.join()
            kills += process.exitcode == KILLED
            process.close()
            assert faults(url) == [], f"seed {seed}"
        assert run(Plan(url, SMALL)) == 0
        assert ending(url, build) == expected, f"seed {seed}"
    assert kills > 0
