"""Results as bytes and back: what a cache keeps, and what a record hashes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter


@dataclass(frozen=True)
class Codec:
    """How one kind of result is written and read. `shared`: nobody changes it, so one object may serve everybody."""

    encode: Callable[[Any], bytes]
    decode: Callable[[bytes], Any]
    shared: bool = False


def json_codec(shape: Any, shared: bool = False) -> Codec:
    """Return the codec of results with this type; numbers keep every digit."""
    adapter: TypeAdapter[Any] = TypeAdapter(shape)
    return Codec(adapter.dump_json, adapter.validate_json, shared)


RAW = Codec(bytes, bytes)
"""For results that are bytes already."""


@dataclass(frozen=True)
class Cacheable:
    """The results of a call may be kept: how, and under which fingerprint of everything else they depend on.

    `join`: whether to wait for an equal call under way. Not where the call must be made anyway sooner or later: it
    would only be made later.
    """

    codec: Codec
    fingerprint: str
    join: bool = True
