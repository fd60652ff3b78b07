"""The rules reasoner behind the Reasoner port."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from app.engine.base import Engine
from app.knowledge.gems import gem_level_at, is_attack
from app.knowledge.weapons import matches
from app.knowledge.words import listing
from app.model.conflicts import BuildConflict, Suggestion, conflict_id
from app.model.constraints import InvariantSet
from app.model.dependencies import without_cycles
from app.model.names import ConflictType, Demand, Severity, SubProblemName
from app.model.record import BuildRequest
from app.model.sub_problems import (
    AscendancyChoice,
    Decision,
    DeliveryChoice,
    Discovery,
    SubProblem,
    SurvivabilityChoice,
)
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
from app.reasoning.questions.ascendancy import decide_ascendancy
from app.reasoning.questions.brief import Brief, dependencies_for
from app.reasoning.questions.damage_delivery import decide_delivery, rank_skills
from app.reasoning.questions.damage_scaling import decide_scaling
from app.reasoning.questions.fit import dealt, has_style
from app.reasoning.questions.imported import constraints, questions
from app.reasoning.questions.resource_sustain import cost_per_second, decide_sustain
from app.reasoning.questions.spirit_allocation import decide_spirit, spirit_of
from app.reasoning.questions.stat_requirements import attributes_needed, decide_requirements
from app.reasoning.questions.survivability import decide_survivability

Q = SubProblemName


def discoveries(brief: Brief, name: SubProblemName) -> list[Discovery]:
    """Return what the engine's facts say about a question."""
    match name:
        case Q.ASCENDANCY:
            own = brief.class_fact.ascendancies
            return [_found(name, f"The {brief.class_fact.name} can become {', '.join(own)}.", "classes")]
        case Q.DAMAGE_DELIVERY:
            return _skills(brief)
        case Q.DAMAGE_SCALING:
            count = sum(1 for gem in brief.catalogue.gems if gem.kind == "support")
            return [_found(name, f"{count} support gems and {len(brief.nodes)} passives are known.", "gems")]
        case Q.SURVIVABILITY:
            ehp = brief.demands.floors.ehp
            here = f"At level {brief.demands.level} with {brief.demands.gear.value} gear"
            text = f"{here}, {ehp.least:.0f} effective hit points are the least, {ehp.good:.0f} are good."
            return [_found(name, text, "floors")]
        case Q.RESOURCE_SUSTAIN:
            return _cost(brief)
        case Q.SPIRIT_ALLOCATION:
            total = spirit_of(brief)
            return [_found(name, f"About {total:.0f} Spirit can be reserved at level {brief.demands.level}.", "gems")]
        case Q.STAT_REQUIREMENTS:
            needs = attributes_needed(brief)
            return [_found(name, f"The gems and weapon chosen ask for {needs}.", "gems")]


def _found(name: SubProblemName, fact: str, source: str) -> Discovery:
    return Discovery(sub_problem=name, fact=fact, source=f"facts.{source}")


def _skills(brief: Brief) -> list[Discovery]:
    ranked = rank_skills(brief)
    best = {judged.gem.name: round(judged.total, 1) for judged in ranked[:5]}
    text = f"{len(ranked)} skills could be the main skill; the best fits are {', '.join(best)}."
    return [_found(Q.DAMAGE_DELIVERY, text, "gems")]


def _cost(brief: Brief) -> list[Discovery]:
    delivery = brief.decided(Q.DAMAGE_DELIVERY, DeliveryChoice)
    gem = brief.catalogue.by_id.get(delivery.skill_id) if delivery else None
    if gem is None:
        return []
    cost = round(cost_per_second(gem), 1)
    level = gem_level_at(gem, brief.demands.level)
    highest = min(20, gem.natural_max_level)
    text = f"{gem.name} costs {cost} mana per second at gem level {highest}; gem level {level} is usable."
    return [_found(Q.RESOURCE_SUSTAIN, text, "gems")]


def assess(brief: Brief) -> list[BuildConflict]:
    """Return where the decisions contradict what the user said, blocking where another answer could agree."""
    checks = (
        _wrong_style(brief),
        _wrong_class(brief),
        _wrong_damage(brief),
        _wrong_weapon(brief),
        _wrong_defence(brief),
        _excluded_main(brief),
    )
    return [conflict for conflict in checks if conflict is not None]


def _wrong_class(brief: Brief) -> BuildConflict | None:
    choice = brief.decided(Q.ASCENDANCY, AscendancyChoice)
    if choice is None or not brief.explicit("class") or choice.class_name == brief.class_fact.name:
        return None
    text = f"The build is a {choice.class_name}, but a {brief.class_fact.name} was asked for."
    return _conflict(ConflictType.INVARIANT_VIOLATED, Q.ASCENDANCY, "class_choice", text, Demand.OTHER_SKILL)


def _wrong_damage(brief: Brief) -> BuildConflict | None:
    choice = brief.decided(Q.DAMAGE_DELIVERY, DeliveryChoice)
    gem = brief.catalogue.by_id.get(choice.skill_id) if choice else None
    if gem is None or not brief.explicit("damage_type") or set(dealt(gem)) & set(brief.damage_types):
        return None
    wanted = " or ".join(brief.listed("damage_type"))
    text = f"{gem.name} does not deal {wanted} damage by itself, which was asked for."
    # an attack can still gain the damage asked for, and a skill asked for by name is not exchanged
    severity = Severity.WARNING if is_attack(gem) or brief.explicit("skill") else Severity.BLOCKING
    return _conflict(ConflictType.GOAL_MISMATCH, Q.DAMAGE_DELIVERY, "damage_type", text, Demand.OTHER_SKILL, severity)


def _wrong_style(brief: Brief) -> BuildConflict | None:
    choice = brief.decided(Q.DAMAGE_DELIVERY, DeliveryChoice)
    gem = brief.catalogue.by_id.get(choice.skill_id) if choice else None
    missed = [style for style in brief.listed("style") if gem is not None and not has_style(gem, style)]
    if gem is None or not missed or not brief.explicit("style"):
        return None
    text = f"{gem.name} is not played as asked: {listing(missed)}."
    return _conflict(ConflictType.GOAL_MISMATCH, Q.DAMAGE_DELIVERY, "style", text, Demand.OTHER_SKILL, Severity.WARNING)


def _wrong_weapon(brief: Brief) -> BuildConflict | None:
    choice = brief.decided(Q.DAMAGE_DELIVERY, DeliveryChoice)
    asked = brief.listed("weapon")
    if choice is None or not asked or not brief.explicit("weapon"):
        return None
    held = [*choice.weapon_types, *([choice.off_hand] if choice.off_hand else [])]
    if any(matches(asked, weapon) for weapon in held):
        return None
    text = f"The build holds {' and '.join(held).lower() or 'nothing'}, but {' or '.join(asked).lower()} was asked for."
    severity = Severity.WARNING if brief.explicit("skill") else Severity.BLOCKING
    return _conflict(ConflictType.GOAL_MISMATCH, Q.DAMAGE_DELIVERY, "weapon", text, Demand.OTHER_WEAPON, severity)


def _wrong_defence(brief: Brief) -> BuildConflict | None:
    choice = brief.decided(Q.SURVIVABILITY, SurvivabilityChoice)
    asked = set(brief.listed("defence"))
    if choice is None or not asked or not brief.explicit("defence"):
        return None
    pools = asked & {"life", "energy_shield", "hybrid"}
    layers = asked & {"armour", "evasion"}
    if (not pools or choice.pool in pools) and layers <= set(choice.mitigation):
        return None
    wanted = " and ".join(sorted(asked)).replace("_", " ")
    text = f"The build relies on {choice.pool.replace('_', ' ')}, but {wanted} was asked for."
    return _conflict(ConflictType.GOAL_MISMATCH, Q.SURVIVABILITY, "defence", text, Demand.MORE_EFFECTIVE_LIFE)


def _excluded_main(brief: Brief) -> BuildConflict | None:
    choice = brief.decided(Q.DAMAGE_DELIVERY, DeliveryChoice)
    gem = brief.catalogue.by_id.get(choice.skill_id) if choice else None
    if gem is None or not brief.exclusions.gem(gem):
        return None
    text = f"{gem.name} is among what was ruled out ({', '.join(brief.listed('exclude'))})."
    severity = Severity.WARNING if brief.explicit("skill") else Severity.BLOCKING
    return _conflict(ConflictType.INVARIANT_VIOLATED, Q.DAMAGE_DELIVERY, "exclude", text, Demand.OTHER_SKILL, severity)


def _conflict(
    kind: ConflictType,
    where: SubProblemName,
    subject: str,
    text: str,
    demand: Demand,
    severity: Severity = Severity.BLOCKING,
) -> BuildConflict:
    return BuildConflict(
        id=conflict_id(kind, [where], subject),
        type=kind,
        severity=severity,
        subject=subject,
        affected=[where],
        message=text,
        suggested_solutions=[Suggestion(strategy=f"as_asked_{subject}", sub_problem=where, demand=demand, text=text)],
    )


_DECIDE: Mapping[SubProblemName, Callable[[Brief], Decision]] = {
    Q.ASCENDANCY: decide_ascendancy,
    Q.DAMAGE_DELIVERY: decide_delivery,
    Q.DAMAGE_SCALING: decide_scaling,
    Q.SURVIVABILITY: decide_survivability,
    Q.RESOURCE_SUSTAIN: decide_sustain,
    Q.SPIRIT_ALLOCATION: decide_spirit,
    Q.STAT_REQUIREMENTS: decide_requirements,
}
_NEEDS_NODES = frozenset({Q.ASCENDANCY, Q.DAMAGE_SCALING})
_NEEDS_BASES = frozenset({Q.DAMAGE_DELIVERY, Q.STAT_REQUIREMENTS})
_ANSWERED_BY = {Q.ASCENDANCY: "ascendancy", Q.DAMAGE_DELIVERY: "skill", Q.SURVIVABILITY: "defence"}


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
        return constraints(found), questions(found)

    async def decompose(self, ctx: ReasoningContext) -> Decomposition:
        """Set up the seven questions; those that the user's own words answer are decided at once."""
        brief = await Brief.of(ctx, bases=True, nodes=True)
        wanted = dependencies_for(
            ascendancy_named=brief.explicit("ascendancy"),
            skill_named=brief.explicit("skill"),
        )
        depends_on, broken = without_cycles(wanted)
        subs = {name: self._question(brief, name, depends_on[name]) for name in Q}
        return Decomposition(subs, tuple(broken))

    def _question(self, brief: Brief, name: SubProblemName, depends_on: list[SubProblemName]) -> SubProblem:
        field = _ANSWERED_BY.get(name)
        if field is None or not brief.explicit(field):
            return SubProblem(name=name, depends_on=depends_on)
        return SubProblem(name=name, depends_on=depends_on).explore().decide(_DECIDE[name](brief))

    async def gather(self, ctx: ReasoningContext, name: SubProblemName) -> list[Discovery]:
        """Collect what the engine's facts say about the question."""
        return discoveries(await self._brief(ctx, name), name)

    async def explore(self, ctx: ReasoningContext, name: SubProblemName, discoveries: list[Discovery]) -> Conclusion:
        """Answer one question from the facts; the discoveries were made from the same facts and add nothing."""
        return Conclusion(_DECIDE[name](await self._brief(ctx, name)))

    async def assess(self, ctx: ReasoningContext) -> list[BuildConflict]:
        """Compare the decisions with what the user said."""
        return assess(await Brief.of(ctx))

    async def resolve(self, ctx: ReasoningContext, conflicts: list[BuildConflict]) -> Resolution:
        """Pick for each conflict its first suggestion that was not tried yet."""
        picks = [(conflict, pick) for conflict in conflicts if (pick := conflict.next_suggestion) is not None]
        return Resolution(tuple(picks))

    async def advise(self, ctx: ReasoningContext, experimenter: Experimenter) -> list[Idea]:
        """Return nothing."""
        return []

    async def _brief(self, ctx: ReasoningContext, name: SubProblemName) -> Brief:
        return await Brief.of(ctx, bases=name in _NEEDS_BASES, nodes=name in _NEEDS_NODES)
