"""Questions, what was found out about them, what was decided, and which of them waits for which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from app.model.base import Model, changed
from app.model.conflicts import Details
from app.model.experiments import Spending
from app.model.names import Demand, Provenance, SubProblemName, SubProblemStatus
from app.model.stats import Stats
from app.model.transitions import TransitionTable


class AscendancyChoice(Model):
    """Class and ascendancy; None = no ascendancy (low level). `notables` are wanted ascendancy passives in order."""

    kind: Literal["ascendancy"] = "ascendancy"
    class_name: str
    ascendancy: str | None
    notables: list[int] = Field(default_factory=list)


class DeliveryChoice(Model):
    """How damage is dealt: main skill, weapon bases that fit, off hand, helper skills (curses, marks, buffs).

    `supports` of the main skill that were chosen by name; the search chooses the others.
    """

    kind: Literal["damage_delivery"] = "damage_delivery"
    skill_id: str
    skill_name: str
    weapon_types: list[str] = Field(default_factory=list)
    off_hand: str | None = None
    helper_skills: list[str] = Field(default_factory=list)
    supports: list[str] = Field(default_factory=list)
    minion: bool = False

    @property
    def hands(self) -> str:
        """What is held, main hand first."""
        return ", ".join([*self.weapon_types, *([self.off_hand] if self.off_hand else [])])


class ScalingChoice(Model):
    """What makes the damage grow: damage types, words looked for in passives and affixes, unwanted keystones."""

    kind: Literal["damage_scaling"] = "damage_scaling"
    damage_types: list[str] = Field(default_factory=list)
    keywords: list[str] = Field(default_factory=list)
    excluded_gems: list[str] = Field(default_factory=list)
    excluded_nodes: list[int] = Field(default_factory=list)
    damage_weight: float = 1.0


Pool = Literal["life", "energy_shield", "hybrid"]
"""What takes the hits."""


def pool_of(stats: Stats) -> Pool:
    """Return what takes the hits by a build's figures."""
    life, shield = stats.get("Life"), stats.get("EnergyShield")
    return "energy_shield" if shield > 1.2 * life else "hybrid" if shield > 0.3 * life else "life"


class SurvivabilityChoice(Model):
    """Defence layers: pool life | energy_shield | hybrid, mitigation armour | evasion | energy_shield (in order)."""

    kind: Literal["survivability"] = "survivability"
    pool: Pool = "life"
    mitigation: list[str] = Field(default_factory=list)
    ehp_target: float = 0.0
    ehp_weight: float = 1.0

    @property
    def title(self) -> str:
        """What it is called among the ways to survive, its weight aside."""
        layers = [layer.replace("_", " ") for layer in self.mitigation]
        shown = " and ".join(part for part in (", ".join(layers[:-1]), *layers[-1:]) if part)
        pool = self.pool.replace("_", " ")
        return pool if self.mitigation == [self.pool] else f"{pool} with {shown}"


class SustainChoice(Model):
    """What pays for the main skill: mana | life; whether a mana flask counts; wanted recovery per second."""

    kind: Literal["resource_sustain"] = "resource_sustain"
    resource: Literal["mana", "life", "none"] = "mana"
    recovery_per_second: float = 0.0
    prefer_cheaper_supports: bool = False


class SpiritChoice(Model):
    """Persistent skills to reserve Spirit for, best first; `reserve_free` points are kept unreserved."""

    kind: Literal["spirit_allocation"] = "spirit_allocation"
    skill_ids: list[str] = Field(default_factory=list)
    reserve_free: float = 0.0


class RequirementsChoice(Model):
    """Attribute and resistance targets that gear and travel passives must meet.

    `ehp_weight`: how much more effective hit points count because a repair asked gear for them.
    """

    kind: Literal["stat_requirements"] = "stat_requirements"
    attributes: dict[str, int] = Field(default_factory=dict)
    resistances: dict[str, int] = Field(default_factory=dict)
    ehp_weight: float = 1.0


Choice = Annotated[
    AscendancyChoice
    | DeliveryChoice
    | ScalingChoice
    | SurvivabilityChoice
    | SustainChoice
    | SpiritChoice
    | RequirementsChoice,
    Field(discriminator="kind"),
]


class DraftFigures(Model):
    """What a quick draft of a build was measured to have: no finished build, but the same gear and tree for all.

    `dps`: damage that counts per second. `ehp`: effective hit points. `score`: the build objective's. `rung`: of the
    race, from 1; figures of different rungs are not comparable.
    """

    dps: float
    ehp: float
    score: float
    rung: int


class Option(Model):
    """One possible answer; `score` orders options of one question; `rejected_because` is set on alternatives.

    `measured`: the figures of its last draft, where it was raced against others.
    """

    name: str
    choice: Choice
    score: float | None = None
    reason: str = ""
    rejected_because: str | None = None
    measured: DraftFigures | None = None


class Built(Model):
    """What the finished file has in place of a plan: its name, and the reason with figures read from the file."""

    name: str
    reason: str


class Decision(Model):
    """The chosen option and those that lost; `spending` is what it takes from which budget of the finished build.

    `built` is what became of the plan, known when the build has ended.
    """

    name: str
    choice: Choice
    reason: str
    provenance: Provenance = Provenance.INFERRED
    alternatives: list[Option] = Field(default_factory=list)
    spending: list[Spending] = Field(default_factory=list)
    built: Built | None = None


class Discovery(Model):
    """A fact gathered before reasoning; `call_id` names the recorded tool call it came from; can go stale.

    `measured`: drafts' figures by option, where the fact is about such.
    """

    sub_problem: SubProblemName
    fact: str
    source: str
    measured: dict[str, DraftFigures] = Field(default_factory=dict)
    call_id: str | None = None
    stale: bool = False


class Constraint(Model):
    """What a conflict demands of the next answer.

    `iteration` is the round that put it, 0 for one that none did, and `strategy` the way out that was picked then.
    `follows`: the question whose new answer is the reason, where no conflict is.
    """

    conflict_id: str
    demand: Demand
    values: Details = Field(default_factory=Details)
    text: str = ""
    strategy: str | None = None
    iteration: int = 0
    follows: SubProblemName | None = None

    @property
    def local(self) -> bool:
        """Return whether only what the values name is to change."""
        return self.values.local


class SubProblemTrigger(StrEnum):
    """What moves a question from one status to the next."""

    EXPLORE = "explore"
    DECIDE = "decide"
    BLOCK = "block"
    REOPEN = "reopen"


SUB_PROBLEMS: TransitionTable[SubProblemStatus, SubProblemTrigger] = TransitionTable(
    SubProblemStatus,
    [
        (SubProblemTrigger.EXPLORE, SubProblemStatus.PENDING, SubProblemStatus.EXPLORING),
        (SubProblemTrigger.EXPLORE, SubProblemStatus.BLOCKED, SubProblemStatus.EXPLORING),
        (SubProblemTrigger.DECIDE, SubProblemStatus.EXPLORING, SubProblemStatus.DECIDED),
        (SubProblemTrigger.BLOCK, SubProblemStatus.EXPLORING, SubProblemStatus.BLOCKED),
        (SubProblemTrigger.REOPEN, SubProblemStatus.DECIDED, SubProblemStatus.EXPLORING),
    ],
)
"""The life of a question. Every method of `SubProblem` that changes the status goes through it."""


class SubProblem(Model):
    """One of the seven questions: status, dependencies, decision, prior attempts and constraints from conflicts.

    Methods return the question as it is afterwards, and raise InvalidTransition where the table has no such move.
    """

    name: SubProblemName
    status: SubProblemStatus = SubProblemStatus.PENDING
    depends_on: list[SubProblemName] = Field(default_factory=list)
    decision: Decision | None = None
    prior_attempts: list[Decision] = Field(default_factory=list)
    constraints: list[Constraint] = Field(default_factory=list)

    @property
    def is_decided(self) -> bool:
        """Whether the question is answered."""
        return self.status is SubProblemStatus.DECIDED

    def explore(self) -> SubProblem:
        """Look for an answer: nothing is waited for any more."""
        return self._moved(SubProblemTrigger.EXPLORE)

    def block(self) -> SubProblem:
        """Wait for another question's answer."""
        return self._moved(SubProblemTrigger.BLOCK)

    def decide(self, decision: Decision) -> SubProblem:
        """Answer the question."""
        return changed(self._moved(SubProblemTrigger.DECIDE), decision=decision)

    def reopen(self, constraints: Sequence[Constraint] = (), *, attempted: bool = True) -> SubProblem:
        """Look for another answer under more constraints; what was `attempted` is not to be tried again."""
        prior = [self.decision] if attempted and self.decision is not None else []
        return changed(
            self._moved(SubProblemTrigger.REOPEN),
            decision=None,
            prior_attempts=[*self.prior_attempts, *prior],
            constraints=[*self.constraints, *constraints],
        )

    def since(self, iteration: int) -> list[Constraint]:
        """Return the constraints that were put on the question after an iteration."""
        return [constraint for constraint in self.constraints if constraint.iteration > iteration]

    def as_of(self, iteration: int) -> SubProblem:
        """Return the question as it was answered in an iteration, without what was demanded of it since."""
        later = self.since(iteration)
        rounds = len({constraint.iteration for constraint in later})
        if not rounds or len(self.prior_attempts) < rounds:
            return self
        again = self.reopen() if self.is_decided else self
        return changed(
            again.decide(self.prior_attempts[-rounds]),
            prior_attempts=self.prior_attempts[:-rounds],
            constraints=[constraint for constraint in self.constraints if constraint not in later],
        )

    def _moved(self, trigger: SubProblemTrigger) -> SubProblem:
        return changed(self, status=SUB_PROBLEMS.follow(self.status, trigger))


def check_moves(before: Mapping[SubProblemName, SubProblem], after: Mapping[SubProblemName, SubProblem]) -> None:
    """Return when every question went only where the table leads; one step may make several moves.

    Raises:
        InvalidTransition: one did not; nothing but a new decomposition makes a question pending again.
    """
    for name in sorted(before.keys() & after.keys()):
        SUB_PROBLEMS.check_path(before[name].status, after[name].status, f"sub-problem {name.value}")


Dependencies = dict[SubProblemName, list[SubProblemName]]


def without_cycles(depends_on: Mapping[SubProblemName, list[SubProblemName]]) -> tuple[Dependencies, list[str]]:
    """Break every cycle at its member with the fewest dependants, and say so in words.

    That member is answered first: it stops waiting for the other members. Ties go to the earlier question.
    """
    free = {name: list(waits) for name, waits in depends_on.items()}
    order = list(SubProblemName)
    broken: list[str] = []
    while cycle := _cycle(free):
        dependants = {name: sum(name in waits for waits in free.values()) for name in cycle}
        first, *others = sorted(cycle, key=lambda name: (dependants[name], order.index(name)))
        free[first] = [name for name in free[first] if name not in cycle]
        waiting = " and ".join(name.value for name in others)
        broken.append(f"{first.value} is answered before {waiting or 'itself'}, although each waits for the other.")
    return free, broken


def _cycle(depends_on: Mapping[SubProblemName, list[SubProblemName]]) -> set[SubProblemName]:
    """Return the questions that wait for themselves through each other, as one strongly connected group, or nothing."""
    reach: dict[SubProblemName, set[SubProblemName]] = {}
    for start, waits in depends_on.items():
        seen: set[SubProblemName] = set()
        queue = list(waits)
        while queue:
            name = queue.pop()
            if name not in seen:
                seen.add(name)
                queue += depends_on.get(name, [])
        reach[start] = seen
    for name in SubProblemName:
        if name in reach.get(name, ()):
            return {other for other in reach[name] if name in reach.get(other, ())}
    return set()
