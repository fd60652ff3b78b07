"""Routes that draw a build."""

from __future__ import annotations

from fastapi import APIRouter, Response
from fastapi.responses import PlainTextResponse

from app.api.deps import ServicesDep
from app.api.problems import documented
from app.core.errors import NotFound, StorageBusy
from app.service import conflict_pictures as conflict_picture

router = APIRouter(prefix="/v1/builds/{build_id}", tags=["pictures"])


@router.get(
    "/conflicts.svg",
    response_class=Response,
    responses={200: {"content": {"image/svg+xml": {}}}, **documented(NotFound, StorageBusy)},
)
async def draw_conflicts(build_id: str, services: ServicesDep) -> Response:
    """Draw which conflict brings about which: roots on the left, consequences on the right."""
    view = await services.library.get(build_id)
    return Response(conflict_picture.svg(view.conflicts), media_type="image/svg+xml")


@router.get("/conflicts.mmd", response_class=PlainTextResponse, responses=documented(NotFound, StorageBusy))
async def write_conflicts(build_id: str, services: ServicesDep) -> PlainTextResponse:
    """Return the same picture as Mermaid text."""
    view = await services.library.get(build_id)
    return PlainTextResponse(conflict_picture.mermaid(view.conflicts))
