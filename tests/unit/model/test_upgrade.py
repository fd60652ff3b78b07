"""What schema 1.0 kept in free dictionaries has a named field now."""

from __future__ import annotations

from typing import Any

from app.model.conflicts import Details, Evidence
from app.model.construction import Hint, ParentFigures
from app.model.names import SubProblemName
from app.model.state import BuildState

WAY = {
    "strategy": "refill_items",
    "sub_problem": "stat_requirements",
    "demand": "more_resistance",
    "values": {"element": "fire", "required": 75.0, "missing": 14.0, "slots": ["Belt"], "local": True, "gone": 1},
    "text": "fill what is missing on Belt",
}
CONFLICT = {
    "id": "resistance_gap:stat_requirements:fire",
    "type": "resistance_gap",
    "severity": "blocking",
    "affected": ["stat_requirements"],
    "evidence": {"required": 75.0, "available": None, "unit": "percent", "gone": 1},
    "suggested_solutions": [WAY],
    "causes": [{"conflict_id": "x", "because": "of it", "evidence": {"slot": "Belt"}}],
}
CONSTRAINT = {
    "conflict_id": CONFLICT["id"],
    "demand": "more_resistance",
    "values": {"element": "fire", "missing": 14.0, "strategy": "refill_items", "iteration": 2},
}
FOLLOWS = {"conflict_id": "y", "demand": "other_skill", "values": {"iteration": 1, "follows": "damage_delivery"}}


def read(**fields: Any) -> BuildState:
    return BuildState.model_validate({"schema_version": "1.0", **fields})


def test_figures_of_conflicts_keep_what_they_said_and_nothing_else() -> None:
    (conflict,) = read(conflicts=[CONFLICT]).conflicts
    assert conflict.evidence == Evidence(required=75.0, available=None, unit="percent")
    assert conflict.evidence.model_dump() == {"required": 75.0, "available": None, "unit": "percent"}
    assert conflict.causes[0].evidence == Evidence(slot="Belt")
    way = conflict.suggested_solutions[0]
    assert way.values == Details(element="fire", required=75.0, missing=14.0, slots=["Belt"], local=True)
    assert way.local


def test_constraints_say_the_round_and_the_way_out_by_name() -> None:
    sub = {"name": "stat_requirements", "status": "decided", "constraints": [CONSTRAINT, FOLLOWS]}
    picked, follows = (
        read(sub_problems={"stat_requirements": sub}).sub_problems[SubProblemName.STAT_REQUIREMENTS].constraints
    )
    assert (picked.strategy, picked.iteration, picked.follows) == ("refill_items", 2, None)
    assert picked.values == Details(element="fire", missing=14.0)
    assert (follows.strategy, follows.iteration, follows.follows) == (None, 1, SubProblemName.DAMAGE_DELIVERY)


def test_notes_of_a_refinement_are_taken_over() -> None:
    hint = {"name": "Spark", "changes": [{"op": "set_main", "index": 1}]}
    notes = {
        "refining": {"levers": ["supports"], "hints": {"supports": [hint]}},
        "parent": {"strongest": 1, "outputs": {"DPS": 5.0}},
        "reopened": ["survivability"],
        "shopping": [{"slot": "Belt"}],
    }
    now = read(construction={"pending": ["supports"], "notes": notes}).construction
    assert now.pending == ["supports"]
    assert now.notes.levers == ["supports"]
    assert now.notes.hints == {"supports": [Hint.model_validate(hint)]}
    assert now.notes.parent == ParentFigures(strongest=1, outputs={"DPS": 5.0})
    assert now.notes.reopened == [SubProblemName.SURVIVABILITY]


def test_a_best_build_keeps_its_conflicts() -> None:
    best = {
        "iteration": 0,
        "blueprint": {"class_name": "Witch", "level": 40},
        "stats": {"engine": {"name": "sketch", "version": "1", "tree_version": "0_5"}, "values": {"Life": 1.0}},
        "blocking": 1,
        "conflicts": [CONFLICT],
    }
    state = read(best=best)
    assert state.best is not None
    assert state.best.conflicts[0].evidence.unit == "percent"
