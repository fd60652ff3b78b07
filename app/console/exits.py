"""Exit codes, and the one place where errors become them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from enum import IntEnum
from typing import Any

import typer
from pydantic import ValidationError

from app.core.errors import AppError, InputError, NotAvailable
from app.model.names import BuildStatus, Outcome
from app.service.view import BuildView


class Exit(IntEnum):
    """What the shell is told."""

    OK = 0
    FAILED = 1
    USAGE = 2
    CAVEATS = 3
    INTERRUPTED = 130


def exit_code(view: BuildView) -> Exit:
    """Return the exit code for a build: validated, caveats, cancelled or failed."""
    if view.status is BuildStatus.COMPLETE:
        return Exit.OK if view.outcome is Outcome.VALIDATED else Exit.CAVEATS
    return Exit.INTERRUPTED if view.status is BuildStatus.CANCELLED else Exit.FAILED


def run(work: Callable[[], Coroutine[Any, Any, Exit | None]]) -> None:
    """Run the work in an event loop and end the command with its exit code."""
    guarded(lambda: asyncio.run(work()))


def guarded(work: Callable[[], Exit | None]) -> None:
    """Do the work; an error of ours becomes one sentence on stderr and an exit code."""
    try:
        code = work()
    except AppError as error:
        complain(f"{error.message} ({error.code})")
        raise typer.Exit(Exit.USAGE if isinstance(error, (InputError, NotAvailable)) else Exit.FAILED) from error
    except ValidationError as error:
        complain("; ".join(f"{'.'.join(map(str, found['loc']))}: {found['msg']}" for found in error.errors()))
        raise typer.Exit(Exit.USAGE) from error
    except KeyboardInterrupt as error:
        raise typer.Exit(Exit.INTERRUPTED) from error
    raise typer.Exit(code or Exit.OK)


def complain(sentence: str) -> None:
    """Say on stderr what is wrong."""
    typer.echo(f"buildwright: {sentence}", err=True)
