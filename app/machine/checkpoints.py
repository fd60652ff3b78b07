"""What each ending of a step writes. Pure: a record and what happened in, a checkpoint out."""

from __future__ import annotations

from collections.abc import Sequence

from app.core.errors import AppError
from app.machine.phases import next_phase
from app.model.base import changed
from app.model.constraints import InvariantSet
from app.model.dialogue import share_of
from app.model.names import BuildStatus, Outcome, Phase, Trigger
from app.model.record import BuildFailure, BuildRecord, Happening, ProgressData, ReasonerVersion
from app.model.state import BuildState
from app.model.sub_problems import check_moves
from app.phases.base import PhaseContext, PhaseResult
from app.phases.validate.caveats import with_caveats
from app.phases.validate.story import noted
from app.reasoning.base import Remarks
from app.storage.base import Checkpoint


def after_step(record: BuildRecord, ctx: PhaseContext, result: PhaseResult) -> Checkpoint:
    """Return what a finished step writes: its state, moved along the table, and the events people see.

    Raises:
        InvalidTransition: the step asks for a move that a table does not have.
    """
    check_moves(record.state.sub_problems, result.state.sub_problems)
    state = changed(_remarked(result.state, ctx.reasoner.remarks), phase=record.state.phase)
    step = ProgressData(phase=state.phase, label=state.progress_label, done=state.done, total=state.total)
    progress = [("step", step), *_question(record.invariants, result.invariants)]
    if result.trigger is not None:
        state = _moved(state, result.trigger)
        progress.append(("phase", ProgressData(phase=state.phase, iteration=state.iteration)))
    done = state.phase is Phase.COMPLETE
    return Checkpoint(
        state=state,
        status=BuildStatus.COMPLETE if done else None,
        invariants=result.invariants,
        xml=noted(result.xml or ctx.xml, state) if done else result.xml,
        engine=ctx.engine.version,
        reasoner=ReasonerVersion(name=ctx.reasoner.name, model=ctx.reasoner.model),
        progress=[*progress, *(_ended(BuildStatus.COMPLETE, state) if done else ())],
    )


def cancelled(record: BuildRecord, partial: PhaseResult | None = None) -> Checkpoint:
    """Return what a cancelled build writes: its state as of the last checkpoint, measured when there was a build."""
    state = record.state if partial is None else partial.state
    return Checkpoint(
        state=state,
        status=BuildStatus.CANCELLED,
        xml=None if partial is None else partial.xml,
        progress=_ended(BuildStatus.CANCELLED, state),
    )


def failed(record: BuildRecord, code: str, message: str) -> Checkpoint:
    """Return what a failed build writes; its state stays, so that it can be resumed."""
    failure = BuildFailure(code=code, message=message)
    return Checkpoint(
        state=record.state,
        status=BuildStatus.FAILED,
        failure=failure,
        progress=_ended(BuildStatus.FAILED, record.state, failure),
    )


def failed_by(record: BuildRecord, error: AppError) -> Checkpoint:
    """Return what a build writes that a typed error ended."""
    return failed(record, error.code, error.message)


def time_spent(seconds: float) -> str:
    """Return in words that the time budget ended."""
    return f"The time budget of {seconds:g} s ended before the build was finished."


def out_of_time(record: BuildRecord, seconds: float, partial: PhaseResult | None = None) -> Checkpoint:
    """Return the best build so far with a caveat, else what there is of one, or a failure when there is nothing."""
    sentence = time_spent(seconds)
    best = record.state.best
    if best is None and partial is None:
        return failed(record, "budget_exceeded", sentence)
    if best is None:
        assert partial is not None
        return _given_up(partial.state, partial.xml)
    kept = changed(
        record.state,
        blueprint=best.blueprint,
        stats=best.stats,
        inspection=record.state.inspection if record.state.blueprint == best.blueprint else None,
        conflicts=best.conflicts,
        wishes=best.wishes,
    )
    return _given_up(with_caveats(kept, sentence), record.xml)


def _given_up(state: BuildState, xml: bytes | None) -> Checkpoint:
    state = _moved(state, Trigger.GAVE_UP)
    moved = ("phase", ProgressData(phase=state.phase, iteration=state.iteration))
    xml = noted(xml, state)
    return Checkpoint(state, BuildStatus.COMPLETE, xml=xml, progress=[moved, *_ended(BuildStatus.COMPLETE, state)])


def _remarked(state: BuildState, remarks: Remarks) -> BuildState:
    """Return the state with what went otherwise than asked during the step."""
    return changed(
        state,
        degraded=_joined(state.degraded, remarks.degraded),
        domain_gaps=_joined(state.domain_gaps, remarks.domain_gaps),
        standing_caveats=_joined(state.standing_caveats, remarks.caveats),
        dialogue=[*state.dialogue, *remarks.turns],
    )


def _joined(old: Sequence[str], new: Sequence[str]) -> list[str]:
    return list(dict.fromkeys([*old, *new]))


def _moved(state: BuildState, trigger: Trigger) -> BuildState:
    phase = next_phase(state.phase, trigger)
    if phase is not Phase.COMPLETE:
        return changed(state, phase=phase, done=0, total=0)
    default = Outcome.VALIDATED if trigger is Trigger.VALIDATED else Outcome.CAVEATS
    who = share_of(state.dialogue, state.degraded)
    told = [who.share] if who.decided < who.asked else []
    caveats = _joined(state.caveats, [*state.standing_caveats, *told])
    said = [turn.outcome for turn in state.dialogue]
    return changed(state, phase=phase, outcome=state.outcome or default, caveats=caveats, dialogue=said)


def _question(before: InvariantSet, after: InvariantSet | None) -> list[Happening]:
    if after is None or after.question is None or after.question == before.question:
        return []
    return [("question", ProgressData.model_validate(after.question.model_dump()))]


def _ended(status: BuildStatus, state: BuildState, failure: BuildFailure | None = None) -> list[Happening]:
    finished = ProgressData(status=status, outcome=state.outcome if status is BuildStatus.COMPLETE else None)
    if failure is not None:
        finished = changed(finished, failure=failure)
    return [("status", ProgressData(status=status)), ("finished", finished)]
