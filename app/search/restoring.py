"""Going back to an earlier tree without loading the whole build again."""

from __future__ import annotations

from app.model.blueprint import JEWEL_SLOT, Allocate, Blueprint, Change, Deallocate, Equip, Unequip


def restoring(now: Blueprint, then: Blueprint) -> list[Change]:
    """Return the changes that bring back the passives and jewels of `then`; the rest of `now` stays as it is."""
    held, wanted = {n.id: n for n in now.nodes}, {n.id for n in then.nodes}
    changes: list[Change] = [
        Deallocate(nodes=sorted(held.keys() - wanted)),
        Allocate(nodes=[n for n in then.nodes if held.get(n.id) != n]),
    ]
    for slot in sorted(slot for slot in now.items | then.items if slot.startswith(JEWEL_SLOT)):
        item = then.items.get(slot)
        if item != now.items.get(slot):
            changes.append(Unequip(slot=slot) if item is None else Equip(item=item))
    return changes
