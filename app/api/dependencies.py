"""What routes depend on, typed once."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Header, Query, Request

from app.core.errors import InputError
from app.service import Services


def _services(request: Request) -> Services:
    services = request.app.state.services
    assert isinstance(services, Services)
    return services


def parse_sequence(text: str | None, place: str) -> int:
    """Return the number in a cursor that counts from 1; absent = 0.

    Raises:
        InputError: it is not such a number.
    """
    if not text:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) <= 12):
        raise InputError(f"{place} is not a known position.", errors=[{"place": place, "message": "not a position"}])
    return int(text)


ServicesDep = Annotated[Services, Depends(_services)]
IdempotencyKey = Annotated[
    str | None,
    Header(alias="Idempotency-Key", min_length=1, max_length=200, pattern=r"^[\x21-\x7e]+$"),
]
Cursor = Annotated[str | None, Query(max_length=200, description="`next_cursor` of the page before")]
