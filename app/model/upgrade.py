"""Reading what earlier versions have stored: a state of schema 1.0 in the shape of today's."""

from __future__ import annotations

from typing import Any

from app.model.base import Model
from app.model.conflicts import Details, Evidence

_SAME_NOTES = (
    *("evaluations", "objective", "nearest_modelled", "gear_made", "tolerated", "advice"),
    *("remembered", "recollected", "incumbent", "parent", "reopened"),
)
_ABOUT_THE_ROUND = ("strategy", "iteration", "follows")


def upgraded(stored: Any) -> Any:
    """Return a stored state in today's shape; anything else, and a state of today, is returned as it is.

    In 1.0 notes, figures of conflicts and demands were free dictionaries: what is known today is taken over, what
    nothing reads any more is left out.
    """
    if not isinstance(stored, dict) or stored.get("schema_version") != "1.0":
        return stored
    state = {name: value for name, value in stored.items() if name != "owner"}
    state["schema_version"] = "1.1"
    state["conflicts"] = [_conflict(conflict) for conflict in state.get("conflicts", [])]
    if state.get("best") is not None:
        conflicts = [_conflict(conflict) for conflict in state["best"].get("conflicts", [])]
        state["best"] = {**state["best"], "conflicts": conflicts}
    state["sub_problems"] = {
        name: {**sub, "constraints": [_constraint(constraint) for constraint in sub.get("constraints", [])]}
        for name, sub in state.get("sub_problems", {}).items()
    }
    state["discoveries"] = [
        {name: value for name, value in discovery.items() if name != "data"}
        for discovery in state.get("discoveries", [])
    ]
    construction = state.get("construction", {})
    notes = construction.get("notes", {})
    now = {name: notes[name] for name in _SAME_NOTES if name in notes}
    if "refining" in notes:
        now |= notes["refining"]
    if "tree_alternatives" in notes:
        now["tree_alternatives"] = [
            {
                **{name: tree[name] for name in ("aim", "dps", "ehp")},
                "given_back": tree["without"],
                "bought": tree["with"],
            }
            for tree in notes["tree_alternatives"]
        ]
    state["construction"] = {**construction, "notes": now}
    return state


def _known(figures: Any, kind: type[Model]) -> Any:
    return {name: value for name, value in figures.items() if name in kind.model_fields}


def _conflict(conflict: Any) -> Any:
    return {
        **conflict,
        "evidence": _known(conflict.get("evidence", {}), Evidence),
        "causes": [
            {**cause, "evidence": _known(cause.get("evidence", {}), Evidence)} for cause in conflict.get("causes", [])
        ],
        "suggested_solutions": [
            {**way, "values": _known(way.get("values", {}), Details)} for way in conflict.get("suggested_solutions", [])
        ],
    }


def _constraint(constraint: Any) -> Any:
    values = constraint.get("values", {})
    about = {name: values[name] for name in _ABOUT_THE_ROUND if name in values}
    return {**constraint, **about, "values": _known(values, Details)}
