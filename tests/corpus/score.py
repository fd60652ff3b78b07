"""How much of what people write is understood: `python tests/corpus/score.py [--engine sketch] [--first N]`.

Reads every prompt of tests/corpus/prompts.yaml (`--more`: more.yaml, `--third`: third.yaml) with the rules reasoner and
holds the constraints against the wishes that were written down by hand. A wish is *met* when an explicit constraint
holds it, *said* when the assumptions, the question or the words not understood name it, and else *silent*: lost without
a word. What nobody can turn into a constraint (`?words`) must be listed as not understood.

The other way round, an explicit value that no wish of the prompt asks for is *unasked*; where its words are those of a
wish that is met, it is a second reading of them ("CI" names a keystone and says how one defends), else a false one.
Words that are listed as not understood although no `?words` name them are counted too.

A wish is written as people speak, so it is met by what means the same here, and by nothing else:
- `with=shield` by `weapon=Shield`: what is held in the off hand is a weapon of the vocabulary;
- a support without its numeral by the first of its kind (Aftershock by Aftershock I);
- `budget=10 divines` by a budget whose own words are "10 divines", since the vocabulary has four words for all budgets;
- the pairs of `SAME`: one word in two spellings (exclusions stay as they are written).
"""

from __future__ import annotations

import argparse
import asyncio
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from app.core.config import Settings
from app.engine.base import Engine
from app.knowledge.catalogue import Catalogue
from app.knowledge.vocabulary import vocabulary
from app.knowledge.words import phrase
from app.model.constraints import Invariant, InvariantSet, as_list
from app.model.names import Provenance
from app.model.record import BuildRequest, EngineChoice
from app.reasoning.prompt.extract import extract_from
from app.wiring import ConfiguredEngines

CORPUS, MORE, THIRD = (Path(__file__).parent / f"{name}.yaml" for name in ("prompts", "more", "third"))
RENAMED = {"without": "exclude"}
SAME = {
    "yes": {"true"},
    "no": {"false"},
    "two handed mace": {"two hand mace"},
    "wolf form": {"wolf"},
    "critical": {"crit"},
    "energy shield": {"es"},
    "unique": {"unique item"},
    "elemental": {"elemental damage"},
}


@dataclass(frozen=True)
class Wish:
    """One wish as it is written down: `name=value`, `name>=n`, `name<=n`, `?words` or `name!`."""

    text: str

    @property
    def is_unknown(self) -> bool:
        """Whether nobody could turn the words into a constraint."""
        return self.text.startswith("?")

    @property
    def words(self) -> str:
        """The part that an assumption would quote."""
        return re.split(r"[<>=]+", self.text.strip("?!"))[-1].lower()

    def met_by(self, found: InvariantSet) -> list[tuple[str, str]]:
        """Return the explicit values that hold the wish, each with its constraint's name."""
        if self.is_unknown or self.text.endswith("!"):
            return []
        name, sign, value = re.fullmatch(r"(\w+)(>=|<=|=)(.+)", self.text).groups()  # type: ignore[union-attr]
        fields = {RENAMED.get(name, name), *(["weapon"] if name == "with" else [])}
        explicit = [one for one in found.invariants if one.field in fields and one.provenance is Provenance.EXPLICIT]
        return [
            (one.field, text)
            for one in explicit
            for i, text in enumerate(texts_of(one))
            if (sign == "=" and self._means(value, one, text, i)) or (sign != "=" and number(text) == float(value))
        ]

    def _means(self, value: str, one: Invariant, text: str, i: int) -> bool:
        wanted = plain(value)
        spellings = {wanted, *(plain(same) for key in {wanted, value} for same in SAME.get(key, ()))}
        if one.field == "budget":
            return plain(one.words[i]) == wanted
        return plain(text) in spellings or (one.field == "with" and plain(text) == f"{wanted} i")

    def is_said(self, found: InvariantSet) -> bool:
        """Return whether an assumption, the question or the words not understood name the words."""
        told = " ".join([*found.assumptions, found.question.text if found.question else "", *found.not_understood])
        if self.text.endswith("!"):
            return self.words in told.lower().replace(" ", "_")
        return all(word in told.lower() for word in self.words.split())

    def is_listed(self, found: InvariantSet) -> bool:
        """Return whether every word of it that is no filler is listed as not understood."""
        listed = {word for text in found.not_understood for word in phrase(text).split()}
        words = phrase(self.words).split()
        idle = (vocabulary().plain_words | vocabulary().filler_words) - vocabulary().telling_words
        return set([word for word in words if word not in idle] or words) <= listed


@dataclass
class Score:
    """What became of the wishes of a corpus; texts name the wish and the prompt."""

    met: int = 0
    said: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)
    listed: int = 0
    unlisted: list[str] = field(default_factory=list)
    explicit: int = 0
    second: list[str] = field(default_factory=list)
    false: list[str] = field(default_factory=list)
    besides: list[str] = field(default_factory=list)

    @property
    def wishes(self) -> int:
        """Wishes that can be met or settled."""
        return self.met + len(self.said) + len(self.silent)

    @property
    def recall(self) -> float:
        """Share of them that are met; a contradiction that the build settles in words is met by them."""
        return self.met / self.wishes

    @property
    def precision(self) -> float:
        """Share of the explicit values that a wish asked for, second readings included."""
        return 1 - len(self.false) / self.explicit

    def lines(self) -> list[str]:
        """Return the report."""
        kinds = {"said": self.said, "silent": self.silent, "not listed": self.unlisted, "second": self.second}
        kinds |= {"false": self.false, "besides": self.besides}
        told = [f"{kind}: {text}" for kind, texts in kinds.items() for text in texts]
        unasked = f"second readings {len(self.second)}, false {len(self.false)}"
        return [
            *told,
            f"recall {self.met}/{self.wishes} = {self.recall:.1%}; silent losses {len(self.silent)}",
            f"not understandable: listed {self.listed}, not listed {len(self.unlisted)}, besides {len(self.besides)}",
            f"explicit values {self.explicit}: {unasked}; precision {self.precision:.1%}",
        ]

    def add(self, prompt: str, wishes: list[Wish], found: InvariantSet) -> None:
        """Count one prompt."""
        claimed: set[tuple[str, str]] = set()
        for wish in wishes:
            place, met = f"{wish.text:40} in {prompt!r}", wish.met_by(found)
            claimed |= set(met)
            if wish.is_unknown:
                self.listed += wish.is_listed(found)
                self.unlisted += [] if wish.is_listed(found) else [place]
            elif met or (wish.text.endswith("!") and wish.is_said(found)):
                self.met += 1
            else:
                (self.said if wish.is_said(found) else self.silent).append(place)
        self._add_unasked(prompt, claimed, found)
        named = {word for wish in wishes if wish.is_unknown for word in phrase(wish.words).split()}
        self.besides += [
            f"{text!r} in {prompt!r}" for text in found.not_understood if not named & set(phrase(text).split())
        ]

    def _add_unasked(self, prompt: str, claimed: set[tuple[str, str]], found: InvariantSet) -> None:
        explicit = [
            (one.field, text, set(phrase(one.words[i]).split()) if i < len(one.words) else set())
            for one in found.invariants
            if one.provenance is Provenance.EXPLICIT
            for i, text in enumerate(texts_of(one))
        ]
        self.explicit += len(explicit)
        spoken = {word for name, text, words in explicit if (name, text) in claimed for word in words}
        for name, text, words in explicit:
            if (name, text) not in claimed:
                (self.second if words & spoken else self.false).append(f"{name}={text} in {prompt!r}")


def texts_of(one: Invariant) -> list[str]:
    """Return the constraint's values as texts."""
    return as_list(one.value)


def plain(value: object) -> str:
    """Return the value as words that can be compared, plural or not."""
    text = re.sub(r"[\s_-]+", " ", str(value).lower()).strip()
    return f"{text.removesuffix('ies')}y" if text.endswith("ies") else text.removesuffix("s")


def number(text: str) -> float | None:
    """Return the number in the text, if it is one."""
    try:
        return float(text)
    except ValueError:
        return None


def load(path: Path = CORPUS) -> list[tuple[str, list[Wish]]]:
    """Return the prompts with their wishes."""
    texts = yaml.safe_load(path.read_text(encoding="utf-8"))
    return [(text, [Wish(wish) for wish in wishes]) for text, wishes in texts]


def scored(catalogue: Catalogue, corpus: Iterable[tuple[str, list[Wish]]]) -> Score:
    """Read every prompt with the rules, given an engine's facts."""
    score = Score()
    for text, wishes in corpus:
        score.add(text, wishes, extract_from(BuildRequest(prompt=text), catalogue))
    return score


async def score_of(engine: Engine, corpus: Iterable[tuple[str, list[Wish]]]) -> Score:
    """Read every prompt with the rules, given an engine."""
    return scored(await Catalogue.of(engine, everything=True), corpus)


async def main() -> None:
    """Print the figures for the engine's names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=("pob", "sketch"), default="pob")
    parser.add_argument("--first", type=int, default=None, help="only so many prompts")
    further = parser.add_mutually_exclusive_group()
    further.add_argument("--more", action="store_const", const=MORE, dest="corpus", help="the prompts of more.yaml")
    further.add_argument("--third", action="store_const", const=THIRD, dest="corpus", help="the prompts of third.yaml")
    chosen = parser.parse_args()
    choice: EngineChoice = chosen.engine
    room = ConfiguredEngines(Settings())
    try:
        score = await score_of(await room.engine(choice), load(chosen.corpus or CORPUS)[: chosen.first])
    finally:
        await room.close()
    print("\n".join(score.lines()))


if __name__ == "__main__":
    asyncio.run(main())
