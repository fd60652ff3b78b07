"""Where the files that ship beside the code are: in a checkout at its root, in a wheel under `app/_bundled`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

_APP = Path(__file__).resolve().parent.parent


def resource_dir(name: Literal["prompts", "domain", "evals", "migrations"]) -> Path:
    """Return the folder of the resource.

    Raises:
        FileNotFoundError: the installation is incomplete.
    """
    for candidate in (_APP / "_bundled" / name, _APP.parent / name):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"the installation has no {name!r} folder")
