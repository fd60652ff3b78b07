"""The reasoner that asks a language model at every step, and the rules wherever it does not answer usably."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from app.core.config import LlmStep
from app.core.errors import AppError, BudgetExceeded, LlmError, LlmRejected, LlmUnavailable, NotFound
from app.engine.base import Engine
from app.knowledge.catalogue import Catalogue
from app.knowledge.claims import Grounds, KnownFacts, grounds_of, said, spoken_of
from app.knowledge.gems import dealt
from app.knowledge.words import phrase
from app.model.base import changed
from app.model.conflicts import BuildConflict
from app.model.constraints import InvariantSet, as_list
from app.model.dialogue import DialogueLimits, Turn, waiting
from app.model.moves import named_after
from app.model.names import SubProblemName
from app.model.race import Contender
from app.model.record import BuildRequest
from app.model.sub_problems import Discovery, SubProblem
from app.prompting.library import PromptLibrary
from app.reasoning.base import (
    Conclusion,
    Decomposition,
    Experimenter,
    FoundBuild,
    Idea,
    Reasoner,
    ReasoningContext,
    RefineReading,
    Remarks,
    Resolution,
)
from app.reasoning.llm import answers, inputs, talk
from app.reasoning.llm.batches import Batch, decisions_in, still_holds, together
from app.reasoning.llm.conversation import Conversation, JudgedChat
from app.reasoning.llm.extract import constraints, reading_of
from app.reasoning.llm.forms import answer_tool, answer_tools, answers_to, entries_of
from app.reasoning.llm.toolbox import Toolbox
from app.reasoning.llm.tools import BuildTrials, GameSearch
from app.reasoning.questions.brief import Brief
from app.tools.runner import ToolRunner
from app.tools.scope import Scope

A = TypeVar("A", bound=BaseModel)
T = TypeVar("T")

_SEARCH = frozenset(
    {"search_gems", "search_supports", "search_passives", "search_affixes", "search_bases", "search_uniques"}
    | {"search_runes", "search_ascendancy"}
)
_TRIALS = frozenset({"what_if", "rank_supports", "optimise_tree", "craft_item", "read_stats", "run_experiment"})
ALLOWED: Final[Mapping[LlmStep, frozenset[str]]] = {
    "extract": frozenset({"search_gems", "search_ascendancy", "search_uniques"}),
    "decompose": frozenset(),
    "explore": _SEARCH | {"what_if", "run_experiment"},
    "construct": _SEARCH | _TRIALS,
    "validate": _SEARCH,
    "iterate": _SEARCH,
}
"""Which tools each step offers; a call of any other is refused, whoever asks for it."""

_OUTSIDE_WORDS = (LlmUnavailable, LlmRejected)
"""Errors whose message holds words of the provider, which belong into the event log and not into the state."""


_QUOTED = re.compile(r"""(['"]).*\1""")
"""Names that a model made up, in what is told about its answer."""


@dataclass(frozen=True)
class LlmResources:
    """What the reasoner of one step works with; `chat_for` gives the model of a step, `limits` are the effort's."""

    chat_for: Callable[[LlmStep], JudgedChat]
    limits: DialogueLimits
    library: PromptLibrary
    runner: ToolRunner
    scope: Scope


class LlmReasoner:
    """One step's reasoner. The model's answers are data: checked against the facts before they become decisions."""

    def __init__(self, resources: LlmResources, rules: Reasoner, model: str) -> None:
        self._resources = resources
        self._rules = rules
        self._model = model
        self._remarks = Remarks()
        self._left_out: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return `llm`."""
        return "llm"

    @property
    def model(self) -> str | None:
        """Return the language model's name."""
        return self._model

    @property
    def advises(self) -> bool:
        """Return True."""
        return True

    @property
    def remarks(self) -> Remarks:
        """Return where the rules had to help, which knowledge was missing, and what was left out at last."""
        return replace(self._remarks, caveats=(*self._remarks.caveats, *self._left_out))

    async def extract(self, request: BuildRequest, engine: Engine) -> InvariantSet:
        """Turn the prompt into constraints, with at most one question."""

        async def settle(answer: answers.ExtractAnswer, grounds: Grounds) -> InvariantSet:
            return constraints(answer, request, await Catalogue.of(engine, everything=True), grounds)

        usual = await self._rules.extract(request, engine)
        return await self._ask(
            "extract",
            [answers.EXTRACT],
            {"request": inputs.request(request), "read": reading_of(usual), "assumed": usual.assumptions},
            answers.ExtractAnswer,
            settle,
            _given(usual),
            engine,
        )

    async def read_refinement(self, prompt: str) -> RefineReading:
        """Leave locks and wish to the rules."""
        return await self._rules.read_refinement(prompt)

    async def recognise(self, found: FoundBuild) -> tuple[InvariantSet, dict[SubProblemName, SubProblem]]:
        """Leave reading a file to the rules: it says everything itself."""
        return await self._rules.recognise(found)

    async def decompose(self, ctx: ReasoningContext) -> Decomposition:
        """Set up the seven questions."""
        usual = await self._rules.decompose(ctx)
        shown = {
            **inputs.about(ctx),
            "usual_order": {
                name.value: [other.value for other in sub.depends_on] for name, sub in usual.sub_problems.items()
            },
            "answered_by_the_prompt": [n.value for n, sub in usual.sub_problems.items() if sub.decision is not None],
        }

        async def settle(answer: answers.DecomposeAnswer, grounds: Grounds) -> Decomposition:
            return answers.ordered(answer, usual, grounds)

        prompts = [answers.DECOMPOSE]
        return await self._ask("decompose", prompts, shown, answers.DecomposeAnswer, settle, _given(usual), ctx)

    async def contenders(self, ctx: ReasoningContext, most: int) -> list[Contender]:
        """Leave it to the rules who starts: the engine measures, and the model is told the figures."""
        return await self._rules.contenders(ctx, most)

    async def gather(self, ctx: ReasoningContext, name: SubProblemName) -> list[Discovery]:
        """Collect what the engine's facts say about the question; the model searches for more while it decides."""
        return await self._rules.gather(ctx, name)

    async def explore(self, ctx: ReasoningContext, name: SubProblemName, discoveries: list[Discovery]) -> Conclusion:
        """Answer one question whose dependencies are decided; what is asked together was answered together."""
        usual = await self._rules.explore(ctx, name, discoveries)
        step = answers.explore_prompt(name)
        before = waiting(self._turns(ctx), name, step)
        if before is not None and still_holds(before, ctx.state.sub_problems):
            self._remark(Remarks(turns=(Turn(step=step, decided=[step]),)))
            return replace(usual, decision=before.answers[name])
        return await self._answer(ctx, together(ctx.state.sub_problems, name), discoveries, usual)

    async def reconsider(self, ctx: ReasoningContext, name: SubProblemName, discoveries: list[Discovery]) -> Conclusion:
        """Answer a question of a finished build again; the answer it has is the first of the options."""
        usual = await self._rules.reconsider(ctx, name, discoveries)
        # What the build has may stand: it was not tried in vain.
        open_again = changed(ctx.state.sub_problems[name], prior_attempts=[])
        state = changed(ctx.state, sub_problems={**ctx.state.sub_problems, name: open_again})
        return await self._answer(replace(ctx, state=state), [name], discoveries, usual)

    async def _answer(
        self, ctx: ReasoningContext, names: Sequence[SubProblemName], discoveries: list[Discovery], usual: Conclusion
    ) -> Conclusion:
        """Ask these questions together; the first of them is the one whose turn it is."""
        batch = Batch(ctx, self._rules, usual, names)
        shown = {**inputs.about(ctx), **await batch.shown(discoveries)}
        if ctx.drafts is not None:
            shown["drafts"] = {"names": list(ctx.drafts.names), "evaluations left": ctx.drafts.left}
        prompts = [answers.EXPLORE, *(answers.explore_prompt(one) for one in reversed(names))]
        found = await self._ask(
            "explore", prompts, shown, answers_to(names), batch.settle, _given({names[0]: usual.decision}), ctx
        )
        self._remark(Remarks(domain_gaps=batch.unsure))
        return replace(usual, decision=found[names[0]])

    async def advise(self, ctx: ReasoningContext, experimenter: Experimenter) -> list[Idea]:
        """Think about the constructed build, trying ideas before proposing them."""
        figures = await experimenter.read_stats()
        shown: dict[str, Any] = {
            **inputs.about(ctx),
            "build": inputs.build(ctx, figures, await inputs.passives(ctx)),
            "stats": inputs.stats(figures),
            "score": {name: round(worth, 4) for name, worth in experimenter.worth().items()},
            "warnings": inputs.warnings(ctx),
            "measured": inputs.measured(ctx),
            "evaluations left": "any number" if experimenter.left is None else experimenter.left,
        }
        there = await experimenter.names()
        out = [one for one in ctx.state.construction.notes.choices if not one.held and phrase(one.name) not in there]
        left_out = {one.name: one.line for one in out}
        shown |= {"choices left out": list(left_out.values())} if left_out else {}
        insisted: set[str] = set()

        async def settle(answer: answers.ConstructAnswer, grounds: Grounds) -> list[Idea]:
            insisted.update(name for name in left_out if phrase(name) in {phrase(one) for one in answer.insists})
            grounds = await self._spoken(ctx, grounds)
            named = [(named_after(one.changes), one) for one in answer.proposals]
            return [Idea(name, tuple(one.changes), said(one.reason, grounds.allowing(name))) for name, one in named]

        ideas = await self._ask(
            "construct",
            [answers.CONSTRUCT],
            shown,
            answers.ConstructAnswer,
            settle,
            lambda: self._rules.advise(ctx, experimenter),
            ctx,
            experimenter,
        )
        stands = " The model insists on it; the build that measured better stands."
        self._left_out = tuple(f"{line}{stands if name in insisted else ''}" for name, line in left_out.items())
        return ideas

    async def assess(self, ctx: ReasoningContext) -> list[BuildConflict]:
        """Judge goal fit and coherence: what the rules see, and what the model sees besides."""
        usual = await self._rules.assess(ctx)
        figures = ctx.state.stats.values if ctx.state.stats is not None else {}
        shown = {
            **inputs.about(ctx),
            "build": inputs.build(ctx, figures, await inputs.passives(ctx)),
            "found_by_rules": inputs.conflicts(usual),
        }

        async def settle(answer: answers.AssessAnswer, grounds: Grounds) -> list[BuildConflict]:
            gem = (await Brief.of(ctx)).main_skill
            deals = dealt(gem) if gem is not None else ()
            spoken = await self._spoken(ctx, grounds)
            told = "\n".join(text for one in answer.findings for text in (one.message, one.suggestion))
            known = await KnownFacts.about(told, ctx.engine)
            return [*usual, *answers.findings(answer, ctx, self._model, spoken, deals, known)]

        prompts = [answers.VALIDATE]
        return await self._ask("validate", prompts, shown, answers.AssessAnswer, settle, _given(usual), ctx)

    async def _spoken(self, ctx: ReasoningContext, grounds: Grounds) -> Grounds:
        """Return the grounds for sentences about the constructed build."""
        if ctx.state.blueprint is None:
            return grounds
        asked = " ".join(text for i in ctx.invariants.invariants for text in as_list(i.value))
        return await spoken_of(grounds, ctx.engine.facts, ctx.state.blueprint, f"{ctx.request.prompt} {asked}")

    async def resolve(self, ctx: ReasoningContext, conflicts: list[BuildConflict]) -> Resolution:
        """Choose how to go on for the conflicts given."""
        figures = ctx.state.stats.values if ctx.state.stats is not None else {}
        shown = {
            **inputs.about(ctx),
            "build": inputs.build(ctx, figures, await inputs.passives(ctx)),
            "conflicts": inputs.conflicts(conflicts),
        }

        if all(len(inputs.strategies(one)) < 2 for one in conflicts):
            return await self._rules.resolve(ctx, conflicts)  # there is nothing to choose between

        async def settle(answer: answers.ResolveAnswer, grounds: Grounds) -> Resolution:
            return answers.picks(answer, conflicts)

        return await self._ask(
            "iterate",
            [answers.ITERATE],
            shown,
            answers.ResolveAnswer,
            settle,
            lambda: self._rules.resolve(ctx, conflicts),
            ctx,
        )

    async def _ask(
        self,
        step: LlmStep,
        prompts: Sequence[str],
        shown: Mapping[str, Any],
        shape: type[A],
        settle: Callable[[A, Grounds], Awaitable[T]],
        otherwise: Callable[[], Awaitable[T]],
        about: ReasoningContext | Engine,
        experimenter: Experimenter | None = None,
    ) -> T:
        """Return what `settle` makes of the model's answer, or else the rules' own, with a remark why.

        The last of the prompts names the step. `about`: the build, or the engine alone where there is none yet.
        """
        ctx, engine = (about, about.engine) if isinstance(about, ReasoningContext) else (None, about)
        label, own = prompts[-1], self._resources
        try:
            tools = [
                *GameSearch(engine.facts).tools(),
                *BuildTrials(experimenter, None if ctx is None else ctx.drafts).tools(),
            ]
            toolbox = Toolbox(
                [tool for tool in tools if tool.name in ALLOWED[step]],
                own.runner,
                own.scope,
                [*(tool.spec for tool in tools), *answer_tools()],
            )
            turns, focus = ([], None) if ctx is None else (self._turns(ctx), await talk.focus_of(ctx))
            ending = talk.ending(sorted(ALLOWED[step]), answer_tool(label), entries_of(shape))
            put = talk.question(own.library, turns, prompts, shown, ending, focus)
            self._remark(Remarks(domain_gaps=put.domain_gaps))
            said = Conversation(own.chat_for(step), toolbox, put.messages, own.limits, answer_tool(label))
            found = await said.answer(shape, lambda answer: settle(answer, grounds_of(said.heard)))
            self._remark(Remarks(turns=(changed(put.turn, decided=[label], answers=decisions_in(found)),)))
            return found
        except (LlmError, BudgetExceeded, NotFound) as error:
            self._remark(fallen_back(label, error))
        return await otherwise()

    def _turns(self, ctx: ReasoningContext) -> list[Turn]:
        """Return what was said so far, in this step too."""
        return [*ctx.state.dialogue, *self._remarks.turns]

    def _remark(self, new: Remarks) -> None:
        old = self._remarks
        self._remarks = Remarks(
            degraded=(*old.degraded, *new.degraded),
            domain_gaps=(*old.domain_gaps, *new.domain_gaps),
            caveats=(*old.caveats, *new.caveats),
            turns=(*old.turns, *new.turns),
        )


def fallen_back(label: str, error: AppError) -> Remarks:
    """Return the remark for a step that the rules had to do; a budget that ended is worth a caveat too."""
    told = _QUOTED.sub("(a name of its own)", error.message)[:200]
    why = error.code if isinstance(error, _OUTSIDE_WORDS) else f"{error.code}: {told}"
    caveats: tuple[str, ...] = ()
    if isinstance(error, BudgetExceeded) and error.details.get("which") != "tool_rounds":
        caveats = (f"{error.message} From then on the rules decided instead of the language model.",)
    turn = Turn(step=label, fallen=[label])
    return Remarks(degraded=(f"{label}: {why}",), caveats=caveats, turns=(turn,))


def _given(result: T) -> Callable[[], Awaitable[T]]:
    async def given() -> T:
        return result

    return given
