"""`bench reasoner`: the same prompts decided by the rules and by the language model of the settings, side by side."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from typing import Any, Final

from app.bench.builds import build, cores, scratch_services
from app.core.config import Settings
from app.core.errors import InputError, ReasonerMissing
from app.model.names import GearTier
from app.model.record import BuildRequest, ReasonerChoice
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
