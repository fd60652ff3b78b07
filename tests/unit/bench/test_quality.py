"""The suite of prompts, what is read off a build, and how runs are summed up."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from app.bench import quality
from app.bench.builds import seconds_per_phase
from app.bench.quality import load, suite_file
from app.core.errors import InputError
from app.model.names import GearTier
from app.model.record import ProgressEvent

CLASSES = {"sorceress", "witch", "warrior", "ranger", "monk", "mercenary", "huntress", "druid"}


def test_the_suite_has_every_class_at_three_stages() -> None:
    prompts = load(suite_file())
    stages = {(70, GearTier.STARTER), (85, GearTier.MID), (92, GearTier.ENDGAME)}
    assert {(p.name.rsplit("_", 1)[0], p.level, p.gear) for p in prompts} == {
        (name, *stage) for name in CLASSES for stage in stages
    }
    assert Counter(p.name for p in prompts).most_common(1)[0][1] == 1


def test_a_part_of_the_suite_is_chosen_by_name() -> None:
    assert [p.name for p in load(suite_file(), ["witch"])] == ["witch_70", "witch_85", "witch_92"]
    assert {p.name for p in load(suite_file(), ["monk_85", "druid_70"])} == {"monk_85", "druid_70"}


def test_a_name_that_matches_nothing_says_what_there_is() -> None:
    with pytest.raises(InputError, match="sorceress_70"):
        load(suite_file(), ["templar"])


@pytest.mark.parametrize("text", ["just words", "- {name: x}", "- {name: x, prompt: y, level: 101, gear: mid}", ": ["])
def test_a_file_that_is_no_suite_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match="not a list of prompts"):
        load(path)
    with pytest.raises(InputError):
        load(tmp_path / "absent.yaml")


def test_further_keys_belong_to_other_readers(tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text("- {name: x, prompt: a witch, level: 90, gear: mid, expect: [anything]}")
    assert [p.prompt for p in load(path)] == ["a witch"]


def test_time_belongs_to_the_phase_whose_step_it_ends() -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    steps = [(0.0, "status", None), (1.0, "step", "decompose"), (3.5, "step", "construct"), (4.0, "phase", "validate")]
    steps += [(5.0, "step", "construct"), (5.25, "step", "validate"), (5.25, "finished", None)]
    events = [
        ProgressEvent(build_id="b", seq=i, type=kind, data={"phase": phase}, at=start + timedelta(seconds=at))
        for i, (at, kind, phase) in enumerate(steps, start=1)
    ]
    assert seconds_per_phase(events) == {"decompose": 1.0, "construct": 4.0, "validate": 0.25}
    assert seconds_per_phase([]) == {}


def run(**changes: Any) -> dict[str, Any]:
    plain = {
        "level": 85,
        "gear": "mid",
        "status": "complete",
        "outcome": "validated",
        "blocking": [],
        "illegal_items": 0,
        "unmet_requirements": 0,
        "engine_warnings": 0,
        "unspent_points": 0,
        "resistances": {"fire": 75.0, "cold": 76.0, "lightning": 75.0, "chaos": -30.0},
        "dps": 10.0,
        "ehp": 20.0,
        "seconds": 5.0,
        "evaluations": 100,
    }
    return {**plain, **changes}


def test_faults_of_all_runs_are_counted() -> None:
    gone = run(status="failed", outcome=None, dps=None, ehp=None, unspent_points=None, resistances={}, level=70)
    gone["resistances"] = dict.fromkeys(("fire", "cold", "lightning", "chaos"))
    weak = run(outcome="caveats", blocking=["weak"], resistances={"fire": 74.0, "cold": 75.0, "lightning": 75.0})
    found = quality.totals([run(), weak, gone, run(unspent_points=2, illegal_items=1, seconds=9.0)])
    assert (found["builds"], found["ended"], found["validated"], found["blocking"]) == (4, 3, 2, 1)
    assert (found["illegal_items"], found["unspent_points"], found["below_resistance_cap"]) == (1, 2, 1)
    assert found["median_seconds"] == 5.0


def test_medians_are_per_level_and_leave_out_what_is_not_known() -> None:
    runs = [run(dps=1.0), run(dps=3.0), run(dps=None), run(level=92, gear="endgame", dps=None)]
    found = quality.medians(runs)
    assert found["85 mid"]["dps"] == 2.0
    assert found["92 endgame"]["dps"] is None
    assert found["92 endgame"]["evaluations"] == 100


def test_quartiles_stand_beside_those_of_the_players_of_the_tier() -> None:
    hits = [{"physical_hit": value} for value in (1000.0, 2000.0, 3000.0, 4000.0, 5000.0)]
    found = quality.beside([run(**hit) for hit in hits] + [run(level=92, gear="endgame", physical_hit=1.0)])
    assert found["85 mid"]["physical_hit"] == {"ours": [2000.0, 3000.0, 4000.0], "players": [2796, 3276, 4541]}
    assert found["92 endgame"]["physical_hit"] == {"ours": None, "players": [5035, 6394, 8818]}
    assert found["85 mid"]["fire_hit"]["ours"] is None
    lines = quality.table_of(found)
    assert len(lines) == 2 * len(quality.BESIDE)
    assert "2,000 / 3,000 / 4,000" in lines[2]
    assert "players 2,796 / 3,276 / 4,541" in lines[2]
