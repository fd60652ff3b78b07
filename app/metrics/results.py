"""Result files: the runs under a label with all their figures, to be compared elsewhere or in a later CI run."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import ValidationError

from app import __version__
from app.core.errors import InputError
from app.metrics.subjects import Subject, TaskRun
from app.model.base import Model

SCHEMA_VERSION: Final = "1.0"
_VERSION: Final = re.compile(r"(0|[1-9]\d{0,4})\.(0|[1-9]\d{0,4})")


class ResultFile(Model):
    """All runs under a label. `engines`: which calculated them, with versions; `version`: of the writing program."""

    kind: Literal["buildwright-results"] = "buildwright-results"
    schema_version: str = SCHEMA_VERSION
    version: str = __version__
    label: str
    engines: list[str]
    runs: list[TaskRun]

    @classmethod
    def of(cls, label: str, engines: Sequence[str], subject: Subject) -> ResultFile:
        """Return the file of a side of a comparison."""
        return cls(label=label, engines=sorted(set(engines)), runs=list(subject.runs))

    def subject(self, name: str) -> Subject:
        """Return the runs as a side of a comparison."""
        return Subject(name, self.runs)


def read_results(text: str, name: str) -> ResultFile:
    """Return the result file in the text; `name` is what errors call it.

    Of a newer MINOR version what is not known here is left out.

    Raises:
        InputError: it is none, or of another MAJOR version, or says none.
    """
    try:
        data: Any = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name} is not JSON: {error}") from error
    if not isinstance(data, dict) or data.get("kind") != "buildwright-results":
        raise InputError(f"{name} is no result file of buildwright; `eval export` writes them.")
    said = data.get("schema_version")
    found = _VERSION.fullmatch(said) if isinstance(said, str) else None
    if found is None:
        raise InputError(f"{name} does not say its schema_version as MAJOR.MINOR: {said!r}.")
    major, minor = (int(part) for part in SCHEMA_VERSION.split("."))
    if int(found[1]) != major:
        raise InputError(f"{name} has schema {said}; this version reads {major}.x. Export it again with this version.")
    try:
        return ResultFile.model_validate(data, extra="ignore" if int(found[2]) > minor else "forbid")
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(f"{name}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error


def read_file(path: Path) -> ResultFile:
    """Return the result file at the path.

    Raises:
        InputError: it cannot be read, or is none.
    """
    try:
        return read_results(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"Cannot read {path}: {error}.") from error


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number")
