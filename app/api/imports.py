"""Route for taking in somebody's build."""

from __future__ import annotations

from fastapi import APIRouter, Response

from app.api.dependencies import OwnerDep, ServicesDep
from app.api.problems import documented
from app.core.errors import (
    BadImport,
    BadRequest,
    EngineCrashed,
    EngineGarbage,
    EngineHung,
    EngineMissing,
    EngineRefused,
    StorageBusy,
    TooLarge,
)
from app.service.imports import ImportRequest
from app.service.view import BuildView

router = APIRouter(prefix="/v1/imports", tags=["imports"])
_ERRORS = (BadRequest, TooLarge, BadImport, EngineRefused, EngineCrashed, EngineHung, EngineGarbage, EngineMissing)


@router.post("", status_code=201, responses=documented(*_ERRORS, StorageBusy))
async def import_build(body: ImportRequest, services: ServicesDep, owner: OwnerDep, response: Response) -> BuildView:
    """Import a Path of Building XML or share code: a finished build with its numbers recalculated."""
    build = await services.imports.create(body, owner=owner)
    response.headers["Location"] = build.links["self"]
    return build
