"""The ascendancy: what its passives speak of, compared with how the build deals damage and survives."""

from __future__ import annotations

import re
from functools import lru_cache

from app.knowledge.gems import is_minion, tags
from app.model.names import Provenance, SubProblemName
from app.model.sub_problems import AscendancyChoice, Decision, DeliveryChoice, Option
from app.reasoning.questions.brief import Brief
from app.reasoning.questions.fit import dealt
from app.reasoning.questions.options import decide

_NAME = SubProblemName.ASCENDANCY
_PER_CURATED, _PER_LINE, _MOST_LINES = 10.0, 1.0, 6


def decide_ascendancy(brief: Brief) -> Decision:
    """Take the ascendancy asked for, else the one of the class that speaks most of what the build does."""
    asked = brief.invariants.text("ascendancy")
    fact = brief.class_fact
    options = [_option(brief, name) for name in fact.ascendancies]
    options.sort(key=lambda option: (option.name != asked, -(option.score or 0.0), option.name))
    if not options or (brief.demands.floors.ascendancy_points == 0 and not asked):
        options.insert(0, _none(brief))
    provenance = Provenance.EXPLICIT if brief.explicit("ascendancy") else Provenance.INFERRED
    return decide(
        brief,
        _NAME,
        options,
        provenance,
        forbidden=lambda option: bool(asked in fact.ascendancies and option.name != asked),
    )


def _none(brief: Brief) -> Option:
    return Option(
        name="none yet",
        choice=AscendancyChoice(class_name=brief.class_fact.name, ascendancy=None),
        reason=f"At level {brief.demands.level} the first trial is usually still ahead.",
        rejected_because="the level allows an ascendancy",
    )


def _option(brief: Brief, ascendancy: str) -> Option:
    wanted = _wanted(brief)
    curated = brief.taste.ascendancies.get(ascendancy, [])
    served = [word for word in curated if word in wanted]
    score = sum(_PER_CURATED * (1.0 - 0.05 * curated.index(word)) * wanted[word] for word in served)
    score += _PER_LINE * _lines_about(brief, ascendancy, frozenset(wanted))
    asked = brief.invariants.text("ascendancy") == ascendancy
    known = ", ".join(word.replace("_", " ") for word in served[:3])
    reason = f"{ascendancy} strengthens {known}." if known else f"{ascendancy} fits no worse than its sisters."
    if asked:
        reason = f"You asked for {ascendancy}." if brief.explicit("ascendancy") else f"{ascendancy} comes closest."
    return Option(
        name=ascendancy,
        choice=AscendancyChoice(class_name=brief.class_fact.name, ascendancy=ascendancy),
        score=round(score, 2),
        reason=reason,
        rejected_because=f"it only strengthens {known}" if known else "its passives speak of other things",
    )


def _wanted(brief: Brief) -> dict[str, float]:
    """Return what the build is about, with weights: damage types first, then how it is played, then defence."""
    wanted: dict[str, float] = {}
    delivery = brief.decided(SubProblemName.DAMAGE_DELIVERY, DeliveryChoice)
    gem = brief.catalogue.by_id.get(delivery.skill_id) if delivery else brief.skill
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


def _lines_about(brief: Brief, ascendancy: str, wanted: frozenset[str]) -> int:
    """Count lines of the ascendancy's passives that name what the build is about."""
    lines = [line for node in brief.nodes if node.ascendancy == ascendancy for line in node.mods]
    return min(_MOST_LINES, sum(1 for line in lines if _pattern(wanted).search(line)))


@lru_cache(maxsize=64)
def _pattern(words: frozenset[str]) -> re.Pattern[str]:
    spoken = sorted({word.replace("_", " ") for word in words if len(word) > 3}) or ["$^"]
    return re.compile("|".join(rf"\b{re.escape(word)}" for word in spoken), re.IGNORECASE)
