"""What a refinement's prompt asks for besides what is to become better: constraints, a figure to aim at, lost words."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from app.knowledge.gems import dealt, has_style
from app.knowledge.styles import BY_ITSELF
from app.knowledge.weapons import OFF_HANDS, UNARMED, bare_handed_by, matches, weapon_words
from app.knowledge.words import phrase
from app.model.base import changed
from app.model.constraints import INVARIANTS, Invariant, InvariantSet
from app.model.experiments import Direction, Wish
from app.model.facts import GemFact
from app.model.names import Provenance, SubProblemName
from app.model.state import BuildState
from app.model.stats import DPS, EHP, Stats
from app.model.sub_problems import AscendancyChoice, DeliveryChoice
from app.phases.base import PhaseContext
from app.phases.decompose import joined, still
from app.reasoning.base import RefineReading

LEAST_GAIN, MOST_GAIN = 0.01, 3.0
"""Bounds of what a refinement aims at, as a share of the parent's figure."""

_BETTER = frozenset({"style", "defence"})
"""Words of these fields may say no more than what is to become better ("tankier", "more evasion")."""

FELT = 0.05
"""Share by which a figure has to rise where no amount is named; of percentages as many points of a hundred."""

_FURTHER = re.compile(r"\d\s*k?\s*%?\s*(?:more|extra|additional|further)\b", re.I)
"""An amount that is to come on top of what there is."""


def aimed(wish: Wish, said: InvariantSet, outputs: Mapping[str, float]) -> Wish:
    """Return the wish with the gain that a figure asked for takes; without another wish, that figure is the wish."""
    directions: tuple[tuple[Direction, str, str], ...] = (("damage", "dps", DPS), ("survivability", "ehp", EHP))
    for direction, field, metric in directions:
        now, target = outputs.get(metric, 0.0), said.get(field)
        if now > 0 and isinstance(target, (int, float)) and (wish.direction == direction or not wish.said):
            gain = min(MOST_GAIN, max(LEAST_GAIN, float(target) / now - 1.0))
            return changed(wish, direction=direction, gain=gain, said=True)
    figures = [i for i in said.invariants if INVARIANTS[i.field].figure is not None]
    # Who asks for another figure alone wants that one: both of the others may fall by what may be lost.
    return changed(wish, gain=LEAST_GAIN, least=-2 * wish.loss) if figures and not wish.said else wish


async def said(ctx: PhaseContext, reading: RefineReading) -> InvariantSet:
    """Return what the prompt says outright, apart from what it keeps."""
    fields = ctx.request.overrides
    says_much = bool(reading.rest)
    if not says_much and ctx.request.level is None and ctx.request.gear is None and not fields:
        return InvariantSet()
    asked = changed(ctx.request, prompt=reading.rest) if says_much else ctx.request
    found = await ctx.reasoner.extract(asked, ctx.engine)
    stated = [on_top(i, ctx.state.stats) for i in found.invariants if i.provenance is Provenance.EXPLICIT]
    # What a refinement can wish for is no word of a new build's prompt.
    lost = [words for words in found.not_understood if says_much and not reading.covers(words)]
    return InvariantSet(invariants=stated, not_understood=lost)


def unnamed(state: BuildState, reading: RefineReading) -> InvariantSet:
    """Return what is asked for without a value: another skill than there is, more of a figure than there is."""
    return InvariantSet(invariants=[*_others(state, reading), *_more(state.stats, reading)])


def _others(state: BuildState, reading: RefineReading) -> list[Invariant]:
    """Return what is ruled out because something else is to be in its place, whatever that is."""
    have = _identity(state)
    pairs = {have[field]: words for field, words in reading.other.items() if field in have}
    if not pairs:
        return []
    reason = f'you wrote "{", ".join(pairs.values())}"'
    words, values = list(pairs.values()), list(pairs)
    return [Invariant(field="exclude", value=values, provenance=Provenance.EXPLICIT, reason=reason, words=words)]


def _more(stats: Stats | None, reading: RefineReading) -> list[Invariant]:
    """Return the figures that are to be higher than the parent's, by enough to be felt."""
    found = []
    for field, words in reading.more.items():
        figure = INVARIANTS[field].figure
        now = figure.of(stats.values) if figure is not None and stats is not None else None
        if figure is not None and now is not None:
            least = max(now * (1 + FELT), now + 100 * FELT) if figure.unit == "percent" else now * (1 + FELT)
            value = round(least, 2) if figure.unit == "per second" else float(max(1, math.ceil(least)))
            reason = f'you wrote "{words}", and there are {figure.words(now)} now'
            found.append(
                Invariant(field=field, value=value, provenance=Provenance.EXPLICIT, reason=reason, words=[words])
            )
    return found


def _identity(state: BuildState) -> dict[str, str]:
    """Return class, ascendancy and main skill as they were decided, by constraint."""
    names = (SubProblemName.ASCENDANCY, SubProblemName.DAMAGE_DELIVERY)
    hero, skill = (
        sub.decision.choice if (sub := state.sub_problems.get(name)) and sub.decision else None for name in names
    )
    found: dict[str, str] = {}
    if isinstance(hero, AscendancyChoice):
        found |= {"class": hero.class_name} | ({"ascendancy": hero.ascendancy} if hero.ascendancy else {})
    if isinstance(skill, DeliveryChoice):
        found["skill"] = skill.skill_name
    return found


def on_top(invariant: Invariant, stats: Stats | None) -> Invariant:
    """Return a figure that is asked for beside the parent's ("2000 more life") as the whole of it."""
    figure, value = INVARIANTS[invariant.field].figure, invariant.value
    further = any(_FURTHER.search(word) for word in invariant.words)
    now = figure.of(stats.values) if figure is not None and further and stats is not None else None
    if now is None or not isinstance(value, (int, float)):
        return invariant
    return changed(invariant, value=float(round(now + value)), reason=f"{invariant.reason}, beside {round(now):,} now")


def beside(said: InvariantSet, reading: RefineReading) -> InvariantSet:
    """Return what is said without the values whose words are the wish itself ("tankier", "more evasion")."""
    found = []
    for one in said.invariants:
        better = {value for value, words in one.told if one.field in _BETTER and reading.covers(words)}
        found.append(one.without(better))
    return changed(said, invariants=[one for one in found if one.value != []])


def merged(before: InvariantSet, said: InvariantSet) -> InvariantSet:
    """Return the parent's constraints with what is said now in their place; nothing else changes.

    Of what a build can have several of, what is said now comes beside the parent's.
    """
    new = {i.field: joined(before, i, said) for i in said.invariants}
    old = [new.get(i.field) or still(i, said) for i in before.invariants]
    added = [i for field, i in new.items() if before.find(field) is None]
    lost = list(dict.fromkeys([*before.not_understood, *said.not_understood]))
    kept = [i for i in old if i.value != []]
    return changed(before, invariants=[*kept, *added], not_understood=lost, question=None)


async def identified(ctx: PhaseContext, before: InvariantSet, said: InvariantSet) -> InvariantSet:
    """Return the parent's constraints with its class, ascendancy and main skill, where what is said now leaves them.

    Who wants another amulet does not want another skill; a skill stays out that could not be what is asked for.
    """
    built = _identity(ctx.state)
    gem = next((gem for gem in await ctx.engine.facts.gems() if gem.name == built.get("skill")), None)
    new, out = {i.field for i in said.invariants}, {phrase(one) for one in said.listed("exclude")}
    own = [
        Invariant(
            field=field, value=value, provenance=Provenance.EXPLICIT, reason=f"the build that is refined is {value}"
        )
        for field, value in built.items()
        if not before.is_explicit(field) and field not in new
    ]
    rest = [i for i in before.invariants if i.field not in {one.field for one in own}]
    gone = {field for field, value in built.items() if phrase(value) in out}
    gone |= {"skill"} if gem is not None and not can_be(gem, said) else set()
    return changed(before, invariants=[i for i in (*rest, *own) if i.field not in gone])


def can_be(gem: GemFact, said: InvariantSet) -> bool:
    """Say whether a main skill can be played with the weapon, the damage type and in the styles asked for."""
    weapons, kinds = weapon_words(gem), said.listed("damage_type")
    bare = (UNARMED,) if bare_handed_by(weapons) else ()
    held = [word for word in said.listed("weapon") if word not in OFF_HANDS]
    styles = [style for style in said.listed("style") if style in BY_ITSELF]
    return (
        (not held or not weapons or any(matches(held, word) for word in (*weapons, *bare)))
        and (not kinds or bool(set(kinds) & set(dealt(gem))))
        and all(has_style(gem, style) for style in styles)
    )


def stronger(ctx: PhaseContext, reading: RefineReading, said: InvariantSet) -> list[Invariant]:
    """Return the figures that another build has to reach because more than the parent's is wished for, too."""
    wish, stats = reading.wish, ctx.state.stats
    fields = {"damage": (("dps", DPS),), "survivability": (("ehp", EHP),), "balanced": (("dps", DPS), ("ehp", EHP))}
    if not wish.said or stats is None:
        return []
    found = []
    for field, metric in fields.get(wish.direction, ()):
        now = stats.get(metric)
        if now > 0 and said.find(field) is None:
            reason = f"{wish.reason}: {wish.enough:.0%} more than the {now:,.0f} of the build that is refined"
            value, words = float(round(now * (1 + wish.enough))), re.findall('"(.+?)"', wish.reason)[:1]
            found.append(
                Invariant(field=field, value=value, provenance=Provenance.EXPLICIT, reason=reason, words=words)
            )
    return found
