"""`buildwright bench`: measuring this installation."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import typer

from app.bench import (
    baseline,
    builds,
    explore,
    gear,
    profile,
    quality,
    reasoners,
    refinement,
    service,
    trees,
    whatif,
    wishes,
)
from app.core.config import Settings
from app.core.errors import InputError, NotAvailable
from app.model.names import Effort

Kind = Literal[
    "whatif", "build", "service", "baseline", "quality", "tree", "reasoner", "refine", "gear", "wishes", "explore"
]
BENCHMARKS: dict[Kind, Callable[[Settings], Awaitable[dict[str, Any]]]] = {
    "baseline": baseline.measure,
    "build": builds.measure,
    "quality": quality.measure,
    "whatif": whatif.measure,
}


async def measure(
    settings: Settings,
    kind: Kind,
    as_json: bool,
    only: Sequence[str] = (),
    folder: Path | None = None,
    scan: bool = False,
    level: int | None = None,
    candidates: int = explore.CANDIDATES,
    effort: Effort = Effort.NORMAL,
    keystones: bool = False,
    results: Path | None = None,
    profiled: bool = False,
) -> None:
    """Run one benchmark and print its figures.

    `only` chooses prompts of the quality suite or builds of `tree`, `refine` and `gear`; `folder` holds builds for
    `whatif` and these three, and takes those of `quality`; `scan`, `keystones` and `results` (a folder)
    are for `tree`, `level` for `explore` and `wishes` (None = their own), `candidates` (per prompt) for `explore`,
    `profiled` for `build`, `effort` for `wishes`; folders of `explore` and `wishes` keep what was built, to go on from.

    Raises:
        NotAvailable: this version does not have the benchmark yet.
        InputError: an option is given for another benchmark, or `only` matches nothing.
    """
    if kind not in BENCHMARKS and kind not in ("tree", "reasoner", "refine", "gear", "service", "wishes", "explore"):
        raise NotAvailable(f"The benchmark {kind!r} is not available in this version.")
    if only and kind not in ("quality", "tree", "reasoner", "refine", "gear", "service", "wishes", "explore"):
        raise InputError("--only chooses prompts of `quality` and `reasoner` or builds of `tree`; others have none.")
    if (level is not None and kind not in ("explore", "wishes")) or (effort is not Effort.NORMAL and kind != "wishes"):
        raise InputError("--level belongs to `explore` and `wishes`, --effort to `wishes`.")
    with_folder = ("tree", "refine", "gear", "whatif", "quality", "explore", "wishes")
    if (folder and kind not in with_folder) or ((scan or keystones or results) and kind != "tree"):
        named = ", ".join(f"`{one}`" for one in with_folder)
        raise InputError(f"A folder belongs to {named}; --scan, --keystones and --results to `bench tree`.")
    measured: dict[str, Callable[[], Awaitable[dict[str, Any]]]] = {
        "quality": lambda: quality.measure(settings, only, folder),
        "reasoner": lambda: reasoners.measure(settings, only),
        "gear": lambda: gear.measure(settings, folder, only),
        "refine": lambda: refinement.measure(settings, folder, only),
        "explore": lambda: explore.measure(settings, folder, only, level or explore.LEVEL, candidates),
        "service": lambda: service.measure(settings, only),
        "whatif": lambda: whatif.measure(settings, folder),
        "wishes": lambda: wishes.measure(settings, only, folder, level, effort),
        "tree": lambda: trees.measure(settings, folder, only, scan, keystones, results),
    }
    if profiled and kind != "build":
        raise InputError("--profile belongs to `build`.")
    if profiled:
        measured["build"] = lambda: profile.measure(settings)
    report = await measured.get(kind, lambda: BENCHMARKS[kind](settings))()
    rows = report["table"] if "table" in report else [f"{name}: {value}" for name, value in report.items()]
    typer.echo(json.dumps(report, indent=2) if as_json else "\n".join(rows))
