"""What every UsageHistory promises."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

from app.model.base import changed
from app.model.events import ANSWER_REJECTED, CacheUse, CallOutcome, ToolKind
from app.model.names import BuildStatus, Effort, Mode, Outcome, Phase
from app.model.record import BuildRecord, BuildRequest, ReasonerVersion
from app.model.state import BuildState
from app.model.usage import UsedChats
from app.storage.store import Storage
from tests.fakes.samples import WHEN, a_complete_record, a_record, an_event

EARLY, LATE = timedelta(days=-2), timedelta(days=1)


async def test_builds_say_how_they_ended(storage: Storage) -> None:
    good = changed(a_complete_record(1), state=BuildState(phase=Phase.COMPLETE, outcome=Outcome.VALIDATED))
    good = changed(good, created_at=WHEN, updated_at=WHEN + timedelta(seconds=90), owner="a")
    going = changed(a_record(2), created_at=WHEN + LATE, updated_at=WHEN + LATE, owner="b")
    old = changed(a_record(3), created_at=WHEN + EARLY, updated_at=WHEN + EARLY)
    for record in (good, going, old):
        await storage.builds.insert(record)
    found = await storage.usage.builds(WHEN)
    assert [(one.id, one.owner, one.outcome, one.seconds) for one in found] == [
        (good.id, "a", Outcome.VALIDATED, 90.0),
        (going.id, "b", None, None),
    ]
    assert found[1].status is BuildStatus.QUEUED
    assert [one.id for one in await storage.usage.builds(WHEN, "b")] == [going.id]


async def test_calls_are_added_up_by_build_phase_tool_and_model(storage: Storage) -> None:
    record = a_record(1)
    await storage.builds.insert(changed(record, created_at=WHEN, updated_at=WHEN))
    chat: dict[str, Any] = {
        "kind": ToolKind.LLM,
        "tool": "llm.chat",
        "tool_version": "m1",
        "usage": {"input": 100, "output": 20},
    }
    made: list[dict[str, Any]] = [
        {"tool": "pob.stats", "duration_ms": 10.0},
        {"tool": "pob.stats", "duration_ms": 30.0, "outcome": CallOutcome.ERROR},
        {"tool": "pob.stats", "duration_ms": 1.0, "cache": CacheUse.HIT},
        {"tool": "pob.stats", "duration_ms": 0.0, "outcome": CallOutcome.REJECTED},
        {**chat, "duration_ms": 500.0, "cost_usd": "0.25"},
        {**chat, "duration_ms": 700.0},
    ]
    for number, fields in enumerate(made, start=1):
        await storage.events.record(an_event(number, build_id=record.id, **fields))
    chats, stats = await storage.usage.calls(WHEN)
    assert (stats.tool, stats.phase, stats.model, stats.attempts, stats.ok, stats.ms) == (
        *("pob.stats", Phase.CONSTRUCT, None),
        *(2, 1, 40.0),
    )
    assert (chats.model, chats.tokens, chats.usd, chats.unpriced) == ("m1", 240, Decimal("0.25"), 1)
    assert await storage.usage.calls(WHEN + LATE) == []
    assert await storage.usage.calls(WHEN, "somebody else") == []


def reasoned(number: int, *, ended: timedelta = timedelta(minutes=1), owner: str = "a", **request: Any) -> BuildRecord:
    """Return a complete build that a language model reasoned for."""
    asked = BuildRequest(prompt="a cold witch", **request)
    began = WHEN + timedelta(minutes=number)
    return changed(
        a_complete_record(number),
        request=asked,
        owner=owner,
        reasoner=ReasonerVersion(name="llm", model="m1"),
        created_at=began,
        updated_at=began + ended,
    )


async def test_what_builds_asked_of_language_models(storage: Storage) -> None:
    rules = changed(reasoned(5), reasoner=ReasonerVersion(name="rules"))
    going = changed(reasoned(6), status=BuildStatus.RUNNING)
    late = reasoned(7, ended=LATE)
    others = [reasoned(8, effort=Effort.DEEP), reasoned(9, mode=Mode.REFINEMENT), rules, going, late]
    wanted = [reasoned(1), reasoned(2, owner="b"), reasoned(3)]
    paid: dict[str, Any] = {"usage": {"input": 100, "output": 20, "cache_read": 50}, "cost_usd": "0.25"}
    rejected = {**paid, "outcome": CallOutcome.ERROR, "error_type": ANSWER_REJECTED}
    failed = {"outcome": CallOutcome.ERROR, "error_type": "llm_unavailable"}
    unknown: dict[str, Any] = {"usage": None, "cost_usd": None}
    asked = {1: [paid, rejected, failed], 2: [paid], 3: [paid, unknown]}
    for number, record in enumerate([*wanted, *others], start=1):
        await storage.builds.insert(record)
        for at, fields in enumerate(asked.get(number, [paid]), start=1):
            chat = {"kind": ToolKind.LLM, "tool_version": "openai m1", "call_id": f"{number}-{at}", **fields}
            await storage.events.record(an_event(at, "llm.chat", build_id=record.id, **chat))
        other = {"kind": ToolKind.LLM, "call_id": f"{number}-step"}
        await storage.events.record(an_event(9, "llm.explore", build_id=record.id, **other))
    until, versions = WHEN + timedelta(hours=1), frozenset({"openai m1"})
    first = UsedChats(wanted[0].id, versions, 3, 200, 40, Decimal("0.50"))
    assert await storage.usage.chats(Effort.NORMAL, until) == [
        UsedChats(wanted[2].id, versions, 2, None, None, None),
        UsedChats(wanted[1].id, versions, 1, 100, 20, Decimal("0.25")),
        first,
    ]
    assert [one.build_id for one in await storage.usage.chats(Effort.NORMAL, until, "b")] == [wanted[1].id]
    assert [one.build_id for one in await storage.usage.chats(Effort.DEEP, until)] == [others[0].id]
    assert await storage.usage.chats(Effort.NORMAL, WHEN) == []
    assert await storage.usage.chats_of(wanted[0].id) == first
    assert await storage.usage.chats_of("nothing") is None
