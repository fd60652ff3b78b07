"""The service's side of a zygote: start the child program, ask it for forked sessions, end it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

import app
from app.core.errors import EngineCrashed, EngineError, EngineGarbage, EngineHung, EngineMissing
from app.model.stats import EngineVersion

_STDERR_TAIL_BYTES = 4096
_GUARDS = TypeAdapter(dict[str, str])
_IMPORT_ROOT = str(Path(app.__file__).resolve().parent.parent)


@dataclass(frozen=True)
class Child:
    """A forked session: its process and our end of its socket (both are the owner's to close)."""

    pid: int
    pidfd: int
    connection: socket.socket

    @property
    def is_alive(self) -> bool:
        """Whether the process still runs."""
        ended = select.poll()  # unlike select.select it takes descriptor numbers above 1023
        ended.register(self.pidfd, select.POLLIN)
        return not ended.poll(0)

    def kill(self) -> None:
        """Kill the process; it may be gone already."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    def close(self) -> None:
        """Kill the process and give back the descriptors."""
        self.kill()
        os.close(self.pidfd)
        self.connection.close()


class Zygote:
    """A running child program that forks sessions. Use it from the thread (and event loop) that launched it."""

    def __init__(self, process: subprocess.Popen[bytes], control: socket.socket, stderr_fd: int) -> None:
        self._process = process
        self._control = control
        self._stderr = _Drain(stderr_fd)
        self._sign: asyncio.Future[None] | None = None
        self._lock = asyncio.Lock()
        self._requests = 0
        self._lost = False
        self._version: EngineVersion | None = None
        self._missing: dict[str, str] = {}

    async def warm(self, deadline_s: float) -> None:
        """Wait until the backend is loaded.

        Raises:
            EngineMissing: the backend says that what it calculates with is not installed.
            EngineCrashed, EngineHung, EngineGarbage: it ended, missed the deadline, or said something else.
        """
        message, _ = await self._receive(deadline_s)
        if "ready" not in message:
            error = message.get("error", {})
            kind = EngineMissing if error.get("code") == EngineMissing.code else EngineCrashed
            raise kind(f"the engine could not start: {error.get('message')}")
        try:
            self._version = EngineVersion.model_validate(message["ready"])
            self._missing = _GUARDS.validate_python(message["missing"])
        except (KeyError, ValidationError) as exc:
            raise EngineGarbage("the engine does not say what it is") from exc

    @property
    def version(self) -> EngineVersion:
        """What the warmed backend says it is."""
        assert self._version is not None, "warm() sets it"
        return self._version

    @property
    def missing(self) -> dict[str, str]:
        """Guards of the sandbox that the kernel does not offer, with what it said."""
        return self._missing

    @property
    def alive(self) -> bool:
        """Whether the program still runs and answers."""
        return not self._lost and self._process.poll() is None

    @property
    def pid(self) -> int:
        """The program's process id."""
        return self._process.pid

    async def fork(self, deadline_s: float) -> Child:
        """Return a fresh session process, starting from the warmed backend.

        Raises:
            EngineCrashed, EngineHung: the zygote is gone or does not answer; it is of no further use.
        """
        async with self._lock:
            self._requests += 1
            ours, theirs = socket.socketpair()
            try:
                return await self._fork(ours, theirs, deadline_s)
            except BaseException:
                ours.close()
                raise

    async def check(self, deadline_s: float) -> None:
        """Return when the program has answered.

        Raises:
            EngineCrashed, EngineHung: it is gone or does not answer; it is of no further use.
        """
        async with self._lock:
            self._requests += 1
            with self._or_lost():
                self._control.send(json.dumps({"check": self._requests}).encode())
            await self._answer("check", deadline_s)

    async def close(self) -> None:
        """End the program; the kernel ends its sessions with it, and who waits for an answer gets EngineCrashed."""
        self._process.kill()
        self._stop_listening()
        self._control.close()
        self._stderr.close()
        if self._sign is not None:
            _resolve(self._sign)
        await asyncio.to_thread(self._process.wait)  # last: everything is given back even if we are cancelled here

    async def _fork(self, ours: socket.socket, theirs: socket.socket, deadline_s: float) -> Child:
        with theirs, self._or_lost():
            socket.send_fds(self._control, [json.dumps({"fork": self._requests}).encode()], [theirs.fileno()])
        message, fds = await self._answer("fork", deadline_s)
        return Child(message["pid"], fds[0], ours)

    async def _answer(self, kind: str, deadline_s: float) -> tuple[dict[str, Any], list[int]]:
        """Return the answer to the last request, passing over those to requests that were given up."""
        while True:
            message, fds = await self._receive(deadline_s)
            if message.get(kind) == self._requests and (fds or kind != "fork"):
                return message, fds
            for fd in fds:  # a child that nobody waits for any more ends with its socket
                os.close(fd)

    async def _receive(self, deadline_s: float) -> tuple[dict[str, Any], list[int]]:
        try:
            async with asyncio.timeout(deadline_s):
                await self._listen()
        except TimeoutError as exc:
            self._lose()
            raise EngineHung(f"the engine gave no sign for {deadline_s:g} s") from exc
        with self._or_lost():
            data, fds, _, _ = socket.recv_fds(self._control, 16384, 1, socket.MSG_CMSG_CLOEXEC)
        if not data:
            raise self._lose()
        return _message(data), fds

    async def _listen(self) -> None:
        """Return when there is something to read, or nothing will be because the socket was closed."""
        loop = asyncio.get_running_loop()
        self._sign = loop.create_future()
        loop.add_reader(self._control, _resolve, self._sign)
        try:
            await self._sign
        finally:
            self._stop_listening()

    def _stop_listening(self) -> None:
        """Take the control socket off the event loop, which has to be done before it is closed.

        The loop knows descriptors by number: it would take the next one with this number for one that it watches
        already, and never hear of it.
        """
        if self._control.fileno() >= 0:
            asyncio.get_running_loop().remove_reader(self._control)

    def _lose(self) -> EngineCrashed:
        self._lost = True
        self._process.kill()
        return EngineCrashed("the engine ended", stderr=self._stderr.tail())

    @contextlib.contextmanager
    def _or_lost(self) -> Iterator[None]:
        try:
            yield
        except OSError as exc:
            raise self._lose() from exc


def _message(data: bytes) -> dict[str, Any]:
    try:
        message = json.loads(data)
    except ValueError as exc:
        raise EngineGarbage("the engine's first words are not JSON") from exc
    if not isinstance(message, dict):
        raise EngineGarbage("the engine's first words are not an object")
    return message


class _Drain:
    """Reads what children print, so that they never wait for a full pipe, and keeps the end of it."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._tail = b""
        os.set_blocking(fd, False)
        asyncio.get_running_loop().add_reader(fd, self._read)

    def tail(self) -> str:
        self._read()
        return self._tail.decode(errors="replace")

    def close(self) -> None:
        self._read()  # the last words, for who asks for the tail later
        if self._fd >= 0:
            asyncio.get_running_loop().remove_reader(self._fd)
            os.close(self._fd)
            self._fd = -1

    def _read(self) -> None:
        with contextlib.suppress(BlockingIOError):
            data = os.read(self._fd, 65536) if self._fd >= 0 else b""
            if data:
                self._tail = (self._tail + data)[-_STDERR_TAIL_BYTES:]
            elif self._fd >= 0:
                asyncio.get_running_loop().remove_reader(self._fd)


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


async def launch(arguments: Mapping[str, str], deadline_s: float) -> Zygote:
    """Start the program with these options and wait until its backend is warm; raises what `Zygote.warm` does."""
    zygote = _spawn(arguments)
    try:
        await zygote.warm(deadline_s)
    except BaseException:
        await zygote.close()
        raise
    return zygote


def _spawn(arguments: Mapping[str, str]) -> Zygote:
    """Start the child program from this thread: the kernel ties its life to the thread that started it."""
    ours, theirs = socket.socketpair(type=socket.SOCK_SEQPACKET)
    stderr_read, stderr_write = os.pipe()
    command = [sys.executable, "-P", "-m", "app.engine.worker", f"--control-fd={theirs.fileno()}"]
    command += [f"--parent-pid={os.getpid()}", *(f"--{key}={value}" for key, value in sorted(arguments.items()))]
    try:
        process = subprocess.Popen(  # noqa: S603 - a fixed program, no shell
            command,
            stdin=subprocess.DEVNULL,
            stdout=stderr_write,
            stderr=stderr_write,
            pass_fds=(theirs.fileno(),),
            cwd="/",
            env=_environment(),
            start_new_session=True,
        )
    except OSError as exc:
        ours.close()
        os.close(stderr_read)
        raise EngineError(f"cannot start a process: {exc.strerror}") from exc
    finally:
        theirs.close()
        os.close(stderr_write)
    ours.setblocking(False)
    return Zygote(process, ours, stderr_read)


def _environment() -> dict[str, str]:
    """Return all that a child may know of our environment: no secrets; a fixed hash seed keeps it deterministic."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        "PYTHONPATH": _IMPORT_ROOT,
        "PYTHONHASHSEED": "0",
    }
