"""Choosing among options: the best one that has not failed, and why the others lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from app.model.names import Provenance, SubProblemName
from app.model.sub_problems import Decision, Option
from app.reasoning.questions.brief import Brief

MOST_ALTERNATIVES = 4
MOST_STEPS = 12
"""A tuned answer is strengthened at most this often before it is repeated."""


def decide(
    brief: Brief,
    name: SubProblemName,
    options: Sequence[Option],
    provenance: Provenance,
    *,
    banned: Callable[[Option], bool] = lambda _: False,
    forbidden: Callable[[Option], bool] = lambda _: False,
) -> Decision:
    """Take the first option that neither failed, nor is banned; options come best first, at least one is not forbidden.

    When nothing else is left, an untried one is taken even if banned, then one that failed; never a forbidden one.
    Options that failed in earlier builds of this kind come last.
    """
    failed = [option for option in options if brief.is_eliminated(name, option.name)]
    possible = [option for option in options if not forbidden(option)]
    possible.sort(key=lambda option: brief.is_doubted(name, option.name))
    tried = {decision.name for decision in brief.prior(name)}
    alive = [option for option in possible if option not in failed]
    allowed = [option for option in alive if not banned(option)]
    untried = [option for option in alive if option.name not in tried]
    chosen = (allowed or untried or alive or possible)[0]
    others = [option for option in options if option is not chosen][:MOST_ALTERNATIVES]
    return Decision(
        name=chosen.name,
        choice=chosen.choice,
        reason=chosen.reason,
        provenance=provenance,
        alternatives=[_rejected(brief, name, option, option in failed, chosen) for option in others],
    )


def _rejected(brief: Brief, name: SubProblemName, option: Option, failed: bool, chosen: Option) -> Option:
    tried = option.name in {decision.name for decision in brief.prior(name)}
    why = option.rejected_because or f"{chosen.name} fits the request better"
    if failed:
        why = "tried before, and it made the build worse"
    elif tried:
        why = "tried before, and it did not solve the conflict"
    elif brief.is_doubted(name, option.name):
        why = "it made an earlier build of this kind worse"
    return option.model_copy(update={"rejected_because": why})


def fresh(brief: Brief, name: SubProblemName, variants: Iterator[Option]) -> Option:
    """Return the first of ever stronger variants that was not eliminated."""
    last: Option | None = None
    for _, variant in zip(range(MOST_STEPS), variants, strict=False):
        last = variant
        if not brief.is_eliminated(name, variant.name):
            return variant
    assert last is not None, "there is at least one variant"
    return last
