"""Installing Path of Building: fetch or read it, unpack what is needed beside the target, check it, swap it in."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

from pydantic import ValidationError

from app.core.errors import InstallFailed
from app.engine.pob.sources import MANIFEST, REQUIRED, VERSIONS, kind_of, read_source, tree_file
from app.model.base import Model

PINNED_VERSION = "0.20.0"
SUPPORTED = "0.20."
SUPPORTED_TREE = "0_5"
MARKER = "buildwright-pob.json"
MAX_DOWNLOAD_BYTES = 1024 * 1024 * 1024
_URL = "https://github.com/PathOfBuildingCommunity/PathOfBuilding-PoE2/archive/refs/tags/v{version}.tar.gz"

Fetch = Callable[[str, Path, int], None]
"""Fetches a URL into a file, at most so many bytes."""

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


class InstalledPob(Model):
    """What is installed. `source`: download, checkout, git, tarball; `sha256` is over all files, "" when unknown."""

    version: str
    tree_version: str
    source: str
    sha256: str = ""
    files: int = 0


def install(source: Path | None, target: Path, version: str | None = None, *, fetch: Fetch) -> InstalledPob:
    """Install from a checkout, git directory or tarball, or download the release (pinned unless a version is named).

    The target is replaced in one step; when anything fails, what was there stays.

    Raises:
        InstallFailed: the source is not a usable Path of Building, or the target is something else than an install.
        DownloadFailed: the release cannot be fetched.
    """
    ours = (target / MARKER).is_file()
    if target.exists() and not ours and (not target.is_dir() or any(target.iterdir())):
        raise InstallFailed(f"{target} exists and is not an install of ours; nothing was changed")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".pob-") as scratch:
            if source is None:
                kind, file = "download", Path(scratch) / "release.tar.gz"
                asked = version or PINNED_VERSION
                if not re.fullmatch(r"[0-9]+(\.[0-9]+){1,3}", asked):
                    raise InstallFailed(f"{asked!r} is not a version")
                fetch(_URL.format(version=asked), file, MAX_DOWNLOAD_BYTES)
            else:
                kind, file = kind_of(source), source
            new = Path(scratch) / "new"
            new.mkdir()
            for path, content in read_source(file, "tarball" if kind == "download" else kind):
                (new / path).parent.mkdir(parents=True, exist_ok=True)
                (new / path).write_bytes(content)
            installed = _checked(new, kind, version)
            (new / MARKER).write_text(installed.model_dump_json(indent=2) + "\n")
            _swap(new, target)
            return installed
    except OSError as exc:
        raise InstallFailed(f"cannot install into {target}: {exc.strerror}") from exc


def status(path: Path) -> InstalledPob | None:
    """Return what is installed at the path (also when it is a plain checkout), None when nothing usable is."""
    with contextlib.suppress(OSError, ValidationError):
        return InstalledPob.model_validate_json((path / MARKER).read_text())
    try:
        return InstalledPob(version=_version(path), tree_version=_tree_version(path), source="checkout")
    except InstallFailed:
        return None


def digest(root: Path) -> tuple[str, int]:
    """Return a SHA-256 over paths and contents of all files except our own marker, and their number."""
    files = sorted(file for file in root.rglob("*") if file.is_file() and file != root / MARKER)
    total = hashlib.sha256()
    for file in files:
        total.update(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.relative_to(root).as_posix()}\n".encode())
    return total.hexdigest(), len(files)


def _checked(new: Path, kind: str, asked: str | None) -> InstalledPob:
    """Return what the folder holds.

    Raises:
        InstallFailed: it is incomplete, or of a version that was not asked for or is not supported.
    """
    missing = [path for path in REQUIRED if not (new / path).is_file()]
    if missing:
        raise InstallFailed(f"files are missing: {', '.join(missing)}")
    version, tree_version = _version(new), _tree_version(new)
    if asked is not None and asked != version:
        raise InstallFailed(f"this is version {version}, asked for was {asked}")
    if not version.startswith(SUPPORTED) or tree_version != SUPPORTED_TREE:
        raise InstallFailed(f"this is version {version}, tree {tree_version}; {SUPPORTED}x, {SUPPORTED_TREE} is needed")
    sha256, files = digest(new)
    return InstalledPob(version=version, tree_version=tree_version, source=kind, sha256=sha256, files=files)


def _version(root: Path) -> str:
    found = re.search(r'<Version[^>]*\bnumber="([0-9.]+)"', _text(root / MANIFEST))
    if found is None:
        raise InstallFailed(f"{MANIFEST} names no version")
    return found.group(1)


def _tree_version(root: Path) -> str:
    """Return the newest passive tree that the code knows, which must be there."""
    listed = re.search(r"treeVersionList\s*=\s*\{([^}]*)\}", _text(root / VERSIONS))
    names = re.findall(r'"(\w+)"', listed.group(1)) if listed else []
    if not names:
        raise InstallFailed(f"{VERSIONS} lists no passive trees")
    if not (root / tree_file(names[-1])).is_file():
        raise InstallFailed(f"the passive tree {names[-1]} is missing")
    return str(names[-1])


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError as exc:
        raise InstallFailed(f"cannot read {file.name}: {exc.strerror}") from exc


def _swap(new: Path, target: Path) -> None:
    """Put the new folder in the target's place; the old one ends up where the new one was, and goes with it."""
    new.chmod(0o755)
    if not target.exists():
        new.rename(target)
    elif not _exchange(new, target):
        old = new.with_name("old")
        target.rename(old)
        try:
            new.rename(target)
        except OSError:
            old.rename(target)
            raise


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two paths in one step; return False where the system cannot."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    return (
        rename is not None and rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0
    )
