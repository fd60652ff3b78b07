"""The drafts that a race leaves, for a reasoner that tries moves before anything is decided."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack

from app.core.errors import UnknownFact
from app.model.base import changed
from app.model.moves import Move, Trial
from app.model.race import Contender
from app.model.state import BuildState
from app.phases.base import PhaseContext, search_context
from app.search.drafts import planned
from app.search.effort import ON_DRAFTS
from app.search.experiments import SPENT, MoveExperimenter
from app.search.incumbent import Incumbent
from app.search.moves import MoveReader
from app.search.objective import LEFT_TO_GEAR, objective_for
from app.search.sessions import ParallelSession, Sharing, open_parallel


class RaceDrafts:
    """The drafts that are left of the race of a new build, for trying moves on before anything is decided.

    They share one session, opened when the first is asked for and closed with `stack`.
    """

    def __init__(self, ctx: PhaseContext, stack: AsyncExitStack) -> None:
        self._ctx, self._stack = ctx, stack
        race = ctx.state.race if ctx.state.iteration == 0 else None
        standing = race.standing if race is not None and race.over else []
        self._drafted = {one.option.name: one for one in standing if one.draft is not None and not one.out}
        self._panel: ParallelSession | None = None
        self._held: tuple[str, MoveExperimenter] | None = None

    @property
    def names(self) -> list[str]:
        """Return the names of the drafts, the best first."""
        return list(self._drafted)

    @property
    def left(self) -> int:
        """Return how many evaluations may still be made for all questions together."""
        taken = self._ctx.state.construction.notes.for_ideas + self._trials
        return max(0, ON_DRAFTS[self._ctx.request.effort] - taken)

    @property
    def _trials(self) -> int:
        return self._panel.trials if self._panel is not None else 0

    async def experiment(self, draft: str, variants: Sequence[Sequence[Move]], metrics: Sequence[str]) -> list[Trial]:
        """Try each variant on the draft by itself, in order.

        Raises:
            UnknownFact: there is no such draft.
        """
        if draft not in self._drafted:
            raise UnknownFact(f"there is no draft called {draft!r}; there are {', '.join(self._drafted)}")
        found: list[Trial] = []
        for moves in variants:
            if not self.left:
                found.append(Trial(problem=SPENT))
                continue
            if self._held is None or self._held[0] != draft:
                self._held = draft, await self._opened(self._drafted[draft])
            found += await self._held[1].experiment([moves], metrics)
        return found

    async def _opened(self, contender: Contender) -> MoveExperimenter:
        """Return the draft in the session; what gear will see to is not judged, as in the race."""
        assert contender.draft is not None
        if self._panel is None:
            self._panel = await self._stack.enter_async_context(open_parallel(self._ctx.engine, None, Sharing(1)))
        await self._panel.build(contender.draft)
        search = search_context(self._ctx, planned(contender), self._panel, contender.draft)
        incumbent = await Incumbent.open(search, objective_for(search).without(*LEFT_TO_GEAR))
        return MoveExperimenter(search, incumbent, await MoveReader.of(search, incumbent))

    def charged(self, state: BuildState) -> BuildState:
        """Return the state with what was tried counted, and taken from what may be tried later."""
        if not self._trials:
            return state
        notes = state.construction.notes
        notes = changed(notes, evaluations=notes.evaluations + self._trials, for_ideas=notes.for_ideas + self._trials)
        return changed(state, construction=changed(state.construction, notes=notes))
