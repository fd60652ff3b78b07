"""The prompts that the quality benchmark builds: evals/classes.yaml."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

import app
from app.core.errors import InputError
from app.model.names import GearTier


class Prompt(BaseModel):
    """One prompt with level and gear tier; further keys of the file belong to other readers."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str = Field(min_length=1)
    prompt: str
    level: int = Field(ge=1, le=100)
    gear: GearTier


def suite_file() -> Path:
    """Return the suite: inside the installed package, or beside it in a checkout."""
    package = Path(app.__file__).parent
    bundled = package / "_bundled" / "evals" / "classes.yaml"
    return bundled if bundled.is_file() else package.parent / "evals" / "classes.yaml"


def load(path: Path, only: Collection[str] = ()) -> list[Prompt]:
    """Return the prompts in the file's order; `only` keeps those whose name contains one of its words.

    Raises:
        InputError: the file is not a suite, or nothing is left of it.
    """
    try:
        prompts = TypeAdapter(list[Prompt]).validate_python(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, yaml.YAMLError, ValidationError) as error:
        raise InputError(f"{path} is not a list of prompts with name, prompt, level and gear.") from error
    kept = [prompt for prompt in prompts if not only or any(word in prompt.name for word in only)]
    if not kept:
        names = ", ".join(prompt.name for prompt in prompts)
        raise InputError(f"No prompt of the suite is called like {', '.join(only)}; there are {names}.")
    return kept
