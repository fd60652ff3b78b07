"""`domain check`: is the knowledge that the prompts ask for complete and current?"""

from __future__ import annotations

import json
from dataclasses import asdict

import typer

from app.console.exits import Exit
from app.core.config import Settings, resource_dir
from app.prompting.check import DomainReport, check
from app.prompting.library import PromptLibrary
from app.wiring import installed_pob


def check_domain(settings: Settings, as_json: bool) -> Exit:
    """Print gaps, stale and unused knowledge files; exit 1 when a prompt asks for a file that is missing."""
    found = installed_pob(settings)
    library = PromptLibrary(resource_dir("prompts"), resource_dir("domain"))
    report = check(library, found.version if found else None)
    typer.echo(json.dumps(asdict(report) | {"complete": report.complete}, indent=2) if as_json else _words(report))
    return Exit.OK if report.complete else Exit.FAILED


def _words(report: DomainReport) -> str:
    lines = [f"missing: {name}, asked for by {', '.join(prompts)}" for name, prompts in report.gaps.items()]
    lines += [
        f"stale: {name} was checked against Path of Building {version}, {report.installed} is installed"
        for name, version in report.stale.items()
    ]
    lines += [f"unused: no prompt asks for {name}" for name in report.unused]
    if report.installed is None:
        lines.append("Path of Building is not installed, so nothing can be called stale.")
    count = f"{len(report.files)} knowledge files, {len(report.prompts)} prompts"
    return "\n".join(
        [*lines, f"{count}: {len(report.gaps)} missing, {len(report.stale)} stale, {len(report.unused)} unused"]
    )
