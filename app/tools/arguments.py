"""Matching a whole argument object: keys are top-level names, or JSON Pointers (RFC 6901) when they start with `/`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from app.tools.matchers import Match, Matcher, parse_matcher

_MISSING: Final = object()


def parse_arguments(specs: Mapping[str, object]) -> dict[str, Matcher]:
    """Make one matcher per key.

    Raises:
        InvalidMatcher: one of them is unusable.
    """
    return {str(key): parse_matcher(spec) for key, spec in specs.items()}


def match_arguments(matchers: Mapping[str, Matcher], arguments: object) -> Match:
    """Compare all keys in sorted order; every failure is named, joined by "; "."""
    failures = [
        f"{key}: {found.reason}"
        for key, matcher in sorted(matchers.items())
        if not (found := _match_one(matcher, lookup(arguments, key))).ok
    ]
    return Match(not failures, "; ".join(failures) or "all arguments match")


def lookup(arguments: object, key: str) -> Any:
    """Return the value under the key, or a marker that `is_missing` knows."""
    if key.startswith("/"):
        return _follow(arguments, key[1:].split("/"))
    return arguments.get(key, _MISSING) if isinstance(arguments, Mapping) else _MISSING


def is_missing(value: object) -> bool:
    """Whether `lookup` found nothing (null is something)."""
    return value is _MISSING


def _match_one(matcher: Matcher, value: Any) -> Match:
    if is_missing(value):
        return Match(matcher.wants_absence, "not present on the call")
    return matcher.match(value)


def _follow(value: Any, parts: list[str]) -> Any:
    for part in (raw.replace("~1", "/").replace("~0", "~") for raw in parts):
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list) and _is_index(part) and int(part) < len(value):
            value = value[int(part)]
        else:
            return _MISSING
    return value


def _is_index(part: str) -> bool:
    """RFC 6901: decimal digits without leading zeros; bounded so that no huge number is parsed."""
    return part.isascii() and part.isdigit() and len(part) <= 9 and (part == "0" or part[0] != "0")
