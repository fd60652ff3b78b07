"""What was said with a language model during a build, step by step; the rules' builds have none of it."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from app.model.base import Model, Sparse
from app.model.names import SubProblemName
from app.model.sub_problems import Decision


class DialogueLimits(Model):
    """Most that a build may ask of its language model, and most of what one request may come to.

    `rounds`: of tools, for one question. `calls`: of tools, in one round. `turns`: how often it may propose for one
    construction. `output`: tokens of one answer. `requests`: all that are sent for a build, repeated ones too.
    `tokens`: of input and output together, for a build.
    """

    rounds: int
    calls: int
    turns: int
    output: int
    requests: int
    tokens: int


class Turn(Sparse):
    """One thing that a language model was asked, or an earlier answer of which the turn had come.

    `step` is the prompt's name. `decided` names what its answer settled, `fallen` what the rules had to settle instead.
    What the next request begins with is made of these: `prompts` are the instructions that were sent, by name, `asked`
    is the data that followed them (empty: nothing was asked), `shown` a digest of every block that was shown, by name.
    `narrowed`: the knowledge was that of the class. `anew`: the conversation began here. `answers` are those to further
    questions of the same request, checked, which are taken when their turn comes.
    """

    step: str
    decided: list[str] = Field(default_factory=list)
    fallen: list[str] = Field(default_factory=list)
    prompts: list[str] = Field(default_factory=list)
    asked: str = ""
    shown: dict[str, str] = Field(default_factory=dict)
    narrowed: bool = False
    anew: bool = False
    answers: dict[SubProblemName, Decision] = Field(default_factory=dict)

    @property
    def outcome(self) -> Turn:
        """Return who decided, without what was said: of a finished build nothing is asked any more."""
        return Turn(step=self.step, decided=self.decided, fallen=self.fallen)


def waiting(turns: Sequence[Turn], name: SubProblemName, step: str) -> Turn | None:
    """Return the turn whose answer to the question was not taken yet; `step` is what taking it is called."""
    for turn in reversed(turns):
        if step in turn.decided or step in turn.fallen:
            return None
        if name in turn.answers:
            return turn
    return None


class ModelShare(Model):
    """Steps that a language model was `asked` to decide, those that it `decided`, and `share`: both in words."""

    asked: int = 0
    decided: int = 0
    share: str = ""


def share_of(turns: Sequence[Turn], degraded: Sequence[str]) -> ModelShare:
    """Return who decided; `degraded` says which steps fell back to the rules and why."""
    decided = sum(len(turn.decided) for turn in turns)
    asked = decided + sum(len(turn.fallen) for turn in turns)
    fallbacks = f"; fallbacks: {'; '.join(degraded)}" if degraded else ""
    share = f"The model decided {decided} of {asked} steps{fallbacks}." if asked else ""
    return ModelShare(asked=asked, decided=decided, share=share)
