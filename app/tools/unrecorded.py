"""Calls that leave no trace: what recording costs is measured against them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from app.model.events import ToolKind
from app.tools.runner import ToolRunner
from app.tools.scope import Scope

T = TypeVar("T")


class UnrecordedRunner(ToolRunner):
    """Makes each call once, with neither record nor cache nor quota; for measuring only."""

    async def call(
        self,
        scope: Scope,
        kind: ToolKind,
        tool: str,
        args: Mapping[str, Any],
        fn: Callable[[], Awaitable[T]],
        **options: Any,
    ) -> T:
        """Return what `fn` returns."""
        return await fn()
