"""Rules about what the user asked for: each wish is held against the finished build by a check of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import MappingProxyType

from app.conflicts.case import Case, Reached, WishVerdict, advice, conflict
from app.conflicts.named import (
    IDENTITY,
    identity_verdict,
    weapon_verdict,
    with_verdict,
    without_verdict,
)
from app.conflicts.styles import damage_type_verdict, defence_verdict, style_verdict
from app.conflicts.targets import target_verdict
from app.knowledge.exclusions import ruled_out
from app.model.base import changed
from app.model.blueprint import enemy_in_words
from app.model.conflicts import BuildConflict, Details, Evidence
from app.model.constraints import INVARIANTS, Count, Invariant, InvariantValue, Kind, shown
from app.model.names import ConflictType, Demand, Severity, SubProblemName
from app.model.sub_problems import ScalingChoice
from app.model.wishes import WishOutcome, WishState

_KIND = ConflictType.INVARIANT_VIOLATED
_GEAR_OF_BUDGET = {"low": {"starter"}, "medium": {"mid"}, "high": {"endgame"}, "unlimited": {"endgame", "mirror"}}


def wishes_of(case: Case) -> list[WishOutcome]:
    """Return what became of every wish, in the table's order, then of the words that were not understood.

    Of somebody's file nobody wished anything; of its refinements, what their prompts say.
    """
    states = {True: WishState.MET, False: WishState.UNMET, None: WishState.NO_EFFECT}
    found = [
        WishOutcome(
            wish=verdict.wish,
            words=words,
            kind=invariant.field,
            target=verdict.target,
            reached=verdict.reached,
            state=states[verdict.met],
            nearest=None if verdict.met else verdict.nearest,
        )
        for invariant, words, verdict in _verdicts(case)
        if invariant.is_wished
    ]
    lost = [
        WishOutcome(wish=words, words=words, kind="", target=None, reached=None, state=WishState.NOT_UNDERSTOOD)
        for words in case.invariants.not_understood
    ]
    return [*found, *lost]


def with_attempts(wishes: Sequence[WishOutcome], conflicts: Sequence[BuildConflict]) -> list[WishOutcome]:
    """Return the wishes with what was tried against those that are unmet."""
    tried = {c.subject: ", ".join(c.tried_words) for c in conflicts if c.type is _KIND and c.tried}
    told = []
    for wish in wishes:
        what = tried.get(_subject(wish.kind, wish.target)) if wish.state is WishState.UNMET else None
        told.append(changed(wish, nearest=f"{wish.nearest}; tried: {what}") if what else wish)
    return told


def asked_for(case: Case) -> list[BuildConflict]:
    """Every explicit wish is met, and class, ascendancy, level and skill are those of the constraints."""
    found = []
    for invariant, _, verdict in _verdicts(case):
        if verdict.met is False:
            message = f"Asked for: {verdict.wish}. Not reached; the nearest: {verdict.nearest or verdict.reached}."
            evidence = Evidence(required=verdict.target, available=verdict.reached)
            subject = _subject(invariant.field, verdict.target)
            found.append(conflict(_KIND, Severity.BLOCKING, subject, message, list(verdict.ways), evidence))
    return found


def _verdicts(case: Case) -> Iterator[tuple[Invariant, str, WishVerdict]]:
    """Yield each wish with the user's words and its verdict."""
    order = list(INVARIANTS)
    for invariant in sorted(case.invariants.invariants, key=lambda one: order.index(one.field)):
        if not invariant.is_wished and invariant.field not in IDENTITY:
            continue
        check = CHECKS[invariant.field]
        if INVARIANTS[invariant.field].count is Count.EITHER and isinstance(invariant.value, list):
            told = " or ".join(dict.fromkeys(invariant.words or invariant.value))
            yield invariant, told, check(case, invariant.field, invariant.value)
            continue
        values = invariant.value if isinstance(invariant.value, list) else [invariant.value]
        for index, value in enumerate(values):
            if value is not None:
                words = invariant.words[index] if index < len(invariant.words) else shown(value)
                yield invariant, words, check(case, invariant.field, value)


def _subject(field: str, target: Reached) -> str:
    """Return what a wish's conflict is about: the constraint, and of several values which."""
    return f"{field} {target}" if INVARIANTS[field].count in (Count.SOME, Count.LIST) else field


def demand_verdict(case: Case, name: str, value: InvariantValue) -> WishVerdict:
    """Return whether a wish that sets the demands is what the build was made and measured for.

    Of content and prices nothing is measured.
    """
    gear, goal, word = case.demands.gear.value, case.demands.goal.value, shown(value).replace("_", " ")
    match name:
        case "gear":
            return WishVerdict(f"{word} gear", word, gear, gear == value and not case.findings, f"{gear} gear")
        case "goal":
            against = f"{goal}, measured against {enemy_in_words(case.blueprint.enemy)}"
            return WishVerdict(f"made for {word}", word, against, goal == value, goal)
        case "hardcore":
            reached = "demands of hardcore" if case.demands.hardcore else "demands of softcore"
            met = case.demands.hardcore is bool(value)
            return WishVerdict("hardcore" if value else "softcore", word, reached, met, reached)
        case "budget" if gear in _GEAR_OF_BUDGET.get(word, set()):
            return WishVerdict(f"{word} budget", word, f"{gear} gear", True)
        case "budget":
            return WishVerdict(f"{word} budget", word, None, None, f"it would need prices; the gear is {gear}")
        case _:
            needs = "it would need figures of that content; nothing that is measured differs by where it is played"
            return WishVerdict(f"played in {word}", word, None, None, needs)


CHECKS = MappingProxyType(
    {
        **{row.name: target_verdict for row in INVARIANTS.values() if row.kind is Kind.TARGET},
        **dict.fromkeys(sorted(IDENTITY), identity_verdict),
        "weapon": weapon_verdict,
        "with": with_verdict,
        "exclude": without_verdict,
        "style": style_verdict,
        "damage_type": damage_type_verdict,
        "defence": defence_verdict,
        **dict.fromkeys(("gear", "goal", "hardcore", "content", "budget"), demand_verdict),
    }
)
"""The check of every constraint of the table."""


def nothing_excluded(case: Case) -> list[BuildConflict]:
    """No gem or passive is used that a decision leaves out; what the user ruled out is a wish."""
    scaling = case.choices.get(SubProblemName.DAMAGE_SCALING)
    if not isinstance(scaling, ScalingChoice):
        return []
    told = ruled_out(case.invariants)
    gems = {gem.gem_id: gem.name for group in case.blueprint.groups for gem in group.gems}
    known = {key for key in gems if (fact := case.gems.get(key)) is not None and told.gem(fact)}
    used_gems = sorted(gems[gem_id] for gem_id in set(scaling.excluded_gems) & set(gems) - known)
    allocated = {node.id for node in case.blueprint.nodes}
    wished = {key for key in allocated if (node := case.nodes.get(key)) is not None and told.node(node)}
    used_nodes = sorted(allocated & set(scaling.excluded_nodes) - wished)
    found = [_excluded(f"gem {name}", name) for name in used_gems]
    return [*found, *(_excluded(f"passive {node}", str(node)) for node in used_nodes)]


def _excluded(subject: str, name: str) -> BuildConflict:
    scaling, text = SubProblemName.DAMAGE_SCALING, f"leave {name} out"
    out = advice("leave_out", scaling, Demand.DROP_SUPPORT, text, Details(excluded=name))
    message = f"{subject} was excluded but is used."
    return conflict(_KIND, Severity.BLOCKING, subject, message, [out], Evidence(excluded=name))
