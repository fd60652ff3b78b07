"""The race between ways to build: who started, how far each came, and what its drafts were measured to have."""

from __future__ import annotations

from typing import Final

from pydantic import Field

from app.model.base import Model
from app.model.blueprint import Blueprint
from app.model.construction import StageNotes
from app.model.names import SubProblemName
from app.model.sub_problems import AscendancyChoice, Choice, DraftFigures, Option, SurvivabilityChoice

RACED: Final = "Measured on drafts ("
"""What a fact of the race begins with; whoever tells its figures must say that they are those of drafts."""

DRAFTED: Final = f"{RACED}on the first rung with the same plain gear; not finished builds"
"""How such a fact goes on: what its figures are measured on."""


class CompletedBuild(Model):
    """A begun build with all that makes it whole, and what the stages left that did it."""

    blueprint: Blueprint
    notes: StageNotes = Field(default_factory=StageNotes)


class Contender(Model):
    """A way to build: a main skill with what to hold (`option`) and the ascendancies that it may have, likeliest first.

    `answers`: what the other questions would be answered with, so that it can be drafted. `defences`: the answers to
    what keeps it alive that are tried where it is near the best, what the class's attributes make cheap first.
    `figures`: one per rung that it ran; those of begun builds that are settled are with passives traded for their gear,
    and the best of these have one more each with the best of their ascendancies and of their defences.
    `by_ascendancy`: figures with each ascendancy that was tried; of these, each with passives and gear of its own.
    `by_defence`: those of begun builds that differ in armour, tree and gear. In both, passives were traded of what it
    had before, and of the best of the others where that is better untraded.
    `out`: why it cannot be built, empty when it can. `draft`: the build so far, as it was begun, None once it is out of
    the race; `defence`: what that was begun with, None = the answer. `is_whole`: it was begun as construct begins a
    build; `untraded`: its own figures. `completed`: what it came to where it was completed, too.
    """

    option: Option
    ascendancies: list[AscendancyChoice]
    answers: dict[SubProblemName, Choice]
    defences: list[SurvivabilityChoice] = Field(default_factory=list)
    figures: list[DraftFigures] = Field(default_factory=list)
    by_ascendancy: dict[str, DraftFigures] = Field(default_factory=dict)
    by_defence: dict[str, DraftFigures] = Field(default_factory=dict)
    out: str = ""
    draft: Blueprint | None = None
    defence: SurvivabilityChoice | None = None
    is_whole: bool = False
    untraded: DraftFigures | None = None
    completed: CompletedBuild | None = None
    promise: float | None = None

    @property
    def rung(self) -> int:
        """The last rung that it ran, 0 before the first; who is raced against nobody may begin with a later one."""
        return self.figures[-1].rung if self.figures else 0

    @property
    def place(self) -> tuple[bool, int, float, str]:
        """What orders contenders: those that can be built, the further the better, then by score and name."""
        return (
            bool(self.out),
            -self.rung,
            -(self.figures[-1].score if self.figures else 0.0),
            self.option.name,
        )


class Race(Model):
    """The race of one build: `rungs` that are over, `evaluations` made of the `allowed` ones.

    What of these is kept: `for_builds` for builds that are begun and settled, `for_ascendancies` for the best of these
    with others, `for_defences` for theirs with other defences, `for_completed` for the best of all to be completed.
    `ascended`, `guarded`: ascendancies, and defences, were compared as whole builds.
    `learned`: SHA-256 (hex) of what memory said of earlier races, None = nothing.
    """

    contenders: list[Contender] = Field(default_factory=list)
    rungs: int = 0
    evaluations: int = 0
    allowed: int = 0
    for_builds: int = 0
    for_ascendancies: int = 0
    for_defences: int = 0
    for_completed: int = 0
    ascended: bool = False
    guarded: bool = False
    over: bool = False
    learned: str | None = None

    @property
    def running(self) -> list[Contender]:
        """The contenders that run the next rung."""
        return [one for one in self.contenders if not one.out and (one.draft is not None or not one.figures)]

    @property
    def standing(self) -> list[Contender]:
        """The contenders, the best first."""
        return sorted(self.contenders, key=lambda one: one.place)

    def near(self, within: float, most: int) -> list[Contender]:
        """Return so many begun builds that are at most so far (e-folds of the objective) behind the best, best first.

        All have come as far as the best. One without its draft, as an earlier version left all but the best, has
        nothing to be begun again from; the best stands alone where no build was begun.
        """
        first = self.standing[0]
        begun = [one for one in self.standing if one.is_whole and one.draft is not None and one.rung == first.rung]
        near = [one for one in begun if not one.out and first.figures[-1].score - one.figures[-1].score <= within]
        return near[:most] or self.standing[:1]

    @property
    def is_ascending(self) -> bool:
        """Whether the best begun build is still to be compared with other ascendancies."""
        best = self.standing[0]
        return best.is_whole and not self.ascended and len(best.ascendancies) > 1

    @property
    def winner(self) -> Contender | None:
        """The contender that won, None while it lasts or when nothing that started can be built."""
        best = self.standing[0] if self.over and self.contenders else None
        return best if best is not None and best.figures and not best.out else None

    def label(self, rungs: int) -> str:
        """Return in words how it stands after one of so many rungs."""
        best, here = self.standing[0], f"race, rung {self.rungs} of {rungs}"
        if best.out or not best.figures:
            return f"{here}: nothing of {len(self.contenders)} can be measured"
        if best.completed is not None:
            return f"race, completed builds: {best.option.name}, {figures(best.figures[-1])}"
        ascendancies = best.by_ascendancy if self.ascended else {}
        for what, measured in (("defences", best.by_defence), ("ascendancies", ascendancies)):
            if len(measured) > 1:
                name, found = max(measured.items(), key=lambda one: (one[1].score, one[0]))
                return f"race, {what} of {best.option.name}, best of {len(measured)}: {name}, {figures(found)}"
        ran = sum(one.rung >= self.rungs or self.rungs == 1 for one in self.contenders)
        return f"{here}, best of {ran}: {best.option.name}, {figures(best.figures[-1])}"


def raced(race: Race) -> str:
    """Return every figure that the race measured, as one fact."""
    drafts = ((*one.figures, *one.by_ascendancy.values(), *one.by_defence.values()) for one in race.contenders)
    own = [found for few in drafts for found in few]
    return f"{DRAFTED}): {'; '.join(figures(found) for found in own)}."


def against(loser: Contender, winner: Contender) -> str:
    """Return in words how a contender measured against another, at the last rung that both ran."""
    if loser.out:
        return loser.out
    rung = min(len(loser.figures), len(winner.figures))
    if not rung:
        return ""
    return behind(loser.figures[rung - 1], winner.figures[rung - 1], f" (rung {rung})")


def behind(own: DraftFigures, best: DraftFigures, place: str = "") -> str:
    """Return in words how a draft measured against a better one; why it is worse, where its figures do not show it."""
    ahead = own.dps > best.dps and own.dps * own.ehp > best.dps * best.ehp
    dear = "; it has less of what was asked for or needed" if ahead and own.score < best.score else ""
    return f"measured {figures(own)} against {figures(best)} as drafts, not finished builds{place}{dear}"


def figures(found: DraftFigures) -> str:
    """Return the figures in words."""
    return f"{_short(found.dps)} DPS / {_short(found.ehp)} EHP"


def _short(value: float) -> str:
    if value < 1_000:
        return f"{value:.0f}"
    return f"{value / 1_000:.1f}k" if value < 100_000 else f"{value / 1_000:,.0f}k"
