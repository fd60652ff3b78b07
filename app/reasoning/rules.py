"""The rules reasoner: reads prompts by words and decides from the engine's facts, the same way every time."""

from __future__ import annotations

from app.engine.base import Engine
from app.knowledge.gems import damage_types_of
from app.model.conflicts import BuildConflict
from app.model.constraints import READ_FROM_FILE, Invariant, InvariantSet, InvariantValue
from app.model.names import GearTier, Goal, Provenance, SubProblemName
from app.model.race import Contender
from app.model.record import BuildRequest
from app.model.sub_problems import Decision, Discovery, SubProblem, without_cycles
from app.reasoning.base import (
    Conclusion,
    Decomposition,
    Experimenter,
    FoundBuild,
    Idea,
    ReasoningContext,
    RefineReading,
    Remarks,
    Resolution,
)
from app.reasoning.prompt.extract import extract
from app.reasoning.prompt.refinement import read_refinement
from app.reasoning.questions import QUESTIONS, dependencies_for
from app.reasoning.questions.brief import Brief
from app.reasoning.questions.contenders import contenders_of

_ENDGAME_LEVEL, _MID_LEVEL = 76, 60


class RulesReasoner:
    """Understands by vocabulary, decides by scores over the engine's facts; the same input gives the same answer."""

    @property
    def name(self) -> str:
        """Return `rules`."""
        return "rules"

    @property
    def model(self) -> str | None:
        """Return None: there is no language model."""
        return None

    @property
    def advises(self) -> bool:
        """Return False: the search has done what the rules know."""
        return False

    @property
    def remarks(self) -> Remarks:
        """Return nothing: the rules never fall short of themselves."""
        return Remarks()

    async def extract(self, request: BuildRequest, engine: Engine) -> InvariantSet:
        """Turn the prompt into constraints, with at most one question."""
        return await extract(request, engine)

    async def read_refinement(self, prompt: str) -> RefineReading:
        """Return what a refinement's prompt wishes and locks."""
        return read_refinement(prompt)

    async def recognise(self, found: FoundBuild) -> tuple[InvariantSet, dict[SubProblemName, SubProblem]]:
        """Return the constraints that a finished build sets, and the seven questions as it answers them."""
        waits, _ = without_cycles(dependencies_for(ascendancy_named=True, skill_named=True))
        questions: dict[SubProblemName, SubProblem] = {}
        for name, kind in QUESTIONS.items():
            title, choice = kind.recognise(found)
            decision = Decision(name=title, choice=choice, reason=READ_FROM_FILE, provenance=Provenance.EXPLICIT)
            questions[name] = SubProblem(name=name, depends_on=waits[name]).explore().decide(decision)
        return _constraints(found), questions

    async def decompose(self, ctx: ReasoningContext) -> Decomposition:
        """Set up the seven questions; those that the user's own words answer are decided at once."""
        brief = await Brief.of(ctx, bases=True, nodes=True)
        wanted = dependencies_for(
            ascendancy_named=brief.invariants.is_settled("ascendancy"),
            skill_named=brief.invariants.is_settled("skill"),
        )
        depends_on, broken = without_cycles(wanted)
        subs: dict[SubProblemName, SubProblem] = {}
        for name, kind in QUESTIONS.items():
            asked = SubProblem(name=name, depends_on=depends_on[name])
            subs[name] = asked.explore().decide(kind.decide(brief)) if kind.is_answered(brief) else asked
        return Decomposition(subs, tuple(broken))

    async def contenders(self, ctx: ReasoningContext, most: int) -> list[Contender]:
        """Return the ways to build that the user's words allow, ordered by what players reach for."""
        return contenders_of(await Brief.of(ctx, bases=True, nodes=True), most)

    async def gather(self, ctx: ReasoningContext, name: SubProblemName) -> list[Discovery]:
        """Collect what the engine's facts say about the question."""
        kind = QUESTIONS[name]
        return kind.gather(await Brief.of(ctx, bases=kind.needs_bases, nodes=kind.needs_nodes))

    async def explore(self, ctx: ReasoningContext, name: SubProblemName, discoveries: list[Discovery]) -> Conclusion:
        """Answer one question from the facts; the discoveries were made from the same facts and add nothing."""
        kind = QUESTIONS[name]
        return Conclusion(kind.decide(await Brief.of(ctx, bases=kind.needs_bases, nodes=kind.needs_nodes)))

    async def reconsider(self, ctx: ReasoningContext, name: SubProblemName, discoveries: list[Discovery]) -> Conclusion:
        """Let the answer stand: what is better is measured, not reasoned."""
        return Conclusion(ctx.state.sub_problems[name].prior_attempts[-1])

    async def assess(self, ctx: ReasoningContext) -> list[BuildConflict]:
        """Return nothing: every wish has a rule of its own, which looks at the file."""
        return []

    async def resolve(self, ctx: ReasoningContext, conflicts: list[BuildConflict]) -> Resolution:
        """Pick for each conflict its first suggestion that was not tried yet."""
        picks = [(conflict, pick) for conflict in conflicts if (pick := conflict.next_suggestion) is not None]
        return Resolution(tuple(picks))

    async def advise(self, ctx: ReasoningContext, experimenter: Experimenter) -> list[Idea]:
        """Return nothing."""
        return []


def _constraints(found: FoundBuild) -> InvariantSet:
    """Return the constraints that the file sets (explicit), and those that follow from them."""
    build, main = found.blueprint, found.main
    kept: list[Invariant] = []

    def keep(field: str, value: InvariantValue, provenance: Provenance, reason: str) -> None:
        kept.append(Invariant(field=field, value=value, provenance=provenance, reason=reason))

    said = {"class": build.class_name, "ascendancy": build.ascendancy, "level": build.level}
    for field, value in {**said, "skill": main.name if main else None}.items():
        if value is not None:
            keep(field, value, Provenance.EXPLICIT, READ_FROM_FILE)
    if main is not None and (kinds := damage_types_of(main)):
        keep("damage_type", kinds if len(kinds) > 1 else kinds[0], Provenance.INFERRED, f"what {main.name} deals")
    gear = GearTier.MID if build.level >= _MID_LEVEL else GearTier.STARTER
    if build.level >= _ENDGAME_LEVEL:
        gear = GearTier.ENDGAME
    keep("gear", gear.value, Provenance.INFERRED, f"what a level {build.level} character wears")
    keep("goal", Goal.ALL_ROUND.value, Provenance.DEFAULT, "a file does not say what it is for")
    keep("hardcore", False, Provenance.DEFAULT, "softcore unless said otherwise")
    assumptions: list[str] = []
    if found.instead_of is not None and main is not None:
        chosen = found.blueprint.group_at(found.instead_of)
        named = f"has {chosen.gems[0].name} chosen" if chosen and chosen.gems else "has none of its skill gems chosen"
        why = "is switched off" if chosen and not chosen.enabled else "shows next to no damage"
        why = f", which {why}" if chosen and chosen.gems else ""
        assumptions.append(f"The main skill is {main.name}, the strongest one: the file {named}{why}.")
    return InvariantSet(invariants=kept, assumptions=assumptions)
