"""What a language model claims in words, held against recorded figures and known facts.

A sentence of a model is only kept where every number in it was shown to the model or measured; one that says that
something was measured, verified or said by Path of Building only where all its numbers are figures of measurements.
A claim about a skill, a support or an ascendancy that the engine's facts contradict is no opinion.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from app.engine.base import Engine, Facts
from app.knowledge.catalogue import Catalogue
from app.knowledge.gems import dealt, level_required, tags
from app.knowledge.things import things_of
from app.knowledge.weapons import weapon_words
from app.knowledge.words import phrase
from app.model.blueprint import Blueprint
from app.model.facts import GemFact
from app.model.race import RACED

SAYS: Final = "The model: "
"""Before every sentence of a language model that people read."""

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\s+[-\u2013\u2014]\s+|[\r\n]+")
_NUMBER = re.compile(
    r"(?<![\w.])[-+]?(?P<figure>\d{1,3}(?:[,' \u00a0\u202f\u2009]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"\s?(?P<scale>k\b|m\b|thousand\b|million\b)?\s?(?P<share>%|percent\b|per cent\b)?",
    re.IGNORECASE,
)
_IN_WORDS = re.compile(
    r"\b(hundreds?|thousands?|millions?|billions?|dozens?|(doubl|tripl|quadrupl|halv)(e|es|ed|ing)|twice|thrice|half"
    r"|(one|two|three|four|five|ten)-?fold|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)\b",
    re.IGNORECASE,
)
_AUTHORITY = re.compile(
    r"measur|verif|confirm|\btest|calculat|comput|simulat|\bprove[nsd]?\b|proof|benchmark|path of building|\bpob\b"
    r"|developer|official|patch notes|guarante|according to|experiment|\btrials?\b|\btried\b|data shows?|recorded"
    r"|\blogs?\b|spreadsheet|\bsources?\b|certif|validated|checked|\bcalculator\b|\bengine\b|\bfigures? (say|show)",
    re.IGNORECASE,
)
_UNITS: Final[Mapping[str, re.Pattern[str]]] = {
    "dps": re.compile(r"\bdps\b|damage per second|per second of damage|\bdamage\b", re.IGNORECASE),
    "ehp": re.compile(r"\behp\b|totalehp|effective (hit points|life|health)|hit points", re.IGNORECASE),
    "life": re.compile(r"\blife\b", re.IGNORECASE),
    "energy shield": re.compile(r"energy ?shield|\bes\b", re.IGNORECASE),
    "mana": re.compile(r"\bmana", re.IGNORECASE),
    "gain": re.compile(r"\bgain", re.IGNORECASE),
}
_NAMES = re.compile(r"\b[A-Z][\w'-]+(?: (?:of |the |and )*[A-Z][\w'-]+)+|(?<=[^.!?] )[A-Z][a-z][\w'-]*")
"""Names as a sentence writes them: words in capitals that stand together, or one that is not the first."""

_PLAIN = frozenset(
    {"path of exile", "energy shield", "spirit", "life", "mana", "armour", "evasion"}
    | {"strength", "dexterity", "intelligence", "boss"}
)
_SCALES = {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6}
_BLOCK = re.compile(r"<untrusted (\w+) what='([^']*)'>\n(.*?)\n</untrusted \1>", re.DOTALL)
_NEAR = 48
"""Characters before and after a number in which its unit stands."""

_SHARE_OF_ROUNDING = 0.02
_NOT_MEASURED_MOST = 12
"""Up to this a number without a unit is a count, which need not be shown."""

FACTS: Final = "facts"
"""What the blocks of gathered facts are labelled; those of the race hold figures of drafts."""

_MEASURED = frozenset({"build", "stats", "measured", "figures", "both measurements"})
_DRAFT = re.compile(r"\bdrafts?\b|\braced?\b|\braces\b", re.IGNORECASE)
"""What a sentence must say that tells figures of drafts, which are not those of the build."""

OF_DRAFT: Final = "of draft"
"""The entry of a trial's result that names the draft it was tried on."""

_TRIALS = frozenset({"what_if", "run_experiment", "rank_supports", "optimise_tree", "craft_item", "read_stats"})


@dataclass(frozen=True)
class Told:
    """A number told in a text: `unit` is what it measures where that stands beside it, `slack` what rounding may hide.

    `is_count`: a small whole number, neither scaled nor a share.
    """

    value: float
    unit: str | None = None
    slack: float = 0.0
    is_count: bool = False

    def is_one_of(self, known: Collection[Told]) -> bool:
        """Say whether a known figure of the same unit rounds to this one; a share may be told in percent."""
        return any(
            abs(abs(one.value) * factor - abs(self.value)) <= self.slack
            for one in known
            if self.unit is None or one.unit == self.unit
            for factor in (1.0, 100.0)
            if factor == 1.0 or abs(one.value) <= 1.0
        )


@dataclass(frozen=True)
class Grounds:
    """What a sentence may rest on. `drafts`: figures measured before anything was decided, which only a sentence that
    speaks of drafts may tell. `names`: phrases of known things that must not be spoken of, such as what the build
    has not; `words`: what must not be spoken of either, as patterns. `there`: all that may be called by a name, None =
    anything.
    """

    shown: frozenset[Told] = frozenset()
    measured: frozenset[Told] = frozenset()
    drafts: frozenset[Told] = frozenset()
    names: frozenset[str] = frozenset()
    words: tuple[re.Pattern[str], ...] = ()
    there: str | None = None

    def bear(self, sentence: str) -> bool:
        """Say whether the sentence claims nothing without grounds."""
        figures = figures_in(sentence)
        if _IN_WORDS.search(sentence) or self._names_what_is_not_there(sentence):
            return False
        measured = self.measured | self.drafts if _DRAFT.search(sentence) else self.measured
        if _AUTHORITY.search(sentence):
            return bool(figures) and all(one.is_one_of(measured) for one in figures)
        known = self.shown | measured
        bare = {one for one in figures if one.is_count and not one.unit}
        return all(one in bare or one.is_one_of(measured if one.unit else known) for one in figures)

    def allowing(self, text: str) -> Grounds:
        """Return the grounds where the things that the text names may be spoken of."""
        own = f" {phrase(text)} "
        there = None if self.there is None else self.there + own
        return replace(self, names=frozenset(name for name in self.names if f" {name} " not in own), there=there)

    def _names_what_is_not_there(self, sentence: str) -> bool:
        told = f" {phrase(sentence)} "
        if any(f" {name} " in told for name in self.names if " " in name):
            return True
        single = {name for name in self.names if " " not in name}
        capitals = {phrase(word) for word in re.findall(r"\b[A-Z][\w'-]+", sentence)}
        if single & capitals or any(word.search(told) for word in self.words):
            return True
        runs = [phrase(run) for run in _NAMES.findall(sentence)]
        return self.there is not None and not all(f" {run} " in self.there or run in _PLAIN for run in runs)


NO_GROUNDS: Final = Grounds()


def figures_in(text: str) -> list[Told]:
    """Return the numbers of a text with what stands beside them."""
    found = []
    for match in _NUMBER.finditer(text):
        plain = re.sub(r"[^\d.]", "", match["figure"])
        scale = _SCALES.get((match["scale"] or "").lower(), 1.0)
        value = float(plain) * scale
        decimals = len(plain.partition(".")[2])
        zeros = len(plain) - len(plain.rstrip("0")) if not decimals else 0
        step = scale * 10.0 ** (zeros - decimals)
        slack = max(min(step / 2, _SHARE_OF_ROUNDING * value), scale * 0.5 * 10.0**-decimals if decimals else 0.5)
        is_count = not (decimals or match["share"] or match["scale"]) and value <= _NOT_MEASURED_MOST
        found.append(Told(value, None if match["share"] else _unit(text, match), slack * 1.0001, is_count))
    return found


def _unit(text: str, match: re.Match[str]) -> str | None:
    """Return the unit that stands closest, behind the number first: "95,000 EHP", "EHP: 95,000"."""
    behind = re.split(r"[,;.\n]|\d", text[match.end() : match.end() + _NEAR])[0]
    before = re.split(r"[;.\n]|\d", text[max(0, match.start() - _NEAR) : match.start()])[-1]
    for near in (behind, before):
        places = {name: one.start() for name, pattern in _UNITS.items() if (one := pattern.search(near)) is not None}
        if places:
            return min(places, key=lambda name: places[name])
    return None


def grounds_of(texts: Iterable[str]) -> Grounds:
    """Return the grounds in what a model was sent: the numbers in data between marks, not those of prompts."""
    shown: set[Told] = set()
    measured: set[Told] = set()
    drafts: set[Told] = set()
    for text in texts:
        for _, label, body in _BLOCK.findall(text):
            figures = figures_in(re.sub(r'["{}\[\]]', " ", body).replace(",", ", ").replace("_", " "))
            shown.update(figures)
            shown.update(figures_in(body))
            if label in _MEASURED or label.removeprefix("result of ") in _TRIALS:
                (drafts if f'"{OF_DRAFT}":' in body else measured).update(figures)
            if label.startswith(FACTS):
                drafts.update(one for line in body.split("\n") if RACED in line for one in figures_in(line))
    return Grounds(frozenset(shown), frozenset(measured), frozenset(drafts))


_MECHANICS = (
    "totem", "minion", "companion", "curse", "hex", "mark", "aura", "herald", "banner", "warcry", "ignite", "shock",
    "freeze", "chill", "poison", "bleed", "impale", "rage", "spectre", "offering", "infusion", "electrocut", "wither",
    "culling", "corpse", "grenade", "trap", "brand",
)  # fmt: skip
_BROUGHT = {
    "lightning": ("shock", "electrocut"),
    "cold": ("chill", "freeze"),
    "fire": ("ignite",),
    "chaos": ("poison", "wither"),
    "physical": ("bleed", "impale"),
}
"""Mechanics that a skill of a damage type brings about by itself."""


async def spoken_of(grounds: Grounds, facts: Facts, blueprint: Blueprint, asked: str) -> Grounds:
    """Return the grounds with what must not be spoken of: things and mechanics that neither build nor prompt has."""
    gems = {gem.id: gem for gem in await facts.gems()}
    used = [gems[gem.gem_id] for group in blueprint.groups for gem in group.gems if gem.gem_id in gems]
    nodes = {node.id: node for node in await facts.nodes()}
    taken = [nodes[node.id] for node in blueprint.nodes if node.id in nodes]
    worn = [text for item in blueprint.items.values() for text in (item.title, item.base, item.text or "") if text]
    own = [blueprint.class_name, blueprint.ascendancy or "", asked, *worn]
    own += [text for gem in used for text in (gem.name, *gem.tags, *gem.skill_types, gem.description)]
    own += [text for node in taken for text in (node.name, *node.mods)]
    there = f" {' '.join(phrase(text) for text in own)} "
    every = {*await things_of(facts), *(phrase(a) for one in await facts.classes() for a in one.ascendancies)}
    absent = frozenset(name for name in every if name and f" {name} " not in there)
    kinds = {kind for gem in used if gem.kind == "active" for kind in dealt(gem)}
    brought = {word for kind in kinds for word in _BROUGHT.get(kind, ())}
    gone = [word for word in _MECHANICS if word not in there and word not in brought]
    return replace(grounds, names=absent, words=tuple(re.compile(rf"\b{word}") for word in gone), there=there)


def founded(text: str, grounds: Grounds) -> str:
    """Return the text's sentences that have grounds; empty when none has."""
    plain = text.removeprefix(SAYS).strip()
    return " ".join(sentence for one in _SENTENCE.split(plain) if (sentence := one.strip()) and grounds.bear(sentence))


def said(text: str, grounds: Grounds) -> str:
    """Return what a model says, as far as it has grounds, with the label that tells people who speaks; or nothing."""
    kept = founded(text, grounds)
    return f"{SAYS}{kept}" if kept else ""


_KINDS_OF_SKILL: Final = ("spell", "attack", "melee", "projectile", "minion", "area")
_PLAYED: Final[Mapping[str, tuple[str, ...]]] = {
    "bow": ("Bow",),
    "crossbow": ("Crossbow",),
    "spear": ("Spear",),
    "quarterstaff": ("Quarterstaff",),
    "mace": ("One Hand Mace", "Two Hand Mace"),
    "flail": ("Flail",),
}
_DENIAL = re.compile(r"\b(?:not|no|never|cannot|isnt|doesnt|cant)\b")
_END = r"(?= *$| (?:and|but|so|which|while|here|for|as|to)\b)"
"""What may follow a claim, so that "is an area of concern" and "needs level 20 gems" are none."""

_IS_A = re.compile(
    r"^(?:is|isnt)(?: not)?(?: an?)? "
    rf"(?P<kind>{'|'.join((*_KINDS_OF_SKILL, *_PLAYED))})(?: skill| spell| attack)?{_END}"
)
_NEEDS_LEVEL = re.compile(
    r"^(?:needs|requires|is unlocked at|can (?:first |only )*be used (?:at|from)) "
    rf"(?:character )?level (?P<level>\d+){_END}"
)
_SPIRIT = re.compile(
    rf"^(?:does not |doesnt )?(?:costs?|reserves?|needs?|requires?|takes?) (?:no |any )?(?:\d+ )?spirit{_END}"
)
_OF_CLASS = re.compile(
    r"^(?:is|isnt|belongs|does not belong|doesnt belong)(?: not)?(?: an?)?(?: ascendancy)?(?: (?:of|to))?(?: the)? "
)
_APPLIES = re.compile(r"^(?:can ?not |cant |can |does not |doesnt )?(?:supports?|appl(?:y|ies) to|works? with) ")


@dataclass(frozen=True)
class KnownFacts:
    """What claims about the game are held against. `supports`: ids of the supports that a skill can have, by its id."""

    catalogue: Catalogue
    supports: Mapping[str, frozenset[str]]

    @classmethod
    async def about(cls, text: str, engine: Engine) -> KnownFacts:
        """Return the facts about what the text names."""
        catalogue = await Catalogue.of(engine)
        told = f" {phrase(text)} "
        named = [gem for gem in catalogue.active if f" {phrase(gem.name)} " in told]
        asked = named if any(f" {phrase(gem.name)} " in told for gem in catalogue.gems if gem.kind == "support") else []
        return cls(catalogue, {gem.id: frozenset(await engine.facts.supports_for(gem.id)) for gem in asked})

    def contradict(self, text: str) -> bool:
        """Say whether a sentence claims something that is known to be otherwise; what is not known is not so."""
        told = [f"{phrase(sentence)} " for sentence in re.split(r"[.;!?\n]", text)]
        return any(self._is_false(sentence) for sentence in told if " if " not in f" {sentence}")

    def _is_false(self, told: str) -> bool:
        for name, gem in self._named(told):
            for claim in _after(told, name):
                truths = (_kind_claimed(gem, claim), _level_claimed(gem, claim), _spirit_claimed(gem, claim))
                if any(truth is False for truth in (*truths, self._support_claimed(gem, claim))):
                    return True
        return any(
            self._class_claimed(ascendancy, claim) is False
            for one in self.catalogue.classes
            for ascendancy in one.ascendancies
            for claim in _after(told, phrase(ascendancy))
        )

    def _named(self, told: str) -> list[tuple[str, GemFact]]:
        """Return the gems that the sentence names and no other thing shares the name of."""
        found: dict[str, list[GemFact]] = {}
        for gem in self.catalogue.gems:
            found.setdefault(phrase(gem.name), []).append(gem)
        return [(name, same[0]) for name, same in found.items() if len(same) == 1 and f" {name} " in f" {told}"]

    def _support_claimed(self, gem: GemFact, claim: str) -> bool | None:
        """Say whether "Support S applies to skill X" is true; None where nothing of the kind is claimed or known."""
        verb = _APPLIES.match(claim)
        if verb is None or gem.kind != "support":
            return None
        skills = [one for name, one in self._named(claim[verb.end() :]) if claim[verb.end() :].startswith(f"{name} ")]
        fits = [gem.id in self.supports[one.id] for one in skills if one.id in self.supports]
        return fits[0] is not bool(_DENIAL.search(verb[0])) if fits else None

    def _class_claimed(self, ascendancy: str, claim: str) -> bool | None:
        """Say whether "ascendancy Y belongs to class Z" is true; None where nothing of the kind is claimed."""
        verb = _OF_CLASS.match(claim)
        owner = self.catalogue.class_of(ascendancy)
        if verb is None or owner is None:
            return None
        rest = claim[verb.end() :]
        meant = [one for one in self.catalogue.classes if rest.startswith(f"{phrase(one.name)} ")]
        return None if not meant else (meant[0] is owner) is not bool(_DENIAL.search(verb[0]))


def _after(told: str, name: str) -> list[str]:
    """Return what the sentence says right behind each mention of the name."""
    return [f" {told}"[found.end() :] for found in re.finditer(rf" {re.escape(name)} ", f" {told}")]


def _kind_claimed(gem: GemFact, claim: str) -> bool | None:
    """Say whether "X is a bow, melee, spell … skill" is true; None where nothing of the kind is claimed or known."""
    found = _IS_A.match(claim)
    if found is None or gem.kind != "active" or not tags(gem):
        return None
    kind, usable = found["kind"], weapon_words(gem)
    if kind in _PLAYED and not usable and "attack" in tags(gem):
        return None
    true = bool(set(_PLAYED[kind]) & set(usable)) if kind in _PLAYED else kind in tags(gem)
    return true is not bool(_DENIAL.search(found[0]))


def _level_claimed(gem: GemFact, claim: str) -> bool | None:
    """Say whether "X needs level N" is true, of the gem at any of its own levels; None where that is not claimed."""
    found = _NEEDS_LEVEL.match(claim)
    if found is None or not gem.level_requirements:
        return None
    return int(found["level"]) in {level_required(gem), *gem.level_requirements}


def _spirit_claimed(gem: GemFact, claim: str) -> bool | None:
    """Say whether "X costs Spirit", or none, is true; None where that is not claimed or known."""
    found = _SPIRIT.match(claim)
    if found is None or (gem.spirit <= 0 and "persistent" in tags(gem)):
        return None
    return (gem.spirit > 0) is not bool(_DENIAL.search(found[0]))
