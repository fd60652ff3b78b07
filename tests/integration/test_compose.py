"""docker-compose.yml and Dockerfile, checked without an engine: valid, and naming only what the product has."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import typer.main
import yaml
from sqlalchemy.engine import make_url

from app.cli import app as command_line
from app.core.config import Settings
from app.main import create_app
from app.wiring.stores import is_server

ROOT = Path(__file__).resolve().parents[2]
DURATION = {"type": "string", "pattern": r"^(\d+(\.\d+)?(us|ms|s|m|h))+$"}
WORDS = {"type": "array", "items": {"type": "string"}, "minItems": 1}
SCALAR = {"type": ["string", "number", "boolean", "null"]}
SERVICE = {
    "type": "object",
    "additionalProperties": False,
    "anyOf": [{"required": ["image"]}, {"required": ["build"]}],
    "properties": {
        "build": {"type": ["string", "object"]},
        "image": {"type": "string", "pattern": r"^[a-z0-9./-]+(:[\w.-]+)?$"},
        "command": {"oneOf": [{"type": "string"}, WORDS]},
        "user": {"type": "string", "pattern": r"^\d+(:\d+)?$"},
        "init": {"type": "boolean"},
        "read_only": {"type": "boolean"},
        "cap_drop": WORDS,
        "security_opt": WORDS,
        "tmpfs": WORDS,
        "restart": {"enum": ["no", "always", "on-failure", "unless-stopped"]},
        "stop_grace_period": DURATION,
        "ports": {"type": "array", "items": {"type": "string", "pattern": r"^([\d.]+:)?\d+:\d+$"}},
        "volumes": {"type": "array", "items": {"type": "string", "pattern": r"^[\w.-]+:/[\w/.-]+(:ro|:rw)?$"}},
        "environment": {
            "type": "object",
            "propertyNames": {"pattern": r"^[A-Z_][A-Z0-9_]*$"},
            "additionalProperties": SCALAR,
        },
        "profiles": WORDS,
        "depends_on": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "additionalProperties": False,
                "required": ["condition"],
                "properties": {"condition": {"enum": ["service_started", "service_healthy"]}},
            },
        },
        "healthcheck": {
            "type": "object",
            "additionalProperties": False,
            "required": ["test"],
            "properties": {
                "test": {"type": "array", "prefixItems": [{"enum": ["CMD", "CMD-SHELL"]}], "minItems": 2},
                "interval": DURATION,
                "timeout": DURATION,
                "start_period": DURATION,
                "retries": {"type": "integer", "minimum": 1},
            },
        },
    },
}
COMPOSE = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "additionalProperties": False,
    "required": ["services"],
    "patternProperties": {"^x-": {"type": "object"}},
    "properties": {
        "name": {"type": "string", "pattern": "^[a-z0-9][a-z0-9_-]*$"},
        "services": {"type": "object", "minProperties": 1, "additionalProperties": SERVICE},
        "volumes": {"type": "object", "additionalProperties": {"type": ["object", "null"]}},
    },
}
"""The rules of the Compose specification for everything that our file uses; what it does not use is refused."""


def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    return loaded


def services() -> list[tuple[str, dict[str, Any]]]:
    return sorted(compose()["services"].items())


def ours() -> list[tuple[str, dict[str, Any]]]:
    """Return the services that run the product."""
    return [(name, service) for name, service in services() if "build" in service]


def test_follows_the_compose_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(COMPOSE)
    jsonschema.Draft202012Validator(COMPOSE).validate(compose())


@pytest.mark.parametrize(
    "damage",
    [
        {"services": {}},
        {"services": {"x": {"command": ["a"]}}},
        {"services": {"x": {"image": "a", "restart": "sometimes"}}},
        {"services": {"x": {"image": "a", "ports": ["eight:8000"]}}},
        {"services": {"x": {"image": "a", "healthcheck": {"interval": "15s"}}}},
    ],
)
def test_the_schema_refuses_what_compose_would_refuse(damage: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(COMPOSE).validate(damage)


@pytest.mark.parametrize(("name", "service"), ours())
def test_every_command_exists(name: str, service: dict[str, Any]) -> None:
    assert resolve(service["command"]), name


def test_the_images_own_command_exists() -> None:
    found = re.search(r"^CMD (\[.*\])$", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    assert found
    assert resolve(json.loads(found.group(1)))


def test_an_unknown_command_would_be_noticed() -> None:
    with pytest.raises(Exception, match="No such command"):
        resolve(["buildwright", "pob", "download"])
    with pytest.raises(Exception, match="No such option"):
        resolve(["buildwright", "serve", "--address", "0.0.0.0"])


def resolve(words: list[str]) -> Any:
    """Parse the words as the command line would, without running anything."""
    assert words[0] == "buildwright"
    command: Any = typer.main.get_command(command_line)
    context: Any = command.make_context("buildwright", words[1:])
    while hasattr(command, "resolve_command"):
        rest = [*context._protected_args, *context.args]
        name, command, rest = command.resolve_command(context, rest)
        context = command.make_context(name, rest, parent=context)
    assert isinstance(context.info_name, str)
    return context


@pytest.mark.parametrize(("name", "service"), ours())
def test_every_variable_is_a_setting(name: str, service: dict[str, Any]) -> None:
    known = {f"BUILDWRIGHT_{field.upper()}" for field in Settings.model_fields}
    assert set(service.get("environment", {})) <= known, name
    given = {key: value for key, value in service["environment"].items() if value is not None}
    Settings(**{key.removeprefix("BUILDWRIGHT_").lower(): value for key, value in given.items()})


def test_every_port_is_the_one_that_is_served() -> None:
    service = compose()["services"]["api"]
    served = str(resolve(service["command"]).params["port"])
    assert [mapping.rpartition(":")[2] for mapping in service["ports"]] == [served]
    assert re.findall(r"^EXPOSE (\d+)$", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE) == [served]


def test_requests_and_builds_share_one_server_and_only_the_api_is_published() -> None:
    known = compose()["services"]
    addresses = {name: known[name]["environment"]["BUILDWRIGHT_DATABASE_URL"] for name in ("api", "worker")}
    assert len(set(addresses.values())) == 1
    database = known["postgres"]["environment"]
    url = make_url(addresses["api"].replace(database["POSTGRES_PASSWORD"], "word"))
    assert is_server(Settings(database_url=addresses["api"]))
    assert (url.username, url.password) == (database["POSTGRES_USER"], "word")
    assert (url.host, url.database) == ("postgres", database["POSTGRES_DB"])
    for name in addresses:
        assert known[name]["depends_on"] == {"postgres": {"condition": "service_healthy"}}
    assert [name for name, service in services() if "ports" in service] == ["api"]
    assert all("healthcheck" in known[name] for name in ("api", "worker", "postgres"))


def test_the_workers_health_check_is_a_command_that_exists() -> None:
    _, *words = compose()["services"]["worker"]["healthcheck"]["test"]
    assert resolve(words).params == {"check": True}


@pytest.mark.parametrize("file", ["docker-compose.yml", "Dockerfile"])
def test_the_health_check_asks_a_page_that_exists(file: str) -> None:
    addresses = re.findall(r"http://127\.0\.0\.1:(\d+)(/\w+)", (ROOT / file).read_text())
    paths = set(create_app(Settings()).openapi()["paths"])
    assert addresses
    assert all(port == "8000" and path in paths for port, path in addresses)


@pytest.mark.parametrize(("name", "service"), services())
def test_runs_without_privileges_on_the_data_volume(name: str, service: dict[str, Any]) -> None:
    assert not service["user"].startswith("0"), name
    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    mounts = dict(mapping.split(":")[:2] for mapping in service["volumes"])
    assert set(mounts) <= set(compose()["volumes"])
    assert "build" not in service or service["environment"]["BUILDWRIGHT_DATA_DIR"] in mounts.values()
    assert re.search(r"^USER 10001:10001$", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)


def test_the_image_copies_only_what_exists() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    names = [name for line in copied for name in line.split()]
    assert names
    assert [name for name in names if not (ROOT / name).exists()] == []
    allowed = (ROOT / ".dockerignore").read_text().splitlines()
    assert {f"!{name.split('/')[0]}" for name in names} <= set(allowed)


def test_the_language_model_can_be_set_up() -> None:
    told = set(compose()["services"]["worker"]["environment"])
    assert {f"BUILDWRIGHT_{field.upper()}" for field in Settings.model_fields if field.startswith("llm_")} - told == {
        "BUILDWRIGHT_LLM_MODELS",
        "BUILDWRIGHT_LLM_PRICES",
        "BUILDWRIGHT_LLM_STREAM",
    }, "the three that are no plain texts are left to an override file"


def test_the_image_builds_from_the_files_that_it_is_given(tmp_path: Path) -> None:
    """Copy what the recipe copies and the ignore file lets through, and install from that alone."""
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    for name in (name for line in copied for name in line.split() if name.split("/")[0] in allowed):
        target = tmp_path / "src" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, target)
    pip = [sys.executable, "-m", "pip", "wheel", "./src", "--no-deps", "--no-build-isolation", "--no-index", "-q"]
    done = subprocess.run(pip, cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("buildwright-*.whl")
    pip = [sys.executable, "-m", "pip", "install", str(wheel), "--no-deps", "--no-index", "-q", "--target", "site"]
    done = subprocess.run(pip, cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    names = ("prompts", "domain", "evals", "migrations")
    ask = f"import app.cli, app.core.config as c; print(*map(c.resource_dir, {names}))"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    done = subprocess.run(
        [sys.executable, "-c", ask], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    bundled = tmp_path / "site" / "app" / "_bundled"
    assert done.stdout.split() == [str(bundled / name) for name in names]
