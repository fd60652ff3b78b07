"""All of the wall time of a build is explained, and the command line says where it went."""

from __future__ import annotations

import json
from pathlib import Path
from time import perf_counter
from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner

from app.cli import app
from app.core.config import Settings
from app.metrics.breakdown import BuildMetrics
from app.model.record import BuildRequest, EngineChoice
from app.wiring import open_services

pytestmark = pytest.mark.slow
ADDITIVE = (
    *(
        "calls",
        "attempts",
        "retries",
        "ok_calls",
        "incomplete_calls",
        "sum_ms",
        "wasted_ms",
        "latency_samples",
        "loops",
    ),
    *("cache_lookups", "cached", "saved_ms", "repeat_lookups", "executed", "avoidable", "avoidable_ms", "useful"),
    "unpriced_calls",
)


def check_sums(found: BuildMetrics) -> None:
    """Assert that what can be added up is the same over phases and over tools."""
    for name in ADDITIVE:
        whole = getattr(found.run, name) or 0
        phases = sum(getattr(phase, name) or 0 for phase in found.phases)
        tools = sum(getattr(tool, name) or 0 for phase in found.phases for tool in phase.tools)
        assert phases == pytest.approx(whole), name
        assert tools == pytest.approx(whole), name


async def explained(engine: EngineChoice, level: int, settings: Settings | None = None) -> BuildMetrics:
    """Return the metrics of a build whose wall time was explained; the stopwatch is the test's own."""
    async with open_services(settings or Settings()) as services:
        began = perf_counter()
        made = await services.builds.create(BuildRequest(prompt="lightning sorceress", level=level, engine=engine))
        await services.builds.wait(made.id)
        took_ms = (perf_counter() - began) * 1000
        found = await services.recordings.metrics(made.id)
    time = found.time
    assert time is not None
    assert time.wall_ms == pytest.approx(time.explained_ms + time.rest_ms)
    assert time.rest_share is not None
    assert time.rest_share <= 0.03
    assert took_ms - time.wall_ms - (time.queued_ms or 0.0) <= 0.03 * took_ms, "what is not in the account at all"
    assert sum(row.self_ms for row in found.rows) == pytest.approx(time.wall_ms)
    kinds = {kind.value for kind, ms in time.kinds.items() if ms}
    assert {"planner", "search", "engine", "store"} <= kinds
    check_sums(found)
    return found


async def test_all_of_the_time_of_a_sketch_build_is_explained() -> None:
    found = await explained("sketch", 12)
    stages = {row.name for row in found.rows if row.kind == "search"}
    assert {"gear", "tree", "finish"} <= stages
    assert found.advice


def test_the_command_says_where_the_time_went(tmp_path: Path) -> None:
    def shell(*arguments: str) -> tuple[int, str, str]:
        done = CliRunner().invoke(app, list(arguments))
        return done.exit_code, done.stdout, done.stderr

    made = shell("build", "lightning sorceress", "--level", "8", "--engine", "sketch", "--out", str(tmp_path), "--json")
    build = json.loads(made[1])["id"]
    code, out, err = shell("metrics", build)
    assert (code, err) == (0, "")
    table = [line.split() for line in out.splitlines() if line.startswith(("construct ", "explore ", "validate "))]
    shares = [float(line[2].rstrip("%")) for line in table if line[2].endswith("%")]
    assert shares == sorted(shares, reverse=True)
    assert "What to change:" in out
    code, out, _ = shell("metrics", build, "--phase", "construct", "--tool", "pob.what_if", "--json")
    (row,) = json.loads(out)["rows"]
    assert (code, row["phase"], row["name"], row["useful"] > 0) == (0, "construct", "pob.what_if", True)
    picture = tmp_path / "flame.svg"
    assert shell("metrics", build, "--flame", str(picture))[0] == 0
    assert ET.parse(picture).getroot().tag.endswith("svg")
    for bad, said in (
        (("--tool", "pob.wat"), "Nothing of that is recorded"),
        (("--flame", str(tmp_path / "none" / "x.svg")), "Cannot write"),
        (("--phase", "wat"), "wat"),
    ):
        code, _, err = shell("metrics", build, *bad)
        assert code == 2, err
        assert said in err
