"""The engine's child program: load a backend once, then fork a fresh session from it for each request.

`python -m app.engine.worker --backend pob --pob PATH --control-fd N` is the zygote. Over the control socket
(SOCK_SEQPACKET, one JSON object per message) it first says {"ready": version, "missing": {guard: reason}}, guards
of the sandbox that the kernel lacks, or {"error": {code, message}}. Then each message {"fork": n} carries one end of a
socket pair; the zygote forks a child that serves the line protocol on it, and answers {"fork": n, "pid": pid} together
with a pidfd of the child. {"check": n} is answered with the same.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import select
import socket
import sys
import traceback
from collections.abc import Collection
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, cast

from app.engine.protocol import INTERNAL, MAX_LINE_BYTES, Backend, Call, Refused
from app.engine.sandbox import confine_session, confine_zygote, die_with_parent

BACKENDS = {
    "pob": "app.engine.pob.backend:PobBackend",
    "sketch": "app.engine.sketch.backend:SketchBackend",
}
"""Backends by name; any other "module:Class" is taken as written."""

_MAX_MESSAGE_CHARS = 2000


class ForkServer:
    """Forks sessions on request and reaps them, until its control socket closes."""

    def __init__(self, control: socket.socket, backend: Backend, missing: Collection[str]) -> None:
        self._control = control
        self._backend = backend
        self._missing = missing
        self._children: dict[int, int] = {}
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)

    def run(self) -> None:
        """Serve until the service closes its end of the control socket."""
        while True:
            for fd, _ in self._poll.poll():
                if fd in self._children:
                    self._reap(fd)
                elif not self._serve_request():
                    return

    def _serve_request(self) -> bool:
        data, fds, _, _ = socket.recv_fds(self._control, 4096, 1, socket.MSG_CMSG_CLOEXEC)
        if not data:
            return False
        request = json.loads(data)
        if "check" in request:
            self._control.send(json.dumps({"check": request["check"]}).encode())
            return True
        self._fork_session(request["fork"], fds)
        return True

    def _fork_session(self, number: int, fds: list[int]) -> None:
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            self._become_session(parent, fds[0])
        os.close(fds[0])
        pidfd = os.pidfd_open(pid)
        self._children[pidfd] = pid
        self._poll.register(pidfd, select.POLLIN)
        socket.send_fds(self._control, [json.dumps({"fork": number, "pid": pid}).encode()], [pidfd])

    def _reap(self, pidfd: int) -> None:
        self._poll.unregister(pidfd)
        os.waitpid(self._children.pop(pidfd), 0)
        os.close(pidfd)

    def _become_session(self, parent: int, fd: int) -> NoReturn:
        status = 1
        try:
            die_with_parent(parent)
            with socket.socket(fileno=fd) as connection, connection.makefile("rwb") as stream:
                confine_session(fd, self._missing)
                serve(cast(BinaryIO, stream), self._backend)
            status = 0
        except BrokenPipeError:
            status = 0  # the service left; nobody is there to be told
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)  # never return into the zygote's loop


def serve(stream: BinaryIO, backend: Backend) -> None:
    """Answer calls line by line until the stream ends or the backend fails in a way it does not explain."""
    while line := stream.readline(MAX_LINE_BYTES):
        call = Call.model_validate_json(line)
        answer = _answer(call, backend)
        stream.write(json.dumps(answer, allow_nan=False).encode() + b"\n")
        stream.flush()
        if not answer["ok"] and answer["error"]["code"] == INTERNAL:
            return


def _answer(call: Call, backend: Backend) -> dict[str, Any]:
    try:
        return {"id": call.id, "ok": True, "result": backend.handle(call.op, call.args)}
    except Refused as exc:
        return {"id": call.id, "ok": False, "error": _error(exc.code, exc)}
    except Exception as exc:
        traceback.print_exc()
        return {"id": call.id, "ok": False, "error": _error(INTERNAL, exc)}


def _error(code: str, exc: Exception) -> dict[str, str]:
    return {"code": code, "message": (str(exc) or type(exc).__name__)[:_MAX_MESSAGE_CHARS]}


def load_backend(name: str, pob: str | None) -> Backend:
    """Import and create a backend; `pob` is passed on when given."""
    module, _, attribute = BACKENDS.get(name, name).partition(":")
    create = getattr(importlib.import_module(module), attribute)
    return cast(Backend, create(pob) if pob is not None else create())


def main(argv: list[str] | None = None) -> int:
    """Run the zygote; exit 1 when the backend cannot be loaded."""
    options = _parse(argv)
    die_with_parent(options.parent_pid)
    control = socket.socket(fileno=options.control_fd)
    try:
        backend = load_backend(options.backend, options.pob)
        # From here on code runs that is not ours alone: Path of Building boots.
        missing = confine_zygote([Path(options.pob)] if options.pob is not None else [], options.memory_bytes)
        version = backend.warm()
    except Exception as exc:
        traceback.print_exc()
        control.send(json.dumps({"error": _error(getattr(exc, "code", INTERNAL), exc)}).encode())
        return 1
    # Nothing loaded so far will be freed: keep the collector from touching (and so copying) the pages sessions share.
    gc.collect()
    gc.freeze()
    control.send(json.dumps({"ready": version, "missing": missing}).encode())
    ForkServer(control, backend, missing).run()
    return 0


def _parse(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="app.engine.worker")
    parser.add_argument("--backend", required=True)
    parser.add_argument("--pob")
    parser.add_argument("--control-fd", type=int, required=True)
    parser.add_argument("--parent-pid", type=int, required=True)
    parser.add_argument("--memory-bytes", type=int, required=True)
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
