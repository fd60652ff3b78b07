"""What this process counted of calls, builds and requests, for Prometheus. Labels never name a build or a call."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping

from app import __version__
from app.model.events import CacheUse, CallOutcome, ToolEvent, ToolKind
from app.model.record import BuildRecord

PREFIX = "buildwright_"
SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 163.84, 327.68)
"""OpenTelemetry's buckets for tool durations, and two more for long searches."""

TOKENS = ("input", "cache_read", "cache_write", "output", "reasoning")
Labels = tuple[tuple[str, str], ...]
Route = tuple[str, str, int]
"""Method, route template and status of an answer."""

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


class _Histogram:
    def __init__(self) -> None:
        self.counts = [0] * (len(SECONDS) + 1)
        self.total = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(SECONDS, seconds)] += 1
        self.total += seconds


class ToolCounts:
    """Counters, histograms and gauges since the process started; an `Observer`.

    Tokens by type: `input` includes `cache_read` and `cache_write`, `output` includes `reasoning`, so sums over all
    types count tokens twice; `llm_uncached_input_tokens_total` is what is left of the input.
    """

    def __init__(self) -> None:
        self._counters: dict[str, Counter[Labels]] = {}
        self._usd: dict[Labels, float] = {}
        self._seconds: dict[Labels, _Histogram] = {}
        self._queued: dict[Labels, _Histogram] = {}
        self._inflight: Counter[Labels] = Counter()

    def started(self, event: ToolEvent) -> None:
        """Count an attempt under way."""
        self._inflight[_labels(tool=event.tool)] += 1

    def finished(self, event: ToolEvent, last: bool) -> None:
        """Count the end of an attempt that was started."""
        self._inflight[_labels(tool=event.tool)] -= 1
        self.recorded(event, last)

    def recorded(self, event: ToolEvent, last: bool) -> None:
        """Count an attempt, and with the last one its call."""
        tool, outcome = event.tool, event.outcome.value
        self._add("tool_attempts_total", tool=tool, outcome=outcome)
        if last:
            phase = event.phase.value
            self._add("tool_calls_total", tool=tool, kind=event.kind.value, phase=phase, outcome=outcome)
        if event.attempt == 1 and event.cache is not CacheUse.UNCACHEABLE:
            self._add("tool_cache_requests_total", tool=tool, result=event.cache.value)
        if event.outcome is CallOutcome.REJECTED:
            self._add("quota_rejections_total", scope=event.error_type or "other")
        about = _labels(tool=tool, phase=event.phase.value)
        if event.duration_ms is not None and event.outcome is not CallOutcome.REJECTED:
            self._seconds.setdefault(about, _Histogram()).add(event.duration_ms / 1000)
        if event.queue_ms is not None:
            self._queued.setdefault(about, _Histogram()).add(event.queue_ms / 1000)
        if event.kind is ToolKind.LLM:
            self._add_llm(event)

    def ended(self, record: BuildRecord) -> None:
        """Count a build that ended: by its outcome where it has one, else by its status."""
        result = record.state.outcome.value if record.state.outcome else record.status.value
        self._add("runs_total", mode=record.request.mode.value, result=result)

    def exposition(self) -> str:
        """Return the Prometheus text format (version 0.0.4)."""
        lines: list[str] = []
        for name in sorted(self._counters):
            lines += [f"# TYPE {PREFIX}{name} counter", *_rows(name, self._counters[name])]
        lines += [f"# TYPE {PREFIX}llm_cost_usd_total counter", *_rows("llm_cost_usd_total", self._usd)]
        lines += [f"# TYPE {PREFIX}tool_inflight gauge", *_rows("tool_inflight", self._inflight)]
        for name, histograms in (("tool_duration_seconds", self._seconds), ("tool_queue_seconds", self._queued)):
            lines += [f"# TYPE {PREFIX}{name} histogram", *_histogram_rows(name, histograms)]
        return "\n".join(lines) + "\n"

    def _add(self, name: str, amount: int = 1, **labels: str) -> None:
        self._counters.setdefault(name, Counter())[_labels(**labels)] += amount

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


def _rows(name: str, series: Mapping[Labels, float]) -> Iterator[str]:
    for labels, value in sorted(series.items()):
        yield f"{PREFIX}{name}{_text(labels)} {value:.10g}"


def _histogram_rows(name: str, series: Mapping[Labels, _Histogram]) -> Iterator[str]:
    for labels, found in sorted(series.items(), key=lambda entry: entry[0]):
        below = 0
        for bound, count in zip((*map(str, SECONDS), "+Inf"), found.counts, strict=True):
            below += count
            yield f"{PREFIX}{name}_bucket{_text((*labels, ('le', bound)))} {below}"
        yield f"{PREFIX}{name}_sum{_text(labels)} {found.total:.6f}"
        yield f"{PREFIX}{name}_count{_text(labels)} {below}"


def _text(labels: Labels) -> str:
    """Return labels in braces; in their values backslash, quote and line end are escaped."""
    escaped = ((name, value.translate(_ESCAPES)) for name, value in labels)
    return "{" + ",".join(f'{name}="{value}"' for name, value in escaped) + "}" if labels else ""


class RequestCounts:
    """Requests and seconds by method, route and status, since the process started."""

    def __init__(self) -> None:
        self.requests: Counter[Route] = Counter()
        self.seconds: dict[Route, float] = {}

    def add(self, series: Route, seconds: float) -> None:
        """Count one answer."""
        self.requests[series] += 1
        self.seconds[series] = self.seconds.get(series, 0.0) + seconds

    def exposition(self) -> str:
        """Return the Prometheus text format (version 0.0.4)."""
        lines = ["# TYPE buildwright_info gauge", f'buildwright_info{{version="{__version__}"}} 1']
        lines.append("# TYPE buildwright_http_requests_total counter")
        lines += [f"buildwright_http_requests_total{_route_labels(s)} {n}" for s, n in sorted(self.requests.items())]
        lines.append("# TYPE buildwright_http_request_seconds_total counter")
        lines += [
            f"buildwright_http_request_seconds_total{_route_labels(s)} {t:.6f}" for s, t in sorted(self.seconds.items())
        ]
        return "\n".join(lines) + "\n"


def _route_labels(series: Route) -> str:
    method, route, status = series
    return f'{{method="{method}",route="{route}",status="{status}"}}'
