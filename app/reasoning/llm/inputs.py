"""What a model is told: the step's prompts with their knowledge, then everything about the build as fenced data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from app.knowledge.feasibility import NOT_TO_BE_HAD
from app.model.blueprint import GearItem
from app.model.conflicts import BuildConflict, Suggestion
from app.model.demands import Demands
from app.model.names import SubProblemName
from app.model.record import BuildRequest
from app.model.stats import CHAOS_RESISTANCE, DPS, EHP, FREE_SPIRIT, HITS, MOVEMENT
from app.model.sub_problems import Decision
from app.reasoning.base import ReasoningContext
from app.reasoning.llm.talk import Entries, HeldEntries

_FIGURES = (
    DPS, EHP, "Life", "EnergyShield", "Mana", "Spirit", FREE_SPIRIT, "Armour", "Evasion",
    "FireResist", "ColdResist", "LightningResist", CHAOS_RESISTANCE, "Str", "Dex", "Int", "CritChance", "Speed",
    "ManaPerSecondCost", "ManaRegenRecovery", MOVEMENT, *HITS,
)  # fmt: skip

_MOST_STATS = 150
"""The shortest names are the plain figures; the longer ones are details of them."""


def request(asked: BuildRequest) -> dict[str, Any]:
    """Return what the user sent."""
    return {"prompt": asked.prompt, "level": asked.level, "gear": asked.gear, "overrides": asked.overrides}


def about(ctx: ReasoningContext) -> dict[str, Any]:
    """Return what every step is told: request, constraints and which of them no build can meet, what is decided without
    the alternatives, the engine."""
    never = [line for line in ctx.invariants.assumptions if line.endswith(NOT_TO_BE_HAD)]
    return {
        "request": request(ctx.request),
        "constraints": [item.model_dump(mode="json") for item in ctx.invariants.invariants],
        **({"cannot be had": never} if never else {}),
        "decisions": HeldEntries(
            {
                name.value: {"name": sub.decision.name, "reason": sub.decision.reason, **_choice(sub.decision)}
                for name, sub in ctx.state.sub_problems.items()
                if sub.decision is not None and sub.is_decided
            }
        ),
        "engine": ctx.engine.version.model_dump(),
    }


def _choice(decision: Decision) -> dict[str, Any]:
    """Return the choice; ids of excluded things tell a model nothing."""
    left_out = {"kind", "excluded_nodes", "excluded_gems", "notables"}
    return {"choice": decision.choice.model_dump(mode="json", exclude=left_out)}


def question(ctx: ReasoningContext, name: SubProblemName) -> dict[str, Any]:
    """Return what is asked of a question: demands of conflicts, what was tried, what failed."""
    sub = ctx.state.sub_problems.get(name)
    demanded: list[dict[str, Any]] = []
    for constraint in sub.constraints if sub else []:
        known = constraint.model_dump(mode="json", include={"demand", "values", "text"})
        # what every constraint has is left out where it says nothing
        put = constraint.model_dump(mode="json", include={"strategy", "iteration", "follows"}, exclude_defaults=True)
        demanded.append({**known, "values": {**known["values"], **put}})
    return {
        "name": name.value,
        "demands": demanded,
        "tried_before": [decision.name for decision in sub.prior_attempts] if sub else [],
        "failed": [e.option for e in ctx.state.eliminated if e.sub_problem is name],
    }


def options(decision: Decision) -> list[dict[str, Any]]:
    """Return the options that the rules see, best first, in their words."""
    first = {"name": decision.name, "reason": decision.reason, **_choice(decision)}
    others = [{"name": o.name, "score": o.score, "against": o.rejected_because} for o in decision.alternatives]
    return [first, *others]


def demands(asked: Demands) -> dict[str, Any]:
    """Return the figures that a build must reach."""
    return {
        "level": asked.level,
        "gear": asked.gear.value,
        **asked.floors.model_dump(exclude={"weapon_set_points"}),
    }


async def passives(ctx: ReasoningContext) -> dict[str, list[str]]:
    """Return the names of the build's notables and keystones, and those of its other passives with their number."""
    owned = {node.id for node in ctx.state.blueprint.nodes} if ctx.state.blueprint is not None else set()
    mine = [node for node in await ctx.engine.facts.nodes() if node.id in owned]
    small = Counter(node.name for node in mine if node.kind not in _NAMED)
    return {
        "notables": sorted(node.name for node in mine if node.kind in _NAMED),
        "passives": [f"{count} x {name}" for name, count in sorted(small.items())],
    }


_NAMED = ("notable", "keystone")


def measured(ctx: ReasoningContext) -> list[dict[str, Any]] | str:
    """Return what became of the proposals so far, each with its measurement."""
    rows = [
        {
            "proposal": one.idea,
            "result": f"refused: {one.refused_because}" if one.refused_because else "kept",
            "gain": None if one.gain is None else round(one.gain, 5),
            "why": {name: round(worth, 4) for name, worth in one.parts.items() if round(worth, 4)},
            **{name: round(value, 2) for name, value in one.figures.items()},
        }
        for one in ctx.state.construction.notes.advice
    ]
    return rows or "(nothing was proposed for this build yet)"


def warnings(ctx: ReasoningContext) -> list[str]:
    """Return what is known to be missing, and what falls short within tolerance."""
    return [*(one.message for one in ctx.state.conflicts), *ctx.state.construction.notes.tolerated]


def _worn(item: GearItem) -> str:
    """Return an item with the ids of its affixes, which say what they are."""
    affixes = ", ".join(roll.id for roll in (*item.prefixes, *item.suffixes))
    return f"{item.title or item.base}{f': {affixes}' if affixes else ''}"


def build(
    ctx: ReasoningContext, figures: Mapping[str, float], passives: Mapping[str, list[str]] | None = None
) -> Entries:
    """Return the constructed build in names, with its main figures; without `passives` their number alone."""
    main = {key: round(figures[key], 2) for key in _FIGURES if key in figures}
    blueprint = ctx.state.blueprint
    if blueprint is None:
        return Entries(figures=main)
    parts: dict[str, Any] = {
        "class": blueprint.class_name,
        "ascendancy": blueprint.ascendancy,
        "level": blueprint.level,
        "skills": [
            {
                "skill": group.gems[0].name,
                "main": index == blueprint.main_group,
                "supports": [gem.name for gem in group.gems[1:]],
            }
            for index, group in enumerate(blueprint.groups, start=1)
            if group.gems
        ],
        "items": {slot: _worn(item) for slot, item in sorted(blueprint.items.items())},
        **(passives or {"passives": len(blueprint.nodes)}),
        "figures": main,
    }
    return Entries(parts)


def stats(figures: Mapping[str, float]) -> dict[str, float]:
    """Return the figures that are not 0, as many as a prompt bears."""
    known = sorted((key for key, value in figures.items() if value), key=lambda key: (len(key), key))
    return {key: round(figures[key], 2) for key in sorted(known[:_MOST_STATS])}


def conflicts(found: Sequence[BuildConflict]) -> list[dict[str, Any]]:
    """Return conflicts with the strategies that are still untried."""
    return [
        {
            "conflict": conflict.id,
            "severity": conflict.severity.value,
            "message": conflict.message,
            "evidence": conflict.evidence.model_dump(mode="json"),
            "attempts": conflict.attempts,
            "strategies": [
                {"strategy": s.strategy, "sub_problem": s.sub_problem.value, "demand": s.demand.value, "text": s.text}
                for s in strategies(conflict)
            ],
        }
        for conflict in found
    ]


def strategies(conflict: BuildConflict) -> list[Suggestion]:
    """Return the ways out that are still untried."""
    return [one for one in conflict.suggested_solutions if one.strategy not in conflict.tried]
