"""The two vocabulary files: what players' words mean, and what experienced players reach for first."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field

import app
from app.model.base import Model

Phrases = dict[str, list[str]]


class Foreign(Model):
    """A name that this game does not have, with the closest thing it has; `skills` are tried in order."""

    is_: Literal["class", "ascendancy", "skill"]
    class_name: str | None = None
    ascendancy: str | None = None
    skills: list[str] = Field(default_factory=list)
    damage_type: str | None = None
    style: str | None = None
    weapon: str | None = None


class Vocabulary(Model):
    """Words by meaning: canonical value → phrases, all in lower case without punctuation."""

    classes: Phrases
    ascendancies: Phrases
    damage_types: Phrases
    styles: Phrases
    goals: Phrases
    defences: Phrases
    hardcore: Phrases
    gear: Phrases
    budget: Phrases
    weapons: Phrases
    content: Phrases
    hints: dict[str, dict[str, str]]
    skill_aliases: dict[str, str]
    foreign: dict[str, Foreign]
    immunities: Phrases
    short_names: dict[str, str]
    skill_names: list[str]
    thing_names: list[str]
    targets: Phrases
    ordinary_things: frozenset[str]
    thing_markers: frozenset[str]
    ordinary_skills: frozenset[str]
    skill_markers: frozenset[str]
    plain_words: frozenset[str]
    telling_words: frozenset[str]
    filler_words: frozenset[str]
    change_words: frozenset[str]
    not_exclusions: frozenset[str]
    negations: frozenset[str]
    exclusions: Phrases
    neutral: list[str]


class ClassTaste(Model):
    """What a class usually plays, best first."""

    weapons: list[str]
    damage_types: list[str]
    skills: list[str]
    minions: list[str]


class Preferences(Model):
    """Plain names in order of preference; the engine's facts decide whether one exists and fits."""

    classes: dict[str, ClassTaste]
    class_for_weapon: dict[str, str]
    class_for_style: dict[str, str]
    class_for_damage_type: dict[str, str]
    class_for_defence: dict[str, str]
    default_class: str
    helpers: frozenset[str]
    ascendancies: Phrases
    curses: Phrases
    marks: Phrases
    spirit: Phrases
    keywords: Phrases

    def skills(self) -> list[str]:
        """Return every skill that is named anywhere, sorted."""
        lists = [self.helpers, *self.spirit.values(), *self.curses.values(), *self.marks.values()]
        own = [names for taste in self.classes.values() for names in (taste.skills, taste.minions)]
        return sorted({name for names in (*lists, *own) for name in names})


def domain_folder() -> Path:
    """Return the folder of domain files: inside the installed package, or beside it in a checkout."""
    package = Path(app.__file__).parent
    bundled = package / "_bundled" / "domain"
    return bundled if bundled.is_dir() else package.parent / "domain"


def read_domain(name: str) -> Any:
    """Return what a domain file says; by the parser in C where it is there, which takes a seventh of the time."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    text = (domain_folder() / f"{name}.yaml").read_text(encoding="utf-8")
    return yaml.load(text, Loader=loader)  # noqa: S506 - a safe loader either way


@cache
def vocabulary() -> Vocabulary:
    """Read domain/vocabulary.yaml."""
    data = read_domain("vocabulary")
    # keys that are keywords of the language get other names
    renamed = {"is": "is_", "class": "class_name"}
    data["foreign"] = {
        name: {renamed.get(key, key): value for key, value in entry.items()} for name, entry in data["foreign"].items()
    }
    return Vocabulary.model_validate(data)


@cache
def preferences() -> Preferences:
    """Read domain/preferences.yaml."""
    return Preferences.model_validate(read_domain("preferences"))
