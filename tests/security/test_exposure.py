"""Who can reach the service and read its files: nobody by accident."""

from __future__ import annotations

import asyncio
import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import SecretStr

from app.console.upkeep import add_token
from app.core.config import Settings
from app.core.errors import InputError
from app.main import check_exposure
from app.model.access import Permission
from app.storage.store import open_storage
from tests.fakes import shell


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", "", "127.0.0.1.example.org"])
def test_an_address_that_others_reach_needs_tokens(host: str) -> None:
    with pytest.raises(InputError, match="allow-anonymous"):
        check_exposure(Settings(api_tokens=SecretStr(" , ")), host, allow_anonymous=False)
    check_exposure(Settings(), host, allow_anonymous=True)
    check_exposure(Settings(api_tokens=SecretStr("one")), host, allow_anonymous=False)


def test_a_token_of_the_store_is_one() -> None:
    with pytest.raises(InputError):
        check_exposure(Settings(), "0.0.0.0", allow_anonymous=False)
    asyncio.run(add_token(Settings(), "reader", [Permission.READ], None, None, None))
    check_exposure(Settings(), "0.0.0.0", allow_anonymous=False)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_this_machine_alone_needs_none(host: str) -> None:
    check_exposure(Settings(), host, allow_anonymous=False)


@pytest.mark.slow
def test_the_command_refuses(tmp_path: Path) -> None:
    done = shell.run("serve", "--host", "0.0.0.0", BUILDWRIGHT_DATA_DIR=str(tmp_path / "data"))
    assert done.returncode == 2
    assert "buildwright token add" in done.stderr
    assert "Traceback" not in done.stderr


async def test_nobody_else_reads_the_database(tmp_path: Path) -> None:
    file = tmp_path / "data" / "builds.db"
    file.parent.mkdir()
    file.touch(mode=0o644)
    before = os.umask(0)
    try:
        async with open_storage(f"sqlite+aiosqlite:///{file}") as opened:
            await opened.builds.page()
            modes = {found.name: found.stat().st_mode & 0o777 for found in file.parent.iterdir()}
    finally:
        os.umask(before)
    assert set(modes.values()) == {0o600}, modes
    assert len(modes) >= 3


def without_roots_powers() -> None:
    """What a file's mode forbids is forbidden to root, too, in the program that is started next."""
    ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0)


PR_CAPBSET_DROP, CAP_DAC_OVERRIDE = 24, 1


@pytest.mark.slow
@pytest.mark.parametrize("existing", [False, True])
def test_a_folder_that_cannot_be_written_is_said_at_the_start(tmp_path: Path, existing: bool) -> None:
    data = tmp_path / "data"
    data.mkdir()
    if existing:
        (data / "buildwright.db").touch()
        (data / "buildwright.db.lock").touch()
        (data / "buildwright.db").chmod(0o400)
    data.chmod(0o500)
    done = subprocess.run(
        [sys.executable, "-m", "app", "serve"],
        env={**os.environ, "BUILDWRIGHT_DATA_DIR": str(data), "BUILDWRIGHT_ENGINE": "sketch"},
        capture_output=True,
        text=True,
        timeout=300,
        preexec_fn=without_roots_powers,
    )
    told = done.stderr.splitlines()[-1]
    assert done.returncode == 1, done.stderr
    assert told.startswith("buildwright: the database")
    assert "ermission denied" in told
    assert "http" not in told
    assert "storage_error" in told
