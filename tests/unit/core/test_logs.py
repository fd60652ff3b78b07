"""Logs: one line per record, no secret in any of it."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest

from app.core.logs import Redactor, set_up_logging

SECRET = "sk-canary-42"


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def _speak(as_json: bool) -> str:
    stream = io.StringIO()
    set_up_logging("INFO", Redactor([SECRET]), as_json=as_json, stream=stream)
    log = logging.getLogger("test")
    log.debug("not shown")
    log.info("calling with %s", SECRET, extra={"build_id": "b1", "authorization": "Bearer other"})
    try:
        raise ValueError(SECRET)
    except ValueError:
        log.exception("failed")
    return stream.getvalue()


def test_json_lines_carry_fields_and_no_secret() -> None:
    text = _speak(as_json=True)
    assert SECRET not in text
    first, second = (json.loads(line) for line in text.splitlines())
    assert (first["level"], first["logger"], first["build_id"]) == ("INFO", "test", "b1")
    assert first["message"] == "calling with [redacted]"
    assert first["authorization"] == "[redacted]"
    assert "ValueError: [redacted]" in second["error"]


def test_plain_lines_carry_fields_and_no_secret() -> None:
    text = _speak(as_json=False)
    assert SECRET not in text
    assert "Bearer other" not in text
    assert "calling with [redacted] [build_id=b1 authorization=[redacted]]" in text
    assert "not shown" not in text


def test_loud_libraries_stay_quiet_in_debug() -> None:
    stream = io.StringIO()
    set_up_logging("DEBUG", stream=stream)
    logging.getLogger("httpcore").debug("Authorization: ...")
    logging.getLogger("ours").debug("shown")
    assert "Authorization" not in stream.getvalue()
    assert "shown" in stream.getvalue()


@pytest.mark.parametrize("secrets", [[], ["", "   "], ["abc"]])
def test_what_is_too_short_to_be_a_secret_wipes_nothing(secrets: list[str]) -> None:
    assert Redactor(secrets).text("abcdef   x") == "abcdef   x"


def test_a_secret_that_contains_another_is_masked_whole() -> None:
    assert Redactor(["canary", "canary-long"]).text("a canary-long b") == "a [redacted] b"


def test_keys_are_compared_whole() -> None:
    data = {"Authorization": "x", "api_key": None, "max_tokens": 5, "author": "me", "list": [{"password": "p"}]}
    assert Redactor().data(data) == {
        "Authorization": "[redacted]",
        "api_key": None,
        "max_tokens": 5,
        "author": "me",
        "list": [{"password": "[redacted]"}],
    }
