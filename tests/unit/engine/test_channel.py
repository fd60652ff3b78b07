"""Answer lines: read strictly, whatever stands in them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.errors import EngineGarbage
from app.engine.channel import parse

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


def test_both_kinds_of_answer() -> None:
    assert parse(b'{"id": 1, "ok": true, "result": [1, 2.5, null]}').result == [1, 2.5, None]
    refused = parse(b'{"id": 1, "ok": false, "error": {"code": "refused", "message": "no"}}')
    assert refused.error is not None
    assert refused.error.code == "refused"


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b"{",
        b"\xff\xfe",
        b'{"id": 1}',
        b'{"id": "1", "ok": true}',
        b'{"id": 1.0, "ok": true}',
        b'{"id": true, "ok": true}',
        b'{"id": 1, "ok": 1}',
        b'{"id": 1, "ok": false}',
        b'{"id": 1, "ok": true, "error": {"code": "a", "message": "b"}}',
        b'{"id": 1, "ok": false, "error": {"code": 5, "message": "b"}}',
        b'{"id": 1, "ok": true, "extra": 1}',
        b'{"id": 1, "ok": true, "result": NaN}',
        b'{"id": 1, "ok": true, "result": -Infinity}',
        b'{"id": 1, "ok": true, "result": 1e999}',
        b'{"id": 1, "ok": true, "result": ' + b"9" * 5000 + b"}",
        b'{"id": 1, "ok": true, "result": ' + b"[" * 100_000,
        b'{"id": 1, "ok": true} {"id": 2, "ok": true}',
    ],
)
def test_what_is_not_an_answer_is_garbage(line: bytes) -> None:
    with pytest.raises(EngineGarbage):
        parse(line)


@settings(deadline=None)
@given(st.binary(max_size=200) | JSON.map(lambda value: json.dumps(value).encode()))
def test_nothing_else_is_ever_raised(line: bytes) -> None:
    with pytest.raises(EngineGarbage):
        parse(line)


@settings(deadline=None)
@given(JSON)
def test_results_arrive_as_sent_or_not_at_all(value: object) -> None:
    line = json.dumps({"id": 3, "ok": True, "result": value}).encode()
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        with pytest.raises(EngineGarbage):
            parse(line)
    else:
        assert parse(line).result == value
