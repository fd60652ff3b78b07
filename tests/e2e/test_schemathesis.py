"""Schemathesis over the OpenAPI document against a running server: every check, with and without tokens, no 5xx."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.conftest import Server

pytestmark = pytest.mark.deep
Start = Callable[..., Server]
TOKEN = "a-token-of-the-setting"
LEFT_OUT = ["/v1/builds/{build_id}/tree.svg", "/v1/builds/{build_id}/events"]
"""What this version does not have yet answers 501, as it says; a stream ends with its build, not with a request."""

ALLOWED = """
[checks]
positive_data_acceptance.expected-statuses = ["2xx", 401, 403, 404, 409, 422, 429, 503]
not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", 503]
"""
"""422: rules that a schema does not tell, such as one of two fields. 503: `pob` is asked for and not installed here."""


def examine(server: Server, folder: Path, *arguments: str) -> None:
    left_out = [word for path in LEFT_OUT for word in ("--exclude-path", path)]
    server.client.post("/v1/read", json={"prompt": "spark"})  # the engine is started by the first who needs it
    url = f"http://127.0.0.1:{server.port}/openapi.json"
    options = ["--checks", "all", "--continue-on-failure", "--no-color", "--generation-database", "none"]
    limits = ["--max-examples", "15", "--max-time", "300", "--request-timeout", "60", "--max-response-time", "60"]
    (folder / "schemathesis.toml").write_text(ALLOWED)
    done = subprocess.run(
        [Path(sys.executable).with_name("schemathesis"), "run", url, *options, *limits, *left_out, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=1500,
    )
    print(done.stdout[-6000:])
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    logged = [json.loads(line) for line in Path(server.log.name).read_text().splitlines() if line.startswith("{")]
    assert {entry["code"] for entry in logged if "code" in entry} <= {"engine_missing"}
    assert not [entry for entry in logged if entry["message"] == "unexpected error"]


def test_the_api_is_what_its_document_says(start_server: Start, tmp_path: Path) -> None:
    examine(start_server(BUILDWRIGHT_BUILD_BUDGET_SECONDS="1"), tmp_path)


def test_the_api_is_what_its_document_says_with_tokens(start_server: Start, tmp_path: Path) -> None:
    server = start_server(BUILDWRIGHT_BUILD_BUDGET_SECONDS="1", BUILDWRIGHT_API_TOKENS=TOKEN)
    examine(server, tmp_path, "--header", f"Authorization: Bearer {TOKEN}")
