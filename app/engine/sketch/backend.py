"""The sketch engine: answers the engine protocol from a small fact pack, with estimated numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from app.core.config import resource_dir
from app.engine.base import Outputs
from app.engine.protocol import Refused
from app.engine.sketch.calculator import Calculator, Inspector, Requirements
from app.engine.sketch.defence import Defence
from app.engine.sketch.document import Exporter, Loader
from app.engine.sketch.facts import PackFacts
from app.engine.sketch.gear import ItemEffects
from app.engine.sketch.lines import Wording
from app.engine.sketch.offence import Offence
from app.engine.sketch.pack import Pack
from app.engine.sketch.sheet import Sheets, Sums, connected
from app.model.base import changed
from app.model.blueprint import (
    Allocate,
    Blueprint,
    Change,
    RemoveGroup,
    SetGroup,
    SkillGroup,
    apply_changes,
)
from app.model.stats import BuildReport, EngineVersion, Inspection, Stats


class OpenBuild:
    """Holds at most one build: what of it holds together; passives that were cut off are gone."""

    def __init__(
        self, pack: Pack, calculator: Calculator, inspector: Inspector, exporter: Exporter, loader: Loader
    ) -> None:
        self._pack = pack
        self._calculator = calculator
        self._inspector = inspector
        self._exporter = exporter
        self._loader = loader
        self._dropped: list[int] = []
        self._kept: Blueprint | None = None

    def build(self, blueprint: Blueprint) -> BuildReport:
        """Take the blueprint as the open build.

        Raises:
            Refused: it names something the pack does not know; the old build stays.
        """
        self._check(blueprint)
        self._keep(blueprint)
        return BuildReport(dropped_nodes=self._dropped)

    def load(self, xml: bytes) -> BuildReport:
        """Take the build of a file as the open build, without what the pack does not know.

        Raises:
            Refused: it is not a build the engine can load.
        """
        blueprint, problems = self._loader.load(xml)
        self._check(blueprint)
        self._keep(blueprint)
        return BuildReport(dropped_nodes=self._dropped, problems=problems)

    def apply(self, changes: Sequence[Change]) -> BuildReport:
        """Commit the changes in order; one that cannot be made is reported, the others still apply."""
        blueprint, problems = self._current(), []
        for number, change in enumerate(changes, 1):
            try:
                candidate = self._changed(blueprint, [change])
                self._check(candidate)
                blueprint = candidate
            except Refused as exc:
                problems.append(f"change {number} ({change.op}): {exc}")
        self._keep(blueprint)
        return BuildReport(dropped_nodes=self._dropped, problems=problems)

    def what_if(self, candidates: Sequence[Sequence[Change]], metrics: Sequence[str]) -> list[Outputs]:
        """Return the metrics of each candidate; as in PoB's what-if, passives count whether or not they connect."""
        found: list[Outputs] = []
        for changes in candidates:
            try:
                values = self._calculator.values(self._changed(self._current(), changes))
                found.append({name: values[name] for name in metrics if name in values})
            except Refused:
                found.append({})
        return found

    def stats(self, version: EngineVersion) -> Stats:
        """Return every number of the open build and where its damage comes from."""
        return Stats(engine=version, values=self.values(), damage=self._calculator.damage(self.blueprint()))

    def values(self) -> Outputs:
        """Return all numbers of the build."""
        return self._calculator.values(self._current())

    def inspect(self) -> Inspection:
        """Return the findings about the build."""
        real = self._current()
        sheet = self._calculator.sheet(real)
        return self._inspector.inspect(sheet, self._calculator.values(real), self._dropped)

    def blueprint(self) -> Blueprint:
        """Return the build as it holds together."""
        return self._current()

    def export(self) -> str:
        """Return the build as XML."""
        return self._exporter.xml(self._current())

    def _changed(self, blueprint: Blueprint, changes: Sequence[Change]) -> Blueprint:
        for change in changes:
            limit = len(blueprint.groups) + isinstance(change, SetGroup)
            if isinstance(change, SetGroup | RemoveGroup) and not 1 <= change.index <= limit:
                raise Refused(f"there is no skill group {change.index}")
            if isinstance(change, Allocate):
                for node in change.nodes:
                    if node.id not in self._pack.passives:
                        raise Refused(f"unknown passive {node.id}", "unknown_fact")
            if isinstance(change, SetGroup):
                self._check_gems(change.group)
            blueprint = apply_changes(blueprint, [change])
        return blueprint

    def _check(self, blueprint: Blueprint) -> None:
        if blueprint.class_name not in self._pack.classes:
            raise Refused(f"unknown class {blueprint.class_name!r}", "unknown_fact")
        for group in blueprint.groups:
            self._check_gems(group)
        known = [a.name for a in self._pack.classes[blueprint.class_name].ascendancies]
        if blueprint.ascendancy not in (None, "None", *known):
            raise Refused(f"{blueprint.ascendancy} is not an ascendancy of {blueprint.class_name}", "unknown_fact")
        kept, _ = connected(self._pack, blueprint)
        self._calculator.values(changed(blueprint, nodes=kept))

    def _check_gems(self, group: SkillGroup) -> None:
        for gem in group.gems:
            if self._pack.gem(gem.gem_id) is None:
                raise Refused(f"unknown gem {gem.gem_id!r}", "unknown_fact")

    def _keep(self, blueprint: Blueprint) -> None:
        kept, self._dropped = connected(self._pack, blueprint)
        self._kept = changed(blueprint, nodes=kept)

    def _current(self) -> Blueprint:
        if self._kept is None:
            raise Refused("no build is loaded in this session")
        return self._kept


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
            game = pack.game
            version = EngineVersion(name=NAME, version=game.version, tree_version=game.tree_version, estimate=True)
            self._answer_from(pack, version)
            self._version = version
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

    def _answer_from(self, pack: Pack, version: EngineVersion) -> None:
        wording, sums, requirements = Wording(pack), Sums(pack), Requirements(pack)
        effects, offence, facts = ItemEffects(pack, wording), Offence(pack, sums), PackFacts(pack, wording)
        calculator = Calculator(pack, Sheets(pack, effects), Defence(pack, sums), offence, requirements)
        inspector = Inspector(pack, requirements, offence)
        opened = OpenBuild(pack, calculator, inspector, Exporter(pack, wording, effects), Loader(pack, wording))
        self._facts = {
            "classes": _plain(facts.classes()),
            "gems": _plain(facts.gems()),
            "nodes": _plain(facts.nodes()),
            "edges": [],
            "bases": _plain(facts.bases()),
            "uniques": [],
        }
        self._operations = {
            "affixes": lambda args: facts.affixes(args["base"]),
            "runes": lambda args: facts.runes(args["base"]),
            "supports_for": lambda args: facts.supports_for(args["gem_id"]),
            "build": lambda args: opened.build(Blueprint.model_validate(args["blueprint"])),
            "load": lambda args: opened.load(args["xml"].encode() if isinstance(args["xml"], str) else args["xml"]),
            "apply": lambda args: opened.apply(_CHANGES.validate_python(args["changes"])),
            "what_if": lambda args: opened.what_if(_CANDIDATES.validate_python(args["candidates"]), args["metrics"]),
            "stats": lambda _: opened.stats(version),
            "inspect": lambda _: opened.inspect(),
            "blueprint": lambda _: opened.blueprint(),
            "export": lambda _: opened.export(),
        }


def _plain(answer: Any) -> Any:
    if isinstance(answer, BaseModel):
        return answer.model_dump(mode="json")
    if isinstance(answer, list):
        return [_plain(entry) for entry in answer]
    return answer
