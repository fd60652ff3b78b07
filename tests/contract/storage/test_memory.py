"""What every MemoryStore promises."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.model.blueprint import Blueprint, Gem, SkillGroup
from app.model.memory import Habit, Memory, MemoryKey, Situation
from app.model.names import LOCAL_OWNER, GearTier, Goal, SubProblemName
from app.model.state import Elimination
from app.model.stats import EngineVersion
from app.phases.memory import begun_with
from app.storage.memory import KEPT_PER_KEY, LearningMemory
from app.storage.store import Storage, open_storage

WHEN = datetime(2026, 1, 1, tzinfo=UTC)
ENGINE = EngineVersion(name="pob", version="0.20.0", tree_version="0_5")
SPARK = MemoryKey.of("spark", Goal.MAPPING, ENGINE)
HERE = Situation(
    class_name="Sorceress",
    ascendancy="Stormweaver",
    level=90,
    gear=GearTier.MID,
    hardcore=False,
    weapon_types=["Wand"],
    off_hand="Focus",
    pool="life",
    mitigation=["evasion"],
    excluded=[],
)


def a_memory(build: str, score: float = 1.0, key: MemoryKey = SPARK, **more: Any) -> Memory:
    group = SkillGroup(gems=[Gem(gem_id=key.skill_id, name="Spark"), Gem(gem_id="pierce", name="Pierce")])
    known: dict[str, Any] = {
        "skill": "Spark",
        "situation": HERE,
        "evaluations": 100,
        "blueprint": Blueprint(class_name="Sorceress", level=90, groups=[group], main_group=1),
        "learned_at": WHEN,
    }
    return Memory(build_id=build, key=key, score=score, **(known | more))


async def test_the_best_comes_first(storage: Storage) -> None:
    memories = [a_memory("b", 1.0), a_memory("a", 3.0), a_memory("c", 2.0)]
    for memory in memories:
        await storage.memory.remember(memory)
    assert await storage.memory.recall(SPARK, LOCAL_OWNER) == [memories[1], memories[2], memories[0]]


async def test_memory_stays_with_its_owner(storage: Storage) -> None:
    await storage.memory.remember(a_memory("a", owner="alice"))
    await storage.memory.remember(a_memory("b", owner="bob"))
    assert [memory.build_id for memory in await storage.memory.recall(SPARK, "alice")] == ["a"]
    assert await storage.memory.recall(SPARK, LOCAL_OWNER) == []


async def test_what_was_not_validated_stands_behind_all_that_was(storage: Storage) -> None:
    failed = a_memory("failed", 9.0, validated=False)
    for memory in (failed, a_memory("fine", 1.0)):
        await storage.memory.remember(memory)
    recalled = await storage.memory.recall(SPARK, LOCAL_OWNER)
    assert [memory.build_id for memory in recalled] == ["fine", "failed"]
    assert recalled[1] == failed


async def test_who_only_learns_heeds_what_failed_and_begins_with_nothing(storage: Storage) -> None:
    gone = Elimination(sub_problem=SubProblemName.DAMAGE_SCALING, option="crit", reason="worse")
    await storage.memory.remember(a_memory("fine"))
    await storage.memory.remember(a_memory("taught", failures=[gone]))
    (recalled,) = await LearningMemory(storage.memory).recall(SPARK, LOCAL_OWNER)
    assert (recalled.build_id, recalled.validated, recalled.failures) == ("taught", False, [gone])
    assert begun_with([recalled], recalled.situation) is None


async def test_equal_scores_stand_by_age_then_by_id(storage: Storage) -> None:
    later = WHEN + timedelta(hours=1)
    for memory in (a_memory("a", learned_at=later), a_memory("c"), a_memory("b")):
        await storage.memory.remember(memory)
    assert [memory.build_id for memory in await storage.memory.recall(SPARK, LOCAL_OWNER)] == ["b", "c", "a"]


@pytest.mark.parametrize(
    "other",
    [
        MemoryKey.of("arc", Goal.MAPPING, ENGINE),
        MemoryKey.of("spark", Goal.BOSSING, ENGINE),
        MemoryKey.of("spark", Goal.MAPPING, ENGINE.model_copy(update={"version": "0.21.0"})),
        MemoryKey.of("spark", Goal.MAPPING, ENGINE.model_copy(update={"name": "sketch"})),
    ],
)
async def test_another_skill_goal_or_engine_says_nothing(storage: Storage, other: MemoryKey) -> None:
    await storage.memory.remember(a_memory("a"))
    assert await storage.memory.recall(other, LOCAL_OWNER) == []


async def test_the_same_build_teaches_once(storage: Storage) -> None:
    failed = Elimination(sub_problem=SubProblemName.DAMAGE_SCALING, option="cold damage", reason="worse")
    for score in (1.0, 2.0):
        await storage.memory.remember(a_memory("a", score, wishes={"hardcore": True}, failures=[failed]))
    (kept,) = await storage.memory.recall(SPARK, LOCAL_OWNER)
    assert (kept.score, kept.failures) == (2.0, [failed])
    assert await storage.memory.wishes("local") == [Habit(field="hardcore", value=True, builds=1)]


async def test_only_the_best_are_kept(storage: Storage) -> None:
    for number in range(KEPT_PER_KEY + 3):
        await storage.memory.remember(a_memory(f"build{number:02d}", score=float(number)))
    kept = await storage.memory.recall(SPARK, LOCAL_OWNER)
    assert [memory.score for memory in kept] == [float(n) for n in range(KEPT_PER_KEY + 2, 2, -1)]


async def test_wishes_are_counted_per_owner(storage: Storage) -> None:
    await storage.memory.remember(a_memory("a", wishes={"hardcore": True, "exclude": ["totems"]}))
    await storage.memory.remember(a_memory("b", wishes={"hardcore": True}))
    await storage.memory.remember(a_memory("c", owner="somebody", wishes={"hardcore": False}))
    assert await storage.memory.wishes("local") == [
        Habit(field="hardcore", value=True, builds=2),
        Habit(field="exclude", value=["totems"], builds=1),
    ]
    assert await storage.memory.wishes("somebody") == [Habit(field="hardcore", value=False, builds=1)]
    assert await storage.memory.wishes("nobody") == []


async def test_a_skill_or_everything_is_forgotten(storage: Storage) -> None:
    arc = MemoryKey.of("arc", Goal.MAPPING, ENGINE)
    for memory in (a_memory("a", wishes={"hardcore": True}), a_memory("b", key=arc, skill="Arc"), a_memory("c")):
        await storage.memory.remember(memory)
    assert await storage.memory.forget(" SPARK ") == 2
    assert [memory.skill for memory in await storage.memory.all()] == ["Arc"]
    assert await storage.memory.wishes("local") == []
    assert await storage.memory.forget("Spark") == 0
    assert await storage.memory.forget() == 1
    assert await storage.memory.all() == []


async def test_memory_outlives_the_process(url: str) -> None:
    async with open_storage(url) as opened:
        await opened.memory.remember(a_memory("a"))
    async with open_storage(url) as opened:
        assert await opened.memory.recall(SPARK, LOCAL_OWNER) == [a_memory("a")]
