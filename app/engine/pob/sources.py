"""Where Path of Building's files can come from: a checkout, a git directory, a tarball; each yields what is needed.

None of them is trusted: links are not followed, names must stay inside, sizes are bounded.
"""

from __future__ import annotations

import os
import re
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from app.core.errors import InstallFailed

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


Files = Iterator[tuple[str, bytes]]

_MAX_ARCHIVE_BYTES = 4 * 1024 * 1024 * 1024
_MAX_MEMBERS = 100_000
_GIT_SECONDS = 120


def kind_of(source: Path) -> str:
    """Return "checkout", "git" or "tarball".

    Raises:
        InstallFailed: it is none of them.
    """
    if (source / MANIFEST).is_file():
        return "checkout"
    if (source / "objects").is_dir() and (source / "HEAD").is_file():
        return "git"
    if source.is_file() and tarfile.is_tarfile(source):
        return "tarball"
    raise InstallFailed(f"{source} is neither a checkout, a git directory nor a tarball of Path of Building")


def read_source(source: Path, kind: str) -> Files:
    """Yield path and content of every needed file, in no particular order.

    Raises:
        InstallFailed: the source is damaged, hostile or too large.
    """
    readers = {"checkout": _checkout, "git": _git, "tarball": _tarball}
    total = 0
    for number, (path, content) in enumerate(readers[kind](source)):
        total += len(content)
        if number >= MAX_FILES or total > MAX_TOTAL_BYTES:
            raise InstallFailed("the source is too large to be Path of Building")
        yield path, content


def _checkout(root: Path) -> Files:
    for folder, _, names in os.walk(root, followlinks=False):
        for name in sorted(names):
            file = Path(folder) / name
            path = file.relative_to(root).as_posix()
            if is_needed(path):
                if file.is_symlink():
                    raise InstallFailed(f"{path} is a link")
                _bound(path, file.stat().st_size)
                yield path, file.read_bytes()


def _git(directory: Path) -> Files:
    listing = _run_git(directory, ["ls-tree", "-r", "-z", "--full-tree", "HEAD"], b"")
    wanted = []
    for line in listing.decode(errors="replace").split("\0"):
        meta, _, path = line.partition("\t")
        mode, _, oid = meta.split() if line else ("", "", "")
        if is_needed(path) and mode in ("100644", "100755"):
            wanted.append((path, oid))
    answer = _run_git(directory, ["cat-file", "--batch"], "".join(f"{oid}\n" for _, oid in wanted).encode())
    start = 0
    for path, oid in wanted:
        head, _, _ = answer[start : start + 200].partition(b"\n")
        fields = head.decode(errors="replace").split()
        if len(fields) != 3 or fields[0] != oid:
            raise InstallFailed(f"the git directory does not hold {path}")
        size = int(fields[2])
        _bound(path, size)
        start += len(head) + 1
        yield path, answer[start : start + size]
        start += size + 1


def _run_git(directory: Path, arguments: list[str], stdin: bytes) -> bytes:
    # Never let a partial clone fetch what it lacks; never read settings of the person or the machine.
    environment = {"PATH": os.environ.get("PATH", os.defpath), "GIT_NO_LAZY_FETCH": "1", "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "-c", "safe.directory=*", f"--git-dir={directory}", *arguments]
    try:
        done = subprocess.run(  # noqa: S603 - a fixed program, no shell
            command, input=stdin, capture_output=True, env=environment, timeout=_GIT_SECONDS, check=True
        )
    except FileNotFoundError as exc:
        raise InstallFailed("reading a git directory needs git, which is not installed") from exc
    except subprocess.CalledProcessError as exc:
        raise InstallFailed(f"git: {exc.stderr.decode(errors='replace').strip()[:300]}") from exc
    except subprocess.TimeoutExpired as exc:
        raise InstallFailed("git does not answer") from exc
    return done.stdout


def _tarball(file: Path) -> Files:
    try:
        with tarfile.open(file, "r:*") as archive:
            members = _members(archive)
            manifests = [PurePosixPath(member.name) for member in members]
            manifests = [path for path in manifests if path.name == MANIFEST]
            if not manifests:
                raise InstallFailed(f"the tarball has no {MANIFEST}")
            # the folder inside that holds everything is the one of the topmost manifest
            top = min(manifests, key=lambda path: (len(path.parts), path.as_posix())).parent.as_posix()
            prefix = "" if top == "." else f"{top}/"
            for member in members:
                path = _inside(member.name).removeprefix(prefix)
                if not _inside(member.name).startswith(prefix) or not is_needed(path):
                    continue
                if not member.isfile():
                    raise InstallFailed(f"{path} is not a plain file in the tarball")
                _bound(path, member.size)
                stream = archive.extractfile(member)
                assert stream is not None, "a plain file has content"
                yield path, stream.read()
    except (tarfile.TarError, EOFError, OSError) as exc:
        raise InstallFailed(f"the tarball is damaged: {exc}") from exc


def _members(archive: tarfile.TarFile) -> list[tarfile.TarInfo]:
    members: list[tarfile.TarInfo] = []
    total = 0
    for member in archive:
        _inside(member.name)
        members.append(member)
        total += member.size
        if len(members) > _MAX_MEMBERS or total > _MAX_ARCHIVE_BYTES:
            raise InstallFailed("the tarball is too large to be Path of Building")
    return members


def _inside(name: str) -> str:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name:
        raise InstallFailed(f"the tarball has a path that leads out of it: {name[:80]!r}")
    return path.as_posix()


def _bound(path: str, size: int) -> None:
    if size > MAX_FILE_BYTES:
        raise InstallFailed(f"{path} is too large ({size} bytes)")
