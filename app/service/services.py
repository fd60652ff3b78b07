"""All use cases in one hand, as the entry points receive them."""

from __future__ import annotations

from dataclasses import dataclass

from app.service.builds import BuildService
from app.service.compare import Comparisons
from app.service.evaluations import Evaluations, Labels
from app.service.health import Health
from app.service.imports import Imports
from app.service.library import Library
from app.service.memory import Memories
from app.service.recordings import ExpectationChecks, Recordings
from app.service.refinement import Refinements
from app.telemetry.prometheus import ToolCounts


@dataclass(frozen=True)
class Reading:
    """What can be done beside a process that runs the builds."""

    library: Library
    recordings: Recordings
    expectations: ExpectationChecks
    comparisons: Comparisons
    labels: Labels
    memories: Memories


@dataclass(frozen=True)
class Services(Reading):
    """What HTTP and the command line may call."""

    builds: BuildService
    imports: Imports
    refinements: Refinements
    health: Health
    counts: ToolCounts
    evaluations: Evaluations
