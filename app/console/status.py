"""`pob`, `db`, `domain`, `doctor`: what is installed, and whether store and knowledge are sound."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import typer
from pydantic import SecretStr

from app import __version__
from app.console.exits import Exit
from app.core.config import Settings, resource_dir
from app.core.errors import AppError
from app.knowledge.uniques import UNIQUES_FILE, unique_table
from app.model.facts import UniqueFact
from app.prompting.library import DomainReport, PromptLibrary
from app.prompting.library import check as check_knowledge
from app.wiring import (
    ConfiguredEngines,
    copy_store,
    install_pob,
    installed_pob,
    probe_confinement,
    store_is_current,
    store_report,
    upgrade_store,
)


def install(settings: Settings, version: str | None, source: Path | None) -> None:
    """Install Path of Building and say which version it is."""
    typer.echo(f"Installing Path of Building into {settings.pob_home} ...", err=True)
    found = install_pob(settings, source, version)
    typer.echo(f"Path of Building {found.version}, passive tree {found.tree_version}, in {settings.pob_home}")


def pob_status(settings: Settings, as_json: bool) -> Exit:
    """Say which Path of Building is installed; exit 1 when none is."""
    found = installed_pob(settings)
    report: dict[str, Any] = {"installed": found is not None, "path": str(settings.pob_home)}
    report |= found.model_dump() if found else {}
    if as_json:
        typer.echo(json.dumps(report, indent=2))
    elif found:
        typer.echo(f"Path of Building {found.version}, passive tree {found.tree_version}, in {settings.pob_home}")
    else:
        typer.echo(f"Path of Building is not installed in {settings.pob_home}; run `buildwright pob install`.")
    return Exit.OK if found else Exit.FAILED


def upgrade(settings: Settings) -> None:
    """Bring the store to the current schema."""
    upgrade_store(settings)
    typer.echo("The store has the current schema.")


def copy(source: str, target: str) -> None:
    """Copy a store into an empty one and say what arrived."""
    counts = copy_store(source, target)
    for table, many in counts.items():
        typer.echo(f"{table}: {many}")
    typer.echo(f"Copied {sum(counts.values())} rows. The source is as it was.")


async def check(settings: Settings, as_json: bool) -> Exit:
    """Check the store's invariants and print what is broken."""
    report = await store_report(settings)
    if as_json:
        typer.echo(report.model_dump_json(indent=2))
    else:
        lines = [*report.database, *(f"{found.build_id}: {found.broken}" for found in report.findings)]
        typer.echo("\n".join([*lines, f"{report.builds} builds checked, {len(lines)} broken invariants"]))
    return Exit.OK if report.sound else Exit.FAILED


async def doctor(settings: Settings, as_json: bool) -> Exit:
    """Print versions, engine, what confines it, store and settings; exit 1 when builds could not be made."""
    report = examine(settings) | {"confinement": await examine_confinement()}
    typer.echo(json.dumps(report, indent=2) if as_json else doctor_text(report))
    return Exit.OK if report["engine"]["usable"] and report["store"]["usable"] else Exit.FAILED


def examine(settings: Settings) -> dict[str, Any]:
    """Return what doctor reports, without any secret."""
    pob, engines, url = installed_pob(settings), ConfiguredEngines(settings), _without_password(settings.database)
    engine: dict[str, Any]
    try:
        engines.check("auto")
        engine = {"usable": True, "name": engines.resolve("auto")}
    except AppError as error:
        engine = {"usable": False, "name": None, "problem": error.message}
    store: dict[str, Any]
    try:
        store = {"url": url, "usable": True, "current_schema": store_is_current(settings)}
    except AppError as error:
        store = {"url": url, "usable": False, "problem": error.message}
    return {
        "buildwright": __version__,
        "python": platform.python_version(),
        "engine": engine,
        "pob": {"path": str(settings.pob_home), "version": pob.version if pob else None},
        "store": store,
        "settings": {name: _shown(value) for name, value in settings},
    }


async def examine_confinement() -> dict[str, Any]:
    """Return what engine processes are kept from here, found out by trying; an empty `missing` means all of it."""
    try:
        return (await probe_confinement()).model_dump()
    except AppError as error:
        return {"refused": {}, "missing": {}, "problem": error.message}


def _without_password(url: str) -> str:
    scheme, mark, rest = url.partition("://")
    credentials, at, host = rest.rpartition("@")
    return f"{scheme}{mark}{credentials.partition(':')[0]}:***{at}{host}" if at else url


def _shown(value: object) -> object:
    if isinstance(value, SecretStr):
        return "set, not shown"
    if isinstance(value, str):
        return _without_password(value)
    return value if isinstance(value, (int, float)) or value is None else str(value)


def doctor_text(report: dict[str, Any]) -> str:
    """Return what doctor reports, a line each."""
    engine, store = report["engine"], report["store"]
    state = "ready" if store.get("current_schema") else store.get("problem", "new, or to be upgraded")
    lines = [
        f"Buildwright {report['buildwright']} on Python {report['python']}",
        f"Engine: {engine['name']}" if engine["usable"] else f"Engine: none ({engine['problem']})",
        f"Path of Building: {report['pob']['version'] or 'not installed'} ({report['pob']['path']})",
        f"Store: {store['url']} ({state})",
        "Engine processes cannot:",
        *confinement_lines(report["confinement"]),
        "Settings:",
    ]
    return "\n".join([*lines, *(f"  {name}: {value}" for name, value in report["settings"].items())])


def confinement_lines(confinement: dict[str, Any]) -> list[str]:
    """Return a line per thing that an engine process tried, then one per guard that the kernel does not offer."""
    tried = [f"  {name}: {'holds' if held else 'NOT HELD HERE'}" for name, held in confinement["refused"].items()]
    missing = [f"  the kernel offers no guard {name!r}: {said}" for name, said in confinement["missing"].items()]
    return [*tried, *missing, *([f"  not known: {confinement['problem']}"] if "problem" in confinement else [])]


async def check_domain(settings: Settings, as_json: bool) -> Exit:
    """Print gaps, stale and unused knowledge files, and uniques that the engine does not know.

    Exit 1 when a prompt asks for a file that is missing, or a unique is unknown.
    """
    found, table = installed_pob(settings), unique_table()
    library = PromptLibrary(resource_dir("prompts"), resource_dir("domain"))
    report = check_knowledge(library, found.version if found else None)
    if found:
        unknown = tuple(table.unknown(await known_uniques(settings)))
        stale = {UNIQUES_FILE: table.pob_version} if found.version != table.pob_version else {}
        report = replace(report, unknown_uniques=unknown, stale=report.stale | stale)
    typer.echo(json.dumps(asdict(report) | {"complete": report.complete}, indent=2) if as_json else domain_text(report))
    return Exit.OK if report.complete else Exit.FAILED


async def known_uniques(settings: Settings) -> list[UniqueFact]:
    """Return the unique items of the installed Path of Building."""
    engines = ConfiguredEngines(settings)
    try:
        return await (await engines.engine("pob")).facts.uniques()
    finally:
        await engines.close()


def domain_text(report: DomainReport) -> str:
    """Return what is missing, stale, unused or unknown, a line each, and the counts."""
    lines = [f"missing: {name}, asked for by {', '.join(prompts)}" for name, prompts in report.gaps.items()]
    lines += [
        f"stale: {name} was checked against Path of Building {version}, {report.installed} is installed"
        for name, version in report.stale.items()
    ]
    lines += [f"unused: no prompt asks for {name}" for name in report.unused]
    lines += [
        f"unknown: {UNIQUES_FILE} names {name}, which Path of Building does not have" for name in report.unknown_uniques
    ]
    if report.installed is None:
        lines.append("Path of Building is not installed, so nothing can be called stale.")
    count = f"{len(report.files)} knowledge files, {len(report.prompts)} prompts"
    return "\n".join(
        [*lines, f"{count}: {len(report.gaps)} missing, {len(report.stale)} stale, {len(report.unused)} unused"]
    )
