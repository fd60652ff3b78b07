"""How far construct is, and what its stages leave for later ones."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from app.model.base import Model, Sparse, changed
from app.model.blueprint import Blueprint, Change
from app.model.names import SubProblemName
from app.model.stats import DPS, EHP

MemoryPart = Literal["whole", "parts"]
"""What of a remembered build is used: all of it, or its supports and passives."""


class RememberedBuild(Model):
    """An earlier build that is to be tried, with the score it reached."""

    build_id: str
    score: float
    blueprint: Blueprint


class Remembered(Model):
    """What memory said, the best first: builds that fit as a whole, and those whose parts may serve."""

    whole: list[RememberedBuild] = Field(default_factory=list)
    parts: list[RememberedBuild] = Field(default_factory=list)


class Recollection(Model):
    """The remembered build that was taken, the score it had, and what of it."""

    build_id: str
    score: float
    part: MemoryPart


class OtherTree(Model):
    """A measured tree of the same cost that was not chosen, though it is better at its `aim`.

    `dps` per second, `ehp` hit points; `given_back` and `bought` name passives. `changes` make it of the build;
    in a finished build figures and changes are those of its file.
    """

    aim: str
    dps: float
    ehp: float
    given_back: list[str] = Field(default_factory=list)
    bought: list[str] = Field(default_factory=list)
    changes: list[Change] = Field(default_factory=list)


class Advice(Model):
    """An idea of the reasoner; `refused_because` is empty when it was kept.

    `gain` of the score with it as measured, None = it could not be tried; `parts` of the gain, `figures` with it.
    """

    idea: str
    reason: str
    refused_because: str
    gain: float | None = None
    parts: dict[str, float] = Field(default_factory=dict)
    figures: dict[str, float] = Field(default_factory=dict)


class ChoiceTrial(Model):
    """A choice that the search had left out, tried on the build as it was then.

    `gain` of the score with it, None = it cannot be built, for the `problem`; `figures` with it, `without` before.
    """

    name: str
    held: bool
    gain: float | None = None
    problem: str = ""
    without: dict[str, float] = Field(default_factory=dict)
    figures: dict[str, float] = Field(default_factory=dict)

    @property
    def line(self) -> str:
        """Say why the choice is not in the build, with both measurements."""
        if self.gain is None:
            return f"{self.name} was chosen and cannot be built: {self.problem.rstrip('.')}."
        told = [
            f"{self.figures[key]:,.0f} instead of {self.without[key]:,.0f} {words}"
            for key, words in {DPS: "damage per second", EHP: "effective hit points"}.items()
            if key in self.figures and key in self.without
        ]
        why = f" and a fault: {self.problem.rstrip('.')}" if self.problem else ""
        measured = ", ".join(told) or "the same damage and effective hit points, and a worse balance of the rest"
        return f"{self.name} was chosen and left out: with it there would be {measured}{why}."


class Hint(Model):
    """What a screening found worth trying with a lever."""

    name: str
    changes: list[Change]


class ParentFigures(Model):
    """The parent as it was measured: the group whose damage counts, and figures under the engine's names."""

    strongest: int
    outputs: dict[str, float]


_OF_BUILD = (
    *("objective", "flask_mana", "nearest_modelled", "weapon_sets"),
    *("tree_alternatives", "advice", "choices", "tolerated"),
)
"""Notes that are false of another build."""


class StageNotes(Sparse):
    """What stages leave for later ones; a stage returns those notes that it makes or changes.

    `evaluations`: candidates that the engine has tried for this build, `for_ideas` those that the reasoner's own
    trials, choices and proposals took, on drafts too, `for_look` those of the last look. `objective`: score of the
    measured build, `flask_mana` what all charges of its mana flask recover. `reopened`: questions that were answered
    anew since the last construction. `nearest_modelled`: a skill with a calculated rate, where the main skill has none.
    `tolerated`: shortfalls within tolerance, in words. `remembered` is what memory said, `recollected` what was taken
    of it, `incumbent` the remembered build as it was loaded. `weapon_sets`: what the points of either weapon set are
    spent on, or why on the same. `parent`, `levers` (in their order) and `hints` (by lever) belong to refinements.
    """

    reopened: list[SubProblemName] = Field(default_factory=list)
    evaluations: int = 0
    for_ideas: int = 0
    for_look: int = 0
    objective: float | None = None
    flask_mana: float = 0.0
    nearest_modelled: str | None = None
    gear_made: bool = False
    weapon_sets: str = ""
    tree_alternatives: list[OtherTree] = Field(default_factory=list)
    advice: list[Advice] = Field(default_factory=list)
    choices: list[ChoiceTrial] = Field(default_factory=list)
    tolerated: list[str] = Field(default_factory=list)
    remembered: Remembered | None = None
    recollected: Recollection | None = None
    incumbent: Blueprint | None = None
    parent: ParentFigures | None = None
    levers: list[str] | None = None
    hints: dict[str, list[Hint]] = Field(default_factory=dict)

    def joined(self, later: StageNotes) -> StageNotes:
        """Return these notes with what the later ones say in their place."""
        return changed(self, **{name: getattr(later, name) for name in later.model_fields_set})

    def of_build(self) -> StageNotes:
        """Return what is said of the build as it is, and not of how it came about."""
        return StageNotes.model_validate({name: getattr(self, name) for name in _OF_BUILD})


class ConstructProgress(Model):
    """How far construct is: stages still to run (in order), stages done, and what a stage left for later ones."""

    pending: list[str] = Field(default_factory=list)
    done: list[str] = Field(default_factory=list)
    notes: StageNotes = Field(default_factory=StageNotes)
