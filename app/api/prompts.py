"""Route for reading a prompt without building anything."""

from __future__ import annotations

from fastapi import APIRouter

from app.api.access import READS
from app.api.dependencies import ServicesDep
from app.api.problems import documented
from app.core.errors import BadRequest, EngineCrashed, EngineGarbage, EngineHung, EngineMissing
from app.service.prompts import ReadRequest, Understood

router = APIRouter(prefix="/v1/read", tags=["prompts"])


@router.post(
    "", dependencies=[READS], responses=documented(BadRequest, EngineMissing, EngineCrashed, EngineHung, EngineGarbage)
)
async def read_prompt(body: ReadRequest, services: ServicesDep) -> Understood:
    """Say what would be understood of a prompt: wishes, constraints, the one question. Nothing is stored."""
    return await services.prompts.read(body)
