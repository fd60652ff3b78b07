"""Routes for asking before anything is built: what would be understood, what it would cost."""

from __future__ import annotations

from fastapi import APIRouter

from app.api.access import READS, AccessDep
from app.api.dependencies import ServicesDep
from app.api.problems import documented
from app.core.errors import (
    BadRequest,
    EngineCrashed,
    EngineGarbage,
    EngineHung,
    EngineMissing,
    ReasonerMissing,
    StorageBusy,
)
from app.metrics.estimates import CostEstimate
from app.model.names import Effort
from app.model.record import ReasonerChoice
from app.service.prompts import ReadRequest, Understood

router = APIRouter(prefix="/v1", tags=["prompts"])


@router.post(
    "/read",
    dependencies=[READS],
    responses=documented(BadRequest, EngineMissing, EngineCrashed, EngineHung, EngineGarbage),
)
async def read_prompt(body: ReadRequest, services: ServicesDep) -> Understood:
    """Say what would be understood of a prompt: wishes, constraints, the one question. Nothing is stored."""
    return await services.prompts.read(body)


@router.get("/estimate", dependencies=[READS], responses=documented(BadRequest, ReasonerMissing, StorageBusy))
async def estimate_cost(
    services: ServicesDep, access: AccessDep, effort: Effort = Effort.NORMAL, reasoner: ReasonerChoice = "auto"
) -> CostEstimate:
    """Say what a build would ask of a language model: requests, tokens, USD, and what the estimate is made from."""
    return await services.estimates.before(effort, reasoner, access)
