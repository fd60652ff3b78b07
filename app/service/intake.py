"""Judging a request before anything is stored: what cannot be used is refused, nothing is guessed here."""

from __future__ import annotations

from app.core.errors import InputError
from app.knowledge.values import Unusable, allowed, answer_of, is_plain_text, value_of
from app.knowledge.words import clean
from app.model.base import changed
from app.model.constraints import INVARIANTS, InvariantType, Setter
from app.model.names import Mode
from app.model.record import MIN_PROMPT, BuildRequest

_MOST_LETTERS = 12_000
"""There are signs that stand for eighteen letters; no writing takes more than three for one on average."""


def check_request(request: BuildRequest) -> BuildRequest:
    """Return the request with the prompt trimmed; what names a parent and no other mode is a refinement.

    Raises:
        InputError: control characters, too short once trimmed, or an override that cannot be meant.
        NotAvailable: a way of building that this version does not have yet.
    """
    prompt = check_prompt(request.prompt)
    follows = request.parent_id is not None and request.mode is Mode.INITIAL
    mode = Mode.REFINEMENT if follows else request.mode
    if mode is Mode.REFINEMENT and request.parent_id is None:
        raise _refusal("parent_id", "a refinement names the build it refines")
    known = _set_by(Setter.OVERRIDE)
    for field, value in sorted(request.overrides.items()):
        if field not in known:
            raise _refusal(f"overrides.{field[:40]}", f"unknown constraint; known are {', '.join(sorted(known))}")
        try:
            value_of(known[field], value)
        except Unusable as exc:
            raise _refusal(f"overrides.{field}", f"must be {allowed(known[field])}") from exc
    return changed(request, prompt=prompt, mode=mode)


def check_prompt(prompt: str) -> str:
    """Return the prompt without surrounding space.

    Raises:
        InputError: it holds binary or control characters, or fewer than three characters.
    """
    if not is_plain_text(prompt):
        raise _refusal("prompt", "must be plain text without control characters")
    if len(clean(prompt)) > _MOST_LETTERS:
        raise _refusal("prompt", "is too long once its signs are written out in letters")
    trimmed = prompt.strip()
    if len(trimmed) < MIN_PROMPT:
        raise _refusal("prompt", f"must have at least {MIN_PROMPT} characters")
    return trimmed


def check_answer(field: str, text: str) -> str | int | float | bool | list[str]:
    """Return what the answer to the question about a constraint says, as an override of the constraint.

    Raises:
        InputError: it says nothing that the constraint can have.
    """
    constraint = _set_by(Setter.ANSWER)[field]
    try:
        value = answer_of(constraint, text)
    except Unusable as exc:
        raise _refusal("answer", f"to the question about {field} must be {allowed(constraint)}") from exc
    assert value is not None
    return value


def _set_by(setter: Setter) -> dict[str, InvariantType]:
    return {name: constraint for name, constraint in INVARIANTS.items() if setter in constraint.set_by}


def _refusal(place: str, message: str) -> InputError:
    return InputError(f"{place} {message}", errors=[{"place": place, "message": message}])
