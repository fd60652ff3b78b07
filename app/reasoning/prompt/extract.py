"""From a request to constraints: read the prompt once, then settle field by field."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence, Set

from app.engine.base import Engine
from app.knowledge.catalogue import Catalogue
from app.knowledge.values import Unusable, closest, known_to, value_of
from app.knowledge.vocabulary import Vocabulary, preferences, vocabulary
from app.knowledge.words import phrase
from app.model.constraints import INVARIANTS, Invariant, InvariantSet, as_list
from app.model.record import BuildRequest
from app.reasoning.prompt.contradictions import settle_contradictions, without_excluded
from app.reasoning.prompt.draft import Draft, Weight, settle_demands
from app.reasoning.prompt.identity import Identity, open_classes
from app.reasoning.prompt.lexicon import Lexicon
from app.reasoning.prompt.phrases import PromptReading, read

_WHO = frozenset({"class", "ascendancy", "skill"})


def settle_request(draft: Draft, request: BuildRequest, catalogue: Catalogue) -> None:
    """Set what the request's fields set; one that fits nothing is left out with an assumption that says so."""
    if request.level is not None:
        draft.fix("level", request.level)
    if request.gear is not None:
        draft.fix("gear", request.gear.value)
    for name, value in sorted(request.overrides.items()):
        constraint = INVARIANTS.get(name)
        try:
            fitted = known_to(constraint, value_of(constraint, value), catalogue) if constraint else None
        except Unusable:
            fitted = None
        if fitted is None:
            draft.assume(f'The request sets {name} to "{value}", which I cannot use, so I left it aside.')
        else:
            draft.fix(name, fitted)
    named = as_list(draft.get("ascendancy"))
    owner = catalogue.class_of_first(named)
    if owner is not None and draft.get("class") not in (None, owner.name):
        text = f"{named[0]} is an ascendancy of the {owner.name}, not of the {draft.get('class')}"
        draft.assume(f"{text}, so I left it aside.")
        draft.drop("ascendancy")


_CLOSE_ENOUGH = 70.0
"""Likeness in percent from which a name may have been meant; words that share nothing with one reach 68."""


async def extract(request: BuildRequest, engine: Engine) -> InvariantSet:
    """Return the constraints of a request with at most one question.

    Class, damage type, goal, level, gear and hardcore are always set.
    """
    catalogue = await Catalogue.of(engine, everything=True)
    return await asyncio.to_thread(extract_from, request, catalogue)


def extract_from(
    request: BuildRequest,
    catalogue: Catalogue,
    known: Sequence[Invariant] = (),
    misread: Collection[tuple[str, str]] = (),
) -> InvariantSet:
    """Return the constraints of a request, given the engine's facts.

    `known` is what somebody else understood already; only what the request sets itself comes before it. `misread` are
    fields with values that these words were not meant to say.
    """
    lexicon = Lexicon.of(vocabulary(), catalogue, preferences().skills())
    draft = Draft()
    reading = read(request.prompt, lexicon).without(misread)
    reading = without_excluded(draft, reading, lexicon.vocabulary)
    settle_request(draft, request, catalogue)
    for one in known:
        draft.put(one.field, one.value, one.provenance, one.reason, one.words)
    settle_demands(draft, reading)
    _unknown_name(draft, reading, catalogue, lexicon.vocabulary)
    Identity(draft, reading, catalogue, lexicon.vocabulary, preferences()).settle()
    settle_contradictions(draft, reading, catalogue, lexicon.vocabulary)
    quoted = {word for one in known for text in one.words for word in phrase(text).split()}
    draft.not_understood = [text for text in reading.not_understood if not set(phrase(text).split()) <= quoted]
    for name in ("class", "ascendancy", "skill", "damage_type"):
        value = draft.values.get(name)
        if value is not None and not draft.is_explicit(name):
            draft.assume(value.assumption)
    return draft.finish()


def _unknown_name(draft: Draft, reading: PromptReading, catalogue: Catalogue, words: Vocabulary) -> None:
    """Ask about a name that we do not know when it seems to be what the prompt is about."""
    named = {field for span in reading.spans for field, _ in span.meanings} | set(draft.values)
    anything = named & {*_WHO, "foreign", "hint:class"}
    unwanted = reading.ruled_out(words).people
    subject = _subject(reading)
    if subject is None:
        if not anything and not named & {"damage_type", "style", "weapon"}:
            _ask_for_anything(draft, catalogue, unwanted)
        return
    names = [*(c.name for c in catalogue.classes), *(a for c in catalogue.classes for a in c.ascendancies)]
    skills = sorted({gem.name for gem in catalogue.active if gem.colour})
    best = closest(subject, [*names, *skills])
    if best is None or best[1] < _CLOSE_ENOUGH or len(subject) < 4:
        draft.assume(f'I do not know "{subject}", so I left it aside.')
        if not anything:
            _ask_for_anything(draft, catalogue, unwanted)
        return
    assumed = best[0] if not anything else "what else you wrote"
    field = "skill" if best[0] in skills else "ascendancy" if catalogue.class_of(best[0]) else "class"
    if field in draft.fixed:
        draft.assume(f'I do not know "{subject}", so I left it aside.')
        return
    if not anything:
        draft.infer(field, best[0], f'I do not know "{subject}"; this comes closest')
        if (fact := catalogue.class_of(best[0])) is not None:
            draft.infer("class", fact.name, f"{best[0]} is one of its ascendancies")
    text = f'I do not know "{subject}". Did you mean {best[0]}?'
    draft.ask(Weight.UNKNOWN_NAME, field, text, list(dict.fromkeys([best[0], assumed])), assumed)


def _subject(reading: PromptReading) -> str | None:
    """Return the unknown word that stands where a name is expected: before "build", after "using", or all alone."""
    texts = [word.text for word in reading.words]
    for unknown in reading.unknown:
        i = texts.index(unknown)
        after = texts[i + 1] if i + 1 < len(texts) else ""
        before = texts[i - 1] if i else ""
        if after in {"build", "builds", "skill"} or before in {"using", "play"} or len(texts) == 1:
            return unknown
    return None


def _ask_for_anything(draft: Draft, catalogue: Catalogue, unwanted: Set[str]) -> None:
    options, known = open_classes(catalogue, unwanted, preferences().default_class)
    text = "I found no class, skill or damage type in that. What do you want to play?"
    draft.ask(Weight.NOTHING_UNDERSTOOD, "class", text, options, known)
