"""Route for the passive tree that all builds share."""

from __future__ import annotations

import gzip

from fastapi import APIRouter, Request, Response

from app.api.access import READS
from app.api.dependencies import ServicesDep
from app.api.problems import documented
from app.core.errors import EngineCrashed, EngineGarbage, EngineHung, TreeUnavailable
from app.service.trees import TreeDrawing

router = APIRouter(prefix="/v1/tree", tags=["trees"])


@router.get(
    "",
    dependencies=[READS],
    response_model=TreeDrawing,
    responses=documented(TreeUnavailable, EngineCrashed, EngineHung, EngineGarbage),
)
async def show_tree(request: Request, services: ServicesDep) -> Response:
    """Return the whole passive tree with coordinates and connections, the same for every build of a version."""
    version, packed = await services.trees.packed()
    headers = {"ETag": f'"{version}"', "Cache-Control": "private, no-cache", "Vary": "Accept-Encoding"}
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(packed, media_type="application/json", headers={**headers, "Content-Encoding": "gzip"})
    return Response(gzip.decompress(packed), media_type="application/json", headers=headers)
