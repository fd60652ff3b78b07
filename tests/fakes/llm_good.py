"""A scripted model that reasons soundly: one script for every prompt, which sees nothing but what was sent to it.

In explore it takes the first option. In construct it asks which support would help, which is cheap, and proposes what
gains; it tries no items first, because a proposal is measured as well, and an item is made once.
"""

from __future__ import annotations

from typing import Any

from tests.fakes.llm_player import WHY, Player
from tests.fakes.llm_server import Asked, Reaction, Say, answer

MOST_PROPOSALS, MOST_SUPPORTS = 6, 5
CRAFTED = ("Belt", "Ring 1", "Body Armour", "Helmet", "Amulet")
"""What is made anew, in this order: what carries life, resistances and damage, on one line or another."""

Variant = dict[str, Any]


class Good(Player):
    """Proposes the support that gains, then items made anew; once, for a second turn would find nothing left."""

    def __call__(self, asked: Asked) -> Reaction:
        if asked.step != "construct":
            return answer(self.answer(asked))
        if isinstance(asked.block("measured"), list):
            return answer({"proposals": [], "reason": WHY})
        main = next(skill for skill in asked.block("build")["skills"] if skill["main"])
        if asked.turn == 0:
            return Say(calls=[("rank_supports", {"skill": main["skill"]})])
        return answer({"proposals": [{**one, "reason": WHY} for one in ideas(asked, main)], "reason": WHY})


def ideas(asked: Asked, main: dict[str, Any]) -> list[Variant]:
    """Return what is worth proposing: the support that gains most, where one gains, and each item made anew."""
    ranked = [row for result in asked.results if isinstance(result, list) for row in result]
    have: list[str] = main["supports"]
    gaining = [row for row in ranked if (row.get("gain") or 0) > 0 and row["support"] not in have]
    found: list[Variant] = []
    for row in gaining[:1]:
        kept = have if len(have) < MOST_SUPPORTS and row["made"] == ["added"] else have[:-1]
        team = [*kept, row["support"]]
        change = {"op": "set_supports", "skill": main["skill"], "supports": team}
        found.append({"name": f"supports {', '.join(team)}"[:80], "changes": [change]})
    worn = asked.block("build")["items"]
    found += [
        {"name": f"make {slot} anew", "changes": [{"op": "craft_item", "slot": slot}]}
        for slot in CRAFTED
        if slot in worn
    ]
    return found[:MOST_PROPOSALS]
