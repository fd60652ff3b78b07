"""Resource sustain: what pays for the main skill, and how much must come back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from app.core.errors import LlmBadOutput
from app.knowledge.gems import cost_per_second, gem_level_at
from app.model.facts import GemFact
from app.model.names import Demand, Provenance, SubProblemName
from app.model.sub_problems import Choice, Decision, Discovery, Option, SustainChoice
from app.reasoning.base import FoundBuild
from app.reasoning.questions.base import ExploreAnswer, QuestionKind
from app.reasoning.questions.brief import Brief

_SUPPORTS_COST = 1.6
"""Five supports usually multiply the cost of a skill by about this much."""
_STEP = 1.5
_LEAST_RECOVERY, _MOST_RECOVERY = 0.5, 5.0
"""Shares of what the rules ask for: outside of these an answer mistakes the unit."""


class SustainAnswer(ExploreAnswer):
    """`explore-resource_sustain`. `recovery_per_second`: points of the resource that must come back each second."""

    resource: Literal["mana", "life", "none"]
    recovery_per_second: Annotated[float, Field(ge=0, le=5000)]
    prefer_cheaper_supports: bool = False


class SustainQuestion(QuestionKind[SustainAnswer]):
    """How the skill is paid for."""

    name = SubProblemName.RESOURCE_SUSTAIN
    answer = SustainAnswer
    demands = frozenset({Demand.MORE_RECOVERY, Demand.CHEAPER_SKILL})
    requires = (SubProblemName.DAMAGE_DELIVERY,)

    def waits_for(self, *, ascendancy_named: bool, skill_named: bool) -> list[SubProblemName]:
        """Wait for the skill."""
        return [SubProblemName.DAMAGE_DELIVERY]

    def gather(self, brief: Brief) -> list[Discovery]:
        """Return what the main skill costs, when it is known."""
        gem = brief.main_skill
        if gem is None:
            return []
        cost = round(cost_per_second(gem), 1)
        level = gem_level_at(gem, brief.demands.level)
        highest = min(20, gem.natural_max_level)
        text = f"{gem.name} costs {cost} mana per second at gem level {highest}; gem level {level} is usable."
        return [self.discovery(text, "gems")]

    def decide(self, brief: Brief) -> Decision:
        """Pay with mana where the skill costs mana, and ask for recovery in proportion to its cost."""
        gem = brief.main_skill
        base = 0.0
        if gem is not None:
            # the cost with supports, scaled down for a gem that is not at level 20 yet
            share = gem_level_at(gem, brief.demands.level) / max(1, min(20, gem.natural_max_level))
            base = cost_per_second(gem) * share * _SUPPORTS_COST
        first = self.fresh(brief, self._stronger(brief, gem, base))
        cheap = _option(gem, base, cheaper=True, why="supports that cost less also add less damage")
        paid_with_life = SustainChoice(resource="life", recovery_per_second=round(base, 1))
        why = "paying with life costs effective hit points, and needs a keystone or an ascendancy for it"
        life = Option(name="life", choice=paid_with_life, rejected_because=why)
        options = [first, *(other for other in (cheap, life) if other.name != first.name)]
        return self.choose(brief, options, Provenance.INFERRED)

    def _stronger(self, brief: Brief, gem: GemFact | None, base: float) -> Iterator[Option]:
        more = brief.constraints(self.name, Demand.MORE_RECOVERY)
        cheaper = bool(brief.constraints(self.name, Demand.CHEAPER_SKILL, Demand.DROP_SUPPORT))
        missing = sum(float(c.values.missing or 0.0) for c in more)
        steps = len(more)
        while True:
            yield _option(gem, (base + missing) * _STEP**steps, cheaper=cheaper)
            steps += 1

    def settle(self, answer: SustainAnswer, brief: Brief, usual: Decision) -> tuple[str, Choice]:
        """Refuse a resource that does not go with the skill's cost; keep recovery near what the rules ask for."""
        assert isinstance(usual.choice, SustainChoice)
        gem = brief.main_skill
        costs = gem is not None and cost_per_second(gem) > 0
        if (answer.resource != "none") != costs:
            cost = "costs mana" if costs else "costs nothing"
            raise LlmBadOutput(f"the main skill {cost}, so the resource cannot be {answer.resource}")
        least, most = (share * usual.choice.recovery_per_second for share in (_LEAST_RECOVERY, _MOST_RECOVERY))
        wanted = round(min(max(answer.recovery_per_second, least), max(most, least)), 1)
        choice = SustainChoice(
            resource=answer.resource,
            recovery_per_second=wanted,
            prefer_cheaper_supports=answer.prefer_cheaper_supports or usual.choice.prefer_cheaper_supports,
        )
        cheaper = ", cheaper supports" if choice.prefer_cheaper_supports else ""
        return f"{answer.resource}, {wanted:.0f} per second{cheaper}" if costs else usual.name, choice

    def recognise(self, found: FoundBuild) -> tuple[str, Choice]:
        """Return the resource that a finished build pays more of each second."""
        life = found.stats.get("LifePerSecondCost") > found.stats.get("ManaPerSecondCost")
        choice = SustainChoice(resource="life" if life else "mana")
        return choice.resource, choice


def _option(gem: GemFact | None, recovery: float, *, cheaper: bool, why: str | None = None) -> Option:
    name, reason, costs = "nothing to pay", "The main skill costs nothing.", False
    if gem is not None and cost_per_second(gem) > 0:
        name, costs = f"mana, {recovery:.0f} per second", True
        reason = f"{gem.name} costs about {recovery:.0f} mana per second with supports, which must come back."
    choice = SustainChoice(
        resource="mana" if costs else "none", recovery_per_second=round(recovery, 1), prefer_cheaper_supports=cheaper
    )
    shown = name + (", cheaper supports" if cheaper else "")
    return Option(name=shown, choice=choice, reason=reason, rejected_because=why)
