"""How far searches go for each effort; bounds count evaluations and rounds, so that results are the same everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from app.model.construction import StageNotes
from app.model.dialogue import DialogueLimits
from app.model.names import Effort
from app.search.passives.tree import TreeLimits
from app.search.skills.supports import SHORT_LIST


@dataclass(frozen=True)
class SearchLimits:
    """Bounds of the stages.

    `growing`, `polishing`, `trading`: the tree before there is gear, with gear that was drafted, and with gear that
    was fitted to it. `gear_rounds`, `gear_again`: choices of all slots together, when gear is fitted for good and
    when it is drafted; `gear_gap`: how far (relative) one may be from the best of them on paper. `width`: sets of
    ascendancy passives that are kept per point. `short_list`: how many supports go on after each was tried alone.
    `exchanges`: whether supports are exchanged once a set is full. `uniques`: whether unique items that nobody
    named are tried. `all_jewels`: whether affixes of jewels are tried that do not speak of the plan's words.
    `at_once`: whether attribute passives are switched together. `anoints`: notables that are tried on the amulet.
    `jewels`: candidates that are measured to give sockets other jewels than rare ones without a radius.
    """

    growing: TreeLimits
    polishing: TreeLimits
    trading: TreeLimits
    gear_rounds: int = 4
    gear_again: int = 2
    gear_gap: float = 1e-3
    width: int = 4
    short_list: int = SHORT_LIST
    exchanges: bool = True
    uniques: bool = True
    all_jewels: bool = True
    at_once: bool = False
    anoints: int = 160
    jewels: int = 800


RENEWED: Final = 48
"""Routes measured anew on each tree where there are large moves: all took six of seven trials of a search, and what
promises little on one tree does on the next. A tree begun from nothing came further by 12,000 trials than by 40,000."""

WORTHWHILE: Final = 1e-5
"""Gain per evaluation for which a normal build goes on trading passives: 1 % for a thousand. On four builds of level 90
what came after the first round below that added 0.000 to 0.007 for 0 to 1,500 evaluations."""

LIMITS: Mapping[Effort, SearchLimits] = {
    Effort.QUICK: SearchLimits(
        growing=TreeLimits(reach=4, rounds=3, trials=0),
        polishing=TreeLimits(reach=4, rounds=1, trials=0),
        trading=TreeLimits(trials=0),
        gear_rounds=1,
        gear_again=1,
        gear_gap=0.02,
        width=1,
        short_list=12,
        exchanges=False,
        uniques=False,
        all_jewels=False,
        at_once=True,
        anoints=16,
        jewels=0,
    ),
    Effort.NORMAL: SearchLimits(
        growing=TreeLimits(trials=2000),
        polishing=TreeLimits(reach=6, trials=4000, rate=WORTHWHILE),
        trading=TreeLimits(reach=6, trials=2000, rate=WORTHWHILE),
    ),
    Effort.DEEP: SearchLimits(
        growing=TreeLimits(trials=4000),
        polishing=TreeLimits(
            reach=12, trials=40_000, chain=36, offers=64, shakes=(8, 16, 24, 32), moves=4, renewed=RENEWED
        ),
        trading=TreeLimits(reach=10, trials=4000),
        gear_rounds=6,
        gear_again=3,
        width=16,
        anoints=1000,
        jewels=3000,
    ),
}
"""Before there is gear a rough tree is enough (on Path of Building that of a quick build, `stages.table.roughly`).

Trades of a normal build look six points far, with drafted gear and again with fitted gear: ten points far with drafted
gear alone took as many evaluations and came to less (docs/tree.md)."""

LEFT_OUT: Mapping[Effort, str] = {
    Effort.QUICK: (
        "Quick effort drafts everything once, and twice more only while something that you asked for is missed: the "
        "skill is the usual one of the class, not the best measured; no unique items, Spirit skills or further skills "
        "beside those you named, no second look at tree, supports and gear, no levelling loadouts, no measure of what "
        "each line of an item is worth. Normal effort does all of that."
    )
}
"""What a build of this effort must tell that it left out."""

DIALOGUE: Final[Mapping[Effort, DialogueLimits]] = {
    Effort.QUICK: DialogueLimits(rounds=3, calls=4, turns=0, output=4_096, requests=30, tokens=1_000_000),
    Effort.NORMAL: DialogueLimits(rounds=10, calls=8, turns=4, output=8_192, requests=120, tokens=3_000_000),
    Effort.DEEP: DialogueLimits(rounds=16, calls=8, turns=8, output=16_384, requests=200, tokens=8_000_000),
}
"""What a build may ask of its language model. A build without repairs takes 6 steps (quick) or 7, one of which is asked
again in turns; requests and tokens leave room for tools in each of them, and for the rounds of repair of the effort.
Settings may allow a build less, never more."""

SHARED: Final = 0.08
"""Share of the evaluations of a build that the ideas of its reasoner and the last look may take together: what is tried
for ideas, what of it is kept, what is tried on drafts and to hold choices, and then the look. It belongs to every build
that is no draft, so the rules and a language model have the same."""

FEWEST_TO_SHARE: Final = 100
"""Evaluations to share where that comes to less, as in a build that begins with a remembered one: an item made anew, or
twenty other trials and their proposals."""

ON_DRAFTS: Final[Mapping[Effort, int]] = {Effort.QUICK: 0, Effort.NORMAL: 60, Effort.DEEP: 120}
"""Evaluations that a reasoner may have made on drafts of the race, for all its questions together. They are taken from
those that its ideas have later."""


def left_to_share(notes: StageNotes) -> int:
    """Return how many evaluations ideas and the last look may still take.

    The share is of what the build has taken without them, so it is the same whoever takes it.
    """
    taken = notes.for_ideas + notes.for_look
    return max(0, max(FEWEST_TO_SHARE, int((notes.evaluations - taken) * SHARED)) - taken)


def for_trades(points: int) -> TreeLimits:
    """Return how far passives of a begun build are traded before builds are compared.

    Of 47 begun builds of level 90 it gains 0.13 to 1.05 of the objective, 0.29 in the median; polishing the tree gains
    0.05 more, for 1.4 times the evaluations, and half as many trades do not show a Firestorm that comes to most.
    """
    return TreeLimits(reach=6, trials=9 * points)


def for_a_build(points: int) -> int:
    """Return the evaluations in which a build of so many passive points is begun, or settled, on Path of Building.

    At level 90 1,050 to 1,500 were measured for the one, 100 to 500 for the other.
    """
    return 150 + 8 * points


def for_a_build_anew(points: int) -> int:
    """Return the same for what is made anew for another ascendancy or defence: 810 were measured at level 90."""
    return 250 + 5 * points


def for_a_build_completed(points: int) -> int:
    """Return the same for a begun build that is completed: 4,700 to 6,200 were measured at level 90."""
    return 150 + 50 * points


def for_a_build_traded(points: int) -> int:
    """Return the same for passives that are traded: a plan that was begun is measured to its end, 1,270 at most."""
    return 150 + for_trades(points).trials
