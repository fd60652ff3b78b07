"""A model that is sure of itself and wrong: nothing that it invents reaches people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from app.model.names import BuildStatus
from app.service.presentation import as_markdown, as_text, presentation_of
from tests.fakes.llm_bench import llm_settings
from tests.fakes.llm_liar import LIES, MARKS, Liar
from tests.fakes.llm_player import recorded
from tests.fakes.llm_server import LlmServer
from tests.integration.llm.test_builds import Made, make

pytestmark = pytest.mark.slow


def told_by(made: Made) -> dict[str, str]:
    """Return every text of the build that people read."""
    shown = presentation_of(made.record)
    assert made.record.xml is not None
    notes = etree.fromstring(made.record.xml).find("Notes")
    return {
        "text": as_text(shown),
        "markdown": as_markdown(shown),
        "API": json.dumps(made.view.model_dump(mode="json"), ensure_ascii=False),
        "state": made.record.state.to_yaml(),
        "constraints": made.record.invariants.model_dump_json(),
        "notes": "" if notes is None else notes.text or "",
        "file": made.record.xml.decode(),
    }


def check_honest(made: Made) -> None:
    """Check every text against every lie, and that what had grounds is still there, with its label."""
    assert made.view.status is BuildStatus.COMPLETE
    texts = told_by(made)
    found = [
        (place, text[max(0, text.index(mark) - 200) : text.index(mark) + 80])
        for place, text in texts.items()
        for mark in MARKS
        if mark in text
    ]
    assert found == []
    assert "The model: " in texts["text"]
    assert made.view.reasoner.decided == made.view.reasoner.asked > 8
    assert made.view.sub_problems


async def test_no_lie_reaches_people_on_sketch(tmp_path: Path) -> None:
    liar = Liar(recorded("lightning_sorceress"))
    del liar.answers["explore-spirit_allocation"]
    async with LlmServer(liar) as server:
        made = await make(llm_settings(f"{server.url}/v1", tmp_path, llm_timeout_s=20), level=24)
        told = json.dumps([asked.body for asked in server.requests], ensure_ascii=False)
    check_honest(made)
    assert made.record.invariants.question is not None
    assert len(LIES) == 10
    assert "lightning" in told


@pytest.mark.deep
@pytest.mark.pob
async def test_no_lie_reaches_people_on_pob(tmp_path: Path, pob_path: Path) -> None:
    liar = Liar(recorded("lightning_sorceress"))
    del liar.answers["explore-spirit_allocation"]
    async with LlmServer(liar) as server:
        more: dict[str, Any] = {"engine": "pob", "pob_path": pob_path, "llm_timeout_s": 20}
        check_honest(await make(llm_settings(f"{server.url}/v1", tmp_path, **more), level=16))
