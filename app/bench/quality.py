"""`bench quality`: the suite of prompts built for real, each judged, and medians per level and gear tier."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

import app
from app.bench.builds import Kept, build, cores, scratch_services, write
from app.core.config import Settings
from app.core.errors import InputError
from app.model.anchors import Quartiles, column_of
from app.model.demands import ELEMENTAL_RESISTANCE_CAP
from app.model.names import GearTier
from app.model.record import BuildRequest
from app.service import Services


class Prompt(BaseModel):
    """One prompt with level and gear tier; further keys of the file belong to other readers."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str = Field(min_length=1)
    prompt: str
    level: int = Field(ge=1, le=100)
    gear: GearTier


def suite_file() -> Path:
    """Return the suite: inside the installed package, or beside it in a checkout."""
    package = Path(app.__file__).parent
    bundled = package / "_bundled" / "evals" / "classes.yaml"
    return bundled if bundled.is_file() else package.parent / "evals" / "classes.yaml"


def load(path: Path, only: Collection[str] = ()) -> list[Prompt]:
    """Return the prompts in the file's order; `only` keeps those whose name contains one of its words.

    Raises:
        InputError: the file is not a suite, or nothing is left of it.
    """
    try:
        prompts = TypeAdapter(list[Prompt]).validate_python(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, yaml.YAMLError, ValidationError) as error:
        raise InputError(f"{path} is not a list of prompts with name, prompt, level and gear.") from error
    kept = [prompt for prompt in prompts if not only or any(word in prompt.name for word in only)]
    if not kept:
        names = ", ".join(prompt.name for prompt in prompts)
        raise InputError(f"No prompt of the suite is called like {', '.join(only)}; there are {names}.")
    return kept


MEDIANS = ("dps", "ehp", "seconds", "evaluations")
BESIDE = ("dps", "ehp", "physical_hit", "fire_hit", "chaos_resistance")
"""Figures that are shown beside real players': as `Anchors` names them."""

RESISTANCES_FROM = 76
"""From this level on fire, cold and lightning resistance belong at their cap."""

_CAPPED = ("fire", "cold", "lightning")


async def measure(settings: Settings, only: Collection[str] = (), folder: Path | None = None) -> dict[str, Any]:
    """Return one report per prompt of the suite, medians per level and tier, quartiles beside players', and totals.

    `only` keeps the prompts whose name contains one of its words. One line per finished build goes to stderr; the
    builds' files are left in the folder, as `<name>.xml`. Builds that `folder`/quality.json holds are not made again,
    so an interrupted run goes on where it stopped.

    Raises:
        InputError: nothing of the suite is left.
    """
    prompts = load(suite_file(), only)
    kept = Kept(None if folder is None else folder / "quality.json")
    runs: list[dict[str, Any]] = []
    async with scratch_services(settings) as services:
        for prompt in prompts:
            run = kept.get(prompt.name)
            if run is None:
                run = await made(services, prompt, folder)
                await kept.keep(prompt.name, run)
            runs.append(run)
            strength = f"{run['dps'] or 0:,.0f} DPS, {run['ehp'] or 0:,.0f} EHP"
            ended = f"{run['outcome'] or run['status']}, {strength}, {run['seconds']:.0f} s; {run['delivery']}"
            line = f"[{len(runs)}/{len(prompts)}] {prompt.name}: {ended}"
            print(line, file=sys.stderr, flush=True)  # noqa: T201 - progress of a long run
    counts, stages = totals(runs), beside(runs)
    return {
        "benchmark": "quality",
        "cores": cores(),
        "totals": counts,
        "levels": medians(runs),
        "beside_players": stages,
        "runs": runs,
        "table": [*(f"{name}: {value}" for name, value in counts.items()), *table_of(stages)],
    }


async def made(services: Services, prompt: Prompt, folder: Path | None) -> dict[str, Any]:
    """Return the report of a prompt's build, made now; its file is left in the folder."""
    report = await build(services, BuildRequest(prompt=prompt.prompt, level=prompt.level, gear=prompt.gear))
    if folder is not None and report["status"] == "complete":
        await write(folder / f"{prompt.name}.xml", await services.library.export(report["id"], "xml"))
    return {"name": prompt.name, "level": prompt.level, "gear": prompt.gear.value, **report}


def stages_of(runs: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return the runs by "level tier", in the order of the suite."""
    keys = dict.fromkeys(f"{run['level']} {run['gear']}" for run in runs)
    return {key: [run for run in runs if f"{run['level']} {run['gear']}" == key] for key in keys}


def beside(runs: Sequence[dict[str, Any]]) -> dict[str, dict[str, dict[str, list[float] | None]]]:
    """Return per "level tier" and figure our quartiles and those of the players whom the tier is calibrated on.

    Damage per second, hit points, percent; ours is null with fewer than two builds that have the figure.
    """
    found: dict[str, dict[str, dict[str, list[float] | None]]] = {}
    for key, group in stages_of(runs).items():
        players = column_of(GearTier(group[0]["gear"]))
        found[key] = {}
        for name in BESIDE:
            known: Quartiles = getattr(players, name)
            found[key][name] = {"ours": quartiles(group, name), "players": [known.lower, known.median, known.upper]}
    return found


def quartiles(runs: Sequence[dict[str, Any]], name: str) -> list[float] | None:
    """Return lower quartile, median and upper quartile (inclusive method) of a figure, None of fewer than two."""
    values = [run[name] for run in runs if run.get(name) is not None]
    return [round(v, 1) for v in statistics.quantiles(values, n=4, method="inclusive")] if len(values) > 1 else None


def table_of(stages: Mapping[str, Mapping[str, Mapping[str, list[float] | None]]]) -> list[str]:
    """Return a line per stage and figure: ours and players' quartiles."""

    def words(values: list[float] | None) -> str:
        return "-" if values is None else " / ".join(f"{value:,.0f}" for value in values)

    return [
        f"{stage:12} {name:17} {words(pair['ours']):32} players {words(pair['players'])}"
        for stage, figures in stages.items()
        for name, pair in figures.items()
    ]


def medians(runs: Sequence[dict[str, Any]]) -> dict[str, dict[str, float | None]]:
    """Return the medians of DPS, EHP, seconds and evaluations per "level tier", of the builds that have a figure."""
    return {key: {name: _median(group, name) for name in MEDIANS} for key, group in stages_of(runs).items()}


def _median(runs: Sequence[dict[str, Any]], name: str) -> float | None:
    values = [run[name] for run in runs if run.get(name) is not None]
    return round(statistics.median(values), 2) if values else None


def totals(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return counts over all builds: ended, validated, faults by kind; and the median wall time in seconds (s)."""
    capped = [run for run in runs if run["level"] >= RESISTANCES_FROM]
    return {
        "builds": len(runs),
        "ended": sum(run["status"] == "complete" for run in runs),
        "validated": sum(run["outcome"] == "validated" for run in runs),
        "blocking": sum(len(run["blocking"]) for run in runs),
        "illegal_items": sum(run["illegal_items"] for run in runs),
        "unmet_requirements": sum(run["unmet_requirements"] for run in runs),
        "engine_warnings": sum(run["engine_warnings"] for run in runs),
        "unspent_points": sum(run.get("unspent_points") or 0 for run in runs),
        "below_resistance_cap": sum(
            any((run["resistances"][e] or 0) < ELEMENTAL_RESISTANCE_CAP for e in _CAPPED) for run in capped
        ),
        "median_seconds": _median(runs, "seconds"),
    }
