"""The knowledge files as their tests read them: header, names in backticks, and tables."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.core.config import resource_dir
from app.model.names import Demand, SubProblemName
from app.prompting.library import split

FILES = (
    "classes.md",
    "defenses.md",
    "dependency_rules.md",
    "runes.md",
    "scaling.md",
    "skills.md",
    "solution-budgets.md",
    "uniques.md",
)
MARK = "°"
_RULES = Path(__file__).resolve().parents[1] / "app" / "conflicts"
_TICKED = re.compile(r"`([^`\n]+)`")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_RULER = re.compile(r"\|[-| ]+\|")


@dataclass(frozen=True)
class Knowledge:
    """One file: the fields of its header and its text."""

    name: str
    header: dict[str, Any]
    body: str

    @property
    def checks(self) -> list[dict[str, Any]]:
        """What the header promises about sentences of the text."""
        return list(self.header.get("checks", []))

    @property
    def ticked(self) -> list[str]:
        """All names in backticks, as often as they occur."""
        return _TICKED.findall(self.body)


@dataclass(frozen=True)
class Row:
    """One row of a table: cells by column title, without backticks and marks."""

    file: str
    columns: tuple[str, ...]
    cells: dict[str, str]

    def __getitem__(self, column: str) -> str:
        return self.cells[column].replace("`", "").replace(MARK, "").strip()

    def marked(self, column: str) -> bool:
        """Whether the cell has the mark for lines that Path of Building does not count."""
        return MARK in self.cells[column]


def knowledge(name: str) -> Knowledge:
    header, body = split((Path(resource_dir("domain")) / name).read_text(encoding="utf-8"))
    return Knowledge(name, header, body)


def rows(first: str, *more: str) -> list[Row]:
    """Return the rows of all tables, in all files, whose first columns have these titles."""
    wanted = (first, *more)
    return [row for name in FILES for row in _rows(knowledge(name)) if row.columns[: len(wanted)] == wanted]


def _rows(file: Knowledge) -> Iterator[Row]:
    columns: tuple[str, ...] = ()
    lines = file.body.splitlines()
    for i, line in enumerate(lines):
        if not line.startswith("|"):
            columns = ()
        elif not columns:
            columns = _cells(line)
        elif not _RULER.fullmatch(lines[i]):
            cells = _cells(line)
            assert len(cells) == len(columns), f"{file.name}: {line}"
            yield Row(file.name, columns, dict(zip(columns, cells, strict=True)))


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in line.strip().strip("|").split("|"))


def numbers(text: str) -> list[float]:
    """Return the numbers in a text; a dash between two of them is not a sign."""
    return [float(found) for found in _NUMBER.findall(re.sub(r"(?<=\d)-(?=\d)", " ", text))]


def strategies() -> list[tuple[str, SubProblemName, Demand]]:
    """Return what the rules offer, read from their source: advice(strategy, question, demand, ...)."""
    found = []
    for path in sorted(_RULES.glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names: dict[str, ast.Attribute] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign):
                parts = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
                targets = [one for t in node.targets for one in (t.elts if isinstance(t, ast.Tuple) else [t])]
                pairs = zip(targets, parts, strict=False)
                names |= {t.id: v for t, v in pairs if isinstance(t, ast.Name) and isinstance(v, ast.Attribute)}
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "advice":
                strategy, question, demand = call.args[:3]
                question = names[question.id] if isinstance(question, ast.Name) else question
                assert isinstance(question, ast.Attribute)
                if not isinstance(strategy, ast.Constant) or not isinstance(demand, ast.Attribute):
                    continue  # a way out for each slot or target has no one name or demand that could be listed
                found.append((str(strategy.value), SubProblemName[question.attr], Demand[demand.attr]))
    assert found, "the rules offer ways out"
    return found
