"""`bench wishes`: prompts as people write them, built with and without iterating, and what came of each wish."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from app.bench.builds import cores, scratch_services, timed_build
from app.bench.quality import suite_file
from app.core.config import Settings
from app.core.errors import InputError
from app.model.names import GearTier
from app.model.record import BuildRequest
from app.model.wishes import WishState
from app.phases.iterate import MOST_ITERATIONS
from app.service.view import BuildView

SUITE = "wishes.yaml"


class WishPrompt(BaseModel):
    """One prompt; level and gear only where the prompt does not say them and the default is not meant."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    prompt: str = Field(min_length=3)
    level: int | None = Field(default=None, ge=1, le=100)
    gear: GearTier | None = None


def load(only: Collection[str] = ()) -> list[WishPrompt]:
    """Return the prompts of the suite; `only` keeps those that contain one of its words.

    Raises:
        InputError: nothing is left.
    """
    text = suite_file().with_name(SUITE).read_text(encoding="utf-8")
    prompts = TypeAdapter(list[WishPrompt]).validate_python(yaml.safe_load(text))
    kept = [one for one in prompts if not only or any(word.casefold() in one.prompt.casefold() for word in only)]
    if not kept:
        raise InputError(f"No prompt of the suite contains {', '.join(only)}.")
    return kept


async def measure(settings: Settings, only: Collection[str] = ()) -> dict[str, Any]:
    """Return what became of every wish, with the usual rounds of improvement and with none.

    A build that took no round is the same with none (same request, seed and engine), so only the others are built
    again.

    `totals`: wishes by state, builds by outcome, and `validated_with_unmet`, which must be 0; `by_iterating`: wishes
    that only the rounds of improvement met; `lost`: wishes met without them and not with them.

    Raises:
        InputError: nothing of the suite is left.
    """
    usual = await runs_of(settings, load(only), MOST_ITERATIONS)
    iterated = [(number, one) for number, (one, row) in enumerate(usual) if row["iterations"]]
    again = await runs_of(settings, [one for _, one in iterated], 0)
    without = [row for _, row in usual]
    for (number, _), (_, row) in zip(iterated, again, strict=True):
        without[number] = row
    return {"benchmark": "wishes", "cores": cores(), **compared([row for _, row in usual], without)}


async def runs_of(
    settings: Settings, prompts: Sequence[WishPrompt], iterations: int
) -> list[tuple[WishPrompt, dict[str, Any]]]:
    """Build each prompt with at most so many rounds of improvement; return each with what its build says of wishes."""
    runs: list[tuple[WishPrompt, dict[str, Any]]] = []
    async with scratch_services(settings, iterations=iterations) as services:
        for one in prompts:
            request = BuildRequest(prompt=one.prompt, level=one.level, gear=one.gear)
            build_id, seconds = await timed_build(services, request)
            row = {"seconds": round(seconds, 1), **told(await services.library.get(build_id))}
            runs.append((one, row))
            line = f"[{len(runs)}/{len(prompts)}, at most {iterations} rounds] {line_of(row)}"
            print(line, file=sys.stderr, flush=True)  # noqa: T201 - progress of a long run
    return runs


def told(view: BuildView) -> dict[str, Any]:
    """Return what a build says of its wishes."""
    wishes = {f"{wish.kind}: {wish.wish}": wish.state.value for wish in view.wishes}
    outcome = view.outcome.value if view.outcome is not None else view.status.value
    return {"prompt": view.prompt, "outcome": outcome, "iterations": view.iteration, "wishes": wishes}


def line_of(row: dict[str, Any]) -> str:
    """Return a build in a line: outcome, rounds, time, and each wish that is not met."""
    open_wishes = [f"{state.replace('_', ' ')} {wish}" for wish, state in row["wishes"].items() if state != "met"]
    rest = f"; {', '.join(open_wishes)}" if open_wishes else ""
    return f"{row['prompt']!r}: {row['outcome']}, {row['iterations']} rounds, {row['seconds']:.0f} s{rest}"


def compared(usual: Sequence[dict[str, Any]], without: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return totals of both runs and the wishes in which they differ."""
    met = [
        (row["prompt"], wish, state == WishState.MET, other["wishes"].get(wish) == WishState.MET)
        for row, other in zip(usual, without, strict=True)
        for wish, state in row["wishes"].items()
    ]
    return {
        "totals": totals(usual),
        "without_iterating": totals(without),
        "by_iterating": [f"{prompt}: {wish}" for prompt, wish, now, before in met if now and not before],
        "lost": [f"{prompt}: {wish}" for prompt, wish, now, before in met if before and not now],
        "runs": list(usual),
        "table": [line_of(row) for row in usual],
    }


def totals(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return counts over the builds of one run."""
    states = Counter(state for row in runs for state in row["wishes"].values())
    unsound = [
        row["prompt"]
        for row in runs
        if row["outcome"] == "validated" and {WishState.UNMET, WishState.NOT_UNDERSTOOD} & set(row["wishes"].values())
    ]
    return {
        "builds": len(runs),
        "outcomes": dict(sorted(Counter(row["outcome"] for row in runs).items())),
        "wishes": dict(sorted(states.items())),
        "validated_with_unmet": unsound,
        "iterated": sum(row["iterations"] > 0 for row in runs),
    }
