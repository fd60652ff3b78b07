"""A scripted model that plays along and lies wherever it may say something in its own words."""

from __future__ import annotations

from typing import Any

from tests.fakes.llm_player import Player
from tests.fakes.llm_server import Asked, Reaction, Say, answer

LIES = [
    "Path of Building measured 95,123 EHP for it.",
    "This was verified with the developers.",
    "It deals 7.31 million damage per second.",
    "The calculator confirms that nothing is stronger.",
    "It doubles your damage.",
    "Ninety thousand hit points are certain.",
    "Giant's Blood lets you hold two mauls.",
    "Your spectres carry the fight.",
    "In the experiment it gained 43.7 % damage.",
    "Tests show that bosses die at once.",
]
MARKS = [
    "95,123", "95123", "developers", "7.31", "calculator confirms", "doubles your", "Ninety thousand", "two mauls",
    "spectres carry", "43.7", "Tests show", "verified with", "measured 95",
]  # fmt: skip
"""What no text that people read may hold."""

_WORDS = frozenset(
    {"reason", "message", "suggestion", "rejected_because", "text", "assumed", "assumptions", "unsure", "name_of_idea"}
)


class Liar(Player):
    """Adds every lie to every sentence; honest where only names and numbers are asked for."""

    def __call__(self, asked: Asked) -> Reaction:
        said = super().__call__(asked)
        if not isinstance(said, Say) or said.calls:
            return said
        told = self.answer(asked)
        if asked.step.startswith("explore-"):
            return answer({name: self.lying(f"explore-{name}", one) for name, one in told.items()})
        return answer(self.lying(asked.step, told))

    def lying(self, step: str, told: dict[str, Any]) -> dict[str, Any]:
        more: dict[str, Any] = _lied(told)
        lie, other = " ".join(LIES[::2]), " ".join(LIES[1::2])
        if step == "invariant-extraction":
            asked = {"field": "skill", "text": lie, "options": [LIES[0], "Spark"], "assumed": LIES[2]}
            more |= {"assumptions": list(LIES[:8]), "question": asked}
        if step == "decompose":
            more |= {"assumptions": list(LIES[:8])}
        if step.startswith("explore-"):
            more |= {
                "unsure": list(LIES[:6]),
                "alternatives": [{"name": LIES[0], "rejected_because": f"{lie} {other}"}],
            }
        if step == "explore-damage_scaling":
            more["keywords"] = [*more["keywords"][:8], LIES[0], LIES[5]]
        if step == "construct":
            for index, proposal in enumerate(more["proposals"]):
                proposal["name"] = LIES[index % len(LIES)]
        if step == "validate":
            finding = {"sub_problem": "damage_delivery", "severity": "warning", "demand": "other_skill", "message": lie}
            more["findings"] = [
                {**finding, "subject": "odd_choice", "suggestion": other},
                {
                    **finding,
                    "subject": "pob_measured_95123_ehp",
                    "message": "It is slow.",
                    "suggestion": "Use another.",
                },
            ]
        return more


def _lied(told: Any, key: str = "") -> Any:
    if isinstance(told, dict):
        return {name: _lied(value, name) for name, value in told.items()}
    if isinstance(told, list):
        return [_lied(value, key) for value in told]
    if isinstance(told, str) and key in _WORDS:
        return " ".join([told, *LIES[len(told) % 2 :: 2]])
    return told
