"""From a model's reading of the prompt to constraints; what it leaves open, the rules fill in coherently."""

from __future__ import annotations

from app.core.errors import LlmBadOutput
from app.knowledge.catalogue import Catalogue
from app.knowledge.claims import NO_GROUNDS, SAYS, Grounds, founded, said
from app.knowledge.values import Unusable, known_name, value_of
from app.knowledge.words import by_phrase, closest_to, named, phrase
from app.model.base import changed
from app.model.constraints import (
    INVARIANTS,
    Count,
    Invariant,
    InvariantSet,
    InvariantValue,
    Kind,
    Question,
    as_list,
)
from app.model.names import Provenance
from app.model.record import BuildRequest
from app.reasoning.llm.answers import ConstraintAnswer, ExtractAnswer, QuestionAnswer
from app.reasoning.prompt.extract import extract_from

_MOST_ASSUMPTIONS = 8


def constraints(
    answer: ExtractAnswer, request: BuildRequest, catalogue: Catalogue, grounds: Grounds = NO_GROUNDS
) -> InvariantSet:
    """Return the constraints; what the model says to people is labelled, and cut where it has no grounds.

    The request's fields win over the answer. An explicit value needs the user's words as proof; without them it gives
    way to what the rules read in the prompt.

    Raises:
        LlmBadOutput: a name does not exist, or names do not fit together.
    """
    read = extract_from(request, catalogue)
    fields = {"level": request.level, "gear": request.gear, **request.overrides}
    fixed = {name for name, value in fields.items() if value is not None}
    found = [_constraint(one, request, catalogue, grounds) for one in answer.constraints if one.field not in fixed]
    kept = [merged for one in found if (merged := _against(one, read.find(one.field))) is not None]
    stated = {i.field: i.value for i in read.invariants if i.provenance is Provenance.EXPLICIT}
    stated |= {one.field: one.value for one in kept}
    owner, class_name = catalogue.class_of(str(stated.get("ascendancy", ""))), stated.get("class")
    if owner is not None and class_name is not None and owner.name != class_name:
        raise LlmBadOutput(f"the ascendancy belongs to the {owner.name}, not to the {class_name}")
    whole = extract_from(request, catalogue, kept)
    question = whole.question if answer.question is None else question_of(answer.question, grounds)
    told = [text for one in answer.assumptions[:_MOST_ASSUMPTIONS] if (text := said(one, grounds))]
    assumptions = list(dict.fromkeys([*whole.assumptions, *told]))
    return changed(whole, question=question, assumptions=assumptions)


def question_of(asked: QuestionAnswer, grounds: Grounds) -> Question:
    """Return the model's question, which is never dropped: a plain one stands in for words without grounds."""
    text = said(asked.text, grounds) or f"{SAYS}Which {asked.field.replace('_', ' ')} do you want?"
    options = [option for option in asked.options if grounds.bear(option)]
    return Question(field=asked.field, text=text, options=options, assumed=founded(asked.assumed, grounds) or "open")


def _constraint(one: ConstraintAnswer, request: BuildRequest, catalogue: Catalogue, grounds: Grounds) -> Invariant:
    quoted = bool(phrase(one.quote)) and phrase(one.quote) in phrase(request.prompt)
    provenance = Provenance(one.provenance)
    if provenance is Provenance.EXPLICIT and not quoted:
        provenance = Provenance.INFERRED
    reason = f'you wrote "{one.quote.strip()}"' if provenance is Provenance.EXPLICIT else said(one.reason, grounds)
    value = _fitted(one.field, one.value, catalogue)
    if INVARIANTS[one.field].kind is Kind.PHRASE and not quoted and not all(grounds.bear(v) for v in as_list(value)):
        raise LlmBadOutput(f"{one.field}: name what is meant, in a word or two")
    words = [one.quote.strip()] * len(as_list(value)) if provenance is Provenance.EXPLICIT else []
    return Invariant(field=one.field, value=value, provenance=provenance, reason=reason or "it fits best", words=words)


def _against(new: Invariant, old: Invariant | None) -> Invariant | None:
    """Return what is left of a constraint beside what the rules read; None = theirs is better founded."""
    if old is None or old.provenance is not Provenance.EXPLICIT:
        return new
    constraint = INVARIANTS[new.field]
    if constraint.kind is Kind.TARGET:
        return None  # a number that stands in the prompt needs no interpretation
    if constraint.kept:
        words = dict(zip(as_list(new.value), new.words or [""] * len(as_list(new.value)), strict=True))
        words |= dict(zip(as_list(old.value), old.words or [""] * len(as_list(old.value)), strict=True))
        both = list(dict.fromkeys([*as_list(old.value), *words]))
        value = both if constraint.count is Count.LIST or len(both) > 1 else both[0]
        return changed(old, value=value, words=[words[one] for one in both])
    return new if new.provenance is Provenance.EXPLICIT and new.value != old.value else None


def _fitted(field: str, value: InvariantValue, catalogue: Catalogue) -> InvariantValue:
    """Return the value as the rest of the product writes it.

    Raises:
        LlmBadOutput: there is no such value.
    """
    constraint = INVARIANTS[field]
    match constraint.kind:
        case Kind.CLASS:
            return named(str(value), by_phrase(catalogue.classes, (c.name for c in catalogue.classes)), "class").name
        case Kind.ASCENDANCY:
            names = [name for fact in catalogue.classes for name in fact.ascendancies]
            return named(str(value), by_phrase(names, names), "ascendancy")
        case Kind.SKILL:
            return _skill(str(value), catalogue)
        case Kind.NAME:
            return [_thing(name, catalogue) for name in as_list(value)]
    if isinstance(value, list) and value and constraint.count is Count.ONE:
        value = value[0]
    try:
        fitted = value_of(constraint, value)
    except Unusable as exc:
        raise LlmBadOutput(f"{field}: {exc}") from exc
    if constraint.kind is Kind.PHRASE:
        return [word for text in as_list(fitted) if (word := phrase(text))]
    return fitted


def _skill(name: str, catalogue: Catalogue) -> str:
    gem = catalogue.skill(name)
    if gem is None:
        known = by_phrase(catalogue.active, (gem.name for gem in catalogue.active))
        raise LlmBadOutput(f"there is no skill called {name[:60]!r}{closest_to(name, known)}")
    return gem.name


def _thing(name: str, catalogue: Catalogue) -> str:
    known = known_name(name, catalogue)
    if known is None:
        raise LlmBadOutput(f"there is nothing called {name[:60]!r}{closest_to(name, catalogue.things)}")
    return known
