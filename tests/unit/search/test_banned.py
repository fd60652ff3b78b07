"""Passives that break the plan's pool are never bought."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.model.sub_problems import ScalingChoice, SurvivabilityChoice
from app.search.passives.graph import PassiveGraph
from app.search.stages.passives import banned_nodes
from tests.fakes.arithmetic import World, active, node
from tests.unit.search.conftest import PLAN, Context

NODES = [
    node(1, 2, 3, kind="start"),
    node(2, 1, kind="keystone").model_copy(update={"name": "Chaos Inoculation"}),
    node(3, 1, mods=["8% of Skill Mana Costs Converted to Life Costs"]),
    node(4, 1, mods=["10% increased maximum Life"]),
]


@pytest.mark.parametrize(("pool", "banned"), [("life", {2, 4}), ("hybrid", {4}), ("energy_shield", {3, 4})])
def test_the_pool_decides(context: Context, pool: str, banned: set[int]) -> None:
    survival = SurvivabilityChoice.model_validate({"pool": pool})
    plan = replace(PLAN, survivability=survival, scaling=ScalingChoice(excluded_nodes=[4]))
    ctx = context(World(nodes=NODES, gems=[active("zap")]), plan=plan)
    assert banned_nodes(ctx, PassiveGraph(NODES, [1])) == banned
