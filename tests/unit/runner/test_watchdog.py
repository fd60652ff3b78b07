"""A worker that does not work any more ends itself; one that only was not let work does not."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

from app.core.errors import StorageBusy
from app.runner.watchdog import is_beating, loop_watched, watch_database


async def test_a_loop_that_stands_still_is_ended() -> None:
    ended: list[str] = []
    with loop_watched(0.24, ended.append):
        time.sleep(1.0)  # noqa: ASYNC251  the fault itself
    assert len(ended) == 1
    assert "stood still" in ended[0]


async def test_a_loop_that_works_is_left_alone() -> None:
    ended: list[str] = []
    with loop_watched(3.6, ended.append):
        for _ in range(30):
            await asyncio.sleep(0.05)
    assert ended == []


async def test_a_database_that_gives_no_answer_ends_the_process() -> None:
    ended: list[str] = []

    async def hang() -> None:
        await asyncio.sleep(3600)

    await asyncio.wait_for(watch_database(hang, 0.24, end=ended.append), 30)
    assert "has not answered" in ended[0]


async def test_only_failures_in_a_row_count() -> None:
    answers, ended, asked = [], list[str](), 0

    async def ask() -> None:
        nonlocal asked
        asked += 1
        if asked % 10:
            raise StorageBusy("away")

    watching = asyncio.create_task(watch_database(ask, 0.12, lambda: answers.append(asked), ended.append))
    while asked < 35:  # noqa: ASYNC110  the watcher has no bell
        await asyncio.sleep(0.01)
    watching.cancel()
    assert answers == [10, 20, 30]
    assert ended == []


def test_a_beat_grows_old(tmp_path: Path) -> None:
    beat = tmp_path / "beat"
    assert not is_beating(beat, 60)
    beat.touch()
    assert is_beating(beat, 60)
    os.utime(beat, (time.time() - 61, time.time() - 61))
    assert not is_beating(beat, 60)
