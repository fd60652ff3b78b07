"""What was said to a language model and what it answered, as a file: written while a build runs, and replayed offline.

JSON Lines. The first line says what was asked for and who answered; each further line is one exchange, the last one
how the build ended. `schema_version` rises when an older program would misread a file.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field, ValidationError

from app.core.config import LlmStep
from app.core.errors import InputError, LlmError, LlmRejected
from app.llm.base import FREE, ChatModel, Form, Message, OuterChat, Reply, ToolSpec
from app.model.base import Model
from app.model.record import BuildRequest

SCHEMA_VERSION: Final = 1
_STEP = re.compile(r"^Step: (\S+)", re.MULTILINE)
_ERRORS: Final[Mapping[str, type[LlmError]]] = {kind.code: kind for kind in LlmError.__subclasses__()}

ChatAround = Callable[[str, ChatModel], ChatModel]
"""Puts something around the model of a step: (step, model) in, what is asked instead out."""


class TranscriptHead(Model):
    """What a transcript is of. `origin`: recorded from a model, or written by hand to show something.

    `models`: the model of each step that has one of its own.
    """

    kind: Literal["buildwright-transcript"] = "buildwright-transcript"
    schema_version: int = SCHEMA_VERSION
    origin: Literal["recorded", "written"] = "recorded"
    provider: Literal["openai", "anthropic"] = "openai"
    model: str
    models: dict[LlmStep, str] = Field(default_factory=dict)
    request: BuildRequest
    about: str = ""


class ChatRequest(Model):
    """One request, as the port takes it."""

    messages: list[Message]
    tools: list[ToolSpec] = Field(default_factory=list)
    max_output_tokens: int = 4096
    form: Form = FREE


class ChatFailure(Model):
    """Why there was no answer: the stable code of the error, and its words."""

    code: str
    message: str


class Exchange(Model):
    """One request and its answer, or why there was none. `request` None = written by hand, so it is not compared."""

    step: str
    model: str = ""
    request: ChatRequest | None = None
    reply: Reply | None = None
    failure: ChatFailure | None = None


class TranscriptEnd(Model):
    """How the build ended: damage per second and effective hit points of its last valid state, if any.

    `engine`: name and version of the calculator.
    """

    outcome: str
    engine: str = ""
    dps: float | None = None
    ehp: float | None = None


class Transcript(Model):
    """A whole file; `end` None = the recording was cut short."""

    head: TranscriptHead
    exchanges: list[Exchange] = Field(default_factory=list)
    end: TranscriptEnd | None = None


def step_of(messages: Sequence[Message], otherwise: str) -> str:
    """Return the prompt that the last message with a step's name asks for; the name stands before any data."""
    asked = (_STEP.search(message.content) for message in reversed(messages) if message.role == "user")
    return next((found[1] for found in asked if found is not None), otherwise)


def read_transcript(path: Path) -> Transcript:
    """Return the transcript in the file.

    Raises:
        InputError: it cannot be read, is none, or a newer version wrote it.
    """
    try:
        lines = path.read_text(encoding="utf-8").rstrip().split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"Cannot read {path}: {getattr(error, 'strerror', None) or error}.") from error
    first = _object(lines[0], path, 1)
    if first.get("kind") != "buildwright-transcript":
        raise InputError(f"{path} is no transcript of buildwright; `llm record` writes them.")
    version = first.get("schema_version")
    if not isinstance(version, int) or version < 1:
        raise InputError(f"{path} does not say its schema_version: {version!r}.")
    if version > SCHEMA_VERSION:
        raise InputError(f"{path} has schema {version}; this version reads up to {SCHEMA_VERSION}.")
    data = [_object(line, path, number) for number, line in enumerate(lines[1:], start=2)]
    ends = data[-1:] if data and "outcome" in data[-1] else []
    parts: dict[str, Any] = {"head": first, "exchanges": data[: len(data) - len(ends)], "end": None}
    try:
        return Transcript.model_validate({**parts, "end": ends[0]} if ends else parts)
    except ValidationError as error:
        place, said = error.errors()[0]["loc"], error.errors()[0]["msg"]
        line = int(place[1]) + 2 if place[0] == "exchanges" else 1 if place[0] == "head" else len(lines)
        raise InputError(f"{path}, line {line}: {'.'.join(map(str, place))}: {said}") from error


def _object(line: str, path: Path, number: int) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}, line {number}: this is not JSON.") from error
    if not isinstance(found, dict):
        raise InputError(f"{path}, line {number}: this is no JSON object.")
    return found


class TranscriptFile:
    """A transcript that is being written, line by line, so that a recording that is cut short stays readable.

    `redact` takes secrets out of everything before it is written.
    """

    def __init__(self, path: Path, head: TranscriptHead, redact: Callable[[Any], Any]) -> None:
        """Begin the file.

        Raises:
            InputError: there is such a file, or it cannot be written.
        """
        self._path, self._redact = path, redact
        self.exchanges: list[Exchange] = []
        self._write("x", head)

    def keep(self, exchange: Exchange) -> None:
        """Add an exchange."""
        self.exchanges.append(exchange)
        self._write("a", exchange)

    def close(self, end: TranscriptEnd) -> None:
        """Say how the build ended."""
        self._write("a", end)

    def drop(self) -> None:
        """Remove the file, where nothing was said yet."""
        if not self.exchanges:
            self._path.unlink(missing_ok=True)

    def _write(self, mode: Literal["x", "a"], line: Model) -> None:
        text = json.dumps(self._redact(line.model_dump(mode="json")), ensure_ascii=False, separators=(",", ":"))
        try:
            with self._path.open(mode, encoding="utf-8") as out:
                out.write(text + "\n")
        except FileExistsError as error:
            raise InputError(f"{self._path} is there already; name another file.") from error
        except OSError as error:
            raise InputError(f"Cannot write {self._path}: {error.strerror}.") from error

    def around(self, step: str, model: ChatModel) -> ChatModel:
        """Return the model with every exchange of it kept."""
        return RecordingModel(step, model, self.keep)


class _ExchangeModel(OuterChat):
    """A chat model that makes an exchange of each request."""

    def __init__(self, step: str, inner: ChatModel) -> None:
        super().__init__(inner)
        self._step = step

    def _exchange(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], max_output_tokens: int, form: Form
    ) -> Exchange:
        request = ChatRequest(messages=[*messages], tools=[*tools], max_output_tokens=max_output_tokens, form=form)
        return Exchange(step=step_of(messages, self._step), model=self.model, request=request)


class RecordingModel(_ExchangeModel):
    """A chat model of which everything said is kept."""

    def __init__(self, step: str, inner: ChatModel, keep: Callable[[Exchange], None]) -> None:
        super().__init__(step, inner)
        self._keep = keep

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        max_output_tokens: int = 4096,
        form: Form = FREE,
    ) -> Reply:
        """Ask the model, and keep what it said or how it failed; errors as in `ChatModel.complete`."""
        begun = self._exchange(messages, tools, max_output_tokens, form)
        try:
            reply = await self._inner.complete(messages, tools, max_output_tokens, form)
        except LlmError as error:
            failure = ChatFailure(code=error.code, message=error.message)
            self._keep(begun.model_copy(update={"failure": failure}))
            raise
        self._keep(begun.model_copy(update={"reply": reply}))
        return reply


class Replay:
    """A transcript's answers, given again: the next one of the step that is asked about, whatever the request says.

    `asked`: what was asked so far, each with the number (from 0) of the exchange that answered it, None where the
    transcript has no answer left for the step.
    """

    def __init__(self, transcript: Transcript) -> None:
        self._exchanges = transcript.exchanges
        self._left: dict[str, deque[int]] = defaultdict(deque)
        for number, one in enumerate(transcript.exchanges):
            self._left[one.step].append(number)
        self.asked: list[tuple[Exchange, int | None]] = []

    @property
    def unused(self) -> list[Exchange]:
        """Return the exchanges that nothing was asked for."""
        return [self._exchanges[number] for number in sorted(n for left in self._left.values() for n in left)]

    def around(self, step: str, model: ChatModel) -> ChatModel:
        """Return what answers from the transcript in the place of the model, which is never asked."""
        return ReplayingModel(step, model, self.answer)

    def answer(self, asked: Exchange) -> Reply:
        """Return the recorded answer.

        Raises:
            LlmError: the recorded failure; LlmRejected where the step has no answer left.
        """
        left = self._left[asked.step]
        number = left.popleft() if left else None
        self.asked.append((asked, number))
        if number is None:
            raise LlmRejected(f"the transcript has no further answer for {asked.step}")
        known = self._exchanges[number]
        if known.reply is not None:
            return known.reply
        failure = known.failure or ChatFailure(code=LlmRejected.code, message="the transcript has no answer")
        raise _ERRORS.get(failure.code, LlmRejected)(failure.message)


class ReplayingModel(_ExchangeModel):
    """A chat model that says what `answer` gives for each request; the model whose name it has is never asked."""

    def __init__(self, step: str, named: ChatModel, answer: Callable[[Exchange], Reply]) -> None:
        super().__init__(step, named)
        self._answer = answer

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        max_output_tokens: int = 4096,
        form: Form = FREE,
    ) -> Reply:
        """Return the recorded answer, or raise the recorded error."""
        return self._answer(self._exchange(messages, tools, max_output_tokens, form))
