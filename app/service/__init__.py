"""Use cases: what a caller can ask of the product, the same for HTTP and the command line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.service.builds import BuildService
from app.service.comparisons import Comparisons
from app.service.estimates import Estimates
from app.service.evaluations import Evaluations, Labels
from app.service.health import Health, Installation
from app.service.imports import Imports
from app.service.library import Library
from app.service.memories import Memories
from app.service.prompts import Prompts
from app.service.recordings import ExpectationChecks, Recordings
from app.service.refinement import Refinements
from app.service.repairs import Repairs
from app.service.retention import Retention
from app.service.tokens import Tokens
from app.service.trees import Trees
from app.service.usage import UsageReports
from app.telemetry.prometheus import ToolCounts


@dataclass(frozen=True)
class ReadServices:
    """What can be done beside a process that runs the builds."""

    library: Library
    recordings: Recordings
    estimates: Estimates
    expectations: ExpectationChecks
    comparisons: Comparisons
    labels: Labels
    memories: Memories
    tokens: Tokens
    retention: Retention
    usage: UsageReports


@dataclass(frozen=True)
class Services(ReadServices):
    """What HTTP and the command line may call."""

    builds: BuildService
    imports: Imports
    refinements: Refinements
    repairs: Repairs
    prompts: Prompts
    health: Health
    counts: ToolCounts
    evaluations: Evaluations
    setup: Callable[[], Installation]
    trees: Trees
