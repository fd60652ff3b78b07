"""A suite from the shell: built, judged, kept under a label, compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli import app

pytestmark = pytest.mark.slow
SUITE = """
- name: easy
  prompt: lightning sorceress for mapping
  level: 12
  gear: starter
  expectations: {required_tools: [pob.build, pob.what_if], max_calls: 5000}
  facts:
    /status: {equals: complete}
    /sub_problems/ascendancy/decision/choice/class_name: {equals: Sorceress}
- name: impossible
  prompt: lightning sorceress for mapping
  level: 12
  gear: starter
  expectations: {forbidden_tools: [pob.what_if]}
  facts: {/stats/ehp: {range: {gt: 1.0e+12}}}
"""


def shell(*arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, list(arguments))
    return done.exit_code, done.stdout, done.stderr


def test_a_suite_is_run_kept_and_compared(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(SUITE)
    code, out, err = shell("eval", "run", str(file), "--label", "one", "--engine", "sketch", "--json")
    assert code == 1, err
    runs = {run["task"]: run for run in json.loads(out)["runs"]}
    assert (runs["easy"]["passed"], runs["easy"]["selected"]) == (True, True)
    assert (runs["impossible"]["passed"], runs["impossible"]["selected"]) == (False, False)
    assert [check["passed"] for check in runs["impossible"]["checks"]] == [True, False, False]
    assert "FAIL  impossible #1" in err

    again = ("eval", "run", str(file), "--label", "one", "--engine", "sketch")
    code, _, err = shell(*again)
    assert code == 2
    assert "resume" in err
    assert "2 of 4 runs under one passed" in shell(*again, "--resume", "--trials", "2")[1]
    assert shell("eval", "run", str(file), "--label", "two", "--engine", "sketch", "--only", "easy")[0] == 0

    labels = json.loads(shell("eval", "list", "--json")[1])
    assert {label["label"]: (label["runs"], label["passed"]) for label in labels} == {"one": (4, 2), "two": (1, 1)}
    code, out, err = shell("compare", "label:one", "label:two", "--json")
    assert code == 0, err
    found = json.loads(out)
    use = {row["subject"]: row for row in found["tool_use"]["rows"]}
    assert (use["label:one"]["selection_accuracy"], use["label:two"]["selection_accuracy"]) == (0.5, 1.0)
    assert found["unmatched"] == [{"task": "impossible", "missing_in": ["label:two"]}]
    assert next(m for m in found["deltas"][0]["metrics"] if m["metric"] == "dps")["difference"] == 0.0
    assert shell("compare", "label:one", runs["easy"]["build_id"])[0] == 2
    assert shell("compare", "label:one", "label:none")[0] == 1


@pytest.mark.parametrize("arguments", [["nothing"], ["classes", "--trials", "0"], ["classes", "--label", "a,b"]])
def test_what_cannot_be_run(arguments: list[str]) -> None:
    assert shell("eval", "run", *arguments)[0] == 2
