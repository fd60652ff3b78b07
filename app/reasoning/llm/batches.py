"""Questions of `explore` that are put to a model in one request, in three groups rather than one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from app.core.errors import LlmBadOutput
from app.knowledge.claims import Grounds, said
from app.model.base import changed
from app.model.dialogue import Turn
from app.model.names import SubProblemName, SubProblemStatus
from app.model.sub_problems import Decision, Discovery, SubProblem
from app.reasoning.base import Conclusion, Reasoner, ReasoningContext
from app.reasoning.llm import answers, inputs
from app.reasoning.llm.talk import Entries
from app.reasoning.questions import QUESTIONS
from app.reasoning.questions.base import ExploreAnswer, ModelAnswer
from app.reasoning.questions.brief import Brief

Q = SubProblemName
GROUPS: Final = (
    frozenset({Q.ASCENDANCY, Q.DAMAGE_DELIVERY}),
    frozenset({Q.DAMAGE_SCALING, Q.SURVIVABILITY, Q.RESOURCE_SUSTAIN}),
    frozenset({Q.SPIRIT_ALLOCATION, Q.STAT_REQUIREMENTS}),
)
"""What is played; how it grows and lasts; what it reserves and needs."""

Decisions = dict[SubProblemName, Decision]


def together(questions: Mapping[SubProblemName, SubProblem], name: SubProblemName) -> list[SubProblemName]:
    """Return the question and those of its group that wait for nothing else, in the order of their answers."""
    group, asked = next(one for one in GROUPS if name in one), [name]

    def is_next(other: SubProblemName) -> bool:
        sub = questions.get(other)
        if sub is None or sub.is_decided or other in asked or other not in group:
            return False
        return all(one in asked or questions[one].is_decided for one in sub.depends_on if one in questions)

    while (more := next((other for other in SubProblemName if is_next(other)), None)) is not None:
        asked.append(more)
    return asked


def still_holds(turn: Turn, questions: Mapping[SubProblemName, SubProblem]) -> bool:
    """Say whether the questions of a turn that are decided were decided as it was answered."""
    return all(
        questions[name].decision == decision
        for name, decision in turn.answers.items()
        if name in questions and questions[name].is_decided
    )


def decisions_in(found: object) -> Decisions:
    """Return the decisions where an answer is to several questions, nothing of any other."""
    if not isinstance(found, dict) or len(found) < 2:
        return {}
    return {name: one for name, one in found.items() if isinstance(one, Decision)}


class Batch:
    """Questions that are asked together. `usual`: how the rules answer the first, whose turn it is."""

    def __init__(
        self, ctx: ReasoningContext, rules: Reasoner, usual: Conclusion, names: Sequence[SubProblemName]
    ) -> None:
        self._ctx = ctx
        self._rules = rules
        self._usual = usual
        self._names = names
        self._asked = 0
        self.unsure: tuple[str, ...] = ()

    async def shown(self, discoveries: Sequence[Discovery]) -> dict[str, Any]:
        """Return what is told of each question, later ones as if earlier ones were answered in the usual way."""
        ctx, brief = self._ctx, await Brief.of(self._ctx)
        questions, facts, options = Entries(), Entries(), Entries()
        for name in self._names:
            own = discoveries if name is self._names[0] else await self._rules.gather(ctx, name)
            decision = (await self._usually(ctx, name)).decision
            questions[name.value] = inputs.question(ctx, name)
            facts[name.value] = [discovery.fact for discovery in own]
            options[name.value] = inputs.options(decision)
            ctx = _decided(ctx, name, decision)
        return {"demands": inputs.demands(brief.demands), "questions": questions, "facts": facts, "options": options}

    async def settle(self, answer: ModelAnswer, grounds: Grounds) -> Decisions:
        """Return the decisions; at the second attempt those that can be used, if the first question's is among them.

        Raises:
            LlmBadOutput: an answer contradicts the facts or the user.
        """
        self._asked += 1
        ctx, found, unsure = self._ctx, Decisions(), list[str]()
        for name in self._names:
            one = getattr(answer, name.value)
            assert isinstance(one, ExploreAnswer)
            try:
                found[name] = await self._settled(ctx, name, one, grounds)
            except LlmBadOutput as error:
                if self._asked > 1 and found:
                    break
                raise LlmBadOutput(f"{name.value}: {error.message}") from error
            unsure += [f"{name.value}: {told}" for gap in one.unsure if (told := said(gap, grounds))]
            ctx = _decided(ctx, name, found[name])
        self.unsure = tuple(unsure)
        return found

    async def _settled(
        self, ctx: ReasoningContext, name: SubProblemName, answer: ExploreAnswer, grounds: Grounds
    ) -> Decision:
        kind, usual = QUESTIONS[name], (await self._usually(ctx, name)).decision
        brief = await Brief.of(ctx, bases=True, nodes=True)
        decision = answers.in_its_words(kind.decision(answer, brief, usual), usual, grounds)
        await kind.check(decision, ctx.engine.facts)
        return decision

    async def _usually(self, ctx: ReasoningContext, name: SubProblemName) -> Conclusion:
        return self._usual if name is self._names[0] else await self._rules.explore(ctx, name, [])


def _decided(ctx: ReasoningContext, name: SubProblemName, decision: Decision) -> ReasoningContext:
    """Return the context in which the question is answered."""
    sub = changed(ctx.state.sub_problems[name], decision=decision, status=SubProblemStatus.DECIDED)
    return replace(ctx, state=changed(ctx.state, sub_problems={**ctx.state.sub_problems, name: sub}))
