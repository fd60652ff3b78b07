"""A build that schema 1.0 has stored: it opens, is shown, and can be refined."""

from __future__ import annotations

import gzip
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from app.core.config import Settings
from app.model.names import BuildStatus, Mode, Outcome
from app.model.state import BuildState
from app.service.refinement import RefineRequest
from app.storage.store import open_storage
from app.storage.tables import BuildRow, ProgressRow
from app.wiring import open_services
from app.wiring.stores import database_url

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
STORED = Path(__file__).parents[1] / "fixtures" / "build_1_0.json.gz"
"""A minion infernalist of level 40 on the sketch engine, as schema 1.0 left it in a database."""


def stored() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(gzip.decompress(STORED.read_bytes()))
    return found


def test_the_state_is_read_into_todays_shape() -> None:
    before = stored()["state"]
    state = BuildState.model_validate(before)
    notes = before["construction"]["notes"]
    assert before["schema_version"] == "1.0"
    assert state.schema_version == "1.1"
    assert state.construction.notes.evaluations == notes["evaluations"]
    assert state.construction.notes.objective == notes["objective"]
    trees = [(tree.aim, tree.bought) for tree in state.construction.notes.tree_alternatives]
    assert trees == [(tree["aim"], tree["with"]) for tree in notes["tree_alternatives"]]
    assert [d.fact for d in state.discoveries] == [d["fact"] for d in before["discoveries"]]
    assert BuildState.from_yaml(state.to_yaml()) == state


async def test_a_stored_build_opens_shows_and_refines(tmp_path: Path) -> None:
    settings = Settings(engine="sketch", engine_workers=2, data_dir=tmp_path, pob_path=tmp_path / "none")
    row = stored()
    told, build_id = row.pop("progress"), row["id"]
    when = {name: datetime.fromisoformat(row[name] + "+00:00") for name in ("created_at", "updated_at")}
    async with open_storage(database_url(settings)) as opened, opened.database.write() as session:
        session.add(BuildRow(**{**row, **when, "xml": row["xml"].encode()}))
        await session.flush()
        for event in told:
            at = datetime.fromisoformat(event["at"] + "+00:00")
            session.add(ProgressRow(**{**event, "at": at}, build_id=build_id))
    async with open_services(settings) as services:
        shown = await services.library.get(build_id)
        assert (shown.status, shown.outcome) == (BuildStatus.COMPLETE, Outcome(row["state"]["outcome"]))
        assert [c.id for c in shown.conflicts] == [c["id"] for c in row["state"]["conflicts"]]
        assert await services.library.export(build_id, "xml") == row["xml"].encode()
        events = await services.recordings.progress(build_id)
        assert [event.data.model_dump(mode="json") for event in events] == [event["data"] for event in told]
        child = await services.refinements.refine(build_id, RefineRequest(prompt="make this tankier, keep the weapon"))
        await services.builds.wait(child.id)
        refined = await services.library.get(child.id)
        assert (refined.mode, refined.status) == (Mode.REFINEMENT, BuildStatus.COMPLETE)
        assert refined.refinement is not None
        assert refined.refinement.verdict
