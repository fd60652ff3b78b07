"""The product as processes of its own, for measuring it from outside."""

from __future__ import annotations

import contextlib
import http.client
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from app.core.config import Settings
from app.core.errors import EngineError

_START_S, _END_S = 180.0, 90.0


@contextmanager
def served(settings: Settings) -> Iterator[int]:
    """Serve from an empty data folder while the block runs; yield the port.

    Raises:
        EngineError: the server does not start in time.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    with started(settings, ["serve", "--port", str(port)]) as process:
        until = time.monotonic() + _START_S
        while not _ready(port):
            if time.monotonic() > until or process.poll() is not None:
                raise EngineError("the server to be measured did not start")
            time.sleep(0.2)
        yield port


@contextmanager
def started(settings: Settings, words: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command of the product with a data folder and a temporary folder of its own, until the block ends."""
    with tempfile.TemporaryDirectory(prefix="buildwright-bench-") as folder:
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("BUILDWRIGHT_")},
            **({"BUILDWRIGHT_DATABASE_URL": settings.database_url} if settings.database_url else {}),
            "TMPDIR": folder,
            "BUILDWRIGHT_DATA_DIR": folder,
            "BUILDWRIGHT_POB_PATH": str(settings.pob_home),
            "BUILDWRIGHT_ENGINE": settings.engine,
            "BUILDWRIGHT_ENGINE_WORKERS": str(settings.engine_workers),
            "BUILDWRIGHT_REASONER": "rules",
            "BUILDWRIGHT_CACHE_MB": "0",
            "BUILDWRIGHT_LOG_LEVEL": "ERROR",
        }
        with (Path(folder) / "process.log").open("wb") as log:
            command = [sys.executable, "-m", "app", *words]
            process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)  # noqa: S603  our own program
            try:
                yield process
            finally:
                process.terminate()
                process.wait(timeout=_END_S)


def _ready(port: int) -> bool:
    with contextlib.suppress(OSError):
        return get(http.client.HTTPConnection("127.0.0.1", port, timeout=5), "/readyz")[0] == 200
    return False


def get(connection: http.client.HTTPConnection, path: str) -> tuple[int, bytes]:
    """Return status and body of a page."""
    connection.request("GET", path)
    answer = connection.getresponse()
    return answer.status, answer.read()
