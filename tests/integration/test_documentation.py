"""What the product has is documented, and what is documented exists."""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

import app
from app.cli import app as command_line
from app.core.config import Settings
from app.core.errors import AppError, LeaseLost
from app.knowledge.values import MAX_WORDS, allowed, words_of
from app.main import create_app
from app.model.constraints import INVARIANTS, Kind, Setter

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
API = (ROOT / "docs" / "api.md").read_text()


def rows(text: str) -> list[str]:
    return re.findall(r"^\| `([^`]+)` \|", text, flags=re.MULTILINE)


def commands(group: Any, words: str = "buildwright") -> Iterator[str]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{words} {name}")
        else:
            yield f"{words} {name}"


def error_codes() -> dict[str, str]:
    for module in pkgutil.walk_packages(app.__path__, "app."):
        if not module.name.endswith(("__main__", ".worker")) and "_bundled" not in module.name:
            importlib.import_module(module.name)
    kinds: list[type[AppError]] = [AppError]
    found: dict[str, str] = {}
    while kinds:
        kind = kinds.pop()
        found.setdefault(kind.code, str(kind.status))
        kinds += [sub for sub in kind.__subclasses__() if sub.__module__.startswith("app.")]
    return {**found, LeaseLost.code: "-"}


def test_every_setting_has_its_row() -> None:
    settings = [row for row in rows(README) if row.startswith("BUILDWRIGHT_")]
    assert settings == [f"BUILDWRIGHT_{name.upper()}" for name in Settings.model_fields]


def test_every_command_has_its_row() -> None:
    described = {re.sub(r"( [A-Z_]+)+$", "", row) for row in rows(README) if row.startswith("buildwright ")}
    assert described == set(commands(typer.main.get_command(command_line)))


def test_every_option_of_build_and_serve_is_named() -> None:
    root: Any = typer.main.get_command(command_line)
    for name in ("build", "serve"):
        line = next(line for line in README.splitlines() if line.startswith(f"| `buildwright {name}"))
        for parameter in root.commands[name].params:
            option = parameter.opts[-1]
            assert not option.startswith("--") or option == "--help" or option in line, option


def test_every_problem_code_has_its_row() -> None:
    described = dict(re.findall(r"^\| `([a-z_]+)` \| (\d+|-) \|", API, flags=re.MULTILINE))
    assert described == error_codes()


def test_every_call_is_described() -> None:
    paths = create_app(Settings()).openapi()["paths"]
    for path in paths:
        tail = path.removeprefix("/v1/builds/{build_id}") or "/v1/builds/{id}"
        assert f"{tail}`" in API or f"{tail}` " in API or f"{tail}`," in API, path


def test_every_dependency_has_a_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(line for extra in extras.values() for line in extra)]
    names = {re.split(r"[<>=~!\[ ]", line)[0] for line in wanted} - {project["name"]}
    told = re.findall(r"`([^`]+)`", "\n".join(re.findall(r"^\| (`.*?`) \|", dependencies(), flags=re.MULTILINE)))
    assert sorted(told) == sorted(names)


def dependencies() -> str:
    return (ROOT / "docs" / "dependencies.md").read_text()


@pytest.mark.parametrize(
    "file", ["README.md", "docs/api.md", "docs/operations.md", "docs/dependencies.md", "docs/measured.md"]
)
def test_links_lead_somewhere(file: str) -> None:
    source = ROOT / file
    targets = [link for link in re.findall(r"\]\(([^)]+)\)", source.read_text()) if "://" not in link]
    assert [link for link in targets if not (source.parent / link).exists()] == []


def test_the_readme_names_real_make_targets() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in set(re.findall(r"^make (\w+)", README, flags=re.MULTILINE)):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


def test_the_table_of_constraints_is_the_code_s() -> None:
    described = re.findall(r"^\| `([a-z_]+)` \| (.+) \| (.+) \| (.*) \| (.+) \|$", API, flags=re.MULTILINE)
    expected = [
        (
            one.name,
            one.meaning,
            allowed(one).replace(f", or a list of at most {MAX_WORDS} such", "; a list of several"),
            "" if one.default is None else f"`{json.dumps(one.default)}`".replace('"', ""),
            ", ".join(setter.value for setter in Setter if setter in one.set_by),
        )
        for one in INVARIANTS.values()
    ]
    assert described == expected


def test_a_model_is_told_every_constraint_and_every_word() -> None:
    prompt = (ROOT / "prompts" / "invariant-extraction.md").read_text()
    table = re.findall(r"^\| ([a-z_, ]+) \| (.+) \|$", prompt, flags=re.MULTILINE)
    told = {name: values for names, values in table for name in names.split(", ")}
    assert set(told) == set(INVARIANTS)
    for one in INVARIANTS.values():
        if one.kind is Kind.WORD:
            assert set(told[one.name].split("; ")[0].split(", ")) == set(words_of(one)), one.name
