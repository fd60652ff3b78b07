"""The main skill as a model named it, checked: it exists, fits the level and the constraints, and can be supported."""

from __future__ import annotations

from collections.abc import Sequence

from app.core.errors import LlmBadOutput
from app.model.choices import Choice, DeliveryChoice
from app.model.facts import GemFact
from app.model.names import Demand, SubProblemName
from app.model.subproblems import Decision
from app.reasoning.llm.names import by_phrase, closest_to
from app.reasoning.llm.schemas import DeliveryAnswer
from app.reasoning.rules.brief import Brief
from app.reasoning.rules.delivery import helpers
from app.reasoning.rules.gems import can_be_main, is_minion, level_required, tags
from app.reasoning.rules.setups import Setup, setups
from app.reasoning.rules.weapons import matches

_NAME = SubProblemName.DAMAGE_DELIVERY


def delivery(answer: DeliveryAnswer, brief: Brief, rules: Decision) -> tuple[str, Choice]:
    """Return the option's name and the choice.

    Raises:
        LlmBadOutput: the skill, what to hold for it, or a helper does not exist or does not fit.
    """
    gem = _main(answer.skill, brief)
    setup = _setup(answer, brief, gem)
    _check_demand(brief, gem, setup)
    choice = DeliveryChoice(
        skill_id=gem.id,
        skill_name=gem.name,
        weapon_types=[setup.weapon],
        off_hand=setup.off_hand,
        helper_skills=_helpers(answer.helper_skills, brief, gem),
        minion=is_minion(gem),
    )
    return f"{gem.name} with {setup.text}", choice


def _main(text: str, brief: Brief) -> GemFact:
    gem = _skill(text, brief)
    if brief.skill is not None and brief.explicit("skill") and gem.id != brief.skill.id:
        raise LlmBadOutput(f"the user asked for {brief.skill.name}")
    if not can_be_main(gem):
        raise LlmBadOutput(f"{gem.name} cannot be the main skill: it deals no damage that is calculated")
    if "minion" in brief.listed("style") and brief.explicit("style") and not is_minion(gem):
        raise LlmBadOutput(f"the user asked for minions, {gem.name} is none")
    return gem


def _skill(text: str, brief: Brief) -> GemFact:
    gem = brief.catalogue.skill(text)
    if gem is None:
        known = by_phrase(brief.catalogue.active, (gem.name for gem in brief.catalogue.active))
        raise LlmBadOutput(f"there is no skill called {text[:60]!r}{closest_to(text, known)}")
    asked = brief.skill is not None and gem.id == brief.skill.id
    if brief.exclusions.gem(gem) and not asked:
        raise LlmBadOutput(f"the user ruled out {gem.name}")
    if level_required(gem) > brief.level and not asked:
        raise LlmBadOutput(f"{gem.name} needs level {level_required(gem)}, the character is {brief.level}")
    return gem


def _setup(answer: DeliveryAnswer, brief: Brief, gem: GemFact) -> Setup:
    """Return the first of the skill's set-ups that holds what the answer wants."""
    possible = setups(brief, gem)
    if brief.explicit("weapon"):
        asked = brief.listed("weapon")
        possible = [s for s in possible if matches(asked, s.weapon) or s.off_hand in asked] or possible
    if not answer.weapon_types:
        return possible[0]
    wanted = {word.strip().lower() for word in answer.weapon_types}
    fitting = [s for s in possible if s.weapon.lower() in wanted or wanted & set(s.weapon.lower().split())]
    if not fitting:
        raise LlmBadOutput(f"{gem.name} can be used with {_texts(possible)}, not with {', '.join(answer.weapon_types)}")
    off = (answer.off_hand or "").strip().lower()
    return next((s for s in fitting if (s.off_hand or "").lower() == off), fitting[0])


def _texts(possible: Sequence[Setup]) -> str:
    return "; ".join(setup.text for setup in possible[:6])


def _helpers(names: Sequence[str], brief: Brief, main: GemFact) -> list[str]:
    """Return the helpers that were named, after those that the user asked for."""
    asked = {gem.id for name in brief.listed("with") if (gem := brief.catalogue.skill(name)) is not None}
    found = [gem for gem in helpers(brief, main) if gem.id in asked]
    found += [gem for name in names if (gem := _skill(name, brief)).id != main.id]
    return list(dict.fromkeys(gem.id for gem in found if not gem.spirit and "persistent" not in tags(gem)))


def _check_demand(brief: Brief, gem: GemFact, setup: Setup) -> None:
    """Refuse what the newest conflict asks to change."""
    demands = brief.constraints(_NAME, Demand.OTHER_SKILL, Demand.OTHER_WEAPON)
    tried = [d.choice for d in brief.prior(_NAME) if isinstance(d.choice, DeliveryChoice)]
    if not demands or not tried:
        return
    if demands[-1].demand is Demand.OTHER_SKILL and gem.id in {choice.skill_id for choice in tried}:
        raise LlmBadOutput(f"another skill than {gem.name} is needed: {demands[-1].text}")
    held = {(choice.skill_id, *choice.weapon_types, choice.off_hand) for choice in tried}
    if (gem.id, setup.weapon, setup.off_hand) in held:
        raise LlmBadOutput(f"{gem.name} with {setup.text} was tried: {demands[-1].text}")
