"""Who the character is: class, ascendancy, main skill and damage type, from what was named or from one another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from typing import TypeVar

from app.knowledge.catalogue import Catalogue
from app.knowledge.gems import ELEMENTS, attributes_of, can_be_main, damage_types_of, is_minion, is_spell
from app.knowledge.vocabulary import ClassTaste, Foreign, Preferences, Vocabulary
from app.knowledge.weapons import weapon_words
from app.knowledge.words import phrase, with_article
from app.model.constraints import as_list
from app.model.facts import GemFact
from app.model.names import Provenance
from app.reasoning.prompt.draft import Draft, Weight
from app.reasoning.prompt.page import Span
from app.reasoning.prompt.phrases import PromptReading

_ON_THE_WAY = (
    "{} is for the way there and not in the finished build; skills of the levels on the way are measured, so they may "
    "take another one."
)
_FOR_SECONDS = '"{}" is {} here: it gives immunity for the seconds that it works, once the ailment has come.'
_BEFORE_EARLY = re.compile(
    r"\b(?:levell?(?:ing)?|start(?:ing)?|begin(?:ning)?)(?: (?:up|off|out))? (?:with|as|using|on|in)$"
)
_BEHIND_EARLY = re.compile(
    r"(?:early|at first|first|until|till|while levell?ing|(?:for|during) (?:the )?(?:levell?ing|campaign|acts|start))\b"
)

_BEGUN_WITH = ("str", "dex", "int")
_OR = frozenset({"or", "vs", "versus", "oder", "ou"})
_EITHER = _OR | {"either", "maybe", "perhaps", "even", "rather", "the", "a"}
"""Words between skills, or ascendancies, of which one is wanted."""
T = TypeVar("T")


def _is_for_the_way(reading: PromptReading, span: Span) -> bool:
    """Say whether the words around a skill say that it is for levelling: "level with X", "X early, then Y"."""
    texts = [word.text for word in reading.words]
    before, behind = " ".join(texts[: span.start]), " ".join(texts[span.end :])
    return bool(_BEFORE_EARLY.search(before) or _BEHIND_EARLY.match(behind))


def open_classes(catalogue: Catalogue, unwanted: Set[str], usual: str) -> tuple[list[str], str]:
    """Return the classes that are not ruled out, all where none is left, and which of them to assume."""
    every = [fact.name for fact in catalogue.classes]
    options = [name for name in every if name not in unwanted] or every
    return options, usual if usual in options else options[0]


class Identity:
    """Settles the four fields one after the other; each later one may follow from an earlier one."""

    def __init__(
        self, draft: Draft, reading: PromptReading, catalogue: Catalogue, words: Vocabulary, taste: Preferences
    ):
        self._draft = draft
        self._reading = reading
        self._catalogue = catalogue
        self._taste = taste
        self._foreign = [(words.foreign[text], span) for text, span in reading.of("foreign")]
        self._immunities = words.immunities
        self._unwanted = reading.ruled_out(words).people

    def settle(self) -> None:
        """Settle skill, ascendancy, class and damage type."""
        self._skill()
        if found := self._reading.of("damage_type"):
            self._draft.quoted("damage_type", found)
        for name, span in self._reading.of("hint:damage_type"):
            self._draft.infer("damage_type", name, f'"{span.quote}" points to it')
        self._class()
        self._ascendancy()
        self._ascendancy_of_skill()
        self._skill_against_damage_type()
        self._damage_type()

    def _skill(self) -> None:
        named = self._skills_of_the_finished()
        mains = [pair for pair in named if can_be_main(pair[0])]
        # a skill that prepares another one is the main skill only where nothing else is
        mains.sort(key=lambda pair: pair[0].name in self._taste.helpers)
        either = self._either(mains)
        if either:
            self._draft.quoted("skill", [(gem.name, span) for gem, span in either])
        taken = {*as_list(self._draft.get("skill")), *(gem.name for gem, _ in either if len(either) > 1)}
        others = [(gem.name, span) for gem, span in named if gem.name not in taken]
        things = [pair for pair in self._reading.of("with") if pair[0] not in taken]
        if others or things:
            self._draft.quoted("with", sorted([*others, *things], key=lambda pair: pair[1].start))
        self._tell_immunities(things)
        if others:
            names = list(dict.fromkeys(name for name, _ in others))
            role = "goes along where it fits" if len(names) == 1 else "go along where they fit"
            self._draft.assume(f"{' and '.join(names)} {role}; the main skill is another one.")
        for entry, span in self._foreign:
            if entry.is_ == "skill":
                self._foreign_skill(entry, span)
        for name, _ in self._reading.of("missing_thing"):
            self._draft.assume(f"This engine does not know {name}, so I left it aside.")
        for name, _ in self._reading.of("missing"):
            if self._draft.has("skill"):
                self._draft.assume(f"This engine does not know {name}, so I left it aside.")
            else:
                text = f"This engine does not know {name}. Which skill should it be instead?"
                assumed = "the skill that fits the rest best"
                self._draft.ask(Weight.FOREIGN_SKILL, "skill", text, [assumed], assumed)

    def _tell_immunities(self, things: Iterable[tuple[str, Span]]) -> None:
        """Say what gives the immunity that was asked for, and for how long; who named it knows."""
        for name, span in things:
            if name in self._immunities and span.phrase != phrase(name):
                self._draft.assume(_FOR_SECONDS.format(span.quote, with_article(name)))

    def _either(self, named: Sequence[tuple[T, Span]]) -> list[tuple[T, Span]]:
        """Return the first of what is named with those between which the choice is left: "X, Y or Z"."""
        return next((run for run in self._runs(named) if named[0] in run), []) if named else []

    def _runs(self, named: Sequence[tuple[T, Span]]) -> list[list[tuple[T, Span]]]:
        """Return what is named as it stands in the prompt; those that an "or" joins, and commas before it, are one.

        "Spark, Arc or Comet, Fireball" leaves the choice between three and names a fourth.
        """
        texts = [word.text for word in self._reading.words]
        chains: list[list[tuple[T, Span]]] = []
        joined: list[int] = []  # so many of each chain are up to its last "or"
        for pair in sorted(named, key=lambda pair: pair[1].start):
            between = set(texts[chains[-1][-1][1].end : pair[1].start]) if chains else set()
            if not chains or not between <= _EITHER:
                chains.append([])
                joined.append(1)
            chains[-1].append(pair)
            joined[-1] = len(chains[-1]) if between & _OR else joined[-1]
        runs: list[list[tuple[T, Span]]] = []
        for chain, size in zip(chains, joined, strict=True):
            runs += [chain[:size], *([pair] for pair in chain[size:])]
        return runs

    def _skills_of_the_finished(self) -> list[tuple[GemFact, Span]]:
        """Return the named skills but those for the way there, which only lead to another main skill."""
        named = [(gem, span) for name, span in self._reading.of("skill") if (gem := self._catalogue.skill(name))]
        runs = self._runs([pair for pair in named if can_be_main(pair[0])])
        early = [run for run in runs if any(_is_for_the_way(self._reading, span) for _, span in run)]
        if len(early) == len(runs):
            return named
        for gem, _ in (pair for run in early for pair in run):
            self._draft.assume(_ON_THE_WAY.format(gem.name))
        return [pair for pair in named if not any(pair in run for run in early)]

    def _foreign_skill(self, entry: Foreign, span: Span) -> None:
        known = [gem for name in entry.skills if (gem := self._catalogue.skill(name))]
        # Skills for which the class that was named usually holds no weapon come last.
        named = [self._taste.classes[name] for name, _ in self._reading.of("class") if name in self._taste.classes]
        usual = {weapon for taste in named[:1] for weapon in taste.weapons}
        words = {gem.id: set(weapon_words(gem)) for gem in known}
        known.sort(key=lambda gem: bool(usual and words[gem.id] and usual.isdisjoint(words[gem.id])))
        options = [gem.name for gem in known]
        if self._draft.has("skill") or not options:
            self._draft.assume(f'"{span.quote}" does not exist in Path of Exile 2, so I left it aside.')
            return
        self._draft.infer("skill", options[0], f'"{span.quote}" does not exist in Path of Exile 2; this comes closest')
        text = f'"{span.quote}" does not exist in Path of Exile 2. Which skill should it be?'
        self._draft.ask(Weight.FOREIGN_SKILL, "skill", text, options, options[0])

    def _class(self) -> None:
        named = [
            (fact.name, span) for name, span in self._reading.of("class") if (fact := self._catalogue.class_named(name))
        ]
        if self._draft.has("class"):
            return
        ascendancies = as_list(self._draft.get("ascendancy"))
        if (owner := self._catalogue.class_of_first(ascendancies)) is not None:
            named = [pair for pair in named if pair[0] == owner.name]
            if not named:
                self._draft.infer("class", owner.name, f"{ascendancies[0]} is one of its ascendancies")
        if named:
            self._draft.explicit("class", *named[0])
            options = list(dict.fromkeys(name for name, _ in named))
            if len(options) > 1:
                text = f"A character has one class, and you named {' and '.join(options)}. Which one?"
                self._draft.ask(Weight.TWO_CLASSES, "class", text, options, options[0])
        self._class_from_names()
        if not self._draft.has("class"):
            self._class_from_play()

    def _class_from_names(self) -> None:
        """Take the class closest to a foreign name, the one of a named ascendancy, or the one that a word points to."""
        for entry, span in self._foreign:
            fact = self._catalogue.class_named(entry.class_name or "")
            if entry.is_ == "skill" or fact is None:
                continue
            self._points_to(fact.name, f'"{span.quote}" does not exist in Path of Exile 2; this comes closest')
            answer = [name for name in (fact.name, entry.ascendancy) if name]
            options = list(dict.fromkeys([" ".join(answer), *(c.name for c in self._catalogue.classes)]))[:5]
            text = f'"{span.quote}" is not a class or ascendancy of Path of Exile 2. Which one do you mean?'
            self._draft.ask(Weight.FOREIGN_CLASS, "class", text, options, options[0])
        for name, span in self._reading.of("ascendancy"):
            if fact := self._catalogue.class_of(name):
                self._draft.infer("class", fact.name, f'{name} ("{span.quote}") is one of its ascendancies')
        self._class_from_hint("class")

    def _class_from_hint(self, field: str) -> None:
        for name, span in self._reading.of(f"hint:{field}"):
            self._points_to(name, f'"{span.quote}" points to it')

    def _points_to(self, name: str, reason: str) -> None:
        """Take the class that something points to; in place of one that is ruled out, what begins nearest to it."""
        fact = self._catalogue.class_named(name)
        others = [one for one in self._catalogue.classes if one.name not in self._unwanted]
        if fact is not None and fact.name in self._unwanted and others:
            begun = fact.attributes
            far = [sum(abs(one.attributes.get(a, 0) - begun.get(a, 0)) for a in _BEGUN_WITH) for one in others]
            reason = f"the {fact.name} is ruled out, and it begins nearest to that"
            fact = min(zip(far, others, strict=True), key=lambda pair: (pair[0], pair[1].name))[1]
        if fact is not None:
            self._draft.infer("class", fact.name, reason)

    def _class_from_play(self) -> None:
        """Take the class that usually plays the skill, weapon, style, damage type or defence that was named."""
        main, helpers = self._gems("skill"), self._gems("with")
        for gem in (*main, *helpers):
            for ascendancy in self._catalogue.granting(gem):
                if fact := self._catalogue.class_of(ascendancy):
                    self._draft.infer("class", fact.name, f"only a passive of its {ascendancy} grants {gem.name}")
        self._class_of(main)
        self._class_from_table("weapon", "style")
        self._class_of(helpers)
        self._class_from_table("damage_type", "defence")
        self._class_from_hint("fallback_class")
        if not self._draft.has("class"):
            _, taken = open_classes(self._catalogue, self._unwanted, self._taste.default_class)
            self._draft.put("class", taken, Provenance.DEFAULT, "no class was named, and nothing points to one")

    def _gems(self, field: str) -> list[GemFact]:
        return [gem for name in as_list(self._draft.get(field)) if (gem := self._catalogue.skill(name))]

    def _class_of(self, gems: Iterable[GemFact]) -> None:
        for gem in gems:
            if name := self.class_for_skill(gem):
                self._points_to(name, f"it usually plays {gem.name}")

    def _class_from_table(self, *fields: str) -> None:
        for field in fields:
            table: dict[str, str] = getattr(self._taste, f"class_for_{field}")
            value = next((one for one in as_list(self._draft.get(field)) if one in table), "")
            if value:
                self._points_to(table[value], f"it usually plays {value.replace('_', ' ').lower()}")

    def class_for_skill(self, gem: GemFact) -> str | None:
        """Return the class that lists the skill first, uses its weapon alone, or shares its attribute."""
        ranks = {
            name: [*taste.skills, *taste.minions].index(gem.name)
            for name, taste in self._taste.classes.items()
            if gem.name in (*taste.skills, *taste.minions) and self._catalogue.class_named(name)
        }
        if ranks:
            return min(ranks, key=lambda name: (ranks[name], name))
        by_weapon = [self._taste.class_for_weapon.get(kind) for kind in weapon_words(gem)]
        if is_minion(gem):
            by_weapon = [self._taste.class_for_style["minion"]]
        elif is_spell(gem) and (kinds := damage_types_of(gem)) and attributes_of(gem) == ["int"]:
            by_weapon = [self._taste.class_for_damage_type[kinds[0]]]
        known = {name for name in by_weapon if name and self._catalogue.class_named(name)}
        wanted = attributes_of(gem)
        if len(known) == 1 or not wanted:
            return min(known, default=None)
        scores = {c.name: sum(c.attributes.get(a, 0) for a in wanted) / len(wanted) for c in self._catalogue.classes}
        return max(sorted(scores), key=lambda name: scores[name])

    def _ascendancy(self) -> None:
        named = []
        for name, span in self._reading.of("ascendancy"):
            if (proper := self._catalogue.ascendancy_named(name)) is not None:
                named.append((proper, span))
            else:
                self._draft.assume(f'The engine does not know the ascendancy "{span.quote}", so I left it aside.')
        own = [pair for pair in named if self._belongs(pair[0])]
        if own:
            self._draft.quoted("ascendancy", self._either(own))
        elif named and not self._draft.has("ascendancy"):
            name, _ = named[0]
            other = self._catalogue.class_of(name)
            assumed = str(self._draft.get("class"))
            owner = other.name if other else "other class"
            text = f"{name} is an ascendancy of the {owner}, not of the {assumed}. Which do you want?"
            self._draft.ask(Weight.ASCENDANCY_OF_ANOTHER_CLASS, "ascendancy", text, [assumed, name], assumed)
        for entry, span in self._foreign:
            if entry.ascendancy and self._belongs(entry.ascendancy) and not self._draft.has("ascendancy"):
                self._draft.infer("ascendancy", entry.ascendancy, f'it comes closest to "{span.quote}"')
        for name, span in self._reading.of("hint:ascendancy"):
            if self._belongs(name):
                self._draft.infer("ascendancy", name, f'"{span.quote}" points to it')

    def _ascendancy_of_skill(self) -> None:
        """Take the ascendancy that alone grants the skills that were named: Concoctions are the Pathfinder's."""
        granting = [self._catalogue.granting(gem) for gem in self._gems("skill")]
        for name in granting[0] if granting else []:
            if self._belongs(name) and all(name in owners for owners in granting) and not self._draft.has("ascendancy"):
                skills = " and ".join(as_list(self._draft.get("skill")))
                self._draft.infer("ascendancy", name, f"only a passive of it grants {skills}")

    def _belongs(self, ascendancy: str) -> bool:
        fact = self._catalogue.class_named(str(self._draft.get("class")))
        return fact is not None and phrase(ascendancy) in {phrase(name) for name in fact.ascendancies}

    def _skill_against_damage_type(self) -> None:
        gem = self._catalogue.skill(str(self._draft.get("skill") or ""))
        wanted = as_list(self._draft.get("damage_type"))
        own = damage_types_of(gem) if gem is not None and can_be_main(gem) else []
        elements = set(ELEMENTS) if "elemental" in wanted else set()
        if not own or not wanted or set(own) & {*wanted, *elements}:
            return
        assert gem is not None
        if "damage_type" in self._draft.fixed and "skill" not in self._draft.fixed:
            asked = " or ".join(wanted)
            self._draft.assume(
                f"The request sets {asked} damage, which wins over {gem.name}: it deals {' and '.join(own)}."
            )
            self._draft.drop("skill")
            return
        text = f"{gem.name} deals {' and '.join(own)} damage, not {' or '.join(wanted)}. What matters more?"
        self._draft.ask(Weight.SKILL_AGAINST_DAMAGE_TYPE, "damage_type", text, [gem.name, *wanted], gem.name)
        self._draft.drop("damage_type")

    def _damage_type(self) -> None:
        dealing = self._gems("skill") or self._gems("with")[:1]
        own = list(dict.fromkeys(kind for gem in dealing for kind in damage_types_of(gem)))
        for entry, span in self._foreign:
            if entry.damage_type and not own:
                self._draft.infer("damage_type", entry.damage_type, f'"{span.quote}" dealt it')
            if entry.style:
                self._draft.infer("style", entry.style, f'"{span.quote}" was played like that')
            if entry.weapon:
                self._draft.infer("weapon", entry.weapon, f'"{span.quote}" points to it')
        if own:
            reason = f"{dealing[0].name} deals it" if len(dealing) == 1 else "the skills that were named deal it"
            self._draft.infer("damage_type", own[0] if len(own) == 1 else own, reason)
        taste = self._taste.classes.get(str(self._draft.get("class")))
        usual = self._usual_of_minions(taste) or (taste.damage_types[0] if taste else "physical")
        self._draft.put("damage_type", usual, Provenance.DEFAULT, "no damage type was named; the class often deals it")

    def _usual_of_minions(self, taste: ClassTaste | None) -> str | None:
        """Return the damage type of the minions that the class prefers, when minions were asked for."""
        if taste is None or "minion" not in as_list(self._draft.get("style")):
            return None
        known = [gem for name in taste.minions if (gem := self._catalogue.skill(name))]
        return next((kind for gem in known for kind in damage_types_of(gem)), None)
