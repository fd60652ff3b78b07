"""The rows of the before and after table."""

from __future__ import annotations

from app.model.base import changed
from app.model.blueprint import Blueprint, Gem, SetGroup, SkillGroup
from app.phases.construct.rows import rows_of
from app.search.refine.work import Commit
from tests.fakes.arithmetic import ArithmeticEngine, World

GROUP = SkillGroup(gems=[Gem(gem_id="herald", name="Herald of Ice"), Gem(gem_id="reach", name="Magnified Area I")])
BUILD = Blueprint(class_name="Witch", level=90, groups=[GROUP])
FIGURES = {"DPS": 100.0, "TotalEHP": 1000.0}


async def test_a_skill_that_is_switched_off_has_a_row() -> None:
    off = SetGroup(index=1, group=changed(GROUP, enabled=False))
    (row,) = await rows_of(ArithmeticEngine(World()).facts, [Commit(BUILD, (off,), FIGURES, FIGURES, "Spirit")])
    assert (row.place, row.before, row.after) == ("Herald of Ice", "Herald of Ice, Magnified Area I", "switched off")


async def test_what_is_the_same_afterwards_has_none() -> None:
    same = SetGroup(index=1, group=GROUP)
    assert await rows_of(ArithmeticEngine(World()).facts, [Commit(BUILD, (same,), FIGURES, FIGURES, "supports")]) == []
