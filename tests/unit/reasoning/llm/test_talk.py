"""What is appended to a conversation: nothing twice, and what was said stays what it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from app.model.base import changed
from app.model.dialogue import Turn
from app.prompting.library import Focus, PromptLibrary
from app.reasoning.llm.talk import MOST_CHARS, Entries, HeldEntries, StepRequest, conversation, question

WITCH = Focus(frozenset({"Witch"}), frozenset({"Monk"}))


def library(folder: Path) -> PromptLibrary:
    prompts, domain = folder / "prompts", folder / "domain"
    prompts.mkdir()
    domain.mkdir()
    (prompts / "conversation.md").write_text("We plan.")
    (prompts / "one.md").write_text("How to do one.\n{domain:a.md}")
    (prompts / "two.md").write_text("How to do two.\n{domain:a.md}\n{domain:b.md}")
    (domain / "a.md").write_text("| x |\n| Witch |\n| Monk |")
    (domain / "b.md").write_text("Of b.")
    return PromptLibrary(prompts, domain)


def answered(put: StepRequest) -> Turn:
    return changed(put.turn, decided=[put.turn.step])


def last(put: StepRequest) -> str:
    return put.messages[-1].content


def test_every_request_begins_with_the_one_before(tmp_path: Path) -> None:
    own, turns = library(tmp_path), list[Turn]()
    before: list[Any] = []
    for step, focus in (("one", None), ("two", WITCH), ("one", WITCH), ("two", WITCH)):
        put = question(own, turns, [step], {"request": "spark", "build": step}, "Answer.", focus)
        assert put.messages[: len(before)] == before
        before = put.messages
        turns.append(Turn.model_validate(answered(put).model_dump(mode="json")))  # as it is stored
    assert [message.role for message in before] == ["system", *["user", "assistant"] * 3, "user"]


def test_instructions_knowledge_and_data_are_said_once(tmp_path: Path) -> None:
    own = library(tmp_path)
    first = question(own, [], ["one"], {"request": "spark", "engine": "pob"}, "Answer.")
    second = question(own, [answered(first)], ["two"], {"request": "spark", "engine": "sketch"}, "Answer.")
    again = question(own, [answered(first), answered(second)], ["two"], {"request": "spark"}, "Answer.")
    assert "Of b." in last(second)
    assert "(the chapter a.md is above)" in last(second)
    assert "As shown before: request." in last(second)
    assert "sketch" in last(second)
    assert "How to do two." not in last(again)
    assert "(The instructions of two are above.)" in last(again)


def test_of_entries_only_the_new_ones_are_shown_and_what_is_gone_is_told(tmp_path: Path) -> None:
    own = library(tmp_path)
    shown = {"decisions": HeldEntries(skill="Spark", weapon="Wand"), "options": Entries(skill="Arc")}
    first = question(own, [], ["one"], shown, "Answer.")
    now = {"decisions": HeldEntries(skill="Comet"), "options": Entries(weapon="Staff")}
    second = last(question(own, [answered(first)], ["one"], now, "Answer."))
    assert "skill: Comet\nweapon: open again" in second
    assert "weapon: Staff\n</untrusted" in second
    back = {"decisions": HeldEntries(skill="Spark", weapon="Wand")}
    third = question(
        own, [answered(first), answered(question(own, [answered(first)], ["one"], now, "A."))], ["one"], back, "A."
    )
    assert "skill: Spark\nweapon: Wand" in last(third), "what holds is what was shown last"


def test_what_nobody_answered_is_not_gone_on_from(tmp_path: Path) -> None:
    own = library(tmp_path)
    first = question(own, [], ["one"], {"request": "spark"}, "Answer.")
    lost = changed(first.turn, decided=[], fallen=["one"])
    assert conversation([lost, Turn(step="x", decided=["x"])]) == []
    again = question(own, [lost], ["one"], {"request": "spark"}, "Answer.")
    assert again.messages == first.messages


def test_a_long_conversation_is_begun_anew_and_tells_everything_again(tmp_path: Path) -> None:
    own = library(tmp_path)
    first = question(own, [], ["one"], {"request": "spark", "stats": "x" * 19_000}, "Answer.")
    turns = [answered(first)]
    while not (
        put := question(own, turns, ["two"], {"request": "spark", "n": "y" * 19_000 + str(len(turns))}, "A.")
    ).turn.anew:
        turns.append(answered(put))
    assert sum(len(turn.asked) for turn in turns) > MOST_CHARS
    assert len(put.messages) == 2
    assert "How to do two." in last(put)
    assert "spark" in last(put)
    after = question(own, [*turns, answered(put)], ["two"], {"request": "spark"}, "Answer.")
    assert after.messages[:2] == put.messages
    assert len(after.messages) == 4


def test_knowledge_stays_as_it_was_when_it_was_told(tmp_path: Path) -> None:
    """Before the class is known nothing is left out; that part of the conversation does not change later."""
    own = library(tmp_path)
    first = question(own, [], ["one"], {"request": "spark"}, "Answer.")
    assert "| Monk |" in last(first)
    second = question(own, [answered(first)], ["two"], {"request": "spark"}, "Answer.", WITCH)
    assert second.messages[:2] == first.messages
    alone = question(own, [], ["two"], {"request": "spark"}, "Answer.", WITCH)
    assert "| Monk |" not in last(alone)
    assert "| Witch |" in last(alone)
