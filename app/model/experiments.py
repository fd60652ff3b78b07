"""Experiments and refinements as records: what was tried, measured and decided, so that anybody can check it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from app.model.base import Model
from app.model.moves import Locks
from app.model.names import Demand, Mode, Phase, SubProblemName


class Spending(Model):
    """What a choice takes from one budget, and what one more unit of it would be worth where that was measured.

    `budget`: passive_points | ascendancy_points | affix_slots | rune_sockets | jewel_sockets | support_slots | spirit |
    str | dex | int. `available` is None when nothing bounds it. `marginal`: relative gain of `metric` per further unit
    (0.01 = one per cent), measured on the finished build; `next_best` says what that unit would buy.
    """

    budget: str
    spent: float
    available: float | None = None
    metric: str | None = None
    marginal: float | None = None
    next_best: str = ""


class Variant(Model):
    """One thing tried in an experiment: figures by metric, and the gain in the experiment's objective."""

    name: str
    figures: dict[str, float] = Field(default_factory=dict)
    gain: float | None = None
    note: str = ""


class Experiment(Model):
    """A question put to the engine.

    `stage` screen = tried without committing; check = committed, recalculated in a fresh session and compared with
    the promise. `chosen` None = no change recommended. `engine_calls` counts the candidates that were tried.
    """

    id: str
    question: str
    sub_problem: SubProblemName
    stage: Literal["screen", "check"]
    metric: str
    baseline: dict[str, float] = Field(default_factory=dict)
    variants: list[Variant] = Field(default_factory=list)
    chosen: str | None = None
    verdict: str
    engine_calls: int = 0


class Exploration(Model):
    """Where a build of a mode enters, how much it may explore, and what it used."""

    mode: Mode
    entry: Phase
    experiments_allowed: int
    variants_allowed: int
    trials_allowed: int | None = None
    experiments: int = 0
    variants: int = 0
    trials: int = 0


Direction = Literal["damage", "survivability", "resistances", "sustain", "repair", "balanced"]
"""What a refinement is about; `sustain`: the main skill is paid for, `repair`: whatever the rules find is mended."""


class Wish(Model):
    """What a refinement is to achieve: raise one figure by `gain` at no more than `loss` of the other (relative).

    `least`: what is enough where `gain` is only aimed at, None = all of it, below 0 where so much may be lost in all.
    `said`: whether the prompt says so; without
    a wish everything may become better.
    """

    direction: Direction
    gain: float = 0.15
    loss: float = 0.05
    least: float | None = None
    reason: str = ""
    said: bool = True

    @property
    def enough(self) -> float:
        """The gain with which the wish is fulfilled, as a share."""
        return self.gain if self.least is None else self.least

    @property
    def mends(self) -> bool:
        """Whether something is to be put right, and nothing else to become better."""
        return self.direction in ("resistances", "sustain", "repair")

    @property
    def text(self) -> str:
        """The wish in words."""
        if self.enough < 0:
            return f"the figures asked for, losing no more than {self.loss:.0%} of damage and effective hit points each"
        match self.direction:
            case "resistances":
                return "capped resistances"
            case "sustain":
                return "a main skill that is paid for"
            case "repair":
                return "a build without faults"
            case "damage":
                what = "damage"
            case "survivability":
                what = "effective hit points"
            case "balanced":
                what = "damage and effective hit points together"
        other = "effective hit points" if self.direction == "damage" else "damage"
        lost = "either" if self.direction == "balanced" else other
        more = f"{self.gain:.0%} more" if self.least is None else "more"
        return f"{more} {what}, losing no more than {self.loss:.0%} of {lost}"

    @property
    def opens(self) -> dict[SubProblemName, Demand]:
        """Return the questions that are answered anew for the wish, and what it demands of each."""
        damage = {SubProblemName.DAMAGE_SCALING: Demand.MORE_DAMAGE}
        life = {SubProblemName.SURVIVABILITY: Demand.MORE_EFFECTIVE_LIFE}
        match self.direction:
            case "damage":
                return damage
            case "survivability":
                return life
            case "resistances":
                return {SubProblemName.STAT_REQUIREMENTS: Demand.MORE_RESISTANCE}
            case "sustain":
                return {SubProblemName.RESOURCE_SUSTAIN: Demand.MORE_RECOVERY}
            case "repair":
                return {
                    SubProblemName.RESOURCE_SUSTAIN: Demand.MORE_RECOVERY,
                    SubProblemName.STAT_REQUIREMENTS: Demand.MORE_RESISTANCE,
                }
            case "balanced":
                return damage | life


class ChangeRow(Model):
    """One change of a refinement: what was there, what is there now, why, and the figures right before and after."""

    part: str
    place: str
    before: str
    after: str
    reason: str
    figures_before: dict[str, float] = Field(default_factory=dict)
    figures_after: dict[str, float] = Field(default_factory=dict)
    spending: list[Spending] = Field(default_factory=list)


class Refinement(Model):
    """A refinement of a parent: wish, locks with the words they were read from, figures and changes.

    `measured_with`: the skill whose damage counts, when it is not the file's main skill. `before` and `after` are
    figures of fresh sessions under the engine's names. `faults`: what the rules find wrong with the parent, in words,
    `left`: what is wrong with the child, `mended`: what of it is not any more. `verdict` is empty until the search is
    over.
    """

    wish: Wish
    locks: Locks = Field(default_factory=Locks)
    kept: list[str] = Field(default_factory=list)
    measured_with: str | None = None
    before: dict[str, float] = Field(default_factory=dict)
    after: dict[str, float] = Field(default_factory=dict)
    changes: list[ChangeRow] = Field(default_factory=list)
    faults: list[str] = Field(default_factory=list)
    left: list[str] = Field(default_factory=list)
    mended: list[str] = Field(default_factory=list)
    reached: bool | None = None
    verdict: str = ""
