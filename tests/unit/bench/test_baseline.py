"""The baseline: read, written, and used for efficiency."""

from __future__ import annotations

from pathlib import Path

from app.bench.baseline import section_of, write_section
from app.core.config import resource_dir
from app.metrics.efficiency import BASELINE, Standards, load_targets
from app.model.events import CacheUse, CallOutcome
from app.service.recordings import Recordings
from tests.fakes.samples import a_complete_record, an_event
from tests.fakes.stores import MemoryBuildStore, MemoryEventStore


def test_the_committed_baseline_has_a_target_for_what_builds_call() -> None:
    targets = load_targets(resource_dir("evals") / BASELINE)
    assert {"pob.build", "pob.apply", "pob.what_if", "pob.stats", "pob.inspect"} <= set(targets["pob"])
    assert all(ms > 0 for ms in targets["pob"].values())


def test_a_section_counts_good_executions_and_leaves_the_other_engine_alone(tmp_path: Path) -> None:
    events = [an_event(n, tool="pob.stats", duration_ms=float(n), cache=CacheUse.MISS) for n in range(1, 101)]
    events += [
        an_event(101, tool="pob.stats", duration_ms=9e9, outcome=CallOutcome.ERROR),
        an_event(102, tool="pob.stats", duration_ms=0.1, cache=CacheUse.HIT),
    ]
    section = section_of(events)
    assert section["tools"] == {"pob.stats": {"n": 100, "p50_ms": 50.0, "p95_ms": 95.0, "max_ms": 100.0}}
    file = tmp_path / BASELINE
    assert load_targets(file) == {}
    for engine in ("pob", "sketch", "pob"):
        write_section(file, engine, section)
    assert load_targets(file) == {"pob": {"pob.stats": 95.0}, "sketch": {"pob.stats": 95.0}}


async def test_efficiency_has_time_and_cost_where_there_are_targets() -> None:
    builds, events = MemoryBuildStore(), MemoryEventStore()
    record = builds.put(a_complete_record())
    events.kept[record.id] = [an_event(1, tool="pob.stats", duration_ms=190.0, cost_usd="0.02")]
    found = (
        await Recordings(builds, events, Standards({"sketch": {"pob.stats": 95.0}}, budget_usd=0.01)).metrics(record.id)
    ).efficiency
    assert (found.time, found.cost) == (0.5, 0.5)
    found = (await Recordings(builds, events).metrics(record.id)).efficiency
    assert (found.time, found.cost) == (None, None)
