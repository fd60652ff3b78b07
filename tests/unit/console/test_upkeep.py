"""`token` and `delete` from the shell, on a real store."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from app.core.config import Settings
from app.storage.store import open_storage
from app.wiring import database_url
from tests.fakes.shell import run
from tests.fakes.steps import new_record


def test_a_token_is_made_listed_and_revoked(tmp_path: Path) -> None:
    assert run("token", "list").stdout == "No tokens yet.\n"
    made = run("token", "add", "ci", "--scope", "read", "--scope", "write", "--owner", "team", "--builds-per-day", "9")
    secret = made.stdout.strip()
    assert (made.returncode, len(secret), secret[:3]) == (0, 46, "bw_")
    assert secret not in made.stderr
    again = run("token", "add", "ci", "--scope", "read")
    assert (again.returncode, again.stdout) == (1, "")
    assert "(conflict)" in again.stderr
    line = run("token", "list").stdout
    assert "ci: read, write; builds of team; 9 builds a day; made " in line
    assert run("token", "revoke", "ci").returncode == 0
    assert "; revoked " in run("token", "list").stdout
    (shown,) = [json.loads(line) for line in run("token", "list", "--json").stdout.splitlines()]
    assert (shown["name"], shown["owner"], shown["builds_per_day"]) == ("ci", "team", 9)
    files = [file for file in Path(Settings().data_dir).iterdir() if file.is_file()]
    assert files
    assert [file for file in files if secret.encode() in file.read_bytes()] == []


def test_what_no_token_can_be(tmp_path: Path) -> None:
    for arguments in (["x y", "--scope", "read"], ["ok"], ["ok", "--scope", "everything"], ["", "--scope", "read"]):
        assert run("token", "add", *arguments).returncode == 2, arguments
    assert run("token", "revoke", "nobody").returncode == 1


def test_a_deleted_build_goes_with_its_files(tmp_path: Path) -> None:
    async def store() -> str:
        async with open_storage(database_url(Settings())) as storage:
            return (await storage.builds.insert(new_record())).id

    build_id = asyncio.run(store())
    for ending in ("xml", "code.txt", "state.yaml"):
        (tmp_path / f"{build_id}.{ending}").touch()
    (tmp_path / "other.xml").touch()
    done = run("delete", build_id, "--out", str(tmp_path))
    assert (done.returncode, done.stdout.count(build_id)) == (0, 4)
    assert [file.name for file in tmp_path.glob("*.*")] == ["other.xml"]
    assert run("show", build_id).returncode == 1
    gone = run("delete", build_id)
    assert gone.returncode == 1
    assert "(not_found)" in gone.stderr


def test_a_vacuum_says_what_is_left() -> None:
    done = run("db", "vacuum")
    assert (done.returncode, done.stdout) == (
        0,
        "0 builds removed, calls of 0 thinned; finished builds take 0.0 MB\n",
    )
    assert json.loads(run("db", "vacuum", "--json").stdout) == {"thinned": 0, "removed": 0, "bytes": 0}
