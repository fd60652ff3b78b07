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
    """Gives the transcript's answers to a step, one after the other; those to questions as they are put together."""

    def __init__(self, transcript: Transcript) -> None:
        super().__init__(use_tools=False)
        self.left: dict[str, deque[Reply]] = defaultdict(deque)
        for one in transcript.exchanges:
            assert one.reply is not None
            if one.step.startswith("explore-") and not one.reply.tool_calls:
                self.answers[one.step] = yaml.safe_load(one.reply.text)
            else:
                self.left[one.step].append(one.reply)

    def __call__(self, asked: Asked) -> Reaction:
        about = [asked.step, *(f"explore-{name}" for name in asked.questions)]
        waiting = next((self.left[step] for step in about if self.left[step]), None)
        if waiting is None:
            return super().__call__(asked)
        reply = waiting.popleft()
        if reply.tool_calls:
            return Say(calls=[(call.name, call.arguments) for call in reply.tool_calls])
        return answer(yaml.safe_load(reply.text))
