"""Counts, rates and times of a set of tool events, and how sure they are.

Pure, and the same on every run; null wherever there is nothing to divide by.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from itertools import groupby
from math import ceil, inf

from app.metrics.statistics import Interval, wilson
from app.model.base import Model
from app.model.events import Attempt, CacheUse, CallOutcome, ToolKind
from app.telemetry.prometheus import SECONDS

P95_NEEDS = 20
"""Fewer samples than this have no 95th percentile worth showing."""

NO_SOURCE, MIXED = "none", "mixed"
_LOOP = 3
_MILLISECOND = timedelta(milliseconds=1)
_NEVER = inf
_ANSWERED_FROM_CACHE = (CacheUse.HIT, CacheUse.COALESCED)
_CACHE_LOOKUPS = (*_ANSWERED_FROM_CACHE, CacheUse.MISS)


class Figures(Model):
    """What a set of attempts amounts to. Times in milliseconds, rates 0-1, null = no data.

    A call is all attempts with one id; its last attempt decides whether it succeeded. Latencies are those of executed
    attempts that ended ok or in a timeout, by nearest rank. `busy_ms`: length of the union of all intervals;
    `sum_ms`: their sum, `wasted_ms` that of attempts that were not ok, both without calls that only contain others, so
    that those of a run are the sums of its phases, and those of its tools.
    `wall_ms`: from the first start to the last end, of a phase that was entered again summed over its stays; `idle_ms`
    its part without any attempt. `histogram`: attempts of
    the latency sample by upper bound in seconds. `*_interval`: 95 % (Wilson), as if calls did not depend on
    each other; `compare` takes builds as what is drawn. `cached`: attempts answered from the cache. `saved_ms`: what
    making those answers took when they were made, less what they took now, over those of which that is known; null
    when there were some and it is known of none, or when nothing could be looked up.
    `avoidable`: executions of a deterministic call whose answer was known already. `loops`: runs of three or more
    equal calls in a row within one stay in a phase. `useful`: results (one per call, of trials one per candidate) of
    the first good answers to different questions. `cost_usd` is the sum of what is known; `unpriced_calls` are the
    model calls it lacks; `cost_complete` when there are none. `cost_source`: who said what the model calls cost:
    provider, table, config, none, or mixed; null without any. `tokens` by type: input includes what was
    read from or written to the provider's cache, output includes reasoning.
    """

    calls: int
    attempts: int
    retries: int
    ok_calls: int
    incomplete_calls: int
    success_rate: float | None
    success_interval: Interval | None
    first_attempt_success_rate: float | None
    first_attempt_interval: Interval | None
    attempt_yield: float | None
    latency_samples: int
    mean_ms: float | None
    p50_ms: float | None
    p95_ms: float | None
    max_ms: float | None
    histogram: dict[str, int]
    busy_ms: float | None
    wall_ms: float | None
    idle_ms: float | None
    sum_ms: float | None
    wasted_ms: float | None
    concurrency: float | None
    cache_lookups: int
    cache_hit_rate: float | None
    repeat_lookups: int
    repeat_hit_rate: float | None
    cached: int
    saved_ms: float | None
    executed: int
    avoidable: int
    avoidable_ms: float
    loops: int
    useful: int
    tokens: dict[str, int] | None
    cost_usd: str | None
    cost_source: str | None
    unpriced_calls: int
    cost_complete: bool


@dataclass(frozen=True)
class History:
    """What the whole run says about its events: which calls contain others, which answers were known when.

    `ended`: whether the build is finished; until then an unfinished call is neither good nor bad. `spans`: start and
    end of each finished attempt by its number, in milliseconds since the first start. `repeated`: numbers of first
    attempts whose answer was known before they started. `visits`: by number of attempt, the how many-eth stay in a
    phase it belongs to. `looping`: the third attempts of loops. `answers`: attempts that answered a question first.
    """

    parents: frozenset[str]
    spans: dict[int, tuple[float, float]]
    repeated: frozenset[int]
    visits: dict[int, int]
    looping: frozenset[int]
    answers: frozenset[int]
    ended: bool

    @classmethod
    def of(cls, events: Sequence[Attempt], ended: bool) -> History:
        """Read the events of a run."""
        zero = min((event.started_at for event in events), default=None)
        begins = {event.seq: (event.started_at - zero) / _MILLISECOND for event in events if zero is not None}
        spans = {e.seq: (begins[e.seq], begins[e.seq] + e.duration_ms) for e in events if e.duration_ms is not None}
        answers: dict[tuple[str, str], tuple[float, int]] = {}
        for event in events:
            if event.outcome is CallOutcome.OK and event.seq in spans:
                key, end = (event.tool, event.args_sha256), (spans[event.seq][1], event.seq)
                answers[key] = min(end, answers.get(key, end))
        answered = {key: end for key, (end, _) in answers.items()}
        visits = visits_of(events)
        firsts = (event for event in events if event.attempt == 1)
        repeated = (e.seq for e in firsts if answered.get((e.tool, e.args_sha256), _NEVER) <= begins[e.seq])
        parents = (event.parent_call_id for event in events if event.parent_call_id is not None)
        first = frozenset(seq for _, seq in answers.values())
        return cls(
            frozenset(parents), spans, frozenset(repeated), visits, looping_of(events, visits), first, ended=ended
        )

    def repeats(self, event: Attempt) -> bool:
        """Whether the answer to this first attempt was known before it started."""
        return event.seq in self.repeated


def visits_of(events: Sequence[Attempt]) -> dict[int, int]:
    """Return which stay in a phase, counted over the run, each attempt belongs to; phases follow each other."""
    ordered = sorted(events, key=lambda event: event.seq)
    stays = enumerate(groupby(ordered, key=lambda event: event.phase))
    return {event.seq: number for number, (_, inside) in stays for event in inside}


def looping_of(events: Sequence[Attempt], visits: Mapping[int, int]) -> frozenset[int]:
    """Return of each loop the third attempt: a maximal run of three or more equal calls within one stay in a phase."""
    found, length, last = set(), 0, None
    for event in sorted(events, key=lambda event: event.seq):
        if event.attempt == 1:
            key = (visits[event.seq], event.tool, event.args_sha256)
            length = length + 1 if key == last else 1
            last = key
            if length == _LOOP:
                found.add(event.seq)
    return frozenset(found)


def figures(events: Sequence[Attempt], history: History) -> Figures:
    """Return the figures of some events of a run."""
    executed = [event for event in events if is_executed(event)]
    known_usd = [Decimal(event.cost_usd) for event in events if event.cost_usd is not None]
    unpriced = {e.call_id for e in events if e.kind is ToolKind.LLM and e.cost_usd is None and is_executed(e)}
    used = [event.usage for event in events if event.usage is not None]
    kinds = sorted({kind for usage in used for kind in usage})
    return Figures.model_validate(
        {
            **_calls(events, history),
            **_times(events, executed, history),
            **_cache(events, executed, history),
            "tokens": {kind: sum(usage.get(kind, 0) for usage in used) for kind in kinds} if used else None,
            "cost_usd": str(sum(known_usd, Decimal())) if known_usd else None,
            "cost_source": cost_source(event for event in events if event.kind is ToolKind.LLM and is_executed(event)),
            "unpriced_calls": len(unpriced),
            "cost_complete": not unpriced,
        }
    )


def cost_source(requests: Iterable[Attempt]) -> str | None:
    """Return who said what they cost: the one source of all of them, `mixed`, or None of nothing."""
    sources = {event.cost_source if event.cost_usd is not None else NO_SOURCE for event in requests}
    return next(iter(sources)) if len(sources) == 1 else MIXED if sources else None


def is_executed(event: Attempt) -> bool:
    """Whether the attempt really ran to some end: not answered from a cache, not rejected, not unfinished."""
    if event.duration_ms is None or event.outcome is CallOutcome.REJECTED:
        return False
    return event.cache not in _ANSWERED_FROM_CACHE


def rate(part: float, whole: float) -> float | None:
    """Return part / whole, None of nothing."""
    return part / whole if whole else None


def nearest_rank(ordered: Sequence[float], quantile: float) -> float | None:
    """Return the quantile of sorted values by nearest rank, None of nothing."""
    return ordered[ceil(quantile * len(ordered)) - 1] if ordered else None


def union_ms(spans: Iterable[tuple[float, float]]) -> float:
    """Return the length of the union of intervals."""
    total, reach = 0.0, -_NEVER
    for start, end in sorted(spans):
        if end > reach:
            total += end - (start if start > reach else reach)
            reach = end
    return total


def _calls(events: Sequence[Attempt], history: History) -> dict[str, object]:
    ended = history.ended
    finals: dict[str, Attempt] = {}
    for event in events:
        if event.call_id not in finals or finals[event.call_id].attempt < event.attempt:
            finals[event.call_id] = event
    outcomes = [event.outcome for event in finals.values()]
    unfinished = outcomes.count(CallOutcome.INCOMPLETE)
    judged = len(finals) - (0 if ended else unfinished)
    first_ok = sum(1 for event in events if event.attempt == 1 and event.outcome is CallOutcome.OK)
    ok_calls = outcomes.count(CallOutcome.OK)
    return {
        "calls": len(finals),
        "attempts": len(events),
        "retries": len(events) - len(finals),
        "ok_calls": ok_calls,
        "incomplete_calls": unfinished,
        "success_rate": rate(ok_calls, judged),
        "success_interval": wilson(ok_calls, judged),
        "first_attempt_success_rate": rate(first_ok, judged),
        "first_attempt_interval": wilson(first_ok, judged),
        "attempt_yield": rate(ok_calls, len(events) - (0 if ended else unfinished)),
        "loops": sum(event.seq in history.looping for event in events),
        "useful": sum(event.results or 1 for event in events if event.seq in history.answers),
    }


def _times(events: Sequence[Attempt], executed: Sequence[Attempt], history: History) -> dict[str, object]:
    counted = (CallOutcome.OK, CallOutcome.TIMEOUT)
    sample = sorted(e.duration_ms or 0.0 for e in executed if e.outcome in counted)
    reached = [bisect_right(sample, bound * 1000) for bound in SECONDS]
    buckets = [high - low for low, high in zip([0, *reached], [*reached, len(sample)], strict=True)]
    latencies = {
        "latency_samples": len(sample),
        "mean_ms": rate(sum(sample), len(sample)),
        "p50_ms": nearest_rank(sample, 0.5),
        "p95_ms": nearest_rank(sample, 0.95) if len(sample) >= P95_NEEDS else None,
        "max_ms": sample[-1] if sample else None,
        "histogram": dict(zip([*map(str, SECONDS), "+Inf"], buckets, strict=True)),
    }
    timed = [e for e in events if e.duration_ms is not None]
    if not timed:
        return {**latencies, **dict.fromkeys(("busy_ms", "wall_ms", "idle_ms", "sum_ms", "wasted_ms", "concurrency"))}
    summed = [e for e in timed if e.call_id not in history.parents]
    spans = [history.spans[e.seq] for e in timed]
    busy, wall = union_ms(spans), wall_ms(timed, history)
    leaves_busy = busy if len(summed) == len(timed) else union_ms(history.spans[e.seq] for e in summed)
    total = sum(e.duration_ms or 0.0 for e in summed)
    return {
        **latencies,
        "busy_ms": busy,
        "wall_ms": wall,
        "idle_ms": wall - busy,
        "sum_ms": total,
        "wasted_ms": sum(e.duration_ms or 0.0 for e in summed if e.outcome is not CallOutcome.OK),
        "concurrency": rate(total, leaves_busy),
    }


def wall_ms(timed: Sequence[Attempt], history: History) -> float:
    """Return the time from the first start to the last end; of one phase alone, the sum over its stays in it."""
    stays: dict[int, list[tuple[float, float]]] = {}
    is_phase = len({event.phase for event in timed}) == 1
    for event in timed:
        stays.setdefault(history.visits[event.seq] if is_phase else 0, []).append(history.spans[event.seq])
    return sum(max(end for _, end in spans) - min(start for start, _ in spans) for spans in stays.values())


def _cache(events: Sequence[Attempt], executed: Sequence[Attempt], history: History) -> dict[str, object]:
    lookups = [e for e in events if e.cache in _CACHE_LOOKUPS]
    repeats = [e for e in lookups if history.repeats(e)]
    avoidable = [e for e in executed if e.cache is not CacheUse.UNCACHEABLE and history.repeats(e)]
    answered = [e for e in events if e.cache in _ANSWERED_FROM_CACHE]
    saved = [max(0.0, e.original_ms - (e.duration_ms or 0.0)) for e in answered if e.original_ms is not None]
    return {
        "cache_lookups": len(lookups),
        "cache_hit_rate": rate(len(answered), len(lookups)),
        "repeat_lookups": len(repeats),
        "repeat_hit_rate": rate(sum(1 for e in repeats if e.cache in _ANSWERED_FROM_CACHE), len(repeats)),
        "cached": len(answered),
        "saved_ms": sum(saved) if saved or (lookups and not answered) else None,
        "executed": len(executed),
        "avoidable": len(avoidable),
        "avoidable_ms": sum(e.duration_ms or 0.0 for e in avoidable),
    }
