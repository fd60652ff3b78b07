"""The route that tells a build in words."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter, Response
from fastapi.responses import PlainTextResponse

from app.api.deps import ServicesDep
from app.api.problems import documented
from app.core.errors import NotFound, StorageBusy
from app.service.presentation import Presentation, as_markdown, as_text

router = APIRouter(prefix="/v1/builds/{build_id}", tags=["builds"])
_WORDS: dict[int | str, dict[str, Any]] = {200: {"content": {"text/plain": {}, "text/markdown": {}}}}


@router.get(
    "/presentation",
    response_model=Presentation,
    responses={**_WORDS, **documented(NotFound, StorageBusy)},
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
