"""`token`, `delete` and `db vacuum`: who gets in, and what goes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from app.console.build import ENDINGS
from app.core.config import Settings
from app.model.access import Permission, Token
from app.wiring import open_reading


async def add_token(
    settings: Settings,
    name: str,
    scopes: Sequence[Permission],
    owner: str | None,
    builds_per_day: int | None,
    requests_per_minute: int | None,
) -> None:
    """Make a token and print its secret, alone on stdout, this once."""
    async with open_reading(settings) as store:
        token, secret = await store.tokens.add(name, scopes, owner, builds_per_day, requests_per_minute)
    typer.echo(f"{token_line(token)}. The secret is shown this once:", err=True)
    typer.echo(secret)


async def list_tokens(settings: Settings, as_json: bool) -> None:
    """Print every token that was made; no secret is known any more."""
    async with open_reading(settings) as store:
        tokens = await store.tokens.all()
    lines = [token.model_dump_json() if as_json else token_line(token) for token in tokens]
    typer.echo("\n".join(lines) or ("" if as_json else "No tokens yet."), nl=bool(lines) or not as_json)


async def revoke_token(settings: Settings, name: str) -> None:
    """Let nobody in with the token any more."""
    async with open_reading(settings) as store:
        await store.tokens.revoke(name)
    typer.echo(f"{name} is revoked; servers refuse it within two seconds.")


def token_line(token: Token) -> str:
    """Return a token as a line for people."""
    limits = ((token.builds_per_day, "builds a day"), (token.requests_per_minute, "requests a minute"))
    words = [f"{token.name}: {', '.join(sorted(token.permissions))}; builds of {token.owner}"]
    words += [f"{limit} {what}" for limit, what in limits if limit is not None]
    words += [f"made {token.created_at:%Y-%m-%d}"]
    words += [f"revoked {token.revoked_at:%Y-%m-%d}"] if token.revoked_at else []
    return "; ".join(words)


async def delete_build(settings: Settings, build_id: str, out: Path) -> None:
    """Remove a build with all that is recorded of it, and its files in the folder.

    Raises:
        NotFound: no such build.
    """
    async with open_reading(settings) as store:
        await store.library.delete(build_id)
    files = [file for ending in ENDINGS.values() if (file := out / f"{build_id}.{ending}").is_file()]
    for file in files:
        file.unlink()
    typer.echo(f"{build_id} is deleted{''.join(f', and {file}' for file in files)}.")


async def vacuum(settings: Settings, as_json: bool) -> None:
    """Let go of what the settings do not keep, give the space back, and say how much there is left."""
    async with open_reading(settings) as store:
        swept = await store.retention.vacuum()
    sentence = f"{swept.removed} builds removed, calls of {swept.thinned} thinned; "
    sentence += f"finished builds take {swept.bytes / 1_000_000:,.1f} MB"
    typer.echo(swept.model_dump_json() if as_json else sentence)
