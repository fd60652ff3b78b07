"""What a model is told: the step's prompts with their knowledge, then everything about the build as fenced data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from app.llm.base import Message
from app.prompting.fence import fenced
from app.prompting.library import PromptLibrary, Rendered
from app.tools.payload import plain

STEP = "Step: "
"""The first line of what is asked names the prompt, so that a person reading a recording knows what it was."""


_NO_WRAP = 100_000
"""Texts keep their lines: a person's words are quoted as they were written."""


@dataclass(frozen=True)
class Briefing:
    """Messages to begin with, and the domain files that were missing."""

    messages: list[Message]
    domain_gaps: tuple[str, ...]


class _Inputs(Mapping[str, str]):
    """Inputs by name that note which ones a prompt placed itself; an unknown one is empty."""

    def __init__(self, blocks: Mapping[str, str]) -> None:
        self._blocks = blocks
        self.placed: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.placed.add(name)
        return self._blocks.get(name, "(nothing)")

    def __iter__(self) -> Iterator[str]:
        return iter(self._blocks)

    def __len__(self) -> int:
        return len(self._blocks)


def brief(library: PromptLibrary, prompts: Sequence[str], inputs: Mapping[str, Any]) -> Briefing:
    """Return the conversation's beginning: rendered prompts as the system's part, inputs as the user's.

    Inputs are data: each is fenced and labelled, never expanded. The last of the prompts names the step.

    Raises:
        NotFound: there is no such prompt.
    """
    texts = {name: _yaml(value) for name, value in inputs.items()}
    blocks = _Inputs(texts)
    rendered = [library.render(name, blocks) for name in prompts]
    rest = [fenced(name, text) for name, text in texts.items() if name not in blocks.placed]
    asked = "\n\n".join([f"{STEP}{prompts[-1]}", *rest, "Answer with one YAML mapping in the form asked for."])
    system = "\n\n".join(part.text for part in rendered)
    messages = [Message(role="system", content=system), Message(role="user", content=asked)]
    return Briefing(messages, _gaps(rendered))


def _gaps(rendered: Sequence[Rendered]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(gap for part in rendered for gap in part.domain_gaps))


def _yaml(value: Any) -> str:
    if isinstance(value, str):
        return value
    return yaml.safe_dump(plain(value), sort_keys=False, allow_unicode=True, width=_NO_WRAP).strip()
