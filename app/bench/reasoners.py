"""The same prompts decided by the rules and by the language model of the settings, side by side: `bench reasoner`, and
the table of `eval run --reasoner llm`."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from statistics import fmean
from typing import Any, Final

from app.bench.builds import build, cores, scratch_services
from app.core.config import Settings
from app.core.errors import InputError, ReasonerMissing
from app.model.base import Model
from app.model.demands import Demands
from app.model.evaluations import EvaluationRun
from app.model.names import GearTier, Outcome
from app.model.record import BuildRequest, ReasonerChoice
from app.model.wishes import WishState
from app.service import Services
from app.service.evaluations import demands_on, objective_of
from app.wiring.reasoners import is_set_up

PROMPTS: Final[tuple[tuple[str, int], ...]] = (
    ("lightning sorceress for mapping", 90),
    ("titan with maces for bossing", 90),
    ("deadeye with bow, evasion", 85),
    ("cold witch, life-based, for bossing", 80),
    ("infernalist with fire spells", 75),
    ("monk with quarterstaff, lightning", 70),
    ("lich, chaos damage over time, energy shield", 70),
    ("huntress with spears for mapping", 65),
    ("mercenary with crossbow, armour", 60),
    ("druid, bear form, hardcore", 50),
    ("pathfinder, poison bow, league starter", 40),
    ("witch leveling with minions", 25),
)
"""Prompt and level: every class, spells, attacks, minions; mapping, bossing, levelling."""

_COLUMNS = ("prompt", "level", "reasoner", "outcome", "DPS", "EHP", "calls", "LLM requests", "USD", "seconds")


async def measure(settings: Settings, only: Collection[str] = ()) -> dict[str, Any]:
    """Return outcome, DPS, EHP, calls, requests, USD and seconds (s) of each prompt, once per reasoner.

    `only` keeps the prompts that contain one of its words. One line per finished build goes to stderr.

    Raises:
        InputError: no prompt is left.
        ReasonerMissing: no language model is set up.
    """
    chosen = [(prompt, level) for prompt, level in PROMPTS if not only or any(word in prompt for word in only)]
    if not chosen:
        raise InputError(f"No prompt contains {', '.join(only)}.")
    if not is_set_up(settings):
        raise ReasonerMissing("No language model is set up, so there is nothing to compare the rules with.")
    rows: list[dict[str, Any]] = []
    reasoners: tuple[ReasonerChoice, ReasonerChoice] = ("rules", "llm")
    for prompt, level in chosen:
        for reasoner in reasoners:
            request = BuildRequest(prompt=prompt, level=level, gear=GearTier.MID, reasoner=reasoner)
            async with scratch_services(settings) as services:  # anew each time: the second must not find a warm cache
                report = await build(services, request)
                recorded = await services.recordings.metrics(report["id"])
                degraded = (await services.library.get(report["id"])).reasoner.degraded
            chats = [tool for phase in recorded.phases for tool in phase.tools if tool.tool == "llm.chat"]
            row = {
                "prompt": prompt,
                "level": level,
                "reasoner": reasoner,
                "degraded": degraded,
                "outcome": report["outcome"] or report["status"],
                "delivery": report["delivery"],
                "dps": report["dps"],
                "ehp": report["ehp"],
                "calls": recorded.run.calls,
                "requests": sum(chat.attempts for chat in chats),
                "usd": recorded.run.cost_usd,
                "seconds": report["seconds"],
            }
            rows.append(row)
            print(" | ".join(_cells(row)), file=sys.stderr, flush=True)  # noqa: T201 - progress of a long run
    return {"benchmark": "reasoner", "cores": cores(), "model": settings.llm_model, "table": table(rows), "runs": rows}


def _cells(row: dict[str, Any]) -> list[str]:
    shown = [f"{row[key] or 0:,.0f}" for key in ("dps", "ehp", "calls", "requests")]
    return [
        row["prompt"],
        str(row["level"]),
        row["reasoner"],
        row["outcome"],
        *shown,
        row["usd"] or "-",
        f"{row['seconds']:.1f}",
    ]


def table(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return the rows as the lines of a Markdown table."""
    head = ["| " + " | ".join(_COLUMNS) + " |", "|" + "---|" * len(_COLUMNS)]
    return [*head, *("| " + " | ".join(_cells(row)) + " |" for row in rows)]


class RunFigures(Model):
    """What a run came to. `objective`: see `objective_of`, under the demands of the rules' reading. `met` of `wishes`.
    `tokens`: sent to and received from a language model. `usd`: what is known of its cost, None where nothing is.
    """

    passed: bool
    validated: bool
    objective: float | None
    wishes: int
    met: int
    tokens: int
    usd: float | None


class AgainstRules(Model):
    """A task's trial, by the rules and by the language model."""

    task: str
    trial: int
    rules: RunFigures
    model: RunFigures


async def against(
    services: Services, twins: Sequence[EvaluationRun], runs: Sequence[EvaluationRun]
) -> list[AgainstRules]:
    """Return each run of the language model beside the rules' of the same task and trial."""
    by_rules = {(run.task, run.trial): run for run in twins}
    rows = []
    for run in runs:
        twin = by_rules[run.task, run.trial]
        demands = demands_on(await services.library.get(twin.build_id))
        figures = [await _figures(services, one, demands) for one in (twin, run)]
        rows.append(AgainstRules(task=run.task, trial=run.trial, rules=figures[0], model=figures[1]))
    return rows


async def _figures(services: Services, run: EvaluationRun, demands: Demands) -> RunFigures:
    view = await services.library.get(run.build_id)
    spent = (await services.recordings.metrics(run.build_id)).run
    return RunFigures(
        passed=run.passed,
        validated=view.outcome is Outcome.VALIDATED,
        objective=objective_of(view, demands),
        wishes=len(view.wishes),
        met=sum(wish.state is WishState.MET for wish in view.wishes),
        tokens=sum((spent.tokens or {}).get(kind, 0) for kind in ("input", "output")),
        usd=None if spent.cost_usd is None else float(spent.cost_usd),
    )


def against_text(rows: Sequence[AgainstRules]) -> list[str]:
    """Return the table: a line per task, then both sides in all."""
    if not rows:
        return []
    told = [["task", "objective: rules", "model", "difference", "wishes: rules", "model", "tokens", "USD"]]
    for row in rows:
        pair = (row.rules.objective, row.model.objective)
        gap = None if pair[0] is None or pair[1] is None else pair[1] - pair[0]
        wishes = [f"{side.met}/{side.wishes}" for side in (row.rules, row.model)]
        cells = [_shown(pair[0], ".3f"), _shown(pair[1], ".3f"), _shown(gap, "+.3f"), *wishes]
        told.append([row.task, *cells, f"{row.model.tokens:,}", _shown(row.model.usd, ".4f")])
    widths = [max(len(row[column]) for row in told) for column in range(len(told[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in told]
    return [*lines, "", _all_of("rules", [row.rules for row in rows]), _all_of("model", [row.model for row in rows])]


def _all_of(who: str, sides: Sequence[RunFigures]) -> str:
    valid, known = sum(side.validated for side in sides), [side.usd for side in sides if side.usd is not None]
    objectives = [side.objective for side in sides if side.objective is not None]
    parts = [
        f"{sum(side.passed for side in sides)} of {len(sides)} passed, {valid} validated",
        f"objective {fmean(objectives):.3f} on average" if objectives else "no objective",
        f"{sum(side.met for side in sides)} of {sum(side.wishes for side in sides)} wishes met",
    ]
    if who == "model":
        each = f"{sum(known) / valid:.4f}" if known and valid else "-"
        parts.append(f"{sum(side.tokens for side in sides):,} tokens, USD per valid build {each}")
    return f"{who}: {', '.join(parts)}"


def _shown(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)
