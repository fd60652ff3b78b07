"""No uploaded file holds the service: each is taken or refused within a second and 100 MB."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.security.uploads import CODES, HARMLESS, XML

NAMES = [f"xml: {name}" for name in XML] + [f"code: {name}" for name in CODES]


@pytest.fixture(scope="module")
def costs() -> dict[str, dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.security.uploads"], capture_output=True, text=True, timeout=300, env=os.environ
    )
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return {cost["name"]: cost for cost in found}


@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_file_costs_little(costs: dict[str, dict[str, Any]], name: str) -> None:
    cost = costs[name]
    print(f"{name}: {cost['cpu_s']:.3f} s, {cost['mb']:.0f} MB, {cost['answer']}")
    taken = name.partition(": ")[2] in HARMLESS
    assert cost["answer"].startswith("taken" if taken else ("bad_import", "too_large")), cost
    assert cost["cpu_s"] < 1, cost
    assert cost["mb"] < 100, cost
