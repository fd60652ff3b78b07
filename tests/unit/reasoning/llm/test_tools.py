"""The tools' own answers: what is found, what is not, and how trials are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from app.core.errors import LlmBadOutput, ToolRefused
from app.model.moves import CraftItem, Move, Trial
from app.reasoning.llm.tools import (
    AscendancySearch,
    BuildTrials,
    Craft,
    GameSearch,
    GemSearch,
    PassiveSearch,
    RankSupports,
    ReadStats,
    RunExperiment,
    SupportSearch,
    WhatIf,
    shown,
)
from tests.fakes.engine import FactsEngine


async def test_gems_by_all_words_names_first(world: FactsEngine) -> None:
    found = await GameSearch(world.facts).gems(GemSearch(query="lightning spell"))
    assert {gem["name"] for gem in found} == {"Spark", "Arc", "Elemental Weakness"}
    assert (await GameSearch(world.facts).gems(GemSearch(query="spark")))[0]["name"] == "Spark"
    assert await GameSearch(world.facts).gems(GemSearch(query="spark bow")) == []
    assert all(gem["spirit"] for gem in await GameSearch(world.facts).gems(GemSearch(persistent=True)))
    assert len(await GameSearch(world.facts).gems(GemSearch())) == 20


async def test_supports_of_a_skill_that_exists(world: FactsEngine) -> None:
    found = await GameSearch(world.facts).supports(SupportSearch(skill="spark"))
    assert [gem["name"] for gem in found] == ["Minion Life", "Pierce"]
    with pytest.raises(LlmBadOutput, match=r"the closest are .*spark"):
        await GameSearch(world.facts).supports(SupportSearch(skill="Sparc"))


async def test_passives_and_ascendancies_are_apart(world: FactsEngine) -> None:
    search = GameSearch(world.facts)
    assert [n["name"] for n in await search.passives(PassiveSearch(query="", kind="keystone"))] == ["Chaos Inoculation"]
    assert await search.passives(PassiveSearch(query="slam")) == []
    assert [n["name"] for n in await search.ascendancy(AscendancySearch(ascendancy="titan"))] == ["Titanic"]


class Shop:
    """An experimenter that remembers what was tried."""

    def __init__(self) -> None:
        self.tried: list[list[Move]] = []
        self.left: int | None = None

    async def read_stats(self) -> Mapping[str, float]:
        return {"DPS": 10.123, "Life": 5.0}

    def worth(self) -> Mapping[str, float]:
        return {"DPS": 1.0}

    async def names(self) -> set[str]:
        return set()

    async def experiment(self, variants: Sequence[Sequence[Move]], metrics: Sequence[str]) -> list[Trial]:
        self.tried = [list(moves) for moves in variants]
        return [Trial(figures={"DPS": 1.0}, gain=0.1234567, made=("Ruby Ring",)) for _ in variants]

    async def rank_supports(self, skill: str) -> list[tuple[str, Trial]]:
        return [("Pierce", Trial(gain=0.5)), ("Fork", Trial(problem="no"))]

    async def optimise_tree(self) -> list[tuple[str, Trial]]:
        return []


def test_a_loss_says_what_it_comes_from() -> None:
    parts = {"DPS": -0.21, "attributes": -3.66, "TotalEHP": 0.0, "targets": 0.0001}
    assert shown(Trial(gain=-3.87, parts=parts)) == {"gain": -3.87, "why": {"attributes": -3.66, "DPS": -0.21}}


class Sketches:
    """Drafts that remember what was tried on which."""

    names = ("Arc", "Spark")
    left = 5

    def __init__(self) -> None:
        self.tried: list[tuple[str, int]] = []

    async def experiment(self, draft: str, variants: Sequence[Sequence[Move]], metrics: Sequence[str]) -> list[Trial]:
        self.tried.append((draft, len(variants)))
        return [Trial(figures={"DPS": 1.0}, gain=0.5) for _ in variants]


async def test_before_there_is_a_build_moves_are_tried_on_drafts() -> None:
    drafts = Sketches()
    trials = BuildTrials(None, drafts)
    move = {"op": "remove_skill", "skill": "Arc"}
    row = await trials.what_if(WhatIf.model_validate({"changes": [move], "metrics": ["DPS"]}))
    assert row == {"of draft": "Arc", "gain": 0.5, "DPS": 1.0}
    asked = {"variants": [{"name": "v", "changes": [move]}], "draft": "Spark"}
    table = await trials.experiment(RunExperiment.model_validate(asked))
    assert [(row["variant"], row["of draft"]) for row in table] == [("as it is", "Spark"), ("v", "Spark")]
    assert drafts.tried == [("Arc", 1), ("Spark", 2)]
    with pytest.raises(ToolRefused, match="there is a build now"):
        await BuildTrials(Shop()).experiment(RunExperiment.model_validate(asked))
    with pytest.raises(ToolRefused, match="no build to try it on yet"):
        await BuildTrials().what_if(WhatIf.model_validate({"changes": [move], "draft": "Arc"}))


async def test_trials_as_a_model_sees_them() -> None:
    shop = Shop()
    trials = BuildTrials(shop)
    assert await trials.stats(ReadStats(metrics=["DPS", "Missing"])) == {"DPS": 10.12}
    assert (await trials.craft(Craft(slot="Ring 1", wants=["mana"])))["made"] == ["Ruby Ring"]
    assert shop.tried == [[CraftItem(op="craft_item", slot="Ring 1", wants=["mana"])]]
    table = await trials.experiment(
        RunExperiment.model_validate(
            {"variants": [{"name": "v", "changes": [{"op": "remove_skill", "skill": "Arc"}]}], "metrics": ["DPS"]}
        )
    )
    assert [row["variant"] for row in table] == ["as it is", "v"]
    assert table[1]["gain"] == 0.12346
    assert await trials.supports(RankSupports(skill="Spark")) == [
        {"support": "Pierce", "gain": 0.5},
        {"support": "Fork", "gain": None, "problem": "no"},
    ]
