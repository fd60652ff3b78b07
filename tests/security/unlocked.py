"""A backend whose Lua has kept everything that Path of Building's bridge takes away: `io`, `os` and `ffi`.

What stops it is the kernel alone. Its operation "run" returns what a chunk of Lua returns, as text.
"""

from __future__ import annotations

from typing import Any

import lupa.luajit21 as luajit

VERSION = {"name": "unlocked", "version": "1", "tree_version": "0_0", "estimate": True}

PRELUDE = """
local ffi = require("ffi")
ffi.cdef[[
  long syscall(long number, ...);
  int socket(int domain, int type, int protocol);
  int open(const char *path, int flags, ...);
  int kill(int pid, int signal);
  int fork(void);
  int execv(const char *path, char *const argv[]);
  int fcntl(int fd, int command, ...);
  void *mmap(void *at, size_t length, int protection, int flags, int fd, long offset);
  char *strerror(int number);
]]
-- "refused: why" for what a C function answered, else "reached"
function told(result)
  if tonumber(result) >= 0 then return "reached" end
  return "refused: " .. ffi.string(ffi.C.strerror(ffi.errno()))
end
-- the same for a call to the kernel by its number
function kernel(number, ...)
  local words = {...}
  for i = 1, #words do words[i] = ffi.cast("long", words[i]) end
  return told(ffi.C.syscall(ffi.cast("long", number), unpack(words)))
end
"""


class UnlockedLua:
    """Implements `Backend`: runs any Lua, with all libraries."""

    def __init__(self) -> None:
        self._lua = luajit.LuaRuntime(unpack_returned_tuples=True)
        self._lua.execute(PRELUDE)

    def warm(self) -> dict[str, Any]:
        return VERSION

    def handle(self, op: str, args: dict[str, Any]) -> str:
        assert op == "run"
        return str(self._lua.execute(args["code"]))


class WithoutLandlock(UnlockedLua):
    """The same under a kernel without Landlock: its calls have numbers that no kernel has."""

    def __init__(self) -> None:
        super().__init__()
        without("landlock_create_ruleset")


class WithoutFilter(UnlockedLua):
    """The same under a kernel without call filters."""

    def __init__(self) -> None:
        super().__init__()
        without("seccomp")


def without(name: str) -> None:
    from app.engine import kernel

    kernel._NUMBERS[name] = (9999, 9999)
