"""A running server whose disk is full, or whose database somebody else has locked: 503, and it goes on afterwards."""

from __future__ import annotations

import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.conftest import Server

pytestmark = pytest.mark.deep
Start = Callable[..., Server]
PROMPT = {"prompt": "lightning sorceress for mapping", "level": 4}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 8 MB; the test is skipped where none can be mounted."""
    folder = tmp_path / "small"
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", folder], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def fill(folder: Path) -> Path:
    """Take all the room that is left."""
    file = folder / "rubbish"
    with file.open("wb", buffering=0) as rubbish:
        for size in (65536, 4096, 1):
            try:
                while rubbish.write(b"x" * size):
                    pass
            except OSError:
                continue
    return file


def until(client: httpx.Client, build_id: str, wanted: tuple[str, ...], seconds: float = 300) -> dict[str, Any]:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        answer = client.get(f"/v1/builds/{build_id}")
        if answer.status_code == 200 and answer.json()["status"] in wanted:
            found: dict[str, Any] = answer.json()
            return found
        time.sleep(0.2)
    raise AssertionError(answer.text)


def test_a_full_disk_is_said_and_got_over(start_server: Start, small_disk: Path) -> None:
    server = start_server(BUILDWRIGHT_DATABASE_URL=f"sqlite+aiosqlite:///{small_disk / 'builds.db'}")
    client = server.client
    begun = client.post("/v1/builds", json=PROMPT).json()
    until(client, begun["id"], ("running", "complete"))
    rubbish = fill(small_disk)
    refused = client.post("/v1/builds", json=PROMPT)
    for _ in range(200):  # what is left of the log's last pages takes a few
        if refused.status_code != 202:
            break
        refused = client.post("/v1/builds", json=PROMPT)
    assert (refused.status_code, refused.json()["code"], refused.json()["retryable"]) == (503, "storage_full", True)
    assert int(refused.headers["retry-after"]) >= 1
    assert "sqlalche" not in refused.text
    assert client.get("/healthz").status_code == 200
    assert client.get(f"/v1/builds/{begun['id']}").status_code == 200
    time.sleep(3)
    rubbish.unlink()
    assert client.post("/v1/builds", json=PROMPT).status_code == 202
    assert until(client, begun["id"], ("complete", "failed", "cancelled"))["status"] == "complete"
    server.stop()
    with sqlite3.connect(small_disk / "builds.db") as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_locked_database_is_said_and_got_over(start_server: Start, tmp_path: Path) -> None:
    server = start_server()
    client = server.client
    stored = client.post("/v1/builds", json=PROMPT).json()
    with sqlite3.connect(tmp_path / "buildwright.db", isolation_level=None, timeout=60) as other:
        other.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        refused = client.post("/v1/builds", json=PROMPT)
        assert (refused.status_code, refused.json()["code"], refused.json()["retryable"]) == (503, "storage_busy", True)
        assert int(refused.headers["retry-after"]) >= 1
        assert time.monotonic() - began < 60
        assert client.get(f"/v1/builds/{stored['id']}").status_code == 200
        assert client.get("/healthz").elapsed.total_seconds() < 1
        other.execute("ROLLBACK")
    other.close()
    again = client.post("/v1/builds", json=PROMPT)
    assert again.status_code == 202
    assert until(client, again.json()["id"], ("complete", "failed", "cancelled"))["status"] == "complete"
