"""Where a call happens: which build, phase and question, and inside which other call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from app.model.names import Phase, SubProblemName


@dataclass(frozen=True)
class Scope:
    """What every event of one step has in common; `epoch` is the claim under which the step is done, if any."""

    build_id: str
    phase: Phase
    epoch: int | None = None


@dataclass(frozen=True)
class Asked:
    """A language model asked for the call: in which of its turns (1-based), and under which id of its own."""

    turn: int
    provider_call_id: str | None = None


_QUESTION: ContextVar[SubProblemName | None] = ContextVar("question", default=None)
_CALL: ContextVar[str | None] = ContextVar("call", default=None)
_ASKED: ContextVar[Asked | None] = ContextVar("asked", default=None)


def current_question() -> SubProblemName | None:
    """Return the question being worked on, if any."""
    return _QUESTION.get()


def current_call() -> str | None:
    """Return the id of the recorded call that this code runs inside, if any."""
    return _CALL.get()


def current_asked() -> Asked | None:
    """Return which turn of a language model this code works on, if any."""
    return _ASKED.get()


@contextmanager
def asked(turn: int, provider_call_id: str | None = None) -> Iterator[None]:
    """The next call made inside was asked for in this turn of a language model, or is that turn."""
    token = _ASKED.set(Asked(turn, provider_call_id))
    try:
        yield
    finally:
        _ASKED.reset(token)


@contextmanager
def about(name: SubProblemName) -> Iterator[None]:
    """Calls made inside belong to this question."""
    token = _QUESTION.set(name)
    try:
        yield
    finally:
        _QUESTION.reset(token)


@contextmanager
def inside(call_id: str) -> Iterator[None]:
    """Calls made inside are children of this call."""
    token, turn = _CALL.set(call_id), _ASKED.set(None)
    try:
        yield
    finally:
        _ASKED.reset(turn)
        _CALL.reset(token)
