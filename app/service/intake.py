"""Judging a request before anything is stored: what cannot be used is refused, nothing is guessed here."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

from app.core.errors import InputError
from app.model.names import GearTier, Goal, Mode
from app.model.record import BuildRequest

MIN_PROMPT = 3
MAX_TEXT = 200
MAX_WORDS = 20
_ALLOWED_CONTROLS = frozenset("\t\n\r")
_TEXT_FIELDS = ("class", "ascendancy", "skill", "damage_type", "defence", "budget", "weapon", "content")


def check_request(request: BuildRequest) -> BuildRequest:
    """Return the request with the prompt trimmed.

    Raises:
        InputError: control characters, too short once trimmed, or an override that cannot be meant.
        NotAvailable: a way of building that this version does not have yet.
    """
    prompt = check_prompt(request.prompt)
    request = _with_mode(request)
    _check_kind(request)
    for field, value in sorted(request.overrides.items()):
        _check_override(field, value)
    return request.model_copy(update={"prompt": prompt})


def check_prompt(prompt: str) -> str:
    """Return the prompt without surrounding space.

    Raises:
        InputError: it holds binary or control characters, or fewer than three characters.
    """
    if not is_plain_text(prompt):
        raise _refusal("prompt", "must be plain text without control characters")
    trimmed = prompt.strip()
    if len(trimmed) < MIN_PROMPT:
        raise _refusal("prompt", f"must have at least {MIN_PROMPT} characters")
    return trimmed


def is_plain_text(text: str) -> bool:
    """Tell whether the text has no control characters (line breaks and tabs aside) and no half surrogates."""
    return all(char in _ALLOWED_CONTROLS or unicodedata.category(char) not in {"Cc", "Cs"} for char in text)


def _with_mode(request: BuildRequest) -> BuildRequest:
    """Return the request with its mode: what names a parent and no other mode is a refinement."""
    if request.parent_id is None or request.mode is not Mode.INITIAL:
        return request
    return request.model_copy(update={"mode": Mode.REFINEMENT})


def _check_kind(request: BuildRequest) -> None:
    if request.mode is Mode.REFINEMENT and request.parent_id is None:
        raise _refusal("parent_id", "a refinement names the build it refines")


def _check_override(field: str, value: object) -> None:
    check = _CHECKS.get(field)
    if check is None:
        raise _refusal(f"overrides.{field[:40]}", f"unknown constraint; known are {', '.join(sorted(_CHECKS))}")
    wanted = check(value)
    if wanted is not None:
        raise _refusal(f"overrides.{field}", wanted)


def _level(value: object) -> str | None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return None if whole and 1 <= int(str(value)) <= 100 else "must be a whole number from 1 to 100"


def _flag(value: object) -> str | None:
    return None if isinstance(value, bool) else "must be true or false"


def _text(value: object) -> str | None:
    usable = isinstance(value, str) and len(value.strip()) > 0 and len(value) <= MAX_TEXT and is_plain_text(value)
    return None if usable else f"must be plain text of 1 to {MAX_TEXT} characters"


def _words(value: object) -> str | None:
    usable = isinstance(value, list) and len(value) <= MAX_WORDS and all(_text(word) is None for word in value)
    return None if usable else f"must be a list of at most {MAX_WORDS} words"


def _one_of(names: list[str]) -> Callable[[object], str | None]:
    return lambda value: None if value in names else f"must be one of {', '.join(names)}"


_CHECKS: dict[str, Callable[[object], str | None]] = {
    **dict.fromkeys(_TEXT_FIELDS, _text),
    "level": _level,
    "hardcore": _flag,
    "exclude": _words,
    "gear": _one_of([tier.value for tier in GearTier]),
    "goal": _one_of([goal.value for goal in Goal]),
}


def _refusal(place: str, message: str) -> InputError:
    return InputError(f"{place} {message}", errors=[{"place": place, "message": message}])
