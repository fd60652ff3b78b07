"""Which skill's damage counts: the file's main skill, unless that shows next to none and another one does."""

from __future__ import annotations

from app.engine.base import Session
from app.model.blueprint import Blueprint, Change, SetMain
from app.model.stats import DPS

NEGLIGIBLE = 0.01
"""A main skill below this share of the strongest one's damage is not what the build deals damage with."""


async def strongest_group(session: Session, blueprint: Blueprint) -> int:
    """Return the 1-based group to measure damage with, 0 when no group shows damage."""
    alone: list[list[Change]] = [[SetMain(index=i)] for i in range(1, len(blueprint.groups) + 1)]
    own, *each = [outputs.get(DPS, 0.0) for outputs in await session.what_if([[], *alone], [DPS])]
    best = max(range(len(each)), key=lambda i: (each[i], -i), default=None)
    if best is None or max(own, each[best]) <= 0:
        return 0
    return blueprint.main_group if own >= NEGLIGIBLE * each[best] else best + 1


def lens(strongest: int, blueprint: Blueprint) -> list[Change]:
    """Return the changes under which a trial shows that group's damage; none when it is the main group already."""
    return [] if strongest in (0, blueprint.main_group) else [SetMain(index=strongest)]
