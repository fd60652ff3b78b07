"""Who may ask what: tokens at the gate, a permission per route, and builds of others that are not there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any, Final

from fastapi import Depends, Request, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from app.api.dependencies import ServicesDep
from app.api.problems import Unauthorized, problem_response
from app.core.errors import AppError, NotFound, NotPermitted
from app.model.access import Access, Permission
from app.service import Services

OPEN: Final = frozenset({"/", "/healthz", "/signin", "/signout"})
OPEN_FILES: Final = "/static/"
"""What needs no token: pages that show nothing of anybody's builds, and what they are drawn with."""

ACCESS: Final = "buildwright.access"
"""Where in the scope it stands who asks."""
REPLAYED: Final = "Idempotency-Replayed"
"""The header of an answer that shows what an earlier request with the same key has made."""


class TokenGate:
    """ASGI middleware that lets all but open paths through with a valid `Authorization: Bearer` header only.

    Everybody is let in as long as there is no token at all.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401 or 429, or pass the request on."""
        if scope["type"] == "http" and not is_open(str(scope["path"])):
            services: Services = scope["app"].state.services
            try:
                access = await services.tokens.access(bearer(scope))
                if access is None:
                    raise Unauthorized("A valid access token is needed.")
                services.tokens.admit(access)
            except AppError as error:
                await problem_response(error, scope["path"])(scope, receive, send)
                return
            scope[ACCESS] = access
        await self._app(scope, receive, send)


def is_open(path: str) -> bool:
    """Return whether the path needs no token."""
    return path in OPEN or path.startswith(OPEN_FILES)


def bearer(scope: Scope) -> bytes:
    """Return the token that a request came with, empty when there is none."""
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    header = next((content for name, content in headers if name == b"authorization"), b"")
    scheme, _, token = header.partition(b" ")
    return token.strip() if scheme.lower() == b"bearer" else b""


def _access(request: Request) -> Access:
    access = request.scope[ACCESS]
    assert isinstance(access, Access)
    return access


AccessDep = Annotated[Access, Depends(_access)]


class Needs:
    """A dependency of a route: what the token must permit."""

    def __init__(self, permission: Permission) -> None:
        self.permission = permission

    def __call__(self, access: AccessDep) -> None:
        """Return when it does.

        Raises:
            NotPermitted: it does not.
        """
        if not access.may(self.permission):
            raise NotPermitted(f"This token lacks the scope {self.permission.value}.")


READS: Any = Depends(Needs(Permission.READ))
WRITES: Any = Depends(Needs(Permission.WRITE))
USES: Any = Depends(Needs(Permission.USAGE))
METRICS: Any = Depends(Needs(Permission.METRICS))


async def own_build(build_id: str, access: AccessDep, services: ServicesDep) -> str:
    """Return the id of a build that is there for who asks.

    Raises:
        NotFound: there is no such build, or it is somebody else's: nobody can tell which.
    """
    if not access.sees(await services.library.owner(build_id)):
        raise NotFound.of(build_id)
    return build_id


OwnBuild = Annotated[str, Depends(own_build)]


async def counted_build(access: AccessDep, services: ServicesDep, response: Response) -> AsyncIterator[None]:
    """Count a build that the token starts; it does not count when none was made.

    Raises:
        QuotaUsed: the token has started as many today as it may.
    """
    await services.tokens.take_build(access)
    try:
        yield
    except BaseException:
        await services.tokens.give_back(access)
        raise
    if REPLAYED in response.headers:
        await services.tokens.give_back(access)


COUNTED: Any = Depends(counted_build)
