"""Trying named moves on a build that was searched, and keeping those that the engine finds better.

Fits the reasoners' `Experimenter` port by shape.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from app.core.errors import AppError, EngineError
from app.knowledge.named import names_in
from app.knowledge.words import phrase
from app.model.base import changed
from app.model.blueprint import Blueprint, Change, Deallocate, SetGroup
from app.model.moves import Move, Trial
from app.model.stats import DPS, EHP
from app.search.base import SearchContext
from app.search.gear.legality import gear_findings
from app.search.incumbent import Incumbent
from app.search.moves import MoveReader
from app.search.skills.gems import by_id, gem, with_supports
from app.search.skills.supports import SupportRules

Unmet = Callable[[Blueprint], Awaitable[set[str]]]

WORTHWHILE = 1e-4
"""Moves must raise the score by this (0.01 % of damage) to be kept."""

SPENT = "no evaluations are left"
"""Why nothing more is tried or kept."""

FOR_PROPOSALS = 0.25
"""Share of the evaluations that trials leave, so that what they found can still be kept."""

MOST_RANKED, MOST_SPARE = 20, 8
_REACH = 8


class MoveExperimenter:
    """One build on an incumbent. `most`: evaluations that its trials and what is kept may take, None = any number.

    `unmet`: what the user asked for and the build has not, in words; nothing is kept that adds to it.
    """

    def __init__(
        self,
        ctx: SearchContext,
        incumbent: Incumbent,
        reader: MoveReader,
        most: int | None = None,
        unmet: Unmet | None = None,
    ) -> None:
        self._ctx = ctx
        self._most = most
        self._unmet = unmet
        self._begun = incumbent.trials
        self.incumbent = incumbent
        self._reader = reader

    @classmethod
    async def open(cls, ctx: SearchContext, most: int | None = None, unmet: Unmet | None = None) -> MoveExperimenter:
        """Return an experimenter on the context's session."""
        incumbent = await Incumbent.open(ctx)
        await incumbent.learn_requirements()
        return cls(ctx, incumbent, await MoveReader.of(ctx, incumbent), most, unmet)

    @property
    def spent(self) -> int:
        """Return the evaluations that trials and what was kept have taken."""
        return self.incumbent.trials - self._begun

    @property
    def left(self) -> int | None:
        """Return the evaluations that are left for trials, None where they are not counted."""
        return None if self._most is None else max(0, int(self._most * (1 - FOR_PROPOSALS)) - self.spent)

    async def read_stats(self) -> Mapping[str, float]:
        """Return the figures of the build as it is."""
        return (await self.incumbent.session.stats()).values

    def worth(self) -> Mapping[str, float]:
        """Return what each thing that is looked at adds to the score of the build as it is."""
        return self.incumbent.objective.parts(self.incumbent.outputs)

    async def names(self) -> set[str]:
        """Return the comparable names of all that the build has now."""
        return names_in(self.incumbent.blueprint, await self._ctx.engine.facts.nodes())

    async def experiment(self, variants: Sequence[Sequence[Move]], metrics: Sequence[str]) -> list[Trial]:
        """Try each variant by itself, in order; one that cannot be tried says why."""
        return [Trial(problem=SPENT) if self.left == 0 else await self._trial(moves, metrics) for moves in variants]

    async def _trial(self, moves: Sequence[Move], metrics: Sequence[str]) -> Trial:
        try:
            wished = await self._reader.read(moves)
        except EngineError:
            raise
        except AppError as error:
            return Trial(problem=error.message)
        (tried,) = await self._tried([wished.changes], metrics)
        return changed(tried, made=wished.made)

    async def _tried(self, candidates: Sequence[Sequence[Change]], metrics: Sequence[str]) -> list[Trial]:
        objective = self.incumbent.objective
        wanted = list(dict.fromkeys([*objective.metrics, *metrics]))
        now = objective.parts(self.incumbent.outputs)
        trials = []
        self.incumbent.trials += len(candidates)
        for outputs in await self.incumbent.session.what_if(candidates, wanted):
            if not outputs:
                trials.append(Trial(problem="the engine cannot try this"))
                continue
            figures = {name: outputs[name] for name in metrics if name in outputs}
            parts = {name: worth - now[name] for name, worth in objective.parts(outputs).items()}
            trials.append(Trial(figures=figures, gain=objective.score(outputs) - self.incumbent.score, parts=parts))
        return trials

    async def rank_supports(self, skill: str) -> list[tuple[str, Trial]]:
        """Return the supports that could replace the skill's last one or be added, the most helpful first.

        Raises:
            UnknownFact: the build has no such skill.
        """
        index = self._reader.group_of(self.incumbent.blueprint, skill)
        group = self.incumbent.blueprint.groups[index - 1]
        facts = by_id(await self._ctx.engine.facts.gems())
        taken = frozenset(g.gem_id for one in self.incumbent.blueprint.groups for g in one.gems[1:])
        rules = SupportRules(
            self._ctx.demands.level, self._ctx.demands.gear, taken | set(self._ctx.plan.scaling.excluded_gems)
        )
        ids = await self._ctx.engine.facts.supports_for(group.gems[0].gem_id)
        offered = [facts[i] for i in sorted(ids) if i in facts and rules.allows(facts[i])][: self.left]
        kept = group.gems[1:][: rules.room - 1]
        teams = [with_supports(group, [*kept, gem(fact, self._ctx.demands.level)]) for fact in offered]
        trials = await self._tried([[SetGroup(index=index, group=team)] for team in teams], [DPS, EHP])
        gone = [one.name for one in group.gems[1:][rules.room - 1 :]]
        made = (f"in place of {', '.join(gone)}" if gone else "added",)
        told = [changed(trial, made=made) for trial in trials]
        return _best([(fact.name, trial) for fact, trial in zip(offered, told, strict=True)])

    async def optimise_tree(self) -> list[tuple[str, Trial]]:
        """Return the passives nearby that would pay most per point, then those that are missed least per point."""
        wanted = await self._reader.ways(self.incumbent.blueprint, _REACH)
        spare = self._reader.leaves(self.incumbent.blueprint)
        changes: list[list[Change]] = [[way] for _, _, way in wanted]
        changes += [[Deallocate(nodes=[node.id])] for node in spare]
        trials = await self._tried(changes[: self.left], [DPS, EHP])
        new = [(name, trial, points) for (name, points, _), trial in zip(wanted, trials, strict=False)]
        new.sort(key=lambda row: (-(row[1].gain or 0.0) / row[2], row[0]))
        old = _best([(str(node.id), trial) for node, trial in zip(spare, trials[len(wanted) :], strict=False)])
        return [
            *((name, changed(trial, made=(f"{points} points",))) for name, trial, points in new[:MOST_RANKED]),
            *((name, changed(trial, made=("gives 1 point back",))) for name, trial in old[:MOST_SPARE]),
        ]

    @property
    def reader(self) -> MoveReader:
        """Return who reads moves for this build."""
        return self._reader

    async def hold(self, ways: Sequence[Sequence[Move]], cost: float) -> tuple[Trial, bool]:
        """Commit the best of the ways when it lowers the score by no more than `cost`, and brings no new fault.

        Return its trial, or that of the first way when none is possible, and whether it was committed.
        """
        trials = [await self._trial(moves, [DPS, EHP]) for moves in ways]
        possible = [(trial, moves) for trial, moves in zip(trials, ways, strict=True) if trial.gain is not None]
        if not possible:
            return next(iter(trials), Trial(problem="there is no way to it in this build")), False
        trial, moves = max(possible, key=lambda pair: pair[0].gain or 0.0)
        before, score, faults = self.incumbent.blueprint, self.incumbent.score, await self.faults()
        if (trial.gain or 0.0) < -cost:
            return trial, False
        await self.incumbent.commit((await self._reader.read(moves)).changes)
        await self.incumbent.learn_requirements()
        gain = self.incumbent.score - score
        new = await self.faults() - faults
        if gain >= -cost and not new:
            return changed(trial, gain=gain), True
        await self.incumbent.rewind(before)
        await self.incumbent.learn_requirements()
        return changed(trial, gain=gain, problem=sorted(new)[0] if new else ""), False

    async def keep(self, moves: Sequence[Move]) -> Trial:
        """Commit the moves if the build is better with them, as legal as before, and has what the user named in it.

        Return what they do; its problem says why they were not committed, and is empty where they were.
        """
        if self._most is not None and self.spent >= self._most:
            return Trial(problem=SPENT)
        trial = await self._trial(moves, [DPS, EHP])
        if trial.gain is None or trial.gain <= WORTHWHILE:
            return changed(trial, problem=trial.problem or "the engine finds no gain")
        before, score = self.incumbent.blueprint, self.incumbent.score
        faults = await self.faults()
        await self.incumbent.commit((await self._reader.read(moves)).changes)
        await self.incumbent.learn_requirements()
        problem = "" if self.incumbent.score > score + WORTHWHILE else "together with its requirements it gains nothing"
        if new := await self.faults() - faults:
            problem = sorted(new)[0]
        nodes, named = await self._ctx.engine.facts.nodes(), {phrase(n) for n in self._ctx.invariants.listed("with")}
        if lost := named & names_in(before, nodes) - names_in(self.incumbent.blueprint, nodes):
            problem = f"the user asked for {sorted(lost)[0]}"
        gain = self.incumbent.score - score
        if problem:
            await self.incumbent.rewind(before)
            await self.incumbent.learn_requirements()
        return changed(trial, gain=gain, problem=problem)

    async def faults(self) -> set[str]:
        """Return what is wrong with the gear of the build as it is, and what the user asked for and it has not."""
        found = await gear_findings(self._ctx.engine.facts, self.incumbent.blueprint, self._ctx.demands.floors.gear)
        faults = {f"{finding.slot}: {finding.reason}" for finding in found}
        return faults if self._unmet is None else faults | await self._unmet(self.incumbent.blueprint)


def _best(rows: list[tuple[str, Trial]]) -> list[tuple[str, Trial]]:
    return sorted(rows, key=lambda row: (-(row[1].gain or 0.0), row[0]))[:MOST_RANKED]
