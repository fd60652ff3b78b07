"""Counting requests for Prometheus: what this process answered, and how long it took."""

from __future__ import annotations

import time
from collections import Counter

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app import __version__
from app.api.deps import ServicesDep

router = APIRouter(tags=["health"])
Series = tuple[str, str, int]


class RequestCounts:
    """Requests and seconds by method, route and status, since the process started."""

    def __init__(self) -> None:
        self.requests: Counter[Series] = Counter()
        self.seconds: dict[Series, float] = {}

    def add(self, series: Series, seconds: float) -> None:
        """Count one answer."""
        self.requests[series] += 1
        self.seconds[series] = self.seconds.get(series, 0.0) + seconds

    def exposition(self) -> str:
        """Return the Prometheus text format (version 0.0.4)."""
        lines = ["# TYPE buildwright_info gauge", f'buildwright_info{{version="{__version__}"}} 1']
        lines.append("# TYPE buildwright_http_requests_total counter")
        lines += [f"buildwright_http_requests_total{_labels(s)} {n}" for s, n in sorted(self.requests.items())]
        lines.append("# TYPE buildwright_http_request_seconds_total counter")
        lines += [
            f"buildwright_http_request_seconds_total{_labels(s)} {t:.6f}" for s, t in sorted(self.seconds.items())
        ]
        return "\n".join(lines) + "\n"


class CountRequests:
    """ASGI middleware that counts answers by route template, so that ids never become labels."""

    def __init__(self, app: ASGIApp, counts: RequestCounts) -> None:
        self._app = app
        self._counts = counts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and count its answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, start = 500, time.monotonic()

        async def noting(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            route = getattr(scope.get("route"), "path", "other")
            self._counts.add((scope["method"], route, status), time.monotonic() - start)


@router.get("/metrics", response_class=PlainTextResponse)
async def prometheus(request: Request, services: ServicesDep) -> PlainTextResponse:
    """Return what this process counted, for Prometheus."""
    counts = request.app.state.counts
    assert isinstance(counts, RequestCounts)
    text = counts.exposition() + services.counts.exposition()
    return PlainTextResponse(text, media_type="text/plain; version=0.0.4")


def _labels(series: Series) -> str:
    method, route, status = series
    return f'{{method="{method}",route="{route}",status="{status}"}}'
