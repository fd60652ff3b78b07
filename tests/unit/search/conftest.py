"""Shared by the search tests: a plan, floors out of reach so that more is always better, and a context."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from app.model.base import changed
from app.model.blueprint import Blueprint, Gem, SkillGroup
from app.model.constraints import InvariantSet
from app.model.demands import Demands, Floors, floors_for
from app.model.names import GearTier, Goal
from app.model.sub_problems import (
    AscendancyChoice,
    DeliveryChoice,
    RequirementsChoice,
    ScalingChoice,
    SpiritChoice,
    SurvivabilityChoice,
    SustainChoice,
)
from app.search.base import Plan, SearchContext
from tests.fakes.arithmetic import ArithmeticEngine, World

PLAN = Plan(
    ascendancy=AscendancyChoice(class_name="Toy", ascendancy="Top"),
    delivery=DeliveryChoice(skill_id="zap", skill_name="Zap"),
    scaling=ScalingChoice(),
    survivability=SurvivabilityChoice(),
    sustain=SustainChoice(),
    spirit=SpiritChoice(),
    requirements=RequirementsChoice(),
)
FLOORS: Floors = floors_for(90, GearTier.MID)
DEMANDS = Demands(level=90, gear=GearTier.MID, goal=Goal.MAPPING, hardcore=False, floors=FLOORS)
START = Blueprint(
    class_name="Toy",
    ascendancy="Top",
    level=90,
    groups=[SkillGroup(gems=[Gem(gem_id="zap", name="Zap")])],
    main_group=1,
)

Context = Callable[..., SearchContext]


@pytest.fixture
def context() -> Context:
    def make(world: World, blueprint: Blueprint = START, plan: Plan = PLAN, **more: Any) -> SearchContext:
        engine = ArithmeticEngine(world)
        session = engine.new_session(blueprint)
        demands = changed(DEMANDS, **{name: more.pop(name) for name in Demands.model_fields if name in more})
        made = SearchContext(engine, session, blueprint, plan, demands, InvariantSet(), 0)
        return replace(made, **more)

    return make
