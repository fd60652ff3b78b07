"""The header of a knowledge file: what it was checked against. It is for us and our tests, never part of a prompt."""

from __future__ import annotations

import re
from typing import Any

import yaml

_HEADER = re.compile(r"\A---\n(.*?)^---\n", re.MULTILINE | re.DOTALL)


def split(text: str) -> tuple[dict[str, Any], str]:
    """Return the header's fields and the text after it; a missing or unreadable header has no fields."""
    found = _HEADER.match(text)
    if found is None:
        return {}, text
    try:
        fields = yaml.safe_load(found.group(1))
    except yaml.YAMLError:
        fields = None
    return fields if isinstance(fields, dict) else {}, text[found.end() :]
