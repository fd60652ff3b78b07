"""A backend whose behaviour the build itself scripts: configuration keys of the blueprint say how to fail.

It keeps a real blueprint, so that tests can see whether a build survived. {"stats": "crash", "ticket": 3, "times": 2}
makes the first two calculations crash that have this ticket, so that a repeated call can succeed.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import stat
import sys
import time
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from app.engine.protocol import Refused
from app.model.blueprint import Blueprint, Change, apply_changes

_CHANGES = TypeAdapter(list[Change])
_VERSION = {"name": "scripted", "version": "1", "tree_version": "0_0", "estimate": True}
_HUGE_MB = 100
_TICKETS = 4096
_DESCRIPTORS = 256


class ScriptedBackend:
    """Implements `Backend`: level and nodes are its only calculation."""

    def __init__(self) -> None:
        self.blueprint: Blueprint | None = None
        self.ballast: list[bytes] = []
        self.used = mmap.mmap(-1, _TICKETS)  # shared by all sessions of a zygote, which have no file to write

    def warm(self) -> dict[str, Any]:
        return _VERSION

    def handle(self, op: str, args: dict[str, Any]) -> Any:
        return getattr(self, f"op_{op}")(**args)

    def op_build(self, blueprint: dict[str, Any]) -> dict[str, Any]:
        asked = Blueprint.model_validate(blueprint)
        if asked.class_name == "Nobody":
            raise Refused("no such class", "unknown_fact")
        return {"dropped_nodes": self.keep(asked), "problems": []}

    def op_load(self, xml: str) -> dict[str, Any]:
        self.blueprint = Blueprint(class_name="Loaded", level=xml.count("PlayerStat"))
        return {}

    def op_apply(self, changes: list[dict[str, Any]]) -> dict[str, Any]:
        self.fault("apply")
        parsed = _CHANGES.validate_python(changes)
        dropped = self.keep(apply_changes(self.build, parsed))
        return {"dropped_nodes": dropped, "problems": ["impossible"] if len(self.build.nodes) > 100 else []}

    def keep(self, asked: Blueprint) -> list[int]:
        """Keep the build without passives that hang in the air: -n is connected to n only. Return those."""
        ids = {node.id for node in asked.nodes}
        kept = [node for node in asked.nodes if node.id >= 0 or -node.id in ids]
        self.blueprint = asked.model_copy(update={"nodes": kept})
        return sorted(ids - {node.id for node in kept})

    def op_what_if(self, candidates: list[list[dict[str, Any]]], metrics: list[str]) -> list[dict[str, float]]:
        self.fault("what_if")
        return [
            {"Nodes": float(self.nodes_with(candidate)), "Asked": float(len(candidates))} for candidate in candidates
        ]

    def nodes_with(self, candidate: list[dict[str, Any]]) -> int:
        return len(apply_changes(self.build, _CHANGES.validate_python(candidate)).nodes)

    def op_stats(self) -> dict[str, Any]:
        self.fault("stats")
        ids = [float(node.id) for node in self.build.nodes]
        values = {
            "Level": float(self.build.level),
            "Nodes": float(len(ids)),
            "Sum": sum(ids),
            "Pid": float(os.getpid()),
        }
        return {"engine": _VERSION, "values": values}

    def op_inspect(self) -> dict[str, Any]:
        return {"warnings": sorted(os.environ), "disabled_reason": str(Path.cwd())}

    def op_export(self) -> str:
        self.fault("export")
        return f'<PathOfBuilding2><Build level="{self.build.level}"/></PathOfBuilding2>'

    def op_classes(self) -> list[dict[str, Any]]:
        return [{"name": str(os.getpid()), "start_node": 1, "ascendancies": []}]

    def op_supports_for(self, gem_id: str) -> list[str]:
        if gem_id == "unknown":
            raise Refused("no such gem", "unknown_fact")
        if gem_id == "die":
            os._exit(3)
        return [gem_id]

    @property
    def build(self) -> Blueprint:
        if self.blueprint is None:
            raise Refused("no build")
        return self.blueprint

    def fault(self, op: str) -> None:
        """Do what the build's configuration says under this operation, until its ticket is used up."""
        config = self.blueprint.config if self.blueprint else {}
        kind, ticket = str(config.get(op, "")), int(config.get("ticket", 0))
        if kind and self.used[ticket] < int(config.get("times", 1)):
            self.used[ticket] += 1
            getattr(self, f"fault_{kind}")()

    def fault_crash(self) -> None:
        os._exit(9)

    def fault_segv(self) -> None:
        ctypes.string_at(0)

    def fault_raise(self) -> None:
        raise RuntimeError("a bug in the backend")

    def fault_hang(self) -> None:
        time.sleep(600)

    def fault_garbage(self) -> None:
        self.say(b"\x00\xff\x1b[31mlua: panic\n")

    def fault_half(self) -> None:
        self.say(b'{"id": 2, "ok": tr')
        os._exit(0)

    def fault_huge(self) -> None:
        self.say(b'{"id": 2, "ok": true, "result": "')
        for _ in range(_HUGE_MB):
            self.say(b"x" * 1_000_000)
        self.say(b'"}\n')

    def fault_wrong_id(self) -> None:
        self.say(b'{"id": 77, "ok": true, "result": null}\n')

    def fault_nan(self) -> None:
        self.answer(b'{"engine": {"name": "s", "version": "1", "tree_version": "0"}, "values": {"Level": NaN}}')

    def fault_infinity(self) -> None:
        self.answer(b'{"engine": {"name": "s", "version": "1", "tree_version": "0"}, "values": {"Level": 1e999}}')

    def fault_shape(self) -> None:
        self.answer(b'{"surprise": 1}')

    def fault_memory(self) -> None:
        self.ballast.append(b"x" * (200 * 1024 * 1024))  # written, so that it is resident

    def fault_noise(self) -> None:
        for number in range(10_000):
            sys.stderr.write(f"line {number} of a very talkative engine\n")
            sys.stdout.write("and on the other stream too\n")

    def fault_write(self) -> None:
        Path(str(self.build.config["file"])).write_text("more than nothing")

    def fault_pause(self) -> None:
        time.sleep(0.5)

    def fault_work(self) -> None:
        end = time.process_time() + float(self.build.config.get("work_s", 1.0))
        while time.process_time() < end:
            pass

    def fault_late(self) -> None:
        time.sleep(float(self.build.config.get("late_s", 2.5)))

    def answer(self, result: bytes) -> None:
        self.say(b'{"id": %d, "ok": true, "result": %s}\n' % (2, result))

    def say(self, data: bytes) -> None:
        """Write to the session's socket past the protocol: the only socket this process has."""
        fd = session_fd()
        while data:
            data = data[os.write(fd, data) :]


class VersionedBackend(ScriptedBackend):
    """Has the version that stands in a file."""

    def __init__(self, file: str) -> None:
        super().__init__()
        self.version = Path(file).read_text()

    def warm(self) -> dict[str, Any]:
        return {**_VERSION, "version": self.version}


class SilentBackend(ScriptedBackend):
    """Never gets warm."""

    def warm(self) -> dict[str, Any]:
        time.sleep(600)
        return {}


class ExitingBackend(ScriptedBackend):
    """Ends while it gets warm, after some words on stderr."""

    def warm(self) -> dict[str, Any]:
        sys.stderr.write("cannot open shared object file\n")
        sys.stderr.flush()
        os._exit(1)


class AbsentBackend(ScriptedBackend):
    """Says that what it needs is not installed."""

    def warm(self) -> dict[str, Any]:
        from app.core.errors import EngineMissing

        raise EngineMissing("nothing there")


def session_fd() -> int:
    sockets = [fd for fd in range(_DESCRIPTORS) if is_socket(fd)]
    assert len(sockets) == 1, sockets
    return sockets[0]


def is_socket(fd: int) -> bool:
    try:
        return stat.S_ISSOCK(os.fstat(fd).st_mode)
    except OSError:
        return False
