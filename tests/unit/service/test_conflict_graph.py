"""The picture of conflicts: every conflict once, an arrow per cause, hostile words as words."""

from __future__ import annotations

from lxml import etree

from app.conflicts.table import related
from app.model.conflicts import BuildConflict
from app.model.names import ConflictType, Severity
from app.service.conflict_graph import ConflictView, conflicts_mermaid, conflicts_svg

HOSTILE = 'Ring 1, "<script>alert(1)</script>": a & b ]]> --> end'
SVG = "{http://www.w3.org/2000/svg}"


def shown(*conflicts: BuildConflict) -> list[ConflictView]:
    return [ConflictView.model_validate(c, from_attributes=True) for c in related(list(conflicts))]


def conflict(kind: ConflictType, message: str = "told", **evidence: object) -> BuildConflict:
    return BuildConflict(
        id=kind.value, type=kind, severity=Severity.BLOCKING, affected=[], message=message, evidence=evidence
    )


CHAIN = (
    conflict(ConflictType.STAT_REQUIREMENT, source="Weapon 1: Club"),
    conflict(ConflictType.CORE_ASSUMPTION_INVALIDATED),
    conflict(ConflictType.DAMAGE_GAP, HOSTILE),
)


def test_svg_has_a_box_per_conflict_and_an_arrow_per_cause() -> None:
    root = etree.fromstring(conflicts_svg(shown(*CHAIN)))
    assert root.tag == f"{SVG}svg"
    assert len(root.findall(f"{SVG}rect")) == 3
    assert len(root.findall(f"{SVG}path")) == 3  # root to both, and one symptom to the other
    columns = [int(box.get("x", "")) for box in root.findall(f"{SVG}rect")]
    assert columns == sorted(set(columns))


def test_svg_keeps_words_as_words() -> None:
    picture = conflicts_svg(shown(*CHAIN))
    root = etree.fromstring(picture)
    assert b"<script" not in picture
    assert HOSTILE in {title.text for title in root.iter(f"{SVG}title")}


def test_mermaid_says_why() -> None:
    text = conflicts_mermaid(shown(*CHAIN))
    lines = text.splitlines()
    assert lines[0] == "flowchart LR"
    assert '    c0 -->|"Weapon 1: Club cannot be used"| c1' in lines
    assert '    c1 -->|"the main skill cannot be used as it stands"| c2' in lines
    assert "<script" not in text
    assert text.count(":::symptom") == 2


def test_no_conflicts_are_a_picture_too() -> None:
    assert b"No conflicts." in conflicts_svg([])
    assert "No conflicts." in conflicts_mermaid([])


def test_equal_conflicts_give_equal_bytes() -> None:
    assert conflicts_svg(shown(*CHAIN)) == conflicts_svg(shown(*CHAIN))
