"""What a replay tells: the first request that differs, answers that nothing asked for, how the build ended."""

from __future__ import annotations

import pytest

from app.console.transcripts import ended, report_of, report_text
from app.core.errors import LlmRejected
from app.llm.base import Message, Reply
from app.llm.transcript import ChatRequest, Exchange, Replay, Transcript, TranscriptEnd, TranscriptHead
from app.model.record import BuildRequest

HEAD = TranscriptHead(model="m", request=BuildRequest(prompt="lightning sorceress"))
END = TranscriptEnd(outcome="validated", engine="sketch 1", dps=12345.6, ehp=None)


def exchange(step: str, text: str) -> Exchange:
    asked = ChatRequest(messages=[Message(role="user", content=text)])
    return Exchange(step=step, request=asked, reply=Reply(text="fine"))


def replayed(*asked: Exchange) -> tuple[Transcript, Replay]:
    known = Transcript(head=HEAD, exchanges=[exchange("a", "one"), exchange("b", "two")], end=END)
    replay = Replay(known)
    for one in asked:
        replay.answer(one)
    return known, replay


def test_the_same_requests_and_the_same_end_are_the_same() -> None:
    known, replay = replayed(exchange("a", "one"), exchange("b", "two"))
    report = report_of(known, replay, END)
    assert report.same
    assert "Every request is as recorded." in report_text(report)
    assert "The build: validated, 12,346 DPS, sketch 1, as recorded" in report_text(report)


def test_another_end_is_a_difference() -> None:
    known, replay = replayed(exchange("a", "one"), exchange("b", "two"))
    report = report_of(known, replay, END.model_copy(update={"dps": 1.0}))
    assert not report.same
    assert "The build: validated, 1 DPS, sketch 1, recorded: validated, 12,346 DPS" in report_text(report)


def test_an_answer_that_nothing_asked_for_is_a_difference() -> None:
    known, replay = replayed(exchange("a", "one"))
    report = report_of(known, replay, END)
    assert (report.same, report.first, report.unused) == (False, None, ["b"])
    assert "Answers that nothing asked for: b" in report_text(report)


def test_the_first_request_that_differs_is_shown_and_no_later_one() -> None:
    known, replay = replayed(exchange("a", "another"), exchange("b", "other"))
    report = report_of(known, replay, END)
    assert report.first == "request 1, a"
    assert {"-one", "+another"} <= set(report.diff)
    assert "+other" not in report_text(report)


def test_a_request_that_has_no_answer_is_a_difference() -> None:
    known, replay = replayed(exchange("a", "one"))
    with pytest.raises(LlmRejected):
        replay.answer(exchange("a", "again"))
    report = report_of(known, replay, END)
    assert (report.first, report.diff) == ("request 2, a", ["the transcript has no answer left for this step"])


def test_a_written_exchange_is_not_compared() -> None:
    said = Exchange(step="a", reply=Reply(text="fine"))
    known = Transcript(head=HEAD.model_copy(update={"origin": "written"}), exchanges=[said])
    replay = Replay(known)
    replay.answer(exchange("a", "whatever"))
    report = report_of(known, replay, END)
    assert report.same
    assert "Requests are not compared." in report_text(report)
    assert ended(report.now) == "validated, 12,346 DPS, sketch 1"
