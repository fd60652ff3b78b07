"""The HTTP service: `uvicorn --factory app.main:create_app`, or `buildwright serve`."""

from __future__ import annotations

import uvicorn
from fastapi import FastAPI

from app.api.application import create_api
from app.api.middleware import parse_tokens
from app.core.config import Settings
from app.core.logs import set_up_logging
from app.web.pages import router as pages
from app.wiring import open_services, redactor

GRACE_S = 10


def create_app(settings: Settings | None = None) -> FastAPI:
    """Return the application; its lifespan opens storage, engines and the runner."""
    known = settings or Settings()
    secret = known.api_tokens.get_secret_value() if known.api_tokens else None
    app = create_api(lambda: open_services(known, take_up=True), parse_tokens(secret))
    app.include_router(pages)
    return app


def serve(settings: Settings, host: str, port: int) -> None:
    """Serve until a signal; open event streams get some seconds to end.

    Raises:
        AppError: it cannot start, for example because another process owns the store.
    """
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
        )
    except SystemExit:
        if app.state.failure is not None:
            raise app.state.failure from None
        raise
