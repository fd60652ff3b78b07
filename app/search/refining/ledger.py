"""A workbench that remembers what every commit changed in the figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.engine.base import Outputs
from app.model.blueprint import Blueprint, Change
from app.search.objective import Objective
from app.search.refining.session import LoadedSession
from app.search.workbench import Workbench


@dataclass(frozen=True)
class Entry:
    """One commit: the build before, the changes, and the figures before and after."""

    build: Blueprint
    changes: tuple[Change, ...]
    before: Outputs
    after: Outputs
    reason: str = ""


@dataclass
class Marks:
    """What the next commits are for."""

    reason: str = ""
    entries: list[Entry] = field(default_factory=list)


class Ledger(Workbench):
    """A workbench on a loaded file."""

    def __init__(self, session: LoadedSession, blueprint: Blueprint, objective: Objective) -> None:
        super().__init__(session, blueprint, objective)
        self.loaded = session
        self.marks = Marks()

    async def commit(self, changes: Sequence[Change]) -> float:
        """Commit the changes, note them and return the gain."""
        build, before, made = self.blueprint, dict(self.outputs), len(self.loaded.made)
        gain = await super().commit(changes)
        done = tuple(self.loaded.made[made:])
        self.marks.entries.append(Entry(build, done, before, dict(self.outputs), self.marks.reason))
        return gain

    async def rewind(self, blueprint: Blueprint) -> None:
        """Go back to an earlier blueprint and forget what was committed since then."""
        await super().rewind(blueprint)
        at = next((i for i, entry in enumerate(self.marks.entries) if entry.build == blueprint), None)
        if at is not None:
            del self.marks.entries[at:]
