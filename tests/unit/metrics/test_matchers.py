"""Every argument matcher: what it accepts as a definition, and what it matches."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.metrics.expectations import match_arguments, parse_arguments
from app.metrics.matchers import InvalidMatcher, deep_equal, parse_matcher

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=10,
)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("foo", "expected a mapping"),
        (["a"], "expected a mapping"),
        ({}, "empty matcher"),
        ({"regex": "a", "contains": "b"}, "exactly one matcher kind"),
        ({"kind": "regex", "regex": "a"}, "exactly one matcher kind"),
        ({"wat": 1}, "unknown matcher kind"),
        ({"regex": ""}, "non-empty pattern"),
        ({"regex": 123}, "non-empty pattern"),
        ({"regex": "["}, "invalid regex"),
        ({"regex": "(?=a)"}, "invalid regex"),
        ({"regex": r"(a)\1"}, "invalid regex"),
        ({"contains": ""}, "non-empty substring"),
        ({"contains": 123}, "non-empty substring"),
        ({"range": {}}, "at least one bound"),
        ({"range": "bad"}, "at least one bound"),
        ({"range": {"gte": 1, "max": 5}}, "unknown range bounds"),
        ({"range": {"gte": 5, "lte": 1}}, "empty"),
        ({"range": {"gt": 1, "lt": 1}}, "empty"),
        ({"range": {"gte": 1, "lt": 1}}, "empty"),
        ({"range": {"gte": "1"}}, "finite numbers"),
        ({"range": {"gte": True}}, "finite numbers"),
        ({"range": {"gte": math.nan}}, "finite numbers"),
        ({"json_schema": {}}, "non-empty schema"),
        ({"json_schema": "bad"}, "non-empty schema"),
        ({"json_schema": {"type": "nonsense"}}, "invalid json_schema"),
        ({"approx": {"value": 1}}, "tolerance"),
        ({"approx": {"abs": 1}}, "tolerance"),
        ({"approx": {"value": 1, "abs": -1}}, "not negative"),
        ({"approx": {"value": 1, "abs": "1"}}, "finite numbers"),
        ({"one_of": []}, "non-empty list"),
        ({"subset": {}}, "non-empty object"),
        ({"absent": False}, "only true"),
    ],
)
def test_an_unusable_matcher_is_refused_when_it_is_made(spec: object, message: str) -> None:
    with pytest.raises(InvalidMatcher, match=message):
        parse_matcher(spec)


@pytest.mark.parametrize(
    ("spec", "value", "expected"),
    [
        ({"equals": 42}, 42.0, True),
        ({"equals": {"a": 1, "b": 2}}, {"b": 2, "a": 1.0}, True),
        ({"equals": {"a": 1}}, {"a": 1, "b": 2}, False),
        ({"equals": "1"}, 1, False),
        ({"equals": 1}, True, False),
        ({"equals": 0}, False, False),
        ({"equals": None}, None, True),
        ({"equals": None}, "", False),
        ({"equals": []}, None, False),
        ({"equals": {}}, None, False),
        ({"equals": 0}, -0.0, True),
        ({"equals": 0.3}, 0.1 + 0.2, False),
        ({"equals": 2**53}, 2**53 + 1, False),
        ({"equals": [1, 2]}, [2, 1], False),
        ({"regex": "^auth"}, "authenticate", True),
        ({"regex": "auth$"}, "auth\n", False),
        ({"regex": "^3$"}, 3.0, True),
        ({"regex": ".*"}, None, False),
        ({"regex": "true"}, True, True),
        ({"regex": "A"}, "a", False),
        ({"contains": "<Build"}, {"xml": "<Build/>"}, True),
        ({"contains": '"a":1'}, {"a": 1}, True),
        ({"contains": '"a": 1'}, {"a": 1}, False),
        ({"contains": "1e+21"}, 1e21, True),
        ({"contains": "9007199254740993"}, 2**53 + 1, True),
        ({"contains": "x"}, None, False),
        ({"range": {"gte": 1, "lte": 5}}, 3, True),
        ({"range": {"gte": 1, "lte": 5}}, 0, False),
        ({"range": {"gte": 1, "lte": 5}}, 6, False),
        ({"range": {"gte": 1, "lte": 5}}, "3", False),
        ({"range": {"gt": 0, "lt": 10}}, 0, False),
        ({"range": {"gt": 0, "lt": 10}}, 10, False),
        ({"range": {"gt": 0, "lt": 10}}, 5, True),
        ({"range": {"gte": 1}}, True, False),
        ({"range": {"gte": 1}}, None, False),
        ({"range": {"gte": 1}}, math.inf, False),
        ({"range": {"gte": 1, "lte": 1}}, 1, True),
        ({"json_schema": {"type": "integer"}}, 1.0, True),
        ({"json_schema": {"type": "integer"}}, True, False),
        ({"json_schema": {"const": 1}}, True, False),
        ({"json_schema": {"type": "string", "format": "date"}}, "nonsense", True),
        ({"json_schema": {"$ref": "file:///etc/passwd"}}, {}, False),
        ({"approx": {"value": 100, "rel": 0.01}}, 101, True),
        ({"approx": {"value": 100, "rel": 0.01}}, 102, False),
        ({"approx": {"value": 100, "abs": 5, "rel": 0.01}}, 95, True),
        ({"approx": {"value": 1, "abs": 1}}, True, False),
        ({"one_of": ["a", 1]}, 1.0, True),
        ({"one_of": ["a", 1]}, True, False),
        ({"subset": {"a": {"b": 1}}}, {"a": {"b": 1, "c": 2}, "d": 3}, True),
        ({"subset": {"a": {"b": 1}}}, {"a": {"b": 2}}, False),
        ({"subset": {"a": {"b": 1}}}, {"a": 1}, False),
        ({"subset": {"a": None}}, {}, False),
        ({"absent": True}, None, False),
    ],
)
def test_matching(spec: dict[str, Any], value: Any, expected: bool) -> None:
    found = parse_matcher(spec).match(value)
    assert found.ok is expected, found.reason
    assert found.reason


def test_a_hostile_pattern_stays_linear() -> None:
    assert not parse_matcher({"regex": "(a+)+$"}).match("a" * 5000 + "b").ok


@pytest.mark.parametrize(
    ("matchers", "arguments", "expected"),
    [
        ({"level": {"equals": 90}}, {"level": 90, "x": 1}, True),
        ({"level": {"equals": None}}, {}, False),
        ({"level": {"absent": True}}, {}, True),
        ({"level": {"absent": True}}, {"level": None}, False),
        ({"/a/0/b~1c": {"equals": 7}}, {"a": [{"b/c": 7}]}, True),
        ({"/a/00": {"equals": 7}}, {"a": [7]}, False),
        ({"/a/1": {"absent": True}}, {"a": [7]}, True),
        ({"/": {"equals": 1}}, {"": 1}, True),
        ({"a": {"equals": 1}}, None, False),
        ({"a": {"equals": 1}, "b": {"equals": 2}}, {"a": 1, "b": 3}, False),
    ],
)
def test_argument_objects(matchers: dict[str, object], arguments: object, expected: bool) -> None:
    assert match_arguments(parse_arguments(matchers), arguments).ok is expected


def test_all_failures_are_named_in_key_order() -> None:
    found = match_arguments(parse_arguments({"b": {"equals": 1}, "a": {"equals": 1}}), {"a": 2})
    assert found.reason.startswith("a: ")
    assert "; b: not present" in found.reason


@given(JSON)
def test_equals_matches_itself_and_survives_serialisation(value: Any) -> None:
    matcher = parse_matcher({"equals": value})
    assert matcher.match(value).ok
    assert parse_matcher(matcher.spec).spec == matcher.spec


@given(JSON, JSON)
def test_equality_is_symmetric(left: Any, right: Any) -> None:
    assert deep_equal(left, right) == deep_equal(right, left)


@given(st.booleans(), st.integers(-3, 3))
def test_a_boolean_never_equals_a_number(flag: bool, number: int) -> None:
    assert not deep_equal(flag, number)
    assert not deep_equal([flag], [number])
    assert not parse_matcher({"range": {"gte": -10}}).match(flag).ok


NUMBERS = st.integers(-1000, 1000) | st.floats(-1000, 1000)


@given(NUMBERS, NUMBERS, NUMBERS)
def test_range_agrees_with_the_order_of_numbers(low: float, high: float, value: float) -> None:
    if low > high:
        low, high = high, low
    assert parse_matcher({"range": {"gte": low, "lte": high}}).match(value).ok is (low <= value <= high)
    if low < high:
        assert parse_matcher({"range": {"gt": low, "lt": high}}).match(value).ok is (low < value < high)


@given(st.dictionaries(st.text(max_size=5), JSON, min_size=1, max_size=4), st.dictionaries(st.text(max_size=5), JSON))
def test_a_subset_matches_whatever_is_added(partial: dict[str, Any], extra: dict[str, Any]) -> None:
    assert parse_matcher({"subset": partial}).match({**extra, **partial}).ok
