"""Every prompt renders with its knowledge, and every answer it shows is one that the reasoner would take."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

from app.core.config import resource_dir
from app.knowledge.vocabulary import vocabulary
from app.model.constraints import INVARIANTS, Setter
from app.model.names import ConflictType, SubProblemName
from app.model.sub_problems import without_cycles
from app.prompting.library import PromptLibrary
from app.reasoning.llm import answers as steps
from app.reasoning.llm.conversation import parse_answer
from app.reasoning.llm.reasoner import ALLOWED
from app.reasoning.llm.talk import BEGINNING, question
from app.reasoning.questions import QUESTIONS, dependencies_for
from tests.knowledge import strategies

LARGEST = 50_000
"""Bytes of one step's prompts with their knowledge, about 13 000 tokens."""

_ANSWER = re.compile(r"^```yaml answer\n.*?^```$", re.MULTILINE | re.DOTALL)
_SCHEMA = re.compile(r"^```yaml schema\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TOOL = re.compile(r"`((?:search|read|what|rank|optimise|craft|run)_[a-z_]+)`")

NEEDS = {
    "decompose": {"dependency_rules.md"},
    "explore": {"solution-budgets.md"},
    "explore-ascendancy": {"classes.md"},
    "explore-damage_delivery": {"scaling.md", "skills.md"},
    "explore-damage_scaling": {"scaling.md", "classes.md"},
    "explore-survivability": {"defenses.md"},
    "explore-spirit_allocation": {"skills.md"},
    "explore-stat_requirements": {"runes.md", "uniques.md"},
    "construct": {"scaling.md", "skills.md", "uniques.md"},
    "validate": {"defenses.md"},
    "iterate": {"dependency_rules.md"},
}
"""The knowledge that a step cannot do without."""


@pytest.fixture(scope="module")
def library() -> PromptLibrary:
    return PromptLibrary(resource_dir("prompts"), resource_dir("domain"))


def parts(name: str) -> list[str]:
    """Return the prompts that are sent together for a step."""
    return [steps.EXPLORE, name] if name.startswith(f"{steps.EXPLORE}-") else [name]


def answers(library: PromptLibrary, name: str) -> list[str]:
    """Return the answers that a prompt shows, as a model would copy them: with their fences."""
    return _ANSWER.findall(library.template(name))


def test_there_is_a_prompt_for_every_step_and_no_other(library: PromptLibrary) -> None:
    assert library.names == sorted([*steps.ANSWERS, steps.EXPLORE, BEGINNING])
    assert {f"explore-{name.value}" for name in SubProblemName} < set(library.names)


@pytest.mark.parametrize("name", sorted(steps.ANSWERS))
def test_every_step_renders_whole(library: PromptLibrary, name: str) -> None:
    put = question(library, [], parts(name), {"request": {"prompt": "{domain:skills.md} spark"}}, "Answer.")
    system, user = (message.content for message in put.messages)
    assert put.domain_gaps == ()
    assert system == library.template(BEGINNING), "every step begins with the same"
    assert "{domain:" not in user.replace("{domain:skills.md} spark", "")
    assert "{input:" not in user
    assert "pob_version" not in user, "headers are for us"
    assert len(user.encode()) < LARGEST
    assert "{domain:skills.md} spark" in user, "the user's text stays what it is"
    assert user.startswith(f"Step: {name}")


@pytest.mark.parametrize("name", sorted(steps.ANSWERS))
def test_every_example_answer_is_taken(library: PromptLibrary, name: str) -> None:
    shown = answers(library, name)
    assert len(shown) >= 2
    assert len(set(shown)) == len(shown)
    for text in shown:
        answer = parse_answer(f"Here is my answer.\n\n{text}\n", steps.ANSWERS[name])
        raw = yaml.safe_load(text.removeprefix("```yaml answer\n").removesuffix("```"))
        assert_same_keys(raw, answer, name)


def assert_same_keys(raw: Any, answer: Any, where: str) -> None:
    """Answers ignore unknown keys; an example must not teach any."""
    if isinstance(answer, BaseModel):
        known = {field.alias or key: key for key, field in type(answer).model_fields.items()}
        assert set(raw) <= set(known), f"{where}: {set(raw) - set(known)}"
        for key, value in raw.items():
            assert_same_keys(value, getattr(answer, known[key]), f"{where}.{key}")
    elif isinstance(answer, list):
        for one, parsed in zip(raw, answer, strict=True):
            assert_same_keys(one, parsed, where)


@pytest.mark.parametrize("name", sorted(steps.ANSWERS))
def test_every_schema_is_an_answer_too(library: PromptLibrary, name: str) -> None:
    """What a prompt shows as the form has every field of the model, and is valid itself."""
    form: dict[str, Any] = {}
    for part in parts(name):
        (block,) = _SCHEMA.findall(library.template(part))
        form |= yaml.safe_load(block)
    answer = parse_answer(yaml.safe_dump(form), steps.ANSWERS[name])
    assert_same_keys(form, answer, name)
    assert set(form) == {field.alias or key for key, field in steps.ANSWERS[name].model_fields.items()}


@pytest.mark.parametrize("name", sorted([*steps.ANSWERS, steps.EXPLORE]))
def test_every_step_says_what_it_must(library: PromptLibrary, name: str) -> None:
    together = "\n".join(library.template(part) for part in parts(name))
    lower = together.lower()
    assert "best effort" in lower
    assert "data between marks" in lower
    assert "instruction" in lower
    assert "## What you are given" in together
    assert NEEDS.get(name, set()) <= set(library.domain_files(name))


@pytest.mark.parametrize("name", sorted(steps.ANSWERS))
def test_prompts_name_only_tools_on_offer(library: PromptLibrary, name: str) -> None:
    step = {"invariant-extraction": "extract"}.get(name, parts(name)[0])
    allowed = next(tools for of, tools in ALLOWED.items() if of == step)
    named = {tool for part in parts(name) for tool in _TOOL.findall(library.template(part))}
    assert named <= allowed, named - allowed
    missing = {tool for tool in allowed - named if not tool.startswith("search_")}
    assert not missing, "tools that a model is not told the use of"


def test_all_knowledge_is_used(library: PromptLibrary) -> None:
    used = {file for name in library.names for file in library.domain_files(name)}
    assert used == set(library.knowledge)


def test_the_extraction_prompt_lists_our_words(library: PromptLibrary) -> None:
    text = library.template(steps.EXTRACT)
    table = dict(re.findall(r"^\| ([a-z_, ]+) \| (.+) \|$", text, re.MULTILINE))
    fields = {field for row in table for field in row.split(", ")}
    assert fields == {name for name, row in INVARIANTS.items() if Setter.MODEL in row.set_by}
    words = vocabulary()
    ours = {
        "style": words.styles,
        "weapon": words.weapons,
        "content": words.content,
        "defence": words.defences,
        "budget": words.budget,
        "goal": words.goals,
    }
    for field, known in ours.items():
        assert sorted(table[field].partition(";")[0].split(", ")) == sorted(known), field


def test_the_validation_prompt_lists_our_demands(library: PromptLibrary) -> None:
    rows = re.findall(r"^\| ([a-z_]+) \| ([a-z_, ]+) \|$", library.template(steps.VALIDATE), re.MULTILINE)
    table = {name: set(demands.split(", ")) for name, demands in rows if name in set(SubProblemName)}
    assert table == {name.value: {demand.value for demand in kind.demands} for name, kind in QUESTIONS.items()}


def parsed(library: PromptLibrary, name: str) -> list[Any]:
    """Return the answers that a prompt shows, as the reasoner reads them."""
    return [parse_answer(text, steps.ANSWERS[name]) for text in answers(library, name)]


def test_findings_shown_ask_what_their_question_can_give(library: PromptLibrary) -> None:
    found = [one for answer in parsed(library, steps.VALIDATE) for one in answer.findings]
    assert found
    assert [one for one in found if one.demand not in QUESTIONS[one.sub_problem].demands] == []


def test_picks_shown_are_ways_out_that_the_rules_offer(library: PromptLibrary) -> None:
    """A conflict's id names its type and the questions that its ways out re-open."""
    offered = {strategy: question.value for strategy, question, _ in strategies() if strategy != "other_skill"}
    picked = [pick for answer in parsed(library, steps.ITERATE) for pick in answer.picks]
    assert len(picked) >= 4
    for pick in picked:
        kind, affected, subject = pick.conflict.split(":")
        assert kind in set(ConflictType)
        assert affected.split("+") == sorted(affected.split("+"))
        assert set(affected.split("+")) <= set(SubProblemName)
        assert subject
        assert offered.get(pick.strategy, SubProblemName.DAMAGE_DELIVERY.value) in affected.split("+"), pick


def test_orders_shown_have_no_circle(library: PromptLibrary) -> None:
    """With the usual order for what they leave out, nothing has to be broken."""
    for answer in parsed(library, steps.DECOMPOSE):
        asked = {one.name: list(one.depends_on) for one in answer.sub_problems}
        named = asked.get(SubProblemName.ASCENDANCY) == []
        follows = SubProblemName.ASCENDANCY in asked.get(SubProblemName.DAMAGE_DELIVERY, [])
        usual = dependencies_for(ascendancy_named=named, skill_named=not follows)
        assert without_cycles({**usual, **asked})[1] == []


def test_a_missing_file_is_a_gap_of_the_briefing(tmp_path: Path) -> None:
    """The prompt goes on without it and says so; the briefing names it."""
    domain = tmp_path / "domain"
    domain.mkdir()
    for path in resource_dir("domain").glob("*.md"):
        if path.name != "skills.md":
            (domain / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    library = PromptLibrary(resource_dir("prompts"), domain)
    put = question(library, [], parts("explore-damage_delivery"), {}, "Answer.")
    assert put.domain_gaps == ("skills.md",)
    assert "no knowledge file skills.md" in put.messages[1].content
