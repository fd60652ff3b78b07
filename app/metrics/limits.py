"""What an expectation may cost: sizes are checked when it is made, time is checked while it is evaluated."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date
from datetime import time as time_of_day
from math import isfinite
from typing import Any, Final

import re2

from app.core.errors import InputError

MAX_PARTS: Final = 2_000
MAX_LEVELS: Final = 32
MAX_PATTERN_CHARS: Final = 1_000
MAX_SECONDS: Final = 0.5
"""Processor seconds for all expectations of a request together."""

_until: ContextVar[float | None] = ContextVar("until", default=None)


class InvalidMatcher(InputError):
    """A matcher that can never be evaluated: the message says what is wrong with it."""

    code = "invalid_matcher"


@contextmanager
def placed(place: str) -> Iterator[None]:
    """Have what is raised inside say where in the request it is: "expect.2.args.candidates: ..."."""
    try:
        yield
    except InvalidMatcher as error:
        inner = error.details.get("place")
        whole = f"{place}.{inner}" if inner else place
        sentence = error.details.get("reason", error.message)
        raise InvalidMatcher(f"{whole}: {sentence}", place=whole, reason=sentence) from error


@contextmanager
def in_time(seconds: float = MAX_SECONDS) -> Iterator[None]:
    """Have `check_time` raise in this thread once it has worked for so long."""
    before = _until.set(time.thread_time() + seconds)
    try:
        yield
    finally:
        _until.reset(before)


def check_time() -> None:
    """Return while there is time left.

    Raises:
        InvalidMatcher: it is used up.
    """
    until = _until.get()
    if until is not None and time.thread_time() > until:
        raise InvalidMatcher("the expectations take too long to evaluate; ask for less at once")


def check_size(parameter: Any) -> None:
    """Return when a matcher's parameter is within the bounds, however it is nested.

    Raises:
        InvalidMatcher: too many parts, too many levels, or a number that no computer calculates with.
    """
    parts, left = 0, [(parameter, 1)]
    while left:
        part, level = left.pop()
        parts += 1
        if parts > MAX_PARTS or level > MAX_LEVELS:
            raise InvalidMatcher(f"a matcher has at most {MAX_PARTS} parts in {MAX_LEVELS} levels")
        if isinstance(part, (date, time_of_day)):
            raise InvalidMatcher(f"{part} is read as a date or time; put it into quotes to mean the text")
        if isinstance(part, float) and not isfinite(part):
            raise InvalidMatcher(f"a matcher has finite numbers, {part} is none")
        if isinstance(part, Mapping):
            left += [(inner, level + 1) for inner in (*part.keys(), *part.values())][: MAX_PARTS + 1]
        elif isinstance(part, list):
            left += [(inner, level + 1) for inner in part[: MAX_PARTS + 1]]
        elif isinstance(part, int) and not -_LARGEST <= part <= _LARGEST:
            raise InvalidMatcher("numbers of a matcher have at most 300 digits")


_LARGEST = 10**300


def compile_pattern(pattern: str) -> Any:
    """Compile an RE2 pattern (linear time).

    Raises:
        InvalidMatcher: RE2 does not accept the pattern, or it is too long.
    """
    if len(pattern) > MAX_PATTERN_CHARS:
        raise InvalidMatcher(f"a regex has at most {MAX_PATTERN_CHARS} characters")
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except (re2.error, UnicodeError) as error:
        raise InvalidMatcher(f"invalid regex {pattern!r}: {error}") from error
