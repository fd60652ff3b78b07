"""Every argument matcher: what it accepts as a definition, and what it matches."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.metrics.expectations import match_arguments, parse_arguments
from app.metrics.limits import InvalidMatcher, in_time
from app.metrics.matchers import deep_equal, parse_matcher

DRAFT_4 = "http://json-schema.org/draft-04/schema#"
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
        ({"json_schema": {"pattern": "^a+$"}}, "aa", True),
        ({"json_schema": {"pattern": "^a+$"}}, "ab", False),
        ({"json_schema": {"patternProperties": {"^a": {"type": "string"}}}}, {"a": 1}, False),
        ({"json_schema": {"patternProperties": {"^a": {"type": "string"}}}}, {"b": 1}, True),
        ({"json_schema": {"patternProperties": {"^a": {}}, "additionalProperties": False}}, {"ab": 1}, True),
        ({"json_schema": {"patternProperties": {"^a": {}}, "additionalProperties": False}}, {"b": 1}, False),
        ({"json_schema": {"properties": {"a": {}}, "additionalProperties": {"type": "string"}}}, {"a": 1}, True),
        ({"json_schema": {"properties": {"a": {}}, "additionalProperties": {"type": "string"}}}, {"b": 1}, False),
        ({"json_schema": {"$defs": {"n": {"type": "number"}}, "items": {"$ref": "#/$defs/n"}}}, [1, 2], True),
        ({"json_schema": {"$defs": {"n": {"type": "number"}}, "items": {"$ref": "#/$defs/n"}}}, [1, "2"], False),
        ({"json_schema": {"$schema": DRAFT_4, "minimum": 1, "exclusiveMinimum": True}}, 1, False),
        ({"json_schema": {"$id": "https://example.org/x", "type": "number"}}, 1, True),
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


def doubling(levels: int) -> dict[str, Any]:
    """A small schema with 2 ** levels parts once its references are followed."""
    defs: dict[str, Any] = {
        f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}, {"$ref": f"#/$defs/d{i + 1}"}]} for i in range(levels)
    }
    return {"$ref": "#/$defs/d0", "$defs": {**defs, f"d{levels}": {"type": "number"}}}


def nested(levels: int, innermost: Any = 1) -> Any:
    for _ in range(levels):
        innermost = {"a": innermost}
    return innermost


HOSTILE: list[dict[str, Any]] = [
    {"json_schema": {"$ref": "#"}},
    {"json_schema": {"properties": {"a": {"$ref": "#"}}}},
    {"json_schema": {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}},
    {"json_schema": {"$ref": "file:///etc/passwd"}},
    {"json_schema": {"$ref": "http://127.0.0.1:1/schema"}},
    {"json_schema": {"$ref": "https://json-schema.org/draft/2020-12/schema"}},
    {"json_schema": {"$ref": "#/$defs/nothing"}},
    {"json_schema": {"$ref": "#anchor"}},
    {"json_schema": {"$ref": 5}},
    {"json_schema": {"$ref": 5, "$schema": DRAFT_4}},
    {"json_schema": {"not": {"anyOf": [{"items": {"$ref": "other.json"}}]}}},
    {"json_schema": {"$ref": "#/x", "x": {"type": 5}}},
    {"json_schema": {"$ref": "#/x", "x": {"pattern": "("}}},
    {"json_schema": {"$dynamicRef": "#"}},
    {"json_schema": {"$schema": "https://json-schema.org/draft/2019-09/schema", "$recursiveRef": "#"}},
    {"json_schema": {"items": {"$id": "https://example.org/", "type": "number"}}},
    {"json_schema": {"$schema": 5}},
    {"json_schema": {"$schema": []}},
    {"json_schema": {"$schema": "http://json-schema.org/draft-03/schema#", "extends": "file:///etc/passwd"}},
    {"json_schema": {"$schema": "urn:nothing", "type": "number"}},
    {"json_schema": {"pattern": "(?=a)"}},
    {"json_schema": {"pattern": "a" * 1001}},
    {"json_schema": {"patternProperties": {"(": {}}}},
    {"json_schema": {"pattern": "((a{100}){100}){100}"}},
    {"json_schema": {"patternProperties": {"a": {}}, "unevaluatedProperties": False}},
    {"json_schema": doubling(20)},
    {"json_schema": nested(100, {})},
    {"json_schema": {"enum": list(range(3000))}},
    {"equals": nested(900)},
    {"subset": nested(900)},
    {"one_of": [10**400]},
    {"equals": list(range(100_000))},
    {"range": {"gte": 10**400}},
    {"range": {"gte": -(10**400)}},
    {"approx": {"value": 10**400, "rel": 0.5}},
    {"approx": {"value": 1, "abs": 10**400}},
    {"regex": "a" * 1001},
    {"regex": "\ud800"},
    {"x" * 1_000_000: 1},
]


@pytest.mark.parametrize("spec", HOSTILE, ids=lambda spec: str(spec)[:60])
def test_what_could_hold_the_service_is_refused_at_once(spec: dict[str, Any]) -> None:
    started = time.thread_time()
    with pytest.raises(InvalidMatcher) as caught, in_time():
        parse_matcher(spec)
    assert time.thread_time() - started < 1
    assert len(caught.value.message) < 1000


@pytest.mark.parametrize("pattern", ["(a+)+$", "^(a|a)*$", "^([a-f0-9]+)+z$", "(.*a){20}$"])
@pytest.mark.parametrize(
    "spec",
    [
        lambda pattern: {"regex": pattern},
        lambda pattern: {"json_schema": {"pattern": pattern}},
        lambda pattern: {"json_schema": {"allOf": [{"$ref": "#/x"}], "x": {"pattern": pattern}}},
    ],
)
def test_a_hostile_pattern_stays_linear(pattern: str, spec: Callable[[str], dict[str, Any]]) -> None:
    started = time.thread_time()
    assert not parse_matcher(spec(pattern)).match("a" * 5000 + "b").ok
    assert time.thread_time() - started < 1


@pytest.mark.parametrize("keyword", ["patternProperties", "additionalProperties"])
def test_a_hostile_pattern_of_names_stays_linear(keyword: str) -> None:
    schema: dict[str, Any] = {"patternProperties": {"^(a|a)*$": {"type": "number"}}}
    if keyword == "additionalProperties":
        schema[keyword] = False
    started = time.thread_time()
    assert parse_matcher({"json_schema": schema}).match({"a" * 5000: 1}).ok
    assert time.thread_time() - started < 1


def test_an_evaluation_has_a_deadline() -> None:
    wide = {"anyOf": [{"items": {"enum": [[i] * 5 for i in range(20)]}} for _ in range(10)]}
    matcher = parse_matcher({"json_schema": wide})
    with pytest.raises(InvalidMatcher, match="too long"), in_time(0.05):
        matcher.match([[i] for i in range(100_000)])


def test_a_price_is_paid_once_for_all_matchers() -> None:
    costly = {"json_schema": {"anyOf": [{"properties": {f"a{i}": {"type": "number"}}} for i in range(200)]}}
    with pytest.raises(InvalidMatcher, match="too long"), in_time(0.3):
        parse_arguments({str(i): costly for i in range(1000)})


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
