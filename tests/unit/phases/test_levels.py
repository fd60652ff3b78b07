"""When a build gets loadouts, in which order its passives end up, and what is said of a level."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, cast

import pytest

from app.core.errors import EngineCrashed
from app.core.ids import BuildId
from app.engine.base import Engine
from app.model.base import changed
from app.model.blueprint import Blueprint, GearItem, Gem, PassiveNode, SkillGroup
from app.model.constraints import InvariantSet
from app.model.facts import NodeFact
from app.model.names import Effort, Mode, Trigger
from app.model.record import BuildRequest
from app.model.state import BuildState
from app.phases.base import BUDGETS, PhaseContext, PhaseResult
from app.phases.validate import levels
from app.phases.validate.levels import WithLoadouts, changes_at, in_levelling_order, without
from app.reasoning.rules import RulesReasoner
from app.search.levels import LevelDraft
from tests.fakes.samples import a_complete_record

NODES = {
    fact.id: fact
    for fact in (
        NodeFact(id=1, name="A", kind="normal"),
        NodeFact(id=2, name="Strong", kind="notable"),
        NodeFact(id=3, name="C", kind="normal"),
        NodeFact(id=4, name="D", kind="normal"),
        NodeFact(id=9, name="Rise", kind="notable", ascendancy="Top"),
    )
}


def context(**asked: Any) -> PhaseContext:
    request = BuildRequest.model_validate({"prompt": "zap", "level": 90, **asked})
    nobody = cast("Engine", None)
    return PhaseContext(BuildId("b"), request, InvariantSet(), BuildState(), nobody, RulesReasoner())


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"effort": Effort.QUICK}, "Quick effort makes no levelling loadouts"),
        ({"level": 12}, "loadouts begin at level 12"),
        ({}, "They need a plan: ascendancy is not decided"),
    ],
)
def test_who_gets_none_is_told_why(asked: dict[str, Any], words: str) -> None:
    assert words in without(context(**asked))


def test_a_refinement_has_none_and_what_it_became_another_build_has() -> None:
    child = context(mode=Mode.REFINEMENT, parent_id="p")
    child = replace(child, state=changed(child.state, inherited=InvariantSet()))
    assert "A refinement changes the finished build only" in without(child)
    anew = changed(child.state, exploration=BUDGETS[Mode.STRATEGIC])
    assert "They need a plan" in without(replace(child, state=anew))


def blueprint(*groups: list[str], nodes: tuple[PassiveNode, ...] = (), weapon: str = "Club", **more: Any) -> Blueprint:
    made = [SkillGroup(gems=[Gem(gem_id=name, name=name) for name in names]) for names in groups]
    items = {"Weapon 1": GearItem(slot="Weapon 1", base=weapon)}
    return Blueprint(class_name="X", level=9, groups=made, main_group=1, nodes=list(nodes), items=items, **more)


def test_the_order_begins_as_on_the_way_and_ends_with_what_only_the_other_set_has() -> None:
    nodes = (
        PassiveNode(id=9),
        PassiveNode(id=1),
        PassiveNode(id=4, weapon_set=2),
        PassiveNode(id=3, weapon_set=1),
        PassiveNode(id=2),
    )
    last = LevelDraft(70, blueprint(["Zap"]), [2, 1], [9], True, "")
    ordered = in_levelling_order(blueprint(["Zap"], nodes=nodes), last, NODES)
    assert [node.id for node in ordered.nodes] == [2, 1, 3, 4, 9]
    assert ordered.nodes[2].weapon_set == 1


def test_what_changes_at_a_level_is_what_is_not_as_before() -> None:
    before = LevelDraft(12, blueprint(["Bolt", "Faster"], nodes=(PassiveNode(id=1),)), [1], [], False, "")
    now = blueprint(["Zap", "Wider"], ["Hex"], nodes=(PassiveNode(id=1), PassiveNode(id=2)), weapon="Maul")
    draft = LevelDraft(30, now.model_copy(update={"ascendancy": "Top"}), [1, 2], [], True, "")
    assert changes_at(draft, before, NODES) == [
        "Ascend as Top.",
        "Use Zap instead of Bolt.",
        "Support it with Wider instead of Faster.",
        "Add Hex.",
        "Passives on the way: Strong.",
        "Hold Maul.",
    ]
    assert changes_at(before, None, NODES) == []
    assert changes_at(draft, draft, NODES) == []


@dataclass(frozen=True)
class Ends:
    """A step that ends the build."""

    async def run(self, ctx: PhaseContext) -> PhaseResult:
        return PhaseResult(ctx.state, Trigger.VALIDATED)


class Broken:
    """An engine without any session."""

    children = 0

    @asynccontextmanager
    async def session(self) -> Any:
        if self.children == 0:
            raise EngineCrashed("no child answers")
        yield


async def test_an_engine_that_fails_leaves_the_build_as_it_is_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levels, "without", lambda _: "")
    record = a_complete_record()
    ctx = replace(context(), state=record.state, xml=b"<x/>", engine=cast("Engine", Broken()))
    result = await WithLoadouts(Ends()).run(ctx)
    assert result.xml is None
    assert result.trigger is Trigger.VALIDATED
    assert result.state.blueprint == record.state.blueprint
    assert result.state.guide is not None
    assert result.state.guide.loadouts == []
    assert result.state.guide.no_loadouts == "They could not be made: no child answers"
