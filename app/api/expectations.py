"""The route that checks expectations against recorded calls."""

from __future__ import annotations

from fastapi import APIRouter

from app.api.deps import ServicesDep
from app.api.problems import documented
from app.core.errors import BadRequest, NotFound, StorageBusy
from app.metrics.expectations import Expectations, Verdict
from app.metrics.matchers import InvalidMatcher

router = APIRouter(prefix="/v1/builds/{build_id}", tags=["recordings"])


@router.post("/expectations", responses=documented(BadRequest, NotFound, InvalidMatcher, StorageBusy))
async def check_expectations(build_id: str, body: Expectations, services: ServicesDep) -> Verdict:
    """Check what must and must not have been called; every check names the calls that matched, or why none did."""
    return await services.expectations.check(build_id, body)
