"""Expectations: what the recorded calls of a build must and must not show.

Evaluated on persisted calls only, within a bounded time. `expect` entries are independent unless they say
`order: in_order` (each must match after the previous in-order one) or `times` (then a call counts for one expectation
only). Where nothing is recorded nothing is known, and what is not known does not pass.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, Field, StrictBool, model_validator

from app.metrics.assignment import Claimant, assign
from app.metrics.limits import InvalidMatcher, check_time, compile_pattern, in_time, placed
from app.metrics.matchers import Match, Matcher, parse_matcher
from app.model.base import Model, changed

_MISSING: Final = object()


def parse_arguments(specs: Mapping[str, object]) -> dict[str, Matcher]:
    """Make one matcher per key.

    Raises:
        InvalidMatcher: one of them is unusable.
    """
    matchers = {}
    for key, spec in specs.items():
        check_time()
        with placed(str(key)):
            matchers[str(key)] = parse_matcher(spec)
    return matchers


def match_arguments(matchers: Mapping[str, Matcher], arguments: object) -> Match:
    """Compare all keys in sorted order; every failure is named, joined by "; "."""
    failures = []
    for key, matcher in sorted(matchers.items()):
        check_time()
        value = lookup(arguments, key)
        missing = Match(matcher.wants_absence, "not present on the call")
        found = missing if is_missing(value) else matcher.match(value)
        if not found.ok:
            failures.append(f"{key}: {found.reason}")
    return Match(not failures, "; ".join(failures) or "all arguments match")


def lookup(arguments: object, key: str) -> Any:
    """Return the value under the key, or a marker that `is_missing` knows; a key with a slash is a JSON Pointer."""
    if not key.startswith("/"):
        return arguments.get(key, _MISSING) if isinstance(arguments, Mapping) else _MISSING
    value: Any = arguments
    for part in (raw.replace("~1", "/").replace("~0", "~") for raw in key[1:].split("/")):
        # RFC 6901: decimal digits without leading zeros; bounded so that no huge number is parsed.
        is_index = part.isascii() and part.isdigit() and len(part) <= 9 and (part == "0" or part[0] != "0")
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list) and is_index and int(part) < len(value):
            value = value[int(part)]
        else:
            return _MISSING
    return value


def is_missing(value: object) -> bool:
    """Whether `lookup` found nothing (null is something)."""
    return value is _MISSING


def _named(tool: str) -> str:
    if not tool.strip():
        raise ValueError("a tool name is blank")
    return tool


ToolName = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_named)]
Count = Annotated[int, Field(ge=0, le=1_000_000_000, strict=True)]
Arguments = Annotated[dict[str, Any], Field(max_length=50)]


class RecordedCall(Model):
    """One logical call, as `view=calls` shows it; `turn` is the tool round, 0 = unknown."""

    turn: int
    sequence: int
    tool_name: str
    args: Any = None
    success: bool


class Times(Model):
    """How many calls must match."""

    min: Count = 1
    max: Count | None = None

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.max is not None and self.max < self.min:
            raise ValueError("times.max is below times.min")
        return self


class Expectation(Model):
    """A call that must be there: `tool` is an exact name or `/regex/` over the whole name."""

    tool: ToolName
    args: Arguments = Field(default_factory=dict)
    require_ok: StrictBool = True
    times: Times | None = None
    order: Literal["any", "in_order"] = "any"


class Forbidden(Model):
    """A call that must not be there, whatever its outcome."""

    tool: ToolName
    args: Arguments = Field(default_factory=dict)


class Expectations(Model):
    """A whole request; at least one constraint must be given. Tools are exact names, or `/regex/` over whole names."""

    expect: list[Expectation] = Field(default_factory=list, max_length=200)
    required_tools: list[ToolName] = Field(default_factory=list, max_length=200)
    forbidden_tools: list[ToolName | Forbidden] = Field(default_factory=list, max_length=200)
    min_calls: Count | None = None
    max_calls: Count | None = None
    max_rounds: Count | None = None

    @model_validator(mode="after")
    def _has_constraints(self) -> Self:
        bounds = (self.min_calls, self.max_calls, self.max_rounds)
        if not (self.expect or self.required_tools or self.forbidden_tools or any(b is not None for b in bounds)):
            raise ValueError("give at least one constraint")
        if self.min_calls is not None and self.max_calls is not None and self.max_calls < self.min_calls:
            raise ValueError("max_calls is below min_calls")
        return self


class Check(Model):
    """One constraint's verdict; `matched` lists sequences of the calls that fulfilled (or broke) it."""

    name: str
    passed: bool
    reason: str
    matched: list[int] = Field(default_factory=list)


class Verdict(Model):
    """All checks; `score` is the share that passed."""

    passed: bool
    score: float
    checks: list[Check]


def check_usable(wanted: Expectations) -> None:
    """Return when everything in the request can be evaluated.

    Raises:
        InvalidMatcher, InputError: a matcher or tool name is unusable, or making all of them takes too long.
    """
    with in_time():
        _finders(wanted)


def evaluate(wanted: Expectations, calls: Sequence[RecordedCall]) -> Verdict:
    """Check the calls.

    Raises:
        InvalidMatcher: a matcher or tool pattern is unusable, or the evaluation takes too long.
    """
    with in_time():
        return _evaluated(wanted, calls)


NO_CALLS = "no call is recorded, so nothing is known"
NO_ROUNDS = "of no recorded call the round is known"


def _evaluated(wanted: Expectations, calls: Sequence[RecordedCall]) -> Verdict:
    finders = _finders(wanted)
    checks = _check_expected(wanted.expect, finders.expected, calls)
    for name, find in finders.required:
        matched = [call.sequence for call in calls if find(call)[0]]
        reason = f"called {len(matched)} times" if matched else "never called"
        checks.append(Check(name=f"required {name}", passed=bool(matched), reason=reason, matched=matched))
    for name, find in finders.forbidden:
        matched = [call.sequence for call in calls if find(call)[0]]
        reason = f"called by {matched}" if matched else "never called"
        checks.append(Check(name=f"forbidden {name}", passed=not matched, reason=reason, matched=matched))
    checks += _check_bounds(wanted, calls)
    if not calls:
        checks = [changed(check, passed=False, reason=NO_CALLS) for check in checks]
    passed = sum(check.passed for check in checks)
    return Verdict(passed=passed == len(checks), score=passed / len(checks), checks=checks)


def _check_bounds(wanted: Expectations, calls: Sequence[RecordedCall]) -> list[Check]:
    rounds = max((call.turn for call in calls), default=0) or None
    bounds: list[tuple[str, int | None, int | None, Callable[[int, int], bool]]] = [
        ("min_calls", wanted.min_calls, len(calls), operator.ge),
        ("max_calls", wanted.max_calls, len(calls), operator.le),
        ("max_rounds", wanted.max_rounds, rounds, operator.le),
    ]
    return [
        Check(name=name, passed=False, reason=f"{NO_ROUNDS}, bound {bound}")
        if have is None
        else Check(name=name, passed=fits(have, bound), reason=f"{have} recorded, bound {bound}")
        for name, bound, have, fits in bounds
        if bound is not None
    ]


Finder = Callable[[RecordedCall], tuple[bool, str]]


@dataclass(frozen=True)
class _Finders:
    """What finds the calls of each expectation, and with its name of each required and forbidden tool."""

    expected: list[Finder]
    required: list[tuple[str, Finder]]
    forbidden: list[tuple[str, Finder]]


def _finders(wanted: Expectations) -> _Finders:
    found = _Finders([], [], [])
    for number, item in enumerate(wanted.expect):
        with placed(f"expect.{number}"):
            found.expected.append(_finder(item.tool, item.args, item.require_ok))
    for number, name in enumerate(wanted.required_tools):
        with placed(f"required_tools.{number}"):
            found.required.append((name, _finder(name, {}, require_ok=False)))
    for number, one in enumerate(wanted.forbidden_tools):
        with placed(f"forbidden_tools.{number}"):
            found.forbidden.append(_forbidden_finder(one))
    return found


def _finder(tool: str, args: dict[str, Any], require_ok: bool) -> Finder:
    """Return what tells whether a call is the one, and why not when only its arguments are wrong."""
    pattern = _pattern(tool)
    with placed("args"):
        matchers = parse_arguments(args)

    def find(call: RecordedCall) -> tuple[bool, str]:
        check_time()
        name = call.tool_name
        if name != tool if pattern is None else pattern.fullmatch(name) is None:
            return False, ""
        found = match_arguments(matchers, call.args)
        if found.ok and require_ok and not call.success:
            return False, "the call failed"
        return found.ok, found.reason

    return find


def _pattern(tool: str) -> Any:
    """Return the compiled pattern, None of an exact name.

    Raises:
        InvalidMatcher: the pattern is blank, or is none.
    """
    if not (len(tool) > 1 and tool.startswith("/") and tool.endswith("/")):
        return None
    if not tool[1:-1].strip():
        raise InvalidMatcher("a tool's pattern is blank")
    return compile_pattern(tool[1:-1])


def _forbidden_finder(item: str | Forbidden) -> tuple[str, Finder]:
    forbidden = Forbidden(tool=item) if isinstance(item, str) else item
    return forbidden.tool, _finder(forbidden.tool, forbidden.args, require_ok=False)


def _check_expected(
    wanted: Sequence[Expectation], finders: Sequence[Finder], calls: Sequence[RecordedCall]
) -> list[Check]:
    verdicts = [[(call.sequence, *find(call)) for call in calls] for find in finders]
    demands = []
    for item, found in zip(wanted, verdicts, strict=True):
        times = item.times or Times()
        matches = [sequence for sequence, ok, _ in found if ok]
        in_order, consumes = item.order == "in_order", item.times is not None
        demands.append(Claimant(matches, times.min, times.max, in_order=in_order, consumes=consumes))
    assign(demands)
    checks = []
    for item, demand, found in zip(wanted, demands, verdicts, strict=True):
        most = demand.most if demand.most is not None else "any"
        told = f"{len(demand.taken)} matching calls, wanted {demand.least} to {most}"
        if len(demand.matches) > len(demand.taken):
            told += f"; {len(demand.matches) - len(demand.taken)} more count for others or come out of order"
        reasons = [f"call {sequence}: {reason}" for sequence, ok, reason in found if not ok and reason]
        reason = told if demand.matches or not reasons else f"{told}; {'; '.join(reasons[:5])}"
        checks.append(Check(name=f"expect {item.tool}", passed=demand.is_met, reason=reason, matched=demand.taken))
    return checks
