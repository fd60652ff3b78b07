"""Every SQL statement on access tokens and what they have used."""

from __future__ import annotations

from datetime import date, datetime

from sqlalchemy import ColumnElement, select, update
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from app.core.errors import Conflict, NotFound
from app.model.access import Permission, Token
from app.storage.database import Database
from app.storage.tables import TokenDayRow, TokenRow


class SqlTokenStore:
    """The TokenStore port on SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, token: Token, sha256: str) -> None:
        """Store a token by the hash of its secret.

        Raises:
            Conflict: there is, or was, one of that name.
        """
        row = TokenRow(
            name=token.name,
            sha256=sha256,
            owner=token.owner,
            scopes=" ".join(sorted(token.permissions)),
            builds_per_day=token.builds_per_day,
            requests_per_minute=token.requests_per_minute,
            created_at=token.created_at,
        )
        try:
            async with self._database.write() as session:
                session.add(row)
        except IntegrityError as exc:
            raise Conflict(f"There is, or was, a token called {token.name}; take another name.") from exc

    async def find(self, sha256: str) -> Token | None:
        """Return the token whose secret has that hash, None when there is none or it was revoked."""
        query = select(TokenRow).where(col(TokenRow.sha256) == sha256, col(TokenRow.revoked_at).is_(None))
        async with self._database.read() as session:
            row = await session.scalar(query)
        return None if row is None else _token(row)

    async def any(self) -> bool:
        """Return whether there has ever been a token."""
        async with self._database.read() as session:
            return await session.scalar(select(col(TokenRow.name)).limit(1)) is not None

    async def all(self) -> list[Token]:
        """Return every token, revoked ones too, by name."""
        async with self._database.read() as session:
            return [_token(row) for row in await session.scalars(select(TokenRow).order_by(col(TokenRow.name)))]

    async def revoke(self, name: str, at: datetime) -> None:
        """Let nobody in with the token any more; a revoked one stays as it is.

        Raises:
            NotFound: no such token.
        """
        async with self._database.write() as session:
            row = await session.get(TokenRow, name)
            if row is None:
                raise NotFound(f"There is no token called {name}.")
            row.revoked_at = row.revoked_at or at

    async def take_build(self, name: str, day: date, limit: int) -> bool:
        """Count one build more of the token on that day; false, and nothing counted, where the limit is reached."""
        try:
            return await self._take_build(name, day, limit)
        except IntegrityError:  # another writer began the day at the same moment
            return await self._take_build(name, day, limit)

    async def _take_build(self, name: str, day: date, limit: int) -> bool:
        below = (*_of(name, day), col(TokenDayRow.builds) < limit)
        more = update(TokenDayRow).where(*below).values(builds=col(TokenDayRow.builds) + 1)
        async with self._database.write() as session:
            if await session.scalar(more.returning(col(TokenDayRow.builds))) is not None:
                return True
            if limit < 1 or await session.get(TokenDayRow, (name, day)) is not None:
                return False
            session.add(TokenDayRow(token=name, day=day, builds=1))
            return True

    async def give_back(self, name: str, day: date) -> None:
        """Count one build less: it was not made."""
        less = update(TokenDayRow).where(*_of(name, day)).values(builds=col(TokenDayRow.builds) - 1)
        async with self._database.write() as session:
            await session.execute(less)


def _of(name: str, day: date) -> tuple[ColumnElement[bool], ...]:
    return (col(TokenDayRow.token) == name, col(TokenDayRow.day) == day)


def _token(row: TokenRow) -> Token:
    return Token(
        name=row.name,
        owner=row.owner,
        permissions=frozenset(map(Permission, row.scopes.split())),
        builds_per_day=row.builds_per_day,
        requests_per_minute=row.requests_per_minute,
        created_at=row.created_at,
        revoked_at=row.revoked_at,
    )
