"""What a rule looks at and how it says what it found."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from app.engine.base import Engine
from app.knowledge.exclusions import granted_by
from app.knowledge.feasibility import impossible, lines_of
from app.knowledge.gems import DAMAGE_TYPES, dealt, is_minion
from app.knowledge.things import Thing, things_of
from app.knowledge.vocabulary import vocabulary
from app.knowledge.weapons import weapon_words
from app.knowledge.words import phrase
from app.model.base import changed
from app.model.blueprint import Blueprint
from app.model.conflicts import BuildConflict, Details, Evidence, Suggestion, conflict_id
from app.model.constraints import InvariantSet
from app.model.damage import DamageBreakdown, DamageKind
from app.model.demands import Demands, GearLimits, owned
from app.model.facts import BaseFact, GemFact, NodeFact, UniqueFact
from app.model.names import ConflictType, Demand, Severity, SubProblemName, UniqueTier
from app.model.state import BuildState
from app.model.stats import Inspection, ItemFinding, Stats
from app.model.sub_problems import Choice
from app.search.gear.legality import gear_findings, lines_said


@dataclass(frozen=True)
class Case:
    """One calculated build with everything the rules compare it with.

    `findings` are faults of items that the engine does not look for; `bases` are the bases of worn items by name;
    `nearest` is a skill like the main one that has a calculated rate, looked for when the main one has none.
    `skill_weapons` are the kinds of weapon that the main skill can be used with, empty = any. `gems` and `nodes` are
    the engine's by id, `things` what has a name by comparable name and `uniques` the unique items, where something was
    asked for by name. `said` is what worn items say by slot, where something was ruled out. `imported`: somebody else's
    file, of which nobody wished anything. `newest_tree` is the version of the passive tree that new builds have.
    """

    blueprint: Blueprint
    stats: Stats
    inspection: Inspection
    demands: Demands
    invariants: InvariantSet = field(default_factory=InvariantSet)
    choices: Mapping[SubProblemName, Choice] = field(default_factory=dict)
    findings: tuple[ItemFinding, ...] = ()
    bases: Mapping[str, BaseFact] = field(default_factory=dict)
    nearest: str | None = None
    skill_weapons: frozenset[str] = frozenset()
    gems: Mapping[str, GemFact] = field(default_factory=dict)
    nodes: Mapping[int, NodeFact] = field(default_factory=dict)
    things: Mapping[str, Sequence[Thing]] = field(default_factory=dict)
    uniques: Sequence[UniqueFact] = ()
    said: Mapping[str, Sequence[str]] = field(default_factory=dict)
    imported: bool = False
    newest_tree: str = ""

    @cached_property
    def never(self) -> Mapping[tuple[str, str], str]:
        """Why certain wishes can be met by no build, by constraint and value, "" where it has only one."""
        wished = {one.field: one.value for one in self.invariants.invariants if one.is_wished}
        lines = lines_of(self.invariants.listed("with"), self.nodes.values(), self.uniques)
        return {(one.field, one.value): one.reason for one in impossible(wished, lines, vocabulary())}

    @property
    def level(self) -> int:
        """The character's level."""
        return self.blueprint.level

    @property
    def main_skill(self) -> str:
        """The main skill's name, or words for there being none."""
        group = self.blueprint.main
        return group.gems[0].name if group is not None and group.gems else "no main skill"

    @property
    def main_gem(self) -> GemFact | None:
        """The main skill as the engine knows it, or None."""
        group = self.blueprint.main
        return self.gems.get(group.gems[0].gem_id) if group is not None and group.gems else None

    def asked(self, field: str) -> bool:
        """Say whether the user asked for the constraint."""
        return self.invariants.is_explicit(field)


Rule = Callable[[Case], list[BuildConflict]]


def advice(
    strategy: str, sub_problem: SubProblemName, demand: Demand, text: str, values: Details | None = None
) -> Suggestion:
    """Return one way out; `values` is what the next answer must know."""
    return Suggestion(strategy=strategy, sub_problem=sub_problem, demand=demand, values=values or Details(), text=text)


def other_ascendancy(case: Case, demand: Demand, values: Details | None = None) -> list[Suggestion]:
    """Return the way over another ascendancy, where the character has one that nobody asked for."""
    if case.asked("ascendancy") or case.blueprint.ascendancy is None:
        return []
    return [advice("other_ascendancy", SubProblemName.ASCENDANCY, demand, "another ascendancy", values)]


def conflict(
    kind: ConflictType,
    severity: Severity,
    subject: str,
    message: str,
    suggestions: list[Suggestion],
    evidence: Evidence,
) -> BuildConflict:
    """Return a conflict; the affected questions are those that its suggestions re-open, in their order."""
    affected = list(dict.fromkeys(suggestion.sub_problem for suggestion in suggestions))
    return BuildConflict(
        id=conflict_id(kind, affected, subject),
        type=kind,
        severity=severity,
        subject=subject,
        affected=affected,
        evidence=evidence,
        message=message,
        suggested_solutions=suggestions,
    )


OWNED_GEAR = GearLimits(
    max_affixes=6, max_affix_level=100, max_uniques=100, rarest_unique=UniqueTier.CHASE, gone_uniques=True
)
"""What somebody already wears needs no tier's permission; whether it can be made at all is still checked."""


async def case_of(engine: Engine, demands: Demands, invariants: InvariantSet, state: BuildState) -> Case:
    """Return what the rules look at; an imported build may wear whatever its owner has."""
    assert state.blueprint is not None
    assert state.stats is not None
    assert state.inspection is not None
    blueprint, stats, inspection = state.blueprint, state.stats, state.inspection
    if state.origin == "imported":
        demands = owned(demands)
        demands = changed(demands, floors=changed(demands.floors, gear=OWNED_GEAR))
    worn = {item.base for item in blueprint.items.values()}
    gems = {gem.id: gem for gem in await engine.facts.gems()}
    case = Case(
        blueprint=blueprint,
        stats=stats,
        inspection=inspection,
        demands=demands,
        invariants=invariants,
        choices={name: sub.decision.choice for name, sub in state.sub_problems.items() if sub.decision is not None},
        findings=tuple(await gear_findings(engine.facts, blueprint, demands.floors.gear)),
        bases={base.name: base for base in await engine.facts.bases() if base.name in worn},
        nearest=state.construction.notes.nearest_modelled,
        gems=gems,
        nodes={node.id: node for node in await engine.facts.nodes()},
        things=await things_of(engine.facts) if invariants.get("with") else {},
        uniques=await engine.facts.uniques() if invariants.get("with") else (),
        said=await lines_said(engine.facts, blueprint) if invariants.get("exclude") else {},
        imported=state.origin == "imported",
        newest_tree=engine.version.tree_version,
    )
    main = case.main_gem
    return replace(case, skill_weapons=frozenset(weapon_words(main)) if main is not None else frozenset())


def granted_skills(case: Case) -> dict[str, str]:
    """Return the skills that worn items and passives grant, by comparable name, with who grants them."""
    bases = [case.bases.get(item.base) for item in case.blueprint.items.values()]
    texts = [line for base in bases if base is not None for line in base.implicits]
    texts += [item.text for item in case.blueprint.items.values() if item.text is not None]
    passives = [case.nodes[node.id] for node in case.blueprint.nodes if node.id in case.nodes]
    found = {phrase(skill): f"granted by {node.name}" for node in passives for skill in granted_by(node.mods)}
    return found | {phrase(skill): "granted by an item" for skill in granted_by(texts)}


def figure_of(case: Case, key: str) -> float | None:
    """Return a figure of whoever deals the damage: the minion's for minions."""
    minion = case.main_gem is not None and is_minion(case.main_gem)
    return case.stats.values.get(f"Minion.{key}" if minion else key)


def damage_shares(case: Case) -> dict[str, float]:
    """Return the share of each type in what the main skill, or its minions, deal; empty where nothing splits it."""
    own = dealt(case.main_gem) if case.main_gem is not None else []
    return shares_by_type(lambda key: figure_of(case, key) or 0.0, case.stats.damage, own)


AILMENTS = (
    ("fire", DamageKind.IGNITE, "IgniteDPS"),
    ("chaos", DamageKind.POISON, "PoisonDPS"),
    ("physical", DamageKind.BLEED, "BleedDPS"),
)
"""Damaging ailments: the type of their damage, their kind, and the engine's name of what they deal per second."""


def shares_by_type(
    figure: Callable[[str], float], damage: DamageBreakdown, skill_types: Iterable[str]
) -> dict[str, float]:
    """Return the share of each type (0 to 1) in hits and what goes on after them; empty where hits are not split.

    Damage over time has a type of its own; of a part calculated apart the engine names none, so the skill's counts.
    The bridge gives the same for candidates (`damage.types`).
    """
    hits = {one: figure(f"{one.capitalize()}HitAverage") for one in DAMAGE_TYPES}
    told = {one.kind: one.dps for one in damage.sources if one.name == damage.sources[0].name}  # the main skill's
    had = math.inf if not told or DamageKind.MINION in told else told.get(DamageKind.HIT, 0.0)
    of_hits = min(figure("TotalDPS"), had)
    if of_hits > 0 and not any(hits.values()):
        return {}
    parts = {one: of_hits * hit / max(sum(hits.values()), 1.0) for one, hit in hits.items()}
    for one, kind, ailment in AILMENTS:
        parts[one] += told.get(kind, 0.0) if told else figure(ailment)
    sources = [one.dps for one in damage.sources if one.kind is DamageKind.DAMAGE_OVER_TIME]
    lasting = sum(sources) or figure("TotalDot")
    types = {one: dot for one in DAMAGE_TYPES if (dot := figure(f"{one.capitalize()}Dot"))}
    types = types or dict.fromkeys(skill_types, 1.0)
    for one, part in types.items():
        parts[one] += lasting * part / sum(types.values())
    total = sum(parts.values())
    return {one: part / total for one, part in parts.items() if part > 0}


Reached = float | str | None


@dataclass(frozen=True)
class WishVerdict:
    """Whether a wish is met; `met` None = nothing that is measured can tell, and `nearest` says what it would need.

    `wish` is in our words, `reached` the figure or name that the file has. `ways` could meet it, least disruptive
    first.
    """

    wish: str
    target: Reached
    reached: Reached
    met: bool | None
    nearest: str | None = None
    ways: tuple[Suggestion, ...] = ()
