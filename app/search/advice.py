"""Trying named moves on a build that was searched, and keeping those that the engine finds better.

Fits the reasoners' `Workshop` port by shape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.core.errors import AppError, EngineError
from app.model.blueprint import Change, Deallocate, SetGroup
from app.model.moves import Move, Trial
from app.search.base import SearchContext
from app.search.gear.legality import gear_findings
from app.search.incumbent import Workbench
from app.search.moves import MoveReader
from app.search.objective import METRICS
from app.search.skills.gems import by_id, gem, with_supports
from app.search.skills.supports import SupportRules

WORTHWHILE = 1e-4
"""Moves must raise the score by this (0.01 % of damage) to be kept."""

MOST_RANKED, MOST_SPARE = 20, 8
_REACH = 8


class Workshop:
    """One build on a workbench."""

    def __init__(self, ctx: SearchContext, bench: Workbench, reader: MoveReader) -> None:
        self._ctx = ctx
        self.bench = bench
        self._reader = reader

    @classmethod
    async def open(cls, ctx: SearchContext) -> Workshop:
        """Return a workshop on the context's session."""
        bench = await Workbench.open(ctx)
        await bench.learn_requirements()
        return cls(ctx, bench, await MoveReader.of(ctx, bench))

    async def read_stats(self) -> Mapping[str, float]:
        """Return the figures of the build as it is."""
        return (await self.bench.session.stats()).values

    async def experiment(self, variants: Sequence[Sequence[Move]], metrics: Sequence[str]) -> list[Trial]:
        """Try each variant by itself, in order; one that cannot be tried says why."""
        return [await self._trial(moves, metrics) for moves in variants]

    async def _trial(self, moves: Sequence[Move], metrics: Sequence[str]) -> Trial:
        try:
            worked = await self._reader.read(moves)
        except EngineError:
            raise
        except AppError as error:
            return Trial(problem=error.message)
        (tried,) = await self._tried([worked.changes], metrics)
        return tried.model_copy(update={"made": worked.made})

    async def _tried(self, candidates: Sequence[Sequence[Change]], metrics: Sequence[str]) -> list[Trial]:
        wanted = list(dict.fromkeys([*METRICS, *metrics]))
        outputs = await self.bench.session.what_if(candidates, wanted)
        return [self._judged(found, metrics) for found in outputs]

    def _judged(self, outputs: Mapping[str, float], metrics: Sequence[str]) -> Trial:
        if not outputs:
            return Trial(problem="the engine cannot try this")
        figures = {name: outputs[name] for name in metrics if name in outputs}
        return Trial(figures=figures, gain=self.bench.objective.score(outputs) - self.bench.score)

    async def rank_supports(self, skill: str) -> list[tuple[str, Trial]]:
        """Return the supports that could replace the skill's last one or be added, the most helpful first.

        Raises:
            UnknownFact: the build has no such skill.
        """
        index = self._reader.group_of(self.bench.blueprint, skill)
        group = self.bench.blueprint.groups[index - 1]
        facts = by_id(await self._ctx.engine.facts.gems())
        taken = frozenset(g.gem_id for one in self.bench.blueprint.groups for g in one.gems[1:])
        rules = SupportRules(self._ctx.level, self._ctx.gear, taken | set(self._ctx.plan.scaling.excluded_gems))
        ids = await self._ctx.engine.facts.supports_for(group.gems[0].gem_id)
        offered = [facts[i] for i in sorted(ids) if i in facts and rules.allows(facts[i])]
        kept = group.gems[1:][: rules.room - 1]
        teams = [with_supports(group, [*kept, gem(fact, self._ctx.level)]) for fact in offered]
        trials = await self._tried([[SetGroup(index=index, group=team)] for team in teams], ["DPS", "TotalEHP"])
        return _best([(fact.name, trial) for fact, trial in zip(offered, trials, strict=True)])

    async def optimise_tree(self) -> list[tuple[str, Trial]]:
        """Return the passives nearby that would pay most per point, then those that are missed least per point."""
        wanted = self._reader.ways(self.bench.blueprint, _REACH)
        spare = self._reader.leaves(self.bench.blueprint)
        changes: list[list[Change]] = [[way] for _, _, way in wanted]
        changes += [[Deallocate(nodes=[node.id])] for node in spare]
        trials = await self._tried(changes, ["DPS", "TotalEHP"])
        new = [(name, trial, points) for (name, points, _), trial in zip(wanted, trials, strict=False)]
        new.sort(key=lambda row: (-(row[1].gain or 0.0) / row[2], row[0]))
        old = _best([(str(node.id), trial) for node, trial in zip(spare, trials[len(wanted) :], strict=True)])
        return [
            *((name, _noted(trial, f"{points} points")) for name, trial, points in new[:MOST_RANKED]),
            *((name, _noted(trial, "gives 1 point back")) for name, trial in old[:MOST_SPARE]),
        ]

    async def keep(self, moves: Sequence[Move]) -> str:
        """Commit the moves if the build is better with them and as legal as before; return why not, or nothing."""
        trial = await self._trial(moves, [])
        if trial.gain is None or trial.gain <= WORTHWHILE:
            return trial.problem or "the engine finds no gain"
        before, score = self.bench.blueprint, self.bench.score
        faults = await self._faults()
        await self.bench.commit((await self._reader.read(moves)).changes)
        await self.bench.learn_requirements()
        problem = "" if self.bench.score > score + WORTHWHILE else "together with its requirements it gains nothing"
        if new := await self._faults() - faults:
            problem = sorted(new)[0]
        if problem:
            await self.bench.rewind(before)
            await self.bench.learn_requirements()
        return problem

    async def _faults(self) -> set[str]:
        found = await gear_findings(self._ctx.engine.facts, self.bench.blueprint, self._ctx.floors.gear)
        return {f"{finding.slot}: {finding.reason}" for finding in found}


def _noted(trial: Trial, note: str) -> Trial:
    return trial.model_copy(update={"made": (note,)})


def _best(rows: list[tuple[str, Trial]]) -> list[tuple[str, Trial]]:
    return sorted(rows, key=lambda row: (-(row[1].gain or 0.0), row[0]))[:MOST_RANKED]
