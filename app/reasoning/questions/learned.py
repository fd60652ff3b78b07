"""What earlier races say of who should start in the next one, against the tables of tastes."""

from __future__ import annotations

from collections.abc import Sequence

from app.model.memory import RaceMemory, agreement
from app.model.sub_problems import DeliveryChoice, Option

TABLE_RACES = 4
"""Races that a table which always agreed with them weighs as much as."""


def likeliest_first(options: Sequence[Option], class_name: str, races: Sequence[RaceMemory]) -> list[Option]:
    """Return ways to build, given in the table's order, in the order in which they should start.

    A way's estimate is how far (in e-folds of score) it is expected to be behind the best:

        estimate = w * table + (1 - w) * learned
        w = TABLE_RACES * agreement / (TABLE_RACES * agreement + n)

    `learned` is the mean of what it was behind in the n races of the class that it ran; w = 1 where it ran none. The
    table spreads all ways evenly from 0 to twice the mean of everything learned: table = 2 * mean * (place + 1/2) /
    number of ways. So the more races, the less the table counts, and the less, the worse it agreed with them
    (`agreement`). The lowest estimate comes first, the table's order between equals. Without races nothing changes.
    """
    known = [[one for one in race.results if one.class_name == class_name] for race in races]
    behind = [one.behind for few in known for one in few]
    if not behind:
        return list(options)
    mean, trust = sum(behind) / len(behind), TABLE_RACES * agreement(known)
    by_way: dict[tuple[str, str], list[float]] = {}
    for one in (one for few in known for one in few):
        by_way.setdefault((one.skill_id, one.hands), []).append(one.behind)

    def estimate(place: int) -> float:
        ran, table = by_way.get(_way(options[place]), []), 2 * mean * (place + 0.5) / len(options)
        weight = trust / (trust + len(ran)) if ran else 1.0
        return weight * table + (1 - weight) * (sum(ran) / len(ran) if ran else 0.0)

    return [options[place] for place in sorted(range(len(options)), key=lambda place: (estimate(place), place))]


def _way(option: Option) -> tuple[str, str]:
    assert isinstance(option.choice, DeliveryChoice), "a way to build is a main skill"
    return option.choice.skill_id, option.choice.hands
