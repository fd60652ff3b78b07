"""Which of Path of Building's files are needed to calculate: its Lua code and data, not pictures, tests or programs."""

from __future__ import annotations

import re

MANIFEST = "manifest.xml"
VERSIONS = "src/GameVersions.lua"
REQUIRED = [
    MANIFEST,
    VERSIONS,
    "src/HeadlessWrapper.lua",
    "src/Launch.lua",
    "src/Modules/Main.lua",
    "src/Modules/Build.lua",
    "src/Modules/Calcs.lua",
    "src/Data/Gems.lua",
    "src/Data/ModCache.lua",
    "runtime/lua/xml.lua",
    "runtime/lua/dkjson.lua",
]
"""Without one of these it is not Path of Building, or not a complete one."""

MAX_FILE_BYTES = 32 * 1024 * 1024
MAX_TOTAL_BYTES = 256 * 1024 * 1024
MAX_FILES = 20_000

_NEEDED = [
    r"manifest\.xml",
    r"LICENSE[^/]*",
    r"src/[^/]+\.lua",
    r"src/Modules/.+\.lua",
    r"src/Classes/.+\.lua",
    r"src/Data/.+\.lua",
    r"src/TreeData/[^/]+/tree[^/]*\.lua",
    r"runtime/lua/.+\.lua",
]
_NEVER = [r"src/Data/(QueryMods|TradeSiteStats)\.lua"]
"""Data for searching the trade site."""

_needed = re.compile("|".join(_NEEDED))
_never = re.compile("|".join(_NEVER))


def is_needed(path: str) -> bool:
    """Return whether the file at this path (relative, with slashes) is needed at run time."""
    return bool(_needed.fullmatch(path)) and not _never.fullmatch(path)


def tree_file(tree_version: str) -> str:
    """Return where the passive tree of a version is."""
    return f"src/TreeData/{tree_version}/tree.lua"
