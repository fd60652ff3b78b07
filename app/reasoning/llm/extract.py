"""From a model's reading of the prompt to constraints; what it leaves open, the rules fill in coherently."""

from __future__ import annotations

from dataclasses import dataclass

from app.core.errors import LlmBadOutput
from app.knowledge.catalogue import Catalogue
from app.knowledge.claims import NO_GROUNDS, SAYS, Grounds, founded, said
from app.knowledge.values import Unusable, known_name, value_of
from app.knowledge.words import by_phrase, closest_to, comparable, named, phrase
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
    way to what the rules read in the prompt. A reading of the rules gives way to a quote that shows it to be wrong.

    Raises:
        LlmBadOutput: a name does not exist, or names do not fit together.
    """
    read = extract_from(request, catalogue)
    wrong = misread(answer, read, request.prompt)
    gone = {(one.field, comparable(one.value)) for one in wrong}
    read = extract_from(request, catalogue, misread=gone) if wrong else read
    fields = {"level": request.level, "gear": request.gear, **request.overrides}
    fixed = {name for name, value in fields.items() if value is not None}
    found = [_constraint(one, request, catalogue, grounds) for one in answer.constraints if one.field not in fixed]
    kept = [merged for one in found if (merged := _against(one, read.find(one.field))) is not None]
    stated = {i.field: i.value for i in read.invariants if i.provenance is Provenance.EXPLICIT}
    stated |= {one.field: one.value for one in kept}
    owner, class_name = catalogue.class_of_first(as_list(stated.get("ascendancy"))), stated.get("class")
    if owner is not None and class_name is not None and owner.name != class_name:
        raise LlmBadOutput(f"the ascendancy belongs to the {owner.name}, not to the {class_name}")
    whole = extract_from(request, catalogue, kept, gone)
    question = whole.question if answer.question is None else question_of(answer.question, grounds)
    told = [text for one in answer.assumptions[:_MOST_ASSUMPTIONS] if (text := said(one, grounds))]
    assumptions = list(dict.fromkeys([*(one.sentence for one in wrong), *whole.assumptions, *told]))
    return changed(whole, question=question, assumptions=assumptions)


def reading_of(read: InvariantSet) -> list[dict[str, object]]:
    """Return what the rules read in the user's words, as a model is shown it."""
    said = [one for one in read.invariants if one.provenance is Provenance.EXPLICIT and one.words]
    return [{"field": one.field, "value": one.value, "words": one.words} for one in said]


@dataclass(frozen=True)
class Misread:
    """A wish that the rules read in `words`, which `quote` shows not to be meant."""

    field: str
    value: str
    words: str
    quote: str

    @property
    def sentence(self) -> str:
        """Return what people are told about it."""
        wish = f"{self.field.replace('_', ' ')} {self.value.replace('_', ' ')}"
        return f'The language model reads no wish for {wish} in "{self.quote}"; the word "{self.words}" alone means it.'


def misread(answer: ExtractAnswer, read: InvariantSet, prompt: str) -> list[Misread]:
    """Return what the rules read and the model read otherwise.

    A correction quotes the words with others around them; the same words must be taken up by something else that the
    model reads there, or by its question about the field, so that no wish is just dropped. What is ruled out in a quote
    is no wish of the same words.
    """
    quoted = [one for one in answer.constraints if one.provenance == "explicit" and holds(prompt, one.quote)]
    found: list[Misread] = []
    for known in (one for one in read.invariants if one.provenance is Provenance.EXPLICIT):
        for value, words in zip(as_list(known.value), known.words, strict=False):
            own = (known.field, comparable(value))
            said = [one.quote for one in answer.misread if (one.field, comparable(one.value)) == own]
            others = [
                one.quote for one in quoted if own not in {(one.field, comparable(v)) for v in as_list(one.value)}
            ]
            asked = answer.question is not None and answer.question.field == known.field
            if not asked and not any(holds(quote, words) for quote in others):
                said = []
            if known.field != "exclude":
                ruled_out = [(one.quote, as_list(one.value)) for one in quoted if one.field == "exclude"]
                said += [quote for quote, names in ruled_out if any(_is_meant(name, value, words) for name in names)]
            proofs = (q for q in said if holds(prompt, q) and holds(q, words) and phrase(q) != phrase(words))
            found += [Misread(known.field, value, words, quote.strip()) for quote in list(proofs)[:1]]
    return found


def holds(text: str, words: str) -> bool:
    """Say whether the text has the words, as whole words next to each other."""
    return bool(phrase(words)) and f" {phrase(words)} " in f" {phrase(text)} "


def _is_meant(name: str, value: str, words: str) -> bool:
    """Say whether something ruled out is what the words were read as; "totem" is one of "totems"."""
    known = comparable(name)
    return bool(known) and any(known in text or text in known for text in (comparable(value), phrase(words)))


def question_of(asked: QuestionAnswer, grounds: Grounds) -> Question:
    """Return the model's question, which is never dropped: a plain one stands in for words without grounds."""
    text = said(asked.text, grounds) or f"{SAYS}Which {asked.field.replace('_', ' ')} do you want?"
    options = [option for option in asked.options if grounds.bear(option)]
    return Question(field=asked.field, text=text, options=options, assumed=founded(asked.assumed, grounds) or "open")


def _constraint(one: ConstraintAnswer, request: BuildRequest, catalogue: Catalogue, grounds: Grounds) -> Invariant:
    quoted = holds(request.prompt, one.quote)
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
    if constraint.count is Count.EITHER and set(as_list(new.value)) < set(as_list(old.value)):
        return None  # of several skills that were named none is lost
    if constraint.kept:
        words = dict(zip(as_list(new.value), new.words or [""] * len(as_list(new.value)), strict=True))
        words |= dict(zip(as_list(old.value), old.words or [""] * len(as_list(old.value)), strict=True))
        both = list(dict.fromkeys([*as_list(old.value), *words]))
        return changed(old, value=constraint.holding(both), words=[words[one] for one in both])
    return new if new.provenance is Provenance.EXPLICIT and new.value != old.value else None


def _fitted(field: str, value: InvariantValue, catalogue: Catalogue) -> InvariantValue:
    """Return the value as the rest of the product writes it.

    Raises:
        LlmBadOutput: there is no such value.
    """
    constraint = INVARIANTS[field]
    if constraint.count is Count.EITHER and not as_list(value):
        raise LlmBadOutput(f"{field}: name one, or leave it out")
    match constraint.kind:
        case Kind.CLASS:
            return named(str(value), by_phrase(catalogue.classes, (c.name for c in catalogue.classes)), "class").name
        case Kind.ASCENDANCY:
            names = [name for fact in catalogue.classes for name in fact.ascendancies]
            known = by_phrase(names, names)
            return constraint.holding(named(name, known, "ascendancy") for name in as_list(value))
        case Kind.SKILL:
            return constraint.holding(_skill(name, catalogue) for name in as_list(value))
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
