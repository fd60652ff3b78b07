"""The wheel holds everything that the code reads beside itself, and works where there is no checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from app.core.config import resource_dir
from app.prompting.library import PromptLibrary

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the wheel's files in it, as an installation has them."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "wheel", str(ROOT), "--no-deps", "--no-build-isolation", "--no-index"]
    done = subprocess.run([*pip, "-q", "-w", str(folder)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def test_prompts_and_knowledge_are_in_the_wheel(installed: Path) -> None:
    bundled = installed / "app" / "_bundled"
    ours = PromptLibrary(resource_dir("prompts"), resource_dir("domain"))
    theirs = PromptLibrary(bundled / "prompts", bundled / "domain")
    assert theirs.names == ours.names
    assert theirs.knowledge == ours.knowledge
    for name in ours.names:
        assert theirs.template(name) == ours.template(name)


def test_the_installed_command_finds_them(installed: Path, tmp_path: Path) -> None:
    """Run outside of the checkout, with the unpacked wheel before everything else on the path."""
    done = subprocess.run(
        [sys.executable, "-m", "app", "domain", "check", "--json"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["complete"]
    assert len(report["files"]) == 8
    where = subprocess.run(
        [sys.executable, "-c", "from app.core.config import resource_dir; print(resource_dir('prompts'))"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert Path(where.stdout.strip()) == installed / "app" / "_bundled" / "prompts"
