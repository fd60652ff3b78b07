"""Routes on builds: make, look, stop, go on, download, tell and draw."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from fastapi.responses import PlainTextResponse

from app.api.dependencies import Cursor, IdempotencyKey, OwnerDep, ServicesDep
from app.api.problems import documented
from app.core.errors import (
    BadRequest,
    Conflict,
    EngineMissing,
    IdempotencyMismatch,
    InvalidTransition,
    NotAvailable,
    NotFound,
    NotReady,
    StorageBusy,
    TooLarge,
)
from app.model.names import BuildStatus
from app.model.record import BuildRequest
from app.service.conflict_graph import conflicts_mermaid, conflicts_svg
from app.service.presentation import Presentation, as_markdown, as_text
from app.service.refinement import AnswerRequest, RefineRequest
from app.service.view import BuildPage, BuildView

router = APIRouter(prefix="/v1/builds", tags=["builds"])
Limit = Annotated[int, Query(ge=1, le=200)]


@router.post(
    "",
    status_code=202,
    responses=documented(
        BadRequest, TooLarge, NotFound, NotReady, IdempotencyMismatch, NotAvailable, EngineMissing, StorageBusy
    ),
)
async def create_build(
    body: BuildRequest,
    services: ServicesDep,
    owner: OwnerDep,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> BuildView:
    """Accept a prompt; the build is made in the background. Poll `Location` or watch its events."""
    build = await services.builds.create(body, idempotency_key, owner)
    response.headers["Location"] = build.links["self"]
    return build


@router.get("", responses=documented(StorageBusy))
async def list_builds(
    services: ServicesDep, status: BuildStatus | None = None, limit: Limit = 50, cursor: Cursor = None
) -> BuildPage:
    """List builds, newest first."""
    return await services.library.page(status, limit, cursor)


@router.get("/{build_id}", responses=documented(NotFound, StorageBusy))
async def get_build(build_id: str, services: ServicesDep) -> BuildView:
    """Show a build: status, decisions, conflicts, numbers."""
    return await services.library.get(build_id)


@router.post("/{build_id}/cancel", status_code=202, responses=documented(NotFound, Conflict, StorageBusy))
async def cancel_build(build_id: str, services: ServicesDep) -> BuildView:
    """Stop a build within one step; its last valid state stays."""
    return await services.builds.cancel(build_id)


@router.post("/{build_id}/resume", status_code=202, responses=documented(NotFound, InvalidTransition, StorageBusy))
async def resume_build(build_id: str, services: ServicesDep) -> BuildView:
    """Let a failed or cancelled build go on from its last checkpoint."""
    return await services.builds.resume(build_id)


@router.get(
    "/{build_id}/build.xml",
    response_class=Response,
    responses={200: {"content": {"application/xml": {}}}, **documented(NotFound, NotReady, StorageBusy)},
)
async def download_xml(build_id: str, services: ServicesDep) -> Response:
    """Download the Path of Building XML of the last valid state."""
    content = await services.library.export(build_id, "xml")
    return Response(content, media_type="application/xml", headers=_file(build_id, "xml"))


@router.get("/{build_id}/code", response_class=PlainTextResponse, responses=documented(NotFound, NotReady, StorageBusy))
async def download_code(build_id: str, services: ServicesDep) -> PlainTextResponse:
    """Return the share code to paste into Path of Building."""
    return PlainTextResponse(await services.library.export(build_id, "code"))


@router.get(
    "/{build_id}/state.yaml",
    response_class=Response,
    responses={200: {"content": {"application/yaml": {}}}, **documented(NotFound, NotReady, StorageBusy)},
)
async def download_state(build_id: str, services: ServicesDep) -> Response:
    """Download the state of the build as YAML."""
    content = await services.library.export(build_id, "yaml")
    return Response(content, media_type="application/yaml", headers=_file(build_id, "state.yaml"))


@router.post("/{build_id}/refine", status_code=202, responses=documented(BadRequest, NotFound, NotReady, StorageBusy))
async def refine_build(build_id: str, body: RefineRequest, services: ServicesDep, response: Response) -> BuildView:
    """Improve a finished build and keep what the prompt says; the child starts as its parent is."""
    build = await services.refinements.refine(build_id, body)
    response.headers["Location"] = build.links["self"]
    return build


@router.post(
    "/{build_id}/answer", status_code=202, responses=documented(BadRequest, NotFound, NotReady, Conflict, StorageBusy)
)
async def answer_question(build_id: str, body: AnswerRequest, services: ServicesDep, response: Response) -> BuildView:
    """Answer the one question of a finished build; the child is built with the answer."""
    build = await services.refinements.answer(build_id, body)
    response.headers["Location"] = build.links["self"]
    return build


@router.get(
    "/{build_id}/presentation",
    response_model=Presentation,
    responses={200: {"content": {"text/plain": {}, "text/markdown": {}}}, **documented(NotFound, StorageBusy)},
)
async def present_build(
    build_id: str,
    services: ServicesDep,
    format: Literal["json", "text", "markdown"] = "json",  # noqa: A002
) -> Presentation | Response:
    """Tell a build: numbers with origin, decisions and what was not chosen, levelling, shopping list, how to play."""
    shown = await services.library.present(build_id)
    if format == "json":
        return shown
    if format == "text":
        return PlainTextResponse(as_text(shown))
    return Response(as_markdown(shown), media_type="text/markdown; charset=utf-8")


@router.get(
    "/{build_id}/conflicts.svg",
    response_class=Response,
    responses={200: {"content": {"image/svg+xml": {}}}, **documented(NotFound, StorageBusy)},
)
async def draw_conflicts(build_id: str, services: ServicesDep) -> Response:
    """Draw which conflict brings about which: roots on the left, consequences on the right."""
    view = await services.library.get(build_id)
    return Response(conflicts_svg(view.conflicts), media_type="image/svg+xml")


@router.get("/{build_id}/conflicts.mmd", response_class=PlainTextResponse, responses=documented(NotFound, StorageBusy))
async def write_conflicts(build_id: str, services: ServicesDep) -> PlainTextResponse:
    """Return the same picture as Mermaid text."""
    view = await services.library.get(build_id)
    return PlainTextResponse(conflicts_mermaid(view.conflicts))


@router.get("/{build_id}/tree.svg", responses=documented(NotAvailable))
async def draw_tree(build_id: str) -> None:
    """Draw the passive tree; not available in this version."""
    raise NotAvailable("A picture of the passive tree is not available in this version.")


def _file(build_id: str, ending: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{build_id}.{ending}"'}
