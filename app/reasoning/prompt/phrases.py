"""Reading a prompt: which phrases stand where, which are meant as exclusions, which words are not understood."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from rapidfuzz import fuzz, process

from app.knowledge.exclusions import Exclusions
from app.knowledge.vocabulary import Vocabulary
from app.knowledge.words import Word, comparable, phrase
from app.reasoning.prompt.lexicon import LESS, Lexicon, guesses
from app.reasoning.prompt.page import Page, Span
from app.reasoning.prompt.targets import Target, read_targets

_LEVEL = re.compile(
    r"\b(?:level|lvl|lv|niveau|nivel|livello|stufe|poziom)\s*+(?:[:=]\s*+)?(-?\d{1,9})\b(?!\s*(?:-|to)\s*\d)"
    r"(?!\s+(?:(?:skill |support |spell )?gems?|zones?|items?|bases?|monsters?)\b)"
    r"|\b(\d{1,9})\s*+(?:st|nd|rd|th)?[\s-]*+(?:level|lvl)\b"
)
_BUDGET = re.compile(
    r"(?P<amount>\d{1,6}(?:[.,]\d+)?) ?(?P<coin>div(?:ine)?s?(?: orbs?)?|ex(?:alt(?:ed)?)?s?(?: orbs?)?)\b"
)
_COUNTED = re.compile(r"\b(?:\d{1,2}|one|two|three|four|five) (?:buttons?|skills?|keys?)\b")
"""So many there may be: nothing keeps to a number."""
_OTHERS = re.compile(
    r"\b(?:(?:my|our) (?:friend|buddy|mate|pal|bro|brother|sister|wife|husband|girlfriend|boyfriend|gf|bf|partner|party"
    r"|group|team|duo)s? (?:already |always |also |just )?(?:is|are|has|have|plays?|playing|mains?|runs?|running)"
    r"|(?:he|she|they|everyone|everybody|people)(?: else)? (?:plays?|mains?|runs?|is playing|are playing))\b"
    r"[^,;.!?]{0,40}?(?=$|[,;.!?]| (?:so|but|while|(?:and )?(?:i|we))\b)"
)
"""What somebody else plays is no wish for this character."""
_TAKEN_AS = re.compile(r"\b(?:\d{1,3} ?% )?(?:of )?\w+ (?:damage |dmg )?taken as \w+(?: damage| dmg)?\b")
"""Which damage is taken as another one: nothing asks for it, and neither is what the build is to deal."""
_LACKING = "less"
_NAMES = frozenset({"with", "skill", "missing", "missing_thing"})
_SOLE, _ONE_ANYWAY = "only", frozenset({"weapon", "class", "ascendancy"})
"""A build has one of these whatever is asked: "only bows" asks for no more than a bow."""
_ARTICLES = frozenset(
    {"any", "the", "a", "an", "using", "of", "use", "uses", "more", "to", "play", "playing", "wear", "wearing", "have",
     "having", "run", "running", "be", "with", "those", "these", "stupid", "annoying", "my", "all", "want", "need",
     "another"}
)  # fmt: skip
_NO_MATTER = frozenset({"dont care about", "do not care about", "dont care for", "do not care for"})
_JOINED, _EXCEPT = frozenset({"or", "nor"}), frozenset({"except", "apart from", "aside from", "other than"})
_TROUBLE = frozenset({"issue", "issues", "problem", "problems", "trouble", "troubles", "worries", "concerns"})
_LIKE_EXCLUDED = 85.0
_PREFERRED, _BEFORE = frozenset({"prefer", "rather", "sooner", "preferably"}), frozenset({"over", "than"})
_NEAR = 6
"""How many words before "over" or "than" may say that what follows is liked less ("I prefer bows over crossbows")."""
_LONGEST_LIST = 20
"""How many things between commas are looked over for the "or" that says that all of them are excluded."""

_CHEAP = (("gear", "starter"), ("budget", "low"))
"""What somebody asks for who wants nothing dear."""
_NO_THINGS = frozenset({"gear", "budget", "goal", "hardcore"})
"""Who does without them leaves nothing out: "doesn't need perfect gear" is no wish, "no bossing" one for maps."""
_BOSSING, _MAPPING = ("goal", "bossing"), ("goal", "mapping")
_HARDCORE, _SOFTCORE = ("hardcore", "true_words"), ("hardcore", "false_words")
_INSTEAD = {("budget", "high"): _CHEAP, _BOSSING: (_MAPPING,), _MAPPING: (_BOSSING,), _HARDCORE: (_SOFTCORE,)}
"""What is asked for by who does without."""
_MANY_DIVINES, _FEW_DIVINES = 50.0, 5.0
_ABOUT = frozenset(
    {"about", "around", "roughly", "of", "is", "under", "below", "up", "to", "at", "most", "max", "maximum", "maybe",
     "perhaps", "probably", "like", "approx", "approximately", "circa", "only", "just"}
)  # fmt: skip
"""Words between "budget" and its amount."""


@dataclass(frozen=True)
class PromptReading:
    """What was found in a prompt, in the order it was written.

    `exclusions`: what must not be there, by comparable name. `unknown`: words that mean nothing to us.
    `not_understood`: what belongs to nothing that was found, as the user wrote it.
    """

    spans: tuple[Span, ...] = ()
    exclusions: tuple[Span, ...] = ()
    targets: tuple[Target, ...] = ()
    level: tuple[int, Span] | None = None
    unknown: tuple[str, ...] = ()
    words: tuple[Word, ...] = ()
    not_understood: tuple[str, ...] = ()

    def of(self, field_name: str) -> list[tuple[str, Span]]:
        """Return the values found for a field, each with where it was found."""
        return [(value, span) for span in self.spans for name, value in span.meanings if name == field_name]

    def ruled_out(self, words: Vocabulary) -> Exclusions:
        """Return what is not to be there."""
        return Exclusions.of([span.phrase for span in self.exclusions], words)

    def without(self, misread: Collection[tuple[str, str]]) -> PromptReading:
        """Return the reading without these values, by field and comparable value."""

        def meant(field: str, value: object) -> bool:
            return (field, comparable(value)) not in misread

        return replace(
            self,
            spans=tuple(replace(one, meanings=tuple(m for m in one.meanings if meant(*m))) for one in self.spans),
            exclusions=tuple(one for one in self.exclusions if meant("exclude", one.phrase)),
            targets=tuple(one for one in self.targets if meant(one.name, one.value)),
        )


def read(prompt: str, lexicon: Lexicon) -> PromptReading:
    """Read a prompt; never fails, whatever it is."""
    page = Page.of(prompt, lexicon)
    level = None
    if match := _LEVEL.search(page.text):
        start, end = page.covering(*match.span())
        level = (int(match.group(1) or match.group(2)), page.span(start, end))
        page.take(start, end)
    for start, end in _free_places(page, _OTHERS, _TAKEN_AS):
        page.take(start, end)
        page.strange.update(range(start, end))
    budget = _budget(page)
    targets = read_targets(page)
    exclusions = _exclusions(page)
    meant = [(one, own) for one in exclusions for own in page.lexicon.terms.get(one.phrase, ())]
    instead = [replace(one, meanings=_INSTEAD[own]) for one, own in meant if own in _INSTEAD]
    exclusions = [one for one in exclusions if not _fields(page, one) & _NO_THINGS]
    spans = [*budget, *instead, *_phrases(page)]
    for start, end in _free_places(page, _COUNTED):
        page.strange.update(range(start, end))
    free = [word.text for i, word in enumerate(page.words) if i not in page.used]
    unknown = [word for word in free if len(word) >= 3 and not word.isdigit() and word not in lexicon.known_words]
    for span in spans:
        if {field for field, _ in span.meanings} & {"foreign", "missing", "missing_thing"}:
            page.strange.update(range(span.start, span.end))
        if {field for field, _ in span.meanings} <= _ONE_ANYWAY:
            near = (at for at in _beside(page, span) if not page.breaks(min(at, span.start), max(at, span.start)))
            page.used.update(at for at in near if page.words[at].text == _SOLE)
        if all(field == "neutral" for field, _ in span.meanings):
            page.used.difference_update(range(span.start, span.end))
            if span.phrase.startswith(LESS):
                page.strange.update(range(span.start, span.end))
    return PromptReading(
        tuple(sorted(spans, key=lambda span: span.start)),
        tuple(exclusions),
        tuple(targets),
        level,
        tuple(dict.fromkeys(unknown)),
        tuple(page.words),
        tuple(page.not_understood()),
    )


def _free_places(page: Page, *patterns: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Yield where words match one of the patterns that belong to no wish when their turn comes."""
    for pattern in patterns:
        for match in pattern.finditer(page.text):
            start, end = page.covering(*match.span())
            if page.free(start, end):
                yield start, end


def _budget(page: Page) -> list[Span]:
    """Read amounts of currency; what an amount is worth to a player is a rough judgement."""
    found: list[Span] = []
    for match in _BUDGET.finditer(page.text):
        start, end = page.covering(*match.span())
        amount = float(match["amount"].replace(",", "."))
        divines = match["coin"].startswith("div")
        word = "low" if not divines or amount < _FEW_DIVINES else "medium" if amount < _MANY_DIVINES else "high"
        before = start
        while before and page.words[before - 1].text in _ABOUT:
            before -= 1
        if before and page.words[before - 1].text == "budget" and not page.breaks(before - 1, before):
            start = before - 1
        if end < len(page.words) and page.words[end].text == "budget":
            end += 1
        if page.free(start, end):
            quote = page.span(*page.covering(*match.span()), meanings=(("budget", word),))
            page.take(start, end)
            found.append(quote)
    return found


def _exclusions(page: Page) -> list[Span]:
    found: list[Span] = []
    i = 0
    while i < len(page.words):
        whole = page.longest(i, page.lexicon.terms)
        liked_less = _is_liked_less(page, i)
        end = i + 1 if liked_less else page.longest(i, page.lexicon.vocabulary.negations)
        excepted = bool(found) and found[-1].end == i and page.join(i, end) in _EXCEPT  # "no minions except spectres"
        if excepted and page.longest(end, page.lexicon.terms) > end:
            page.take(i, end)
        if end == i or whole > end or excepted:
            found += _lacking(page, i)
            i = max(whole, i + 1)
            continue
        spans = _excluded(page, i, end)
        if liked_less or page.join(i, end) in _NO_MATTER:  # then it is no wish, and need not stay out
            found += [one for one in spans if _fields(page, one) & _NO_THINGS]
        else:
            found += spans
        i = max(end, spans[-1].end if spans else end)
    return found


def _fields(page: Page, excluded: Span) -> set[str]:
    return {field for field, _ in page.lexicon.terms.get(excluded.phrase, ())}


def _is_liked_less(page: Page, at: int) -> bool:
    """Say whether the word says that what follows is liked less than what was named before it."""
    if page.words[at].text not in _BEFORE:
        return False
    before = next((i for i in range(at - 2, max(-1, at - _NEAR), -1) if page.words[i].text in _PREFERRED), None)
    return before is not None and not any(page.breaks(i, i + 1) for i in range(before, at))


def _lacking(page: Page, at: int) -> list[Span]:
    """Return what the word, or two of them with a hyphen, say is not to be there ("critless", "minion-less")."""
    word = page.words[at].text
    is_split = at + 1 < len(page.words) and page.words[at + 1].text == _LACKING and page.between(at, at + 1) == "-"
    name, end = (word, at + 2) if is_split else (word.removesuffix(_LACKING), at + 1)
    held = any(field == "weapon" for field, _ in page.lexicon.terms.get(name, ()))
    if not page.free(at, end) or not (held or name in page.lexicon.excludable) or (name == word and not is_split):
        return []
    page.take(at, end)
    return [page.span(at, end, name)]


def _excluded(page: Page, negation: int, start: int) -> list[Span]:
    """Return what is excluded after a negation that ends before `start`: one thing, or several joined by "or"."""
    spans: list[Span] = []
    rejects = page.join(negation, start) not in {"no", "non", "not", "isnt", "arent"}
    while True:
        while start < len(page.words) and page.words[start].text in _ARTICLES:
            start += 1
        end, meant = _end_of_excluded(page, start, bool(spans))
        if end == start:
            return spans
        trouble = _end_of_trouble(page, end)
        end, meant = (trouble, "") if trouble > end else (end, meant)
        page.take(negation, end)
        if meant:
            span = page.span(negation, end)
            spans.append(Span(span.start, end, span.quote, meant, (), 100.0, span.written))
        else:
            page.strange.update(range(negation, end))
        if not _goes_on(page, end, rejects):
            return spans
        negation, start = end, end + (page.words[end].text in _JOINED | {"and"})


def _end_of_trouble(page: Page, end: int) -> int:
    """Return where what is to make no trouble ends ("no spirit issues", "chaos damage problems"); none of it goes."""
    at = end
    for _ in range(2):
        if at >= len(page.words) or page.breaks(at - 1, at):
            break
        if page.words[at].text in _TROUBLE:
            return at + 1
        if page.words[at].text not in {"damage", "skill", "related"}:
            break
        at += 1
    return end


def _goes_on(page: Page, end: int, rejects: bool) -> bool:
    """Say whether another excluded thing follows: "or x", "/x", "hate x and y", "no x, y or z"."""
    if end >= len(page.words):
        return False
    gap = page.between(end - 1, end).strip()
    if page.words[end].text in _JOINED or gap == "/":
        return True
    known = page.lexicon.excludable
    if page.words[end].text == "and":
        after = page.longest(end + 1, known)
        return rejects and after > end + 1
    at = end
    for _ in range(_LONGEST_LIST):
        after = page.longest(at, known) if page.between(at - 1, at).strip() == "," else at
        if after == at or after >= len(page.words):
            return False
        if page.words[after].text in _JOINED:
            return True
        at = after
    return False


def _end_of_excluded(page: Page, start: int, only_known: bool) -> tuple[int, str]:
    """Return where an excluded thing ends and what it is; an empty text for a word that is nothing we know."""
    words, known = page.lexicon.vocabulary, page.lexicon.excludable
    if skill := _in_one(page.lexicon, page.join(start, start + 2)):
        return start + 2, skill
    end = max(page.longest(start, names) for names in (known, page.lexicon.terms, page.lexicon.supports))
    if end > start:
        text = page.join(start, end)
        fields = {field for field, _ in page.lexicon.terms.get(text, ())}
        if text not in known and fields == {"neutral"}:
            return end, ""  # "no chaos res needed" rules nothing out
        return end, phrase(words.short_names.get(text, text))
    if only_known or start >= len(page.words) or not page.free(start, start + 1):
        return start, ""
    single = page.words[start].text
    likely = process.extractOne(single, sorted(known), scorer=fuzz.ratio, score_cutoff=_LIKE_EXCLUDED)
    if likely is not None and len(single) >= 5:
        return start + 1, likely[0]
    for size in (3, 2, 1):
        near = guesses([word.text for word in page.words[start : start + size]], frozenset(), page.lexicon)
        whole = [text for first, last, text, _ in near if (first, last) == (0, size)]
        if whole and page.free(start, start + size):
            return start + size, whole[0]
    ignored = single in words.not_exclusions or single in words.plain_words or single.isdigit()
    return (start, "") if ignored else (start + 1, "")


def _phrases(page: Page) -> list[Span]:
    """Choose among all readings: longer before shorter, exact before likely, earlier before later."""
    terms = page.lexicon.terms
    exact: list[Span] = []
    for start in range(len(page.words)):
        for end in range(start + 1, min(len(page.words), start + page.lexicon.longest) + 1):
            text = page.join(start, end)
            whole = _in_one(page.lexicon, text)
            if (text in terms or whole) and page.free(start, end):
                span = page.span(start, end, meaning=whole or "", meanings=terms[whole or text])
                exact += [span] if _is_one(page, span) and _is_meant(page, span) else []
    likely = [
        page.span(start, end, text, page.lexicon.guessable[text], likeness)
        for start, end, text, likeness in guesses([w.text for w in page.words], frozenset(page.used), page.lexicon)
    ]
    chosen: list[Span] = []
    for span in sorted([*exact, *likely], key=lambda s: (-s.size, -s.likeness, s.start)):
        if page.free(span.start, span.end):
            page.take(span.start, span.end)
            chosen.append(span)
    return sorted(chosen, key=lambda span: span.start)


def _in_one(lexicon: Lexicon, text: str) -> str | None:
    """Return the skill of one word that is written as two ("bone storm")."""
    whole = lexicon.joined.get(text.replace(" ", "")) if text.count(" ") == 1 and text not in lexicon.terms else None
    fields = {name for name, _ in lexicon.terms[whole]} if whole is not None and " " not in whole else set()
    return whole if fields & {"skill", "missing"} else None


def _is_one(page: Page, span: Span) -> bool:
    """Say whether no comma parts the words, but for names, which may have one: "curse stacking, ES" stacks no ES."""
    parted = any(page.breaks(at, at + 1) for at in range(span.start, span.end - 1))
    return not parted or bool({name for name, _ in span.meanings} & _NAMES)


def _is_meant(page: Page, span: Span) -> bool:
    """Say whether a name that is also an ordinary word is meant as a name here."""
    words, fields = page.lexicon.vocabulary, {name for name, _ in span.meanings}
    if "with" in fields and span.phrase in words.ordinary_things:
        owners = page.lexicon.owners.get(span.phrase, ())
        said = {page.join(at, at + size) for size in (1, 2, 3) for at in range(len(page.words) + 1 - size)}
        return _is_marked(page, span) or any(not said.isdisjoint(words.ascendancies.get(one, ())) for one in owners)
    skill = bool(fields & {"skill", "missing"})
    if not fields <= _NAMES or ("with" not in fields and span.phrase not in words.ordinary_skills):
        return True
    before = page.words[span.start - 1].text if span.start else ""
    after = page.words[span.end].text if span.end < len(page.words) else ""
    if skill and span.phrase in words.short_names:
        return True
    if skill:
        people = {text for texts in (*words.classes.values(), *words.ascendancies.values()) for text in texts}
        near = bool({before, after} & (words.skill_markers | people)) or span.size == len(page.words)
        return near or _stands_alone(page, span)
    if span.size > 1 or span.phrase in words.short_names or span.phrase not in page.lexicon.unguessable:
        return True
    return _is_marked(page, span)


def _is_marked(page: Page, span: Span) -> bool:
    """Say whether a word beside the phrase says that it is the name of a thing."""
    beside = {page.words[at].text for at in _beside(page, span)}
    return bool(beside & page.lexicon.vocabulary.thing_markers)


def _beside(page: Page, span: Span) -> list[int]:
    """Return the words before and after the phrase, as far as there are any."""
    return [at for at in (span.start - 1, span.end) if 0 <= at < len(page.words)]


def _stands_alone(page: Page, span: Span) -> bool:
    """Say whether nothing but names, other wishes and commas stands around the phrase: no verb, no article."""
    terms, plain = page.lexicon.terms, page.lexicon.vocabulary.plain_words
    sides = [(page.breaks(span.start - 1, span.start), span.start - 1), (page.breaks(span.end - 1, span.end), span.end)]
    wishes = [
        0 <= at < len(page.words)
        and (page.words[at].text in terms or at in page.used)
        and (page.words[at].text not in plain or any(name == "style" for name, _ in terms.get(page.words[at].text, ())))
        for _, at in sides
    ]
    return all(broken or wish for (broken, _), wish in zip(sides, wishes, strict=True)) and any(wishes)
