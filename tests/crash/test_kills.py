"""kill -9 at every commit, at random instants, and of the owner of a file."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from app.metrics.efficiency import measure
from app.model.events import CallOutcome
from tests.conftest import DEEP
from tests.crash.harness import (
    KILLED,
    Plan,
    When,
    ending,
    faults,
    run,
    run_whole,
    spawn,
    submit,
    survives_every_kill,
    tool_events,
    url_in,
)
from tests.databases import emptied_database

SMALL = "tests.crash.harness:small_product"


ELSEWHERE = [pytest.param(when, marks=pytest.mark.deep) for when in ("before", "after")]
"""Kills beside the transaction: those inside it are where most can go wrong, and are tried every time."""


@pytest.mark.slow
@pytest.mark.parametrize("when", ["inside", *ELSEWHERE])
def test_a_build_survives_a_kill_at_every_checkpoint(tmp_path: Path, when: When) -> None:
    assert survives_every_kill(tmp_path, SMALL, when) == 15


@pytest.mark.postgres
@pytest.mark.slow
@pytest.mark.parametrize("when", ["inside", *ELSEWHERE])
def test_a_build_on_a_server_survives_a_kill_at_every_checkpoint(tmp_path: Path, when: When) -> None:
    """Every fifth of them in one way and all in each with `make test-deep`."""
    stride = 1 if DEEP else 5
    reached = survives_every_kill(tmp_path, SMALL, when, stride=stride, empty=lambda _: emptied_database())
    assert reached == (15 if DEEP else 16)


@pytest.mark.slow
def test_a_build_survives_kills_at_tool_events(tmp_path: Path) -> None:
    assert survives_every_kill(tmp_path, SMALL, "after", events=True, stride=7 if DEEP else 20) > 50


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
    assert random_kills(tmp_path, range(8), 12, url_in) > 0


@pytest.mark.deep
@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def test_two_hundred_kills_at_random_instants_lose_nothing(tmp_path: Path, kind: str) -> None:
    first = random.SystemRandom().randrange(10**6)
    empty = url_in if kind == "sqlite" else lambda _: emptied_database()
    kills = random_kills(tmp_path, range(first, first + 400), 200, empty)
    print(f"{kills} kills with seeds from {first}")
    assert kills == 200


def random_kills(tmp_path: Path, seeds: range, wanted: int, empty: Callable[[Path], str]) -> int:
    """Kill builds at random instants until there were so many kills, a build a seed; return how many there were."""
    expected = run_whole(empty(tmp_path), SMALL)  # whatever is loaded once is loaded now
    began = time.monotonic()
    run_whole(empty(made(tmp_path / "timed")), SMALL)
    whole_s = time.monotonic() - began
    kills = 0
    for seed in seeds:
        url = empty(made(tmp_path / str(seed)))
        build = submit(url)
        chance = random.Random(seed)
        while kills < wanted and was_killed(Plan(url, SMALL), chance.uniform(0, whole_s)):
            kills += 1
            assert faults(url) == [], f"seed {seed}"
        assert run(Plan(url, SMALL)) == 0
        assert ending(url, build) == expected, f"seed {seed}"
        if kills == wanted:
            break
    return kills


def made(folder: Path) -> Path:
    """Return the folder, which is there now."""
    folder.mkdir()
    return folder


def was_killed(plan: Plan, after_s: float) -> bool:
    """Return whether a child of the plan still ran when it was killed after so many seconds."""
    process = spawn(plan)
    process.join(after_s)
    if process.exitcode is None and process.pid is not None:
        os.kill(process.pid, signal.SIGKILL)
    process.join()
    killed = process.exitcode == KILLED
    process.close()
    return killed
