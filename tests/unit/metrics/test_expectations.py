"""Expectations over recorded calls."""

from __future__ import annotations

import re
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from app.console.evaluations import read_expectations
from app.core.errors import InputError
from app.metrics.expectations import Expectations, RecordedCall, Verdict, check_usable, evaluate
from app.metrics.limits import InvalidMatcher


def call(sequence: int, tool: str, ok: bool = True, turn: int = 0, **args: Any) -> RecordedCall:
    return RecordedCall(turn=turn, sequence=sequence, tool_name=tool, args=args, success=ok)


CALLS = [
    call(1, "rules.extract"),
    call(2, "pob.what_if", candidates=40),
    call(3, "pob.what_if", ok=False, candidates=90),
    call(4, "pob.stats", turn=2),
]


def check(calls: list[RecordedCall] | None = None, **wanted: Any) -> Verdict:
    return evaluate(Expectations.model_validate(wanted), CALLS if calls is None else calls)


def test_an_expectation_names_the_calls_that_matched() -> None:
    verdict = check(expect=[{"tool": "pob.what_if", "args": {"candidates": {"range": {"gte": 10}}}}])
    assert verdict.passed
    assert verdict.checks[0].matched == [2]


def test_a_failed_call_satisfies_only_when_asked() -> None:
    big = {"tool": "pob.what_if", "args": {"candidates": {"range": {"gte": 80}}}}
    strict = check(expect=[big])
    assert not strict.passed
    assert "call 3: the call failed" in strict.checks[0].reason
    assert check(expect=[{**big, "require_ok": False}]).passed


def test_tool_names_are_exact_or_a_full_pattern() -> None:
    assert not check(expect=[{"tool": "pob"}]).passed
    assert check(expect=[{"tool": r"/pob\..*/"}]).passed
    assert not check(expect=[{"tool": "/pob/"}]).passed


def test_order() -> None:
    assert check(
        expect=[{"tool": "rules.extract", "order": "in_order"}, {"tool": "pob.stats", "order": "in_order"}]
    ).passed
    assert not check(
        expect=[{"tool": "pob.stats", "order": "in_order"}, {"tool": "rules.extract", "order": "in_order"}]
    ).passed


def test_times_consumes_calls() -> None:
    once = {"tool": "pob.stats", "times": {"min": 1, "max": 1}}
    assert check(expect=[once]).passed
    assert not check(expect=[once, once]).passed
    assert check(expect=[{"tool": "pob.what_if", "require_ok": False, "times": {"min": 2}}]).passed
    assert check(expect=[{"tool": "absent.tool", "times": {"min": 0, "max": 0}}]).passed


def test_required_and_forbidden() -> None:
    verdict = check(
        required_tools=["pob.stats", "llm.plan"],
        forbidden_tools=["pob.load", {"tool": "pob.what_if", "args": {"candidates": {"equals": 90}}}],
    )
    assert [c.passed for c in verdict.checks] == [True, False, True, False]
    assert verdict.score == pytest.approx(0.5)
    assert verdict.checks[3].matched == [3]


@pytest.mark.parametrize(
    ("bounds", "passed"),
    [({"min_calls": 4}, True), ({"min_calls": 5}, False), ({"max_calls": 3}, False), ({"max_rounds": 1}, False)],
)
def test_counts(bounds: dict[str, int], passed: bool) -> None:
    assert check(CALLS, **bounds).passed is passed


@pytest.mark.parametrize(
    "wanted",
    [
        {"min_calls": 0, "max_calls": 0},
        {"forbidden_tools": ["llm.chat"]},
        {"max_rounds": 3},
        {"required_tools": ["x"]},
        {"expect": [{"tool": "x", "times": {"min": 0, "max": 0}}]},
    ],
)
def test_where_nothing_is_recorded_nothing_passes(wanted: dict[str, Any]) -> None:
    verdict = check(calls=[], **wanted)
    assert (verdict.passed, verdict.score) == (False, 0.0)
    assert all("no call is recorded" in one.reason for one in verdict.checks)


def test_a_round_that_is_unknown_is_not_round_zero() -> None:
    unknown = [call(1, "llm.chat"), call(2, "pob.stats")]
    verdict = check(unknown, max_rounds=5)
    assert not verdict.passed
    assert "round is known" in verdict.checks[0].reason
    assert check([*unknown, call(3, "llm.chat", turn=5)], max_rounds=5).passed
    assert not check([*unknown, call(3, "llm.chat", turn=6)], max_rounds=5).passed


def ordered(*tools: str, **times: int) -> list[dict[str, Any]]:
    return [{"tool": tool, "order": "in_order", "times": times or {"min": 1}} for tool in tools]


def sequence(tools: str) -> list[RecordedCall]:
    return [call(number, tool) for number, tool in enumerate(tools, start=1)]


@pytest.mark.parametrize(
    ("tools", "expect", "matched"),
    [
        ("aba", ordered("a", "b", "a"), [[1], [2], [3]]),
        ("aaba", ordered("a", "b", "a"), [[1, 2], [3], [4]]),
        ("aabb", ordered("a", "b", min=2), [[1, 2], [3, 4]]),
        ("aba", ordered("a", "b", "a", min=1, max=1), [[1], [2], [3]]),
        ("abba", ordered("a", "b", min=1), [[1], [2, 3]]),
        ("aab", [*ordered("a"), {"tool": "a", "times": {"min": 1}}, *ordered("b")], [[1], [2], [3]]),
        ("ab", [{"tool": "/a|b/", "times": {"min": 1}}, {"tool": "a", "times": {"min": 1}}], [[2], [1]]),
        (
            "aa",
            [{"tool": "a", "times": {"min": 1, "max": 1}}, {"tool": "a", "times": {"min": 1, "max": 1}}],
            [[1], [2]],
        ),
        ("ab", [*ordered("/a|b/"), {"tool": "a", "times": {"min": 1}}], [[2], [1]]),
    ],
)
def test_calls_are_assigned_and_not_gulped(tools: str, expect: list[dict[str, Any]], matched: list[list[int]]) -> None:
    verdict = check(sequence(tools), expect=expect)
    assert verdict.passed, [one.reason for one in verdict.checks]
    assert [one.matched for one in verdict.checks] == matched


@pytest.mark.parametrize(
    ("tools", "expect", "passed"),
    [
        ("ba", ordered("a", "b"), [True, False]),
        ("aab", ordered("a", "b", min=1, max=1), [False, True]),
        ("aba", ordered("a", "b", min=1, max=1), [False, True]),
        ("aaa", [{"tool": "a", "times": {"max": 1}}, {"tool": "a", "times": {"max": 1}}], [False, True]),
        ("ab", ordered("a", "x", "b"), [True, False, True]),
    ],
)
def test_what_is_too_much_or_out_of_order_fails(tools: str, expect: list[dict[str, Any]], passed: list[bool]) -> None:
    assert [one.passed for one in check(sequence(tools), expect=expect).checks] == passed


def test_an_assignment_is_found_wherever_there_is_one() -> None:
    """Against trying out every assignment, for all sequences of up to five calls."""
    patterns = [("a", 1, 1), ("/a|b/", 1, 2), ("b", 0, 1)]
    expect = [{"tool": tool, "times": {"min": least, "max": most}} for tool, least, most in patterns]
    fits = {"a": (0, 1), "b": (1, 2)}
    for length in range(1, 6):
        for tools in product("ab", repeat=length):
            counts = ([owners.count(i) for i in range(3)] for owners in product(*(fits[tool] for tool in tools)))
            possible = any(all(p[1] <= n <= p[2] for n, p in zip(c, patterns, strict=True)) for c in counts)
            assert check(sequence("".join(tools)), expect=expect).passed is possible, tools


def test_required_tools_may_be_patterns() -> None:
    verdict = check(required_tools=[r"/pob\..*/", r"/llm\..*/"])
    assert [one.passed for one in verdict.checks] == [True, False]
    assert verdict.checks[0].matched == [2, 3, 4]


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"expect": [{"tool": "a"}, {"tool": "b", "args": {"x": {"regex": "["}}}]}, "expect.1.args.x: invalid regex"),
        ({"required_tools": ["a", "/[/"]}, "required_tools.1: invalid regex"),
        ({"forbidden_tools": ["/ /"]}, "forbidden_tools.0: a tool's pattern is blank"),
        ({"expect": [{"tool": "//"}]}, "expect.0: a tool's pattern is blank"),
        (
            {"expect": [{"tool": "a", "args": {"x": {"equals": float("nan")}}}]},
            "x: a matcher has finite numbers, nan",
        ),
        (
            {"expect": [{"tool": "a", "args": {"x": {"range": {"gt": float("inf")}}}}]},
            "x: a matcher has finite numbers, inf",
        ),
        ({"expect": [{"tool": "a", "args": {"x": {"equals": date(2026, 1, 1)}}}]}, "expect.0.args.x: 2026-01-01"),
    ],
)
def test_what_cannot_be_used_is_named_by_its_place(wanted: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidMatcher, match=re.escape(said)):
        check_usable(Expectations.model_validate(wanted))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("max_calls: 3\nmax_calls: 4\n", "line 2: max_calls: is there twice"),
        ('{"max_calls": 3,\n "max_calls": 4}', "line 2: max_calls: is there twice"),
        ("expect:\n  - tool: a\n    args:\n      x: {equals: .nan}\n", "line 4: expect.0.args.x.equals: .nan"),
        ('{"expect": [{"tool": "a",\n"args": {"x": {"equals": NaN}}}]}', "line 2: expect.0.args.x.equals: NaN"),
        ("expect:\n  - tool: a\n    args: {x: {equals: 2026-01-01}}\n", "line 3: expect.0.args.x.equals: 2026-01-01"),
        ("required_tools:\n  - a\n  - /[/\n", "line 3: required_tools.1: invalid regex"),
        ("expect:\n  - tool: a\n    args:\n      x: {regex: '['}\n", "line 4: expect.0.args.x: invalid regex"),
        ("max_calls: -1\n", "line 1: max_calls: Input should be"),
        ("expect:\n  - tool: a\n  - tool: b\n    typo: 1\n", "line 4: expect.1.typo"),
        ("- a\n", "line 1: Input should be"),
        ("a: [\n", "not YAML, nor JSON"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "wanted.yaml"
    file.write_text(text)
    with pytest.raises(InputError, match=re.escape(said)):
        read_expectations(file)


@pytest.mark.parametrize(
    "wanted",
    [
        {},
        {"expect": []},
        {"min_calls": -1},
        {"min_calls": 3, "max_calls": 2},
        {"expect": [{"tool": ""}]},
        {"expect": [{"tool": "x", "times": {"min": 2, "max": 1}}]},
        {"expect": [{"tool": "x", "typo": 1}]},
        {"required_tools": ["a", "  "]},
    ],
)
def test_an_invalid_request_is_refused(wanted: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Expectations.model_validate(wanted)


def test_one_bad_matcher_refuses_the_whole_request() -> None:
    with pytest.raises(InvalidMatcher):
        check(expect=[{"tool": "pob.stats"}, {"tool": "x", "args": {"a": {"regex": "["}}}])
    with pytest.raises(InvalidMatcher):
        check(expect=[{"tool": "/[/"}])
