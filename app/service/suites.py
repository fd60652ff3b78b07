"""Evaluation suites: prompts with what their calls and results must show."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import Field, TypeAdapter, ValidationError

from app.core.errors import InputError
from app.core.resources import resource_dir
from app.model.base import Model
from app.model.names import GearTier
from app.tools.arguments import parse_arguments
from app.tools.expectations import Expectations, check_usable


class SuiteTask(Model):
    """One prompt. `expectations` are held against its recorded calls; `facts` (JSON Pointers into the finished build,
    as `GET /v1/builds/{id}` shows it, with matchers) against its result."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    prompt: Annotated[str, Field(min_length=3, max_length=4000)]
    level: Annotated[int, Field(ge=1, le=100)] | None = None
    gear: GearTier | None = None
    expectations: Expectations | None = None
    facts: dict[str, Any] = Field(default_factory=dict)


class Suite(Model):
    """Tasks in the order of the file; `name` is the file's."""

    name: str
    tasks: list[SuiteTask]


def load_suite(source: str, only: list[str] | None = None) -> Suite:
    """Return a suite by its file, or by the name of one that ships; `only` keeps tasks whose name has one of its words.

    Raises:
        InputError: there is no such suite, it is not one, or nothing is left of it.
        InvalidMatcher: a matcher in it is unusable.
    """
    path = _path_of(source)
    tasks = _read(path)
    for task in tasks:
        parse_arguments(task.facts)
        if task.expectations is not None:
            check_usable(task.expectations)
    kept = [task for task in tasks if not only or any(word in task.name for word in only)]
    if not kept:
        raise InputError(f"No task of {source} is called like {', '.join(only or [])}.")
    return Suite(name=path.stem, tasks=kept)


def _path_of(source: str) -> Path:
    path = Path(source)
    if path.suffix in (".yaml", ".yml", ".json"):
        return path
    shipped = resource_dir("evals") / f"{path.name}.yaml"
    if not shipped.is_file():
        names = ", ".join(sorted(file.stem for file in shipped.parent.glob("*.yaml")))
        raise InputError(f"There is no suite {source}; there are {names}, and any YAML file.")
    return shipped


def _read(path: Path) -> list[SuiteTask]:
    try:
        tasks = TypeAdapter(list[SuiteTask]).validate_python(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"Cannot read {path}: {error}.") from error
    except yaml.YAMLError as error:
        raise InputError(f"{path} is not YAML: {error}") from error
    except ValidationError as error:
        found = error.errors()[0]
        raise InputError(f"{path}: {'.'.join(map(str, found['loc']))}: {found['msg']}.") from error
    if len({task.name for task in tasks}) != len(tasks) or not tasks:
        raise InputError(f"{path}: a suite needs tasks, each with a name of its own.")
    return tasks
