"""What this process counted of calls, builds and requests, for Prometheus. Labels never name a build or a call."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from app import __version__
from app.core.clock import Clock, SystemClock
from app.model.events import CacheUse, CallOutcome, ToolEvent, ToolKind
from app.model.names import Phase
from app.model.record import BuildRecord

PREFIX = "buildwright_"
SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 163.84, 327.68)
"""OpenTelemetry's buckets for tool durations, and two more for long searches."""

BUILD_SECONDS = (1, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200)
"""OpenTelemetry's buckets for whole workflows."""

HELP = {
    "tool_calls_total": "Calls by the outcome of their last attempt.",
    "tool_attempts_total": "Attempts of calls, answers from the cache and rejected ones included.",
    "tool_duration_seconds": "What executed attempts took; answers from the cache are in tool_cached_seconds.",
    "tool_cached_seconds": "What answers from the cache took.",
    "tool_queue_seconds": "How long attempts waited, for example for a free engine.",
    "tool_cache_requests_total": "First attempts by what the cache had.",
    "tool_inflight": "Attempts under way.",
    "llm_tokens_total": "Tokens of language models; input includes cached parts, output includes reasoning.",
    "llm_uncached_input_tokens_total": "Input tokens that came from no cache and went into none.",
    "llm_unpriced_calls_total": "Good requests to language models whose cost nobody knows.",
    "llm_cost_usd_total": "Known cost of language models in USD, by who said it.",
    "quota_rejections_total": "Attempts that a quota did not allow, by its name.",
    "runs_total": "Builds that ended.",
    "build_duration_seconds": "From the request of a build to its end.",
    "phase_duration_seconds": "One stay of a build in a phase.",
    "info": "The version that runs.",
    "http_requests_total": "Answered requests.",
    "http_request_seconds_total": "Seconds that answering took.",
    "http_request_duration_seconds": "What answering a request took.",
}
TOKENS = ("input", "cache_read", "cache_write", "output", "reasoning")
Labels = tuple[tuple[str, str], ...]
Route = tuple[str, str, int]
"""Method, route template and status of an answer."""

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


class _Histogram:
    """How many values lie under each bound, by labels."""

    def __init__(self, bounds: Sequence[float] = SECONDS) -> None:
        self._bounds = bounds
        self._series: dict[Labels, tuple[list[int], list[float]]] = {}

    def add(self, labels: Labels, seconds: float) -> None:
        """Count a value."""
        if labels not in self._series:
            self._series[labels] = [0] * (len(self._bounds) + 1), [0.0]
        counts, total = self._series[labels]
        counts[bisect_left(self._bounds, seconds)] += 1
        total[0] += seconds

    def lines(self, name: str) -> Iterator[str]:
        """Yield its lines of the Prometheus text."""
        yield from _head(name, "histogram")
        for labels, (counts, total) in sorted(self._series.items(), key=lambda entry: entry[0]):
            below = 0
            for bound, count in zip((*map(str, self._bounds), "+Inf"), counts, strict=True):
                below += count
                yield f"{PREFIX}{name}_bucket{_text((*labels, ('le', bound)))} {below}"
            yield f"{PREFIX}{name}_sum{_text(labels)} {total[0]:.6f}"
            yield f"{PREFIX}{name}_count{_text(labels)} {below}"


class ToolCounts:
    """Counters, histograms and gauges since the process started; implements `Tracing`.

    Tokens by type: `input` includes `cache_read` and `cache_write`, `output` includes `reasoning`, so sums over all
    types count tokens twice; `llm_uncached_input_tokens_total` is what is left of the input.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._counters: defaultdict[str, Counter[Labels]] = defaultdict(Counter)
        self._usd: dict[Labels, float] = {}
        self._inflight: Counter[Labels] = Counter()
        self._histograms = {
            "tool_duration_seconds": _Histogram(),
            "tool_cached_seconds": _Histogram(),
            "tool_queue_seconds": _Histogram(),
            "phase_duration_seconds": _Histogram(BUILD_SECONDS),
            "build_duration_seconds": _Histogram(BUILD_SECONDS),
        }
        self._stays: dict[tuple[str, int], tuple[Phase, float]] = {}

    def taken_up(self, record: BuildRecord) -> None:
        """Count nothing yet: the phase begins with its first step."""

    def stepping(self, record: BuildRecord) -> None:
        """Begin a stay in a phase; the one before ends."""
        claim, phase = (record.id, record.epoch), record.state.phase
        if self._stays.get(claim, (None,))[0] is not phase:
            self._leave(claim)
            self._stays[claim] = (phase, self._clock.monotonic_ms())

    def put_down(self, record: BuildRecord) -> None:
        """End the stay in the phase."""
        self._leave((record.id, record.epoch))

    def _leave(self, claim: tuple[str, int]) -> None:
        if (stay := self._stays.pop(claim, None)) is not None:
            seconds = (self._clock.monotonic_ms() - stay[1]) / 1000
            self._histograms["phase_duration_seconds"].add(_labels(phase=stay[0].value), seconds)

    def started(self, event: ToolEvent) -> None:
        """Count an attempt under way."""
        self._inflight[_labels(tool=event.tool)] += 1

    def finished(self, event: ToolEvent, last: bool) -> None:
        """Count the end of an attempt that was started."""
        self._inflight[_labels(tool=event.tool)] -= 1
        self.recorded(event, last)

    def recorded(self, event: ToolEvent, last: bool) -> None:
        """Count an attempt, and with the last one its call."""
        attempts, calls, lookups, about = _labels_of(event.tool, event.kind, event.phase, event.outcome, event.cache)
        self._counters["tool_attempts_total"][attempts] += 1
        if last:
            self._counters["tool_calls_total"][calls] += 1
        if event.attempt == 1 and event.cache is not CacheUse.UNCACHEABLE:
            self._counters["tool_cache_requests_total"][lookups] += 1
        if event.outcome is CallOutcome.REJECTED:
            self._add("quota_rejections_total", scope=event.error_type or "other")
        if event.duration_ms is not None and event.outcome is not CallOutcome.REJECTED:
            answered = event.cache in (CacheUse.HIT, CacheUse.COALESCED)
            name = "tool_cached_seconds" if answered else "tool_duration_seconds"
            self._histograms[name].add(about, event.duration_ms / 1000)
        if event.queue_ms is not None:
            self._histograms["tool_queue_seconds"].add(about, event.queue_ms / 1000)
        if event.kind is ToolKind.LLM:
            self._add_llm(event)

    def ended(self, record: BuildRecord) -> None:
        """Count a build that ended: by its outcome where it has one, else by its status."""
        result = record.state.outcome.value if record.state.outcome else record.status.value
        self._add("runs_total", mode=record.request.mode.value, result=result)
        seconds = (record.updated_at - record.created_at).total_seconds()
        about = _labels(mode=record.request.mode.value, result=result)
        self._histograms["build_duration_seconds"].add(about, seconds)

    def exposition(self) -> str:
        """Return the Prometheus text format (version 0.0.4)."""
        lines: list[str] = []
        for name in sorted(self._counters):
            lines += [*_head(name, "counter"), *_rows(name, self._counters[name])]
        lines += [*_head("llm_cost_usd_total", "counter"), *_rows("llm_cost_usd_total", self._usd)]
        lines += [*_head("tool_inflight", "gauge"), *_rows("tool_inflight", self._inflight)]
        for name, histogram in self._histograms.items():
            lines += histogram.lines(name)
        return "\n".join(lines) + "\n"

    def _add(self, name: str, amount: int = 1, **labels: str) -> None:
        self._counters[name][_labels(**labels)] += amount

    def _add_llm(self, event: ToolEvent) -> None:
        model = event.tool_version
        if event.usage is not None:
            for kind in TOKENS:
                self._add("llm_tokens_total", event.usage.get(kind, 0), model=model, type=kind)
            cached = event.usage.get("cache_read", 0) + event.usage.get("cache_write", 0)
            self._add("llm_uncached_input_tokens_total", max(0, event.usage.get("input", 0) - cached), model=model)
        if event.cost_usd is not None:
            labels = _labels(model=model, source=event.cost_source)
            self._usd[labels] = self._usd.get(labels, 0.0) + float(event.cost_usd)
        elif event.outcome is CallOutcome.OK:
            self._add("llm_unpriced_calls_total", model=model)


def _labels(**labels: str) -> Labels:
    return tuple(labels.items())


@lru_cache(maxsize=1024)
def _labels_of(
    tool: str, kind: ToolKind, phase: Phase, outcome: CallOutcome, cache: CacheUse
) -> tuple[Labels, Labels, Labels, Labels]:
    """Return the labels of attempts, calls, looking up answers, and durations; every event has them, few differ."""
    return (
        _labels(tool=tool, outcome=outcome.value),
        _labels(tool=tool, kind=kind.value, phase=phase.value, outcome=outcome.value),
        _labels(tool=tool, result=cache.value),
        _labels(tool=tool, phase=phase.value),
    )


def _rows(name: str, series: Mapping[Labels, float]) -> Iterator[str]:
    for labels, value in sorted(series.items()):
        yield f"{PREFIX}{name}{_text(labels)} {value:.10g}"


def _head(name: str, kind: str) -> tuple[str, str]:
    return f"# HELP {PREFIX}{name} {HELP[name]}", f"# TYPE {PREFIX}{name} {kind}"


def _text(labels: Labels) -> str:
    """Return labels in braces; in their values backslash, quote and line end are escaped."""
    escaped = ((name, value.translate(_ESCAPES)) for name, value in labels)
    return "{" + ",".join(f'{name}="{value}"' for name, value in escaped) + "}" if labels else ""


class RequestCounts:
    """Requests and seconds by method, route and status, since the process started; durations by method and route."""

    def __init__(self) -> None:
        self.requests: Counter[Route] = Counter()
        self.seconds: dict[Route, float] = {}
        self._durations = _Histogram()

    def add(self, series: Route, seconds: float) -> None:
        """Count one answer."""
        self.requests[series] += 1
        self.seconds[series] = self.seconds.get(series, 0.0) + seconds
        self._durations.add(_labels(method=series[0], route=series[1]), seconds)

    def exposition(self) -> str:
        """Return the Prometheus text format (version 0.0.4)."""
        requests, seconds = ({_route(s): n for s, n in found.items()} for found in (self.requests, self.seconds))
        lines = [*_head("info", "gauge"), f'{PREFIX}info{{version="{__version__}"}} 1']
        lines += [*_head("http_requests_total", "counter"), *_rows("http_requests_total", requests)]
        lines += [*_head("http_request_seconds_total", "counter"), *_rows("http_request_seconds_total", seconds)]
        return "\n".join([*lines, *self._durations.lines("http_request_duration_seconds")]) + "\n"


def _route(series: Route) -> Labels:
    method, route, status = series
    return _labels(method=method, route=route, status=str(status))
