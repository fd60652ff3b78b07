"""Applying changes to a blueprint: pure, the same in every process."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from app.model.blueprint import (
    Allocate,
    Blueprint,
    Change,
    Deallocate,
    Equip,
    RemoveGroup,
    SetConfig,
    SetGroup,
    SetMain,
    Unequip,
)


def apply_changes(blueprint: Blueprint, changes: Sequence[Change]) -> Blueprint:
    """Return the blueprint with the changes applied in order; connectivity is the engine's to judge."""
    return reduce(_apply, changes, blueprint)


def _apply(blueprint: Blueprint, change: Change) -> Blueprint:
    match change:
        case Allocate(nodes=nodes):
            new = {node.id: node for node in nodes}
            kept = [new.pop(old.id, old) for old in blueprint.nodes]
            return blueprint.model_copy(update={"nodes": [*kept, *new.values()]})
        case Deallocate(nodes=ids):
            gone = set(ids)
            return blueprint.model_copy(update={"nodes": [n for n in blueprint.nodes if n.id not in gone]})
        case Equip(item=item):
            return blueprint.model_copy(update={"items": {**blueprint.items, item.slot: item}})
        case Unequip(slot=slot):
            items = {name: item for name, item in blueprint.items.items() if name != slot}
            return blueprint.model_copy(update={"items": items})
        case SetGroup() | RemoveGroup() | SetMain():
            return _apply_group(blueprint, change)
        case SetConfig(key=key, value=value):
            config = {k: v for k, v in blueprint.config.items() if k != key}
            return blueprint.model_copy(update={"config": config if value is None else {**config, key: value}})


def _apply_group(blueprint: Blueprint, change: SetGroup | RemoveGroup | SetMain) -> Blueprint:
    groups = list(blueprint.groups)
    match change:
        case SetMain(index=index):
            return blueprint.model_copy(update={"main_group": index, "main_granted": None})
        case SetGroup(index=index, group=group):
            groups[index - 1 : index] = [group]
            return blueprint.model_copy(update={"groups": groups})
        case RemoveGroup(index=index):
            del groups[index - 1]
            main = blueprint.main_group
            shifted = 0 if main == index else main - 1 if main > index else main
            return blueprint.model_copy(update={"groups": groups, "main_group": shifted})
