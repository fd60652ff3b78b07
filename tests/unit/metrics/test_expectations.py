"""Expectations over recorded calls."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from app.metrics.expectations import Expectations, RecordedCall, Verdict, evaluate
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


def test_no_calls_at_all() -> None:
    assert check(calls=[], min_calls=0, max_calls=0).passed
    assert not check(calls=[], required_tools=["x"]).passed


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
