"""Figures that can be added up are the same over phases and over tools, whatever happened to the calls."""

from __future__ import annotations

import random
from typing import Any

from app.metrics.breakdown import BuildMetrics
from app.metrics.efficiency import measure
from app.model.events import CacheUse, CallOutcome, ToolEvent, ToolKind
from app.model.names import Phase
from tests.integration.test_time import check_sums
from tests.unit.metrics.test_efficiency import Log

PHASES = (Phase.DECOMPOSE, Phase.EXPLORE, Phase.CONSTRUCT, Phase.VALIDATE, Phase.ITERATE)
FAILING = (CallOutcome.ERROR, CallOutcome.TIMEOUT)


def a_build(chance: random.Random) -> list[ToolEvent]:
    """Return a build with retries, timeouts, cancels, calls inside calls, the cache, models, deaths and resumes."""
    log, clock = Log(), 0.0
    for visit in range(chance.randrange(1, 7)):
        phase, epoch = chance.choice(PHASES), 1 + visit // 2
        for number in range(chance.randrange(0, 25)):
            call, tool = f"{visit}-{number}", f"pob.{chance.choice('abc')}"
            known: dict[str, Any] = {"phase": phase, "epoch": epoch, "key": f"k{chance.randrange(8)}"}
            if chance.random() < 0.2:
                outer = f"{call}-outer"
                log.add("rules.explore", clock, 50.0, call_id=outer, kind=ToolKind.OTHER, phase=phase, epoch=epoch)
                known["parent_call_id"] = outer
            if chance.random() < 0.2:
                tool, known["kind"] = "llm.chat", ToolKind.LLM
                known["usage"] = {"input": chance.randrange(900), "output": 7} if chance.random() < 0.8 else None
                known["cost_usd"] = "0.01" if known["usage"] and chance.random() < 0.7 else None
                known["cost_source"] = chance.choice(["table", "provider"])
            attempts = chance.choice([1, 1, 1, 2, 3])
            for attempt in range(1, attempts + 1):
                last = attempt == attempts
                outcome = chance.choice(list(CallOutcome)) if last else chance.choice(FAILING)
                cache = chance.choice(list(CacheUse)) if outcome is CallOutcome.OK and attempt == 1 else CacheUse.MISS
                took = None if outcome is CallOutcome.INCOMPLETE else chance.uniform(0, 40)
                results = chance.choice([None, 1, 30])
                saved = chance.choice([None, 500.0])
                more: dict[str, Any] = {"attempt": attempt, "call_id": call, "results": results, "original_ms": saved}
                log.add(tool, clock, took, outcome, cache, **known, **more)
                clock += chance.uniform(0, 60)
        clock += 10_000.0 * (chance.random() < 0.3)
    return log.events


def test_run_is_the_sum_of_phases_and_of_tools() -> None:
    for seed in range(300):
        events = a_build(random.Random(seed))
        for ended in (True, False):
            found = BuildMetrics.of(measure(events, ended=ended), [])
            check_sums(found)
            tokens = [phase.tokens or {} for phase in found.phases]
            kinds = {kind for one in tokens for kind in one}
            assert (found.run.tokens or {}) == {kind: sum(one.get(kind, 0) for one in tokens) for kind in kinds}
            costs = [float(tool.cost_usd or 0) for phase in found.phases for tool in phase.tools]
            assert abs(sum(costs) - float(found.run.cost_usd or 0)) < 1e-9
            assert found.run.calls == len({event.call_id for event in events})
