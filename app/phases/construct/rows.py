"""The before and after table of a refinement: one row per change, in words, with what it takes from which budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.engine.base import Facts
from app.model.blueprint import JEWEL_SLOT, Allocate, Blueprint, Change, Deallocate, Equip, SetGroup
from app.model.experiments import ChangeRow, Spending
from app.model.facts import NodeFact
from app.model.moves import part_of
from app.model.names import Attribute
from app.model.stats import DPS, EHP
from app.search.gear.legality import BaseKnowledge, knowledge
from app.search.refine.work import Commit

MERGED = frozenset({"attribute passives", "unspent passive points", "unspent ascendancy points"})
"""Levers whose many small commits are one change to a reader."""

_BIG = frozenset({"notable", "keystone", "socket"})
_SHOWN = 6


async def rows_of(facts: Facts, entries: Sequence[Commit]) -> list[ChangeRow]:
    """Return the rows of what a lever committed."""
    nodes = {node.id: node for node in await facts.nodes()}
    rows = []
    for entry in _merged(entries):
        worn = [change.item for change in entry.changes if isinstance(change, Equip)]
        known = await knowledge(facts, (item.base for item in worn if item.text is None))
        part, place, before, after, spending = _told(entry.build, entry.changes, nodes, known)
        row = ChangeRow(
            part=part,
            place=place,
            before=before,
            after=after,
            reason=f"{entry.reason}: {gains(entry.before, entry.after)}",
            figures_before=_shown(entry.before),
            figures_after=_shown(entry.after),
            spending=spending,
        )
        if row.before != row.after:
            rows.append(row)
    return rows


def _merged(entries: Sequence[Commit]) -> list[Commit]:
    """Join the commits of a lever that are one change to a reader."""
    if not entries or entries[0].reason not in MERGED:
        return list(entries)
    changes = tuple(change for entry in entries for change in entry.changes)
    first = entries[0]
    return [Commit(first.build, changes, first.before, entries[-1].after, first.reason)]


def gains(before: Mapping[str, float], after: Mapping[str, float]) -> str:
    """Return the changes of damage and effective hit points in words."""
    words = [f"{_change(before, after, EHP)} effective hit points", f"{_change(before, after, DPS)} damage"]
    return ", ".join(words)


def _change(before: Mapping[str, float], after: Mapping[str, float], key: str) -> str:
    old = before.get(key, 0.0)
    return f"{(after.get(key, 0.0) / old - 1) * 100:+.1f} %" if old > 0 else "no figure for"


def _shown(outputs: Mapping[str, float]) -> dict[str, float]:
    return {key: outputs[key] for key in (DPS, EHP) if key in outputs}


Told = tuple[str, str, str, str, list[Spending]]


def _told(
    build: Blueprint, changes: Sequence[Change], nodes: Mapping[int, NodeFact], known: Mapping[str, BaseKnowledge]
) -> Told:
    for change in changes:
        if isinstance(change, Equip) and not any(isinstance(c, Allocate) for c in changes):
            worn = build.items.get(change.item.slot)
            before = "nothing" if worn is None else worn.title or worn.base
            facts = known.get(change.item.base, BaseKnowledge(None)).affixes
            rolls = [*change.item.prefixes, *change.item.suffixes]
            lines = [" / ".join(facts[roll.id].lines) for roll in rolls if roll.id in facts]
            runes = [f"{rune} in a socket" for rune in change.item.runes]
            runes += [f"anointed with {change.item.anoint}"] if change.item.anoint else []
            room = 4 if change.item.slot.startswith(JEWEL_SLOT) else 6
            spending = [Spending(budget="affix_slots", spent=len(rolls), available=room)]

            if change.item.sockets:
                spending.append(
                    Spending(budget="rune_sockets", spent=len(change.item.runes), available=change.item.sockets)
                )
            after = (
                f"{change.item.rarity.lower()} {change.item.base}: {'; '.join([*lines, *runes])}"
                if lines or runes
                else change.item.base
            )
            return part_of(change.item.slot).value, change.item.slot, before, after, spending
        if isinstance(change, SetGroup):
            return _group(build, change)
    return _passives(build, changes, nodes)


def _group(build: Blueprint, change: SetGroup) -> Told:
    old = build.groups[change.index - 1] if change.index <= len(build.groups) else None
    name = change.group.gems[0].name
    before = "nothing" if old is None else ", ".join(gem.name for gem in old.gems)
    after = ", ".join(gem.name for gem in change.group.gems) if change.group.enabled else "switched off"
    count = float(len(change.group.gems) - 1)
    part = "spirit" if old is None else "supports"
    return part, name, before, after, [Spending(budget="support_slots", spent=count)]


def _passives(build: Blueprint, changes: Sequence[Change], nodes: Mapping[int, NodeFact]) -> Told:
    old = {node.id: node.attribute for node in build.nodes}
    new = dict(old)
    for change in changes:
        if isinstance(change, Allocate):
            new |= {node.id: node.attribute for node in change.nodes}
        if isinstance(change, Deallocate):
            new = {node: choice for node, choice in new.items() if node not in change.nodes}
    gone, added = sorted(old.keys() - new.keys()), sorted(new.keys() - old.keys())
    if not gone and not added:
        return "attributes", "attribute passives", _choices(old), _choices(new), []
    inside = all(nodes[n].ascendancy for n in [*gone, *added] if n in nodes)
    part, budget = ("ascendancy", "ascendancy_points") if inside else ("tree", "passive_points")
    spending = [Spending(budget=budget, spent=float(len(added) - len(gone)))]
    return part, "passives", _names(gone, nodes), _names(added, nodes), spending


def _choices(nodes: Mapping[int, Attribute | None]) -> str:
    counts = {a: sum(choice is a for choice in nodes.values()) for a in Attribute}
    return ", ".join(f"{count} x {a.value}" for a, count in counts.items() if count) or "none"


def _names(ids: Sequence[int], nodes: Mapping[int, NodeFact]) -> str:
    """Return the notable passives by name and the others by number."""
    big = [nodes[i].name for i in ids if i in nodes and nodes[i].kind in _BIG]
    small = len(ids) - len(big)
    shown = [*big[:_SHOWN], *([f"{len(big) - _SHOWN} more notables"] if len(big) > _SHOWN else [])]
    return ", ".join([*shown, *([f"{small} small passives"] if small else [])]) or "nothing"
