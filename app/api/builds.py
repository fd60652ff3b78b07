"""Routes on builds: make, look, stop, go on, download, tell and draw."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from fastapi.responses import PlainTextResponse

from app.api.access import COUNTED, READS, REPLAYED, WRITES, AccessDep, OwnBuild
from app.api.dependencies import Cursor, IdempotencyKey, ServicesDep
from app.api.problems import documented
from app.core.errors import (
    BadRequest,
    Conflict,
    EngineCrashed,
    EngineMissing,
    IdempotencyMismatch,
    InvalidTransition,
    NotAvailable,
    NotFound,
    NotReady,
    StorageBusy,
    TooLarge,
    TreeUnavailable,
)
from app.model.names import BuildStatus
from app.model.record import BuildRequest
from app.service.conflict_graph import conflicts_mermaid, conflicts_svg
from app.service.estimates import StartedBuild
from app.service.presentation import Presentation, as_markdown, as_text
from app.service.refinement import AnswerRequest, RefineRequest
from app.service.view import BuildPage, BuildView

router = APIRouter(prefix="/v1/builds", tags=["builds"])
Limit = Annotated[int, Query(ge=1, le=200)]


@router.post(
    "",
    dependencies=[WRITES, COUNTED],
    status_code=202,
    responses=documented(
        BadRequest, TooLarge, NotFound, NotReady, IdempotencyMismatch, NotAvailable, EngineMissing, StorageBusy
    ),
)
async def create_build(
    body: BuildRequest,
    services: ServicesDep,
    access: AccessDep,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> StartedBuild:
    """Accept a prompt; the build is made in the background. Poll `Location` or watch its events."""
    began = datetime.now(UTC)
    build = await services.builds.create(body, idempotency_key, access)
    return _accepted(await services.estimates.started(build, access), began, response)


@router.get("", dependencies=[READS], responses=documented(StorageBusy))
async def list_builds(
    services: ServicesDep,
    access: AccessDep,
    status: BuildStatus | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> BuildPage:
    """List your builds, newest first."""
    return await services.library.page(status, limit, cursor, access.only)


@router.get("/{build_id}", dependencies=[READS], responses=documented(NotFound, StorageBusy))
async def get_build(build_id: OwnBuild, services: ServicesDep) -> BuildView:
    """Show a build: status, decisions, conflicts, numbers."""
    return await services.library.get(build_id)


@router.delete("/{build_id}", dependencies=[WRITES], status_code=204, responses=documented(NotFound, StorageBusy))
async def delete_build(build_id: OwnBuild, services: ServicesDep) -> None:
    """Remove a build and everything recorded of it; one that is being worked on is stopped. Its children stay."""
    await services.library.delete(build_id)


@router.post(
    "/{build_id}/cancel", dependencies=[WRITES], status_code=202, responses=documented(NotFound, Conflict, StorageBusy)
)
async def cancel_build(build_id: OwnBuild, services: ServicesDep) -> BuildView:
    """Stop a build within one step; its last valid state stays."""
    return await services.builds.cancel(build_id)


@router.post(
    "/{build_id}/resume",
    dependencies=[WRITES],
    status_code=202,
    responses=documented(NotFound, InvalidTransition, StorageBusy),
)
async def resume_build(build_id: OwnBuild, services: ServicesDep) -> BuildView:
    """Let a failed or cancelled build go on from its last checkpoint."""
    return await services.builds.resume(build_id)


@router.get(
    "/{build_id}/build.xml",
    dependencies=[READS],
    response_class=Response,
    responses={200: {"content": {"application/xml": {}}}, **documented(NotFound, NotReady, StorageBusy)},
)
async def download_xml(build_id: OwnBuild, services: ServicesDep) -> Response:
    """Download the Path of Building XML of the last valid state."""
    content = await services.library.export(build_id, "xml")
    return Response(content, media_type="application/xml", headers=_file(build_id, "xml"))


@router.get(
    "/{build_id}/code",
    dependencies=[READS],
    response_class=PlainTextResponse,
    responses=documented(NotFound, NotReady, StorageBusy),
)
async def download_code(build_id: OwnBuild, services: ServicesDep) -> PlainTextResponse:
    """Return the share code to paste into Path of Building."""
    return PlainTextResponse(await services.library.export(build_id, "code"))


@router.get(
    "/{build_id}/state.yaml",
    dependencies=[READS],
    response_class=Response,
    responses={200: {"content": {"application/yaml": {}}}, **documented(NotFound, NotReady, StorageBusy)},
)
async def download_state(build_id: OwnBuild, services: ServicesDep) -> Response:
    """Download the state of the build as YAML."""
    content = await services.library.export(build_id, "yaml")
    return Response(content, media_type="application/yaml", headers=_file(build_id, "state.yaml"))


@router.post(
    "/{build_id}/refine",
    dependencies=[WRITES, COUNTED],
    status_code=202,
    responses=documented(BadRequest, NotFound, NotReady, IdempotencyMismatch, StorageBusy),
)
async def refine_build(
    build_id: OwnBuild,
    body: RefineRequest,
    services: ServicesDep,
    access: AccessDep,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> StartedBuild:
    """Improve a finished build and keep what the prompt says; the child starts as its parent is."""
    began = datetime.now(UTC)
    build = await services.refinements.refine(build_id, body, idempotency_key)
    return _accepted(await services.estimates.started(build, access), began, response)


@router.post(
    "/{build_id}/answer",
    dependencies=[WRITES, COUNTED],
    status_code=202,
    responses=documented(BadRequest, NotFound, NotReady, Conflict, IdempotencyMismatch, StorageBusy),
)
async def answer_question(
    build_id: OwnBuild,
    body: AnswerRequest,
    services: ServicesDep,
    access: AccessDep,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> StartedBuild:
    """Answer the one question of a finished build; the child is built with the answer."""
    began = datetime.now(UTC)
    build = await services.refinements.answer(build_id, body, idempotency_key)
    return _accepted(await services.estimates.started(build, access), began, response)


@router.get(
    "/{build_id}/presentation",
    dependencies=[READS],
    response_model=Presentation,
    responses={200: {"content": {"text/plain": {}, "text/markdown": {}}}, **documented(NotFound, StorageBusy)},
)
async def present_build(
    build_id: OwnBuild,
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
    dependencies=[READS],
    response_class=Response,
    responses={200: {"content": {"image/svg+xml": {}}}, **documented(NotFound, StorageBusy)},
)
async def draw_conflicts(build_id: OwnBuild, services: ServicesDep) -> Response:
    """Draw which conflict brings about which: roots on the left, consequences on the right."""
    view = await services.library.get(build_id)
    return Response(conflicts_svg(view.conflicts), media_type="image/svg+xml")


@router.get(
    "/{build_id}/conflicts.mmd",
    dependencies=[READS],
    response_class=PlainTextResponse,
    responses=documented(NotFound, StorageBusy),
)
async def write_conflicts(build_id: OwnBuild, services: ServicesDep) -> PlainTextResponse:
    """Return the same picture as Mermaid text."""
    view = await services.library.get(build_id)
    return PlainTextResponse(conflicts_mermaid(view.conflicts))


@router.get(
    "/{build_id}/tree.svg",
    dependencies=[READS],
    response_class=Response,
    responses={
        200: {"content": {"image/svg+xml": {}}},
        **documented(NotFound, NotReady, TreeUnavailable, EngineCrashed, StorageBusy),
    },
)
async def draw_tree(build_id: OwnBuild, services: ServicesDep) -> Response:
    """Draw the passive tree with what the build has of it."""
    sheet = await services.library.sheet(build_id)
    if sheet is None:
        raise NotReady("The build has no valid state yet.")
    return Response(await services.trees.svg(sheet), media_type="image/svg+xml")


def _accepted(build: StartedBuild, began: datetime, response: Response) -> StartedBuild:
    """Say where the build is; one that was there before the request is the answer to an earlier one."""
    response.headers["Location"] = build.links["self"]
    if build.created_at < began:
        response.headers[REPLAYED] = "true"
    return build


def _file(build_id: str, ending: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{build_id}.{ending}"'}
