"""The HTTP application over the use cases; who opens them is the caller's choice."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from app import __version__
from app.api import builds, health, imports, problems, prompts, recordings, trees
from app.api.access import TokenGate
from app.api.middleware import BodyLimit, CountRequests, HeadAsGet, Marks
from app.core.errors import AppError
from app.service import Services
from app.telemetry.prometheus import RequestCounts

OpenServices = Callable[[], AbstractAsyncContextManager[Services]]


def create_api(open_services: OpenServices) -> FastAPI:
    """Return the application; its lifespan opens the services and closes them again.

    When they cannot be opened, `app.state.failure` is the error.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        try:
            async with open_services() as services:
                app.state.services = services
                yield
        except AppError as error:
            app.state.failure = error
            raise

    app = FastAPI(title="Buildwright", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None)
    app.state.failure = None
    app.state.counts = RequestCounts()
    problems.install(app)
    for part in (builds, prompts, imports, recordings, trees, health):
        app.include_router(part.router)
    app.add_middleware(BodyLimit)
    app.add_middleware(HeadAsGet)
    app.add_middleware(TokenGate)
    app.add_middleware(CountRequests, counts=app.state.counts)
    app.add_middleware(Marks)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    return app


def _openapi(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document with the problem schema that all error answers refer to."""
    if app.openapi_schema is None:
        schema = get_openapi(title=app.title, version=app.version, routes=app.routes)
        reference = "#/components/schemas/{model}"
        problem = problems.Problem.model_json_schema(ref_template=reference)
        parts = schema.setdefault("components", {}).setdefault("schemas", {})
        parts.update(problem.pop("$defs", {}))
        parts["Problem"] = problem
        app.openapi_schema = schema
    return app.openapi_schema
