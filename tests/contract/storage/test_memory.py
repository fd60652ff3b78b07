"""What every MemoryStore promises."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.model.blueprint import Blueprint, Gem, SkillGroup
from app.model.memory import Habit, Memory, MemoryKey, RaceKey, RaceMemory, RaceResult, Situation
from app.model.names import LOCAL_OWNER, GearTier, Goal, SubProblemName
from app.model.state import Elimination
from app.model.stats import EngineVersion
from app.phases.memory import begun_with
from app.storage.memory import KEPT_PER_KEY, KEPT_RACES, LearningMemory
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


PLACES = RaceKey.of(Goal.MAPPING, ENGINE)


def a_result(skill_id: str, place: int, behind: float, **more: Any) -> RaceResult:
    known = {"class_name": "Sorceress", "skill_id": skill_id, "skill": skill_id.title(), "hands": "Wand", "rung": 1}
    return RaceResult.model_validate({**known, "place": place, "behind": behind, **more})


RESULTS = [a_result("spark", 0, 0.25), a_result("arc", 1, 0.0)]


def a_race(build: str, results: list[RaceResult] | None = None, key: RaceKey = PLACES, **more: Any) -> RaceMemory:
    found = RESULTS if results is None else results
    return RaceMemory(build_id=build, key=key, results=found, **({"learned_at": WHEN} | more))


async def test_races_come_back_the_oldest_first_to_their_owner(storage: Storage) -> None:
    first, second = a_race("b"), a_race("a", learned_at=WHEN + timedelta(hours=1))
    for race in (second, first, a_race("c", owner="bob")):
        await storage.memory.remember_race(race)
    assert await storage.memory.races(PLACES, LOCAL_OWNER) == [first, second]
    assert [race.build_id for race in await storage.memory.races(PLACES, "bob")] == ["c"]
    assert [race.build_id for race in await storage.memory.all_races()] == ["b", "c", "a"]


@pytest.mark.parametrize(
    "other",
    [
        RaceKey.of(Goal.BOSSING, ENGINE),
        RaceKey.of(Goal.MAPPING, ENGINE.model_copy(update={"version": "0.21.0"})),
    ],
)
async def test_races_for_another_goal_or_engine_say_nothing(storage: Storage, other: RaceKey) -> None:
    await storage.memory.remember_race(a_race("a"))
    assert await storage.memory.races(other, LOCAL_OWNER) == []


async def test_the_same_build_races_once(storage: Storage) -> None:
    await storage.memory.remember_race(a_race("a"))
    await storage.memory.remember_race(a_race("a", [a_result("comet", 0, 0.0)]))
    (kept,) = await storage.memory.races(PLACES, LOCAL_OWNER)
    assert [one.skill_id for one in kept.results] == ["comet"]


async def test_only_the_newest_races_are_kept(storage: Storage) -> None:
    for number in range(KEPT_RACES + 2):
        await storage.memory.remember_race(a_race(f"{number:03}", learned_at=WHEN + timedelta(hours=number)))
    kept = await storage.memory.races(PLACES, LOCAL_OWNER)
    assert [race.build_id for race in kept] == [f"{number:03}" for number in range(2, KEPT_RACES + 2)]


async def test_a_skill_is_forgotten_in_races_too(storage: Storage) -> None:
    await storage.memory.remember(a_memory("a"))
    for build in ("a", "b"):
        await storage.memory.remember_race(a_race(build))
    assert await storage.memory.forget("spark") == 2
    assert [[one.skill for one in race.results] for race in await storage.memory.all_races()] == [["Arc"], ["Arc"]]
    assert await storage.memory.forget() == 2
    assert await storage.memory.all_races() == []


async def test_who_only_learns_keeps_races_and_hears_nothing_of_them(storage: Storage) -> None:
    learning = LearningMemory(storage.memory)
    await learning.remember_race(a_race("a"))
    assert await learning.races(PLACES, LOCAL_OWNER) == []
    assert await storage.memory.races(PLACES, LOCAL_OWNER) == [a_race("a")]


async def test_memory_outlives_the_process(url: str) -> None:
    async with open_storage(url) as opened:
        await opened.memory.remember(a_memory("a"))
    async with open_storage(url) as opened:
        assert await opened.memory.recall(SPARK, LOCAL_OWNER) == [a_memory("a")]
