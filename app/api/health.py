"""Whether the service is alive and ready."""

from __future__ import annotations

from fastapi import APIRouter, Response

from app.api.deps import ServicesDep
from app.service.health import Readiness

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
