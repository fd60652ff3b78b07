"""`bench wishes` on the sketch engine: what it calls the build before iterating is what a build with no rounds is."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.bench.builds import scratch_services
from app.bench.wishes import line_of, run, slug, write_told
from app.core.config import Settings
from app.model.record import BuildRequest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


async def test_the_first_construction_is_the_build_that_has_no_rounds(tmp_path: Path) -> None:
    settings = Settings(engine="sketch", engine_workers=2, data_dir=tmp_path, pob_path=tmp_path / "none")
    asked = BuildRequest(prompt="spark stormweaver with at least 90000 ehp and 20% movement speed", level=12)
    async with scratch_services(settings) as services:
        usual = await run(services, asked)
        await write_told(services, usual["id"], tmp_path / slug(asked.prompt))
    async with scratch_services(settings, iterations=0) as services:
        without = await run(services, asked)
    assert "unmet ehp: at least 90,000 effective hit points" in line_of(usual)
    assert usual["iterations"] > 0
    assert len(usual["rounds"]) > 1
    assert without["iterations"] == 0
    assert usual["first"] == without["wishes"]
    assert usual["wishes"]["ehp: at least 90,000 effective hit points"] == "unmet"
    stem = "spark-stormweaver-with-at-least-90000-ehp-and-20-movement-speed"
    written = {form: (tmp_path / f"{stem}.{form}").read_text() for form in ("xml", "yaml", "txt", "md")}
    assert written["xml"].startswith("<?xml")
    assert "schema_version" in written["yaml"]
    assert "at least 90,000 effective hit points" in written["txt"]
    assert "at least 90,000 effective hit points" in written["md"]
