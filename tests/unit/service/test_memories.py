"""What is remembered, in lists that people can read."""

from __future__ import annotations

import pytest

from app.console.show import forget_memory, memory_text
from app.core.config import Settings
from app.core.errors import InputError, NotFound
from app.model.memory import Habit, Memory, RaceMemory
from app.model.names import SubProblemName
from app.model.state import Elimination, UsedMemory
from app.service.memories import Memories, MemoryPage
from app.service.presentation import as_text, presentation_of
from app.storage.memory_port import NoMemory
from tests.contract.storage.test_memory import a_memory, a_race, a_result
from tests.fakes.samples import a_complete_record

FAILED = Elimination(sub_problem=SubProblemName.DAMAGE_SCALING, option="any damage", reason="two conflicts more")


class Fixed(NoMemory):
    """Remembers three builds of one skill."""

    async def all(self) -> list[Memory]:
        return [
            a_memory("b", 2.0, notables=["Far Shot"], failures=[FAILED]),
            a_memory("a", 1.0, notables=["Far Shot", "Blur"], failures=[FAILED]),
        ]

    async def all_races(self) -> list[RaceMemory]:
        monk = a_result("bell", 2, 0.5, class_name="Monk")
        return [a_race("a"), a_race("b", [a_result("spark", 0, 0.75), a_result("arc", 1, 0.0), monk])]

    async def wishes(self, owner: str) -> list[Habit]:
        return [Habit(field="hardcore", value=True, builds=2)]


async def test_lists_are_scored_and_counted() -> None:
    page = await Memories(Fixed()).page()
    (item,) = page.items
    assert (item.skill, item.goal, item.engine, item.builds, item.score) == ("Spark", "mapping", "pob 0.20.0", 2, 2.0)
    assert item.build_ids == ["b", "a"]
    assert [(one.name, one.score, one.builds) for one in item.notables] == [("Far Shot", 2.0, 2), ("Blur", 1.0, 1)]
    assert [(one.name, one.builds) for one in item.supports] == [("Pierce", 2)]
    assert item.failures == [FAILED]


async def test_people_read_it() -> None:
    text = memory_text(await Memories(Fixed()).page())
    for part in ("Spark, mapping, pob 0.20.0: 2 builds", "passives: Far Shot (+2.000, 2 builds)", "failed: any damage"):
        assert part in text
    assert "hardcore = True (2 builds)" in text
    assert memory_text(MemoryPage(items=[], wishes=[])) == "Nothing is remembered yet."


async def test_races_are_told_by_class() -> None:
    monk, sorceress = (await Memories(Fixed()).page()).races
    assert (sorceress.class_name, sorceress.goal, sorceress.engine) == ("Sorceress", "mapping", "pob 0.20.0")
    assert [(one.skill, one.hands, one.behind, one.races) for one in sorceress.ways] == [
        ("Arc", "Wand", 0.0, 2),
        ("Spark", "Wand", 0.5, 2),
    ]
    assert (sorceress.races, sorceress.agreement) == (2, 0.0), "the table had Spark before Arc"
    assert (monk.races, [one.skill for one in monk.ways]) == (1, ["Bell"])
    text = memory_text(await Memories(Fixed()).page())
    assert "Races of the Sorceress, mapping, pob 0.20.0: 2, tables of tastes agreed 0%" in text
    assert "Spark with Wand: 0.50 behind the best (2 races)" in text


async def test_an_unknown_skill_is_not_forgotten_silently() -> None:
    with pytest.raises(NotFound, match="Spork"):
        await Memories(NoMemory()).forget("Spork")
    assert await Memories(NoMemory()).forget() == 0


@pytest.mark.parametrize(("skill", "everything"), [(None, False), ("Spark", True)])
async def test_forgetting_names_one_thing(skill: str | None, everything: bool) -> None:
    with pytest.raises(InputError, match="--all"):
        await forget_memory(Settings(), skill, everything)


def test_a_build_says_what_it_took_from_memory() -> None:
    record = a_complete_record()
    taken = {"memories": [UsedMemory(build_id="b1", part="the whole build", score=1.0)], "habits": ["You asked for x."]}
    shown = presentation_of(record.model_copy(update={"state": record.state.model_copy(update=taken)}))
    text = as_text(shown)
    assert "From memory:" in text
    assert "began with the whole build of b1" in text
    assert "You asked for x." in text
    assert "From memory" not in as_text(presentation_of(record))
