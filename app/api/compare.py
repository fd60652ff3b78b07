"""The route that puts builds next to each other."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from app.api.deps import ServicesDep
from app.api.problems import documented
from app.core.errors import NotFound, StorageBusy
from app.metrics.comparison import Comparison

router = APIRouter(prefix="/v1", tags=["recordings"])
Ids = Annotated[str, Query(min_length=1, max_length=1000, description="Builds (or label:NAME), separated by commas")]


@router.get("/compare", responses=documented(NotFound, StorageBusy))
async def compare_builds(ids: Ids, services: ServicesDep) -> Comparison:
    """Compare two or more builds: tool use, outcome, cost; the first is what the others are held against."""
    return await services.comparisons.compare([name.strip() for name in ids.split(",")])
