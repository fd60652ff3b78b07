"""What browsers need around every request: an access cookie in the place of a header, and errors as pages."""

from __future__ import annotations

import json
from typing import Final
from urllib.parse import quote, urlsplit

from fastapi import APIRouter, Request, Response
from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.access import READS
from app.api.problems import MEDIA_TYPE, problem_response
from app.core.errors import AppError
from app.web.templates import HEADERS, render

COOKIE: Final = "buildwright_access"
KEPT_S: Final = 30 * 24 * 3600
_OURS: Final = ("/v1/", "/static/", "/metrics", "/healthz", "/readyz")
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})

router = APIRouter(include_in_schema=False)


class CrossSite(AppError):
    """A browser with an access cookie asked for a change from another site's page."""

    code = "cross_site"
    status = 403


class CookieAccess:
    """ASGI middleware that turns the access cookie of a browser into the header that the token gate reads.

    A header wins over the cookie. With the cookie, only pages of this service may ask for changes: a request that could
    change something needs an `Origin` that is this host, or the browser's word that it comes from here.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its token in place, or refuse it."""
        if scope["type"] == "http":
            headers: dict[bytes, bytes] = dict(scope["headers"])
            token = cookie_parser(headers.get(b"cookie", b"").decode("latin-1")).get(COOKIE, "")
            if token and b"authorization" not in headers:
                if scope["method"] not in _SAFE and not _from_here(headers):
                    refusal = CrossSite("Only pages of this service may ask for that.")
                    await problem_response(refusal, scope["path"])(scope, receive, send)
                    return
                bearer = (b"authorization", b"Bearer " + token.encode("latin-1"))
                scope = {**scope, "headers": [*scope["headers"], bearer]}
        await self._app(scope, receive, send)


@router.put("/v1/session", dependencies=[READS], status_code=204)
async def keep_access(request: Request) -> Response:
    """Keep the token of this request, which the token gate has let through, in a cookie that no script can read."""
    token = request.headers.get("authorization", "").partition(" ")[2].strip()
    response = Response(status_code=204)
    if token:
        secure = request.url.scheme == "https"
        response.set_cookie(COOKIE, token, max_age=KEPT_S, httponly=True, samesite="strict", secure=secure, path="/")
    return response


@router.post("/signout", status_code=204)
async def forget_access() -> Response:
    """Forget the cookie."""
    response = Response(status_code=204)
    response.delete_cookie(COOKIE, httponly=True, samesite="strict", path="/")
    return response


def _from_here(headers: dict[bytes, bytes]) -> bool:
    origin = headers.get(b"origin")
    if origin is not None:
        return urlsplit(origin.decode("latin-1")).netloc.encode("latin-1") == headers.get(b"host", b"")
    return headers.get(b"sec-fetch-site") == b"same-origin"


class ErrorPages:
    """ASGI middleware that shows problem documents as pages to browsers; what is asked of the API stays as it is."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the answer on, or a page in its place."""
        plain = scope["type"] != "http" or str(scope["path"]).startswith(_OURS)
        if plain or "text/html" not in Headers(scope=scope).get("accept", ""):
            await self._app(scope, receive, send)
            return
        body, problem = bytearray(), False

        async def show(message: Message) -> None:
            nonlocal problem
            if message["type"] == "http.response.start":
                problem = Headers(raw=message["headers"]).get("content-type", "").startswith(MEDIA_TYPE)
            if not problem:
                await send(message)
            elif message["type"] == "http.response.body":
                body.extend(message.get("body", b""))
                if not message.get("more_body", False):
                    await _page(scope, bytes(body))(scope, receive, send)

        await self._app(scope, receive, show)


def _page(scope: Scope, body: bytes) -> Response:
    problem = json.loads(body)
    if problem["status"] == 401:
        query = scope["query_string"].decode("latin-1")
        here = scope["path"] + (f"?{query}" if query else "")
        return RedirectResponse(f"/signin?next={quote(here, safe='/')}", status_code=303)
    return HTMLResponse(render("error.html", problem=problem), problem["status"], headers=HEADERS)
