"""The answers that prompts show are ones that the facts bear out: a model copies what it is shown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from app.core.config import resource_dir
from app.engine.pob.backend import PobBackend
from app.knowledge.catalogue import Catalogue
from app.model.facts import ClassFact, GemFact
from app.model.names import Provenance
from app.model.record import BuildRequest
from app.prompting.library import PromptLibrary
from app.reasoning.llm.answers import EXTRACT, ExtractAnswer
from app.reasoning.llm.conversation import parse_answer
from app.reasoning.llm.extract import constraints
from tests.pob.conftest import Facts

pytestmark = pytest.mark.pob

_BLOCK = re.compile(r"^```yaml (?:answer|schema)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_READ = re.compile(r"^```text input\n(.*?)^```\n```yaml answer\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SKILLS = {"skill", "with", "helper_skills", "skills"}
_SUPPORTS = {"supports", "excluded_supports"}
LIBRARY = PromptLibrary(resource_dir("prompts"), resource_dir("domain"))


def shown() -> list[tuple[str, dict[str, Any]]]:
    """Return every answer and form that a prompt shows, with the prompt's name."""
    return [(name, yaml.safe_load(text)) for name in LIBRARY.names for text in _BLOCK.findall(LIBRARY.template(name))]


def mappings(thing: Any) -> Iterator[dict[str, Any]]:
    if isinstance(thing, dict):
        yield thing
        for value in thing.values():
            yield from mappings(value)
    elif isinstance(thing, list):
        for one in thing:
            yield from mappings(one)


def listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value or [])


def test_every_gem_exists(facts: Facts) -> None:
    active = {name for name, gem in facts.gems.items() if gem["kind"] == "active"}
    support = {name for name, gem in facts.gems.items() if gem["kind"] == "support"}
    named = [(k, n) for _, of in shown() for m in mappings(of) for k in _SKILLS & set(m) for n in listed(m[k])]
    assert len(named) > 20
    assert [pair for pair in named if pair[1] not in active] == []
    chosen = [(k, n) for _, of in shown() for m in mappings(of) for k in _SUPPORTS & set(m) for n in listed(m[k])]
    assert len(chosen) > 5
    assert [pair for pair in chosen if pair[1] not in support] == []


def test_supports_of_a_skill_fit_it_and_each_other(warm_backend: PobBackend, facts: Facts) -> None:
    sets = [m for _, of in shown() for m in mappings(of) if m.get("supports") and "skill" in m]
    assert len(sets) >= 2
    for chosen in sets:
        fitting = set(warm_backend.handle("supports_for", {"gem_id": facts.gems[chosen["skill"]]["id"]}))
        gems = [facts.gems[name] for name in chosen["supports"]]
        assert [gem["name"] for gem in gems if gem["id"] not in fitting] == []
        families = [gem["family"] for gem in gems if gem.get("family")]
        assert len(families) == len(set(families)), chosen


def test_every_passive_and_item_exists(warm_backend: PobBackend, facts: Facts) -> None:
    passives = {node["name"] for node in facts.nodes.values() if node["kind"] in ("notable", "keystone")}
    uniques = {unique["name"] for unique in warm_backend.handle("uniques", {})}
    for _, of in shown():
        for m in mappings(of):
            assert set(listed(m.get("excluded_passives"))) <= passives
            assert {m["unique"]} <= uniques if "unique" in m else True
            assert isinstance(m.get("passive", 0), int) or m["passive"] in passives


def test_ascendancies_belong_to_their_class_and_notables_to_them(facts: Facts) -> None:
    chosen = [of for name, of in shown() if name == "explore-ascendancy"]
    assert len(chosen) >= 2
    for of in chosen:
        assert of["ascendancy"] in facts.classes[of["class"]]["ascendancies"]
        own = {n["name"] for n in facts.nodes.values() if n.get("ascendancy") == of["ascendancy"]}
        assert set(of["notables"]) <= own


def test_spirit_examples_count_right(facts: Facts) -> None:
    """The reasons that give a sum give the right one."""
    counted = 0
    for name, of in shown():
        if name == "explore-spirit_allocation" and (said := re.search(r"together (\d+) Spirit", of.get("reason", ""))):
            assert sum(facts.gems[skill]["spirit"] for skill in of["skills"]) == int(said.group(1))
            counted += 1
    assert counted


def test_what_was_read_from_a_prompt_is_taken_as_it_stands(facts: Facts) -> None:
    """The extraction examples pass the reasoner's own check, quotes and all."""
    catalogue = Catalogue(
        classes=tuple(ClassFact.model_validate(cls) for cls in facts.classes.values()),
        gems=tuple(GemFact.model_validate(gem) for gem in facts.gems.values()),
    )
    pairs = _READ.findall(LIBRARY.template(EXTRACT))
    assert len(pairs) >= 3
    for prompt, text in pairs:
        answer = parse_answer(text, ExtractAnswer)
        found = constraints(answer, BuildRequest(prompt=prompt.strip()), catalogue)
        for one in answer.constraints:
            kept = found.find(one.field)
            assert kept is not None, (prompt, one)
            if one.provenance == "explicit":
                assert kept.provenance is Provenance.EXPLICIT, (prompt, one)


def test_keywords_are_words_that_passives_or_affixes_say(facts: Facts) -> None:
    lines = [line.lower() for node in facts.nodes.values() for line in node["mods"]]
    for base in ("Attuned Wand", "Warmonger Bow", "Solar Amulet", "Rattling Sceptre"):
        lines += [line.lower() for affix in facts.affixes(base).values() for line in affix["lines"]]
    words = {word for _, of in shown() for m in mappings(of) for word in listed(m.get("keywords"))}
    assert len(words) > 10
    assert [word for word in sorted(words) if not any(word.lower() in line for line in lines)] == []
