"""A prompt while it is read: its words, which of them are used up, and the phrases found in it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from app.knowledge.words import Word, clean, origins, words_of
from app.reasoning.prompt.lexicon import Lexicon, Meaning

_GAP = 3
"""How far apart in words what is not understood may stand to be told as one phrase."""
_BREAK = re.compile(r"[,;.!?\n|()]")


@dataclass(frozen=True)
class Span:
    """Words `start` to `end` (exclusive) read as one phrase.

    `quote` is what stood there in lower case, `written` the same as the user wrote it.
    """

    start: int
    end: int
    quote: str
    phrase: str
    meanings: tuple[Meaning, ...] = ()
    likeness: float = 100.0
    written: str = ""

    @property
    def size(self) -> int:
        """Number of words."""
        return self.end - self.start


def together(spans: Sequence[Span]) -> Span:
    """Return what stands in several places as one: it means all of them."""
    quotes = '" and "'.join(dict.fromkeys(span.quote for span in spans))
    written = " and ".join(dict.fromkeys(span.written for span in spans))
    return Span(spans[0].start, spans[-1].end, quotes, spans[0].phrase, spans[0].meanings, written=written)


@dataclass
class Page:
    """A prompt's words in order; `used` ones belong to a wish, `strange` ones say something that nobody understands."""

    text: str
    original: str
    places: list[int]
    words: list[Word]
    lexicon: Lexicon
    used: set[int] = field(default_factory=set)
    strange: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, prompt: str, lexicon: Lexicon) -> Page:
        """Open a prompt of which nothing is read yet."""
        text = clean(prompt)
        return cls(text, prompt, origins(prompt), words_of(text), lexicon)

    def quote(self, start: int, end: int) -> str:
        """Return the words as they stand in the cleaned text."""
        return self.text[self.words[start].start : self.words[end - 1].end]

    def written(self, start: int, end: int) -> str:
        """Return the words as the user wrote them."""
        last = self.words[end - 1].end
        return self.original[self.places[self.words[start].start] : self.places[last - 1] + 1]

    def join(self, start: int, end: int) -> str:
        """Return the words as a phrase is compared."""
        return " ".join(word.text for word in self.words[start:end])

    def span(
        self, start: int, end: int, meaning: str = "", meanings: tuple[Meaning, ...] = (), likeness: float = 100.0
    ) -> Span:
        """Return the words as a phrase that means `meaning`, their own text when that is empty."""
        text = meaning or self.join(start, end)
        return Span(start, end, self.quote(start, end), text, meanings, likeness, self.written(start, end))

    def free(self, start: int, end: int) -> bool:
        """Say whether all of the words exist and none is used."""
        return end <= len(self.words) and not any(i in self.used for i in range(start, end))

    def take(self, start: int, end: int) -> None:
        """Use the words."""
        self.used.update(range(start, end))

    def between(self, left: int, right: int) -> str:
        """Return what stands between the end of one word and the beginning of another, ends of the text included."""
        begin = self.words[left].end if left >= 0 else 0
        return self.text[begin : self.words[right].start if right < len(self.words) else len(self.text)]

    def breaks(self, left: int, right: int) -> bool:
        """Say whether a comma, an end of a sentence or an end of the text parts two neighbouring words."""
        return left < 0 or right >= len(self.words) or bool(_BREAK.search(self.between(left, right)))

    def covering(self, begin: int, end: int) -> tuple[int, int]:
        """Return the words that a part of the cleaned text touches."""
        first = bisect_right(self.words, begin, key=lambda word: word.end)
        last = bisect_left(self.words, end, key=lambda word: word.start)
        return (first, last) if first < last else (0, 0)

    def longest(self, start: int, phrases: Collection[str]) -> int:
        """Return the end of the longest of the phrases that begins at the word, or `start` when none does.

        It goes over no comma: "no es, life and armour" is not "es life".
        """
        for end in range(min(len(self.words), start + self.lexicon.longest), start, -1):
            known = self.free(start, end) and self.join(start, end) in phrases
            if known and not any(self.breaks(i, i + 1) for i in range(start, end - 1)):
                return end
        return start

    def not_understood(self) -> list[str]:
        """Return what belongs to no wish as the user wrote it, neighbours as one phrase."""
        vocabulary = self.lexicon.vocabulary
        idle = (vocabulary.plain_words | vocabulary.filler_words) - vocabulary.telling_words
        for start in range(len(self.words)):
            self.take(start, self.longest(start, vocabulary.filler_words - vocabulary.telling_words))
        runs: list[list[int]] = []
        for i, word in enumerate(self.words):
            small = len(word.text) == 1 and word.text.isascii()  # a mere figure or letter says nothing by itself
            if i not in self.strange and (i in self.used or word.text in idle or small):
                continue
            near = (
                runs
                and i - runs[-1][1] <= _GAP
                and not any(
                    self.breaks(j, j + 1) or (j + 1 in self.used and j + 1 not in self.strange and j + 1 < i)
                    for j in range(runs[-1][1], i)
                )
            )
            if near:
                runs[-1][1] = i
            else:
                runs.append([i, i])
        return list(dict.fromkeys(self.written(first, last + 1) for first, last in runs))
