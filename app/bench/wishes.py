"""`bench wishes`: prompts as people write them, built, and what came of each wish before and after iterating."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from app.bench.builds import Kept, cores, scratch_services, timed_build, write
from app.bench.quality import suite_file
from app.core.config import Settings
from app.core.errors import InputError
from app.model.names import Effort, GearTier
from app.model.record import MIN_PROMPT, BuildRequest
from app.model.state import BuildState
from app.model.wishes import WishOutcome, WishState
from app.service import Services
from app.service.library import ExportFormat
from app.service.presentation import as_markdown, as_text

SUITE = "wishes.yaml"
EXPORTS: tuple[ExportFormat, ...] = ("xml", "yaml")


class WishPrompt(BaseModel):
    """One prompt; level and gear only where the prompt does not say them and the default is not meant."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    prompt: str = Field(min_length=MIN_PROMPT)
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


async def measure(
    settings: Settings,
    only: Collection[str] = (),
    folder: Path | None = None,
    level: int | None = None,
    effort: Effort = Effort.NORMAL,
) -> dict[str, Any]:
    """Return what became of every wish, at the end and in the first construction (round 0 of the same build).

    A build with no rounds of improvement is round 0 of one with rounds: same request, seed and engine, same bytes.

    `totals`: wishes by state, builds by outcome, and `validated_with_unmet`, which must be 0; `by_iterating`: wishes
    that only the rounds of improvement met; `lost`: wishes met without them and not with them. Builds that
    `folder`/wishes.json holds are not made again, so an interrupted run goes on where it stopped; beside it is what
    the owner of each build is given (`write_told`). `level`: of all characters in place of the suite's.

    Raises:
        InputError: nothing of the suite is left.
    """
    prompts = load(only)
    kept = Kept(None if folder is None else folder / "wishes.json")
    rows: list[dict[str, Any]] = []
    async with scratch_services(settings) as services:
        for number, one in enumerate(prompts, start=1):
            request = BuildRequest(prompt=one.prompt, level=level or one.level, gear=one.gear, effort=effort)
            name = name_of(one.prompt, level, effort)
            row = kept.get(name)
            if row is None:
                row = await run(services, request)
                if folder is not None:
                    await write_told(services, row["id"], folder / slug(name))
                await kept.keep(name, row)
            rows.append(row)
            print(f"[{number}/{len(prompts)}] {line_of(rows[-1])}", file=sys.stderr, flush=True)  # noqa: T201 - hours
    return {"benchmark": "wishes", "cores": cores(), **compared(rows)}


async def run(services: Services, request: BuildRequest) -> dict[str, Any]:
    """Make one build and return what it says of its wishes; `first`: the same of its first construction.

    `rounds`: what each round came to, in a sentence.
    """
    build_id, seconds = await timed_build(services, request)
    view = await services.library.get(build_id)
    wishes = {f"{wish.kind}: {wish.wish}": wish.state.value for wish in view.wishes}
    first, rounds = wishes, []
    if "state" in view.links:
        state = BuildState.from_yaml((await services.library.export(build_id, "yaml")).decode())
        rounds = [attempt.line for attempt in state.attempts]
        first = before_iterating(state) or wishes
    outcome = view.outcome.value if view.outcome is not None else view.status.value
    told = {
        "id": build_id,
        "prompt": view.prompt,
        "outcome": outcome,
        "iterations": view.iteration,
        "seconds": round(seconds, 1),
    }
    return {**told, "wishes": wishes, "first": first, "rounds": rounds}


def name_of(prompt: str, level: int | None, effort: Effort) -> str:
    """Return what a build is kept as: the prompt, with the level and effort where they are not the suite's own."""
    return " ".join(
        [prompt, *([f"level {level}"] if level else ()), *([effort] if effort is not Effort.NORMAL else ())]
    )


def slug(prompt: str) -> str:
    """Return a prompt as the name of a file: its letters and digits, joined by hyphens."""
    return "-".join(re.findall(r"[a-z0-9]+", prompt.casefold()))


async def write_told(services: Services, build_id: str, stem: Path) -> None:
    """Write what a build's owner is given, as `stem`.xml, .yaml, .txt and .md; nothing of a build without a file."""
    services.library.forget(build_id)
    shown = await services.library.present(build_id)
    if "xml" not in shown.build.links:
        return
    files = {"txt": as_text(shown).encode(), "md": as_markdown(shown).encode()}
    for form in EXPORTS:
        files[form] = await services.library.export(build_id, form)
    for ending, data in files.items():
        await write(stem.with_name(f"{stem.name}.{ending}"), data)


def before_iterating(state: BuildState) -> dict[str, str]:
    """Return what became of each wish in the first construction, nothing where no round followed it."""
    if not state.attempts:
        return {}
    missed = state.attempts[0].unmet

    def then(wish: WishOutcome) -> WishState:
        if wish.state not in (WishState.MET, WishState.UNMET):
            return wish.state
        return WishState.UNMET if wish.wish in missed else WishState.MET

    return {f"{wish.kind}: {wish.wish}": then(wish).value for wish in state.wishes}


def line_of(row: dict[str, Any]) -> str:
    """Return a build in a line: outcome, rounds, time, each wish that is not met, and each that only the rounds met."""
    open_wishes = [f"{state.replace('_', ' ')} {wish}" for wish, state in row["wishes"].items() if state != "met"]
    open_wishes += [
        f"by iterating {wish}" for wish, state in row["first"].items() if row["wishes"][wish] == "met" != state
    ]
    rest = f"; {', '.join(open_wishes)}" if open_wishes else ""
    return f"{row['prompt']!r}: {row['outcome']}, {row['iterations']} rounds, {row['seconds']:.0f} s{rest}"


def compared(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return totals at the end and before iterating, and the wishes in which the two differ."""
    met = [
        (row["prompt"], wish, state == WishState.MET, row["first"].get(wish) == WishState.MET)
        for row in rows
        for wish, state in row["wishes"].items()
    ]
    return {
        "totals": totals(rows),
        "wishes_before_iterating": states([row["first"] for row in rows]),
        "by_iterating": [f"{prompt}: {wish}" for prompt, wish, now, before in met if now and not before],
        "lost": [f"{prompt}: {wish}" for prompt, wish, now, before in met if before and not now],
        "runs": list(rows),
        "table": [line_of(row) for row in rows],
    }


def states(wishes: Sequence[dict[str, str]]) -> dict[str, int]:
    """Return how many wishes of all builds are in each state."""
    return dict(sorted(Counter(state for one in wishes for state in one.values()).items()))


def totals(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return counts over the builds of one run."""
    unsound = [
        row["prompt"]
        for row in runs
        if row["outcome"] == "validated" and {WishState.UNMET, WishState.NOT_UNDERSTOOD} & set(row["wishes"].values())
    ]
    return {
        "builds": len(runs),
        "outcomes": dict(sorted(Counter(row["outcome"] for row in runs).items())),
        "wishes": states([row["wishes"] for row in runs]),
        "validated_with_unmet": unsound,
        "iterated": sum(row["iterations"] > 0 for row in runs),
    }
