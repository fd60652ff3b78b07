"""Route for taking in somebody's build."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from app.api.access import COUNTED, WRITES, AccessDep
from app.api.dependencies import ServicesDep
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
from app.service.estimates import StartedBuild
from app.service.imports import ImportRequest

router = APIRouter(prefix="/v1/imports", tags=["imports"])
_MENDING: dict[int | str, dict[str, Any]] = {202: {"model": StartedBuild, "description": "the repair, which has begun"}}
_ERRORS = (BadRequest, TooLarge, BadImport, EngineRefused, EngineCrashed, EngineHung, EngineGarbage, EngineMissing)

_RESPONSES = {**_MENDING, **documented(*_ERRORS, StorageBusy)}


@router.post("", dependencies=[WRITES, COUNTED], status_code=201, responses=_RESPONSES)
async def import_build(
    body: ImportRequest, services: ServicesDep, access: AccessDep, response: Response
) -> StartedBuild:
    """Import a Path of Building XML or share code: a finished build with its numbers recalculated.

    With `repair` (a sentence, or true) the answer is 202 and a child of the import that mends its faults.
    """
    if body.repair:
        response.status_code = 202
        build = await services.repairs.create(body, owner=access.owner)
    else:
        build = await services.imports.create(body, owner=access.owner)
    response.headers["Location"] = build.links["self"]
    return await services.estimates.started(build, access)
