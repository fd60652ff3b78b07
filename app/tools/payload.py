"""What a record keeps of arguments and results: hashes, sizes, and no more text than fits."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import rfc8785
from pydantic import BaseModel
from pydantic_core import to_json

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
    whole: dict[str, Any] = {"tool": tool, "version": version, "args": known}
    form = _canonical(whole) if _is_simple(whole) else rfc8785.dumps(whole)
    shown = {}
    for name, value in known.items():
        data = b"" if value is None or isinstance(value, (bool, int, float)) else _canonical(value)
        shown[name] = value if len(data) <= ARGUMENT_BYTES else digest_bytes(data).reference()
    return CallArguments(shown, hashlib.sha256(form).hexdigest(), len(_canonical(known)))


def _is_simple(value: Any) -> bool:
    """Whether JSON with sorted keys is the RFC 8785 form already: without fractions, keys in ASCII, whole Unicode."""
    if isinstance(value, dict):
        return all(key.isascii() and _is_simple(entry) for key, entry in value.items())
    if isinstance(value, list):
        return all(map(_is_simple, value))
    return value.isascii() if isinstance(value, str) else not isinstance(value, float)


def _canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def plain(value: Any) -> Any:
    """Return JSON-ready data that every JSON reader understands alike: bytes by reference, odd numbers as text."""
    match value:
        case BaseModel():
            return plain(value.model_dump(mode="json"))
        case Enum():
            return plain(value.value)
        case bytes():
            return digest_bytes(value).reference()
        case Mapping():
            return {str(key): plain(entry) for key, entry in value.items()}
        case list() | tuple():
            return [plain(entry) for entry in value]
        case None | bool() | str():
            return value
        case int() if abs(value) < _EXACT_INT:
            return value
        case float() if math.isfinite(value):
            return value
        case _:
            return str(value)
