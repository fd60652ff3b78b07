"""The notes that a finished build's file begins with: what was asked for and reached, what each group is for."""

from __future__ import annotations

from app.core.errors import BadImport
from app.engine.files.xml import with_notes
from app.model.state import BuildState
from app.model.wishes import ASKED_AND_REACHED, asked_and_reached


def noted(xml: bytes | None, state: BuildState) -> bytes | None:
    """Return the file with its notes; unchanged where nothing was asked for or the file has no room for them.

    A refinement that changes nothing hands its parent's file back as it is.
    """
    unchanged = state.refinement is not None and not state.refinement.reached
    if xml is None or not state.wishes or unchanged:
        return xml
    caveats = ["", "Caveats", *state.caveats] if state.caveats else []
    uses = state.guide.groups if state.guide is not None else []
    groups = ["", "Skill groups", *(use.line for use in uses)] if uses else []
    sets = state.construction.notes.weapon_sets
    groups += ["", "Weapon sets", sets] if sets else []
    try:
        return with_notes(xml, ASKED_AND_REACHED, [*asked_and_reached(state.wishes), *caveats, *groups])
    except BadImport:
        return xml
