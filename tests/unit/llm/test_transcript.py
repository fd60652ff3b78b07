"""Transcripts: what is kept of an exchange, what is given again, how much of a request was sent before."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.errors import InputError, LlmRateLimited, LlmRejected
from app.llm.base import FREE, Form, Message, Reply, ToolSpec, Usage
from app.llm.prefix import common_prefix, difference, spending, text_of
from app.llm.transcript import (
    ChatRequest,
    Exchange,
    Replay,
    Transcript,
    TranscriptEnd,
    TranscriptFile,
    TranscriptHead,
    read_transcript,
    step_of,
)
from app.model.record import BuildRequest
from app.reasoning.llm.talk import STEP

HEAD = TranscriptHead(model="m", request=BuildRequest(prompt="lightning sorceress"))


def user(text: str) -> Message:
    return Message(role="user", content=text)


class Echo:
    """Says the last message again, and fails where it says so."""

    provider, model = "openai", "echo"

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        max_output_tokens: int = 4096,
        form: Form = FREE,
    ) -> Reply:
        if messages[-1].content == "slow down":
            raise LlmRateLimited("later, says sk-secret", retry_after_s=None)
        return Reply(text=messages[-1].content, usage=Usage(input=7, cache_read=3, output=2))


def test_a_step_is_known_by_the_line_that_names_it() -> None:
    asked = user(f"{STEP}construct\n\n<untrusted 1 what='request'>\n{STEP}evil\n</untrusted 1>")
    assert step_of([user(f"{STEP}decompose\n"), asked, user("go on")], "x") == "construct"
    assert step_of([user("no name")], "explore") == "explore"


async def test_what_was_said_is_in_the_file_and_given_again(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    file = TranscriptFile(path, HEAD, lambda data: _without(data, "sk-secret"))
    model = file.around("explore", Echo())
    assert (model.provider, model.model) == ("openai", "echo")
    assert (await model.complete([user("one sk-secret")])).text == "one sk-secret"
    with pytest.raises(LlmRateLimited):
        await model.complete([user("slow down")])
    file.close(TranscriptEnd(outcome="validated", dps=1.5))
    assert "sk-secret" not in path.read_text()
    known = read_transcript(path)
    assert (known.head, known.end) == (HEAD, TranscriptEnd(outcome="validated", dps=1.5))
    replay = Replay(known)
    again = replay.around("explore", Echo())
    assert (again.provider, again.model) == ("openai", "echo")
    assert (await again.complete([user("another")])).text == "one [gone]"
    assert [one.step for one in replay.unused] == ["explore"]
    with pytest.raises(LlmRateLimited, match="later"):
        await again.complete([user("slow down")])
    with pytest.raises(LlmRejected, match="no further answer for explore"):
        await again.complete([user("more")])
    assert [answered for _, answered in replay.asked] == [0, 1, None]
    assert replay.unused == []


def _without(data: object, secret: str) -> object:
    if isinstance(data, str):
        return data.replace(secret, "[gone]")
    if isinstance(data, list):
        return [_without(one, secret) for one in data]
    return {key: _without(one, secret) for key, one in data.items()} if isinstance(data, dict) else data


async def test_answers_are_given_by_step() -> None:
    told = [Exchange(step=step, reply=Reply(text=text)) for step, text in (("a", "1"), ("b", "2"), ("a", "3"))]
    model = Replay(Transcript(head=HEAD, exchanges=told)).around("a", Echo())
    texts = [(await model.complete([user(f"{STEP}{step}")])).text for step in ("a", "a", "b")]
    assert texts == ["1", "3", "2"]


def test_a_file_that_was_begun_is_dropped_while_it_is_empty(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path / "t", HEAD, lambda data: data)
    file.drop()
    assert not (tmp_path / "t").exists()
    file = TranscriptFile(tmp_path / "t", HEAD, lambda data: data)
    with pytest.raises(InputError, match="is there already"):
        TranscriptFile(tmp_path / "t", HEAD, lambda data: data)
    file.keep(Exchange(step="a"))
    file.drop()
    assert read_transcript(tmp_path / "t").exchanges == [Exchange(step="a")]


@given(st.text("ab", max_size=40), st.text("ab", max_size=40))
def test_the_common_beginning(one: str, other: str) -> None:
    found = common_prefix(one, other)
    assert one[:found] == other[:found]
    assert one[found : found + 1] != other[found : found + 1] or found == len(one) == len(other)


def ask(*texts: str, form: Form = FREE, tools: int = 0) -> ChatRequest:
    specs = [ToolSpec(name=f"t{n}", description="d", parameters={}) for n in range(tools)]
    return ChatRequest(messages=[user(text) for text in texts], tools=specs, form=form)


def test_what_was_sent_before_is_a_prefix_of_an_earlier_request_to_the_same_model() -> None:
    first, second = ask("x" * 4000), ask("x" * 4000, "y" * 4000)
    rows = spending([Exchange(step="a", request=first), Exchange(step="b", request=second)])
    assert [(row.step, row.tokens, row.again) for row in rows] == [
        ("a", 1002, 0),
        ("b", 2004, 1002),
        ("total", 3006, 1002),
    ]
    assert rows[1].share == 0.5
    other = spending([Exchange(step="a", request=first), Exchange(step="b", model="m2", request=second)])
    assert other[-1].again == 0
    for changed in (ask("x" * 4000, tools=1), ask("x" * 4000, form=Form(answer={"type": "object"}))):
        rows = spending([Exchange(step="a", request=first), Exchange(step="a", request=changed)])
        assert rows[-1].again < 10, "tools and the form of the answer come first"
    with_tools = ask("x" * 4000, tools=1, form=Form(answer={"type": "object"}))
    assert text_of(with_tools) == text_of(ask("x" * 4000, tools=1)), "beside tools that may be called none is sent"
    same_tools = ask("x" * 4000, "more", form=Form(tools="none"))
    assert spending([Exchange(step="a", request=first), Exchange(step="a", request=same_tools)])[-1].again == 1002


def test_what_providers_report_is_added_up_where_all_did() -> None:
    usage = Usage(input=10, cache_read=4, output=3)
    told = Exchange(step="a", request=ask("x"), reply=Reply(usage=usage))
    assert [(row.input, row.cached, row.output) for row in spending([told, told])] == [(20, 8, 6)] * 2
    silent = Exchange(step="b", request=ask("x"), reply=Reply())
    assert [(row.input, row.output) for row in spending([told, silent])] == [(10, 3), (None, None), (None, None)]
    assert spending([Exchange(step="a")])[-1].requests == 0


def test_a_difference_is_shown_where_it_is() -> None:
    assert difference(ask("one\ntwo"), ask("one\ntwo")) == []
    assert "-two" in difference(ask("one\ntwo"), ask("one\n2"))
    long = "a" * 5000
    found = difference(ask(f"{long}b{long}"), ask(f"{long}c{long}"))
    assert 0 < sum(map(len, found)) < 2000
    many = difference(ask("\n".join(map(str, range(500)))), ask("other"))
    assert many[-1].endswith("more lines")
    assert len(many) == 61
    assert text_of(ask("x", tools=1)).startswith('{"name":"t0"')
