"""Strategic mode: before anything is built, compare whole ways of dealing damage by experiment.

Iterative deepening: every way is founded and measured bare (screen), what was decided and its best rival again with
their supports (check).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from app.model.base import changed
from app.model.blueprint import Blueprint
from app.model.constraints import InvariantSet
from app.model.experiments import Experiment, Variant
from app.model.names import Mode, SubProblemName, Trigger
from app.model.state import BuildState
from app.model.stats import DPS, EHP
from app.model.sub_problems import Decision, DeliveryChoice, Option
from app.phases.base import BUDGETS, PhaseContext, PhaseResult, PhaseStep, search_context, spent
from app.search.base import plan_of
from app.search.objective import Guard, objective_for
from app.search.sessions import USUAL, Sharing, open_parallel
from app.search.stages.foundation import found
from app.search.stages.skills import main_supports

Q = SubProblemName
VARIANTS = BUDGETS[Mode.STRATEGIC].variants_allowed
FINALISTS = 2
CLEARLY = 0.05
"""Another way must score this much better (about 5 % of damage or hit points) to replace what was decided."""


@dataclass(frozen=True)
class Way:
    """One way of dealing damage, as measured; the score is the build objective's."""

    option: Option
    figures: Mapping[str, float]
    score: float
    trials: int


@dataclass(frozen=True)
class StrategicExplore:
    """Explores like any build; once every question is answered, a strategic one compares before it builds."""

    inner: PhaseStep
    sharing: Sharing = USUAL

    async def run(self, ctx: PhaseContext) -> PhaseResult:
        """Do one step."""
        result = await self.inner.run(ctx)
        if result.trigger is not Trigger.EXPLORED or not _is_due(result.state, ctx.invariants):
            return result
        state = await self._compared(replace(ctx, state=result.state))
        open_again = any(not sub.is_decided for sub in state.sub_problems.values())
        return replace(result, state=state, trigger=None if open_again else result.trigger)

    async def _compared(self, ctx: PhaseContext) -> BuildState:
        ways = [await self._measured(ctx, option, deep=False) for option in ways_of(ctx.state, ctx.invariants)]
        screening = _experiment("screen", ways)
        # What was decided is always among the finalists: nothing replaces it that was not measured beside it.
        rivals = [way.option for way in _ranked(ways) if way is not ways[0]]
        finalists = [ways[0].option, *rivals[: FINALISTS - 1]]
        deep = [await self._measured(ctx, option, deep=True) for option in finalists]
        checking = _experiment("check", deep)
        state = _noted(ctx.state, screening, checking)
        # Put the best way in place; questions that were answered on the strength of another one are open again.
        sub = state.sub_problems[Q.DAMAGE_DELIVERY]
        assert sub.decision is not None
        current, best = deep[0], _ranked(deep)[0]
        if best is current or best.score < current.score + CLEARLY:
            return changed(state, progress_label=f"compared: {sub.decision.name} stays")
        old = Option(
            name=sub.decision.name,
            choice=sub.decision.choice,
            score=current.score,
            reason=sub.decision.reason,
            rejected_because=f"measured weaker (experiment {checking.id})",
        )
        others = [option for option in sub.decision.alternatives if option.name != best.option.name]
        decision = Decision(
            name=best.option.name,
            choice=best.option.choice,
            reason=f"{best.option.reason} Measured best by experiment {checking.id}.".strip(),
            alternatives=[old, *others],
        )
        subs = {
            name: other.reopen(attempted=False) if Q.DAMAGE_DELIVERY in other.depends_on else other
            for name, other in state.sub_problems.items()
        }
        subs[Q.DAMAGE_DELIVERY] = sub.reopen(attempted=False).decide(decision)
        return changed(state, sub_problems=subs, progress_label=f"compared: {decision.name} instead")

    async def _measured(self, ctx: PhaseContext, option: Option, deep: bool) -> Way:
        """Found the build with this way of dealing damage, choose its supports when asked to, and measure."""
        assert isinstance(option.choice, DeliveryChoice)
        plan = replace(plan_of(ctx.state.sub_problems), delivery=option.choice)
        hero = plan.ascendancy
        bare = Blueprint(class_name=hero.class_name, ascendancy=hero.ascendancy, level=ctx.demands.level)
        async with open_parallel(ctx.engine, None, self.sharing) as panel:
            start = search_context(ctx, plan, panel, bare)
            built = await found(start)
            if deep:
                built = await main_supports(replace(start, blueprint=built.blueprint))
            objective = objective_for(start).without(Guard.RESISTANCE, Guard.ATTRIBUTES)
            (outputs,) = await panel.what_if([[]], objective.metrics)
            return Way(option, outputs, objective.score(outputs), panel.trials)


def _is_due(state: BuildState, invariants: InvariantSet) -> bool:
    strategic = state.exploration is not None and state.exploration.mode is Mode.STRATEGIC
    return strategic and not state.experiments and state.iteration == 0 and len(ways_of(state, invariants)) > 1


def ways_of(state: BuildState, invariants: InvariantSet) -> list[Option]:
    """Return what was decided and the alternatives that really are other ways, at most as many as the budget allows.

    Skills that the user named are up for comparison among themselves alone, one that was with what to hold for it.
    """
    decision = state.sub_problems[Q.DAMAGE_DELIVERY].decision
    if decision is None:
        return []
    first = Option(name=decision.name, choice=decision.choice, reason=decision.reason)
    named = set(invariants.listed("skill")) if invariants.is_explicit("skill") else set()
    ways: dict[tuple[object, ...], Option] = {}
    for option in [first, *decision.alternatives]:
        choice = option.choice
        if isinstance(choice, DeliveryChoice) and (option is first or not named or choice.skill_name in named):
            ways.setdefault((choice.skill_id, tuple(choice.weapon_types[:1]), choice.off_hand), option)
    return list(ways.values())[:VARIANTS]


def _ranked(ways: Sequence[Way]) -> list[Way]:
    return sorted(ways, key=lambda way: (-way.score, way.option.name))


def _experiment(stage: str, ways: Sequence[Way]) -> Experiment:
    best = _ranked(ways)[0]
    variants = [
        Variant(
            name=way.option.name,
            figures={key: way.figures[key] for key in (DPS, EHP) if key in way.figures},
            gain=round(way.score - ways[0].score, 4),
        )
        for way in ways
    ]
    how = "founded, with plain gear and no supports" if stage == "screen" else "founded, with its supports"
    return Experiment.model_validate(
        {
            "id": f"{stage}-ways-of-dealing-damage",
            "question": "Which way of dealing damage is worth building?",
            "sub_problem": Q.DAMAGE_DELIVERY,
            "stage": stage,
            "metric": "score of damage and effective hit points",
            "baseline": dict(variants[0].figures),
            "variants": variants,
            "chosen": best.option.name,
            "verdict": f"{best.option.name} is best of {len(ways)} ({how})",
            "engine_calls": sum(way.trials for way in ways),
        }
    )


def _noted(state: BuildState, *experiments: Experiment) -> BuildState:
    exploration = state.exploration
    for experiment in experiments:
        exploration = spent(exploration, experiment.engine_calls, len(experiment.variants))
    return changed(state, experiments=[*state.experiments, *experiments], exploration=exploration)
