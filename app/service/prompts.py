"""What would be understood of a prompt, before anything is built or stored."""

from __future__ import annotations

from typing import Annotated, Protocol

from pydantic import Field

from app.engine.base import Engine
from app.model.base import Model
from app.model.constraints import Question, as_list
from app.model.names import Provenance
from app.model.record import BuildRequest, EngineChoice
from app.reasoning.base import Reasoner
from app.service.intake import check_prompt
from app.service.view import InvariantView


class ReadRequest(Model):
    """The prompt to read."""

    prompt: Annotated[str, Field(max_length=4000)]


class ReadWish(Model):
    """One wish: the user's words, the constraint that they became (null = not understood) and its value."""

    words: str
    kind: str | None
    target: float | str | None


class Understood(Model):
    """What a prompt says: its wishes, and every constraint that a build of it would have."""

    prompt: str
    wishes: list[ReadWish]
    invariants: list[InvariantView]
    question: Question | None
    assumptions: list[str]


class EngineRoom(Protocol):
    """Where the engine comes from whose names are known."""

    async def engine(self, choice: EngineChoice) -> Engine:
        """Return the started engine that serves the choice.

        Raises:
            EngineMissing: it is not installed.
            EngineError: it does not start.
        """
        ...


class Prompts:
    """Reads prompts by the rules, with the names that the engine knows; no language model is asked."""

    def __init__(self, engines: EngineRoom, reasoner: Reasoner) -> None:
        self._engines = engines
        self._reasoner = reasoner

    async def read(self, request: ReadRequest) -> Understood:
        """Return what would be understood; nothing is stored.

        Raises:
            InputError: the prompt cannot be used.
            EngineMissing, EngineError: there is no engine to take names from.
        """
        prompt = check_prompt(request.prompt)
        found = await self._reasoner.extract(BuildRequest(prompt=prompt), await self._engines.engine("auto"))
        said = [one for one in found.invariants if one.provenance is Provenance.EXPLICIT]
        wishes = [
            ReadWish(words=words, kind=one.field, target=one.value if isinstance(one.value, float) else value)
            for one in said
            for words, value in zip(one.words, as_list(one.value), strict=False)
        ]
        lost = [ReadWish(words=words, kind=None, target=None) for words in found.not_understood]
        return Understood(
            prompt=prompt,
            wishes=[*wishes, *lost],
            invariants=[InvariantView(**one.model_dump(exclude={"words"})) for one in found.invariants],
            question=found.question,
            assumptions=found.assumptions,
        )
