"""Result files: written, read again, compared, and refused where they are of another version."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from app.console.evaluations import compare_files
from app.core.errors import InputError
from app.metrics.comparison import compare
from app.metrics.results import ResultFile, read_results
from app.metrics.subjects import Subject, TaskRun
from tests.unit.metrics.test_productivity import build, measured


def side(ms: float) -> Subject:
    metrics = measured(build(12, ms=ms))
    plain: dict[str, Any] = {"valid": True, "dps": 5.0, "ehp": 9.0, "blocking": 0, "warnings": 1, "selected": True}
    called = [("construct", "pob.what_if", "k1")]
    runs = [
        TaskRun(task=f"t{n}", build_id=f"b{n}", seconds=ms, metrics=metrics, judged_calls=12, called=called, **plain)
        for n in range(11)
    ]
    return Subject("x", runs)


def written(folder: Path, name: str, ms: float, **changes: Any) -> str:
    data = json.loads(ResultFile.of(name, ["sketch 1"], side(ms)).model_dump_json()) | changes
    path = folder / f"{name}.json"
    path.write_text(json.dumps(data))
    return str(path)


def test_files_are_compared_as_what_they_hold(tmp_path: Path) -> None:
    names = [written(tmp_path, "a", 100.0), written(tmp_path, "b", 150.0, engines=["pob 1"])]
    found = compare_files(names)
    (direct,) = compare([side(100.0), side(150.0)]).deltas
    assert [delta.difference for delta in found.deltas[0].metrics] == [delta.difference for delta in direct.metrics]
    assert found.deltas[0].first_differences == []
    assert found.notes == ["The numbers come from different engines or engine versions."]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"schema_version": "2.0"}, "has schema 2.0; this version reads 1.x"),
        ({"schema_version": "0.9"}, "has schema 0.9"),
        ({"schema_version": None}, "does not say its schema_version"),
        ({"schema_version": 1.0}, "does not say its schema_version"),
        ({"schema_version": "1"}, "does not say its schema_version"),
        ({"schema_version": "01.0"}, "does not say its schema_version"),
        ({"kind": "else"}, "no result file"),
        ({"wat": 1}, "wat: Extra inputs"),
        ({"runs": [{}]}, "runs.0.task: Field required"),
    ],
)
def test_what_is_no_file_of_this_version_is_refused(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    names = [written(tmp_path, "a", 100.0), written(tmp_path, "b", 100.0, **changes)]
    with pytest.raises(InputError, match=re.escape(said)):
        compare_files(names)


def test_a_newer_minor_version_is_read_without_what_is_new(tmp_path: Path) -> None:
    text = Path(written(tmp_path, "a", 100.0, schema_version="1.7", news=[1])).read_text()
    assert len(read_results(text, "a").runs) == 11
    for bad in ("[]", "{", text.replace("100.0", "NaN")):
        with pytest.raises(InputError):
            read_results(bad, "a")


def test_files_are_not_mixed_with_builds(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="files with result files"):
        compare_files([written(tmp_path, "a", 1.0), "01J00000000000000000000001"])
    with pytest.raises(InputError, match="Cannot read"):
        compare_files([str(tmp_path / "no.json"), str(tmp_path / "none.json")])
