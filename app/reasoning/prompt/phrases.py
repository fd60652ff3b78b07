"""Reading a prompt: which phrases stand where, which are meant as exclusions, which words are not understood."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from app.knowledge.words import Word, clean, words_of
from app.reasoning.prompt.lexicon import Lexicon, Meaning, guesses

_LEVEL = re.compile(r"\b(?:level|lvl|lv)\s*[:=]?\s*(-?\d{1,9})\b|\b(\d{1,9})\s*(?:st|nd|rd|th)?[\s-]*(?:level|lvl)\b")
_ARTICLES = frozenset({"any", "the", "a", "an", "using", "of", "use", "more", "to"})


@dataclass(frozen=True)
class Span:
    """Words `start` to `end` (exclusive) read as one phrase; `quote` is what stood there."""

    start: int
    end: int
    quote: str
    phrase: str
    meanings: tuple[Meaning, ...]
    likeness: float = 100.0

    @property
    def size(self) -> int:
        """Number of words."""
        return self.end - self.start


@dataclass(frozen=True)
class PromptReading:
    """What was found in a prompt, in the order it was written."""

    spans: tuple[Span, ...] = ()
    exclusions: tuple[Span, ...] = ()
    level: tuple[int, str] | None = None
    unknown: tuple[str, ...] = ()
    words: tuple[Word, ...] = ()

    def of(self, field_name: str) -> list[tuple[str, Span]]:
        """Return the values found for a field, each with where it was found."""
        return [(value, span) for span in self.spans for name, value in span.meanings if name == field_name]


@dataclass
class _Page:
    """A prompt while it is read: its words and which of them are used up."""

    text: str
    words: list[Word]
    lexicon: Lexicon
    used: set[int] = field(default_factory=set)

    def quote(self, start: int, end: int) -> str:
        return self.text[self.words[start].start : self.words[end - 1].end]

    def join(self, start: int, end: int) -> str:
        return " ".join(word.text for word in self.words[start:end])

    def free(self, start: int, end: int) -> bool:
        return end <= len(self.words) and not any(i in self.used for i in range(start, end))

    def take(self, spans: Iterable[Span]) -> None:
        for span in spans:
            self.used.update(range(span.start, span.end))


def read(prompt: str, lexicon: Lexicon) -> PromptReading:
    """Read a prompt; never fails, whatever it is."""
    text = clean(prompt)
    page = _Page(text, words_of(text), lexicon)
    level = None
    if match := _LEVEL.search(text):
        page.used.update(i for i, w in enumerate(page.words) if w.start < match.end() and w.end > match.start())
        level = (int(match.group(1) or match.group(2)), match.group().strip())
    exclusions = _exclusions(page)
    spans = _phrases(page)
    free = [word.text for i, word in enumerate(page.words) if i not in page.used]
    unknown = [word for word in free if len(word) >= 3 and not word.isdigit() and word not in lexicon.known_words]
    return PromptReading(tuple(spans), tuple(exclusions), level, tuple(dict.fromkeys(unknown)), tuple(page.words))


def _longest(page: _Page, start: int, phrases: Iterable[str] | dict[str, object]) -> int:
    """Return the end of the longest of the phrases that begins at the word, or `start` when none does."""
    known = phrases if isinstance(phrases, (dict, frozenset, set)) else set(phrases)
    for end in range(min(len(page.words), start + page.lexicon.longest), start, -1):
        if page.free(start, end) and page.join(start, end) in known:
            return end
    return start


def _exclusions(page: _Page) -> list[Span]:
    found: list[Span] = []
    i = 0
    while i < len(page.words):
        whole = _longest(page, i, page.lexicon.terms)
        end = _longest(page, i, page.lexicon.vocabulary.negations)
        if end == i or whole > end:
            i = max(whole, i + 1)
            continue
        spans = _excluded(page, i, end)
        page.take(spans)
        found += spans
        i = spans[-1].end if spans else end
    return found


def _excluded(page: _Page, negation: int, start: int) -> list[Span]:
    """Return what is excluded after a negation that ends before `start`: one thing, or several joined by "or"."""
    spans: list[Span] = []
    while True:
        while start < len(page.words) and page.words[start].text in _ARTICLES:
            start += 1
        end = _end_of_excluded(page, start, bool(spans))
        if end == start:
            return spans
        spans.append(Span(negation, end, page.quote(negation, end), page.join(start, end), ()))
        if end >= len(page.words) or page.words[end].text not in {"or", "nor"}:
            return spans
        negation, start = end, end + 1


def _end_of_excluded(page: _Page, start: int, only_known: bool) -> int:
    known = {text for texts in page.lexicon.vocabulary.exclusions.values() for text in texts}
    end = max(_longest(page, start, known), _longest(page, start, page.lexicon.terms))
    if end > start or only_known or start >= len(page.words):
        return end
    words = page.lexicon.vocabulary
    single = page.words[start].text
    ignored = single in words.not_exclusions or single in words.plain_words or single.isdigit()
    return start if ignored or not page.free(start, start + 1) else start + 1


def _phrases(page: _Page) -> list[Span]:
    """Choose among all readings: longer before shorter, exact before likely, earlier before later."""
    exact = []
    for start in range(len(page.words)):
        for end in range(start + 1, min(len(page.words), start + page.lexicon.longest) + 1):
            text = page.join(start, end)
            if text in page.lexicon.terms and page.free(start, end):
                span = Span(start, end, page.quote(start, end), text, page.lexicon.terms[text])
                exact += [span] if _is_meant(page, span) else []
    likely = [
        Span(start, end, page.quote(start, end), text, page.lexicon.guessable[text], likeness)
        for start, end, text, likeness in guesses([w.text for w in page.words], frozenset(page.used), page.lexicon)
    ]
    chosen: list[Span] = []
    for span in sorted([*exact, *likely], key=lambda s: (-s.size, -s.likeness, s.start)):
        if page.free(span.start, span.end):
            page.take([span])
            chosen.append(span)
    return sorted(chosen, key=lambda span: span.start)


def _is_meant(page: _Page, span: Span) -> bool:
    """Say whether a skill name that is also an ordinary word is meant as a skill here."""
    words = page.lexicon.vocabulary
    if span.phrase not in words.ordinary_skills or any(name != "skill" for name, _ in span.meanings):
        return True
    before = page.words[span.start - 1].text if span.start else ""
    after = page.words[span.end].text if span.end < len(page.words) else ""
    people = {text for texts in (*words.classes.values(), *words.ascendancies.values()) for text in texts}
    return bool({before, after} & (words.skill_markers | people)) or span.size == len(page.words)
