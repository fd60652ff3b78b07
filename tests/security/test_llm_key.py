"""The language model's key stays in the process and its requests, whatever the service does with it."""

from __future__ import annotations

import asyncio
import os
import sys
from itertools import cycle
from pathlib import Path

import pytest

from tests.fakes.llm_bench import KEY
from tests.fakes.llm_player import Player
from tests.fakes.llm_server import Asked, Cut, LlmServer, Raw, Reaction, Say, Status
from tests.security.test_secrets import children

pytestmark = pytest.mark.slow


def echoing() -> list[Reaction]:
    """Faults that throw the key back in every way a careless service could."""
    page = f"<html>Authorization: Bearer {KEY}</html>".encode()
    return [Status(401), Status(500), Raw(page), Say(f"reason: your key is {KEY}"), Cut()]


def settings(url: str, folder: Path) -> dict[str, str]:
    own = {
        "LLM_BASE_URL": f"{url}/v1",
        "LLM_MODEL": "scripted-1",
        "LLM_API_KEY": KEY,
        "LOG_LEVEL": "DEBUG",
        "ENGINE": "sketch",
        "DATA_DIR": str(folder / "data"),
    }
    return {**os.environ, **{f"BUILDWRIGHT_{name}": value for name, value in own.items()}}


def assert_clean(pid: int) -> int:
    """Check a child's environment and arguments; 0 when it has gone already."""
    try:
        found = [Path(f"/proc/{pid}/{name}").read_bytes() for name in ("environ", "cmdline")]
    except OSError:
        return 0
    assert all(KEY.encode() not in text for text in found)
    return 1


def files_with_the_key(folder: Path) -> list[str]:
    return [file.name for file in folder.rglob("*") if file.is_file() and KEY.encode() in file.read_bytes()]


async def test_the_key_is_nowhere_after_a_build_full_of_faults(tmp_path: Path) -> None:
    player, faults = Player(), cycle(echoing())
    turn = cycle([True, False])

    def react(asked: Asked) -> Reaction:
        return next(faults) if next(turn) else player(asked)

    looked_at = 0
    async with LlmServer(react) as server:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "app", "build", "lightning sorceress", "--level", "12", "--json"),
            cwd=tmp_path,
            env=settings(server.url, tmp_path),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        talking = asyncio.create_task(process.communicate())
        while not talking.done():
            looked_at += sum(assert_clean(child) for child in children(process.pid))
            await asyncio.sleep(0.2)
        out, err = await talking
        assert any(KEY in asked.headers.get("authorization", "") for asked in server.requests)
    assert process.returncode in (0, 3), err.decode()
    assert looked_at > 0
    assert KEY.encode() not in out + err
    assert b'"degraded"' in out
    assert files_with_the_key(tmp_path) == []
