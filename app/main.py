"""The HTTP service: `uvicorn --factory app.main:create_app`, or `buildwright serve`."""

from __future__ import annotations

import asyncio
import ipaddress

import uvicorn
from fastapi import FastAPI

from app.api.application import create_api
from app.api.connections import BoundedConnection
from app.core.config import Settings
from app.core.errors import InputError
from app.core.logs import set_up_logging
from app.web.pages import add_pages
from app.wiring import open_reading, open_services, redactor

GRACE_S = 10


def create_app(settings: Settings | None = None) -> FastAPI:
    """Return the application; its lifespan opens storage, engines and the runner."""
    known = settings or Settings()
    app = create_api(lambda: open_services(known, take_up=True))
    add_pages(app)
    return app


def check_exposure(settings: Settings, host: str, allow_anonymous: bool) -> None:
    """Return when nobody but this machine, or nobody without a token, can reach the address; or when all may.

    Raises:
        InputError: anybody could.
    """
    if not (allow_anonymous or _is_loopback(host) or asyncio.run(_asks_for_tokens(settings))):
        raise InputError(
            f"Listening on {host} without access tokens would let everybody in: make one with `buildwright token add` "
            "(or set BUILDWRIGHT_API_TOKENS), or say --allow-anonymous where something else keeps strangers out."
        )


async def _asks_for_tokens(settings: Settings) -> bool:
    async with open_reading(settings) as store:
        return await store.tokens.access(b"") is None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def serve(settings: Settings, host: str, port: int, allow_anonymous: bool = False) -> None:
    """Serve until a signal; open event streams get some seconds to end.

    Raises:
        InputError: others could reach it without a token, and nothing says that they may.
        AppError: it cannot start, for example because another process owns the store.
    """
    check_exposure(settings, host, allow_anonymous)
    set_up_logging(settings.log_level, redactor(settings), as_json=True)
    app = create_app(settings)
    try:
        uvicorn.run(
            app,
            host=host,
            port=port,
            log_config=None,
            access_log=settings.log_level == "DEBUG",
            timeout_graceful_shutdown=GRACE_S,
            server_header=False,
            http=BoundedConnection,
            ws="none",
        )
    except SystemExit:
        if app.state.failure is not None:
            raise app.state.failure from None
        raise
