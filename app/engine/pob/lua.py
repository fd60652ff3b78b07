"""Path of Building inside a Lua state: boots LuaJIT through lupa, loads our bridge modules, calls their operations."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import lupa.luajit21 as luajit

from app.engine.protocol import Refused

MODULES = (
    "json",
    "bits",
    "boot",
    "at_times",
    "core",
    "quick",
    "lookup",
    "memo",
    "hits",
    "base",
    "tree",
    "items",
    "choices",
    "skills",
    "states",
    "build",
    "trial",
    "idle",
    "inert",
    "damage",
    "whatif",
    "granted",
    "stats",
    "inspect",
    "facts_tree",
    "facts_gems",
    "facts_items",
    "uniques",
    "xml",
    "read",
    "bench",
    "init",
)
"""Bridge modules in load order; each is a chunk that gets the shared table."""

MEMORY_LIMIT = 2_000_000_000
"""Bytes the Lua state may use; over it the child is lost, cleanly."""


class PobFault(RuntimeError):
    """Path of Building, or our bridge, failed at something that was asked rightly."""


class LuaPob:
    """A booted Path of Building; not thread-safe, made to be forked."""

    def __init__(self, home: Path) -> None:
        source = home / "src"
        self._lua = luajit.LuaRuntime(
            unpack_returned_tuples=True,
            encoding=None,
            register_eval=False,
            register_builtins=False,
            max_memory=MEMORY_LIMIT,
        )
        bridge = self._lua.table()
        bridge[b"root"] = str(source.resolve()).encode()
        run = self._lua.eval(b"function(code, name, bridge) return assert(loadstring(code, name))(bridge) end")
        folder = files("app.engine.pob") / "bridge"
        for name in MODULES:
            run((folder / f"{name}.lua").read_bytes(), f"@bridge/{name}.lua".encode(), bridge)
        self._dispatch = bridge[b"dispatch"]

    def call(self, op: str, args: dict[str, Any]) -> Any:
        """Run one operation of the bridge and return its JSON-ready answer.

        Raises:
            Refused: the request is wrong.
            PobFault: it failed; the state may be spoiled.
        """
        try:
            outcome, text = self._dispatch(op.encode(), json.dumps(args, ensure_ascii=False).encode("utf-8"))
        except luajit.LuaError as exc:
            raise PobFault(f"{op}: {exc}") from exc
        answer = text.decode("utf-8", errors="replace")
        if outcome == b"ok":
            return json.loads(answer)
        if outcome == b"refused":
            raise Refused(answer)
        raise PobFault(f"{op}: {answer}")


def manifest_version(home: Path) -> str:
    """Return Path of Building's version from its manifest, or "unknown"."""
    for path in (home / "manifest.xml", home / "src" / "manifest.xml"):
        if path.is_file():
            found = re.search(r'<Version[^>]*\bnumber="([^"]+)"', path.read_text(encoding="utf-8", errors="replace"))
            if found:
                return found.group(1)
    return "unknown"
