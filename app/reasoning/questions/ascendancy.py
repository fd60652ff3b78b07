"""The ascendancy: what its passives speak of, compared with how the build deals damage and survives."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import Field

from app.core.errors import LlmBadOutput
from app.knowledge.gems import dealt, is_minion, tags
from app.knowledge.words import by_phrase, named, phrase
from app.model.names import Demand, Provenance, SubProblemName
from app.model.sub_problems import AscendancyChoice, Choice, Decision, DeliveryChoice, Discovery, Option
from app.reasoning.base import FoundBuild
from app.reasoning.questions.base import ExploreAnswer, Name, QuestionKind
from app.reasoning.questions.brief import Brief
from app.reasoning.questions.measured import ascendancies_measured_first, told_of_race

_PER_CURATED, _PER_LINE, _MOST_LINES, _PER_NAMED = 10.0, 1.0, 6, 1000.0


class AscendancyAnswer(ExploreAnswer):
    """`explore-ascendancy`. `notables`: wanted ascendancy passives, most wanted first."""

    class_name: Name = Field(alias="class")
    ascendancy: Name | None
    notables: Annotated[list[Name], Field(max_length=8)] = Field(default_factory=list)


class AscendancyQuestion(QuestionKind[AscendancyAnswer]):
    """Which ascendancy of the class, if the level allows one."""

    name = SubProblemName.ASCENDANCY
    answer = AscendancyAnswer
    demands = frozenset({Demand.MORE_DAMAGE, Demand.MORE_EFFECTIVE_LIFE})
    answered_by = "ascendancy"
    needs_nodes = True

    def waits_for(self, *, ascendancy_named: bool, skill_named: bool) -> list[SubProblemName]:
        """Wait for the skill that it is chosen for, unless it was named."""
        return [] if ascendancy_named else [SubProblemName.DAMAGE_DELIVERY]

    def gather(self, brief: Brief) -> list[Discovery]:
        """Return the ascendancies of the class."""
        own = brief.open_ascendancies
        text = f"The {brief.class_fact.name} can become {', '.join(own)}."
        return [self.discovery(text, "classes"), *told_of_race(brief, self.name)]

    def decide(self, brief: Brief) -> Decision:
        """Take the ascendancy asked for, else the one of the class that speaks most of what the build does."""
        asked = brief.ascendancies
        fact = brief.class_fact
        wanted = _wanted(brief)
        options = [_option(brief, name, wanted) for name in brief.open_ascendancies]
        options.sort(key=lambda option: (option.name not in asked, -(option.score or 0.0), option.name))
        options = ascendancies_measured_first(brief, options)
        if not options or (brief.demands.floors.ascendancy_points == 0 and not asked):
            none = Option(
                name="none yet",
                choice=AscendancyChoice(class_name=fact.name, ascendancy=None),
                reason=f"At level {brief.demands.level} the first trial is usually still ahead.",
                rejected_because="the level allows an ascendancy",
            )
            options.insert(0, none)
        another = brief.constraints(self.name, Demand.MORE_DAMAGE, Demand.MORE_EFFECTIVE_LIFE)
        tried = {decision.name for decision in brief.prior(self.name)} if another else set()
        return self.choose(
            brief,
            options,
            Provenance.EXPLICIT if brief.invariants.is_settled("ascendancy") else Provenance.INFERRED,
            banned=lambda option: option.name in tried,
            forbidden=lambda option: bool(asked) and option.name not in asked,
        )

    def settle(self, answer: AscendancyAnswer, brief: Brief, usual: Decision) -> tuple[str, Choice]:
        """Refuse another class, another ascendancy than asked for, and passives that it does not have."""
        fact = brief.class_fact
        if phrase(answer.class_name) != phrase(fact.name):
            raise LlmBadOutput(f"the class is {fact.name}, not {answer.class_name!r}")
        if answer.ascendancy is None:
            if isinstance(usual.choice, AscendancyChoice) and usual.choice.ascendancy is None:
                return usual.name, usual.choice
            raise LlmBadOutput(f"the level allows an ascendancy: one of {', '.join(brief.open_ascendancies)}")
        known = by_phrase(fact.ascendancies, fact.ascendancies)
        found = named(answer.ascendancy, known, f"ascendancy of the {fact.name}")
        if brief.explicit("ascendancy") and brief.ascendancies and found not in brief.ascendancies:
            raise LlmBadOutput(f"the user asked for {' or '.join(brief.ascendancies)}")
        if found not in brief.open_ascendancies:
            raise LlmBadOutput(f"the user ruled {found} out")
        own = [n for n in brief.nodes if n.ascendancy == found and n.kind in ("notable", "keystone")]
        passives = by_phrase(own, (node.name for node in own))
        wanted = [named(text, passives, f"passive of the {found}").id for text in answer.notables]
        return found, AscendancyChoice(class_name=fact.name, ascendancy=found, notables=list(dict.fromkeys(wanted)))

    def recognise(self, found: FoundBuild) -> tuple[str, Choice]:
        """Return class, ascendancy and the ascendancy's notables of a finished build."""
        build = found.blueprint
        owned = [found.nodes.get(node.id) for node in build.nodes]
        notables = [node.id for node in owned if node is not None and node.ascendancy and node.kind == "notable"]
        choice = AscendancyChoice(class_name=build.class_name, ascendancy=build.ascendancy, notables=notables)
        return build.ascendancy or build.class_name, choice


def _wanted(brief: Brief) -> dict[str, float]:
    """Return what the build is about, with weights: damage types first, then how it is played, then defence."""
    wanted: dict[str, float] = {}
    delivery = brief.decided(SubProblemName.DAMAGE_DELIVERY, DeliveryChoice)
    gem = brief.main_skill if delivery else brief.skill
    if gem is not None:
        plain = {tag for tag in tags(gem) if tag not in {"duration", "area", "physical"}}
        wanted |= dict.fromkeys(plain, 0.6)
        wanted |= dict.fromkeys(dealt(gem), 1.5)
        if is_minion(gem):
            wanted["minion"] = 2.0
    if delivery is not None:
        wanted |= {word.lower(): 0.5 for word in delivery.weapon_types}
    wanted |= dict.fromkeys(brief.listed("defence"), 0.7)
    wanted |= dict.fromkeys(brief.listed("style"), 1.5)
    if brief.sure("damage_type") and not (delivery is not None and delivery.minion):
        wanted |= dict.fromkeys(brief.listed("damage_type"), 1.5)
    return wanted


def _option(brief: Brief, ascendancy: str, wanted: dict[str, float]) -> Option:
    """Return the ascendancy with points for what is known to serve the build and for lines that name it."""
    curated = brief.taste.ascendancies.get(ascendancy, [])
    served = [word for word in curated if word in wanted]
    score = sum(_PER_CURATED * (1.0 - 0.05 * curated.index(word)) * wanted[word] for word in served)
    spoken = sorted({word.replace("_", " ") for word in wanted if len(word) > 3}) or ["$^"]
    pattern = re.compile("|".join(rf"\b{re.escape(word)}" for word in spoken), re.IGNORECASE)
    lines = [line for node in brief.nodes if node.ascendancy == ascendancy for line in node.mods]
    score += _PER_LINE * min(_MOST_LINES, sum(1 for line in lines if pattern.search(line)))
    named = [nodes[0] for nodes in brief.named.passives if nodes[0].ascendancy == ascendancy]
    score += _PER_NAMED * len(named)
    known = ", ".join([*(node.name for node in named), *(word.replace("_", " ") for word in served[:3])])
    reason = f"{ascendancy} strengthens {known}." if known else f"{ascendancy} fits no worse than its sisters."
    if ascendancy in brief.ascendancies:
        asked = " or ".join(brief.ascendancies)
        reason = f"You asked for {asked}." if brief.explicit("ascendancy") else f"{ascendancy} comes closest."
    return Option(
        name=ascendancy,
        choice=AscendancyChoice(class_name=brief.class_fact.name, ascendancy=ascendancy),
        score=round(score, 2),
        reason=reason,
        rejected_because=f"it only strengthens {known}" if known else "its passives speak of other things",
    )
