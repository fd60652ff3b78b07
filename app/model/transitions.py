"""A transition table as a pure function, on the `transitions` library.

The synchronous `Machine` is shared and holds no model between calls: nothing is awaited inside, so no timeout or
cancellation can end between two states (the library's AsyncMachine swallows both).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Generic, TypeVar

from transitions import Machine, MachineError

from app.core.errors import InvalidTransition

S = TypeVar("S", bound=StrEnum)
T = TypeVar("T", bound=StrEnum)


class _Cursor:
    """Where one question to the table stands; the machine gives it both when the cursor joins."""

    state: str
    trigger: Callable[[str], bool]


class TransitionTable(Generic[S, T]):
    """Which state follows from which trigger; rows are (trigger, from, to)."""

    def __init__(self, states: type[S], rows: Sequence[tuple[T, S, S]]) -> None:
        self._states = states
        self.rows = tuple(rows)
        self._machine = Machine(
            model=None,
            states=[state.value for state in states],
            transitions=[[trigger.value, source.value, target.value] for trigger, source, target in rows],
            auto_transitions=False,
            initial=None,
        )
        self._known: dict[tuple[S, T], S] = {}

    def follow(self, state: S, trigger: T) -> S:
        """Return the state that the trigger leads to.

        Raises:
            InvalidTransition: the table has no such row.
        """
        if (state, trigger) in self._known:
            return self._known[state, trigger]
        cursor = _Cursor()
        self._machine.add_model(cursor, initial=state.value)
        try:
            cursor.trigger(trigger.value)
            return self._known.setdefault((state, trigger), self._states(cursor.state))
        except (MachineError, AttributeError) as exc:
            raise InvalidTransition(f"{trigger.value!r} is not possible in {state.value!r}") from exc
        finally:
            self._machine.remove_model(cursor)

    def reachable(self, state: S) -> frozenset[S]:
        """Return every state that some triggers lead to, the state itself included."""
        found = {state}
        while more := {target for _, source, target in self.rows if source in found} - found:
            found |= more
        return frozenset(found)

    def check_path(self, before: S, after: S, what: str) -> None:
        """Return when triggers lead from one state to the other.

        Raises:
            InvalidTransition: no path of the table does.
        """
        if after not in self.reachable(before):
            raise InvalidTransition(f"{what} cannot go from {before.value!r} to {after.value!r}")
