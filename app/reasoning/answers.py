"""Reading a model's answer: text → YAML → pydantic. The text is data; anything unexpected is an error to quote back."""

from __future__ import annotations

import re
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from app.core.errors import LlmBadOutput

MAX_ANSWER_CHARS = 100_000
_FENCE = re.compile(r"^(`{3,}|~{3,})[^\n`]*\n(.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL)
_FIRST_KEY = re.compile(r"^[A-Za-z_][\w-]*[ \t]*:(?:[ \t]|$)", re.MULTILINE)

M = TypeVar("M", bound=BaseModel)


class _PlainLoader(yaml.SafeLoader):
    """Safe YAML without aliases: an answer has no use for them and they can explode."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Refuse aliases before they are resolved."""
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not allowed")
        return super().compose_node(parent, index)


def parse_answer(text: str, model: type[M]) -> M:
    """Return the answer as `model`.

    Accepts a fenced block (the last one that is a mapping wins), a bare mapping, and a mapping after a preamble.

    Raises:
        LlmBadOutput: nothing in the text fits; the message says why, short enough to quote back.
    """
    if len(text) > MAX_ANSWER_CHARS:
        raise LlmBadOutput(f"the answer is longer than {MAX_ANSWER_CHARS} characters")
    try:
        return model.model_validate(_mapping(text))
    except ValidationError as error:
        raise LlmBadOutput(_problems(error)) from error


def _mapping(text: str) -> dict[str, Any]:
    reason = "the answer has no YAML mapping"
    for candidate in _candidates(text):
        try:
            value = yaml.load(candidate, Loader=_PlainLoader)  # noqa: S506 - the loader is a SafeLoader
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            reason = f"the answer is not YAML: {_one_line(error)}"
            continue
        if isinstance(value, dict):
            return value
    raise LlmBadOutput(reason)


def _candidates(text: str) -> list[str]:
    fenced = [body for _, body in reversed(_FENCE.findall(text))]
    first = _FIRST_KEY.search(text)
    return [*fenced, text, *([text[first.start() :]] if first else [])]


def _problems(error: ValidationError) -> str:
    lines = [f"{'.'.join(map(str, item['loc'])) or 'answer'}: {item['msg']}" for item in error.errors()[:8]]
    return "; ".join(lines)[:1000]


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
