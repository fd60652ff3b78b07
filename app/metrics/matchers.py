"""Argument matchers: one-key objects that say what a recorded argument must look like.

    equals      any JSON value, compared exactly: 42 equals 42.0, 1 is not true, key order is irrelevant
    regex       RE2 pattern, searched in the string form, case-sensitive, `$` only at the end of the text
    contains    substring of the string form
    range       gte, lte, gt, lt over numbers (never over booleans or numeric strings)
    json_schema JSON Schema, 2020-12 unless `$schema` says otherwise (back to draft 4); patterns are RE2's, `format` is
                an annotation, references lead to places inside the schema and never round in a circle
    approx      value with abs and/or rel: |x - value| <= max(abs, rel * |value|)
    one_of      equals any of the list
    subset      object whose keys must be there and match, recursively; further keys are allowed
    absent      true: the argument must not be there

The string form of a string is the string; of null there is none (regex and contains never match it); of anything
else its canonical JSON (RFC 8785). A matcher is checked when it is made, never while matching.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import rfc8785

from app.metrics.limits import InvalidMatcher, check_size, compile_pattern
from app.metrics.schemas import compile_schema


@dataclass(frozen=True)
class Match:
    """Whether a value matched; `reason` is never empty."""

    ok: bool
    reason: str


@dataclass(frozen=True)
class Matcher:
    """A checked matcher; `spec` is the single-key object it was made from."""

    spec: dict[str, Any]
    test: Callable[[Any], Match]

    @property
    def wants_absence(self) -> bool:
        """Whether the matcher is fulfilled by a missing argument."""
        return "absent" in self.spec

    def match(self, value: Any) -> Match:
        """Compare a present value."""
        return self.test(value)


_Test = Callable[[Any], Match]
_KINDS: dict[str, Callable[[Any], _Test]] = {}


def _kind(make: Callable[[Any], _Test]) -> Callable[[Any], _Test]:
    """Make a kind of matcher known under the function's name: it checks the parameter and returns the test."""
    _KINDS[make.__name__.removeprefix("_")] = make
    return make


def parse_matcher(spec: object) -> Matcher:
    """Make a matcher from its single-key object.

    Raises:
        InvalidMatcher: not exactly one known kind, or the kind's parameter is unusable.
    """
    if not isinstance(spec, Mapping):
        raise InvalidMatcher("expected a mapping with one matcher kind")
    if not spec:
        raise InvalidMatcher("empty matcher")
    if len(spec) > 1:
        raise InvalidMatcher("exactly one matcher kind is allowed")
    kind, parameter = next(iter(spec.items()))
    if kind not in _KINDS:
        raise InvalidMatcher(f"unknown matcher kind {str(kind)[:100]!r}; known: {', '.join(sorted(_KINDS))}")
    check_size(parameter)
    return Matcher({kind: parameter}, _KINDS[kind](parameter))


def deep_equal(left: Any, right: Any) -> bool:
    """Compare JSON values: numbers by value and exactly, booleans only with booleans, NaN with nothing."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if _is_number(left) and _is_number(right):
        return bool(left == right)
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(deep_equal(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(deep_equal, left, right))
    return type(left) is type(right) and bool(left == right)


def string_form(value: Any) -> str | None:
    """Return what regex and contains look at, or None for null."""
    if value is None or isinstance(value, str):
        return value
    try:
        return rfc8785.dumps(value).decode()
    except (rfc8785.CanonicalizationError, ValueError):  # integers beyond 2**53 have no canonical form
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _finite(value: Any) -> bool:
    return _is_number(value) and abs(value) <= sys.float_info.max


@_kind
def _equals(expected: Any) -> _Test:
    def test(value: Any) -> Match:
        ok = deep_equal(expected, value)
        return Match(ok, f"{_short(value)} {'equals' if ok else 'does not equal'} {_short(expected)}")

    return test


@_kind
def _regex(pattern: Any) -> _Test:
    if not isinstance(pattern, str) or not pattern:
        raise InvalidMatcher("regex needs a non-empty pattern")
    compiled = compile_pattern(pattern)

    def test(value: Any) -> Match:
        text = string_form(value)
        ok = text is not None and compiled.search(text) is not None
        return Match(ok, f"{_short(value)} {'matches' if ok else 'does not match'} /{pattern}/")

    return test


@_kind
def _contains(needle: Any) -> _Test:
    if not isinstance(needle, str) or not needle:
        raise InvalidMatcher("contains needs a non-empty substring")

    def test(value: Any) -> Match:
        text = string_form(value)
        ok = text is not None and needle in text
        return Match(ok, f"{_short(value)} {'contains' if ok else 'does not contain'} {needle!r}")

    return test


_BOUNDS: Final[dict[str, Callable[[float, float], bool]]] = {
    "gte": lambda value, bound: value >= bound,
    "lte": lambda value, bound: value <= bound,
    "gt": lambda value, bound: value > bound,
    "lt": lambda value, bound: value < bound,
}


@_kind
def _range(bounds: Any) -> _Test:
    if not isinstance(bounds, Mapping) or not bounds:
        raise InvalidMatcher("range needs at least one bound of gte, lte, gt, lt")
    if unknown := sorted(set(bounds) - set(_BOUNDS), key=str):
        raise InvalidMatcher(f"unknown range bounds: {unknown}")
    if not all(_finite(bound) for bound in bounds.values()):
        raise InvalidMatcher("range bounds are finite numbers")
    low = max((bounds[name] for name in ("gte", "gt") if name in bounds), default=-math.inf)
    high = min((bounds[name] for name in ("lte", "lt") if name in bounds), default=math.inf)
    touching = low == high and all(_BOUNDS[name](low, bound) for name, bound in bounds.items())
    if low > high or (low == high and not touching):
        raise InvalidMatcher(f"range {_short(bounds)} is empty")

    def test(value: Any) -> Match:
        if not _finite(value):
            return Match(False, f"{_short(value)} is not numeric")
        ok = all(_BOUNDS[name](value, bound) for name, bound in bounds.items())
        return Match(ok, f"{value} is {'inside' if ok else 'outside'} {_short(bounds)}")

    return test


@_kind
def _json_schema(schema: Any) -> _Test:
    if not isinstance(schema, dict) or not schema:
        raise InvalidMatcher("json_schema needs a non-empty schema")
    first_fault = compile_schema(schema)

    def test(value: Any) -> Match:
        fault = first_fault(value)
        return Match(fault is None, fault or "valid against the schema")

    return test


@_kind
def _approx(parameter: Any) -> _Test:
    if not isinstance(parameter, Mapping) or not {"value"} < set(parameter) <= {"value", "abs", "rel"}:
        raise InvalidMatcher("approx needs value and a tolerance: abs, rel or both")
    if not all(_finite(number) for number in parameter.values()):
        raise InvalidMatcher("approx takes finite numbers")
    target = parameter["value"]
    absolute, relative = parameter.get("abs", 0), parameter.get("rel", 0)
    if absolute < 0 or relative < 0:
        raise InvalidMatcher("approx tolerances are not negative")
    tolerance = max(absolute, relative * abs(target))

    def test(value: Any) -> Match:
        if not _finite(value):
            return Match(False, f"{_short(value)} is not numeric")
        distance = abs(value - target)
        return Match(distance <= tolerance, f"{value} is {distance} away from {target}, allowed {tolerance}")

    return test


@_kind
def _one_of(options: Any) -> _Test:
    if not isinstance(options, list) or not options:
        raise InvalidMatcher("one_of needs a non-empty list")

    def test(value: Any) -> Match:
        ok = any(deep_equal(option, value) for option in options)
        return Match(ok, f"{_short(value)} is {'one' if ok else 'none'} of {_short(options)}")

    return test


@_kind
def _subset(partial: Any) -> _Test:
    if not isinstance(partial, Mapping) or not partial:
        raise InvalidMatcher("subset needs a non-empty object")

    def test(value: Any) -> Match:
        missing = _missing_from(partial, value, "")
        return Match(missing is None, "all given keys match" if missing is None else missing)

    return test


def _missing_from(partial: Any, value: Any, path: str) -> str | None:
    if not isinstance(partial, Mapping):
        return None if deep_equal(partial, value) else f"{path or '/'}: {_short(value)} is not {_short(partial)}"
    if not isinstance(value, Mapping):
        return f"{path or '/'}: {_short(value)} is not an object"
    for key in partial:
        if key not in value:
            return f"{path}/{key} is missing"
        if found := _missing_from(partial[key], value[key], f"{path}/{key}"):
            return found
    return None


@_kind
def _absent(parameter: Any) -> _Test:
    if parameter is not True:
        raise InvalidMatcher("absent takes only true")
    return lambda value: Match(False, f"present: {_short(value)}")


def _short(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return text if len(text) <= 120 else f"{text[:117]}..."
