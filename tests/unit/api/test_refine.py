"""`/refine` and `/answer`: children of finished builds, and what they refuse."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from app.knowledge.values import allowed, words_of
from app.machine.phases import entry_phase
from app.model.access import Access, Permission
from app.model.base import changed
from app.model.blueprint import Blueprint
from app.model.constraints import INVARIANTS, Count, Invariant, InvariantSet, InvariantValue, Kind, Question, Setter
from app.model.names import BuildStatus, Mode, Phase, Provenance
from app.model.record import BuildRecord, BuildRequest
from app.model.state import BuildState
from tests.fakes.samples import ENGINE
from tests.fakes.service import World

PARENT = "01J0000000000000000000000A"
XML = b'<?xml version="1.0" encoding="UTF-8"?>\n<PathOfBuilding2/>\n'
SKILL = Invariant(field="skill", value="Spark", provenance=Provenance.INFERRED, reason="it fits")
ASKS = Question(field="skill", text="Which skill?", options=["Spark", "Arc"], assumed="Spark")


async def a_parent(
    world: World, status: BuildStatus = BuildStatus.COMPLETE, asks: bool = True, field: str = "skill"
) -> BuildRecord:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    record = BuildRecord(
        id=PARENT,
        request=BuildRequest(prompt="a sorceress", level=80),
        status=status,
        invariants=InvariantSet(invariants=[SKILL], question=changed(ASKS, field=field) if asks else None),
        state=BuildState(phase=Phase.COMPLETE, blueprint=Blueprint(class_name="Sorceress", level=80)),
        xml=XML,
        created_at=now,
        updated_at=now,
    )
    return await world.store.insert(record)


async def test_a_refinement_starts_as_its_parent_is(api: httpx.AsyncClient, world: World) -> None:
    await a_parent(world)
    answer = await api.post(f"/v1/builds/{PARENT}/refine", json={"prompt": "more damage, keep the weapon"})
    found = answer.json()
    assert answer.status_code == 202
    assert answer.headers["Location"] == f"/v1/builds/{found['id']}"
    assert (found["parent_id"], found["mode"], found["status"]) == (PARENT, "refinement", "queued")
    assert found["phase"] == "explore"
    assert [item["value"] for item in found["invariants"]] == ["Spark"]
    assert world.runner.rung == [found["id"]]
    child = world.store.records[found["id"]]
    assert (child.xml, child.state.inherited) == (XML, world.store.records[PARENT].invariants)
    assert (child.request.level, child.request.overrides) == (None, {})  # they are among the constraints


async def test_the_parent_field_of_a_new_build_makes_it_a_refinement(api: httpx.AsyncClient, world: World) -> None:
    await a_parent(world)
    answer = await api.post("/v1/builds", json={"prompt": "more damage", "parent_id": PARENT})
    assert (answer.status_code, answer.json()["mode"], answer.json()["phase"]) == (202, "refinement", "explore")


async def test_a_strategic_child_only_inherits_constraints(api: httpx.AsyncClient, world: World) -> None:
    await a_parent(world)
    answer = await api.post("/v1/builds", json={"prompt": "play Arc", "parent_id": PARENT, "mode": "strategic"})
    child = world.store.records[answer.json()["id"]]
    assert (child.state.phase, child.state.blueprint, child.xml) == (Phase.DECOMPOSE, None, None)
    assert child.state.inherited == world.store.records[PARENT].invariants


@pytest.mark.parametrize(
    ("call", "body"),
    [("refine", {"prompt": "more damage"}), ("answer", {"answer": "Arc"}), ("answer", {"answer": "Spark"})],
)
async def test_a_child_is_its_parents_owners(api: httpx.AsyncClient, world: World, call: str, body: Any) -> None:
    parent = await a_parent(world)
    world.store.put(parent, owner="alice", engine=ENGINE, epoch=3, attempts=2)
    answer = await api.post(f"/v1/builds/{PARENT}/{call}", json=body)
    child = world.store.records[answer.json()["id"]]
    assert (child.owner, child.parent_id, child.engine) == ("alice", PARENT, ENGINE)
    assert (child.epoch, child.attempts, child.cancel_requested, child.failure) == (0, 0, False, None)
    assert (child.request.engine, child.request.seed) == ("sketch", parent.request.seed)


@pytest.mark.parametrize("mode", [Mode.REFINEMENT, Mode.STRATEGIC])
async def test_a_child_belongs_to_whoever_asks_for_it(world: World, mode: Mode) -> None:
    world.store.put(await a_parent(world), owner="alice")
    asked = BuildRequest(prompt="play Arc", parent_id=PARENT, mode=mode)
    bob = Access(token="b", owner="bob", permissions=frozenset({Permission.ADMIN}))
    child = await world.services.builds.create(asked, access=bob)
    assert world.store.records[child.id].owner == "bob"
    assert child.phase is entry_phase(mode)


@pytest.mark.parametrize("call", ["refine", "answer"])
@pytest.mark.parametrize("status", [BuildStatus.QUEUED, BuildStatus.RUNNING])
async def test_an_unfinished_build_is_not_ready(
    api: httpx.AsyncClient, world: World, call: str, status: BuildStatus
) -> None:
    await a_parent(world, status)
    answer = await api.post(
        f"/v1/builds/{PARENT}/{call}", json={"prompt": "more"} if call == "refine" else {"answer": "Arc"}
    )
    assert (answer.status_code, answer.json()["code"]) == (409, "not_ready")


@pytest.mark.parametrize(
    ("call", "body"),
    [
        ("refine", {"prompt": "  "}),
        ("refine", {"prompt": "a\x00bc"}),
        ("refine", {}),
        ("refine", {"prompt": "x" * 5000}),
        ("refine", {"answer": "Arc"}),
        ("answer", {"answer": ""}),
        ("answer", {"answer": 5}),
    ],
)
async def test_useless_words_are_refused(
    api: httpx.AsyncClient, world: World, call: str, body: dict[str, object]
) -> None:
    await a_parent(world)
    answer = await api.post(f"/v1/builds/{PARENT}/{call}", json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_input")
    assert list(world.store.records) == [PARENT]


async def test_nobody_answers_what_was_not_asked(api: httpx.AsyncClient, world: World) -> None:
    await a_parent(world, asks=False)
    answer = await api.post(f"/v1/builds/{PARENT}/answer", json={"answer": "Arc"})
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")


async def test_an_answer_is_built_with(api: httpx.AsyncClient, world: World) -> None:
    await a_parent(world)
    answer = await api.post(f"/v1/builds/{PARENT}/answer", json={"answer": "Arc"})
    child = world.store.records[answer.json()["id"]]
    assert (answer.status_code, child.request.mode, child.request.overrides) == (202, Mode.STRATEGIC, {"skill": "Arc"})
    assert world.runner.rung == [child.id]


ANSWERS: dict[Kind, list[tuple[str, InvariantValue]]] = {
    Kind.CLASS: [("Witch", "Witch")],
    Kind.ASCENDANCY: [("Lich", "Lich")],
    Kind.SKILL: [("Arc", "Arc")],
    # where a name with an "and" ends is known only to who has the engine's names at hand
    Kind.NAME: [("Arc, Mind Over Matter", ["Arc", "Mind Over Matter"]), ("Arc and Spark", ["Arc and Spark"])],
    Kind.FLAG: [("yes", True), ("no", False), ("hc", True), ("softcore", False)],
    Kind.NUMBER: [("75", 75), ("level 75", 75)],
    Kind.TARGET: [("90k", 90_000.0), ("at least 2.5m", 2_500_000.0), ("75 %", 75.0)],
    Kind.PHRASE: [("minions, totems, crit", ["minions", "totems", "crit"])],
}
ASKABLE = [name for name, one in INVARIANTS.items() if Setter.ANSWER in one.set_by]


@pytest.mark.parametrize("field", ASKABLE)
async def test_whatever_may_be_asked_can_be_answered(api: httpx.AsyncClient, world: World, field: str) -> None:
    await a_parent(world, field=field)
    constraint = INVARIANTS[field]
    if constraint.kind is Kind.WORD:
        name, phrases = next(iter(words_of(constraint).items()))
        cases: list[tuple[str, InvariantValue]] = [(text, name) for text in (name, name.upper(), *phrases[:1])]
    else:
        cases = ANSWERS[constraint.kind]
    for text, expected in cases:
        answer = await api.post(f"/v1/builds/{PARENT}/answer", json={"answer": text})
        assert answer.status_code == 202, answer.json()
        value = world.store.records[answer.json()["id"]].request.overrides[field]
        assert value == ([expected] if constraint.count is Count.LIST and isinstance(expected, str) else expected)


@pytest.mark.parametrize("field", ASKABLE)
async def test_an_answer_that_cannot_be_meant_says_what_can(api: httpx.AsyncClient, world: World, field: str) -> None:
    await a_parent(world, field=field)
    answer = await api.post(f"/v1/builds/{PARENT}/answer", json={"answer": "\x07"})
    assert answer.status_code == 422
    assert f"the question about {field} must be {allowed(INVARIANTS[field])}" in answer.json()["detail"]
    assert list(world.store.records) == [PARENT]


async def test_the_assumed_answer_changes_nothing_but_its_standing(api: httpx.AsyncClient, world: World) -> None:
    await a_parent(world)
    answer = await api.post(f"/v1/builds/{PARENT}/answer", json={"answer": "spark"})
    found, child = answer.json(), world.store.records[answer.json()["id"]]
    assert (answer.status_code, found["status"], found["question"]) == (202, "complete", None)
    assert (child.xml, found["invariants"][0]["provenance"]) == (XML, "explicit")
    assert world.runner.rung == []


@pytest.mark.parametrize("call", ["refine", "answer"])
async def test_a_missing_parent_is_not_found(api: httpx.AsyncClient, call: str) -> None:
    body = {"prompt": "more damage"} if call == "refine" else {"answer": "Arc"}
    answer = await api.post(f"/v1/builds/{PARENT}/{call}", json=body)
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
