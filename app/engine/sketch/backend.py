"""The sketch engine: answers the engine protocol from a small fact pack, with estimated numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from app.core.resources import resource_dir
from app.engine.protocol import Refused
from app.engine.sketch.answers import Answers
from app.engine.sketch.calculator import Calculator
from app.engine.sketch.defence import Defence
from app.engine.sketch.export import Exporter
from app.engine.sketch.gear import Wardrobe
from app.engine.sketch.inspection import Inspector
from app.engine.sketch.lines import Wording
from app.engine.sketch.load import Loader
from app.engine.sketch.needs import Needs
from app.engine.sketch.offence import Offence
from app.engine.sketch.pack import Pack
from app.engine.sketch.session import Desk
from app.engine.sketch.sheet import Sheets
from app.engine.sketch.sums import Sums
from app.model.blueprint import Blueprint, Change
from app.model.stats import EngineVersion, Stats

NAME = "sketch"
FACTS = "facts"
_CHANGES = TypeAdapter(list[Change])
_CANDIDATES = TypeAdapter(list[list[Change]])


class SketchBackend:
    """Implements `app.engine.protocol.Backend`; `folder` holds the fact pack (default: the one that ships)."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._facts: dict[str, Any] = {}
        self._operations: dict[str, Callable[[dict[str, Any]], Any]] = {}
        self._version: EngineVersion | None = None

    def warm(self) -> dict[str, Any]:
        """Read the pack, so that forked sessions share it; return the version."""
        if self._version is None:
            pack = Pack(self._folder or resource_dir("domain") / FACTS)
            self._assemble(pack)
            game = pack.game
            self._version = EngineVersion(
                name=NAME, version=game.version, tree_version=game.tree_version, estimate=True
            )
        return self._version.model_dump(mode="json")

    def handle(self, op: str, args: dict[str, Any]) -> Any:
        """Answer one operation.

        Raises:
            Refused: unknown operation, malformed arguments, or something the pack does not know.
        """
        version = self.warm()
        if op == "version":
            return version
        if op in self._facts:
            return self._facts[op]
        operation = self._operations.get(op)
        if operation is None:
            raise Refused(f"unknown operation {op!r}")
        try:
            return _plain(operation(args))
        except (ValidationError, KeyError) as exc:
            raise Refused(f"malformed arguments for {op}: {exc}") from exc

    def _assemble(self, pack: Pack) -> None:
        wording, sums, needs = Wording(pack), Sums(pack), Needs(pack)
        wardrobe, offence = Wardrobe(pack, wording), Offence(pack, sums)
        calculator = Calculator(pack, Sheets(pack, wardrobe), Defence(pack, sums), offence, needs)
        desk = Desk(
            pack,
            calculator,
            Inspector(pack, needs, offence),
            Exporter(pack, wording, wardrobe),
            Loader(pack, wording),
        )
        answers = Answers(pack, wording)
        self._facts = {
            "classes": _plain(answers.classes()),
            "gems": _plain(answers.gems()),
            "nodes": _plain(answers.nodes()),
            "bases": _plain(answers.bases()),
            "uniques": [],
        }
        self._operations = {
            "affixes": lambda args: answers.affixes(args["base"]),
            "runes": lambda args: answers.runes(args["base"]),
            "supports_for": lambda args: answers.supports_for(args["gem_id"]),
            "build": lambda args: desk.build(Blueprint.model_validate(args["blueprint"])),
            "load": lambda args: desk.load(_encoded(args["xml"])),
            "apply": lambda args: desk.apply(_CHANGES.validate_python(args["changes"])),
            "what_if": lambda args: desk.what_if(_CANDIDATES.validate_python(args["candidates"]), args["metrics"]),
            "stats": lambda _: Stats(engine=EngineVersion.model_validate(self.warm()), values=desk.values()),
            "inspect": lambda _: desk.inspect(),
            "blueprint": lambda _: desk.blueprint(),
            "export": lambda _: desk.export(),
        }


def _encoded(xml: str | bytes) -> bytes:
    return xml.encode() if isinstance(xml, str) else xml


def _plain(answer: Any) -> Any:
    if isinstance(answer, BaseModel):
        return answer.model_dump(mode="json")
    if isinstance(answer, list):
        return [_plain(entry) for entry in answer]
    return answer
