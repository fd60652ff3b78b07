"""Taking in somebody's finished build: loaded, recalculated, read and judged; nothing of it is changed."""

from __future__ import annotations

from dataclasses import dataclass

from app.conflicts.case import case_of
from app.conflicts.order import by_hand, caveats
from app.conflicts.table import find_conflicts
from app.engine.base import Engine, Session
from app.model.base import changed
from app.model.blueprint import SetMain
from app.model.constraints import InvariantSet
from app.model.demands import demands_of
from app.model.names import Outcome, Phase, Severity, SubProblemName
from app.model.state import BuildState, Snapshot
from app.model.stats import BuildReport
from app.model.sub_problems import SubProblem
from app.reasoning.base import FoundBuild, Reasoner
from app.search.incumbent import strongest_group


@dataclass(frozen=True)
class Imported:
    """A finished build made from a file: constraints, state and the XML as the engine writes it."""

    invariants: InvariantSet
    state: BuildState
    xml: bytes


async def take_in(engine: Engine, reasoner: Reasoner, xml: bytes) -> Imported:
    """Load the file in a fresh session and say what it is and what is wrong with it.

    A file remembers which skill was looked at last; where that one deals no damage, the strongest one is chosen.

    Raises:
        EngineRefused: it is not a build that the engine can load.
    """
    async with engine.session() as session:
        report = await session.load(xml)
        found = await _read(engine, session, await _with_main_skill(session))
        written = await session.export()
    invariants, sub_problems = await reasoner.recognise(found)
    state = await _judged(engine, invariants, _state(found, sub_problems, _left_out(engine, report)))
    # The estimator writes only what it knows; the file itself holds more.
    return Imported(invariants, state, xml if engine.version.estimate and report.problems else written)


async def _with_main_skill(session: Session) -> int | None:
    """Choose the skill that deals the damage; return the group that was chosen before, None when it stays."""
    blueprint = await session.blueprint()
    strongest = await strongest_group(session, blueprint)
    if strongest in (0, blueprint.main_group):
        return None
    await session.apply([SetMain(index=strongest)])
    return blueprint.main_group


async def _read(engine: Engine, session: Session, instead_of: int | None) -> FoundBuild:
    return FoundBuild(
        blueprint=await session.blueprint(),
        stats=await session.stats(),
        inspection=await session.inspect(),
        gems={gem.id: gem for gem in await engine.facts.gems()},
        bases={base.name: base for base in await engine.facts.bases()},
        nodes={node.id: node for node in await engine.facts.nodes()},
        instead_of=instead_of,
    )


def _state(found: FoundBuild, sub_problems: dict[SubProblemName, SubProblem], left_out: list[str]) -> BuildState:
    return BuildState(
        phase=Phase.COMPLETE,
        progress_label="imported",
        done=1,
        total=1,
        origin="imported",
        sub_problems=sub_problems,
        blueprint=found.blueprint,
        stats=found.stats,
        inspection=found.inspection,
        caveats=left_out,
    )


def _left_out(engine: Engine, report: BuildReport) -> list[str]:
    """Return what the engine did not take, in words."""
    lost = [f"{len(report.dropped_nodes)} passives are not on the engine's tree."] if report.dropped_nodes else []
    if not report.problems:
        return lost
    shown = "; ".join(report.problems[:3])
    if engine.version.estimate:
        return [*lost, f"The estimator does not know all of this file; Path of Building would ({shown})."]
    return [*lost, f"Not taken from the file: {shown}."]


async def _judged(engine: Engine, invariants: InvariantSet, state: BuildState) -> BuildState:
    assert state.blueprint is not None
    assert state.stats is not None
    conflicts = find_conflicts(await case_of(engine, demands_of(invariants), invariants, state))
    blocking = sum(conflict.severity is Severity.BLOCKING for conflict in conflicts)
    best = Snapshot(iteration=0, blueprint=state.blueprint, stats=state.stats, blocking=blocking, conflicts=conflicts)
    outcome = Outcome.CAVEATS if blocking or state.caveats else Outcome.VALIDATED
    told = [*state.caveats, *caveats(conflicts), *by_hand(conflicts)]
    return changed(state, conflicts=conflicts, best=best, caveats=told, outcome=outcome)
