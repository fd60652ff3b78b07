"""From a sentence to a file over HTTP, against a running server."""

from __future__ import annotations

import base64
import json
import signal
import time
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from lxml import etree

from app.model.state import BuildState
from tests.e2e.conftest import Server
from tests.fakes import shell

Start = Callable[..., Server]
PROMPT = {"prompt": "lightning sorceress for mapping", "level": 12, "gear": "starter"}
pytestmark = pytest.mark.slow


def finish(client: httpx.Client, build_id: str, seconds: float = 600) -> dict[str, Any]:
    """Poll until the build has ended."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        body: dict[str, Any] = client.get(f"/v1/builds/{build_id}").json()
        if body["status"] in ("complete", "failed", "cancelled"):
            return body
        time.sleep(0.2)
    raise AssertionError(f"not finished: {body['phase']} {body['progress']}")


def stream(client: httpx.Client, build_id: str, after: int = 0, limit: int | None = None) -> list[dict[str, Any]]:
    """Read events until the server ends the stream, or until so many have come."""
    found: list[dict[str, Any]] = []
    with client.stream("GET", f"/v1/builds/{build_id}/events", headers={"Last-Event-ID": str(after)}) as answer:
        for line in answer.iter_lines():
            if line.startswith("data:"):
                found.append(json.loads(line.removeprefix("data:")))
            if limit is not None and len(found) >= limit:
                break
    return found


def test_post_poll_download(start_server: Start) -> None:
    server = start_server()
    client = server.client
    accepted = client.post("/v1/builds", json=PROMPT)
    assert accepted.status_code == 202
    here = accepted.headers["location"]
    first = stream(client, accepted.json()["id"], limit=5)
    rest = stream(client, accepted.json()["id"], after=first[-1]["seq"])
    build = finish(client, accepted.json()["id"])
    assert (build["status"], build["phase"], build["engine"]["name"]) == ("complete", "complete", "sketch")
    assert build["stats"]["estimate"] is True
    assert len(build["sub_problems"]) == 7
    check_events([*first, *rest], build)
    check_files(client, here)
    check_recordings(client, here)
    server.stop()
    assert "Application shutdown complete" in Path(server.log.name).read_text()


def check_events(events: list[dict[str, Any]], build: dict[str, Any]) -> None:
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert events[-1]["type"] == "finished"
    assert events[-1]["outcome"] == build["outcome"]
    phases = [event["phase"] for event in events if event["type"] == "phase"]
    assert phases[:3] == ["explore", "construct", "validate"]
    assert phases[-1] == "complete"


def check_files(client: httpx.Client, here: str) -> None:
    xml, code, state = [client.get(f"{here}/{tail}") for tail in ("build.xml", "code", "state.yaml")]
    assert zlib.decompress(base64.urlsafe_b64decode(code.text)) == xml.content
    assert etree.fromstring(xml.content).tag == "PathOfBuilding2"
    assert BuildState.from_yaml(state.text).phase == "complete"


def check_recordings(client: httpx.Client, here: str) -> None:
    calls = client.get(f"{here}/tool-events", params={"view": "calls", "limit": 1000}).json()["tool_events"]
    metrics = client.get(f"{here}/metrics").json()
    assert metrics["run"]["calls"] == sum(phase["calls"] for phase in metrics["phases"]) > 0
    assert [call["sequence"] for call in calls] == list(range(1, len(calls) + 1))
    assert all(call["success"] for call in calls)


def test_fifty_duplicates_at_once_make_one_build(start_server: Start) -> None:
    client = start_server().client
    key = {"Idempotency-Key": "the-same"}
    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda _: client.post("/v1/builds", json=PROMPT, headers=key), range(50)))
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert len(client.get("/v1/builds").json()["items"]) == 1
    other = client.post("/v1/builds", json={"prompt": "witch with minions"}, headers=key)
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_mismatch")


def test_cancel_stops_and_resume_goes_on(start_server: Start) -> None:
    client = start_server().client
    build_id = client.post("/v1/builds", json=PROMPT).json()["id"]
    stream(client, build_id, limit=4)
    assert client.post(f"/v1/builds/{build_id}/cancel").status_code == 202
    begin = time.monotonic()
    assert finish(client, build_id)["status"] == "cancelled"
    assert time.monotonic() - begin < 60
    assert client.post(f"/v1/builds/{build_id}/resume").json()["status"] == "queued"
    assert finish(client, build_id)["status"] == "complete"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_build_survives_the_end_of_the_server(start_server: Start, number: int) -> None:
    server = start_server()
    build_id = server.client.post("/v1/builds", json=PROMPT).json()["id"]
    seen = stream(server.client, build_id, limit=6)
    server.stop(number)
    again = start_server()
    rest = stream(again.client, build_id, after=seen[-1]["seq"])
    assert finish(again.client, build_id)["status"] == "complete"
    assert [event["seq"] for event in [*seen, *rest]] == list(range(1, len(seen) + len(rest) + 1))


def test_tokens_guard_a_real_server(start_server: Start) -> None:
    client = start_server(BUILDWRIGHT_API_TOKENS="first-token,second-token").client
    assert client.get("/v1/builds").status_code == 401
    assert client.get("/v1/builds", headers={"Authorization": "Bearer second-token"}).status_code == 200
    page = client.get("/")
    assert page.status_code == 200
    assert "Buildwright" in page.text


def test_a_token_is_made_and_a_running_build_deleted_beside_a_running_server(
    start_server: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = start_server().client
    monkeypatch.setenv("BUILDWRIGHT_DATA_DIR", str(tmp_path))
    assert client.get("/v1/builds").status_code == 200
    made = shell.run("token", "add", "ci", "--scope", "read", "--scope", "write")
    mine = {"Authorization": f"Bearer {made.stdout.strip()}"}
    deadline = time.monotonic() + 60
    while client.get("/v1/builds").status_code != 401 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert client.get("/v1/builds").status_code == 401
    build_id = client.post("/v1/builds", json=PROMPT, headers=mine).json()["id"]
    while client.get(f"/v1/builds/{build_id}", headers=mine).json()["status"] == "queued":
        time.sleep(0.05)
    assert client.delete(f"/v1/builds/{build_id}", headers=mine).status_code == 204
    assert client.get(f"/v1/builds/{build_id}", headers=mine).status_code == 404
    assert client.get("/v1/builds", headers=mine).json()["items"] == []
    following = client.post("/v1/builds", json=PROMPT, headers=mine).json()["id"]
    while client.get(f"/v1/builds/{following}", headers=mine).json()["status"] == "queued":
        time.sleep(0.05)  # the deleted one has left its place
    assert shell.run("delete", following, "--out", str(tmp_path)).returncode == 0
    assert client.get("/v1/builds", headers=mine).json()["items"] == []


def test_a_second_server_on_the_same_store_is_refused(start_server: Start) -> None:
    start_server()
    second = start_server(ready=False)
    assert second.process.wait(timeout=180) == 1
    text = Path(second.log.name).read_text()
    assert "another process" in text.splitlines()[-1]
    assert "storage_locked" in text.splitlines()[-1]
