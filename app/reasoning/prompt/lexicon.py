"""Every phrase we understand, from the vocabulary files and from the names the engine knows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations

from rapidfuzz import fuzz, process

from app.knowledge.catalogue import Catalogue
from app.knowledge.gems import can_be_cut
from app.knowledge.things import Thing, ThingKind
from app.knowledge.values import known_name
from app.knowledge.vocabulary import Vocabulary
from app.knowledge.words import phrase
from app.model.constraints import INVARIANTS

Meaning = tuple[str, str]
"""A field (class, skill, damage_type, style, foreign ...) and a value for it."""


@dataclass(frozen=True)
class Lexicon:
    """Phrases and what each may mean.

    `unguessable` are names of passives, supports and item bases, too many and too near to one another for a likeness.
    `supports` are names of supports of several words, without their numerals: ruled out as a whole, also where each
    word means something else ("without Elemental Focus"). `owners` are the ascendancies of passives whose names are
    ordinary words ("eternal life" of the Lich).
    """

    terms: dict[str, tuple[Meaning, ...]]
    vocabulary: Vocabulary
    unguessable: frozenset[str] = frozenset()
    supports: frozenset[str] = frozenset()
    owners: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, words: Vocabulary, catalogue: Catalogue, skills: Iterable[str] = ()) -> Lexicon:
        """Join the vocabulary with the engine's names; `skills` exist in the game, known to the engine or not."""
        terms: dict[str, dict[Meaning, None]] = {}
        things = {phrase(name): name for name in (*words.thing_names, *words.short_names.values())}
        named = {phrase(name): name for name in (*skills, *words.skill_names, *words.skill_aliases.values())}
        missing = [(text, name) for text, name in {**named, **things}.items() if known_name(name, catalogue) is None]
        unknown = [(text, ("missing_thing" if text in things else "missing", name)) for text, name in missing]
        short = [
            (text, ("missing_thing", name) if (known := known_name(name, catalogue)) is None else ("with", known))
            for text, name in words.short_names.items()
        ]
        immune = _immunities(words, catalogue)
        for text, meaning in (*_meanings(words, catalogue), *short, *immune, *unknown):
            terms.setdefault(text, {})[meaning] = None
        others = dict(_things(words, catalogue, frozenset(terms)))
        for text, thing in others.items():
            terms.setdefault(text, {})[("with", thing.name)] = None
        unguessable = frozenset(text for text, thing in others.items() if thing.kind not in _GUESSED_THINGS)
        ranked = [text for text, (thing, *_) in catalogue.things.items() if thing.kind is ThingKind.SUPPORT]
        supports = frozenset(name for text in ranked if " " in (name := re.sub(" (?:i|ii|iii|iv|v)$", "", text)))
        owners: dict[str, frozenset[str]] = {}
        for node in catalogue.nodes:
            if node.ascendancy is not None and (text := phrase(node.name)) in words.ordinary_things:
                owners[text] = owners.get(text, frozenset()) | {node.ascendancy}
        kept = {text: tuple(meanings) for text, meanings in terms.items() if text}
        return cls(kept, words, unguessable, supports, owners)

    @cached_property
    def longest(self) -> int:
        """The number of words of the longest phrase."""
        return max(text.count(" ") + 1 for text in self.terms)

    @cached_property
    def known_words(self) -> frozenset[str]:
        """Words that stand for something by themselves, so that they are never taken for a misspelling."""
        single = {text for text in self.terms if " " not in text}
        single |= {text for texts in self.vocabulary.targets.values() for text in texts if " " not in text}
        return frozenset(single | self.idle_words)

    @cached_property
    def idle_words(self) -> frozenset[str]:
        """Words that are in every sentence."""
        return self.vocabulary.plain_words | self.vocabulary.filler_words

    @cached_property
    def excludable(self) -> frozenset[str]:
        """Words for what is often ruled out."""
        return frozenset(text for texts in self.vocabulary.exclusions.values() for text in texts)

    @cached_property
    def targets(self) -> dict[str, tuple[str, ...]]:
        """Constraints with a figure by the words that name them, each in the order of the table."""
        terms: dict[str, tuple[str, ...]] = {}
        for name in INVARIANTS:
            for text in self.vocabulary.targets.get(name, ()):
                terms[text] = (*terms.get(text, ()), name)
        return terms

    @cached_property
    def joined(self) -> dict[str, str]:
        """The guessable phrases by their letters without the spaces."""
        return {text.replace(" ", ""): text for text in sorted(self.guessable, reverse=True)}

    @cached_property
    def guessable(self) -> dict[str, tuple[Meaning, ...]]:
        """Phrases that may be recognised by likeness: names, foreign ones included, and the longer words."""
        return {
            text: kept
            for text, meanings in sorted(self.terms.items())
            for fields in [_GUESSED | _GUESSED_IF_LONG if len(text) >= _LONG and " " not in text else _GUESSED]
            if len(text) >= 5 and (kept := tuple(meaning for meaning in meanings if meaning[0] in fields))
            if text not in self.vocabulary.ordinary_skills and text not in self.unguessable
        }


def _things(words: Vocabulary, catalogue: Catalogue, taken: frozenset[str]) -> Iterator[tuple[str, Thing]]:
    """Yield the names of what is no skill; a word that means something else already is no name.

    A support is found without its numeral, a unique without its article.
    """
    idle = words.plain_words | words.filler_words
    for text, (thing, *_) in sorted(catalogue.things.items()):
        if thing.kind is ThingKind.SKILL:
            continue
        names = [text]
        if thing.kind is ThingKind.SUPPORT and text.endswith(" i"):
            names.append(text.removesuffix(" i"))
        if thing.kind is ThingKind.UNIQUE and text.startswith("the ") and text.count(" ") > 1:
            names.append(text.removeprefix("the "))
        for name in names:
            common = all(word in idle or word in taken for word in name.split())
            if thing.kind is ThingKind.KEYSTONE or (name not in taken and not common):
                yield name, thing


def _meanings(words: Vocabulary, catalogue: Catalogue) -> Iterator[tuple[str, Meaning]]:
    """Yield the names of the engine, then the words of the vocabulary, each with what it means."""
    for fact in catalogue.classes:
        yield phrase(fact.name), ("class", fact.name)
        for ascendancy in fact.ascendancies:
            yield phrase(ascendancy), ("ascendancy", ascendancy)
    played = {text for texts in words.styles.values() for text in texts}
    for name, skill in sorted(catalogue.by_name.items()):
        if can_be_cut(skill) or name not in played:  # grenades are a way to play, and what every crossbow can do
            yield name, ("skill", skill.name)
    sections = {"class": words.classes, "ascendancy": words.ascendancies}
    sections |= {name: getattr(words, one.words) for name, one in INVARIANTS.items() if one.words}
    for constraint, phrases in sections.items():
        for value, texts in phrases.items():
            yield from ((text, (constraint, value)) for text in texts)
    for text, fields in words.hints.items():
        yield from ((text, (f"hint:{name}", value)) for name, value in fields.items())
    for text, name in words.skill_aliases.items():
        gem = catalogue.skill(name)
        yield text, ("missing", name) if gem is None else ("skill", gem.name)
    neutral = (*words.neutral, *_resisted(words), *_suffered(words), *_lessened(words))
    yield from ((text, ("neutral", text)) for text in neutral)
    for text in words.foreign:
        yield text, ("foreign", text)


def _resisted(words: Vocabulary) -> Iterator[str]:
    """Yield what names a resistance or a hit; without a figure it is nothing, and no damage of the type."""
    for name in (one for one in words.targets if one.endswith(("_resistance", "_hit"))):
        yield from (text for text in words.targets[name] if " " in text)


def _immunities(words: Vocabulary, catalogue: Catalogue) -> Iterator[tuple[str, Meaning]]:
    """Yield what asks for immunity to an ailment, or to two of them, each with what gives it."""
    known = {name: texts for name, texts in words.immunities.items() if known_name(name, catalogue) is not None}
    for name, texts in known.items():
        yield from ((text, ("with", name)) for text in texts)
    ailments = [(name, texts[0].removesuffix(_IMMUNE)) for name, texts in known.items()]
    for (one, first), (other, second) in permutations(ailments, 2):
        for text in (f"immune to {first} and {second}", f"{first} and {second} immune"):
            yield from ((text, ("with", name)) for name in (one, other))


def _lessened(words: Vocabulary) -> Iterator[str]:
    """Yield what asks for less of a way to play: no wish for it, and none that can be met."""
    for texts in words.styles.values():
        yield from (f"{word}{text}" for text in texts if " " not in text for word in LESS)


def _suffered(words: Vocabulary) -> Iterator[str]:
    """Yield what speaks of an ailment, curse or damage that the character suffers: nothing that it should inflict."""
    for style in _INFLICTED:
        for text in words.styles[style]:
            yield from (pattern.format(text) for pattern in (*_SUFFERED, *_DIED_OF))
    for one, other in permutations((words.styles[style][0] for style in _INFLICTED), 2):
        yield from (f"{word} to {one} {joint} {other}" for word in ("immune", "immunity") for joint in ("and", "or"))
        yield from (f"{one} and {other} {word}" for word in ("immune", "immunity"))
    for texts in words.damage_types.values():
        for text in texts:
            yield from (pattern.format(one) for one in (text, f"{text} damage") for pattern in _DIED_OF)


LESS = ("less ", "fewer ")
_IMMUNE = " immune"
_INFLICTED = ("bleed", "poison", "ignite", "freeze", "chill", "shock", "stun", "curse")
_SUFFERED = (
    "{} immunity", "{} immune", "immunity to {}", "immune to being {}", "{} resistance", "{} avoidance",
    "{} threshold", "avoid {}", "be {}", "being {}", "am {}", "get {}", "gets {}", "getting {}", "got {}",
    "becoming {}",
)  # fmt: skip
_DIED_OF = (
    "immune to {}", "resist {}", "against {}", "die to {}", "dying to {}", "dies to {}", "killed by {}",
    "instantly to {}", "one shot by {}", "vulnerable to {}", "weak to {}", "{} kills me", "{} kill me",
    "{} keeps killing me", "{} keep killing me", "{} is killing me",
)  # fmt: skip
_GUESSED = frozenset({"class", "ascendancy", "skill", "with", "foreign", "missing", "missing_thing"})
_GUESSED_IF_LONG = frozenset({"damage_type", "style", "weapon", "goal", "defence"})
_GUESSED_THINGS = frozenset({ThingKind.KEYSTONE, ThingKind.UNIQUE})
_LONG = 6

Guess = tuple[int, int, str, float]
"""First word, end (exclusive), the phrase meant, likeness in percent."""

_LIKE_SHORT, _LIKE_LONG, _LIKE_PERSON = 87.0, 85.0, 84.0
_LIKE_PHRASE, _LIKE_JOINED, _LIKE_COMMON = 84.0, 92.0, 88.0
_LIKE_KNOWN_WORD, _LIKE_OTHER_WORD = 90.0, 70.0
_LONGEST_GUESS = 4


def guesses(words: Sequence[str], used: frozenset[int], lexicon: Lexicon) -> list[Guess]:
    """Return likely misspellings of names among the words that are not used yet."""
    guessed: dict[tuple[str, ...], tuple[str, float] | None] = {}
    found: list[Guess] = []
    for size in range(1, _LONGEST_GUESS + 1):
        for start in range(len(words) - size + 1):
            if any(i in used for i in range(start, start + size)):
                continue
            written = tuple(words[start : start + size])
            if written not in guessed:
                guessed[written] = _guess(written, lexicon)
            if (guess := guessed[written]) is not None:
                found.append((start, start + size, *guess))
    return found


def _guess(words: Sequence[str], lexicon: Lexicon) -> tuple[str, float] | None:
    text, joined = "".join(words), lexicon.joined
    single = len(words) == 1
    known = lexicon.known_words if single else lexicon.idle_words
    means_itself = all(word in known for word in words)
    if len(text) < 5 or len(text) > 40 or means_itself:
        return None
    for found, likeness, _ in process.extract(
        text, joined.keys(), scorer=fuzz.ratio, score_cutoff=_LIKE_PHRASE - 1, limit=4
    ):
        if _is_close(words, joined[found], likeness, lexicon):
            return joined[found], min(likeness, 99.9)
    return None


def _is_close(words: Sequence[str], name: str, likeness: float, lexicon: Lexicon) -> bool:
    """Say whether the words can stand for the name; a word with a meaning of its own hardly can for one of it."""
    parts = name.split()
    if words[0][0] != parts[0][0] or ("or" in words and "or" not in parts):  # "x or y" is no name of both
        return False
    sides = [" ".join(side) in lexicon.terms for side in (words[:-1], words[1:])] if len(words) > 1 else []
    if len(words) > 1 and "".join(parts) in ("".join(words[:-1]), "".join(words[1:])):
        return False  # one of them says it already ("pathfinder is")
    if any(sides):  # a phrase and its neighbour mean themselves, two phrases whatever they are like ("lightning spark")
        return not all(sides) and len(parts) == len(words) and likeness >= _LIKE_KNOWN_WORD
    if len(parts) != len(words):
        return likeness >= _LIKE_JOINED
    if len(parts) == 1:
        fields = {field for field, _ in lexicon.guessable[name]}
        if fields <= _GUESSED_IF_LONG:
            return likeness >= _LIKE_COMMON
        person = bool(fields & {"class", "ascendancy"})
        return likeness >= (_LIKE_PERSON if person else _LIKE_SHORT if len(name) <= 6 else _LIKE_LONG)
    return likeness >= _LIKE_PHRASE and all(
        word.rstrip("s") == part.rstrip("s")
        or fuzz.ratio(word, part) >= (_LIKE_KNOWN_WORD if word in lexicon.known_words else _LIKE_OTHER_WORD)
        for word, part in zip(words, parts, strict=True)
    )
