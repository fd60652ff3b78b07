"""A build in words for people: text, Markdown and JSON from the same parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import Field

from app.model.base import Model
from app.model.blueprint import enemy_in_words
from app.model.constraints import shown
from app.model.damage import DamageKind
from app.model.experiments import Experiment, Refinement
from app.model.guide import Guide, ItemLine, Loss, ShoppingItem
from app.model.names import BuildStatus, Effort, Outcome, SubProblemName
from app.model.record import BuildRecord
from app.model.state import UsedMemory
from app.model.stats import DPS, EHP
from app.model.wishes import ASKED_AND_REACHED, asked_and_reached
from app.service.view import BuildView, DamageView, StatsView, view_of

QUESTIONS = {
    SubProblemName.ASCENDANCY: "Ascendancy",
    SubProblemName.DAMAGE_DELIVERY: "Damage delivery",
    SubProblemName.DAMAGE_SCALING: "Damage scaling",
    SubProblemName.SURVIVABILITY: "Survivability",
    SubProblemName.RESOURCE_SUSTAIN: "Resources",
    SubProblemName.SPIRIT_ALLOCATION: "Spirit",
    SubProblemName.STAT_REQUIREMENTS: "Requirements",
}
_MOST_ALTERNATIVES = 2
_MILESTONES = frozenset({"notable", "keystone", "socket"})
COMPARED = {DPS: "DPS", EHP: "effective hit points", "Life": "life"}


def numbers(stats: StatsView | None) -> list[str]:
    """Return the figures, each with its name; unknown is "?", never zero."""
    if stats is None:
        return ["none yet"]
    dps = "not modelled by the engine" if stats.dps is None else number(stats.dps)
    found = {
        "fire": stats.fire_resistance,
        "cold": stats.cold_resistance,
        "lightning": stats.lightning_resistance,
        "chaos": stats.chaos_resistance,
    }
    resistances = ", ".join(f"{kind} {percent(value)}" for kind, value in found.items())
    against = f" · against {enemy_in_words(stats.enemy)}" if stats.enemy is not None else ""
    lines = [
        f"DPS {dps} · effective hit points {number(stats.ehp)}{against}",
        f"Life {number(stats.life)} · Energy Shield {number(stats.energy_shield)} · Mana {number(stats.mana)}",
        f"Armour {number(stats.armour)} · Evasion {number(stats.evasion)} · Block {percent(stats.block_chance)}",
        f"Resistances: {resistances}",
        f"Spirit {number(stats.spirit)} ({number(stats.spirit_unreserved)} free)",
        f"Str {number(stats.strength)} · Dex {number(stats.dexterity)} · Int {number(stats.intelligence)}",
    ]
    hits = ", ".join(f"{kind} {number(hit)}" for kind, hit in stats.max_hit.items())
    return [*lines, f"Largest hit survived: {hits}"] if hits else lines


_KINDS = {
    DamageKind.HIT: "hits",
    DamageKind.IMPALE: "impale",
    DamageKind.IGNITE: "ignite",
    DamageKind.POISON: "poison",
    DamageKind.BLEED: "bleeding",
    DamageKind.DAMAGE_OVER_TIME: "damage over time",
    DamageKind.MINION: "minions",
    DamageKind.TRIGGERED: "triggered",
    DamageKind.CULLING: "end of the fight that it saves",
}


def damage(view: DamageView | None) -> list[str]:
    """Return each source of the damage with its share; what is not counted says why."""
    if view is None:
        return []
    counted = [one for one in view.sources if one.kind is not DamageKind.SECOND_SKILL]
    lines = [f"{one.name}, {_KINDS[one.kind]}: {number(one.dps)} per second ({one.share:.0%})" for one in counted]
    beside = [one for one in view.sources if one.kind is DamageKind.SECOND_SKILL]
    lines += [f"Not in the sum: {one.name} as a second skill, {number(one.dps)} per second" for one in beside]
    return [*lines, f"The main skill's damage is not counted: {view.note}."] if view.note else lines


def from_memory(memories: Sequence[UsedMemory], habits: Sequence[str]) -> list[str]:
    """Return what was taken from earlier builds, and what the user usually asks for."""
    return [*(f"began with {one.part} of {one.build_id}, then improved and checked" for one in memories), *habits]


def constraints(view: BuildView) -> list[str]:
    """Return what was asked for and where each constraint comes from."""
    return [
        f"{item.field}: {shown(item.value)} ({item.provenance.value}: {item.reason})"
        for item in view.invariants
        if item.value not in (None, [])
    ]


def decisions(view: BuildView) -> list[str]:
    """Return what the file has for each question, with the reason; before a build has ended what was decided."""
    known = {name: asked.decision for name, asked in view.sub_problems.items() if asked.decision is not None}
    told = {name: decision.built or decision for name, decision in known.items()}
    return [f"{QUESTIONS[name]}: {one.name} - {one.reason}" for name, one in told.items()]


def question(view: BuildView) -> list[str]:
    """Return the one question with what is assumed until it is answered."""
    asked = view.question
    if asked is None:
        return []
    options = f" Options: {', '.join(asked.options)}." if asked.options else ""
    return [f"{asked.text}{options} Until you say: {asked.assumed}"]


def alternatives(view: BuildView) -> list[str]:
    """Return what was not chosen and why."""
    return [
        f"{QUESTIONS[name]}: {option.name} - {option.rejected_because or option.reason}"
        for name, asked in view.sub_problems.items()
        for option in asked.alternatives[:_MOST_ALTERNATIVES]
    ]


def passives(guide: Guide) -> list[str]:
    """Return the milestones of the levelling order: notables, keystones and sockets with the point that buys them."""
    told = [step for step in guide.passives if step.kind in _MILESTONES]
    found = [f"{step.point} {step.name}" for step in told if step.weapon_set != 2]
    ascendancy = [step.name for step in guide.ascendancy if step.kind in _MILESTONES]
    paid = sum(step.weapon_set != 2 for step in guide.passives)
    named = f"; with point: {', '.join(found)}" if found else ""
    lines = [f"{paid} points in order{named}"] if guide.passives else []
    beside = [step.name for step in told if step.weapon_set == 2]
    lines += [f"Weapon set 2 instead of {len(guide.passives) - paid}: {', '.join(beside)}"] if beside else []
    return [*lines, f"Ascendancy: {', '.join(ascendancy)}"] if ascendancy else lines


def gems(guide: Guide) -> list[str]:
    """Return skills by the level that they need, each with its supports."""
    groups: dict[tuple[int, str], list[str]] = {}
    for step in guide.gems:
        groups.setdefault((step.level, step.group), []).extend([] if step.name == step.group else [step.name])
    supported = {of: f" with {', '.join(others)}" if others else "" for of, others in groups.items()}
    return [f"level {level}: {name}{others}" for (level, name), others in supported.items()]


def loadouts(guide: Guide) -> list[str]:
    """Return the build at its levels, each with what to change there, or why there is nothing of the kind."""
    lines = [guide.no_loadouts] if guide.no_loadouts else []
    for one in guide.loadouts:
        points = f"{one.points} passives" + (f" + {one.ascendancy_points}" if one.ascendancy_points else "")
        supported = f" with {', '.join(one.supports)}" if one.supports else ""
        figures = f"{number(one.dps)} DPS, {number(one.ehp)} EHP, {number(one.life)} life"
        mark = " (estimate)" if one.engine.estimate else ""
        lines.append(f"{one.title}: {one.skill}{supported} · {points} · {figures}{mark}")
        lines += [f"  {line}" for line in [*([] if one.is_main_skill else [f"{one.why}."]), *one.changes]]
        lines += [f"  Not so: {line}" for line in one.caveats]
    return [*lines, ABOUT_LOADOUTS] if guide.loadouts else lines


ABOUT_LOADOUTS = (
    "Each loadout is in the file under its title; its passives are the first ones of the order above. On the way the "
    "gear is plain (life, resistances, the lines that help the weapon), sockets are empty; figures are against an "
    "ordinary boss of the level."
)


def shopping(guide: Guide) -> list[str]:
    """Return what to find or craft, per slot: the lines that carry the build first, then what is nice to have."""
    lines = []
    for item in guide.shopping:
        unique = item.title and item.rarity == "UNIQUE"
        name = f"{item.title}, {item.base}" if unique else f"{item.rarity.lower()} {item.base}"
        name += f" ({item.origin.words})" if item.origin is not None else ""
        wanted = "; ".join(f"{line.text}{_without(line)}" for line in item.lines)
        affixes = f" (item level {item.level}): {wanted}" if wanted else ""
        runes = [rune for rune in item.runes if rune != "None"]
        lines.append(
            f"{item.slot}: {name}{affixes}{' · runes ' + ', '.join(runes) if runes else ''}{_lower_tier(item)}"
        )
    tiers = [f"{one.gear.value} {number(one.dps or None)} DPS, {number(one.ehp)} EHP" for one in guide.at_tiers]
    return [*lines, *([f"The same lines at each gear tier: {' · '.join(tiers)}"] if tiers else [])]


def _without(line: ItemLine) -> str:
    """Return in brackets what the build loses without the line."""
    if line.lost is None:
        return ""
    return f" [{_lost(line.lost)}]" if line.lost.carries else " [nice to have]"


def _lower_tier(item: ShoppingItem) -> str:
    told = _lost(item.one_tier_lower) if item.one_tier_lower is not None else ""
    return f" · one tier lower: {told}" if told else ""


def _lost(lost: Loss) -> str:
    shares = {"DPS": lost.damage, "EHP": lost.ehp}
    parts = [f"-{share:.0%} {name}" for name, share in shares.items() if share >= 0.01]
    return ", ".join([*parts, *(["needed"] if lost.needed else [])])


def changes(refinement: Refinement | None) -> list[str]:
    """Return before and after of a refinement, each change with its reason."""
    if refinement is None:
        return []
    figures = [
        f"{label}: {number(before)} → {number(refinement.after.get(key))}"
        for key, label in COMPARED.items()
        if (before := refinement.before.get(key))
    ]
    rows = [f"{row.place}: {row.before} → {row.after} ({row.reason})" for row in refinement.changes]
    kept = [f"kept as it was: {', '.join(refinement.kept)}"] if refinement.kept else []
    mended = [f"fault mended: {fault}" for fault in refinement.mended]
    left = [f"fault still there: {fault}" for fault in refinement.left] if refinement.faults else []
    return [line for line in [refinement.verdict, *figures, *mended, *left, *rows, *kept] if line]


def number(value: float | None) -> str:
    """Return a number with separators; unknown is "?", what has no bound says so."""
    if value is None:
        return "?"
    return "no limit" if value >= 1e12 else f"{value:,.0f}"


def percent(value: float | None) -> str:
    """Return a percentage; unknown is "?"."""
    return "?" if value is None else f"{value:.0f} %"


_EFFORTS = {
    Effort.QUICK: "quick effort: a first draft, its skill not measured against others; `normal` finds a better build",
    Effort.DEEP: "deep effort",
}
_LABELS = {
    "queued": "waiting",
    "running": "still running",
    "failed": "failed",
    "cancelled": "cancelled",
}
_MARKED = str.maketrans({char: f"\\{char}" for char in "\\`*_[]<>#|"})

Section = tuple[str, Sequence[str]]


class Presentation(Model):
    """Everything that a player wants to know of a build; `guide` is there once it is finished."""

    name: str
    verdict: str
    build: BuildView
    guide: Guide | None = None
    refinement: Refinement | None = None
    experiments: list[Experiment] = Field(default_factory=list)
    memories: list[UsedMemory] = Field(default_factory=list)
    habits: list[str] = Field(default_factory=list)
    weapon_sets: str = ""


def presentation_of(record: BuildRecord) -> Presentation:
    """Return the presentation of a stored build."""
    view, state = view_of(record), record.state
    return Presentation(
        name=build_name(view),
        verdict=verdict(view),
        build=view,
        guide=state.guide,
        refinement=state.refinement,
        experiments=state.experiments,
        memories=state.memories,
        habits=state.habits,
        weapon_sets=state.construction.notes.weapon_sets,
    )


def as_text(shown: Presentation, files: Mapping[str, str] | None = None) -> str:
    """Return the presentation block; `files` are the paths written, by kind (xml, code, state)."""
    view = shown.build
    parts = [[f"{shown.name} - {shown.verdict} ({view.id})", _engine_line(view), *_shares(view)]]
    parts += [
        [f"{title}:", *(f"  {line}" for line in lines)] for title, lines in _sections(shown, files or {}) if lines
    ]
    return "\n\n".join("\n".join(part) for part in parts)


def as_markdown(shown: Presentation) -> str:
    """Return the presentation as Markdown; what came from outside is escaped."""
    view = shown.build
    parts = [f"# {_plain(shown.name)}", f"**{shown.verdict}** · {_plain(_engine_line(view))} · `{view.id}`"]
    parts += [_plain(line) for line in _shares(view)]
    for title, lines in _sections(shown, {}):
        if lines:
            indents = ["  " if line.startswith("  ") else "" for line in lines]
            bullets = [f"{indent}- {_plain(line.strip())}" for indent, line in zip(indents, lines, strict=True)]
            parts += [f"## {title}", "\n".join(bullets)]
    return "\n\n".join(parts) + "\n"


def _plain(text: str) -> str:
    return text.translate(_MARKED)


def _sections(shown: Presentation, files: Mapping[str, str]) -> list[Section]:
    view, guide = shown.build, shown.guide or Guide()
    return [
        (ASKED_AND_REACHED, asked_and_reached(view.wishes)),
        ("Numbers", numbers(view.stats)),
        ("Damage", damage(view.damage)),
        ("Changes", changes(shown.refinement)),
        ("You asked for", constraints(view)),
        ("Decisions", decisions(view)),
        ("Not chosen", alternatives(view)),
        ("Assumptions", view.assumptions),
        ("From memory", from_memory(shown.memories, shown.habits)),
        ("One question", question(view)),
        ("Skill groups", [use.line for use in guide.groups]),
        ("Weapon sets", [shown.weapon_sets] if shown.weapon_sets else []),
        ("How to play", guide.how_to_play),
        ("Levelling: passives", passives(guide)),
        ("Levelling: gems", gems(guide)),
        ("Levelling: loadouts", loadouts(guide)),
        ("Shopping list", shopping(guide)),
        ("Not known well", view.domain_gaps),
        ("Caveats", view.caveats),
        ("Files", [f"{kind}: {path}" for kind, path in files.items()]),
    ]


def _shares(view: BuildView) -> list[str]:
    """Return who decided, where a language model was asked to."""
    return [view.reasoner.share] if view.reasoner.share else []


def verdict(view: BuildView) -> str:
    """Return in a few words how the build stands."""
    if view.status is not BuildStatus.COMPLETE:
        return _LABELS[view.status.value]
    return "validated" if view.outcome is Outcome.VALIDATED else "finished with caveats"


def build_name(view: BuildView) -> str:
    """Return what to call the build: main skill and ascendancy once decided, the prompt before that."""
    skill = _chosen(view, SubProblemName.DAMAGE_DELIVERY, "skill_name")
    who = _chosen(view, SubProblemName.ASCENDANCY, "ascendancy") or _chosen(
        view, SubProblemName.ASCENDANCY, "class_name"
    )
    return f"{skill} {who}" if skill and who else view.prompt


def _chosen(view: BuildView, name: SubProblemName, field: str) -> str | None:
    question = view.sub_problems.get(name)
    value = None if question is None or question.decision is None else question.decision.choice.get(field)
    return value if isinstance(value, str) else None


def _engine_line(view: BuildView) -> str:
    if view.stats is None:
        return f"Engine: {view.engine.name or 'not chosen yet'}"
    found = view.stats
    mark = "; every number is an ESTIMATE, not Path of Building's" if found.estimate else ""
    tried = f"; {_EFFORTS[view.effort]}" if view.effort in _EFFORTS else ""
    return f"Engine: {found.engine} {found.version}, passive tree {found.tree_version}{mark}{tried}"
