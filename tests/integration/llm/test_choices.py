"""What the model chose by name is in the file, or said to be left out with both measurements."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from app.search.choices import MARGIN
from tests.fakes.llm_bench import llm_settings
from tests.fakes.llm_player import Player, recorded
from tests.fakes.llm_server import Asked, LlmServer, Reaction, answer
from tests.integration.llm.test_builds import Made, make

pytestmark = pytest.mark.slow


class Chooser(Player):
    """Chooses by name, and insists on all of it."""

    def __init__(self, chosen: dict[str, dict[str, Any]]) -> None:
        answers = recorded("lightning_sorceress")
        super().__init__(
            {step: {**answers.get(step, {}), **more} for step, more in chosen.items()}
            | {step: told for step, told in answers.items() if step not in chosen}
        )

    def __call__(self, asked: Asked) -> Reaction:
        if asked.step != "construct":
            return super().__call__(asked)
        left = asked.block("choices left out") or []
        names = [line.partition(" was chosen")[0] for line in left]
        return answer({"proposals": [], "insists": names, "reason": "It is wanted."})


def names_in_file(made: Made) -> set[str]:
    """Read the file: the names of gems, but for supports of other skills than the main one.

    These are chosen for that skill, so that a support stands there says nothing of a choice for the main one.
    """
    assert made.record.xml is not None
    tree = etree.fromstring(made.record.xml)
    build = tree.find("Build")
    assert build is not None
    main = int(build.get("mainSocketGroup") or 0)
    groups = [[gem.get("nameSpec") or "" for gem in group.iter("Gem")] for group in tree.iter("Skill")]
    return {name for at, names in enumerate(groups, start=1) for name in (names if at == main else names[:1])}


def nodes_in_file(made: Made) -> set[int]:
    assert made.record.xml is not None
    spec = next(etree.fromstring(made.record.xml).iter("Spec"))
    return {int(node) for node in (spec.get("nodes") or "").split(",") if node}


def check_bound(made: Made, gems: list[str], notables: dict[str, int]) -> None:
    """Check that each choice is in the file, or left out for a reason that is told with both measurements."""
    trials = {trial.name: trial for trial in made.record.state.construction.notes.choices}
    told = " ".join(made.view.caveats)
    there, owned = names_in_file(made), nodes_in_file(made)
    inside = {name: name in there for name in gems} | {name: node in owned for name, node in notables.items()}
    assert sum(inside.values()) > 1
    for name, is_there in inside.items():
        trial = trials.get(name)
        if is_there:
            assert trial is None or trial.held, trial
            continue
        assert trial is not None, f"{name} is neither in the file nor was it tried"
        assert trial.gain is None or trial.gain < 0 or trial.problem
        assert f"{trial.line} The model insists on it; the build that measured better stands." in told
    spent = -sum(min(trial.gain or 0.0, 0.0) for trial in trials.values() if trial.held)
    assert spent <= MARGIN + 1e-9


def chosen(
    helpers: list[str], supports: list[str], spirit: list[str], notables: list[str]
) -> dict[str, dict[str, Any]]:
    return {
        "explore-damage_delivery": {
            "skill": "Spark",
            "weapon_types": ["Wand"],
            "off_hand": "Focus",
            "helper_skills": helpers,
            "supports": supports,
        },
        "explore-spirit_allocation": {"skills": spirit, "reserve_free": 0, "reason": "It is wanted."},
        "explore-ascendancy": {"notables": notables},
    }


async def test_what_was_chosen_is_in_the_file_on_sketch(tmp_path: Path) -> None:
    supports, spirit, notables = (
        ["Concentrated Area", "Supercritical"],
        ["Ghost Dance"],
        ["Strike Twice", "Heavy Snows"],
    )
    async with LlmServer(Chooser(chosen([], supports, spirit, notables))) as server:
        made = await make(llm_settings(f"{server.url}/v1", tmp_path, llm_timeout_s=20), level=66)
    assert made.view.reasoner.degraded == []
    check_bound(made, ["Spark", *supports, *spirit], {"Strike Twice": 2857, "Heavy Snows": 61985})


@pytest.mark.deep
@pytest.mark.pob
async def test_what_was_chosen_is_in_the_file_on_pob(tmp_path: Path, pob_path: Path) -> None:
    helpers, supports = ["Frost Bomb"], ["Rapid Casting I", "Considered Casting"]
    async with LlmServer(Chooser(chosen(helpers, supports, [], []))) as server:
        more: dict[str, Any] = {"engine": "pob", "pob_path": pob_path, "llm_timeout_s": 20}
        made = await make(llm_settings(f"{server.url}/v1", tmp_path, **more), level=24)
    assert made.view.reasoner.degraded == []
    check_bound(made, ["Spark", *helpers, *supports], {})
