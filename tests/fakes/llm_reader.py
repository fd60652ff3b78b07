"""A scripted model that says what a written transcript has it say, and plays along where that says nothing."""

from __future__ import annotations

from collections import defaultdict, deque

import yaml

from app.llm.base import Reply
from app.llm.transcript import Transcript, read_transcript
from tests.fakes.llm_player import FIXTURES, Player
from tests.fakes.llm_server import Asked, Reaction, Say, answer


def written(name: str) -> Transcript:
    """Return a transcript of the fixtures; all of them were written by hand."""
    found = read_transcript(FIXTURES / "transcripts" / f"{name}.jsonl")
    assert found.head.origin == "written"
    return found


class Reader(Player):
    """Gives the transcript's answers to a step, one after the other."""

    def __init__(self, transcript: Transcript) -> None:
        super().__init__(use_tools=False)
        self.left: dict[str, deque[Reply]] = defaultdict(deque)
        for one in transcript.exchanges:
            assert one.reply is not None
            self.left[one.step].append(one.reply)

    def __call__(self, asked: Asked) -> Reaction:
        if not self.left[asked.step]:
            return super().__call__(asked)
        reply = self.left[asked.step].popleft()
        if reply.tool_calls:
            return Say(calls=[(call.name, call.arguments) for call in reply.tool_calls])
        return answer(yaml.safe_load(reply.text))
