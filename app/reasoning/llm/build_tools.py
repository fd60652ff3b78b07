"""Construct's tools: trying changes on the build that the search made; nothing is kept by trying."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from app.model.moves import CraftItem, Move, Trial
from app.model.stats import DPS, EHP, FREE_SPIRIT
from app.reasoning.base import Experimenter
from app.reasoning.llm.toolbox import Arguments, Tool

Metric = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9.]{0,59}$")]
Metrics = Annotated[
    list[Metric], Field(max_length=8, description="PoB's output names, such as DPS, TotalEHP, Life, FireResist")
]
Text = Annotated[str, Field(min_length=1, max_length=80)]
Moves = Annotated[list[Move], Field(min_length=1, max_length=8)]
_USUAL = (DPS, EHP, "Life", "EnergyShield", FREE_SPIRIT)


class ReadStats(Arguments):
    """The build's figures; empty = all."""

    metrics: Annotated[list[Metric], Field(max_length=40)] = Field(default_factory=list)


class WhatIf(Arguments):
    """Changes that are tried together."""

    changes: Moves
    metrics: Metrics = Field(default_factory=lambda: list(_USUAL))


class RankSupports(Arguments):
    """A skill that the build has."""

    skill: Text


class OptimiseTree(Arguments):
    """Nothing to say."""


class Craft(Arguments):
    """A slot, and the base to craft on where it matters."""

    slot: Text
    base: Text | None = None


class Variant(Arguments):
    """One row of an experiment."""

    name: Text
    changes: Moves


class RunExperiment(Arguments):
    """Variants, each tried by itself, and the metrics that the table shows."""

    variants: Annotated[list[Variant], Field(min_length=1, max_length=12)]
    metrics: Metrics = Field(default_factory=lambda: list(_USUAL))


class BuildTrials:
    """The tools over an experimenter. A `gain` above 0 means that the build's score would rise."""

    def __init__(self, experimenter: Experimenter) -> None:
        self._experimenter = experimenter

    def tools(self) -> list[Tool]:
        """Return construct's own tools."""
        return [
            Tool("read_stats", "Read the figures of the build as it is.", ReadStats, self.stats),
            Tool("what_if", "Try changes together, keeping none.", WhatIf, self.what_if),
            Tool("rank_supports", "Rank the supports that a skill could have.", RankSupports, self.supports),
            Tool("optimise_tree", "Find the passives that would pay most per point.", OptimiseTree, self.tree),
            Tool("craft_item", "Craft the best item for a slot and try it on.", Craft, self.craft),
            Tool("run_experiment", "Try variants one by one and get a table.", RunExperiment, self.experiment),
        ]

    async def stats(self, asked: ReadStats) -> dict[str, float]:
        """Return figures."""
        figures = await self._experimenter.read_stats()
        wanted = asked.metrics or sorted(figures)
        return {name: round(figures[name], 2) for name in wanted if name in figures}

    async def what_if(self, asked: WhatIf) -> dict[str, Any]:
        """Return what the changes would do."""
        (trial,) = await self._experimenter.experiment([asked.changes], asked.metrics)
        return shown(trial)

    async def supports(self, asked: RankSupports) -> list[dict[str, Any]]:
        """Return supports, the most helpful first."""
        return [
            {"support": name, **shown(trial)} for name, trial in await self._experimenter.rank_supports(asked.skill)
        ]

    async def tree(self, asked: OptimiseTree) -> list[dict[str, Any]]:
        """Return passives, the best per point first."""
        return [{"passive": name, **shown(trial)} for name, trial in await self._experimenter.optimise_tree()]

    async def craft(self, asked: Craft) -> dict[str, Any]:
        """Return the item and what it would do."""
        move = CraftItem(op="craft_item", slot=asked.slot, base=asked.base)
        (trial,) = await self._experimenter.experiment([[move]], list(_USUAL))
        return shown(trial)

    async def experiment(self, asked: RunExperiment) -> list[dict[str, Any]]:
        """Return one row per variant, the build as it is first."""
        rows = await self._experimenter.experiment([[], *(v.changes for v in asked.variants)], asked.metrics)
        names = ["as it is", *(variant.name for variant in asked.variants)]
        return [{"variant": name, **shown(trial)} for name, trial in zip(names, rows, strict=True)]


def shown(trial: Trial) -> dict[str, Any]:
    """Return a trial as a model sees it."""
    row: dict[str, Any] = {"gain": None if trial.gain is None else round(trial.gain, 5)}
    row |= {name: round(value, 2) for name, value in trial.figures.items()}
    if trial.made:
        row["made"] = list(trial.made)
    if trial.problem:
        row["problem"] = trial.problem
    return row
