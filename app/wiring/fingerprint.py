"""What makes an earlier answer of an engine worthless."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path

import app
from app.engine.pob.install import status

_ANSWERING = ("engine", "model")
"""The packages whose code shapes what an engine answers."""


def fingerprint(engine: str, pob_home: Path) -> str | None:
    """Return a hash of all that an engine's answers depend on besides the question; None when that is not known.

    Path of Building's files, the Lua inside lupa, and our own code between them and the caller: a change of any of
    them makes every earlier answer another engine's.
    """
    files = ""
    if engine == "pob":
        installed = status(pob_home)
        if installed is None or not installed.sha256:
            return None
        files = installed.sha256
    return hashlib.sha256(f"{engine} {files} {version('lupa')} {_code()}".encode()).hexdigest()


@cache
def _code() -> str:
    found = hashlib.sha256()
    for path in _sources():
        found.update(path.name.encode())
        found.update(path.read_bytes())
    return found.hexdigest()


def _sources() -> Iterator[Path]:
    root = Path(app.__file__).parent
    for package in _ANSWERING:
        files = (path for path in (root / package).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        yield from sorted(files)
