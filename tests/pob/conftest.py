"""Path of Building in the test process, warmed once; each test drives a fork of it."""

from __future__ import annotations

import os
import pickle
from collections.abc import AsyncIterator, Iterator
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import Any, ClassVar

import pytest

from app.engine.pob.backend import PobBackend
from app.engine.process import ProcessEngine
from app.engine.protocol import Refused
from tests.conftest import pob_home


class Child:
    """A forked backend; `call` raises what the backend raised."""

    _open: ClassVar[set[Connection]] = set()
    """Our ends of all pipes: a fork that kept one would hold the child at its other end for ever."""

    def __init__(self, backend: PobBackend) -> None:
        self._here, there = Pipe()
        self._open.add(self._here)
        self._pid = os.fork()
        if self._pid == 0:
            for end in self._open:
                end.close()
            _serve(backend, there)
        there.close()

    def call(self, op: str, **args: Any) -> Any:
        self._here.send((op, args))
        ok, result = pickle.loads(self._here.recv_bytes())
        if not ok:
            raise result
        return result

    def build(self, blueprint: dict[str, Any]) -> dict[str, Any]:
        report = self.call("build", blueprint=blueprint)
        assert isinstance(report, dict)
        return report

    def stats(self) -> dict[str, float]:
        values = self.call("stats")["values"]
        assert isinstance(values, dict)
        return values

    def close(self) -> None:
        self._open.discard(self._here)
        self._here.close()
        os.waitpid(self._pid, 0)


def _serve(backend: PobBackend, pipe: Connection) -> None:
    try:
        while True:
            op, args = pipe.recv()
            try:
                answer: Any = (True, backend.handle(op, args))
            except Refused as refused:
                answer = (False, refused)
            except Exception as error:
                answer = (False, RuntimeError(str(error)))
            pipe.send_bytes(pickle.dumps(answer))
    except (EOFError, BrokenPipeError):
        pass
    finally:
        os._exit(0)


@pytest.fixture(scope="session")
def warm_backend() -> PobBackend:
    """A warmed backend to read facts from; builds are for forks of it."""
    home: Path | None = pob_home()
    if home is None:
        pytest.skip("Path of Building is not installed")
    backend = PobBackend(home)
    backend.warm()
    return backend


@pytest.fixture
def child(warm_backend: PobBackend) -> Iterator[Child]:
    """A fresh fork of the warmed backend."""
    child = Child(warm_backend)
    yield child
    child.close()


@pytest.fixture(scope="session")
def facts(warm_backend: PobBackend) -> Facts:
    """What the backend knows, by name."""
    return Facts(warm_backend)


class Facts:
    """Facts by name, and a plain character to start from."""

    def __init__(self, backend: PobBackend) -> None:
        self.backend = backend
        self.nodes = {node["id"]: node for node in backend.handle("nodes", {})}
        self.gems = {gem["name"]: gem for gem in backend.handle("gems", {})}
        self.classes = {found["name"]: found for found in backend.handle("classes", {})}
        self.bases = {base["name"]: base for base in backend.handle("bases", {})}

    def affixes(self, base: str) -> dict[str, dict[str, Any]]:
        return {affix["id"]: affix for affix in self.backend.handle("affixes", {"base": base})}

    def gem(self, name: str, **more: Any) -> dict[str, Any]:
        return {"gem_id": self.gems[name]["id"], "name": name, **more}

    def passives(self, class_name: str, count: int) -> list[dict[str, Any]]:
        """Passives nearest to the class start, breadth first, so that every prefix is connected."""
        start = self.classes[class_name]["start_node"]
        seen, queue = {start}, [start]
        found: list[int] = []
        while len(found) < count:
            for near in self.nodes[queue.pop(0)]["neighbours"]:
                if (
                    near not in seen
                    and self.nodes[near].get("ascendancy") is None
                    and self.nodes[near]["kind"] != "start"
                ):
                    seen.add(near)
                    queue.append(near)
                    found.append(near)
        return [self.wish(node) for node in found[:count]]

    def wish(self, node: int, attribute: str = "int", weapon_set: int = 0) -> dict[str, Any]:
        is_attribute = self.nodes[node]["kind"] == "attribute"
        return {"id": node, "weapon_set": weapon_set, "attribute": attribute if is_attribute else None}

    def sorceress(self) -> dict[str, Any]:
        """A level 90 Stormweaver with Spark, 60 passives, a wand, a ring and two charms."""
        return {
            "class_name": "Sorceress",
            "ascendancy": "Stormweaver",
            "level": 90,
            "nodes": self.passives("Sorceress", 60),
            "items": {
                "Weapon 1": rare("Weapon 1", "Attuned Wand", prefixes=["SpellDamageAndManaOnWeapon5"]),
                "Ring 1": rare("Ring 1", "Sapphire Ring", prefixes=["IncreasedLife8"], suffixes=["FireResist5"]),
                "Charm 1": {"slot": "Charm 1", "base": "Thawing Charm", "rarity": "NORMAL"},
                "Charm 2": {"slot": "Charm 2", "base": "Stone Charm", "rarity": "NORMAL"},
            },
            "groups": [
                {"gems": [self.gem("Spark"), self.gem("Unleash")]},
                {"gems": [self.gem("Flame Wall")]},
            ],
            "main_group": 1,
            "config": {},
        }


def rare(
    slot: str, base: str, prefixes: list[str] | None = None, suffixes: list[str] | None = None, roll: float = 0.5
) -> dict[str, Any]:
    """A rare item with affixes all rolled at the same place of their ranges."""
    return {
        "slot": slot,
        "base": base,
        "rarity": "RARE",
        "title": "Test",
        "item_level": 82,
        "prefixes": [{"id": name, "roll": roll} for name in prefixes or []],
        "suffixes": [{"id": name, "roll": roll} for name in suffixes or []],
    }


@pytest.fixture
async def fresh(pob_path: Path) -> AsyncIterator[ProcessEngine]:
    """Path of Building in processes that made none of a test's builds."""
    engine = ProcessEngine("pob", {"pob": str(pob_path)}, workers=1)
    await engine.start()
    yield engine
    await engine.close()
