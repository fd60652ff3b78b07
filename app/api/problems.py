"""Errors on the wire: RFC 9457 problem documents with a stable `code`, and their place in OpenAPI."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.encoders import jsonable_encoder
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.routing import Match

from app.core.errors import (
    AppError,
    BadRequest,
    InputError,
    NotFound,
    NotPermitted,
    RateLimited,
    StorageError,
    TooLarge,
)

log = logging.getLogger(__name__)
MEDIA_TYPE: Final = "application/problem+json"
RETRY_AFTER_S: Final = "1"
MOST_PLACES: Final = 20


class Unauthorized(AppError):
    """No valid access token came with the request."""

    code = "unauthorized"
    status = 401


class MethodNotAllowed(AppError):
    """The address exists, but not for this method."""

    code = "method_not_allowed"
    status = 405


class Internal(AppError):
    """Our fault; details are in the log only."""


class Place(BaseModel):
    """One place of the request that cannot be used."""

    place: str
    message: str


class Problem(BaseModel):
    """What went wrong (RFC 9457). `code` is stable; `errors` lists the places of an invalid request."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    instance: str
    retryable: bool = False
    errors: list[Place] = Field(default_factory=list)


_BY_STATUS: Mapping[int, type[AppError]] = {
    400: BadRequest,
    401: Unauthorized,
    404: NotFound,
    405: MethodNotAllowed,
    413: TooLarge,
    422: InputError,
}


def problem_response(error: AppError, instance: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return the problem document of an error; nothing of `details` but the invalid places is shown."""
    places = error.details.get("errors")
    problem = Problem(
        type=f"urn:buildwright:problem:{error.code}",
        title=_title(type(error)),
        status=error.status,
        code=error.code,
        detail=error.message,
        instance=instance,
        retryable=error.retryable,
        errors=[Place.model_validate(place) for place in places] if isinstance(places, list) else [],
    )
    told = dict(headers or {})
    if isinstance(error, Unauthorized):
        told["WWW-Authenticate"] = "Bearer"
    elif isinstance(error, StorageError):
        told["Retry-After"] = RETRY_AFTER_S
    elif isinstance(error, RateLimited):
        told["Retry-After"] = str(max(1, math.ceil(float(str(error.details["retry_after_s"])))))
    return JSONResponse(problem.model_dump(), error.status, headers=told, media_type=MEDIA_TYPE)


def _methods_at(app: FastAPI, request: Request) -> list[str]:
    """Return which methods the address has: each is asked for, since a route knows no other's."""
    found = {
        method
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE")
        if any(route.matches({**request.scope, "method": method})[0] is Match.FULL for route in app.routes)
    }
    return sorted(found | {"OPTIONS"} | ({"HEAD"} if "GET" in found else set()))


def documented(*errors: type[AppError]) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI responses of a route that can answer with these errors, besides those every route has."""
    always: tuple[type[AppError], ...] = (Unauthorized, NotPermitted, RateLimited, InputError, Internal)
    texts: dict[int, list[str]] = {}
    for error in sorted({*always, *errors}, key=lambda kind: (kind.status, kind.code)):
        texts.setdefault(error.status, []).append(f"`{error.code}`: {_title(error)}")
    schema = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {status: {"description": " ".join(words), "content": schema} for status, words in texts.items()}


def install(app: FastAPI) -> None:
    """Make every error of the application a problem document."""

    @app.exception_handler(AppError)
    async def on_app_error(request: Request, error: AppError) -> Response:
        if error.status >= 500 and error.status != 501:
            log.warning("request failed", extra={"code": error.code, "path": request.url.path}, exc_info=error)
        return problem_response(error, request.url.path)

    @app.exception_handler(RequestValidationError)
    async def on_invalid(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[:MOST_PLACES]
        found = [(".".join(str(part)[:60] for part in item["loc"]), item["msg"][:300]) for item in first]
        places = [{"place": place, "message": message} for place, message in found]
        refusal = InputError("The request cannot be used.", errors=jsonable_encoder(places))
        return problem_response(refusal, request.url.path)

    @app.exception_handler(HTTPException)
    async def on_http(request: Request, error: HTTPException) -> Response:
        if error.status_code == 405:
            allowed = {"Allow": ", ".join(_methods_at(app, request))}
            if request.method == "OPTIONS":
                return Response(status_code=204, headers=allowed)
            return problem_response(MethodNotAllowed(_title(MethodNotAllowed)), request.url.path, allowed)
        kind = _BY_STATUS.get(error.status_code, Internal if error.status_code >= 500 else BadRequest)
        response = problem_response(kind(_title(kind)), request.url.path)
        response.headers.update(error.headers or {})
        return response

    @app.exception_handler(Exception)
    async def on_unexpected(request: Request, error: Exception) -> Response:
        log.error("unexpected error", extra={"path": request.url.path}, exc_info=error)
        return problem_response(Internal("Something went wrong on our side."), request.url.path)


def _title(kind: type[AppError]) -> str:
    words = (kind.__doc__ or kind.__name__).strip().splitlines()[0]
    return words if kind is not AppError else "Internal error."
