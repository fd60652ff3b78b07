"""The command line as a shell sees it: exit codes, streams, sentences."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from app.console.status import confinement_lines
from tests.fakes.shell import run


def test_names_its_version() -> None:
    started = subprocess.run(
        [sys.executable, "-m", "app", "--version"], capture_output=True, text=True, timeout=300, check=False
    )
    for done in (started, run("--version")):
        assert (done.returncode, done.stdout) == (0, "buildwright 0.1.0\n")


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["nothing"],
        ["build"],
        ["build", ""],
        ["build", "ab"],
        ["build", "x" * 5000],
        ["build", "bell \x07 sorceress"],
        ["build", "sorceress", "--level", "0"],
        ["build", "sorceress", "--level", "200"],
        ["build", "sorceress", "--level", "high"],
        ["build", "sorceress", "--gear", "best"],
        ["build", "sorceress", "--engine", "abacus"],
        ["build", "sorceress", "--mode", "refinement"],
        ["export", "x", "--format", "pdf"],
        ["serve", "--port", "0"],
        ["bench", "nothing"],
        ["bench", "whatif", "--profile"],
    ],
)
def test_what_cannot_be_meant_is_a_usage_error(arguments: list[str]) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stdout == "" or arguments == []
    assert "Traceback" not in done.stderr


def test_a_worker_without_a_server_says_what_it_needs() -> None:
    done = run("worker")
    assert done.returncode == 2
    assert "PostgreSQL" in done.stderr
    assert "buildwright serve" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        (["import", "build.xml"], 2, "There is no file build.xml"),
        (["import", "no-code"], 2, "bad_import"),
        (["build", "a sorceress", "--parent", "x"], 1, "not_found"),
        (["build", "a sorceress", "--mode", "refinement"], 2, "parent_id"),
    ],
)
def test_what_cannot_be_imported_or_refined_says_why(arguments: list[str], code: int, word: str) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert word in done.stderr
    assert "Traceback" not in done.stderr


def test_asking_for_a_language_model_without_one_says_what_to_set() -> None:
    done = run("build", "a sorceress", "--reasoner", "llm")
    assert done.returncode == 2
    assert "BUILDWRIGHT_LLM_MODEL" in done.stderr
    assert "reasoner_missing" in done.stderr


def test_a_folder_that_cannot_be_written_is_found_before_any_work(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.touch()
    done = run("build", "a sorceress", "--out", str(blocker / "builds"))
    assert done.returncode == 2
    assert "Cannot write to" in done.stderr


def test_asking_for_path_of_building_without_it_says_how_to_get_it() -> None:
    done = run("build", "a sorceress", "--engine", "pob", "--out", "builds-never-made")
    assert done.returncode == 1
    assert "buildwright pob install" in done.stderr
    Path("builds-never-made").rmdir()


@pytest.mark.parametrize("arguments", [["show", "x"], ["metrics", "x"], ["export", "x"], ["compare", "x", "y"]])
def test_an_unknown_build_is_not_found(arguments: list[str]) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert "not_found" in done.stderr


def test_an_empty_store_is_sound_and_empty() -> None:
    assert run("db", "upgrade").returncode == 0
    checked = run("db", "check", "--json")
    assert (checked.returncode, json.loads(checked.stdout)) == (0, {"builds": 0, "findings": [], "database": []})
    assert run("list").stdout == "No builds yet.\n"
    assert json.loads(run("list", "--json").stdout) == {"items": [], "next_cursor": None}


def test_status_without_path_of_building(tmp_path: Path) -> None:
    done = run("pob", "status", "--json", BUILDWRIGHT_POB_PATH=str(tmp_path))
    assert done.returncode == 1
    assert json.loads(done.stdout) == {"installed": False, "path": str(tmp_path)}


def test_a_wrong_source_leaves_nothing_behind(tmp_path: Path) -> None:
    target = tmp_path / "pob"
    done = run("pob", "install", "--from", str(tmp_path / "missing"), BUILDWRIGHT_POB_PATH=str(target))
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr
    assert not target.exists()


def test_doctor_shows_settings_but_no_secret() -> None:
    secrets = {
        "BUILDWRIGHT_LLM_API_KEY": "sk-very-secret-1",
        "BUILDWRIGHT_API_TOKENS": "token-secret-2",
        "BUILDWRIGHT_LLM_BASE_URL": "https://me:pass-secret-3@llm.example/v1",
    }
    for arguments in (["doctor"], ["doctor", "--json"]):
        done = run(*arguments, **secrets)
        assert done.returncode == 0, done.stderr
        assert "secret" not in done.stdout.replace("secrets", "")
        assert "secret" not in done.stderr
    report = json.loads(done.stdout)
    assert report["engine"] == {"usable": True, "name": "sketch"}
    assert report["settings"]["llm_api_key"] == "set, not shown"


def test_doctor_says_what_engine_processes_are_kept_from() -> None:
    report = json.loads(run("doctor", "--json").stdout)["confinement"]
    lines = run("doctor").stdout.splitlines()

    assert {*report["refused"]} >= {"read files outside", "write files", "reach the network", "run programs"}
    for name, held in report["refused"].items():
        assert f"  {name}: {'holds' if held else 'NOT HELD HERE'}" in lines
    assert report["missing"] or all(report["refused"].values())


def test_doctor_never_passes_over_a_guard_that_is_missing() -> None:
    lines = confinement_lines({"refused": {"read files outside": False}, "missing": {"landlock": "no such call"}})
    assert lines == ["  read files outside: NOT HELD HERE", "  the kernel offers no guard 'landlock': no such call"]


def test_a_senseless_setting_is_a_usage_error() -> None:
    done = run("doctor", BUILDWRIGHT_ENGINE_WORKERS="many")
    assert done.returncode == 2
    assert "engine_workers" in done.stderr.lower()
    assert "Traceback" not in done.stderr
