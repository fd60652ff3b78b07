"""What construct notices on its way: gaps that a later stage may still cover, and shortfalls that are tolerable."""

from __future__ import annotations

from dataclasses import replace

from app.engine.base import Session
from app.model.conflicts import BuildConflict
from app.model.names import Severity
from app.phases.base import PhaseContext
from app.phases.rules.case import Rule
from app.phases.rules.requirements import requirements_met, supports_affordable
from app.phases.rules.resources import main_skill_sustained, spirit_within_pool
from app.phases.rules.strength import damage, effective_hit_points, resistances
from app.phases.validate import case_of
from app.search.base import StageResult

WATCHED = frozenset({"gear"})
"""Stages after which everything is there for the first time, and others still follow that may cover a gap."""

TOLERATED = "tolerated"
"""The note with shortfalls within tolerance, in words."""

_GAPS: tuple[Rule, ...] = (
    resistances,
    requirements_met,
    supports_affordable,
    spirit_within_pool,
    main_skill_sustained,
    effective_hit_points,
    damage,
)


async def with_gaps(ctx: PhaseContext, session: Session, result: StageResult) -> StageResult:
    """Return the stage's result with what is missing now.

    What would block becomes a provisional conflict, which validate confirms by finding it again, or drops; what is
    within tolerance becomes a note.
    """
    stats, inspection = await session.stats(), await session.inspect()
    now = {"blueprint": result.blueprint, "stats": stats, "inspection": inspection}
    case = await case_of(ctx.engine, ctx.invariants, ctx.state.model_copy(update=now))
    found = [conflict for rule in _GAPS for conflict in rule(case)]
    gaps = [conflict for conflict in found if conflict.severity is Severity.BLOCKING]
    fine = [conflict.message for conflict in found if conflict.severity is not Severity.BLOCKING]
    return replace(result, conflicts=(*result.conflicts, *gaps), notes={**result.notes, TOLERATED: fine})


def confirmed(conflicts: list[BuildConflict]) -> list[BuildConflict]:
    """Return what is left when construction halts: nothing was validated, so nothing provisional is known."""
    return [conflict for conflict in conflicts if not conflict.provisional]
