"""`buildwright expect`: expectations from a file against the recorded calls of a build."""

from __future__ import annotations

import asyncio
from pathlib import Path

import typer
import yaml

from app.console.codes import Exit
from app.core.config import Settings
from app.core.errors import InputError
from app.tools.expectations import Check, Expectations, Verdict
from app.wiring import open_reading


async def check_expectations(settings: Settings, file: Path, build_id: str, as_json: bool) -> Exit:
    """Print every check; exit 1 when one failed, 2 when the file cannot be used.

    Raises:
        InputError: the file cannot be read, or is not YAML or JSON.
    """
    wanted = await asyncio.to_thread(read_expectations, file)
    async with open_reading(settings) as store:
        verdict = await store.expectations.check(build_id, wanted)
    typer.echo(verdict.model_dump_json(indent=2) if as_json else _words(verdict))
    return Exit.OK if verdict.passed else Exit.FAILED


def read_expectations(file: Path) -> Expectations:
    """Return the expectations in a YAML or JSON file.

    Raises:
        InputError: it cannot be read, or is not YAML.
        pydantic.ValidationError: it does not hold expectations.
    """
    try:
        return Expectations.model_validate(yaml.safe_load(file.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"Cannot read {file}: {error}.") from error
    except yaml.YAMLError as error:
        raise InputError(f"{file} is neither YAML nor JSON: {error}") from error


def _words(verdict: Verdict) -> str:
    passed = sum(check.passed for check in verdict.checks)
    lines = [_line(check) for check in verdict.checks]
    return "\n".join([*lines, f"{passed} of {len(verdict.checks)} checks passed (score {verdict.score:.3f})"])


def _line(check: Check) -> str:
    calls = f" (calls {', '.join(map(str, check.matched[:10]))})" if check.matched else ""
    return f"{'ok  ' if check.passed else 'FAIL'}  {check.name}: {check.reason}{calls}"
