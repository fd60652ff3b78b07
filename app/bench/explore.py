"""`bench explore`: was the race right? Candidates drawn from all that open prompts allow, each built deep."""

from __future__ import annotations

import math
import random
import statistics
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from app.bench.builds import Kept, cores, judged, scratch_services, timed_build
from app.core.config import Settings
from app.core.errors import InputError
from app.engine.base import Engine
from app.knowledge.values import words_of
from app.model.constraints import INVARIANTS
from app.model.names import Outcome
from app.model.race import Race
from app.model.record import BuildRequest
from app.model.state import BuildState
from app.model.sub_problems import DeliveryChoice, Option
from app.reasoning.base import ReasoningContext
from app.reasoning.prompt.extract import extract
from app.reasoning.questions.brief import Brief
from app.reasoning.questions.damage_delivery import ways
from app.service import Services
from app.wiring import ConfiguredEngines

PROMPTS = (
    "strong lightning build for bossing",
    "a bow build for mapping",
    "fire warrior",
    "cold monk for bossing",
    "minion build",
    "chaos witch",
    "mercenary with a crossbow for bossing",
    "huntress with a spear for mapping",
)
CANDIDATES, LEVEL, CLOSE = 16, 90, math.log(1.05)
"""Candidates per prompt, character level, and the distance in e-folds of the objective within which a choice is as good
as the best: 5 % of damage or effective hit points."""

_ALL = 10_000
Row = dict[str, Any]


async def measure(
    settings: Settings,
    folder: Path | None = None,
    only: Collection[str] = (),
    level: int = LEVEL,
    candidates: int = CANDIDATES,
) -> dict[str, Any]:
    """Return per prompt the best candidate, and how far from it the race's choice and that of tastes alone are.

    `begun_to_finished`: what builds gain after the race that begins them, quartiles (e-folds): as far as gains differ,
    the race cannot tell.
    `only` keeps prompts that contain one of its words. Builds that `folder`/explore.json holds are not made again, so
    an interrupted run goes on where it stopped. A figure of a build that failed is null.

    Raises:
        InputError: no prompt is left.
    """
    prompts = [prompt for prompt in PROMPTS if not only or any(word in prompt for word in only)]
    if not prompts:
        raise InputError(f"No prompt contains {', '.join(only)}; there are {'; '.join(PROMPTS)}.")
    kept = Kept(None if folder is None else folder / "explore.json")
    engines = ConfiguredEngines(settings)
    try:
        engine = await engines.engine("auto")
        offered = {prompt: await offers(engine, BuildRequest(prompt=prompt, level=level)) for prompt in prompts}
    finally:
        await engines.close()
    found: list[Row] = []
    async with scratch_services(settings) as services:
        for prompt in prompts:
            request = BuildRequest(prompt=prompt, level=level)
            found.append(await compared(services, kept, request, offered[prompt], candidates))
            print(line_of(found[-1]), file=sys.stderr, flush=True)  # noqa: T201 - progress of a long run
    close = {who: sum(row[who]["behind"] is not None and row[who]["behind"] <= CLOSE for row in found) for who in WHO}
    return {
        "benchmark": "explore",
        "cores": cores(),
        "level": level,
        "prompts": found,
        "within_5_percent": close,
        "begun_to_finished": gains_of([row for one in found for row in one["candidates"]]),
        "table": [*map(line_of, found), f"within 5 % of the best, of {len(found)}: {close}"],
    }


WHO = ("race", "tastes")
"""Who chose: the race of the plain prompt, and the table of what players reach for."""


async def offers(engine: Engine, request: BuildRequest) -> list[Option]:
    """Return every way to build that the words allow, what players reach for first."""
    invariants = await extract(request, engine)
    brief = await Brief.of(ReasoningContext(request, invariants, BuildState(), engine), bases=True, nodes=True)
    return ways(brief, _ALL)


def drawn(offered: Sequence[Option], count: int, seed: str) -> list[Option]:
    """Return so many of the ways, drawn by the seed and not by any order."""
    chance = random.Random(seed)  # noqa: S311 - a draw that can be repeated, no secret
    return chance.sample(list(offered), min(count, len(offered)))


def request_for(request: BuildRequest, option: Option) -> BuildRequest:
    """Return the request that builds this way, with everything else of the prompt as it was."""
    choice = option.choice
    assert isinstance(choice, DeliveryChoice)
    known = words_of(INVARIANTS["weapon"])  # a quiver goes without saying
    held = [word for word in (*choice.weapon_types, choice.off_hand) if word in known]
    return request.model_copy(update={"overrides": {"skill": choice.skill_name, **({"weapon": held} if held else {})}})


async def compared(
    services: Services, kept: Kept, request: BuildRequest, offered: Sequence[Option], candidates: int
) -> Row:
    """Return what became of one prompt: every candidate's build, the race's and that of tastes.

    The best is that of the builds that have what was asked for, where any has: a skill that deals other damage than the
    prompt wants may score higher, and nobody asked for it; such a choice is behind nothing, and near nothing. What
    scores highest whatever it is stands beside as `best_of_all`.
    """
    chosen = drawn(offered, candidates, request.prompt)
    rows = [await built(services, kept, request_for(request, option), option.name) for option in chosen]
    own = {
        "race": await built(services, kept, request, "race"),
        "tastes": await built(services, kept, request_for(request, offered[0]), offered[0].name),
    }
    known = [row for row in (*rows, *own.values()) if row["objective"] is not None]
    as_asked = [row for row in known if row["outcome"] == Outcome.VALIDATED.value] or known
    best, best_of_all = (max((row["objective"] for row in some), default=None) for some in (as_asked, known))
    told = {
        who: {**row, "behind": behind(row["objective"], best) if row in as_asked else None} for who, row in own.items()
    }
    figures = {"allowed": len(offered), "best": best, "best_of_all": best_of_all}
    return {"prompt": request.prompt, **figures, "candidates": rows, **told}


def behind(objective: float | None, best: float | None) -> float | None:
    """Return how many e-folds of the objective a build is behind the best; null when it has none."""
    return None if objective is None or best is None else round(best - objective, 4)


async def built(services: Services, kept: Kept, request: BuildRequest, name: str) -> Row:
    """Return the figures of a build, made now or in an earlier run."""
    key = f"{request.prompt} | {request.level} | {request.effort.value} | {name}"
    if (known := kept.get(key)) is not None:
        return known
    row: Row = {"name": name, "objective": None, "dps": None, "ehp": None}
    try:
        build_id, seconds = await timed_build(services, request)
        report = await judged(services, build_id)
        row |= {key: report[key] for key in ("delivery", "outcome", "dps", "ehp")} | {"seconds": round(seconds, 1)}
        if report["status"] == "complete":
            state = BuildState.from_yaml((await services.library.export(build_id, "yaml")).decode())
            row |= {"objective": state.construction.notes.objective, "begun": begun_score(state.race)}
    except InputError as error:
        row["refused"] = error.message
    await kept.keep(key, row)
    return row


def gains_of(rows: Sequence[Row]) -> dict[str, float | int]:
    """Return what finished builds gained on what they were begun as: how many, and the quartiles of the gains.

    Not the mean: a skill that hardly deals damage when begun gains several e-folds, and is chosen by nobody.
    """
    gains = [row["objective"] - row["begun"] for row in rows if None not in (row["objective"], row.get("begun"))]
    if len(gains) < 2:
        return {"builds": len(gains)}
    lower, median, upper = (round(one, 4) for one in statistics.quantiles(gains, n=4, method="inclusive"))
    return {"builds": len(gains), "lower": lower, "median": median, "upper": upper}


def begun_score(race: Race | None) -> float | None:
    """Return the objective of the build that the race began for its winner, null where it began none."""
    winner = race.winner if race is not None else None
    if winner is None or not winner.is_whole:
        return None
    return winner.figures[-1].score


def line_of(row: Mapping[str, Any]) -> str:
    """Return a prompt's result in a line."""
    told = [f"{who} {row[who].get('delivery')}: {row[who]['behind']} behind" for who in WHO]
    best = f"best {row['best']}"
    if row["best_of_all"] != row["best"]:
        best += f" ({row['best_of_all']} without what was asked for)"
    return f"{row['prompt']!r}: {len(row['candidates'])} of {row['allowed']}, {best}; {'; '.join(told)}"
