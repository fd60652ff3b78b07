"""What construct is made of: stages that turn a blueprint into a better one, each a resumable step.

And what of the race's winner it goes on from: its plan, and the build that was begun or completed by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from app.core.errors import InvalidTransition
from app.engine.base import Engine, Session
from app.knowledge.exclusions import Exclusions, ruled_out
from app.knowledge.gems import is_minion, tags
from app.model.blueprint import Blueprint, ConfigValue
from app.model.conflicts import BuildConflict
from app.model.constraints import InvariantSet
from app.model.construction import StageNotes
from app.model.demands import Demands, rewards_beyond
from app.model.facts import GemFact
from app.model.names import Effort, Goal, SubProblemName
from app.model.race import CompletedBuild, Contender, Race
from app.model.sub_problems import (
    AscendancyChoice,
    Choice,
    Constraint,
    Decision,
    DeliveryChoice,
    RequirementsChoice,
    ScalingChoice,
    SpiritChoice,
    SubProblem,
    SurvivabilityChoice,
    SustainChoice,
)

C = TypeVar("C", bound=Choice)


@dataclass(frozen=True)
class Plan:
    """All decided choices in one place, with the constraints that conflicts put on them.

    `alternatives` are the ways to deal damage that were not chosen, the next best first.
    """

    ascendancy: AscendancyChoice
    delivery: DeliveryChoice
    scaling: ScalingChoice
    survivability: SurvivabilityChoice
    sustain: SustainChoice
    spirit: SpiritChoice
    requirements: RequirementsChoice
    constraints: tuple[Constraint, ...] = ()
    alternatives: tuple[DeliveryChoice, ...] = ()


@dataclass(frozen=True)
class SearchContext:
    """What a stage works with: a session already loaded with `blueprint`, the plan and the demands.

    A stage may commit changes to `session`; afterwards session and returned blueprint must agree.
    """

    engine: Engine
    session: Session
    blueprint: Blueprint
    plan: Plan
    demands: Demands
    invariants: InvariantSet
    seed: int
    notes: StageNotes = field(default_factory=StageNotes)
    effort: Effort = Effort.NORMAL

    @property
    def exclusions(self) -> Exclusions:
        """What the user ruled out."""
        return ruled_out(self.invariants)


@dataclass(frozen=True)
class StageResult:
    """The better blueprint (or the same: "no change" is an answer), notes for later stages, conflicts seen."""

    blueprint: Blueprint
    notes: StageNotes = field(default_factory=StageNotes)
    conflicts: tuple[BuildConflict, ...] = ()
    label: str = ""


def plan_of(sub_problems: Mapping[SubProblemName, SubProblem]) -> Plan:
    """Return the plan that the seven decisions make.

    Raises:
        InvalidTransition: a question is not decided yet, or answered with the wrong kind of choice.
    """
    constraints = [c for name in SubProblemName if name in sub_problems for c in sub_problems[name].constraints]
    return Plan(
        ascendancy=_decided(sub_problems, SubProblemName.ASCENDANCY, AscendancyChoice),
        delivery=_decided(sub_problems, SubProblemName.DAMAGE_DELIVERY, DeliveryChoice),
        scaling=_decided(sub_problems, SubProblemName.DAMAGE_SCALING, ScalingChoice),
        survivability=_decided(sub_problems, SubProblemName.SURVIVABILITY, SurvivabilityChoice),
        sustain=_decided(sub_problems, SubProblemName.RESOURCE_SUSTAIN, SustainChoice),
        spirit=_decided(sub_problems, SubProblemName.SPIRIT_ALLOCATION, SpiritChoice),
        requirements=_decided(sub_problems, SubProblemName.STAT_REQUIREMENTS, RequirementsChoice),
        constraints=tuple(constraints),
        alternatives=_alternatives(sub_problems),
    )


def plan_from(answers: Mapping[SubProblemName, Choice]) -> Plan:
    """Return the plan that seven answers make which nobody has decided on.

    Raises:
        InvalidTransition: one is missing, or is of the wrong kind.
    """
    made = {name: Decision(name=name.value, choice=choice, reason="") for name, choice in answers.items()}
    return plan_of({name: SubProblem(name=name, decision=decision) for name, decision in made.items()})


def _alternatives(sub_problems: Mapping[SubProblemName, SubProblem]) -> tuple[DeliveryChoice, ...]:
    decision = sub_problems[SubProblemName.DAMAGE_DELIVERY].decision
    others = decision.alternatives if decision is not None else []
    return tuple(option.choice for option in others if isinstance(option.choice, DeliveryChoice))


def _decided(sub_problems: Mapping[SubProblemName, SubProblem], name: SubProblemName, kind: type[C]) -> C:
    decision = sub_problems[name].decision if name in sub_problems else None
    if decision is None or not isinstance(decision.choice, kind):
        raise InvalidTransition(f"{name.value} is not decided, so nothing can be constructed", sub_problem=name.value)
    return decision.choice


_PENALTIES = ((65, -60), (55, -50), (45, -40), (35, -30), (25, -20), (15, -10), (1, 0))
"""From this level on a character has usually left the act that lowers resistances to this value."""


RANGE = 40
"""Tenths of a metre from which projectiles are fired: by default Path of Building's enemy stands before one's feet."""


def config_for(goal: Goal, level: int, main: GemFact) -> dict[str, ConfigValue]:
    """Return the configuration: a Pinnacle boss for bossing, else a normal one, and what goes with the level.

    That is the penalty on resistances, and the quests that are still to be done. Levelling has a boss too: an act ends
    with one, players' figures are against one, and common monsters hit weakly and die of a culling strike at 35 % life.
    Who fires projectiles keeps a distance, so that what helps "within 2 metres" does not count.
    """
    penalty = next(value for start, value in _PENALTIES if level >= start)
    boss = "Pinnacle" if goal is Goal.BOSSING else "Boss"
    afar: dict[str, ConfigValue] = (
        {"enemyDistance": RANGE} if "projectile" in tags(main) and not is_minion(main) else {}
    )
    ahead: dict[str, ConfigValue] = dict.fromkeys(rewards_beyond(level), False)
    return {"enemyIsBoss": boss, "resistancePenalty": penalty, **afar, **ahead}


def planned(contender: Contender) -> Plan:
    """Return the plan of a contender, with the ascendancy of its draft and the defence that this was begun with."""
    defence = contender.defence
    plan = plan_from({**contender.answers, **({SubProblemName.SURVIVABILITY: defence} if defence else {})})
    drafted = contender.draft.ascendancy if contender.draft is not None else None
    hero = next((one for one in contender.ascendancies if one.ascendancy == drafted), plan.ascendancy)
    return replace(plan, ascendancy=hero)


def begun_of(race: Race | None, plan: Plan) -> Blueprint | None:
    """Return the build that the race began by such a plan; None where it began none, or something else was decided."""
    winner = race.winner if race is not None else None
    if winner is None or winner.draft is None or not winner.is_whole:
        return None
    return winner.draft if _basis(planned(winner)) == _basis(plan) else None


def _basis(plan: Plan) -> tuple[object, ...]:
    """Return what of a plan its beginning rests on; what else it says is chosen later, or again."""
    delivery, survival, scaling = plan.delivery, plan.survivability, plan.scaling
    return (
        (delivery.skill_id, delivery.weapon_types, delivery.off_hand),
        (plan.ascendancy.class_name, plan.ascendancy.ascendancy),
        (survival.pool, survival.mitigation),
        (scaling.damage_types, scaling.excluded_gems, scaling.excluded_nodes),
        (plan.sustain.resource, plan.constraints),
    )


def completed_of(race: Race | None, plan: Plan) -> CompletedBuild | None:
    """Return the build that the race completed by the same plan; None where it completed none."""
    winner = race.winner if race is not None else None
    if winner is None or winner.completed is None:
        return None
    return winner.completed if replace(planned(winner), alternatives=()) == replace(plan, alternatives=()) else None
