"""The story of a finished build: every decision settled against the file, with the figures last measured of it, and
the notes that the file begins with: what was asked for and reached, what each group is for."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType

from app.conflicts.case import Case, damage_shares
from app.conflicts.resources import budgets
from app.core.errors import BadImport
from app.engine.base import Engine
from app.engine.files.xml import with_notes
from app.knowledge.claims import FACTS, SAYS, Grounds, founded, grounds_of, said, spoken_of
from app.knowledge.gems import DAMAGE_TYPES, damage_types_of
from app.knowledge.weapons import BARE_HANDS, UNARMED, word_of
from app.knowledge.words import listing
from app.model.base import changed
from app.model.blueprint import HAND_SLOTS, SkillGroup
from app.model.constraints import InvariantSet, as_list
from app.model.names import Effort, Provenance, SubProblemName
from app.model.race import Race, raced
from app.model.state import BuildState
from app.model.stats import ATTRIBUTE_METRICS, DPS, EHP, FREE_SPIRIT, RESISTANCES
from app.model.sub_problems import (
    AscendancyChoice,
    Built,
    Decision,
    DeliveryChoice,
    Option,
    RequirementsChoice,
    SpiritChoice,
    SurvivabilityChoice,
    SustainChoice,
    pool_of,
)
from app.model.wishes import ASKED_AND_REACHED, WishOutcome, WishState, asked_and_reached
from app.phases.validate.guide import is_lasting
from app.prompting.library import fenced

Q = SubProblemName


async def grounds_in(engine: Engine, case: Case, prompt: str, race: Race | None = None) -> Grounds:
    """Return what may be said of a finished build: what it or the prompt names, their numbers, and those of drafts."""
    asked = " ".join(text for i in case.invariants.invariants if i.is_wished for text in as_list(i.value))
    figures = fenced("figures", json.dumps({**case.stats.values, DPS: case.stats.dps or 0.0}))
    drafts = fenced(FACTS, "" if race is None else raced(race))
    told = grounds_of([figures, drafts, fenced("request", f"{prompt}; level {case.level}")])
    return await spoken_of(told, engine.facts, case.blueprint, f"{prompt} {asked}")


def with_grounds(state: BuildState, grounds: Grounds) -> BuildState:
    """Return the state with what a language model said held against the finished build, and the rest of it cut.

    A reason may have been given for a build that became another one since.
    """
    subs = dict(state.sub_problems)
    for name, sub in subs.items():
        if sub.decision is not None and sub.decision.reason.startswith(SAYS):
            reason = said(sub.decision.reason, grounds) or REASON_CUT
            sub = changed(sub, decision=changed(sub.decision, reason=reason))
        if sub.decision is not None:
            others = [_against(option, grounds) for option in sub.decision.alternatives]
            subs[name] = changed(sub, decision=changed(sub.decision, alternatives=others))
    gaps, assumed = as_said(state.domain_gaps, grounds), as_said(state.assumptions, grounds)
    return changed(state, sub_problems=subs, assumptions=assumed, domain_gaps=gaps)


def read_with_grounds(known: InvariantSet, grounds: Grounds) -> InvariantSet:
    """Return the constraints with what a language model said about them held against the finished build."""
    question = known.question
    if question is not None and not as_said([question.text], grounds):
        question = changed(question, text=f"{SAYS}Which {question.field.replace('_', ' ')} do you want?")
    kept = [one if as_said([one.reason], grounds) else changed(one, reason="it fits best") for one in known.invariants]
    return changed(known, invariants=kept, question=question, assumptions=as_said(known.assumptions, grounds))


def as_built(known: InvariantSet, case: Case) -> InvariantSet:
    """Return the constraints with the damage type that nobody named as the finished build deals it.

    What the class often deals was only where the search began: a Witch of minions was told to deal fire, whose cold
    ones measured best. What is measured counts; where nothing is, what the main skill says.
    """
    assumed, own = known.find("damage_type"), damage_types_of(case.main_gem) if case.main_gem is not None else []
    own = [kind for kind, share in _by_share(case) if share >= _LARGE_PART] or own
    if assumed is None or assumed.provenance is not Provenance.DEFAULT or not own:
        return known
    if set(own) & set(as_list(assumed.value)):
        return known
    dealt = changed(assumed, value=own[0] if len(own) == 1 else own, reason=f"{case.main_skill} deals it")
    return changed(
        known,
        invariants=[dealt if one is assumed else one for one in known.invariants],
        assumptions=[dealt.assumption if text == assumed.assumption else text for text in known.assumptions],
    )


def as_said(texts: Sequence[str], grounds: Grounds) -> list[str]:
    """Return the texts, those of a language model as far as they have grounds; a topic may stand before its label."""
    kept = []
    for text in texts:
        topic, label, words = text.partition(SAYS)
        if not label or (words := founded(words, grounds)):
            kept.append(f"{topic}{label}{words}")
    return kept


def _against(option: Option, grounds: Grounds) -> Option:
    """Return an alternative with what speaks against it, which may name the alternative itself."""
    against = option.rejected_because or ""
    told = as_said([against], grounds.allowing(option.name))
    return option if told == [against] else changed(option, rejected_because=(told or ["the model chose another"])[0])


REASON_CUT = "The language model chose this; its reason does not fit the finished build."

ONE_MORE, OTHER_PASSIVES = "one more of ", "other passives for "
"""How alternatives begin that change a part of the finished file."""

_METRICS = {"dps": DPS, "ehp": EHP}


def with_story(state: BuildState, case: Case, effort: Effort) -> BuildState:
    """Return the state with what the file has instead of what was planned, and without alternatives that it has."""
    tellers: dict[SubProblemName, Teller] = {**_TELLERS, Q.SPIRIT_ALLOCATION: partial(_spirit, effort)}
    subs = dict(state.sub_problems)
    for name, sub in state.sub_problems.items():
        if (decision := sub.decision) is not None:
            built = tellers[name](case, decision)
            others = [option for option in decision.alternatives if option.name != built.name]
            kept = [one for one in others if not is_in_file(case, one)]
            told = changed(decision, built=built, alternatives=kept)
            subs[name] = changed(sub, decision=told)
    return changed(state, sub_problems=subs, wishes=[_priced(wish, state) for wish in state.wishes])


def _ascendancy(case: Case, decision: Decision) -> Built:
    have = case.blueprint.ascendancy
    owned = [fact for node in case.blueprint.nodes if (fact := case.nodes.get(node.id)) is not None]
    notables = [fact.name for fact in owned if fact.ascendancy and fact.kind == "notable"]
    choice = decision.choice
    planned = choice.ascendancy if isinstance(choice, AscendancyChoice) else None
    with_them = f" with {listing(notables)}" if notables else ""
    other = f"{planned or 'none'} was decided on, the file has this."
    reason = _became(case, decision.reason) if planned == have else other
    return Built(name=f"{have or 'none yet'}{with_them}", reason=reason)


def _delivery(case: Case, decision: Decision) -> Built:
    items, choice = case.blueprint.items, decision.choice
    held = [items[slot].base for slot in HAND_SLOTS if slot in items]
    kinds = {word_of(base) for name in held if (base := case.bases.get(name)) is not None} or {UNARMED}
    dps = "no rate that the engine calculates" if case.stats.dps is None else f"{case.stats.dps:,.0f} damage per second"
    why = "It was asked for. " if case.invariants.is_settled("skill") else f"{_became(case, decision.reason)} "
    if isinstance(choice, DeliveryChoice) and choice.skill_name != case.main_skill:
        why = f"{choice.skill_name} was decided on, the file has {case.main_skill}. "
    elif isinstance(choice, DeliveryChoice) and choice.weapon_types and kinds.isdisjoint(choice.weapon_types):
        why = f"{listing(choice.weapon_types).lower()} was decided on, the file has what is named. "
    return Built(name=f"{case.main_skill} with {listing(held) or BARE_HANDS}", reason=f"{why}Measured: {dps}.")


def _became(case: Case, reason: str) -> str:
    """Return the reason, and what of its damage types the finished build does not deal.

    A reason is given before anything is measured, by what is known of a skill: a Vine Arrow whose ground deals chaos
    damage may live by its hits.
    """
    shares = damage_shares(case)
    named = [kind for kind in DAMAGE_TYPES if re.search(rf"\b{kind}\b", reason)]
    absent = [kind for kind in named if shares and shares.get(kind, 0.0) < _GOOD_PART]
    return f"{reason} The finished build deals hardly any {listing(absent)} damage." if absent else reason


def _scaling(case: Case, decision: Decision) -> Built:
    """Name the types that make up the damage, and critical hits where they add a good part of it."""
    shares = _by_share(case)
    chance, bonus = case.stats.get("CritChance"), case.stats.get("CritMultiplier")
    is_critical = chance / 100 * (bonus - 1) >= _GOOD_PART
    kinds = [kind for kind, share in shares if share >= _GOOD_PART]
    parts = [listing([f"{share:.0%} {kind}" for kind, share in shares])] if shares else []
    parts += [f"{chance:.0f} % critical hits of {bonus:.2f} times the damage"] if chance > 0 else []
    planned = decision.name.partition(", weighed")[0].partition(" and critical hits")[0]
    name = f"{listing(kinds)} damage" if kinds else planned
    reason = f"Measured: {'; '.join(parts)}." if parts else "The engine does not split the damage."
    return Built(name=f"{name}{' and critical hits' if is_critical else ''}", reason=reason)


def _by_share(case: Case) -> list[tuple[str, float]]:
    """Return the types that make up the damage with the share (0-1) of each, the largest first."""
    return sorted(damage_shares(case).items(), key=lambda pair: -pair[1])


_GOOD_PART, _LARGE_PART = 0.1, 0.25


def _survivability(case: Case, decision: Decision) -> Built:
    get, choice, have = case.stats.get, decision.choice, pool_of(case.stats)
    planned = choice.pool if isinstance(choice, SurvivabilityChoice) else have
    figures = (
        f"{get('Life'):,.0f} life, {get('EnergyShield'):,.0f} Energy Shield, {get('Armour'):,.0f} armour, "
        f"{get('Evasion'):,.0f} evasion, {get(EHP):,.0f} effective hit points"
    )
    why = "" if planned == have else f"{_plain(planned)} was decided on, other gear and passives measured better. "
    return Built(name=_plain(have), reason=f"{why}Measured: {figures}.")


def _sustain(case: Case, decision: Decision) -> Built:
    found = budgets(case)
    if not found:
        return Built(name="nothing to pay", reason=f"{case.main_skill} costs nothing per second.")
    name = listing([budget.resource for budget in found])
    lines = [f"{b.cost:,.0f} {b.resource} per second are used, {b.recovery:,.0f} recovered" for b in found]
    return Built(name=name, reason=f"Measured: {'; '.join(lines)}.")


def _spirit(effort: Effort, case: Case, decision: Decision) -> Built:
    names, choice = [group.gems[0].name for group in lasting(case)], decision.choice
    keys = choice.skill_ids if isinstance(choice, SpiritChoice) else []
    planned = [case.gems[key].name for key in keys if key in case.gems]
    missing = [name for name in planned if name not in names]
    have, free = case.stats.get("Spirit"), case.stats.get(FREE_SPIRIT)
    were = "was" if len(missing) == 1 else "were"
    better = "quick effort tries none" if effort is Effort.QUICK else "what is reserved measured better"
    why = f" {listing(missing)} {were} decided on; {better}." if missing else ""
    return Built(
        name=listing(names) or "nothing", reason=f"{have - free:,.0f} of {have:,.0f} Spirit are reserved.{why}"
    )


def lasting(case: Case) -> list[SkillGroup]:
    """Return the groups whose skill is switched on once and reserves Spirit."""
    return [group for group in case.blueprint.groups if group.enabled and group.gems and is_lasting(group, case.gems)]


def _requirements(case: Case, decision: Decision) -> Built:
    worst: dict[str, float] = {}
    for need in case.inspection.requirements:
        worst[need.attribute] = max(worst.get(need.attribute, 0.0), need.required)
    have = {attribute: case.stats.get(metric) for attribute, metric in ATTRIBUTE_METRICS.items()}
    names = listing([f"{value:,.0f} {attribute.value.capitalize()}" for attribute, value in have.items()])
    asked = [f"{worst[one.value]:,.0f} {one.value.capitalize()}" for one in have if worst.get(one.value)]
    resistances = ", ".join(f"{key.removesuffix('Resist').lower()} {case.stats.get(key):,.0f} %" for key in RESISTANCES)
    needed = f"{listing(asked)} are asked for; " if asked else ""
    return Built(name=names, reason=f"Measured: {needed}resistances {resistances}.")


Teller = Callable[[Case, Decision], Built]
_TELLERS: Mapping[SubProblemName, Teller] = MappingProxyType(
    {
        Q.ASCENDANCY: _ascendancy,
        Q.DAMAGE_DELIVERY: _delivery,
        Q.DAMAGE_SCALING: _scaling,
        Q.SURVIVABILITY: _survivability,
        Q.RESOURCE_SUSTAIN: _sustain,
        Q.STAT_REQUIREMENTS: _requirements,
    }
)


def _plain(pool: str) -> str:
    return pool.replace("_", " ")


def is_in_file(case: Case, option: Option) -> bool:
    """Say whether the file has what an option stands for, so that it cannot be told as not chosen.

    An option whose figures are a plan's, as all of requirements and some of resources are, says nothing of the file.
    """
    if option.name.startswith((ONE_MORE, OTHER_PASSIVES)):
        return False
    used = {gem.gem_id for group in case.blueprint.groups if group.enabled for gem in group.gems if gem.enabled}
    match option.choice:
        case AscendancyChoice(ascendancy=name):
            return name == case.blueprint.ascendancy
        case DeliveryChoice(skill_id=key):
            return key in used
        case SpiritChoice(skill_ids=keys):
            return bool(used & set(keys)) or (not keys and not lasting(case))
        case SurvivabilityChoice(pool=pool):
            return pool == pool_of(case.stats)
        case SustainChoice(resource=resource):
            return resource in {budget.resource for budget in budgets(case)}
        case RequirementsChoice():
            return True
        case _:
            return False


def _priced(wish: WishOutcome, state: BuildState) -> WishOutcome:
    """Return an unmet wish for damage or hit points with the best further step that was measured on the file."""
    metric = _METRICS.get(wish.kind)
    if metric is None or wish.state is not WishState.UNMET:
        return wish
    rows = [row for sub in state.sub_problems.values() if sub.decision is not None for row in sub.decision.spending]
    known = [row for row in rows if row.metric == metric and row.marginal and row.next_best]
    if not known:
        return wish
    best = max(known, key=lambda row: (row.marginal or 0.0, row.next_best))
    step = f"{ONE_MORE}{best.budget.replace('_', ' ')} ({best.next_best}) gives {best.marginal or 0.0:+.1%}"
    return changed(wish, nearest=f"{wish.nearest}; {step}, measured")


def noted(xml: bytes | None, state: BuildState) -> bytes | None:
    """Return the file with its notes; unchanged where nothing was asked for or the file has no room for them.

    A refinement that changes nothing hands its parent's file back as it is.
    """
    unchanged = state.refinement is not None and not state.refinement.reached
    if xml is None or not state.wishes or unchanged:
        return xml
    caveats = ["", "Caveats", *state.caveats] if state.caveats else []
    uses = state.guide.groups if state.guide is not None else []
    groups = ["", "Skill groups", *(use.line for use in uses)] if uses else []
    sets = state.construction.notes.weapon_sets
    groups += ["", "Weapon sets", sets] if sets else []
    try:
        return with_notes(xml, ASKED_AND_REACHED, [*asked_and_reached(state.wishes), *caveats, *groups])
    except BadImport:
        return xml
