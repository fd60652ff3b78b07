"""The levelling loadouts of a finished build: made, measured, told, and put into its file."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from app.conflicts.case import case_of
from app.conflicts.requirements import skills_to_be_had
from app.conflicts.resources import main_skill_sustained
from app.core.errors import BadImport, EngineError, InvalidTransition
from app.core.spans import SpanKind, span
from app.engine.files.loadouts import with_loadouts, without_levelling
from app.model.base import changed
from app.model.blueprint import Blueprint
from app.model.demands import earned_points, is_level_of_points, level_demands
from app.model.facts import NodeFact
from app.model.guide import FINAL, LEVELLING, Guide, Loadout, WornItem
from app.model.names import Effort, Mode, Trigger
from app.model.state import BuildState
from app.model.stats import EHP, Inspection, Stats
from app.phases.base import PhaseContext, PhaseResult, PhaseStep, is_refinement, search_context
from app.phases.validate.guide import passive_steps
from app.phases.validate.judgement import measured_afresh
from app.search.base import plan_of
from app.search.gear.legality import shopping_list
from app.search.levelling import characters_of, nested
from app.search.levels import LEVELS, LevelDraft
from app.search.sessions import USUAL, Sharing, open_parallel

_log = logging.getLogger(__name__)
_ENDS = frozenset({Trigger.VALIDATED, Trigger.GAVE_UP})
_TOLD = frozenset({"notable", "keystone"})
_HANDS = ("Weapon 1", "Weapon 2")


def title_at(level: int) -> str:
    """Return the title of a levelling loadout in the file."""
    return f"{LEVELLING} {level}"


@dataclass(frozen=True)
class WithLoadouts:
    """Runs a step and, when a new build ends with it, adds the loadouts of the levels on the way to guide and file.

    The finished build stays the active one. An engine that fails at this leaves the build as it is, and says so.
    """

    inner: PhaseStep
    sharing: Sharing = USUAL

    async def run(self, ctx: PhaseContext) -> PhaseResult:
        """Do the step, then the loadouts if it was the last one."""
        result = await self.inner.run(ctx)
        state, xml = result.state, ctx.xml if result.xml is None else result.xml
        guide = state.guide or Guide()
        ended = result.trigger in _ENDS and state.blueprint is not None and state.stats is not None
        if not ended or xml is None or is_unchanged(ctx, state):
            return result
        last = replace(ctx, state=changed(state, guide=guide), xml=xml, invariants=result.invariants or ctx.invariants)
        reason = without(last)
        try:
            if not reason:
                with span("loadouts", SpanKind.SEARCH):
                    state, xml = await self._made(last, xml)
                return replace(result, state=state, xml=xml)
        except (EngineError, BadImport) as error:
            _log.warning("no loadouts: %s", error.code, extra={"build_id": ctx.build_id})
            reason = f"They could not be made: {error.message}"
        return replace(result, state=changed(state, guide=changed(guide, no_loadouts=reason)))

    async def _made(self, ctx: PhaseContext, xml: bytes) -> tuple[BuildState, bytes]:
        state = ctx.state
        assert state.blueprint is not None
        assert state.stats is not None
        assert state.guide is not None
        async with open_parallel(ctx.engine, None, self.sharing) as panel:
            characters = await characters_of(search_context(ctx, plan_of(state.sub_problems), panel, state.blueprint))
        drafts, tried = await nested(characters, ctx.engine, self.sharing.sessions)
        if not drafts:
            return changed(state, guide=changed(state.guide, no_loadouts=NO_SKILL)), xml
        nodes = {node.id: node for node in await ctx.engine.facts.nodes()}
        finished = in_levelling_order(state.blueprint, drafts[-1], nodes)
        files: dict[str, bytes] = {}
        told: list[Loadout] = []
        level, points = state.blueprint.level, state.inspection.points if state.inspection is not None else {}
        exact = is_level_of_points(level) and _unspent(points, level) == 0
        measured = await asyncio.gather(*(measured_afresh(ctx.engine, draft.blueprint) for draft in drafts))
        for before, draft, (stats, inspection, file) in zip([None, *drafts], drafts, measured, strict=False):
            files[title_at(draft.level)] = file
            exact = exact and _unspent(inspection.points, draft.level) == 0
            loadout = await _told(ctx, draft, stats, inspection)
            there = changed(state, blueprint=draft.blueprint, stats=stats, inspection=inspection)
            case = await case_of(ctx.engine, level_demands(ctx.demands, draft.level), ctx.invariants, there)
            lacking = [one.message for one in (*main_skill_sustained(case), *skills_to_be_had(case))]
            caveats = [*loadout.caveats, *lacking]
            told.append(changed(loadout, changes=changes_at(draft, before, nodes), caveats=caveats))
        last = LevelDraft(state.blueprint.level, finished, [], [], True, "the finished build")
        whole = await _told(ctx, last, state.stats, Inspection())
        told.append(changed(whole, title=f"{FINAL} {last.level}", changes=changes_at(last, drafts[-1], nodes)))
        guide = changed(state.guide, loadouts=told, no_loadouts="", **passive_steps(finished, nodes))
        notes = changed(
            state.construction.notes, evaluations=state.construction.notes.evaluations + panel.trials + tried
        )
        state = changed(state, blueprint=finished, guide=guide, construction=changed(state.construction, notes=notes))
        return state, with_loadouts(without_levelling(xml), f"{FINAL} {last.level}", files, level_by_points=exact)


def is_unchanged(ctx: PhaseContext, state: BuildState) -> bool:
    """Return whether the file is not of our making: an imported one's, or its parent's as it was."""
    unchanged = state.refinement is not None and not state.refinement.reached
    return ctx.request.mode is Mode.REFINEMENT and (unchanged or state.origin == "imported")


NO_SKILL = "At no level below the build's has the character a skill of this kind that deals damage."


def without(ctx: PhaseContext) -> str:
    """Return why a build has no loadouts, empty when they are to be made."""
    if is_refinement(ctx):
        return "A refinement changes the finished build only: the way there is its parent's."
    if ctx.request.effort is Effort.QUICK:
        return "Quick effort makes no levelling loadouts; normal effort does."
    if ctx.demands.level <= LEVELS[0]:
        return f"The build is for level {ctx.demands.level}; loadouts begin at level {LEVELS[0]}."
    try:
        plan_of(ctx.state.sub_problems)
    except InvalidTransition as error:
        return f"They need a plan: {error.message}."
    return ""


def in_levelling_order(finished: Blueprint, last: LevelDraft, nodes: Mapping[int, NodeFact]) -> Blueprint:
    """Return the build with its passives in the order of levelling: those of the last draft, then the rest as it was.

    Passives that only the other weapon set has come last, those of the ascendancy after all others.
    """
    first = {node: place for place, node in enumerate([*last.order, *last.ascendancy])}
    held = {node.id: place for place, node in enumerate(finished.nodes)}

    def rank(place: int) -> tuple[bool, bool, int]:
        node = finished.nodes[place]
        fact, idle = nodes.get(node.id), node.weapon_set not in (0, finished.weapon_set)
        in_ascendancy = fact is not None and fact.ascendancy is not None
        return in_ascendancy, idle, first.get(node.id, len(first) + held[node.id])

    return changed(finished, nodes=[finished.nodes[place] for place in sorted(range(len(finished.nodes)), key=rank)])


def _unspent(points: Mapping[str, int], level: int) -> int:
    return earned_points(level, points) - points.get("used", 0)


async def _told(ctx: PhaseContext, draft: LevelDraft, stats: Stats, inspection: Inspection) -> Loadout:
    """Return the draft as it was measured; what it lacks is among its caveats."""
    blueprint, facts = draft.blueprint, {gem.id: gem for gem in await ctx.engine.facts.gems()}
    nodes = {node.id: node for node in await ctx.engine.facts.nodes()}
    main = blueprint.main
    assert main is not None
    here = (0, blueprint.weapon_set)  # the other set's passives are bought with the same points
    mine = [nodes[node.id] for node in blueprint.nodes if node.id in nodes and node.weapon_set in here]
    spent = [node for node in mine if node.ascendancy is None]
    listed = await shopping_list(ctx.engine.facts, blueprint)
    lacking = [one for one in inspection.requirements if one.required > one.available]
    unmet = [f"{one.source or one.attribute} asks for {one.required:g} {one.attribute}" for one in lacking]
    left = _unspent(inspection.points, draft.level)
    told = "1 passive point is left over" if left == 1 else f"{left} passive points are left over"
    unspent = [told] if left > 0 and draft.order else []
    return Loadout(
        title=title_at(draft.level),
        level=draft.level,
        points=len(spent),
        ascendancy_points=sum(1 for node in mine if node.ascendancy is not None),
        skill=main.gems[0].name,
        is_main_skill=draft.is_main_skill,
        why=draft.why,
        supports=[gem.name for gem in main.gems[1:] if (f := facts.get(gem.gem_id)) and f.kind == "support"],
        others=[group.gems[0].name for group in blueprint.groups if group is not main and group.gems],
        gear=[WornItem(slot=e["slot"], base=e["base"], lines=[one["text"] for one in e["lines"]]) for e in listed],
        dps=stats.dps,
        ehp=stats.get(EHP),
        life=stats.get("Life"),
        energy_shield=stats.get("EnergyShield"),
        mana=stats.get("Mana"),
        engine=stats.engine,
        caveats=list(dict.fromkeys([*draft.caveats, *unmet, *inspection.warnings, *unspent])),
    )


def changes_at(draft: LevelDraft, before: LevelDraft | None, nodes: Mapping[int, NodeFact]) -> list[str]:
    """Return what to change when the level is reached, against the loadout before; nothing is said of the first."""
    if before is None:
        return []
    now, then = draft.blueprint, before.blueprint
    found = []
    if now.ascendancy != then.ascendancy:
        found.append(f"Ascend as {now.ascendancy}.")
    new, old = (
        [g.name for g in now.main.gems] if now.main else [],
        [g.name for g in then.main.gems] if then.main else [],
    )
    if new[0] != old[0]:
        found.append(f"Use {new[0]} instead of {old[0]}.")
    more, less = _beyond(new[1:], old[1:]), _beyond(old[1:], new[1:])
    if more or less:
        out = f" instead of {', '.join(less)}" if less else ""
        found.append(f"Support it with {', '.join(more)}{out}." if more else f"Take out {', '.join(less)}.")
    further = _beyond(_firsts(now), _firsts(then))
    if further:
        found.append(f"Add {', '.join(further)}.")
    held = {node.id for node in then.nodes}
    taken = [nodes[n.id].name for n in now.nodes if n.id not in held and n.id in nodes and nodes[n.id].kind in _TOLD]
    if taken:
        found.append(f"Passives on the way: {', '.join(taken)}.")
    arms = [now.items[slot].base for slot in _HANDS if slot in now.items]
    if arms != [then.items[slot].base for slot in _HANDS if slot in then.items]:
        found.append(f"Hold {' and '.join(arms)}.")
    return found


def _beyond(these: Sequence[str], those: Sequence[str]) -> list[str]:
    return [name for name in these if name not in those]


def _firsts(blueprint: Blueprint) -> list[str]:
    return [group.gems[0].name for group in blueprint.groups if group is not blueprint.main and group.gems]
