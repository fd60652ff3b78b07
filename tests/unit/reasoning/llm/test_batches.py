"""Questions that are asked together, and answers that wait for their turn."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.core.errors import LlmBadOutput
from app.llm.openai import strict
from app.model.base import changed
from app.model.dialogue import Turn, waiting
from app.model.names import SubProblemName, SubProblemStatus
from app.model.sub_problems import SubProblem
from app.reasoning.llm.answers import ANSWERS
from app.reasoning.llm.batches import GROUPS, together
from app.reasoning.llm.conversation import checked
from app.reasoning.llm.forms import answer_tool, answer_tools, answers_to, entries_of
from app.reasoning.llm.toolbox import schema_of
from app.reasoning.questions import dependencies_for
from tests.fakes.llm_bench import LlmBench, llm_bench
from tests.fakes.llm_server import Asked, LlmServer, Reaction, answer

Q = SubProblemName


def open_questions(**named: bool) -> dict[Q, SubProblem]:
    wanted = dependencies_for(ascendancy_named=named.get("ascendancy", False), skill_named=named.get("skill", False))
    return {name: SubProblem(name=name, depends_on=wanted[name]) for name in Q}


def decided(questions: dict[Q, SubProblem], *names: Q) -> dict[Q, SubProblem]:
    done = {name: changed(questions[name], status=SubProblemStatus.DECIDED) for name in names}
    return {**questions, **done}


def test_seven_questions_are_three_requests() -> None:
    questions, asked = open_questions(), list[list[Q]]()
    assert sorted(name for group in GROUPS for name in group) == sorted(Q)
    for first in (Q.DAMAGE_DELIVERY, Q.DAMAGE_SCALING, Q.SPIRIT_ALLOCATION):
        asked.append(together(questions, first))
        questions = decided(questions, *asked[-1])
    assert asked == [
        [Q.DAMAGE_DELIVERY, Q.ASCENDANCY],
        [Q.DAMAGE_SCALING, Q.SURVIVABILITY, Q.RESOURCE_SUSTAIN],
        [Q.SPIRIT_ALLOCATION, Q.STAT_REQUIREMENTS],
    ]


def test_a_question_that_waits_for_another_request_is_not_asked_yet() -> None:
    questions = open_questions()
    assert together(questions, Q.SURVIVABILITY) == [Q.SURVIVABILITY], "the others wait for skill and ascendancy"
    assert together(open_questions(ascendancy=True), Q.ASCENDANCY) == [Q.ASCENDANCY, Q.DAMAGE_DELIVERY]
    assert together(decided(questions, *Q), Q.ASCENDANCY) == [Q.ASCENDANCY], "answered anew, alone"


ARC = {"skill": "Arc", "weapon_types": ["Wand"], "off_hand": "Focus", "reason": "It fits."}
STORM = {"class": "Sorceress", "ascendancy": "Stormweaver", "reason": "It fits."}


def opened(bench: LlmBench) -> Any:
    """Return the context with skill and ascendancy to be answered, the ascendancy after the skill."""
    subs = dict(bench.ctx.state.sub_problems)
    for name, waits in ((Q.DAMAGE_DELIVERY, []), (Q.ASCENDANCY, [Q.DAMAGE_DELIVERY])):
        subs[name] = SubProblem(name=name, depends_on=waits).explore()
    return changed(bench.ctx.state, sub_problems=subs)


async def asked_twice(bench: LlmBench) -> tuple[Any, Any, Any]:
    """Answer the first question, and in a later step the second; return both decisions and the second's remarks."""
    state = opened(bench)
    first = await bench.reasoner.explore(replace(bench.ctx, state=state), Q.DAMAGE_DELIVERY, [])
    subs = {**state.sub_problems, Q.DAMAGE_DELIVERY: state.sub_problems[Q.DAMAGE_DELIVERY].decide(first.decision)}
    state = changed(state, sub_problems=subs, dialogue=list(bench.reasoner.remarks.turns))
    later = bench.next_step()
    second = await later.explore(replace(bench.ctx, state=state), Q.ASCENDANCY, [])
    return first.decision, second.decision, later.remarks


async def test_what_was_answered_together_is_not_asked_again(tmp_path: Path) -> None:
    both = {"damage_delivery": ARC, "ascendancy": STORM}
    async with LlmServer(lambda _: answer(both)) as server, llm_bench(f"{server.url}/v1", tmp_path) as bench:
        first, second, remarks = await asked_twice(bench)
        assert len(server.requests) == 1
        assert server.requests[0].questions == ["damage_delivery", "ascendancy"]
        assert (first.name, second.name) == ("Arc with wand and focus", "Stormweaver")
        assert second.reason == "The model: It fits."
        assert remarks.turns == (Turn(step="explore-ascendancy", decided=["explore-ascendancy"]),)


async def test_an_answer_that_cannot_be_used_twice_leaves_the_others(tmp_path: Path) -> None:
    """The ascendancy does not exist: it is quoted back, and then asked for alone, when its turn comes."""

    def react(asked: Asked) -> Reaction:
        if asked.questions == ["ascendancy"]:
            return answer({"ascendancy": STORM})
        return answer({"damage_delivery": ARC, "ascendancy": {**STORM, "ascendancy": "Thunderlord"}})

    async with LlmServer(react) as server, llm_bench(f"{server.url}/v1", tmp_path) as bench:
        first, second, remarks = await asked_twice(bench)
        assert (
            "ascendancy: there is no ascendancy of the Sorceress called 'Thunderlord'" in server.requests[1].texts[-1]
        )
        assert [asked.questions for asked in server.requests] == [["damage_delivery", "ascendancy"]] * 2 + [
            ["ascendancy"]
        ]
        assert (first.name, second.name, remarks.degraded) == ("Arc with wand and focus", "Stormweaver", ())


def test_an_answer_is_taken_once() -> None:
    batch = Turn(step="explore-a", decided=["explore-a"], answers={})
    assert waiting([batch], Q.ASCENDANCY, "explore-ascendancy") is None
    done = Turn(step="explore-ascendancy", decided=["explore-ascendancy"])
    assert waiting([batch, done], Q.ASCENDANCY, "explore-ascendancy") is None


def test_every_step_has_a_tool_for_its_answer() -> None:
    names = [tool.name for tool in answer_tools()]
    assert len(set(names)) == len(names)
    assert {answer_tool(prompt) for prompt in ANSWERS} == set(names)
    assert all("title" not in str(tool.parameters) for tool in answer_tools())


@pytest.mark.parametrize("names", [[Q.ASCENDANCY], [Q.DAMAGE_DELIVERY, Q.ASCENDANCY], list(Q)])
def test_the_form_of_several_answers_has_an_entry_for_each(names: list[Q]) -> None:
    shape = answers_to(names)
    assert entries_of(shape) == [name.value for name in names]
    assert entries_of(ANSWERS["construct"]) == []
    bound = strict(schema_of(shape))
    assert bound["required"] == [name.value for name in names]


def test_one_answer_may_come_without_the_name_of_its_question() -> None:
    alone = answers_to([Q.ASCENDANCY])
    for said in (STORM, {"ascendancy": STORM}):
        assert checked(said, alone).model_dump()["ascendancy"]["ascendancy"] == "Stormweaver"
    with pytest.raises(LlmBadOutput, match=r"ascendancy\.class"):
        checked({"ascendancy": "Stormweaver"}, alone)


def test_null_is_as_good_as_left_out() -> None:
    """Strict schemas have every field; what a model has nothing to say to is null."""
    told = {"damage_delivery": {**ARC, "helper_skills": None, "unsure": None, "alternatives": None}}
    found = checked(told, answers_to([Q.DAMAGE_DELIVERY])).model_dump()["damage_delivery"]
    assert (found["helper_skills"], found["skill"]) == ([], "Arc")


def test_a_mapping_with_known_keys_tells_them() -> None:
    schema = strict(schema_of(answers_to([Q.STAT_REQUIREMENTS])))
    assert "propertyNames" not in str(schema)
    points = next(one["properties"]["attributes"] for one in schema["$defs"].values() if "attributes" in str(one))
    assert points["required"] == ["str", "dex", "int"]
