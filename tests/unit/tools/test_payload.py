"""What is kept of arguments: the quick way gives what the plain one does."""

from __future__ import annotations

import hashlib
import json
import math
from collections import UserDict
from collections.abc import Mapping
from enum import Enum, IntEnum, StrEnum
from typing import Any

import pytest
import rfc8785
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel

from app.core.logs import MASK, SECRET_KEYS, Redactor
from app.tools.payload import ARGUMENT_BYTES, CallArguments, arguments, plain


class Word(StrEnum):
    FIRE = "fire"


class Number(IntEnum):
    THREE = 3


class Shape(Enum):
    PAIR = (1, 2.0)


class Box(BaseModel):
    name: str
    sizes: list[float]
    word: Word = Word.FIRE


ODD = st.sampled_from([Word.FIRE, Number.THREE, Shape.PAIR, b"raw", 2**53, -(2**60), math.inf, math.nan, (1, "a"), {1}])
FLOATS = st.floats() | st.sampled_from([1.0, -0.0, 1e16, 1e21, 1e-5, 1e-7, 0.1, 123456789.5])
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    ["a.0", "1e+5]", '1.0,"', "v 1.0"]
)
LEAVES = st.none() | st.booleans() | st.integers() | FLOATS | TEXTS | ODD
BOXES = st.builds(Box, name=TEXTS, sizes=st.lists(FLOATS, max_size=3))
KEYS = TEXTS | st.integers(0, 20) | st.just(None)


def nested(leaves: st.SearchStrategy[Any], keys: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return lists and both kinds of mappings of such leaves."""
    return st.recursive(
        leaves,
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(keys, inner, max_size=4)
            | st.dictionaries(keys, inner, max_size=4).map(UserDict)
        ),
        max_leaves=12,
    )


DATA = nested(LEAVES | BOXES, KEYS)


def reference_plain(value: Any) -> Any:
    match value:
        case BaseModel():
            return reference_plain(value.model_dump(mode="json"))
        case Enum():
            return reference_plain(value.value)
        case bytes():
            return {"sha256": hashlib.sha256(value).hexdigest(), "bytes": len(value)}
        case Mapping():
            return {str(key): reference_plain(entry) for key, entry in value.items()}
        case list() | tuple():
            return [reference_plain(entry) for entry in value]
        case None | bool() | str():
            return value
        case int() if abs(value) < 2**53:
            return value
        case float() if math.isfinite(value):
            return value
        case _:
            return str(value)


def reference(tool: str, version: str, args: Mapping[str, Any]) -> CallArguments:
    """Each part written by itself, and the whole by the library for RFC 8785."""

    def form(value: Any) -> bytes:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()

    known = {str(name): reference_plain(value) for name, value in args.items()}
    shown = {}
    for name, value in known.items():
        data = form(value)
        kept = {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
        shown[name] = value if len(data) <= ARGUMENT_BYTES else kept
    whole = rfc8785.dumps({"tool": tool, "version": version, "args": known})
    return CallArguments(shown, hashlib.sha256(whole).hexdigest(), len(form(known)))


@given(DATA)
def test_plain_data_is_the_same_however_it_is_made(value: Any) -> None:
    assert repr(plain(value)) == repr(reference_plain(value))


@given(TEXTS, TEXTS, st.dictionaries(TEXTS, DATA, max_size=4), st.integers(0, 2))
@example("pob.apply", "sketch 1.0", {"n": 1.0, "é": 1e-7, "b": [1e21]}, 0)
@example("t", "1.0.0", {"\U0001f600": 1, "\uffff": 2}, 0)
def test_arguments_are_the_same_however_they_are_written(
    tool: str, version: str, args: dict[str, Any], big: int
) -> None:
    args |= {f"big{number}": "x" * (ARGUMENT_BYTES - 2 + number) for number in range(big)}
    assert repr(arguments(tool, version, args)) == repr(reference(tool, version, args))


@pytest.mark.parametrize("length", [ARGUMENT_BYTES - 12, ARGUMENT_BYTES - 2, ARGUMENT_BYTES - 1])
def test_each_argument_is_shown_as_long_as_it_fits(length: int) -> None:
    args = {"a": "x" * length, "b": "y"}
    found = arguments("t", "", args)
    assert found == reference("t", "", args)
    assert (found.shown["a"] == args["a"]) is (length + 2 <= ARGUMENT_BYTES)
    assert found.shown["b"] == "y"


SECRETS = ["sk-hidden", 'with "quotes"']


def reference_clean(value: Any) -> Any:
    def text(found: str) -> str:
        for secret in sorted(SECRETS, key=len, reverse=True):
            found = found.replace(secret, MASK)
        return found

    if isinstance(value, str):
        return text(value)
    if isinstance(value, Mapping):
        named = {str(key): entry for key, entry in value.items()}
        hidden = {key for key, entry in named.items() if key.lower() in SECRET_KEYS and entry is not None}
        return {text(key): MASK if key in hidden else reference_clean(entry) for key, entry in named.items()}
    return [reference_clean(entry) for entry in value] if isinstance(value, (list, tuple)) else value


HIDING = st.sampled_from(
    [*SECRETS, f"x {SECRETS[0]} y", "Token", "api_key", "max_tokens", 7, None, 1.5, ("a", SECRETS[1])]
)


@given(nested(HIDING, HIDING))
def test_what_is_cleaned_is_the_same_however_it_is_walked(value: Any) -> None:
    assert repr(Redactor(SECRETS).data(value)) == repr(reference_clean(value))
