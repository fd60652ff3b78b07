"""Switching traces on and off, and where the spans go."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from app.core.config import Settings
from app.wiring import stores as tracing
from tests.fakes.samples import a_record, an_event

ON = Settings(otel="on")
BLOCKED = """
import sys

class NotInstalled:
    def find_spec(self, name, path=None, target=None):
        if name.startswith(("opentelemetry.sdk", "opentelemetry.exporter")):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, NotInstalled())
"""
COMMAND = "from app.cli import main\nmain()\n"
OPENED = """
import asyncio, sys
from app.core.config import Settings
from app.wiring import open_services

async def opened():
    async with open_services(Settings()):
        pass

asyncio.run(opened())
print(sorted(name for name in sys.modules if name.split(".")[0] == "opentelemetry"))
"""


@pytest.fixture(autouse=True)
def no_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no variable of the person running the tests lead anywhere."""
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def posted() -> Iterator[list[tuple[str, dict[str, str], bytes]]]:
    """What a collector on loopback was sent: path, headers, body; its address is in the environment."""
    found: list[tuple[str, dict[str, str], bytes]] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            found.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Collector)
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = f"http://127.0.0.1:{server.server_port}"
    try:
        yield found
    finally:
        del os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"]
        server.shutdown()
        server.server_close()
        serving.join()


def run(script: str, folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    known = {name: value for name, value in os.environ.items() if not name.startswith(("BUILDWRIGHT_", "OTEL_"))}
    return subprocess.run(
        [sys.executable, "-c", script, *words],
        env={**known, "BUILDWRIGHT_DATA_DIR": str(folder), "BUILDWRIGHT_ENGINE": "sketch", **variables},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("words", [["build", "a cold witch"], ["serve", "--port", "1"], ["eval", "run", "classes"]])
def test_on_without_the_extra_nothing_starts(words: list[str], tmp_path: Path) -> None:
    done = run(BLOCKED + COMMAND, tmp_path, *words, BUILDWRIGHT_OTEL="on")
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last == (
        "buildwright: BUILDWRIGHT_OTEL is on, but OpenTelemetry is not installed;"
        " run `pip install 'buildwright[otel]'`. (extra_missing)"
    )
    assert "Traceback" not in done.stderr or words[0] == "serve"  # there the server logs how it failed
    assert list(tmp_path.glob("*.db")) == []


def test_what_does_not_build_needs_no_extra(tmp_path: Path) -> None:
    done = run(BLOCKED + COMMAND, tmp_path, "list", BUILDWRIGHT_OTEL="on")
    assert (done.returncode, done.stdout.strip()) == (0, "No builds yet.")


def test_off_imports_nothing_of_it(tmp_path: Path) -> None:
    assert run(OPENED, tmp_path).stdout.strip() == "[]"
    assert "opentelemetry.sdk.trace" in run(OPENED, tmp_path, BUILDWRIGHT_OTEL="on").stdout


def test_another_word_is_refused(tmp_path: Path) -> None:
    done = run(COMMAND, tmp_path, "list", BUILDWRIGHT_OTEL="maybe")
    assert done.returncode == 2
    assert "otel: Input should be 'off' or 'on'" in done.stderr


async def test_off_there_is_nobody_to_tell() -> None:
    async with tracing.tracing(Settings()) as spans:
        assert spans is None


async def test_spans_are_sent_as_the_standard_variables_say(
    posted: list[tuple[str, dict[str, str], bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=canary-7")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=lab")
    record = a_record(epoch=1)
    async with tracing.tracing(ON) as spans:
        assert spans is not None
        spans.taken_up(record)
        spans.recorded(an_event(1, "pob.stats", build_id=record.id, epoch=1), last=True)
        spans.put_down(record)
    ((path, headers, body),) = traces(posted)
    assert (path, headers["api-key"]) == ("/v1/traces", "canary-7")
    assert b"canary" not in body
    (sent,) = ExportTraceServiceRequest.FromString(body).resource_spans
    resource = {pair.key: pair.value.string_value for pair in sent.resource.attributes}
    assert resource["service.name"] == "buildwright"
    assert resource["deployment.environment.name"] == "lab"
    assert [span.name for scope in sent.scope_spans for span in scope.spans] == [
        "execute_tool pob.stats",
        "invoke_agent buildwright",
    ]


def traces(posted: list[tuple[str, dict[str, str], bytes]]) -> list[tuple[str, dict[str, str], bytes]]:
    """Return what was posted of traces; metrics go beside them."""
    return [one for one in posted if one[0] == "/v1/traces"]


async def trace_one_call() -> None:
    async with tracing.tracing(ON) as spans:
        assert spans is not None
        spans.recorded(an_event(1), last=True)


async def test_the_service_can_be_named_otherwise(
    posted: list[tuple[str, dict[str, str], bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "builds of the guild")
    await trace_one_call()
    (sent,) = ExportTraceServiceRequest.FromString(traces(posted)[0][2]).resource_spans
    assert "builds of the guild" in {pair.value.string_value for pair in sent.resource.attributes}


async def test_the_sampler_is_obeyed(
    posted: list[tuple[str, dict[str, str], bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")
    await trace_one_call()
    assert traces(posted) == []


async def test_a_collector_that_does_not_answer_is_given_up(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.socket() as taken:  # bound and not listening: connections are refused
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{taken.getsockname()[1]}")
        monkeypatch.setattr(tracing, "GRACE_S", 0.3)
        async with tracing.tracing(ON) as spans:
            assert spans is not None
            spans.recorded(an_event(1), last=True)
            began = time.monotonic()
        assert time.monotonic() - began < 5
    assert "spans batch" in caplog.text  # "will be tried again", or "failed" where giving up came first
