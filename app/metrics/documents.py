"""YAML and JSON files of expectations, read strictly: what two readers could take for different things is refused."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import TypeAdapter, ValidationError

from app.core.errors import InputError
from app.metrics.limits import InvalidMatcher

T = TypeVar("T")
Place = tuple[str | int, ...]
_STRING, _FLOAT, _TIME, _MERGE = (f"tag:yaml.org,2002:{name}" for name in ("str", "float", "timestamp", "merge"))
_NO_NUMBERS = frozenset({"NaN", "Infinity", "-Infinity", "nan", "inf", "-inf"})
"""What JSON's writers make of such numbers; YAML would read them as words."""


class Document:
    """A file's data, and the line (from 1) that each part of it begins in."""

    def __init__(self, path: Path) -> None:
        """Read the file.

        Raises:
            InputError: it cannot be read, is no YAML, or has duplicate keys, NaN, infinities or dates.
        """
        self._path = path
        self._lines: dict[Place, int] = {}
        try:
            text = path.read_text(encoding="utf-8")
            root = yaml.compose(text, yaml.SafeLoader)
            if root is not None:
                self._note(root, ())
            self.data: Any = yaml.safe_load(text)
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"Cannot read {path}: {error}.") from error
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            raise InputError(f"{path} is not YAML, nor JSON: {error}") from error

    def read(self, shape: TypeAdapter[T]) -> T:
        """Return the data in the shape.

        Raises:
            InputError: it does not have it; each fault is named with its place and line.
        """
        try:
            return shape.validate_python(self.data)
        except ValidationError as error:
            faults = [self.fault(fault["loc"], fault["msg"]) for fault in error.errors()]
            raise InputError("; ".join(faults)) from error

    def unusable(self, error: InvalidMatcher, within: Place = ()) -> InvalidMatcher:
        """Return the error of a matcher with the line that it is in."""
        known = str(error.details.get("place", ""))
        found = max((place for place in self._lines if _dotted(place[len(within) :], known, place, within)), key=len)
        sentence = str(error.details.get("reason", error.message))
        return InvalidMatcher(self.fault(found if not known else (*within, known), sentence, at=found), place=known)

    def fault(self, place: Sequence[str | int], sentence: str, at: Sequence[str | int] | None = None) -> str:
        """Return the sentence with file, line and place; the line is that of the innermost part that is there."""
        inner = tuple(place if at is None else at)
        while inner and inner not in self._lines:
            inner = inner[:-1]
        where = ".".join(map(str, place))
        return f"{self._path}, line {self._lines.get(inner, 1)}: {where + ': ' if where else ''}{sentence}"

    def _note(self, node: yaml.Node, place: Place) -> None:
        """Note the lines of a node and of all in it, and refuse what is ambiguous."""
        line = node.start_mark.line + 1
        self._lines.setdefault(place, line)
        if isinstance(node, yaml.MappingNode):
            seen: set[str] = set()
            for key, value in node.value:
                name = str(key.value)
                if key.tag != _MERGE and name in seen:
                    raise InputError(self._at(key, (*place, name), "is there twice"))
                seen.add(name)
                self._note(value, place if key.tag == _MERGE else (*place, name))
        elif isinstance(node, yaml.SequenceNode):
            for number, item in enumerate(node.value):
                self._note(item, (*place, number))
        elif node.tag == _TIME:
            raise InputError(self._at(node, place, f"{node.value} is read as a date; put it into quotes"))
        elif _is_no_number(node):
            raise InputError(self._at(node, place, f"{node.value} is no number that a call can have"))

    def _at(self, node: yaml.Node, place: Place, sentence: str) -> str:
        where = ".".join(map(str, place))
        return f"{self._path}, line {node.start_mark.line + 1}: {where}: {sentence}"


def _dotted(inner: Place, known: str, place: Place, within: Place) -> bool:
    """Whether a part of the document lies on the way to a place within another."""
    way = ".".join(map(str, inner))
    return place[: len(within)] == within and (not way or known == way or known.startswith(f"{way}."))


def _is_no_number(node: yaml.Node) -> bool:
    if isinstance(node, yaml.ScalarNode) and node.tag == _STRING:
        return node.style is None and node.value in _NO_NUMBERS
    if node.tag != _FLOAT:
        return False
    known = node.value.lower().replace("_", "").lstrip("+-")
    return known in (".nan", ".inf") or ("e" in known and not isfinite(float(known)))
