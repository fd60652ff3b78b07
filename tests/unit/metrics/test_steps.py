"""What builds say about settings: one step, within bounds, and kept beside the store."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.core.config import Settings
from app.core.errors import InputError
from app.core.spans import SpanKind
from app.metrics.breakdown import BuildMetrics
from app.metrics.efficiency import measure
from app.metrics.steps import TunedSettings, TuningEffect, suggestion
from app.model.base import changed
from app.model.spans import SpanNode
from app.wiring.tuned import read_tuned, tuned, write_tuned
from tests.fakes.samples import an_event
from tests.unit.metrics.test_breakdown import node, step

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def builds(
    engine_cpu: float = 90.0, waited: float = 0.0, cache: float = 0.0, count: int = 3, found: int = 9
) -> list[BuildMetrics]:
    """Builds of a second; `found` of ten lookups were answered."""
    process = node("engine process", SpanKind.ENGINE, 100.0).model_copy(update={"cpu_ms": engine_cpu})
    call = node("pob.what_if", SpanKind.ENGINE, 200.0, process, node("cache", SpanKind.STORE, cache))
    parts: list[SpanNode] = [call, node("waiting for a free engine", SpanKind.WAIT, waited)]
    metrics = measure([])
    metrics = changed(metrics, run=changed(metrics.run, cache_lookups=10, cached=found))
    return [BuildMetrics.of(metrics, [step(*parts, wall=1000.0)]) for _ in range(count)]


def said(found: list[BuildMetrics], workers: int = 4, memory: int = 64) -> tuple[int | None, int | None] | None:
    wanted = suggestion(found, workers, 32, memory, 4, NOW)
    return None if wanted is None else (wanted.engine_workers, wanted.cache_memory_mb)


def test_one_step_within_bounds() -> None:
    assert said(builds()) is None
    assert said(builds(engine_cpu=30.0)) == (2, None)
    assert said(builds(engine_cpu=30.0), workers=1) is None
    assert said(builds(waited=200.0), workers=2) == (3, None)
    assert said(builds(waited=200.0), workers=4) is None, "never more than there are processors"
    assert said(builds(waited=200.0, engine_cpu=30.0), workers=2) == (1, None), "more would starve them more"
    assert said(builds(cache=60.0)) == (None, 128)
    assert said(builds(cache=60.0, found=4)) is None, "what was never asked before is in no memory"
    assert said(builds(cache=60.0), memory=400) == (None, 512)
    assert said(builds(cache=60.0), memory=512) is None
    assert said(builds(cache=60.0), memory=0) is None, "switched off stays off"
    assert said(builds(engine_cpu=30.0, count=2)) is None
    assert said([BuildMetrics.of(measure([]), [])] * 5) is None


@pytest.mark.parametrize(
    ("results", "batch", "workers", "wanted"),
    [(2, 4, 2, 8), (2, 20, 2, 32), (2, 32, 2, None), (2, 4, 1, None), (20, 4, 2, None)],
)
def test_small_batches_become_larger(results: int, batch: int, workers: int, wanted: int | None) -> None:
    events = [an_event(seq, "pob.what_if", results=results, args_sha256=f"{seq}") for seq in range(1, 4)]
    call = node("pob.what_if", SpanKind.ENGINE, 500.0, node("engine process", SpanKind.ENGINE, 100.0))
    busy = call.model_copy(update={"children": [call.children[0].model_copy(update={"cpu_ms": 100.0})]})
    traces = [step(node("construct", SpanKind.FRAME, 1000.0, busy), wall=1000.0)]
    found = [BuildMetrics.of(measure(events), traces) for _ in range(3)]
    steps = suggestion(found, workers, batch, 512, 4, NOW)
    assert (steps.whatif_batch if steps is not None else None) == wanted


def test_what_was_measured_holds_where_nothing_else_is_said(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    assert tuned(settings) == settings
    write_tuned(settings, TunedSettings(since=NOW, engine_workers=3, reasons=["x"]))
    assert (tuned(settings).engine_workers, tuned(settings).cache_memory_mb) == (3, settings.cache_memory_mb)
    assert tuned(Settings(data_dir=tmp_path, engine_workers=7)).engine_workers == 7
    write_tuned(settings, None)
    assert read_tuned(settings) is None
    (tmp_path / "tuning.json").write_text("{}")
    with pytest.raises(InputError, match="--forget"):
        tuned(settings)


def test_the_effect_is_the_mean_of_builds() -> None:
    effect = TuningEffect.of(builds())
    assert (effect.builds, effect.seconds, effect.productivity) == (3, 1.0, None)
    assert TuningEffect.of([]).seconds is None
