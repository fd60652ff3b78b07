"""Wishes that cannot hold together: which one gives way, and why."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from app.knowledge.catalogue import Catalogue
from app.knowledge.exclusions import Exclusions
from app.knowledge.feasibility import NOT_TO_BE_HAD, impossible_among
from app.knowledge.gems import (
    ELEMENTS,
    can_be_main,
    damage_types_of,
    dealt,
    has_style,
    level_required,
    usual_spirit,
)
from app.knowledge.styles import OF_MAIN_SKILL
from app.knowledge.vocabulary import Vocabulary
from app.knowledge.weapons import OFF_HANDS, matches, weapon_words
from app.knowledge.words import listing, phrase
from app.model.constraints import INVARIANTS, as_list
from app.reasoning.prompt.draft import Draft
from app.reasoning.prompt.page import Span
from app.reasoning.prompt.phrases import PromptReading

_EXCLUDABLE = frozenset({"class", "ascendancy", "skill", "with", "damage_type", "style", "weapon", "defence"})
_CHAOS_INOCULATION, _BLOOD_MAGIC = "Chaos Inoculation", "Blood Magic"
_NEEDS_LIFE = frozenset({"life_stacking", "low_life"})
_NEEDS_MANA = ("Mind Over Matter", "Eldritch Battery", "Archmage")


def without_excluded(draft: Draft, reading: PromptReading, words: Vocabulary) -> PromptReading:
    """Return the reading without wishes for what is ruled out in the same prompt; the draft says so."""
    excluded = reading.ruled_out(words)
    ruled_out = excluded.written | excluded.terms | {phrase(word) for word in excluded.weapons | excluded.people}
    spans: list[Span] = []
    for span in reading.spans:
        kept = tuple(
            (name, value)
            for name, value in span.meanings
            if name.removeprefix("hint:") not in _EXCLUDABLE or phrase(value.replace("_", " ")) not in ruled_out
        )
        lost = [name for name, _ in span.meanings if (name in _EXCLUDABLE) and name not in {field for field, _ in kept}]
        if lost:
            label = INVARIANTS[lost[0]].label
            draft.assume(f'{label}: "{span.quote}" is also among what you ruled out; what is ruled out wins.')
        spans.append(replace(span, meanings=kept))
    return replace(reading, spans=tuple(spans))


def settle_contradictions(draft: Draft, reading: PromptReading, catalogue: Catalogue, words: Vocabulary) -> None:
    """Say of wishes that cannot hold together which one wins; the loser is taken back where that helps the build."""
    _skill_of_a_type_ruled_out(draft, catalogue, words)
    no_skill_of_type_and_style(draft, catalogue)
    names = {*as_list(draft.get("with")), *(name for name, _ in reading.of("missing_thing"))}
    wished = {name: one.value for name, one in draft.values.items() if one.is_wished}
    never = impossible_among(wished, catalogue, words)
    told = {one.field for one in never}
    if _CHAOS_INOCULATION in names:
        _life_with_one_life(draft, reading, told)
    if _BLOOD_MAGIC in names:
        lost = [name for name in _NEEDS_MANA if name in names]
        lost += ["mana stacking"] if "mana_stacking" in as_list(draft.get("style")) else []
        lost += [f"{draft.get('mana'):,.0f} mana"] if draft.is_explicit("mana") and "mana" not in told else []
        if lost:
            draft.assume(
                f"With {_BLOOD_MAGIC} there is no mana, so {listing(lost)} cannot do anything; both were named."
            )
    _unheard(draft, reading)
    for sentence in [*cannot_all_be(draft, catalogue), *(one.sentence for one in never)]:
        draft.assume(sentence)


_WORN_ONCE = frozenset({"Helmet", "Body Armour", "Gloves", "Boots", "Belt", "Amulet"})


def cannot_all_be(draft: Draft, catalogue: Catalogue) -> list[str]:
    """Return why wishes by name cannot all be met, before anything is built; the build says what became of each.

    Looked at are levels, the weapon that the skill needs, the Spirit that is reserved together, and items for one slot.
    """
    level = int(str(draft.get("level") or INVARIANTS["level"].default))
    names = [*as_list(draft.get("skill") if draft.is_explicit("skill") else None), *as_list(draft.get("with"))]
    gems = [gem for name in names for gem in catalogue.gems if phrase(gem.name) == phrase(name)]
    gems = list({phrase(gem.name): gem for gem in reversed(gems)}.values())[::-1]
    worn = [one for name in names for one in catalogue.uniques if phrase(one.name) == phrase(name)]
    needed = [(gem.name, "be used", level_required(gem)) for gem in gems]
    needed += [(one.name, "be worn", one.level) for one in worn]
    found = [
        f"{name} can first {verb} at level {least}, and the character is level {level}: both {NOT_TO_BE_HAD}"
        for name, verb, least in needed
        if least > level
    ]
    skill = catalogue.skill(str(draft.get("skill") or "")) if draft.is_explicit("skill") else None
    held = [word for word in as_list(draft.get("weapon")) if word not in OFF_HANDS and draft.is_explicit("weapon")]
    fitting = weapon_words(skill) if skill is not None else []
    if skill is not None and held and fitting and not any(matches(held, word) for word in fitting):
        found.append(f"{skill.name} needs {' or '.join(fitting)}, not {listing(held)}: both {NOT_TO_BE_HAD}")
    lasting = [gem for gem in gems if gem.spirit > 0 and gem.kind == "active"]
    total, there = sum(gem.spirit for gem in lasting), usual_spirit(level, sceptre="Sceptre" in held)
    if len(lasting) > 1 and total > there:
        which = listing([gem.name for gem in lasting])
        usual = f"about {there:.0f} is usual at level {level}: what gear does not add stays off."
        found.append(f"{which} reserve {total:.0f} Spirit together, and {usual}")
    kinds = {base.name: base.type for base in catalogue.bases}
    for kind in sorted(_WORN_ONCE & {kinds.get(one.base, "") for one in worn}):
        several = list(dict.fromkeys(one.name for one in worn if kinds.get(one.base) == kind))
        if len(several) > 1:
            found.append(f"{listing(several)} go into one slot ({kind.lower()}): one of them can be worn.")
    return found


def _skill_of_a_type_ruled_out(draft: Draft, catalogue: Catalogue, words: Vocabulary) -> None:
    gem = catalogue.skill(str(draft.get("skill") or ""))
    own = set(damage_types_of(gem)) if gem is not None else set()
    excluded = Exclusions.of(as_list(draft.get("exclude")), words).terms
    if gem is None or not own or not draft.is_explicit("skill") or not own <= excluded:
        return
    types = listing(sorted(own))
    draft.assume(
        f"Damage type: {gem.name} deals {types}, which you ruled out. The skill wins, because a name says more than a "
        f"damage type; everything else stays without {types} where it can."
    )


def no_skill_of_type_and_style(draft: Draft, catalogue: Catalogue) -> None:
    """Say of a damage type and a way to play that no skill has both; the build then tries the one and the other."""
    wanted = as_list(draft.get("damage_type"))
    kinds = {*wanted, *(ELEMENTS if "elemental" in wanted else ())}
    mains = [gem for gem in catalogue.active if can_be_main(gem)]
    able = {style: [gem for gem in mains if has_style(gem, style)] for style in as_list(draft.get("style"))}
    asked = draft.is_explicit("damage_type") and draft.is_explicit("style") and not draft.has("skill")
    for style in [style for style, gems in able.items() if asked and style in OF_MAIN_SKILL and gems]:
        if not any(kinds & set(dealt(gem)) for gem in able[style]):
            examples = listing(sorted(gem.name for gem in able[style])[:5])
            draft.assume(
                f"Damage type: no skill deals {' or '.join(wanted)} and is {style.replace('_', ' ')} ({examples} deal "
                f"something else), so the build can have one of the two; both are tried and measured."
            )


def _life_with_one_life(draft: Draft, reading: PromptReading, told: Set[str]) -> None:
    pools = [span for value, span in reading.of("defence") if value in {"life", "hybrid"}]
    lost = [span.quote for span in pools]
    lost += [style.replace("_", " ") for style in as_list(draft.get("style")) if style in _NEEDS_LIFE]
    lost += [f"{draft.get('life'):,.0f} life"] if draft.is_explicit("life") and "life" not in told else []
    if not lost:
        return
    draft.assume(
        f"Defence: {_CHAOS_INOCULATION} leaves 1 life, so {listing(list(dict.fromkeys(lost)))} cannot hold beside it. "
        f"{_CHAOS_INOCULATION} wins, because a name says more than a kind of defence."
    )
    if pools and draft.is_explicit("defence"):
        kept = [pair for pair in reading.of("defence") if pair[0] not in {"life", "hybrid"}]
        del draft.values["defence"]
        if kept:
            draft.quoted("defence", kept)


def _unheard(draft: Draft, reading: PromptReading) -> None:
    """Say of every phrase that was understood and has no place in the constraints what holds instead of it."""
    questions = " ".join([*draft.assumptions, *(question.text for _, question in draft.questions)]).lower()
    for span in reading.spans:
        meant = [(name, value) for name, value in span.meanings if name in INVARIANTS]
        if not meant or any(_held(draft, name, value, span) for name, value in meant):
            continue
        if span.quote in questions or any(value.lower() in questions for _, value in meant):
            continue
        name = meant[0][0]
        instead = listing(as_list(draft.get(name))) or "what else was named"
        draft.assume(f'{INVARIANTS[name].label}: "{span.quote}" gives way to {instead}, which was named first.')


def _held(draft: Draft, name: str, value: str, span: Span) -> bool:
    invariant = draft.values.get(name)
    if invariant is None:
        return False
    written = any(span.written in words for words in invariant.words)
    return written or value in as_list(invariant.value) or (name == "skill" and value in as_list(draft.get("with")))
