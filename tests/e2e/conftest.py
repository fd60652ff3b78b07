"""A real server on loopback, in a process of its own, with the estimator as its engine."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

START_S = 180


class Server:
    """`buildwright serve` as a child process."""

    def __init__(self, data: Path, **environment: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.log = (data / "server.log").open("ab")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "app", "serve", "--port", str(self.port)],
            env={**os.environ, "BUILDWRIGHT_ENGINE": "sketch", "BUILDWRIGHT_DATA_DIR": str(data), **environment},
            stdout=self.log,
            stderr=self.log,
        )
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{self.port}", timeout=180, trust_env=False)

    def wait_until_ready(self) -> None:
        """Return when it answers."""
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                if self.client.get("/healthz").status_code == 200:
                    return
            except httpx.TransportError:
                time.sleep(0.1)
        raise AssertionError(f"the server did not start: {Path(self.log.name).read_text()[-2000:]}")

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send the signal and return the exit code."""
        self.process.send_signal(number)
        code = self.process.wait(timeout=180)
        self.client.close()
        self.log.close()
        return code


@pytest.fixture
def start_server(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Start servers on one data directory; whatever still runs at the end is ended."""
    started: list[Server] = []

    def start(ready: bool = True, **environment: str) -> Server:
        server = Server(tmp_path, **environment)
        started.append(server)
        if ready:
            server.wait_until_ready()
        return server

    yield start
    for server in started:
        if server.process.poll() is None:
            server.stop(signal.SIGKILL)
        server.client.close()
        server.log.close()
