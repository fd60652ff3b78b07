"""Which question waits for which, and what to do when they wait in a circle."""

from __future__ import annotations

from collections.abc import Mapping

from app.model.names import SubProblemName

Q = SubProblemName
Dependencies = dict[SubProblemName, list[SubProblemName]]


def dependencies_for(*, ascendancy_named: bool, skill_named: bool) -> Dependencies:
    """Return what each question depends on.

    An ascendancy is chosen for the skill; only when the user named the ascendancy and no skill is it the other way.
    """
    skill_follows = ascendancy_named and not skill_named
    return {
        Q.ASCENDANCY: [] if ascendancy_named else [Q.DAMAGE_DELIVERY],
        Q.DAMAGE_DELIVERY: [Q.ASCENDANCY] if skill_follows else [],
        Q.DAMAGE_SCALING: [Q.ASCENDANCY, Q.DAMAGE_DELIVERY],
        Q.SURVIVABILITY: [Q.ASCENDANCY],
        Q.RESOURCE_SUSTAIN: [Q.DAMAGE_DELIVERY],
        Q.SPIRIT_ALLOCATION: [Q.DAMAGE_DELIVERY, Q.SURVIVABILITY],
        Q.STAT_REQUIREMENTS: [Q.DAMAGE_DELIVERY, Q.SURVIVABILITY, Q.SPIRIT_ALLOCATION],
    }


def without_cycles(depends_on: Mapping[SubProblemName, list[SubProblemName]]) -> tuple[Dependencies, list[str]]:
    """Break every cycle at its member with the fewest dependants, and say so in words.

    That member is answered first: it stops waiting for the other members. Ties go to the earlier question.
    """
    free = {name: list(waits) for name, waits in depends_on.items()}
    broken: list[str] = []
    while cycle := _cycle(free):
        members = sorted(cycle, key=lambda name: (_dependants(name, free), list(Q).index(name)))
        first = members[0]
        free[first] = [name for name in free[first] if name not in cycle]
        others = " and ".join(name.value for name in members[1:])
        broken.append(f"{first.value} is answered before {others or 'itself'}, although each waits for the other.")
    return free, broken


def _dependants(name: SubProblemName, depends_on: Mapping[SubProblemName, list[SubProblemName]]) -> int:
    return sum(name in waits for waits in depends_on.values())


def _cycle(depends_on: Mapping[SubProblemName, list[SubProblemName]]) -> set[SubProblemName]:
    """Return the questions that wait for themselves through each other, as one strongly connected group, or nothing."""
    reach = {name: _reachable(name, depends_on) for name in depends_on}
    for name in Q:
        if name in reach.get(name, ()):
            return {other for other in reach[name] if name in reach.get(other, ())}
    return set()


def _reachable(start: SubProblemName, depends_on: Mapping[SubProblemName, list[SubProblemName]]) -> set[SubProblemName]:
    seen: set[SubProblemName] = set()
    queue = list(depends_on.get(start, []))
    while queue:
        name = queue.pop()
        if name not in seen:
            seen.add(name)
            queue += depends_on.get(name, [])
    return seen
