"""A model's reading of the prompt: proofs by quotation, names that exist, nothing of the rules' reading lost."""

from __future__ import annotations

from typing import Any

import pytest

from app.core.errors import LlmBadOutput
from app.knowledge.catalogue import Catalogue
from app.model.constraints import InvariantSet
from app.model.names import Provenance
from app.model.record import BuildRequest
from app.reasoning.llm.answers import ExtractAnswer
from app.reasoning.llm.extract import constraints


def read(catalogue: Catalogue, prompt: str, *found: dict[str, Any], **more: Any) -> InvariantSet:
    request = BuildRequest(prompt=prompt, **{k: v for k, v in more.items() if k in ("level", "gear", "overrides")})
    extra = {k: v for k, v in more.items() if k in ("question", "assumptions", "misread")}
    return constraints(ExtractAnswer.model_validate({"constraints": list(found), **extra}), request, catalogue)


def one(field: str, value: object, quote: str = "", provenance: str = "explicit") -> dict[str, Any]:
    return {"field": field, "value": value, "quote": quote, "provenance": provenance, "reason": "it says so"}


def test_what_a_model_understands_and_the_rules_do_not(catalogue: Catalogue) -> None:
    got = read(
        catalogue,
        "someone who hurls crackling bolts and never gets touched",
        one("skill", "arc", "crackling bolts"),
        one("defence", "evasion", "never gets touched"),
    )
    assert got.text("skill") == "Arc"
    skill, defence = got.find("skill"), got.find("defence")
    assert skill is not None
    assert defence is not None
    assert (skill.provenance, skill.reason) == (Provenance.EXPLICIT, 'you wrote "crackling bolts"')
    assert defence.value == "evasion"
    assert got.text("class")  # filled in coherently by the rules


def test_a_quote_that_is_not_in_the_prompt_proves_nothing(catalogue: Catalogue) -> None:
    got = read(catalogue, "arc sorceress", one("skill", "Spark", "spark please"), one("hardcore", True, "hardcore"))
    assert got.text("skill") == "Arc"
    hardcore = got.find("hardcore")
    assert hardcore is not None
    assert hardcore.provenance is Provenance.INFERRED


def test_what_the_user_ruled_out_is_never_lost(catalogue: Catalogue) -> None:
    got = read(catalogue, "sorceress, no minions, no crit", one("exclude", ["totem"], "sorceress"))
    excluded = got.get("exclude")
    assert isinstance(excluded, list)
    assert {"minions", "crit", "totem"} <= set(excluded)


def test_the_requests_own_fields_win(catalogue: Catalogue) -> None:
    got = read(
        catalogue,
        "level 40 spark sorceress",
        one("level", 40, "level 40"),
        one("goal", "bossing", "", "inferred"),
        level=92,
        overrides={"goal": "mapping"},
    )
    assert got.number("level") == 92
    assert got.text("goal") == "mapping"


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (one("class", "Wizard", "a"), "no class called 'Wizard'"),
        (one("skill", "Sparkling", "a"), "the closest are spark"),
        (one("ascendancy", "Lich", "a"), "belongs to the Witch, not to the Sorceress"),
        (one("damage_type", "holy", "a"), "damage_type: 'holy' is not one of"),
        (one("level", 0, "a"), "a whole number from 1 to 100"),
        (one("hardcore", "maybe", "a"), "true or false"),
    ],
)
def test_names_must_exist_and_fit(catalogue: Catalogue, found: dict[str, Any], words: str) -> None:
    with pytest.raises(LlmBadOutput, match=words):
        read(catalogue, "a spark sorceress", found)


def test_a_question_of_the_model_is_never_dropped(catalogue: Catalogue) -> None:
    question = {"field": "goal", "text": "Maps or bosses?", "options": ["maps", "bosses"], "assumed": "maps"}
    got = read(catalogue, "spark sorceress", question=question, assumptions=["Softcore."])
    assert got.question is not None
    assert got.question.text == "The model: Maps or bosses?"
    assert "The model: Softcore." in got.assumptions
    kept = read(catalogue, "spark sorceress for bossing", question=question).question
    assert kept is not None
    assert kept.text == "The model: Maps or bosses?"


def test_an_empty_answer_is_the_rules_reading(catalogue: Catalogue) -> None:
    assert read(catalogue, "cold witch").text("class") == "Witch"


WEIGHT = "crit witch whose totems are dead weight"


def test_what_is_ruled_out_in_a_quote_is_no_wish(catalogue: Catalogue) -> None:
    assert read(catalogue, WEIGHT).get("style") == ["critical", "totem"], "so the rules read it"
    got = read(
        catalogue,
        WEIGHT,
        one("style", "critical", "crit"),
        one("exclude", ["totems"], "whose totems are dead weight"),
    )
    assert (got.get("style"), got.get("exclude")) == ("critical", ["totems"])
    told = "The language model reads no wish for style totem in"
    assert [line for line in got.assumptions if line.startswith(told)]
    assert got.not_understood == []


@pytest.mark.parametrize(
    "quote",
    ["totems", "witch", "totems are useless", "crit"],
    ids=["no more than the words", "other words", "not in the prompt", "other words of the style"],
)
def test_a_wish_is_not_ruled_out_by_a_quote_that_does_not_show_it(catalogue: Catalogue, quote: str) -> None:
    got = read(catalogue, WEIGHT, one("exclude", ["totems"], quote))
    assert got.get("style") == ["critical", "totem"]


def test_a_reading_is_corrected_by_quoting_what_was_meant(catalogue: Catalogue) -> None:
    prompt = "lightning sorceress who walks through cold caves"
    assert "cold" in read(catalogue, prompt).listed("damage_type")
    wrong = {"field": "damage_type", "value": "cold", "quote": "cold caves"}
    got = read(
        catalogue,
        prompt,
        one("damage_type", "lightning", "lightning"),
        one("goal", "mapping", "cold caves"),
        misread=[wrong],
    )
    assert (got.get("damage_type"), got.text("goal")) == ("lightning", "mapping")
    dropped = read(catalogue, prompt, misread=[wrong])
    assert "cold" in dropped.listed("damage_type"), "no other meaning was given to the words"


def test_a_question_about_the_words_is_meaning_enough(catalogue: Catalogue) -> None:
    question = {"field": "damage_type", "text": "Cold, or damage over time?", "options": ["cold"], "assumed": "chaos"}
    wrong = {"field": "damage_type", "value": "cold", "quote": "cold dot"}
    got = read(
        catalogue,
        "cold dot witch",
        one("damage_type", "chaos", "", "inferred"),
        one("style", "damage_over_time", "dot"),
        misread=[wrong],
        question=question,
    )
    assert got.listed("damage_type") == ["chaos"]
    assert got.question is not None
    assert got.question.text == "The model: Cold, or damage over time?"


def test_a_target_is_corrected_like_any_other_wish(catalogue: Catalogue) -> None:
    prompt = "sorceress, life 2000 was what my last character had"
    assert read(catalogue, prompt).get("life") == 2000
    wrong = {"field": "life", "value": "2000", "quote": "life 2000 was what my last character had"}
    kept = one("content", "ssf", "what my last character had life 2000")
    assert read(catalogue, prompt, misread=[wrong]).get("life") == 2000
    assert read(catalogue, prompt, kept, misread=[wrong]).get("life") == 2000, "that is not what stands there"
    other = one("defence", "life", "life 2000 was what my last character had")
    assert read(catalogue, prompt, other, misread=[wrong]).get("life") is None


def test_of_several_skills_that_were_named_a_model_loses_none(catalogue: Catalogue) -> None:
    several = ["Arc", "Spark"]
    assert read(catalogue, "arc or spark", one("skill", "Arc", "arc")).get("skill") == several
    assert read(catalogue, "bolts, arcs?", one("skill", several, "bolts, arcs")).get("skill") == several
    assert read(catalogue, "arc or spark", one("skill", "Comet", "arc or spark")).get("skill") == "Comet"
    named = one("ascendancy", ["titan", "Warbringer", "titan"], "a giant or a brute")
    assert read(catalogue, "a giant or a brute", named).get("ascendancy") == ["Titan", "Warbringer"]
    with pytest.raises(LlmBadOutput, match="belongs to"):
        read(catalogue, "monk, a giant", one("ascendancy", ["Titan", "Warbringer"], "a giant"))
    with pytest.raises(LlmBadOutput, match="name one"):
        read(catalogue, "arc or spark", one("skill", [], "arc or spark"))
