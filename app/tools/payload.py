"""What a record keeps of arguments and results: hashes, sizes, and no more text than fits."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any

import rfc8785
from pydantic import BaseModel
from pydantic_core import from_json, to_json

PREVIEW_BYTES = 2048
ARGUMENT_BYTES = 2048
_EXACT_INT = 2**53


@dataclass(frozen=True)
class Digest:
    """A payload as a record keeps it; `preview` is at most 2 kB of its JSON."""

    sha256: str
    size: int
    preview: str

    def reference(self) -> dict[str, Any]:
        """Return what stands for the payload among arguments."""
        return {"sha256": self.sha256, "bytes": self.size}


def digest(value: object) -> Digest:
    """Return hash, size and preview of any result."""
    data = to_json(value, inf_nan_mode="strings", bytes_mode="base64", fallback=str)
    return digest_bytes(data)


def digest_bytes(data: bytes) -> Digest:
    """Return hash, size and preview of text that is already encoded."""
    return Digest(hashlib.sha256(data).hexdigest(), len(data), data[:PREVIEW_BYTES].decode(errors="ignore"))


def canonical_digest(value: object) -> Digest:
    """Return the digest of the value's JSON with sorted keys: equal values give equal hashes."""
    return digest_bytes(_canonical(plain(value)))


@dataclass(frozen=True)
class CallArguments:
    """The arguments of a call: `shown` as a record keeps them, each too large one as hash and size, and their bytes.

    `sha256` is that of the RFC 8785 form of tool, version and arguments: equal calls, equal hashes.
    """

    shown: dict[str, Any]
    sha256: str
    size: int


def arguments(tool: str, version: str, args: Mapping[str, Any]) -> CallArguments:
    """Return the arguments of a call to this version of the tool."""
    known = {str(name): plain(value) for name, value in args.items()}
    data = _canonical(known)
    # The form of the whole is that of its parts, by name: "args" comes first.
    form = b'{"args":%b,%b' % (data, _rest(tool, version))
    # To find a mark takes nothing, to look for the pattern as long as all the rest.
    odd = any(mark in data for mark in _MARKS) and _OWN_NUMBERS.search(data)
    if odd or not form.isascii():
        form = rfc8785.dumps({"args": known, "tool": tool, "version": version})
    # Where all of them fit, each does.
    shown = known if len(data) <= ARGUMENT_BYTES else {name: _shown(value) for name, value in known.items()}
    return CallArguments(shown, hashlib.sha256(form).hexdigest(), len(data))


@lru_cache(maxsize=256)
def _rest(tool: str, version: str) -> bytes:
    """Return what follows the arguments of every call to the tool."""
    return _canonical({"tool": tool, "version": version})[1:]


_MARKS = (b".0", b"e+", b"e-")
_OWN_NUMBERS = re.compile(rb"(\.0|[0-9]e[+-][0-9]+)[],}]")
"""What Python writes otherwise than RFC 8785 is whole floats and those with an exponent, besides the order of keys that
are not ASCII. It is looked for in strings as well: then the answer is the same, only slower."""


def decoded_argument(data: bytes) -> Any:
    """Return an argument that is JSON already as a record keeps it: too large, its hash and size stand for it."""
    return from_json(data) if len(data) <= ARGUMENT_BYTES else digest_bytes(data).reference()


def _shown(value: Any) -> Any:
    data = b"" if value is None or isinstance(value, (bool, int, float)) else _canonical(value)
    return value if len(data) <= ARGUMENT_BYTES else digest_bytes(data).reference()


_SORTED = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _canonical(value: Any) -> bytes:
    return _SORTED.encode(value).encode()


def plain(value: Any) -> Any:
    """Return JSON-ready data that every JSON reader understands alike: bytes by reference, odd numbers as text."""
    kind = type(value)
    # Nearly everything is one of these by its very type, and to match it against the rest takes ten times as long.
    if kind in _AS_THEY_ARE or (kind is int and -_EXACT_INT < value < _EXACT_INT):
        return value
    if kind is dict:
        return {key if type(key) is str else str(key): plain(entry) for key, entry in value.items()}
    if kind is list:
        # Names of metrics make up most of what is recorded: they are looked through at once.
        return list(value) if _AS_THEY_ARE.issuperset(map(type, value)) else [plain(entry) for entry in value]
    return _plain_other(value)


_AS_THEY_ARE = frozenset({str, bool, type(None)})


def _plain_other(value: Any) -> Any:
    match value:
        case None | bool():
            return value
        case BaseModel():
            return plain(value.model_dump(mode="json"))
        case Enum():
            return plain(value.value)
        case bytes():
            return digest_bytes(value).reference()
        case int() if abs(value) < _EXACT_INT:
            return value
        case float() if math.isfinite(value):
            return value
        case str():
            return value
        case Mapping():
            return plain(dict(value))
        case tuple() | list():
            return plain(list(value))
        case _:
            return str(value)
