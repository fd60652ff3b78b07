"""Where the time went: trees of spans, rows, what to change, and the flame view."""

from __future__ import annotations

import random
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from app.core.spans import SpanKind
from app.metrics.breakdown import BuildMetrics, TimeAccount, rows_of
from app.metrics.efficiency import measure
from app.metrics.flame import flame_svg
from app.model.events import CacheUse, CallOutcome
from app.model.names import Phase
from app.model.spans import SpanNode, StepTrace
from tests.fakes.samples import an_event

FRAME, SEARCH, ENGINE, WAIT, STORE = (SpanKind(name) for name in ("frame", "search", "engine", "wait", "store"))


def node(name: str, kind: SpanKind, wall: float, *children: SpanNode, covered: float | None = None) -> SpanNode:
    inside = sum(child.wall_ms for child in children) if covered is None else covered
    known: dict[str, Any] = {"calls": 1, "wall_ms": wall, "covered_ms": inside, "cpu_ms": 0.0}
    return SpanNode(name=name, kind=kind, children=list(children), **known)


def step(*children: SpanNode, wall: float, phase: Phase = Phase.CONSTRUCT) -> StepTrace:
    return StepTrace(phase=phase, root=node("build", FRAME, wall, *children))


def account(*traces: StepTrace) -> TimeAccount:
    found = TimeAccount.of(traces)
    assert found is not None
    return found


def test_wall_is_explained_plus_rest() -> None:
    call = node("pob.what_if", ENGINE, 60.0, node("attempt", ENGINE, 50.0))
    found = account(
        step(node("construct", FRAME, 95.0, node("gear", SEARCH, 90.0, call)), wall=100.0),
        step(node("checkpoint", STORE, 10.0), node("construct", FRAME, 0.0), wall=10.0),
    )
    assert (found.wall_ms, found.explained_ms, found.rest_ms) == (110.0, 100.0, 10.0)
    assert (found.kinds[SEARCH], found.kinds[ENGINE], found.kinds[STORE]) == (30.0, 60.0, 10.0)
    assert [(one.name, one.wall_ms) for one in found.tree.children] == [("construct", 95.0), ("checkpoint", 10.0)]
    assert TimeAccount.of([]) is None


def test_what_ran_side_by_side_shares_the_time_it_covers() -> None:
    pair = [node(name, ENGINE, 80.0) for name in ("pob.stats", "pob.inspect")]
    found = account(step(node("gear", SEARCH, 100.0, *pair, covered=80.0), wall=100.0))
    assert found.kinds[ENGINE] == pytest.approx(80.0)
    assert found.kinds[SEARCH] == pytest.approx(20.0)


def test_own_times_of_any_tree_add_up_to_its_wall() -> None:
    chance = random.Random(5)

    def grown(wall: float, depth: int) -> SpanNode:
        kind = chance.choice(list(SpanKind))
        if not depth:
            return node(f"n{chance.randrange(4)}", kind, wall)
        parts = [grown(wall * chance.uniform(0, 0.9), depth - 1) for _ in range(chance.randrange(4))]
        covered = min(wall, max((part.wall_ms for part in parts), default=0.0) * chance.uniform(1, 1.1))
        return node(f"n{chance.randrange(4)}", kind, wall, *parts, covered=covered)

    for _ in range(200):
        traces = [step(grown(100.0, 4), wall=100.0) for _ in range(3)]
        found = account(*traces)
        assert found.explained_ms + found.rest_ms == pytest.approx(300.0)
        rows = rows_of(found, measure([]))
        assert sum(row.self_ms for row in rows) == pytest.approx(300.0)
        assert sum(row.share for row in rows) == pytest.approx(1.0)
        assert [row.self_ms for row in rows] == sorted((row.self_ms for row in rows), reverse=True)


def advice(*children: SpanNode, wall: float, events: list[Any] | None = None) -> list[str]:
    found = BuildMetrics.of(measure(events or []), [step(node("construct", FRAME, wall, *children), wall=wall)])
    return [one.sentence for one in found.advice]


def test_what_to_change_follows_from_the_figures() -> None:
    waits = node("waiting for a free engine", WAIT, 400.0)
    (said,) = advice(node("gear", SEARCH, 1000.0, waits), wall=1000.0)
    assert said.startswith("construct waits 40% of the time for engine sessions: raise BUILDWRIGHT_ENGINE_WORKERS")
    again = [
        an_event(n, args_sha256="same", cache=CacheUse.BYPASS, duration_ms=100.0, started_at=an_event(1).started_at)
        for n in range(1, 3)
    ]
    later = again[0].started_at.replace(microsecond=900_000)
    again += [an_event(3, args_sha256="same", cache=CacheUse.BYPASS, duration_ms=100.0, started_at=later)]
    (said,) = advice(node("pob.stats", ENGINE, 300.0), wall=300.0, events=again)
    assert said.startswith("construct: pob.stats was executed 1 times for questions whose answer was known")
    failed = [an_event(1, outcome=CallOutcome.TIMEOUT, duration_ms=900.0)]
    assert "1 of 1 attempts of pob.stats came to nothing" in advice(wall=1000.0, events=failed)[0]
    small = [an_event(1, tool="pob.what_if", results=2, duration_ms=100.0)]
    (said,) = advice(node("pob.what_if", ENGINE, 100.0), wall=100.0, events=small)
    assert "asks 2.0 candidates at a time" in said
    assert advice(node("gear", SEARCH, 99.0), wall=100.0) == [
        "nothing stands out; most of the time (99%) is construct gear"
    ]
    assert "no spans were recorded" in BuildMetrics.of(measure([]), []).advice[0].sentence


def test_at_most_three_pieces_of_advice_the_largest_first() -> None:
    slow = node("engine and reasoner", ENGINE, 200.0)
    store, waits = node("memory", STORE, 300.0), node("waiting for a free engine", WAIT, 250.0)
    call = node("pob.stats", ENGINE, 250.0, node("opening an engine", ENGINE, 250.0))
    found = BuildMetrics.of(
        measure([]), [step(node("construct", FRAME, 1000.0, slow, store, waits, call), wall=1000.0)]
    )
    assert [round(one.ms) for one in found.advice] == [300, 250, 250]


def test_the_flame_view_is_a_picture_of_all_that_is_wide_enough() -> None:
    found = account(step(node("gear <&>", SEARCH, 90.0, node("pob.stats", ENGINE, 60.0)), wall=100.0))
    picture = ET.fromstring(flame_svg(found.tree))
    shape = "{http://www.w3.org/2000/svg}"
    titles = [one.text or "" for one in picture.iter(f"{shape}title")]
    assert any(title.startswith("gear <&>: 90.0 ms (90.0%), own 30.0 ms") for title in titles)
    boxes = [one.find(f"{shape}rect") for one in picture.iter(f"{shape}g")]
    assert [float(box.get("width", "0")) for box in boxes if box is not None] == [1200.0, 1080.0, 720.0]
