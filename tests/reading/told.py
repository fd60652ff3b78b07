"""A finished build as it is told to people, held against its file by a reader of its own."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass

import yaml

from app.core.errors import EngineRefused
from app.engine.base import Engine
from app.model.base import changed
from app.model.damage import DamageKind
from app.model.state import BuildState
from app.model.stats import DPS, EHP
from tests.reading.build_file import BuildFile, Names, Passive, with_loadout, with_main, with_part
from tests.reading.reader import Reader, sections_of, sections_of_markdown

_NOT_IN_MARKDOWN = {"Head", "Files"}
_QUESTIONS = {
    "ascendancy": "Ascendancy",
    "damage_delivery": "Damage delivery",
    "damage_scaling": "Damage scaling",
    "survivability": "Survivability",
    "resource_sustain": "Resources",
    "spirit_allocation": "Spirit",
    "stat_requirements": "Requirements",
}


@dataclass(frozen=True)
class Told:
    """What a build's owner is given: the file and what is written about it."""

    xml: bytes
    text: str
    markdown: str
    state: str


async def names_of(engine: Engine) -> Names:
    """Return every name that the engine knows."""
    facts = engine.facts
    gems, classes = await facts.gems(), await facts.classes()
    return Names(
        passives={node.id: Passive(node.id, node.name, node.kind, node.ascendancy) for node in await facts.nodes()},
        skills=frozenset(gem.name for gem in gems if gem.kind == "active"),
        supports=frozenset(gem.name for gem in gems if gem.kind == "support"),
        uniques=frozenset(unique.name for unique in await facts.uniques()),
        bases=frozenset(base.name for base in await facts.bases()),
        people=frozenset(name for one in classes for name in (one.name, *one.ascendancies)),
    )


async def file_of(engine: Engine, told: Told) -> BuildFile:
    """Return the file with its figures calculated anew, each way of asking in a session of its own."""
    figures = await _figures(engine, told.xml)
    minions = await _minions(engine, told.xml) if " minions: " in told.text else {}
    parts = [] if " damage over time: " not in told.text else await _parts(engine, told.xml)
    names, loadouts = await names_of(engine), {}
    for title, level in re.findall(r"^  (Levelling (\d+)): ", told.text, re.MULTILINE):
        other = with_loadout(told.xml, title, int(level))
        loadouts[title] = BuildFile.of(other, names, await _figures(engine, other))
    return BuildFile.of(told.xml, names, figures, minions, parts, loadouts, await _dealt(engine, told.xml))


def faults_in(told: Told, file: BuildFile) -> list[str]:
    """Return everything that is told and is not in the file."""
    sections = sections_of(told.text)
    stale = [
        f"the file's own {key} is {value}, calculated anew {file.figures[key]}"
        for key, value in file.stored.items()
        if key in file.figures and abs(min(value, 1e12) - file.figures[key]) > 0.005 * max(1.0, abs(file.figures[key]))
    ]
    race = (yaml.safe_load(told.state) or {}).get("race") or {}
    drafts = [
        (one["dps"], one["ehp"])
        for way in race.get("contenders", [])
        for one in (*way["figures"], *way["by_ascendancy"].values(), *way["by_defence"].values())
    ]
    reader = Reader(file, sections, drafts, known_to_owner=_is_own(told))
    return [*reader.whole(), *stale, *_alike(told, sections, file)]


def _is_own(told: Told) -> bool:
    """Say whether the build is somebody's own file, or a change to one."""
    state = yaml.safe_load(told.state) or {}
    return state.get("origin") == "imported" or state.get("refinement") is not None


async def faults_of(engine: Engine, told: Told) -> list[str]:
    """Return everything that is told and is not in the file, calculated anew by fresh sessions."""
    return [
        *faults_in(told, await file_of(engine, told)),
        *await _other_trees(engine, told),
        *await _unusable(engine, told.xml),
    ]


async def _unusable(engine: Engine, xml: bytes) -> list[str]:
    """Return which skills of the file can be used with neither weapon set."""
    async with engine.session() as session:
        await session.load(xml)
        blueprint, found = await session.blueprint(), (await session.inspect()).unusable
        if found:
            await session.build(changed(blueprint, weapon_set=3 - blueprint.weapon_set))
            other = {one.group for one in (await session.inspect()).unusable}
            found = [one for one in found if one.group in other]
    return [f"{one.name} cannot be used: {one.reason}" for one in found]


async def _other_trees(engine: Engine, told: Told) -> list[str]:
    """Return which trees that were not chosen come to something else on the file, or are told with other figures."""
    state = BuildState.from_yaml(told.state)
    others = [one for sub in state.sub_problems.values() if sub.decision for one in sub.decision.alternatives]
    faults = []
    for tree in state.construction.notes.tree_alternatives:
        async with engine.session() as session:
            await session.load(told.xml)
            now, other = await session.what_if([[], tree.changes], [DPS, EHP])
        if not other or any(abs(other[key] - had) > 0.001 * had for key, had in ((DPS, tree.dps), (EHP, tree.ehp))):
            faults.append(f"passives for {tree.aim} come to {other}, not {tree.dps} and {tree.ehp}")
            continue
        said = f"{other[DPS] / now[DPS] - 1:+.1%} damage with {other[EHP] / now[EHP] - 1:+.1%} effective hit points"
        about = [one for one in others if one.name.startswith(f"other passives for {tree.aim}: ")]
        if not any(said in (one.rejected_because or "") for one in about):
            faults.append(f"passives for {tree.aim} are not told to be {said}")
    return faults


async def _parts(engine: Engine, xml: bytes) -> list[dict[str, float]]:
    """Return the figures of each part of the main skill; Path of Building does not load a part that does not exist."""
    found = []
    for index in (1, 2):
        with suppress(EngineRefused):
            found.append(await _figures(engine, with_part(xml, index)))
    return found


async def _figures(engine: Engine, xml: bytes) -> dict[str, float]:
    """Return Path of Building's own figures; the product's own sum, which is what is to be checked, is left out."""
    async with engine.session() as session:
        await session.load(xml)
        return {key: value for key, value in (await session.stats()).values.items() if key != "DPS"}


async def _dealt(engine: Engine, xml: bytes) -> dict[DamageKind, list[float]]:
    """Return what a fresh engine counts of each kind of damage, to be held against Path of Building's figures."""
    async with engine.session() as session:
        await session.load(xml)
        sources = (await session.stats()).damage.sources
    return {one.kind: [other.dps for other in sources if other.kind is one.kind] for one in sources}


async def _minions(engine: Engine, xml: bytes) -> dict[str, dict[str, float]]:
    """Return one minion's figures of each skill, its group made the main one; a granted skill's group counts too."""
    async with engine.session() as session:
        await session.load(xml)
        groups = (await session.blueprint()).groups
    found: dict[str, dict[str, float]] = {}
    for index, group in enumerate(groups, start=1):
        async with engine.session() as session:
            await session.load(with_main(xml, index))
            values = (await session.stats()).values
        if values.get("Minion.TotalDPS") and group.gems:
            found[group.gems[0].name] = {
                key.removeprefix("Minion."): value for key, value in values.items() if key.startswith("Minion.")
            }
    return found


def _alike(told: Told, sections: dict[str, list[str]], file: BuildFile) -> list[str]:
    """Return where Markdown, state and notes say something else than the text."""
    faults = []
    plain = {title: lines for title, lines in sections.items() if title not in _NOT_IN_MARKDOWN}
    if sections_of_markdown(told.markdown) != plain:
        faults.append("Markdown and text differ")
    state = yaml.safe_load(told.state)
    decided = {
        _QUESTIONS[name]: sub["decision"].get("built")
        for name, sub in state["sub_problems"].items()
        if sub.get("decision")
    }
    lines = [f"{name}: {built['name']} - {built['reason']}" for name, built in decided.items() if built]
    read = [line for line in sections.get("Decisions", []) if line.endswith(" - read from the file")]
    if read and len(read) == len(decided):  # nothing was decided on
        lines = read
    if sorted(lines) != sorted(sections.get("Decisions", [])):
        faults.append(f"the state decides otherwise: {lines}")
    if any(line.startswith("No change recommended") for line in sections.get("Changes", [])):
        return faults  # the file is the parent's, and so are its notes
    asked = sections.get("Asked and reached", [])
    if asked and file.notes[: len(asked) + 1] != ["Asked and reached", *asked]:
        faults.append(f"the notes say otherwise: {file.notes[: len(asked) + 1]}")
    caveats = sections.get("Caveats", [])
    if asked and any(line not in file.notes for line in caveats):
        faults.append("the notes lack a caveat")
    return faults
