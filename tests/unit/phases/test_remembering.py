"""A build begins with what worked before, tries less, and ends at least as well; what does not fit is not used."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from app.model.constraints import Invariant, InvariantSet
from app.model.memory import Habit, Memory, MemoryKey
from app.model.names import Mode, Outcome, Provenance, SubProblemName, Trigger
from app.model.record import BuildRecord, BuildRequest
from app.model.state import BuildState
from app.phases.base import PhaseResult
from app.phases.construct.stages import LOOK, ConstructPhase
from app.phases.memory import habits, memory_of
from app.search.sessions import Sharing
from app.search.stages.table import RECOLLECT
from app.storage.memory_port import NoMemory
from tests.fakes.arithmetic import ArithmeticEngine
from tests.unit.phases.test_construct import TOY_STAGES, context, decided, fresh, stage, world

NOW = datetime(2026, 1, 1, tzinfo=UTC)
Q = SubProblemName


class Remembering(NoMemory):
    """Keeps memories in a list."""

    def __init__(self, *memories: Memory, wishes: tuple[Habit, ...] = ()) -> None:
        self.memories = list(memories)
        self.told = list(wishes)

    async def remember(self, memory: Memory) -> None:
        self.memories.append(memory)

    async def recall(self, key: MemoryKey, owner: str) -> list[Memory]:
        return [memory for memory in self.memories if memory.key == key]

    async def wishes(self, owner: str) -> list[Habit]:
        return self.told


STAGES = [*TOY_STAGES[:-1], stage("polish_tree", TOY_STAGES[6].work), TOY_STAGES[-1]]


async def built(memory: Remembering, state: BuildState | None = None, **request: Any) -> BuildState:
    result = PhaseResult(state or fresh())
    engine = ArithmeticEngine(world())
    for _ in range(30):
        ctx = replace(context(engine, result.state, **request), memory=memory)
        result = await ConstructPhase(Sharing(1), STAGES).run(ctx)
        if result.trigger is not None:
            assert result.trigger is Trigger.CONSTRUCTED
            return result.state
    raise AssertionError("construct does not end")


def record(state: BuildState, **fields: Any) -> BuildRecord:
    done = state.model_copy(update={"outcome": Outcome.VALIDATED})
    known: dict[str, Any] = {"id": "first", "request": BuildRequest(prompt="toy build"), "state": done}
    return BuildRecord(**{**known, **fields}, created_at=NOW, updated_at=NOW)


async def learned() -> tuple[BuildState, Memory]:
    cold = await built(Remembering())
    memory = memory_of(record(cold), NOW)
    assert memory is not None
    return cold, memory


def effort(state: BuildState) -> int:
    return state.construction.notes.evaluations


async def test_a_warm_build_is_as_good_with_fewer_trials() -> None:
    cold, memory = await learned()
    warm = await built(Remembering(memory))

    assert (warm.construction.notes.objective or 0.0) >= (cold.construction.notes.objective or 0.0)
    assert effort(warm) < effort(cold) / 2, (effort(warm), effort(cold))
    assert [(used.build_id, used.part) for used in warm.memories] == [("first", "the whole build")]
    assert cold.memories == []


async def test_the_same_input_and_memory_give_the_same_build() -> None:
    _, memory = await learned()
    assert await built(Remembering(memory)) == await built(Remembering(memory))


async def test_after_a_crash_the_same_memory_is_used() -> None:
    """What memory said is in the notes: that it says something else by now changes nothing."""
    _, memory = await learned()
    ctx = replace(context(ArithmeticEngine(world()), fresh()), memory=Remembering(memory))
    first = await ConstructPhase(Sharing(1), STAGES).run(ctx)
    resumed = await built(Remembering(), BuildState.from_yaml(first.state.to_yaml()))

    assert resumed == await built(Remembering(memory))


async def test_a_remembered_gem_that_is_ruled_out_now_is_not_used() -> None:
    _, memory = await learned()
    subs = decided()
    decision = subs[Q.DAMAGE_SCALING].decision
    assert decision is not None
    choice = decision.choice.model_copy(update={"excluded_gems": ["more"]})
    subs[Q.DAMAGE_SCALING] = subs[Q.DAMAGE_SCALING].model_copy(
        update={"decision": decision.model_copy(update={"choice": choice})}
    )
    twisted = memory.model_copy(update={"situation": memory.situation.model_copy(update={"excluded": ["more"]})})
    state = await built(Remembering(twisted), fresh().model_copy(update={"sub_problems": subs}))

    assert state.memories == []
    assert state.blueprint is not None
    assert "more" not in [gem.gem_id for group in state.blueprint.groups for gem in group.gems]
    beside = (RECOLLECT, LOOK, "measure")
    assert [name for name in state.construction.done if name not in beside] == [stage.name for stage in STAGES]


async def test_another_level_begins_with_parts_and_does_everything_else() -> None:
    _, memory = await learned()
    plain = await built(Remembering(), level=60)
    state = await built(Remembering(memory), level=60)

    assert [used.part for used in state.memories] == ["supports and passives"]
    assert state.blueprint is not None
    assert plain.blueprint is not None
    assert len(state.blueprint.nodes) == len(plain.blueprint.nodes)
    assert (state.construction.notes.objective or 0.0) >= (plain.construction.notes.objective or 0.0)
    assert RECOLLECT in state.construction.done
    assert set(state.construction.done) >= {s.name for s in STAGES}


async def test_a_strategic_build_begins_anew() -> None:
    _, memory = await learned()
    assert (await built(Remembering(memory), mode=Mode.STRATEGIC)).memories == []


async def test_only_a_validated_build_made_here_teaches() -> None:
    cold, _ = await learned()
    refined = BuildRequest(prompt="tankier", mode=Mode.REFINEMENT, parent_id="x")

    unsound = record(cold)
    unsound = unsound.model_copy(update={"state": unsound.state.model_copy(update={"outcome": Outcome.CAVEATS})})
    assert memory_of(unsound, NOW) is None
    assert memory_of(record(cold.model_copy(update={"origin": "imported"})), NOW) is None
    assert memory_of(record(cold, request=refined), NOW) is None
    assert memory_of(record(cold.model_copy(update={"sub_problems": {}})), NOW) is None


async def test_a_memory_says_what_worked() -> None:
    cold, memory = await learned()
    assert memory.blueprint == cold.blueprint
    assert memory.score == cold.construction.notes.objective
    assert memory.evaluations == effort(cold)
    assert (memory.key.skill_id, memory.situation.level) == ("zap", 90)


def said(field: str, value: Any, provenance: Provenance = Provenance.EXPLICIT) -> InvariantSet:
    return InvariantSet(invariants=[Invariant(field=field, value=value, provenance=provenance, reason="test")])


@pytest.mark.parametrize(
    ("wish", "known", "told"),
    [
        (Habit(field="hardcore", value=True, builds=2), InvariantSet(), 1),
        (Habit(field="hardcore", value=True, builds=2), said("hardcore", False, Provenance.DEFAULT), 1),
        (Habit(field="hardcore", value=True, builds=1), InvariantSet(), 0),
        (Habit(field="hardcore", value=True, builds=9), said("hardcore", False), 0),
        (Habit(field="skill", value="Spark", builds=9), InvariantSet(), 0),
    ],
)
async def test_habits_are_told_and_never_applied(wish: Habit, known: InvariantSet, told: int) -> None:
    assert len(habits([wish], known)) == told
    ctx = replace(context(ArithmeticEngine(world()), fresh(), known), memory=Remembering(wishes=(wish,)))
    result = await ConstructPhase(Sharing(1), STAGES).run(ctx)
    assert len(result.state.habits) == told
    assert result.invariants is None
