"""Share codes: exact round trips, and rubbish refused within bounds."""

from __future__ import annotations

import base64
import time
import tracemalloc
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.errors import BadImport
from app.engine.files.codes import decode, encode
from app.engine.files.xml import MAX_XML_BYTES


@settings(deadline=None)
@given(st.binary(max_size=5000))
def test_a_code_gives_back_the_same_bytes(xml: bytes) -> None:
    assert decode(encode(xml)) == xml


def test_a_code_is_url_safe() -> None:
    code = encode(bytes(range(256)) * 20)

    assert set(code) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=")


def test_codes_as_people_paste_them() -> None:
    code = encode(b"<PathOfBuilding2/>" * 9)
    plain = code.replace("-", "+").replace("_", "/")

    for pasted in (f"  {code}\n", code.rstrip("="), plain, "\n".join([code[:20], code[20:]])):
        assert decode(pasted) == b"<PathOfBuilding2/>" * 9


BAD = {
    "empty": "",
    "words": "not a code at all!",
    "foreign letters": "äöü" * 10,
    "not deflated": base64.urlsafe_b64encode(b"hello world, hello world").decode(),
    "cut": encode(b"<PathOfBuilding2/>" * 50)[:40],
    "something after the end": base64.urlsafe_b64encode(zlib.compress(b"a") + zlib.compress(b"b")).decode(),
    "a link": "https://pobb.in/abcdef",
}


@pytest.mark.parametrize("case", BAD)
def test_rubbish_is_a_bad_import(case: str) -> None:
    with pytest.raises(BadImport):
        decode(BAD[case])


def test_a_bomb_is_not_inflated() -> None:
    code = base64.urlsafe_b64encode(zlib.compress(b"\0" * 300_000_000, 9)).decode()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    started = time.process_time()
    with pytest.raises(BadImport):
        decode(code)
    elapsed = time.process_time() - started
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert elapsed < 2
    assert peak - before < 20_000_000


def test_the_bound_is_exact() -> None:
    assert len(decode(encode(b"x" * MAX_XML_BYTES))) == MAX_XML_BYTES
    with pytest.raises(BadImport):
        decode(encode(b"x" * (MAX_XML_BYTES + 1)))


def test_a_code_that_is_too_long_is_not_looked_at() -> None:
    with pytest.raises(BadImport):
        decode("A" * 3_000_000)
