"""Our part of a file's notes: at the beginning, once, and never at the cost of the owner's."""

from __future__ import annotations

import pytest

from app.core.errors import BadImport
from app.engine.files.codes import decode, encode
from app.engine.files.xml import NOTES_END, canonical, read, with_notes

PLAIN = b"<PathOfBuilding2><Build level='9'/></PathOfBuilding2>"
OWN = b"<PathOfBuilding2><Build level='9'/><Notes>My own words.</Notes></PathOfBuilding2>"


def notes(xml: bytes) -> list[str]:
    return (read(xml).findtext("Notes") or "").strip().splitlines()


def test_they_begin_the_notes() -> None:
    assert notes(with_notes(PLAIN, "Asked", ["✓ class Witch", "a < b & c"])) == [
        "Asked",
        "✓ class Witch",
        "a < b & c",
        NOTES_END,
    ]


def test_what_the_owner_wrote_stays_below() -> None:
    assert notes(with_notes(OWN, "Asked", ["✓"])) == ["Asked", "✓", NOTES_END, "My own words."]


def test_a_second_build_of_the_file_replaces_the_first_ones() -> None:
    first = with_notes(OWN, "Asked", ["✗ something", "", "Caveats", "much"])
    assert notes(with_notes(first, "Asked", ["✓"])) == ["Asked", "✓", NOTES_END, "My own words."]


def test_the_file_stays_canonical_and_its_code_the_same_bytes() -> None:
    told = with_notes(OWN, "Asked", ["✓"])
    assert canonical(told) == told
    assert with_notes(told, "Asked", ["✓"]) == told
    assert decode(encode(told)) == told


def test_nothing_of_it_is_a_colour_or_a_control_character() -> None:
    assert notes(with_notes(PLAIN, "Asked", ["^1red\x00\x1b"])) == ["Asked", "1red", NOTES_END]


def test_what_is_no_build_is_refused() -> None:
    with pytest.raises(BadImport):
        with_notes(b"{}", "Asked", [])
