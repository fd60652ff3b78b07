"""A scripted model that plays along: sound answers for every step, made from what it is told and from fixtures.

Fixtures (tests/fixtures/llm/*.yaml) are answers that we recorded, keyed by step; where there is none, the answer
follows the first option that the step offers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from app.model.names import SubProblemName
from tests.fakes.llm_server import Asked, Reaction, Say, answer

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "llm"
WHY = "It fits what was asked for."


def recorded(name: str) -> dict[str, Any]:
    """Return the recorded answers of a file, by step."""
    data: dict[str, Any] = yaml.safe_load((FIXTURES / f"{name}.yaml").read_text())
    return data


class Player:
    """A script: uses tools where the step offers them, then answers."""

    def __init__(self, answers: dict[str, Any] | None = None, *, use_tools: bool = True) -> None:
        self.answers = answers or {}
        self.use_tools = use_tools

    def __call__(self, asked: Asked) -> Reaction:
        calls = self._calls(asked) if self.use_tools else []
        if calls:
            return Say(calls=calls)
        return answer(self.answer(asked))

    def answer(self, asked: Asked) -> dict[str, Any]:
        """Return the answer to the step, one for each question where several are put."""
        if asked.step.startswith("explore-"):
            return {name: self.answers.get(f"explore-{name}") or _explored(asked, name) for name in asked.questions}
        return self.answers.get(asked.step) or self._made(asked)

    def _calls(self, asked: Asked) -> list[tuple[str, Any]]:
        if asked.step == "construct":
            return _construct_calls(asked)
        if asked.turn:
            return []
        return [(name, arguments) for name, arguments in _FIRST.get(asked.step, []) if name in asked.tools]

    def _made(self, asked: Asked) -> dict[str, Any]:
        match asked.step:
            case "invariant-extraction":
                return {"constraints": [], "assumptions": []}
            case "decompose":
                return {"sub_problems": [{"name": name.value, "depends_on": []} for name in SubProblemName]}
            case "construct":
                return {"proposals": _proposals(asked), "reason": WHY}
            case "validate":
                return {"findings": [], "reason": WHY}
            case "iterate":
                return {"picks": _picks(asked)}
            case step:
                raise AssertionError(step)


def _explored(asked: Asked, name: str) -> dict[str, Any]:
    """Return the first option of a question as an answer."""
    first = asked.block("options")[name][0]
    if name == "spirit_allocation":
        named = first["name"].split(", ")
        skills = [one for one in named if one != "nothing" and not one.endswith("kept free")]
        return {"skills": skills, "reserve_free": 0, "reason": WHY}
    return {**_EXPLORE[f"explore-{name}"](first["choice"]), "reason": WHY}


_FIRST: dict[str, list[tuple[str, Any]]] = {
    "explore-damage_delivery": [("search_gems", {"query": "lightning"})],
    "explore-ascendancy": [("search_ascendancy", {"ascendancy": "Stormweaver"})],
    "explore-damage_scaling": [("search_passives", {"query": "damage", "kind": "notable"})],
    "explore-spirit_allocation": [("search_gems", {"query": "", "persistent": True})],
}


def _construct_calls(asked: Asked) -> list[tuple[str, Any]]:
    main = next(skill["skill"] for skill in asked.block("build")["skills"] if skill["main"])
    if asked.turn == 0:
        return [("read_stats", {"metrics": ["DPS", "TotalEHP"]}), ("rank_supports", {"skill": main})]
    if asked.turn == 1:
        return [("optimise_tree", {}), ("craft_item", {"slot": "Ring 1"})]
    if asked.turn == 2:
        return [("run_experiment", {"variants": _variants(asked)})]
    return []


def _variants(asked: Asked) -> list[dict[str, Any]]:
    """Exchange the passives that are missed least for those that pay most, and try a new ring."""
    rows = asked.results[2] if len(asked.results) > 2 and isinstance(asked.results[2], list) else []
    return [*exchanges(rows), {"name": "a new ring", "changes": [{"op": "craft_item", "slot": "Ring 1"}]}]


def exchanges(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return exchanges of passives for what `optimise_tree` told."""
    spare = [int(row["passive"]) for row in rows if row["made"] == ["gives 1 point back"]]
    wanted = [(row["passive"], int(row["made"][0].split()[0])) for row in rows if row["made"] != ["gives 1 point back"]]
    return [
        {
            "name": f"{name} for {points} points",
            "changes": [
                *({"op": "deallocate", "passive": node} for node in spare[:points]),
                {"op": "allocate", "passive": name},
            ],
        }
        for name, points in wanted
        if points <= min(len(spare), 7)
    ][:5]


def _proposals(asked: Asked) -> list[dict[str, Any]]:
    if not asked.results:
        return []
    rows = {row["variant"]: row for row in asked.results[-1] if isinstance(row, dict) and "variant" in row}
    tried = {variant["name"]: variant["changes"] for variant in _variants(asked)}
    return [
        {"name": name, "changes": tried[name], "reason": f"The experiment shows a gain of {row['gain']}."}
        for name, row in rows.items()
        if name in tried and (row.get("gain") or 0) > 0
    ]


def _picks(asked: Asked) -> list[dict[str, Any]]:
    return [
        {"conflict": one["conflict"], "strategy": one["strategies"][0]["strategy"], "reason": WHY}
        for one in asked.block("conflicts")
        if one["strategies"]
    ]


_EXPLORE: dict[str, Any] = {
    "explore-ascendancy": lambda c: {"class": c["class_name"], "ascendancy": c["ascendancy"]},
    "explore-damage_delivery": lambda c: {
        "skill": c["skill_name"],
        "weapon_types": c["weapon_types"],
        "off_hand": c["off_hand"],
    },
    "explore-damage_scaling": lambda c: {"damage_types": c["damage_types"], "keywords": c["keywords"][:16]},
    "explore-survivability": lambda c: {"pool": c["pool"], "mitigation": c["mitigation"]},
    "explore-resource_sustain": lambda c: {
        "resource": c["resource"],
        "recovery_per_second": c["recovery_per_second"],
        "prefer_cheaper_supports": c["prefer_cheaper_supports"],
    },
    "explore-stat_requirements": lambda c: {"attributes": c["attributes"], "resistances": c["resistances"]},
}
