"""Lua that got hold of `io`, `os` and `ffi` reaches nothing: not the network, no file outside, no program, no process.

Each attempt is also made without any confinement, where it has to succeed: an attempt that fails there proves nothing.
"""

from __future__ import annotations

import errno
import json
import os
import platform
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from app.core.errors import EngineCrashed
from app.engine import kernel, landlock
from app.engine.client import ProcessSession
from app.engine.process import ProcessEngine

ROOT = Path(__file__).resolve().parents[2]
UNLOCKED = "tests.security.unlocked:UnlockedLua"
KEY = "the key to everything"
TEXT = TypeAdapter(str)
X86_64 = platform.machine() == kernel.X86_64

FREE = """
import json, sys
from tests.security.unlocked import UnlockedLua
lua = UnlockedLua()
print(json.dumps({name: lua.handle("run", {"code": chunk}) for name, chunk in json.load(sys.stdin).items()}))
"""

OPEN = """local file, problem = io.open("{path}", "{mode}") return file and "reached" or "refused: " .. problem"""

FILES = {
    "read a secret": OPEN.format(path="{secret}", mode="rb"),
    "read accounts": OPEN.format(path="/etc/passwd", mode="rb"),
    "read what runs": OPEN.format(path="/proc/{server}/cmdline", mode="rb"),
    "read its secrets": OPEN.format(path="/proc/{server}/environ", mode="rb"),
    "read by call": """return told(ffi.C.open("{secret}", 0))""",
    "read through a link": OPEN.format(path="{link}", mode="rb"),
    "list a folder": """return told(ffi.C.open("{folder}", 0x10000))""",
}
WRITES = {
    "write a file": OPEN.format(path="{folder}/new", mode="w"),
    "change a file": OPEN.format(path="{secret}", mode="a"),
    "cut a file": """return told(ffi.C.open("{secret}", 0x201))""",
    "remove a file": """local ok, problem = os.remove("{spare}") return ok and "reached" or "refused: " .. problem""",
    "move a file": """local ok, problem = os.rename("{link}", "{folder}/moved")
return ok and "reached" or "refused: " .. problem""",
    "make a file in memory": """return kernel({memfd_create}, "name", 0)""",
}
NETWORK = {
    "a socket": "return told(ffi.C.socket(2, 1, 0))",
    "a datagram socket": "return told(ffi.C.socket(2, 2, 0))",
    "a local socket": "return told(ffi.C.socket(1, 1, 0))",
    "a socket to the kernel": "return told(ffi.C.socket(16, 3, 0))",
    "a ring of calls": """return kernel({io_uring_setup}, 4, ffi.new("char[256]"))""",
}
PROCESSES = {
    "run a shell": """local code = os.execute("true")
return code == 0 and "reached" or "refused: " .. tostring(code)""",
    "read from a shell": """local pipe, problem = io.popen("echo hi")
return pipe and pipe:read("*a") == "hi\\n" and "reached" or "refused: " .. tostring(problem)""",
    "fork": """local pid = ffi.C.fork()
if pid == 0 then ffi.C.syscall(ffi.cast("long", {exit}), ffi.cast("long", 0)) end
return told(pid)""",
    "become a program": """ffi.C.execv("/nowhere", ffi.new("char *[1]"))
return ffi.errno() == 2 and "reached" or "refused: " .. ffi.string(ffi.C.strerror(ffi.errno()))""",
    "signal the service": "return told(ffi.C.kill({server}, 0))",
    "signal the zygote": "return told(ffi.C.kill({zygote}, 0))",
    "take a handle on the service": "return kernel({pidfd_open}, {server}, 0)",
    "read the service's memory": """local here, from = ffi.new("long[2]"), ffi.new("long[2]")
return kernel({process_vm_readv}, {server}, here, 0, from, 0, 0)""",
    "change the service's limits": """local was = ffi.new("long[2]")
return kernel({prlimit64}, {server}, 7, nil, was)""",
    "have signals sent": """local fd = ffi.C.open("/usr/lib", 0) return told(ffi.C.fcntl(fd, 8, {server}))""",
    "outlive the zygote": "return kernel({prctl}, 1, 0, 0, 0, 0)",
    "other rights to files": "return kernel({umask}, 0)",
    "a world of its own": "return kernel({unshare}, 0x400)",
}
OLD_CALL = """local ffi = require('ffi')
local page = ffi.C.mmap(nil, 4096, 7, 0x22, -1, 0)
ffi.copy(page, "\\x53\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\x5b\\xc3", 10)
return told(ffi.cast("int (*)(void)", page)())
"""
"""In machine code: ask for the own number by the interrupt of i386."""

COUNT_DESCRIPTORS = """local ffi, open = require('ffi'), 0
for fd = 3, 4095 do if ffi.C.fcntl(fd, 1) >= 0 then open = open + 1 end end
return open"""

CALLS = {
    "memfd_create": (319, 279),
    "io_uring_setup": (425, 425),
    "exit": (60, 93),
    "pidfd_open": (434, 434),
    "process_vm_readv": (310, 270),
    "prlimit64": (302, 261),
    "prctl": (157, 167),
    "umask": (95, 166),
    "unshare": (272, 97),
}


def has(guard: str) -> bool:
    """Return whether the kernel offers it; the skipped tests say so when not, and so does `buildwright doctor`."""
    if guard == "landlock":
        try:
            return landlock.abi() > 0
        except OSError:
            return False
    return platform.machine() in (kernel.X86_64, kernel.ARM64) and "Seccomp:" in Path("/proc/self/status").read_text()


needs_landlock = pytest.mark.skipif(not has("landlock"), reason="NOT CONFINED HERE: the kernel has no Landlock")
needs_filter = pytest.mark.skipif(not has("seccomp"), reason="NOT CONFINED HERE: the kernel has no call filters")


@asynccontextmanager
async def started(backend: str) -> AsyncIterator[ProcessEngine]:
    engine = ProcessEngine(backend, workers=2)
    try:
        await engine.start()
        yield engine
    finally:
        await engine.close()


@pytest.fixture
async def engine() -> AsyncIterator[ProcessEngine]:
    async with started(UNLOCKED) as engine:
        yield engine


@pytest.fixture
async def session(engine: ProcessEngine) -> AsyncIterator[ProcessSession]:
    async with engine.session() as session:
        assert isinstance(session, ProcessSession)
        yield session


@pytest.fixture
def target(tmp_path: Path, engine: ProcessEngine) -> dict[str, object]:
    """What the attempts are about: files outside, this process as the service, and the zygote."""
    for name in ("secret", "spare"):
        (tmp_path / name).write_text(KEY)
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    numbers = {name: both[0 if X86_64 else 1] for name, both in CALLS.items()}
    paths = {name: tmp_path / name for name in ("secret", "spare", "link")}
    (zygote,) = engine.pids()
    return {"server": os.getpid(), "zygote": zygote, "folder": tmp_path, **paths, **numbers}


async def run_confined(session: ProcessSession, chunk: str) -> str:
    return await session.ask("run", {"code": chunk}, TEXT)


def run_free(chunks: dict[str, str]) -> dict[str, str]:
    """Run chunks of Lua in a process that nothing confines."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", FREE]
    asked = json.dumps(chunks)
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=True, env=environment)
    found = json.loads(done.stdout.splitlines()[-1])
    assert isinstance(found, dict)
    return found


def read_now(path: object) -> str:
    return Path(str(path)).read_text()


async def nothing_reached(session: ProcessSession, attempts: dict[str, str], target: dict[str, object]) -> None:
    """Assert that the kernel refuses every attempt, and that each succeeds where it does not."""
    chunks = {name: "local ffi = require('ffi')\n" + text.format_map(target) for name, text in attempts.items()}
    confined = {name: await run_confined(session, chunk) for name, chunk in chunks.items()}
    assert {name: told for name, told in confined.items() if not told.startswith("refused: ")} == {}
    assert all(read_now(target[name]) == KEY for name in ("secret", "spare"))
    assert run_free(chunks) == dict.fromkeys(attempts, "reached"), "what nothing stops has to succeed"


@needs_landlock
async def test_no_file_outside_is_read(session: ProcessSession, target: dict[str, object]) -> None:
    await nothing_reached(session, FILES, target)


@needs_filter
async def test_no_file_is_changed(session: ProcessSession, target: dict[str, object]) -> None:
    await nothing_reached(session, WRITES, target)


@needs_filter
async def test_no_network_is_reached(session: ProcessSession, target: dict[str, object]) -> None:
    await nothing_reached(session, NETWORK, target)


@needs_filter
async def test_no_process_is_started_or_touched(session: ProcessSession, target: dict[str, object]) -> None:
    await nothing_reached(session, PROCESSES, target)


@needs_filter
@pytest.mark.skipif(not X86_64, reason="only x86-64 knows a second way to call the kernel")
async def test_calls_in_the_way_of_an_older_machine_end_the_session(session: ProcessSession) -> None:
    if run_free({"old": OLD_CALL}) != {"old": "reached"}:
        pytest.skip("this kernel does not run programs for i386")
    with pytest.raises(EngineCrashed):
        await run_confined(session, OLD_CALL)


async def test_a_session_holds_its_own_socket_and_nothing_else_of_ours(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(KEY)
    with (tmp_path / "secret").open() as file, socket.socket() as listening:
        for held in (file, listening):
            os.set_inheritable(held.fileno(), True)
        async with started(UNLOCKED) as engine, engine.session() as first, engine.session() as second:
            assert isinstance(second, ProcessSession)
            await second.ask("run", {"code": "return 1"}, TEXT)
            assert isinstance(first, ProcessSession)

            assert await run_confined(first, COUNT_DESCRIPTORS) == "1"


@needs_filter
@needs_landlock
async def test_without_landlock_the_rest_holds_and_it_is_said(
    target: dict[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    async with started("tests.security.unlocked:WithoutLandlock") as engine, engine.session() as session:
        assert engine.missing_guards == {"landlock": os.strerror(errno.ENOSYS)}
        assert [record.__dict__["missing"] for record in caplog.records if hasattr(record, "missing")] == [
            engine.missing_guards
        ]
        assert isinstance(session, ProcessSession)
        await nothing_reached(session, {**WRITES, **NETWORK, **PROCESSES}, target)
        assert await run_confined(session, FILES["read accounts"]) == "reached"


@needs_landlock
async def test_without_a_call_filter_the_rest_holds_and_it_is_said(target: dict[str, object]) -> None:
    async with started("tests.security.unlocked:WithoutFilter") as engine, engine.session() as session:
        assert engine.missing_guards == {"seccomp": os.strerror(errno.ENOSYS)}
        assert isinstance(session, ProcessSession)
        changes = {name: text for name, text in WRITES.items() if "memory" not in name}
        await nothing_reached(session, {**FILES, **changes}, target)
        assert await run_confined(session, "local ffi = require('ffi') " + NETWORK["a socket"]) == "reached"


async def test_all_guards_hold_where_the_kernel_has_them(engine: ProcessEngine) -> None:
    expected = {guard for guard in ("landlock", "seccomp") if not has(guard)}
    assert {*engine.missing_guards} == expected
