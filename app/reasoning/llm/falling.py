"""What is said when the rules had to answer instead of the model."""

from __future__ import annotations

from app.core.errors import AppError, BudgetExceeded, LlmRejected, LlmUnavailable
from app.reasoning.base import Remarks

_OUTSIDE_WORDS = (LlmUnavailable, LlmRejected)
"""Errors whose message holds words of the provider, which belong into the event log and not into the state."""


def fallen_back(label: str, error: AppError) -> Remarks:
    """Return the remark for a step; a budget that ended is worth a caveat too."""
    why = error.code if isinstance(error, _OUTSIDE_WORDS) else f"{error.code}: {error.message[:200]}"
    caveats: tuple[str, ...] = ()
    if isinstance(error, BudgetExceeded) and error.details.get("which") != "tool_rounds":
        caveats = (f"{error.message} From then on the rules decided instead of the language model.",)
    return Remarks(degraded=(f"{label}: {why}",), caveats=caveats)
