"""BuildState: everything a build needs to go on after a crash, except the invariants and the PoB XML."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import yaml
from pydantic import Field, model_validator

from app.model.base import Model, changed
from app.model.blueprint import Blueprint, Change
from app.model.conflicts import BuildConflict
from app.model.constraints import InvariantSet
from app.model.construction import ConstructProgress, StageNotes
from app.model.dialogue import Turn
from app.model.experiments import Experiment, Exploration, Refinement
from app.model.guide import Guide
from app.model.names import Outcome, Phase, SubProblemName
from app.model.race import Race
from app.model.stats import EHP, Inspection, Stats
from app.model.sub_problems import Constraint, Discovery, SubProblem
from app.model.upgrade import upgraded
from app.model.wishes import WishOutcome, WishState


class UsedMemory(Model):
    """A memory that a build used: of which build, what of it ("the whole build", "supports, passives"), its score."""

    build_id: str
    part: str
    score: float


class Snapshot(Model):
    """A complete build as it was validated: the one to return to, with what became of each wish and is said of it."""

    iteration: int
    blueprint: Blueprint
    stats: Stats
    blocking: int
    conflicts: list[BuildConflict] = Field(default_factory=list)
    memory_digest: str | None = None
    wishes: list[WishOutcome] = Field(default_factory=list)
    notes: StageNotes = Field(default_factory=StageNotes)


class Elimination(Model):
    """An option that was tried and failed, never to be chosen again in this build."""

    sub_problem: SubProblemName
    option: str
    reason: str


class Attempt(Model):
    """What a round of improvement came to: its main skill, dps (None = no rate), ehp, and the wishes that it misses."""

    iteration: int
    skill: str
    dps: float | None
    ehp: float
    unmet: list[str] = Field(default_factory=list)

    @classmethod
    def of(cls, state: BuildState) -> list[Attempt]:
        """Return what was measured of the state's build, nothing where there is none."""
        main, stats = state.blueprint.main if state.blueprint is not None else None, state.stats
        if main is None or stats is None:
            return []
        unmet = [wish.wish for wish in state.wishes if wish.state is WishState.UNMET]
        name = main.gems[0].name if main.gems else "nothing"
        return [cls(iteration=state.iteration, skill=name, dps=stats.dps, ehp=stats.get(EHP), unmet=unmet)]

    @property
    def line(self) -> str:
        """The attempt in a sentence."""
        dps = "no rate that the engine calculates" if self.dps is None else f"{self.dps:,.0f} damage per second"
        missed = f"; not reached: {', '.join(self.unmet)}" if self.unmet else ""
        return f"Round {self.iteration}, {self.skill}: {dps}, {self.ehp:,.0f} effective hit points{missed}."


class BuildState(Model):
    """The working state of a build.

    `progress_label` says what happens now in words for people; `done`/`total` count steps of the current phase.
    `guide` is there once the build is finished, for the blueprint it then has.
    `standing_caveats` hold whatever becomes of the build, and join `caveats` when it ends.
    `origin` imported = somebody else's file. `inherited` are the constraints of the parent, `committed` the changes
    that a refinement has made to the parent's file so far.
    `memories` were taken from memory; `habits` are what the owner usually asks for and did not this time. `doubted`
    options failed in earlier builds of this kind: they are considered last. `memory_digest`: SHA-256 (hex) of what
    memory said of builds of this kind, None = nothing; same request and digest, same build. `wishes`: what
    became of each wish, as validate last saw it. `attempts`: what each round came to, the first build being round 0.
    `dialogue`: what a language model was asked, in order. `race`: what was measured before the questions were answered.
    """

    schema_version: Literal["1.1"] = "1.1"
    phase: Phase = Phase.DECOMPOSE
    outcome: Outcome | None = None
    iteration: int = 0
    done: int = 0
    total: int = 0
    progress_label: str = ""
    sub_problems: dict[SubProblemName, SubProblem] = Field(default_factory=dict)
    discoveries: list[Discovery] = Field(default_factory=list)
    conflicts: list[BuildConflict] = Field(default_factory=list)
    eliminated: list[Elimination] = Field(default_factory=list)
    attempts: list[Attempt] = Field(default_factory=list)
    assumptions: list[str] = Field(default_factory=list)
    domain_gaps: list[str] = Field(default_factory=list)
    degraded: list[str] = Field(default_factory=list)
    caveats: list[str] = Field(default_factory=list)
    standing_caveats: list[str] = Field(default_factory=list)
    construction: ConstructProgress = Field(default_factory=ConstructProgress)
    blueprint: Blueprint | None = None
    stats: Stats | None = None
    inspection: Inspection | None = None
    best: Snapshot | None = None
    emergency_stops: int = 0
    guide: Guide | None = None
    origin: Literal["made", "imported"] = "made"
    inherited: InvariantSet | None = None
    refinement: Refinement | None = None
    committed: list[Change] = Field(default_factory=list)
    experiments: list[Experiment] = Field(default_factory=list)
    exploration: Exploration | None = None
    memories: list[UsedMemory] = Field(default_factory=list)
    habits: list[str] = Field(default_factory=list)
    doubted: list[Elimination] = Field(default_factory=list)
    memory_digest: str | None = None
    wishes: list[WishOutcome] = Field(default_factory=list)
    dialogue: list[Turn] = Field(default_factory=list)
    race: Race | None = None

    @model_validator(mode="before")
    @classmethod
    def _in_todays_shape(cls, stored: Any) -> Any:
        return upgraded(stored)

    def reopened(self, name: SubProblemName, constraints: Sequence[Constraint]) -> BuildState:
        """Return the state with the question open again: its discoveries go stale, construct will see its name.

        Raises:
            InvalidTransition: the question is not decided.
        """
        notes = self.construction.notes
        return changed(
            self,
            sub_problems={**self.sub_problems, name: self.sub_problems[name].reopen(constraints)},
            discoveries=[changed(d, stale=True) if d.sub_problem is name else d for d in self.discoveries],
            construction=ConstructProgress(notes=changed(notes, reopened=sorted({*notes.reopened, name}))),
        )

    def demanded(self, iteration: int) -> list[Constraint]:
        """Return what was demanded of questions in one iteration; those of iteration 0 came with the questions."""
        subs = self.sub_problems.values()
        return [c for sub in subs for c in sub.constraints if iteration and c.iteration == iteration]

    def to_yaml(self) -> str:
        """Return the state as YAML; `from_yaml` gives back an equal state."""
        return yaml.safe_dump(self.model_dump(mode="json"), sort_keys=False, allow_unicode=True)

    @classmethod
    def from_yaml(cls, text: str) -> BuildState:
        """Read a state written by `to_yaml`, now or by an earlier version.

        Raises:
            pydantic.ValidationError: the text is not a state of a schema version that is known.
        """
        return cls.model_validate(yaml.safe_load(text))
