"""What runs inside a Path of Building child: requests in, JSON-ready answers out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from app.core.errors import BadImport
from app.engine.files.lines import check_text
from app.engine.files.xml import read, write
from app.engine.pob.lua import LuaPob, manifest_version
from app.engine.protocol import Refused
from app.model.damage import DamageBreakdown, DamageSource
from app.model.stats import EngineVersion

TREE_VERSION = "0_5"
FACTS = ("classes", "gems", "nodes", "bases", "uniques")
MAX_AMPERSANDS = 20_000


class PobBackend:
    """Answers the operations of the engine protocol with Path of Building at `path` (the folder that holds src/)."""

    def __init__(self, path: Path) -> None:
        self._home = Path(path)
        self._pob: LuaPob | None = None
        self._facts: dict[str, Any] = {}
        self._version: dict[str, Any] = {}

    def warm(self) -> dict[str, Any]:
        """Boot Path of Building and gather the facts, so that forked sessions share both; return the version."""
        if self._pob is None:
            self._version = EngineVersion(
                name="pob", version=manifest_version(self._home), tree_version=TREE_VERSION
            ).model_dump(mode="json")
            self._pob = LuaPob(self._home)
            for op in FACTS:
                self._facts[op] = self._pob.call(op, {})
            self._pob.call("rest", {})
        return self._version

    def handle(self, op: str, args: dict[str, Any]) -> Any:
        """Answer one operation.

        Raises:
            Refused: the request is wrong; the session stays usable.
            PobFault: Path of Building failed.
        """
        if op == "version":
            return self.warm()
        self.warm()
        if op in self._facts:
            return self._facts[op]
        answer = getattr(self, f"_{op}", None)
        if answer is not None:
            return answer(args)
        return self._call(op, args)

    def _call(self, op: str, args: dict[str, Any]) -> Any:
        """Ask Path of Building, which sees no text of ours or a stranger's that it cannot parse in good time."""
        assert self._pob is not None
        try:
            for text in _texts(args):
                check_text(text)
        except BadImport as exc:
            raise Refused(exc.message) from exc
        return self._pob.call(op, args)

    def _what_if(self, args: dict[str, Any]) -> list[dict[str, float]]:
        metrics = args["metrics"]
        rows = self._call("what_if", args)
        return [
            {name: value for name, value in zip(metrics, row or (), strict=row is not None) if value is not None}
            for row in rows
        ]

    def _stats(self, args: dict[str, Any]) -> dict[str, Any]:
        found = self._call("stats", args)
        sources = [DamageSource.model_validate(source) for source in found["sources"]]
        damage = DamageBreakdown.of(sources, found.get("refusal"), found["states"])
        dealt = damage.model_dump(mode="json")
        engine = {**self._version, "tree_version": found["tree"]}  # a file may be of an older tree, and stays on it
        return {"engine": engine, "values": found["values"], "damage": dealt, "granted": found["granted"]}

    def _load(self, args: dict[str, Any]) -> Any:
        """Give PoB the file in its dialect; reading it has bounded the texts that will be parsed line by line."""
        xml = args["xml"] if isinstance(args["xml"], bytes) else str(args["xml"]).encode()
        if xml.count(b"&") > MAX_AMPERSANDS:
            raise Refused("the file has too many entities")
        try:
            root = read(xml)
        except BadImport as exc:
            raise Refused(exc.message) from exc
        assert self._pob is not None
        return self._pob.call("load", {"xml": write(root).decode()})

    def _export(self, args: dict[str, Any]) -> str:
        text = self._call("export", args)["xml"]
        assert isinstance(text, str)
        return text


def _texts(value: Any) -> Iterator[str]:
    """Yield all strings in a request, whatever they are for: any may be parsed."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)
