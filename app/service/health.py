"""Whether the product can serve: alive is free, ready asks the store and names the engine."""

from __future__ import annotations

from app.core.errors import AppError
from app.model.base import Model
from app.service.builds import Engines
from app.storage.base import BuildStore


class Readiness(Model):
    """`ready` and, per part, `ok` or what is wrong."""

    ready: bool
    checks: dict[str, str]


class Health:
    """Checks the parts that a build needs."""

    def __init__(self, store: BuildStore, engines: Engines) -> None:
        self._store = store
        self._engines = engines

    async def ready(self) -> Readiness:
        """Return whether builds can be accepted now."""
        checks = {"store": await self._check_store(), "engine": self._check_engine()}
        return Readiness(ready=all(word == "ok" for word in checks.values()), checks=checks)

    async def _check_store(self) -> str:
        try:
            await self._store.page(limit=1)
        except AppError as error:
            return error.code
        return "ok"

    def _check_engine(self) -> str:
        try:
            self._engines.check("auto")
        except AppError as error:
            return error.code
        return "ok"
