"""The conflicts of a build as its owner sees them: in a list, and drawn with roots left of their consequences."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from lxml import etree

from app.model.base import Model
from app.model.conflicts import Evidence
from app.model.names import ConflictType, Role, Severity, SubProblemName

WIDTH, HEIGHT, GAP_X, GAP_Y, MARGIN = 260, 84, 90, 24, 20
LINE_CHARS, LINES = 40, 3
_SVG = "http://www.w3.org/2000/svg"
_NAMES: Any = {None: _SVG}
_COLOURS = {Severity.BLOCKING: ("#fdecea", "#b3261e"), Severity.WARNING: ("#fff6e0", "#9a6700")}
_NONE = "No conflicts."

Place = tuple[int, int]


class SuggestionView(Model):
    """A way out of a conflict."""

    strategy: str
    sub_problem: SubProblemName
    demand: str
    text: str


class CauseView(Model):
    """A conflict that brings about another one, and why."""

    conflict_id: str
    because: str


class ConflictView(Model):
    """What is wrong, how it was measured, what brings it about and what could be done."""

    id: str
    type: ConflictType
    severity: Severity
    role: Role
    affected: list[SubProblemName]
    provisional: bool
    attempts: int
    message: str
    evidence: Evidence
    causes: list[CauseView]
    roots: list[str]
    tried: list[str]
    suggested_solutions: list[SuggestionView]


def conflicts_mermaid(conflicts: Sequence[ConflictView]) -> str:
    """Return the conflicts as a Mermaid flowchart; an arrow says why one brings about the other."""
    names = {conflict.id: f"c{index}" for index, conflict in enumerate(conflicts)}
    styles = {c.id: "symptom" if c.role is Role.SYMPTOM else c.severity.value for c in conflicts}
    boxes = [f'    {names[c.id]}["{_quoted(_title(c))}<br/>{_quoted(c.message)}"]:::{styles[c.id]}' for c in conflicts]
    arrows = [
        f'    {names[cause.conflict_id]} -->|"{_quoted(cause.because)}"| {names[c.id]}'
        for c in conflicts
        for cause in c.causes
        if cause.conflict_id in names
    ]
    classes = [
        "    classDef blocking fill:#fdecea,stroke:#b3261e,color:#1f1f1f",
        "    classDef warning fill:#fff6e0,stroke:#9a6700,color:#1f1f1f",
        "    classDef symptom fill:#ffffff,stroke:#b3261e,stroke-dasharray:4 3,color:#1f1f1f",
    ]
    empty = [f'    none["{_NONE}"]'] if not conflicts else []
    return "\n".join(["flowchart LR", *boxes, *empty, *arrows, *classes]) + "\n"


def _title(conflict: ConflictView) -> str:
    return f"{conflict.type.value.replace('_', ' ')} ({conflict.role.value}, {conflict.severity.value})"


def _quoted(text: str) -> str:
    """Return text that ends neither the label nor the line, and is no markup."""
    escapes = {"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;"}
    return "".join(escapes.get(char, char) for char in " ".join(text.split()))


def conflicts_svg(conflicts: Sequence[ConflictView]) -> bytes:
    """Return the conflicts as SVG of its own (no script, no style sheet, nothing fetched)."""
    places = _places(conflicts)
    columns = 1 + max((x for x, _ in places.values()), default=0)
    rows = 1 + max((y for _, y in places.values()), default=0)
    wide, high = _at((columns, rows))
    root = etree.Element(
        f"{{{_SVG}}}svg", nsmap=_NAMES, width=str(wide - GAP_X + MARGIN), height=str(high - GAP_Y + MARGIN)
    )
    root.set("role", "img")
    root.set("font-family", "sans-serif")
    etree.SubElement(root, "title").text = "Conflicts: causes on the left, consequences on the right"
    # The arrowhead, drawn once and referred to by every arrow.
    marker = etree.SubElement(etree.SubElement(root, "defs"), "marker", id="arrow", orient="auto")
    for name, value in {"markerWidth": "8", "markerHeight": "8", "refX": "7", "refY": "4"}.items():
        marker.set(name, value)
    etree.SubElement(marker, "path", d="M0,0 L8,4 L0,8 z", fill="#5f6368")
    for conflict in conflicts:
        for cause in conflict.causes:
            if cause.conflict_id in places:
                (x1, y1), (x2, y2) = _at(places[cause.conflict_id]), _at(places[conflict.id])
                way = f"M{x1 + WIDTH},{y1 + HEIGHT // 2} L{x2},{y2 + HEIGHT // 2}"
                arrow = etree.SubElement(root, "path", d=way, stroke="#5f6368", fill="none")
                arrow.set("marker-end", "url(#arrow)")
                etree.SubElement(arrow, "title").text = cause.because
    for conflict in conflicts:
        _box(root, conflict, *_at(places[conflict.id]))
    if not conflicts:
        _text(root, MARGIN, MARGIN + 20, _NONE, 14)
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)


def _places(conflicts: Sequence[ConflictView]) -> dict[str, Place]:
    """Return column (longest way from a root; a circle is cut where it closes) and row of each conflict."""
    by_id = {conflict.id: conflict for conflict in conflicts}
    rows: dict[int, int] = {}
    places: dict[str, Place] = {}
    for conflict in conflicts:
        column = _depth(conflict, by_id, frozenset())
        places[conflict.id] = (column, rows.get(column, 0))
        rows[column] = rows.get(column, 0) + 1
    return places


def _depth(conflict: ConflictView, by_id: dict[str, ConflictView], seen: frozenset[str]) -> int:
    if conflict.role is Role.ROOT:
        return 0
    now = seen | {conflict.id}
    before = [by_id[c.conflict_id] for c in conflict.causes if c.conflict_id in by_id and c.conflict_id not in now]
    return 1 + max((_depth(cause, by_id, now) for cause in before), default=-1)


def _at(place: Place) -> tuple[int, int]:
    return MARGIN + place[0] * (WIDTH + GAP_X), MARGIN + place[1] * (HEIGHT + GAP_Y)


def _box(root: etree._Element, conflict: ConflictView, x: int, y: int) -> None:
    fill, stroke = _COLOURS[conflict.severity]
    box = etree.SubElement(root, "rect", x=str(x), y=str(y), width=str(WIDTH), height=str(HEIGHT), rx="6")
    for name, value in {"fill": fill, "stroke": stroke}.items():
        box.set(name, value)
    if conflict.role is Role.SYMPTOM:
        box.set("stroke-dasharray", "4 3")
    etree.SubElement(box, "title").text = conflict.message
    _text(root, x + 8, y + 18, _title(conflict), 12, bold=True)
    shown = textwrap.wrap(conflict.message, LINE_CHARS, max_lines=LINES, placeholder=" …")
    for index, line in enumerate(shown):
        _text(root, x + 8, y + 38 + 16 * index, line, 11)


def _text(root: etree._Element, x: int, y: int, words: str, size: int, *, bold: bool = False) -> None:
    text = etree.SubElement(root, "text", x=str(x), y=str(y), fill="#1f1f1f")
    text.set("font-size", str(size))
    if bold:
        text.set("font-weight", "bold")
    text.text = words
