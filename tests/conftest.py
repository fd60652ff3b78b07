"""What all tests share: settings that no environment leaks into, and where Path of Building is."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Generator
from pathlib import Path

import hypothesis
import pytest

from app.core.config import Settings
from tests.databases import drop, made, postgres_server

hypothesis.settings.register_profile("busy", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("busy")
"""A machine that does other things besides is slow, not wrong."""

_PREFIX = "BUILDWRIGHT_"
DEEP = os.environ.get("BUILDWRIGHT_TEST_DEEP") == "1"
"""Whether tests that can do more of the same shall do all of it; `make test-deep` says so."""
_POB_HOME = Settings().pob_home
"""Where the person running the tests has PoB, read before the tests get settings of their own."""


def pob_home() -> Path | None:
    """Return where PoB is, or None when it is not installed; for parametrising while tests are collected."""
    return _POB_HOME if (_POB_HOME / "src" / "HeadlessWrapper.lua").is_file() else None


@pytest.fixture(scope="session")
def pob_path() -> Path:
    """Path of Building's folder; the test is skipped where there is none."""
    home = pob_home()
    if home is None:
        pytest.skip("Path of Building is not installed")
    return home


@pytest.fixture(autouse=True)
def _server_for_tests_of_it(request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("postgres") and postgres_server() is None:
        pytest.skip("no PostgreSQL server: name one in BUILDWRIGHT_TEST_DATABASE_URL")


def pytest_sessionfinish() -> None:
    """Remove the databases that the whole session shared."""
    while made:
        drop(made.pop())


@pytest.fixture(autouse=True)
def isolated_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test default settings, a data directory of its own and no Path of Building unless it asks for it."""
    for name in [name for name in os.environ if name.startswith(_PREFIX)]:
        monkeypatch.delenv(name)
    monkeypatch.setenv(f"{_PREFIX}DATA_DIR", str(tmp_path / "data"))


@pytest.fixture(scope="session")
def real_builds() -> list[Path]:
    """XML files of real players' builds, sorted by name; the test is skipped where they are not at hand."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "builds"
    found = sorted(folder.glob("*.xml"))
    if not found:
        pytest.skip("no real builds at hand")
    return found


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """Leave logging after each test, and after all it set up and took down, as it was before."""
    root = logging.getLogger()
    named = [found for found in root.manager.loggerDict.values() if isinstance(found, logging.Logger)]
    before = [(logger, logger.handlers[:], logger.level, logger.propagate) for logger in (root, *named)]
    disabled = root.manager.disable
    try:
        return (yield)
    finally:
        logging.disable(disabled)
        for logger, handlers, level, propagate in before:
            logger.handlers[:] = handlers
            logger.setLevel(level)
            logger.propagate = propagate


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start files with slow tests first; within slow and quick ones the shuffled order stays."""
    slow = {item.path for item in items if item.get_closest_marker("slow") or item.get_closest_marker("deep")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.fixture(scope="session")
def few_real_builds(real_builds: list[Path]) -> list[Path]:
    """Every fourth of them, for what takes seconds with each; all of them in `make test-deep`."""
    return real_builds if DEEP else real_builds[::4]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many real-engine tests ran and how many were skipped, so that a green run cannot hide their absence."""
    seed = terminalreporter.config.getoption("randomly_seed", None)
    if seed is not None:
        terminalreporter.write_line(f"Shuffled with --randomly-seed={seed}, which repeats this order")
    ran, skipped = _counts(terminalreporter, "pob")
    where = "installed" if pob_home() else "not installed"
    terminalreporter.write_line(f"Path of Building {where}: {ran} real-engine tests ran, {skipped} skipped")
    ran, skipped = _counts(terminalreporter, "postgres")
    there = "there" if postgres_server() else "NO SERVER, so nothing of it was tested"
    terminalreporter.write_line(f"PostgreSQL {there}: {ran} tests ran, {skipped} skipped")
    if shutil.which("chromium") is None:
        terminalreporter.write_line("Chromium not installed (apt-get install chromium): NO browser test ran")


def _counts(reporter: pytest.TerminalReporter, marker: str) -> tuple[int, int]:
    """Return how many tests with the marker ran, and how many were skipped."""
    of = {
        outcome: sum(
            marker in report.keywords
            for report in reporter.stats.get(outcome, [])
            if getattr(report, "when", "call") != "teardown"
        )
        for outcome in ("passed", "failed", "skipped")
    }
    return of["passed"] + of["failed"], of["skipped"]
