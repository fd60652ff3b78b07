"""What the seven questions have in common: their interface, choosing an option, taking over a model's answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from app.core.errors import LlmBadOutput
from app.engine.base import Facts
from app.knowledge.gems import level_required
from app.knowledge.words import phrase
from app.model.base import changed
from app.model.facts import GemFact
from app.model.names import Demand, Provenance, SubProblemName
from app.model.sub_problems import Choice, Decision, Discovery, Option
from app.reasoning.base import FoundBuild
from app.reasoning.questions.brief import Brief

MOST_ALTERNATIVES = 4
MOST_STEPS = 12
"""A tuned answer is strengthened at most this often before it is repeated."""

Name = Annotated[str, Field(min_length=1, max_length=80)]
Sentence = Annotated[str, Field(min_length=1, max_length=600)]


class ModelAnswer(BaseModel):
    """What all answers of a language model share.

    They speak in names as the game shows them; turning names into facts of the engine, and refusing those that do not
    exist, is done afterwards. Unknown keys are ignored, so that a talkative model costs no repair round.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, populate_by_name=True)


class RejectedAnswer(ModelAnswer):
    """An option that was considered and lost."""

    name: Name
    rejected_because: Sentence


class ExploreAnswer(ModelAnswer):
    """What the answers to all seven questions share. `unsure`: where knowledge was missing (best effort)."""

    reason: Sentence
    alternatives: Annotated[list[RejectedAnswer], Field(max_length=4)] = Field(default_factory=list)
    unsure: Annotated[list[Sentence], Field(max_length=6)] = Field(default_factory=list)


def check_usable(brief: Brief, gem: GemFact) -> None:
    """Return when the character may use the skill that a model names.

    Raises:
        LlmBadOutput: it was ruled out, or comes later.
    """
    if brief.exclusions.gem(gem):
        raise LlmBadOutput(f"the user ruled out {gem.name}")
    if (level := level_required(gem)) > brief.demands.level:
        raise LlmBadOutput(f"{gem.name} needs level {level}, the character is {brief.demands.level}")


def _of(against: Mapping[str, str], name: str) -> str | None:
    """Return what was said of an option under its name, or under the beginning of it: "Comet" is "Comet with wand"."""
    whole = phrase(name)
    return next((why for said, why in against.items() if said and f"{whole} ".startswith(f"{said} ")), None)


A = TypeVar("A", bound=ExploreAnswer)


class QuestionKind(ABC, Generic[A]):
    """One of the seven questions: what it asks, what an answer is, how the rules decide it and a model's is checked.

    `answer`: the form in which a language model answers it. `demands`: what conflicts can ask of its answer.
    `answered_by`: the constraint that answers it where the user set it. `requires`: what it cannot be answered without,
    whoever orders the questions. `needs_bases`, `needs_nodes`: which of the engine's facts it looks at.
    """

    name: SubProblemName
    answer: type[A]
    demands: frozenset[Demand]
    answered_by: str | None = None
    requires: tuple[SubProblemName, ...] = ()
    needs_bases = False
    needs_nodes = False

    def is_answered(self, brief: Brief) -> bool:
        """Say whether the user's own words answer it."""
        return self.answered_by is not None and brief.invariants.is_settled(self.answered_by)

    @abstractmethod
    def waits_for(self, *, ascendancy_named: bool, skill_named: bool) -> list[SubProblemName]:
        """Return the questions whose answers this one is usually given on the strength of."""

    @abstractmethod
    def gather(self, brief: Brief) -> list[Discovery]:
        """Return what the engine's facts say about the question."""

    @abstractmethod
    def decide(self, brief: Brief) -> Decision:
        """Return the answer that the facts, the constraints and earlier attempts speak for."""

    @abstractmethod
    def settle(self, answer: A, brief: Brief, usual: Decision) -> tuple[str, Choice]:
        """Return a model's answer as an option's name and a choice; `usual` is what the rules decide.

        Raises:
            LlmBadOutput: the facts or the constraints contradict it; the message tells the model what to correct.
        """

    @abstractmethod
    def recognise(self, found: FoundBuild) -> tuple[str, Choice]:
        """Return how a finished build answers the question: the option's name and the choice."""

    async def check(self, decision: Decision, facts: Facts) -> None:
        """Ask the engine what the brief does not hold.

        Raises:
            LlmBadOutput: the decision cannot be built.
        """

    def decision(self, answer: A, brief: Brief, usual: Decision) -> Decision:
        """Return the decision that a model's answer makes.

        Raises:
            LlmBadOutput: the facts, the user's constraints or earlier attempts contradict it.
        """
        option, choice = self.settle(answer, brief, usual)
        sub = brief.sub_problems.get(self.name)
        tried = {past.name for past in brief.prior(self.name)} if sub is not None and sub.constraints else set()
        # The rules repeat an answer only where nothing else is left, and then a model may, too.
        if option != usual.name and (brief.is_eliminated(self.name, option) or option in tried):
            raise LlmBadOutput(f"{option!r} was tried before and did not help; answer with something else")
        # the alternatives are the rules' options that lost, with the model's reason where it gave one
        against = {phrase(other.name): other.rejected_because for other in answer.alternatives}
        why = "the model chose another"
        first = Option(name=usual.name, choice=usual.choice, reason=usual.reason, rejected_because=why)
        others = [other for other in (first, *usual.alternatives) if other.name != option]
        kept = [changed(o, rejected_because=_of(against, o.name) or o.rejected_because) for o in others]
        return Decision(
            name=option,
            choice=choice,
            reason=answer.reason,
            provenance=usual.provenance,  # what the user asked for: an answer that contradicts it was refused
            alternatives=kept[:MOST_ALTERNATIVES],
        )

    def choose(
        self,
        brief: Brief,
        options: Sequence[Option],
        provenance: Provenance,
        *,
        banned: Callable[[Option], bool] = lambda _: False,
        forbidden: Callable[[Option], bool] = lambda _: False,
    ) -> Decision:
        """Take the first option that neither failed, nor is banned; options come best first, one is not forbidden.

        When nothing else is left, an untried one is taken even if banned, then one that failed; never a forbidden one.
        Options that failed in earlier builds of this kind come last.
        """
        failed = [option for option in options if brief.is_eliminated(self.name, option.name)]
        possible = [option for option in options if not forbidden(option)]
        possible.sort(key=lambda option: brief.is_doubted(self.name, option.name))
        tried = {decision.name for decision in brief.prior(self.name)}
        alive = [option for option in possible if option not in failed]
        allowed = [option for option in alive if not banned(option)]
        untried = [option for option in alive if option.name not in tried]
        chosen = (allowed or untried or alive or possible)[0]
        alternatives: list[Option] = []
        for option in [option for option in options if option is not chosen][:MOST_ALTERNATIVES]:
            why = option.rejected_because or f"{chosen.name} fits the request better"
            if option in failed:
                why = "tried before, and it made the build worse"
            elif option.name in tried:
                why = "tried before, and it did not solve the conflict"
            elif brief.is_doubted(self.name, option.name):
                why = "it made an earlier build of this kind worse"
            alternatives.append(changed(option, rejected_because=why))
        return Decision(
            name=chosen.name,
            choice=chosen.choice,
            reason=chosen.reason,
            provenance=provenance,
            alternatives=alternatives,
        )

    def fresh(self, brief: Brief, variants: Iterator[Option]) -> Option:
        """Return the first of ever stronger variants that was not eliminated."""
        last: Option | None = None
        for _, variant in zip(range(MOST_STEPS), variants, strict=False):
            last = variant
            if not brief.is_eliminated(self.name, variant.name):
                return variant
        assert last is not None, "there is at least one variant"
        return last

    def discovery(self, fact: str, source: str) -> Discovery:
        """Return a fact about the question; `source` names the engine's facts that it was read from."""
        return Discovery(sub_problem=self.name, fact=fact, source=f"facts.{source}")
