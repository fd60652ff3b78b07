"""The reasoner that asks a language model at every step, and the rules wherever it does not answer usably."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from app.core.config import LlmStep
from app.core.errors import BudgetExceeded, LlmError, NotFound
from app.engine.base import Engine
from app.knowledge.catalogue import Catalogue
from app.llm.base import ChatModel
from app.model.conflicts import BuildConflict
from app.model.constraints import InvariantSet
from app.model.names import SubProblemName
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
from app.reasoning.llm import briefing as material
from app.reasoning.llm import schemas
from app.reasoning.llm.answers import fallen_back, findings, ordered, picks
from app.reasoning.llm.briefing import brief
from app.reasoning.llm.build_tools import BuildTrials
from app.reasoning.llm.conversation import Conversation
from app.reasoning.llm.extract import constraints
from app.reasoning.llm.game_tools import GameSearch
from app.reasoning.llm.toolbox import Tool, Toolbox
from app.reasoning.questions import QUESTIONS
from app.reasoning.questions.base import ExploreAnswer
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
    "explore": _SEARCH,
    "construct": _SEARCH | _TRIALS,
    "validate": _SEARCH,
    "iterate": _SEARCH,
}
"""Which tools each step offers; a call of any other is refused, whoever asks for it."""


@dataclass(frozen=True)
class Desk:
    """What the reasoner of one step works with; `chat_for` gives the model of a step."""

    chat_for: Callable[[LlmStep], ChatModel]
    library: PromptLibrary
    runner: ToolRunner
    scope: Scope


class LlmReasoner:
    """One step's reasoner. The model's answers are data: checked against the facts before they become decisions."""

    def __init__(self, desk: Desk, rules: Reasoner, model: str) -> None:
        self._desk = desk
        self._rules = rules
        self._model = model
        self._remarks = Remarks()

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
        """Return where the rules had to help, and which knowledge was missing."""
        return self._remarks

    async def extract(self, request: BuildRequest, engine: Engine) -> InvariantSet:
        """Turn the prompt into constraints, with at most one question."""

        async def settle(answer: schemas.ExtractAnswer) -> InvariantSet:
            return constraints(answer, request, await Catalogue.of(engine))

        return await self._or_rules(
            schemas.EXTRACT,
            lambda: self._ask(
                "extract",
                [schemas.EXTRACT],
                {"request": material.request(request)},
                schemas.ExtractAnswer,
                settle,
                engine,
            ),
            lambda: self._rules.extract(request, engine),
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
        inputs = {
            **self._about(ctx),
            "usual_order": {
                name.value: [other.value for other in sub.depends_on] for name, sub in usual.sub_problems.items()
            },
            "answered_by_the_prompt": [n.value for n, sub in usual.sub_problems.items() if sub.decision is not None],
        }

        async def settle(answer: schemas.DecomposeAnswer) -> Decomposition:
            return ordered(answer, usual)

        return await self._or_rules(
            schemas.DECOMPOSE,
            lambda: self._ask("decompose", [schemas.DECOMPOSE], inputs, schemas.DecomposeAnswer, settle, ctx.engine),
            _just(usual),
        )

    async def gather(self, ctx: ReasoningContext, name: SubProblemName) -> list[Discovery]:
        """Collect what the engine's facts say about the question; the model searches for more while it decides."""
        return await self._rules.gather(ctx, name)

    async def explore(self, ctx: ReasoningContext, name: SubProblemName, discoveries: list[Discovery]) -> Conclusion:
        """Answer one question whose dependencies are decided."""
        usual = await self._rules.explore(ctx, name, discoveries)
        known, kind = await Brief.of(ctx, bases=True, nodes=True), QUESTIONS[name]
        inputs = {
            **self._about(ctx),
            "demands": material.demands(known.demands),
            "question": material.question(ctx, name),
            "facts": material.facts(discoveries),
            "options": material.options(usual.decision),
        }

        async def settle(answer: ExploreAnswer) -> Conclusion:
            decision = kind.decision(answer, known, usual.decision)
            await kind.check(decision, ctx.engine.facts)
            self._remark(Remarks(domain_gaps=tuple(f"{name.value}: {gap}" for gap in answer.unsure)))
            return replace(usual, decision=decision)

        prompt = schemas.explore_prompt(name)
        return await self._or_rules(
            prompt,
            lambda: self._ask(
                "explore",
                [schemas.EXPLORE, prompt],
                inputs,
                kind.answer,
                settle,
                ctx.engine,
            ),
            _just(usual),
        )

    async def advise(self, ctx: ReasoningContext, experimenter: Experimenter) -> list[Idea]:
        """Think about the constructed build, trying ideas before proposing them."""
        figures = await experimenter.read_stats()
        inputs = {**self._about(ctx), "build": material.build(ctx, figures), "stats": material.stats(figures)}

        async def settle(answer: schemas.ConstructAnswer) -> list[Idea]:
            return [Idea(one.name, tuple(one.changes), one.reason) for one in answer.proposals]

        return await self._or_rules(
            schemas.CONSTRUCT,
            lambda: self._ask(
                "construct",
                [schemas.CONSTRUCT],
                inputs,
                schemas.ConstructAnswer,
                settle,
                ctx.engine,
                BuildTrials(experimenter).tools(),
            ),
            lambda: self._rules.advise(ctx, experimenter),
        )

    async def assess(self, ctx: ReasoningContext) -> list[BuildConflict]:
        """Judge goal fit and coherence: what the rules see, and what the model sees besides."""
        usual = await self._rules.assess(ctx)
        inputs = {
            **self._about(ctx),
            "build": material.build(ctx, _figures(ctx)),
            "found_by_rules": material.conflicts(usual),
        }

        async def settle(answer: schemas.AssessAnswer) -> list[BuildConflict]:
            return [*usual, *findings(answer, ctx, self._model)]

        return await self._or_rules(
            schemas.VALIDATE,
            lambda: self._ask("validate", [schemas.VALIDATE], inputs, schemas.AssessAnswer, settle, ctx.engine),
            _just(usual),
        )

    async def resolve(self, ctx: ReasoningContext, conflicts: list[BuildConflict]) -> Resolution:
        """Choose how to go on for the conflicts given."""
        inputs = {
            **self._about(ctx),
            "build": material.build(ctx, _figures(ctx)),
            "conflicts": material.conflicts(conflicts),
        }

        async def settle(answer: schemas.ResolveAnswer) -> Resolution:
            return picks(answer, conflicts)

        return await self._or_rules(
            schemas.ITERATE,
            lambda: self._ask("iterate", [schemas.ITERATE], inputs, schemas.ResolveAnswer, settle, ctx.engine),
            lambda: self._rules.resolve(ctx, conflicts),
        )

    def _about(self, ctx: ReasoningContext) -> dict[str, Any]:
        return {
            "request": material.request(ctx.request),
            "constraints": material.constraints(ctx.invariants),
            "decisions": material.decisions(ctx),
            "engine": ctx.engine.version.model_dump(),
        }

    async def _ask(
        self,
        step: LlmStep,
        prompts: Sequence[str],
        inputs: Mapping[str, Any],
        shape: type[A],
        settle: Callable[[A], Awaitable[T]],
        engine: Engine,
        tools: Sequence[Tool] = (),
    ) -> T:
        briefing = brief(self._desk.library, prompts, inputs)
        self._remark(Remarks(domain_gaps=briefing.domain_gaps))
        offered = [t for t in (*GameSearch(engine.facts).tools(), *tools) if t.name in ALLOWED[step]]
        toolbox = Toolbox(offered, self._desk.runner, self._desk.scope)
        return await Conversation(self._desk.chat_for(step), toolbox, briefing.messages).answer(shape, settle)

    async def _or_rules(self, label: str, ask: Callable[[], Awaitable[T]], rules: Callable[[], Awaitable[T]]) -> T:
        try:
            return await ask()
        except (LlmError, BudgetExceeded, NotFound) as error:
            self._remark(fallen_back(label, error))
        return await rules()

    def _remark(self, new: Remarks) -> None:
        old = self._remarks
        self._remarks = Remarks(
            degraded=(*old.degraded, *new.degraded),
            domain_gaps=(*old.domain_gaps, *new.domain_gaps),
            caveats=(*old.caveats, *new.caveats),
        )


def _figures(ctx: ReasoningContext) -> Mapping[str, float]:
    return ctx.state.stats.values if ctx.state.stats is not None else {}


def _just(result: T) -> Callable[[], Awaitable[T]]:
    async def given() -> T:
        return result

    return given
