"""A scripted model that reasons soundly: one script for every prompt, which sees nothing but what was sent to it.

It follows what was measured: in explore the first option, in construct whatever experiments show to gain.
"""

from __future__ import annotations

from typing import Any

from tests.fakes.llm_player import WHY, Player, exchanges
from tests.fakes.llm_server import Asked, Reaction, Say, answer

MOST_VARIANTS, MOST_PROPOSALS, MOST_SUPPORTS = 12, 6, 5
CRAFTED = ("Weapon 1", "Helmet", "Amulet", "Ring 1", "Boots")
"""What is made anew: making costs about a hundred trials, so not everything is."""

Variant = dict[str, Any]


class Good(Player):
    """Tries what could help, twelve things at a time, then proposes what gained, the best first."""

    def __call__(self, asked: Asked) -> Reaction:
        if asked.step != "construct":
            return answer(self.answer(asked))
        if isinstance(asked.block("measured"), list):
            return answer({"proposals": [], "reason": WHY})
        main = next(skill for skill in asked.block("build")["skills"] if skill["main"])
        if asked.turn == 0:
            return Say(calls=[("rank_supports", {"skill": main["skill"]}), ("optimise_tree", {})])
        variants = ideas(asked, main)
        batches = [variants[at : at + MOST_VARIANTS] for at in range(0, len(variants), MOST_VARIANTS)]
        if asked.turn == 1 and batches:
            metrics = ["DPS", "TotalEHP"]
            return Say(calls=[("run_experiment", {"variants": batch, "metrics": metrics}) for batch in batches[:3]])
        rows = [row for result in asked.results[2:] if isinstance(result, list) for row in result]
        gains = {row["variant"]: row["gain"] for row in rows if (row.get("gain") or 0) > 0}
        best = sorted((one for one in variants if one["name"] in gains), key=lambda one: -gains[one["name"]])
        return answer({"proposals": [{**one, "reason": WHY} for one in best[:MOST_PROPOSALS]], "reason": WHY})


def ideas(asked: Asked, main: dict[str, Any]) -> list[Variant]:
    """Return what is worth an experiment: other supports, exchanges of passives, each item made anew."""
    ranked, tree = asked.results[:2]
    found = exchanges(tree if isinstance(tree, list) else [])
    have: list[str] = main["supports"]
    for row in [row for row in ranked if isinstance(row, dict) and row["support"] not in have][:6]:
        teams = [[*have, row["support"]]] if len(have) < MOST_SUPPORTS else []
        teams += [[row["support"] if one == other else one for one in have] for other in have[-2:]]
        for team in teams:
            change = {"op": "set_supports", "skill": main["skill"], "supports": team}
            found.append({"name": f"supports {', '.join(team)}"[:80], "changes": [change]})
    for slot in asked.block("build")["items"]:
        if slot in CRAFTED:
            found.append({"name": f"make {slot} anew", "changes": [{"op": "craft_item", "slot": slot}]})
    return list({one["name"]: one for one in found}.values())
