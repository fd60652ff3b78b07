"""How much of what people write is understood: `python tests/corpus/score.py [--engine pob|sketch] [--first N]`.

Reads every prompt of tests/corpus/prompts.yaml with the rules reasoner, holds the constraints against the wishes that
were written down by hand. A wish is *met* when a constraint holds it, *said* when the assumptions name its words, and
else *silent*: lost without a word. Prints the recall (met / wishes) and the silent losses.
"""

from __future__ import annotations

import argparse
import asyncio
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import yaml

from app.core.config import Settings
from app.engine.base import Engine
from app.model.constraints import InvariantSet
from app.model.record import BuildRequest, EngineChoice
from app.reasoning.rules import RulesReasoner
from app.wiring import ConfiguredEngines

CORPUS = Path(__file__).parent / "prompts.yaml"
RENAMED = {"without": "exclude"}
SAME = {"bossing": {"pinnacle"}, "yes": {"true"}, "no": {"false"}}


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

    def is_met(self, found: InvariantSet) -> bool:
        """Return whether a constraint says what the wish says."""
        if self.is_unknown or self.text.endswith("!"):
            return False
        name, sign, value = re.fullmatch(r"(\w+)(>=|<=|=)(.+)", self.text).groups()  # type: ignore[union-attr]
        held = found.get(RENAMED.get(name, name))
        if held is None:
            return False
        values = {plain(each) for each in (held if isinstance(held, list) else [held])}
        if sign != "=":
            return any(number(each) == float(value) for each in values)
        wanted = plain(value)
        return wanted in values or bool(SAME.get(wanted, set()) & values)

    def is_said(self, found: InvariantSet) -> bool:
        """Return whether an assumption or the question names the words."""
        told = " ".join([*found.assumptions, found.question.text if found.question else ""]).lower()
        if self.text.endswith("!"):
            return self.words in told.replace(" ", "_")
        return all(word in told for word in self.words.split())


def plain(value: object) -> str:
    """Return the value as words that can be compared, plural or not."""
    return re.sub(r"[\s_-]+", " ", str(value).lower()).strip().removesuffix("s")


def number(text: str) -> float | None:
    """Return the number in the text, if it is one."""
    try:
        return float(text)
    except ValueError:
        return None


def load() -> list[tuple[str, list[Wish]]]:
    """Return the prompts with their wishes."""
    return [(text, [Wish(wish) for wish in wishes]) for text, wishes in yaml.safe_load(CORPUS.read_text())]


async def judged(engine: Engine, corpus: list[tuple[str, list[Wish]]]) -> Counter[str]:
    """Read every prompt; print what is lost; return how many wishes were met, said and silent."""
    counts: Counter[str] = Counter()
    for text, wishes in corpus:
        found = await RulesReasoner().extract(BuildRequest(prompt=text), engine)
        for wish in wishes:
            met, said = wish.is_met(found), wish.is_said(found)
            kind = "met" if met else "said" if said else "silent"
            if wish.is_unknown:
                kind = "unknown said" if said else "unknown silent"
            counts[kind] += 1
            if "silent" in kind:
                print(f"silent: {wish.text:40} in {text!r}")
    return counts


async def main() -> None:
    """Print the figures for the engine's names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=("pob", "sketch"), default="pob")
    parser.add_argument("--first", type=int, default=None, help="only so many prompts")
    chosen = parser.parse_args()
    choice: EngineChoice = chosen.engine
    room = ConfiguredEngines(Settings())
    try:
        counts = await judged(await room.engine(choice), load()[: chosen.first])
    finally:
        await room.close()
    wishes = counts["met"] + counts["said"] + counts["silent"]
    print(f"recall {counts['met']}/{wishes} = {counts['met'] / wishes:.1%}; silent losses {counts['silent']}")
    print(f"not understandable: listed {counts['unknown said']}, silent {counts['unknown silent']}")


if __name__ == "__main__":
    asyncio.run(main())
