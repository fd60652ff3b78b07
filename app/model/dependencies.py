"""Which question waits for which, and how waiting in circles is ended."""

from __future__ import annotations

from collections.abc import Mapping

from app.model.names import SubProblemName

Dependencies = dict[SubProblemName, list[SubProblemName]]


def without_cycles(depends_on: Mapping[SubProblemName, list[SubProblemName]]) -> tuple[Dependencies, list[str]]:
    """Break every cycle at its member with the fewest dependants, and say so in words.

    That member is answered first: it stops waiting for the other members. Ties go to the earlier question.
    """
    free = {name: list(waits) for name, waits in depends_on.items()}
    order = list(SubProblemName)
    broken: list[str] = []
    while cycle := _cycle(free):
        dependants = {name: sum(name in waits for waits in free.values()) for name in cycle}
        first, *others = sorted(cycle, key=lambda name: (dependants[name], order.index(name)))
        free[first] = [name for name in free[first] if name not in cycle]
        waiting = " and ".join(name.value for name in others)
        broken.append(f"{first.value} is answered before {waiting or 'itself'}, although each waits for the other.")
    return free, broken


def _cycle(depends_on: Mapping[SubProblemName, list[SubProblemName]]) -> set[SubProblemName]:
    """Return the questions that wait for themselves through each other, as one strongly connected group, or nothing."""
    reach: dict[SubProblemName, set[SubProblemName]] = {}
    for start, waits in depends_on.items():
        seen: set[SubProblemName] = set()
        queue = list(waits)
        while queue:
            name = queue.pop()
            if name not in seen:
                seen.add(name)
                queue += depends_on.get(name, [])
        reach[start] = seen
    for name in SubProblemName:
        if name in reach.get(name, ()):
            return {other for other in reach[name] if name in reach.get(other, ())}
    return set()
