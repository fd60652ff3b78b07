"""`bench wishes`: what it reads off builds and how it compares end and beginning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.bench.builds import Kept
from app.bench.wishes import compared, line_of, load, measure, name_of
from app.core.config import Settings
from app.core.errors import InputError
from app.model.names import Effort


def row(outcome: str, iterations: int = 0, first: dict[str, str] | None = None, **wishes: str) -> dict[str, Any]:
    told = {"prompt": "a", "outcome": outcome, "iterations": iterations, "seconds": 1.0}
    return {**told, "wishes": wishes, "first": first or wishes}


def test_the_suite_has_forty_prompts_and_can_be_narrowed() -> None:
    assert len(load()) == 40
    assert [one.prompt for one in load(["TITAN", "occultist"])]
    with pytest.raises(InputError, match="No prompt"):
        load(["no such words"])


def test_a_wish_that_only_iterating_met_is_told_and_so_is_one_that_it_lost() -> None:
    first = {"life": "unmet", "dps": "met", "ehp": "met"}
    found = compared([row("caveats", 2, first, life="met", dps="unmet", ehp="met")])
    assert (found["by_iterating"], found["lost"]) == (["a: life"], ["a: dps"])
    assert found["totals"]["wishes"] == {"met": 2, "unmet": 1}
    assert found["wishes_before_iterating"] == {"met": 2, "unmet": 1}
    assert found["totals"]["iterated"] == 1
    assert "by iterating life" in line_of(found["runs"][0])


async def test_a_run_that_was_interrupted_goes_on_with_what_it_kept(tmp_path: Path) -> None:
    prompt = load(["minion infernalist"])[0].prompt
    kept = Kept(tmp_path / "wishes.json")
    await kept.keep(prompt, {**row("caveats", life="unmet"), "prompt": prompt, "seconds": 12.5})
    settings = Settings(engine="sketch", data_dir=tmp_path, pob_path=tmp_path / "none")
    found = await measure(settings, ["minion infernalist"], tmp_path)
    assert [one["seconds"] for one in found["runs"]] == [12.5]
    assert found["totals"]["outcomes"] == {"caveats": 1}


def test_builds_of_another_level_or_effort_are_kept_apart() -> None:
    names = [name_of("a witch", level, effort) for level in (None, 90) for effort in (Effort.NORMAL, Effort.QUICK)]
    assert names == ["a witch", "a witch quick", "a witch level 90", "a witch level 90 quick"]


@pytest.mark.parametrize(("state", "unsound"), [("unmet", ["a"]), ("not_understood", ["a"]), ("no_effect", [])])
def test_a_validated_build_with_an_open_wish_is_named(state: str, unsound: list[str]) -> None:
    assert compared([row("validated", life=state)])["totals"]["validated_with_unmet"] == unsound
