"""Whether the service is alive and ready, and what it counted."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse

from app.api.access import METRICS
from app.api.dependencies import ServicesDep
from app.service.health import Readiness
from app.telemetry.prometheus import RequestCounts

router = APIRouter(tags=["health"])


@router.get("/healthz")
async def alive() -> dict[str, str]:
    """Answer while the process can answer at all."""
    return {"status": "ok"}


@router.get("/readyz", responses={503: {"model": Readiness, "description": "A part is missing."}})
async def ready(services: ServicesDep, response: Response) -> Readiness:
    """Tell whether builds can be accepted now; 503 when not."""
    found = await services.health.ready()
    response.status_code = 200 if found.ready else 503
    return found


@router.get("/metrics", dependencies=[METRICS], response_class=PlainTextResponse)
async def prometheus(request: Request, services: ServicesDep) -> PlainTextResponse:
    """Return what this process counted, for Prometheus."""
    counts = request.app.state.counts
    assert isinstance(counts, RequestCounts)
    text = counts.exposition() + services.counts.exposition()
    return PlainTextResponse(text, media_type="text/plain; version=0.0.4")
