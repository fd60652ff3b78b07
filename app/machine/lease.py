"""The fence: who may write a build. Every write of the driver goes through here and carries the epoch of its claim."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime

from app.core.errors import LeaseLost, StorageError
from app.model.names import BuildStatus
from app.model.record import UNTRIED, BuildRecord
from app.storage.base import BuildStore, Checkpoint

_COPIED = ("invariants", "xml", "engine", "reasoner", "failure", "status")


class Lease:
    """The right to write one build until somebody else claims it; `record` is the build as last written."""

    def __init__(self, store: BuildStore, record: BuildRecord) -> None:
        self._store = store
        self.record = record

    @property
    def running(self) -> bool:
        """Whether the build still has steps to do."""
        return self.record.status is BuildStatus.RUNNING

    async def write(self, change: Checkpoint) -> None:
        """Write a checkpoint.

        Raises:
            LeaseLost: another runner claimed the build; nothing was written.
            StorageError: the store failed; nothing was written.
        """
        await self._store.checkpoint(self.record.id, self.record.epoch, change)
        changed = {name: value for name in _COPIED if (value := getattr(change, name)) is not None}
        self.record = self.record.model_copy(
            update={**changed, **UNTRIED, "attempts": change.attempts, "state": change.state}
        )

    async def release(self) -> None:
        """Give the claim back, so that this taking-up does not count as one that was interrupted.

        What makes that impossible (another runner has the build, the store is away) is no concern of who leaves.
        """
        with suppress(LeaseLost, StorageError):
            await self._store.release(self.record.id, self.record.epoch)

    async def set_aside(self, until: datetime) -> None:
        """Leave the build alone until then.

        Raises:
            LeaseLost: another runner claimed the build.
        """
        await self._store.set_aside(self.record.id, self.record.epoch, until)
        self.record = self.record.model_copy(update={"status": BuildStatus.QUEUED, "not_before": until})

    async def cancel_requested(self) -> bool:
        """Return whether the owner of the build wants it cancelled.

        Raises:
            LeaseLost: another runner claimed the build.
        """
        return await self._store.cancel_requested(self.record.id, self.record.epoch)


async def claim(store: BuildStore, build_id: str, *, alone: bool = False) -> Lease | None:
    """Claim the build by raising its epoch; None when there is nothing to do for it, or not yet, or not like this."""
    record = await store.claim(build_id, alone=alone)
    return None if record is None else Lease(store, record)
