"""Which call counts for which expectation, where a call may count for one only, and where some come in order.

An expectation in order takes the earliest calls after those of the one before it, and no more than it needs: what
follows must find its own. Others take what is free, and what another can replace. What is left over counts where
there is room for it, and where there is none it is one too many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from app.metrics.limits import check_time


@dataclass
class Claimant:
    """How many calls are wanted. `matches`: sequence numbers of the calls that could count, ascending.

    `consumes`: a call counts for this one or for another. `taken`: those that count.
    """

    matches: Sequence[int]
    least: int = 1
    most: int | None = None
    in_order: bool = False
    consumes: bool = False
    taken: list[int] = field(default_factory=list)

    @cached_property
    def known(self) -> frozenset[int]:
        """The calls that could count, to look them up."""
        return frozenset(self.matches)

    @property
    def has_room(self) -> bool:
        """Whether one more would not be too many."""
        return self.most is None or len(self.taken) < self.most

    @property
    def is_met(self) -> bool:
        """Whether neither too few nor too many count."""
        return self.least <= len(self.taken) and (self.most is None or len(self.taken) <= self.most)


def assign(demands: Sequence[Claimant]) -> None:
    """Fill `taken` of every demand.

    Raises:
        InvalidMatcher: it takes too long.
    """
    for demand in demands:
        if not demand.in_order and not demand.consumes:
            demand.taken = list(demand.matches)
    owners = _Owners([demand for demand in demands if demand.in_order or demand.consumes])
    owners.take_in_order()
    owners.take_any()
    owners.place_surplus()
    for demand in demands:
        demand.taken.sort()


class _Owners:
    """Who has which call."""

    def __init__(self, demands: Sequence[Claimant]) -> None:
        self._ordered = [demand for demand in demands if demand.in_order]
        self._others = [demand for demand in demands if not demand.in_order]
        self._of: dict[int, Claimant] = {}

    def take_in_order(self) -> None:
        """Give each ordered demand the earliest calls that it needs after those of the one before."""
        reached = 0
        for demand in self._ordered:
            check_time()
            found = [call for call in demand.matches if call > reached][: demand.least]
            if found and len(found) == demand.least:
                for call in found:
                    self._give(call, demand)
                reached = found[-1]

    def take_any(self) -> None:
        """Give the others what they need, one call after the other, moving what has another place."""
        for demand in self._others:
            for _ in range(min(demand.least, len(demand.matches))):
                if not self._find(demand, {id(demand)}):
                    break

    def place_surplus(self) -> None:
        """Count what is left over where it may be; where it may not, it is one too many."""
        wanting: dict[int, list[Claimant]] = {}
        for demand in (*self._ordered, *self._others):
            for call in demand.matches if demand.consumes else ():
                if call not in self._of:
                    wanting.setdefault(call, []).append(demand)
        for call, wanted_by in sorted(wanting.items()):
            check_time()
            fitting = [demand for demand in wanted_by if self._fits(call, demand)]
            if found := next((demand for demand in fitting if demand.has_room), None):
                self._give(call, found)
            elif not any(self._make_room(demand) and self._give(call, demand) for demand in fitting):
                bounded = [demand for demand in wanted_by if demand.most is not None]
                if bounded:
                    self._give(call, bounded[0])

    def _find(self, demand: Claimant, asked: set[int]) -> bool:
        """Give the demand one call more, taking it from somebody who finds another."""
        check_time()
        if (free := next((call for call in demand.matches if call not in self._of), None)) is not None:
            return self._give(free, demand)
        for call in demand.matches:
            owner = self._of[call]
            if id(owner) in asked:
                continue
            asked.add(id(owner))
            if self._replace(owner, call, asked):
                return self._give(call, demand)
        return False

    def _replace(self, owner: Claimant, call: int, asked: set[int]) -> bool:
        """Let the owner have another call instead of this one; an ordered one only between its neighbours."""
        if owner.in_order:
            fitting = (other for other in owner.matches if other not in self._of and self._fits(other, owner))
            free = next(fitting, None)
            found = free is not None and self._give(free, owner)
        else:
            found = self._find(owner, asked)
        if found:
            owner.taken.remove(call)
            del self._of[call]
        return found

    def _make_room(self, demand: Claimant) -> bool:
        """Move one of the demand's calls to another that has room for it."""
        for call in demand.taken:
            for other in (*self._ordered, *self._others):
                if (
                    other is not demand
                    and other.consumes
                    and other.has_room
                    and call in other.known
                    and self._fits(call, other)
                ):
                    demand.taken.remove(call)
                    return self._give(call, other)
        return False

    def _fits(self, call: int, demand: Claimant) -> bool:
        """Whether a call that matches can count without breaking the order."""
        if not demand.in_order:
            return True
        place = next(index for index, one in enumerate(self._ordered) if one is demand)
        before = next((one for one in reversed(self._ordered[:place]) if one.taken), None)
        after = next((one for one in self._ordered[place + 1 :] if one.taken), None)
        return (before is None or max(before.taken) < call) and (after is None or call < min(after.taken))

    def _give(self, call: int, demand: Claimant) -> bool:
        demand.taken.append(call)
        if demand.consumes:
            self._of[call] = demand
        return True
