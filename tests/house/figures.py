"""The shape of the house in figures: `python tests/house/figures.py [PROJECT]`. Reads code, runs nothing.

`private used once`: private functions whose name occurs twice in their file, where they are defined and where they are
called. `public with one caller`: functions and methods that the code of `app/` names once beside imports. Commands,
routes and what a library calls by name have no caller in the code and so do not count.
"""

from __future__ import annotations

import ast
import re
import statistics
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NOUNS = {"wiring", "prompting", "reasoning", "string", "crafting", "levelling", "shopping", "ring", "rating"}
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class House:
    """What was counted; lists name the places as `path:name`."""

    files: int = 0
    longest_file: int = 0
    lengths: list[int] = field(default_factory=list)
    private_once: list[str] = field(default_factory=list)
    public_once: list[str] = field(default_factory=list)
    doubled_classes: list[str] = field(default_factory=list)
    untyped: dict[str, int] = field(default_factory=dict)
    gerunds: list[str] = field(default_factory=list)

    @property
    def functions(self) -> int:
        """All functions and methods."""
        return len(self.lengths)

    @property
    def median(self) -> float:
        """Lines of the median function."""
        return statistics.median(self.lengths)

    @property
    def p90(self) -> int:
        """Lines that nine of ten functions do not exceed."""
        return sorted(self.lengths)[int(0.9 * len(self.lengths))]


def measured(project: Path = ROOT) -> House:
    """Count the functions, names and files of `project/app`."""
    app = project / "app"
    texts = {str(path.relative_to(app)): path.read_text() for path in sorted(app.rglob("*.py"))}
    named = Counter(name for text in texts.values() for name in _names(text))
    house, classes = House(files=len(texts)), Counter[str]()
    for name, text in texts.items():
        house.longest_file = max(house.longest_file, text.count("\n"))
        own = Counter(re.findall(r"\w+", text))
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, Function):
                assert node.end_lineno is not None
                house.lengths.append(node.end_lineno - node.lineno + 1)
                if re.match(r"_[a-z]", node.name) and own[node.name] == 2:
                    house.private_once.append(f"{name}:{node.name}")
                elif not node.name.startswith("_") and named[node.name] == 1 and not node.decorator_list:
                    house.public_once.append(f"{name}:{node.name}")
            elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes[node.name] += 1
        if name.startswith("model/") and (count := text.count("dict[str, Any]")):
            house.untyped[name] = count
        stem = Path(name).stem
        if stem.endswith("ing") and stem not in NOUNS:
            house.gerunds.append(name)
    house.doubled_classes = sorted(name for name, count in classes.items() if count > 1)
    return house


def _names(text: str) -> list[str]:
    nodes = list(ast.walk(ast.parse(text)))
    return [n.id for n in nodes if isinstance(n, ast.Name)] + [n.attr for n in nodes if isinstance(n, ast.Attribute)]


def main() -> None:
    """Print the figures."""
    house = measured(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)
    share = 100 / house.functions
    print(f"files {house.files}, longest {house.longest_file} lines")
    print(f"functions {house.functions}: median {house.median:g}, p90 {house.p90}, longest {max(house.lengths)} lines")
    print(f"private used once {len(house.private_once)} ({len(house.private_once) * share:.1f} %)")
    print(f"public with one caller {len(house.public_once)} ({len(house.public_once) * share:.1f} %)")
    print(f"public class names used twice {house.doubled_classes}")
    print(f"dict[str, Any] in the model {house.untyped}")
    print(f"gerund modules {len(house.gerunds)} {house.gerunds}")


if __name__ == "__main__":
    main()
