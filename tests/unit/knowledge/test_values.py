"""Values of constraints: where names end that have an "and" of their own."""

from __future__ import annotations

import pytest

from app.knowledge.catalogue import Catalogue
from app.knowledge.values import answer_of, known_to
from app.model.constraints import INVARIANTS
from app.model.facts import GemFact, UniqueFact

KNOWN = Catalogue(
    classes=(),
    gems=(GemFact(id="spark", name="Spark", kind="active"), GemFact(id="arc", name="Arc", kind="active")),
    uniques=(UniqueFact(name="Hand of Wisdom and Action", base="Furtive Wraps", type="Gloves", level=1, text=""),),
)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Hand of Wisdom and Action", ["Hand of Wisdom and Action"]),
        ("Spark and Arc", ["Spark", "Arc"]),
        ("Spark, hand of wisdom and action", ["Spark", "Hand of Wisdom and Action"]),
    ],
)
def test_an_and_within_a_name_ends_no_name(text: str, names: list[str]) -> None:
    wanted = INVARIANTS["with"]
    assert known_to(wanted, answer_of(wanted, text), KNOWN) == names


def test_what_is_ruled_out_is_told_apart_at_an_and() -> None:
    gone = INVARIANTS["exclude"]
    assert known_to(gone, answer_of(gone, "totems and minions"), KNOWN) == ["totems", "minions"]
    assert known_to(gone, answer_of(gone, "Hand of Wisdom and Action"), KNOWN) == ["Hand of Wisdom and Action"]
