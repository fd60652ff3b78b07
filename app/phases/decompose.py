"""Decompose: the constraints become seven questions, some of them answered by the prompt already."""

from __future__ import annotations

from app.knowledge.words import phrase
from app.model.base import changed
from app.model.constraints import INVARIANTS, Count, Invariant, InvariantSet
from app.model.names import Provenance, SubProblemName, Trigger
from app.model.state import BuildState
from app.model.sub_problems import SubProblem, without_cycles
from app.phases.base import PhaseContext, PhaseResult, with_budget
from app.reasoning.base import Decomposition
from app.search.effort import LEFT_OUT

_REPLACED = {
    "class": ("ascendancy",),
    "ascendancy": ("class",),
    "skill": ("damage_type", "weapon", "style", "with"),
    "damage_type": ("skill",),
}
"""Fields of the parent that a new value of the key makes pointless."""


async def inherit(ctx: PhaseContext, found: InvariantSet, before: InvariantSet) -> InvariantSet:
    """Return the constraints with the parent's stated ones kept, made to fit by reading the prompt with them set."""
    stated = {i.field for i in found.invariants if i.provenance is Provenance.EXPLICIT}
    other_now = {field for field in stated if before.get(field) != found.get(field)}
    pointless = {other for field in other_now for other in _REPLACED.get(field, ())}
    dropped = stated | pointless
    old = [still(i, found) for i in before.invariants if i.provenance is Provenance.EXPLICIT]
    kept = {i.field: i for i in old if i.field not in dropped and i.value != []}
    both = [joined(before, i, found) for i in found.invariants if i.field in stated - pointless]
    kept |= {i.field: i for i in both if i != found.find(i.field)}
    if not kept:
        return found
    overrides = {**{field: "" if i.value is None else i.value for field, i in kept.items()}, **ctx.request.overrides}
    asked = changed(ctx.request, overrides=overrides)
    again = await ctx.reasoner.extract(asked, ctx.engine)
    merged = [kept[i.field] if i.field in kept and kept[i.field].value == i.value else i for i in again.invariants]
    return changed(again, invariants=merged)


def joined(before: InvariantSet, now: Invariant, said: InvariantSet) -> Invariant:
    """Return a constraint that is said now, together with the parent's values where a build has several at once."""
    old = before.find(now.field)
    several = INVARIANTS[now.field].count is Count.LIST or now.field == "style"
    if old is None or old.provenance is not Provenance.EXPLICIT or not several:
        return now
    words = {**dict(now.told), **dict(still(old, said).told)}
    return changed(now, value=list(words), words=list(words.values()))


def still(old: Invariant, said: InvariantSet) -> Invariant:
    """Return the parent's constraint without what is ruled out now, or wanted now where the parent ruled it out."""
    against = said.listed({"exclude": "with"}.get(old.field, "exclude"))
    if not against or INVARIANTS[old.field].figure is not None:
        return old
    names = {_singular(value) for value in against}
    return old.without({value for value, _ in old.told if _singular(value) in names})


def _singular(value: str) -> str:
    """Return a value as a name to be compared, without the plural."""
    return phrase(value.replace("_", " ")).removesuffix("s")


def is_due(ctx: PhaseContext) -> bool:
    """Say whether the build has no constraints yet."""
    return not ctx.invariants.invariants


async def extract(ctx: PhaseContext) -> PhaseResult:
    """Return the constraints of the request; the state changes only in what it tells people."""
    found = await ctx.reasoner.extract(ctx.request, ctx.engine)
    if ctx.state.inherited is not None:
        found = await inherit(ctx, found, ctx.state.inherited)
    label = "understood the prompt" if found.question is None else "understood the prompt, with one question"
    state = changed(ctx.state, progress_label=label, done=1, total=2)
    return PhaseResult(state, invariants=found)


class DecomposePhase:
    """Two steps: understand the prompt, then set up the questions."""

    async def run(self, ctx: PhaseContext) -> PhaseResult:
        """Do the step that is due."""
        if is_due(ctx):
            return await extract(ctx)
        state = await decomposed(ctx)
        answered = sum(sub.is_decided for sub in state.sub_problems.values())
        label = f"seven questions, {answered} of them answered by the prompt"
        return PhaseResult(changed(state, progress_label=label, done=2, total=2), Trigger.DECOMPOSED)


async def decomposed(ctx: PhaseContext) -> BuildState:
    """Return the state with its questions set up, whoever proposed them: all seven, and no waiting in circles."""
    proposed = await ctx.reasoner.decompose(ctx.reasoning())
    questions, broken = _sound(proposed)
    state = ctx.state
    left_out = [LEFT_OUT[ctx.request.effort]] if ctx.request.effort in LEFT_OUT else []
    state = changed(
        state,
        sub_problems=questions,
        assumptions=_joined(state.assumptions, [*proposed.assumptions, *broken, *left_out]),
        domain_gaps=_joined(state.domain_gaps, proposed.domain_gaps),
        degraded=_joined(state.degraded, proposed.degraded),
    )
    return with_budget(state, ctx.request.mode, ctx.request.effort)


def _sound(proposed: Decomposition) -> tuple[dict[SubProblemName, SubProblem], list[str]]:
    questions = {name: proposed.sub_problems.get(name) or SubProblem(name=name) for name in SubProblemName}
    waits, broken = without_cycles({name: sub.depends_on for name, sub in questions.items()})
    return {name: changed(sub, depends_on=waits[name]) for name, sub in questions.items()}, broken


def _joined(old: list[str], new: list[str] | tuple[str, ...]) -> list[str]:
    return list(dict.fromkeys([*old, *new]))
