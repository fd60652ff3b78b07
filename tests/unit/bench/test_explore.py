"""`bench explore` on the sketch engine at a low level: draws by seed, builds what is missing, compares."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.bench.builds import Kept
from app.bench.explore import (
    PROMPTS,
    Row,
    begun_score,
    behind,
    built,
    compared,
    drawn,
    gains_of,
    line_of,
    measure,
    request_for,
)
from app.core.config import Settings
from app.core.errors import InputError
from app.model.base import changed
from app.model.blueprint import Blueprint
from app.model.race import Contender, Race
from app.model.record import BuildRequest
from app.model.sub_problems import DeliveryChoice, DraftFigures, Option
from app.service import Services


def option(number: int) -> Option:
    choice = DeliveryChoice(
        skill_id=f"s{number}", skill_name=f"Skill {number}", weapon_types=["Wand"], off_hand="Focus"
    )
    return Option(name=f"way {number}", choice=choice)


def test_a_draw_depends_on_the_seed_alone_and_takes_no_more_than_there_are() -> None:
    offered = [option(number) for number in range(40)]
    assert drawn(offered, 16, "a") == drawn(offered, 16, "a") != drawn(offered, 16, "b")
    assert len({one.name for one in drawn(offered, 16, "a")}) == 16
    assert len(drawn(offered[:3], 16, "a")) == 3


def test_a_candidate_is_asked_for_by_skill_and_what_is_held() -> None:
    asked = request_for(BuildRequest(prompt="anything"), option(1))
    assert asked.overrides == {"skill": "Skill 1", "weapon": ["Wand", "Focus"]}


def test_what_has_no_figure_is_behind_nothing() -> None:
    assert behind(None, 2.0) is None
    assert behind(1.5, 2.0) == 0.5


async def test_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "explore.json")
    await kept.keep("anything | None | normal | way 1", {"name": "way 1", "objective": 1.0})
    services: Services = None  # type: ignore[assignment]
    known = await built(services, Kept(tmp_path / "explore.json"), BuildRequest(prompt="anything"), "way 1")
    assert known == {"name": "way 1", "objective": 1.0}


async def test_a_build_that_misses_what_was_asked_for_is_not_the_best(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "explore.json")
    request, ways = BuildRequest(prompt="cold bow"), [option(number) for number in range(3)]
    scores = {
        "way 0": (3.0, "caveats"),
        "way 1": (2.0, "validated"),
        "way 2": (1.0, "caveats"),
        "race": (1.9, "validated"),
    }
    for name, (objective, outcome) in scores.items():
        await kept.keep(
            f"cold bow | None | normal | {name}", {"name": name, "objective": objective, "outcome": outcome}
        )
    services: Services = None  # type: ignore[assignment]
    row = await compared(services, kept, request, ways, 3)
    assert (row["best"], row["best_of_all"]) == (2.0, 3.0)
    assert row["race"]["behind"] == pytest.approx(0.1)
    assert row["tastes"]["behind"] is None, "the first of tastes misses what was asked for"
    assert "best 2.0 (3.0 without what was asked for)" in line_of(row)


@pytest.mark.slow
async def test_the_choices_are_held_against_the_best(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data", engine="sketch", pob_path=tmp_path / "none")
    report = await measure(settings, tmp_path, [PROMPTS[0]], level=4, candidates=2)
    (row,) = report["prompts"]
    assert len(row["candidates"]) == 2
    assert [one.get("refused") for one in (*row["candidates"], row["tastes"])] == [None, None, None]
    assert row["best"] is not None
    assert min(row["race"]["behind"], row["tastes"]["behind"]) >= 0
    assert len(json.loads((tmp_path / "explore.json").read_text())) in (3, 4)
    with pytest.raises(InputError, match="No prompt"):
        await measure(settings, tmp_path, ["nobody asks this"])


def test_what_builds_gain_after_they_were_begun_is_told_by_quartiles() -> None:
    rows: list[Row] = [
        {"objective": 2.0, "begun": 1.5},
        {"objective": 1.9, "begun": 1.6},
        {"objective": 2.0, "begun": -3.0},
        {"objective": None, "begun": 1.0},
        {"objective": 2.0, "begun": None},
        {"objective": 2.0},
    ]
    assert gains_of(rows) == {"builds": 3, "lower": 0.4, "median": 0.5, "upper": 2.75}
    assert gains_of(rows[:1]) == {"builds": 1}


def test_what_a_build_was_begun_as_is_what_the_race_made_of_its_winner_last() -> None:
    def figures(score: float) -> DraftFigures:
        return DraftFigures(dps=1, ehp=1, score=score, rung=3)

    won = Contender(
        option=option(1),
        ascendancies=[],
        answers={},
        figures=[figures(1.0), figures(1.2)],
        draft=Blueprint(class_name="Toy", ascendancy="Top", level=90),
        is_whole=True,
    )
    assert begun_score(Race(contenders=[won], over=True)) == 1.2
    assert begun_score(Race(contenders=[changed(won, is_whole=False)], over=True)) is None
    assert begun_score(None) is None
