"""Repair over HTTP's use case on the estimator: a build of ours with a fault is taken in, mended and told."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.core.config import Settings
from app.core.errors import InputError
from app.model.names import BuildStatus
from app.model.record import BuildRequest
from app.service.imports import ImportRequest
from app.service.presentation import as_text
from app.wiring import open_services


def without_notes(xml: bytes) -> bytes:
    """Return the file without the text that tells the build's own story."""
    return re.sub(rb"<Notes>.*?</Notes>", b"", xml, flags=re.DOTALL)


async def test_a_sound_file_is_handed_back_and_a_bad_sentence_takes_nothing_in(tmp_path: Path) -> None:
    async with open_services(Settings(data_dir=tmp_path, engine="sketch")) as services:
        made = await services.builds.create(BuildRequest(prompt="titan with maces", level=30))
        await services.builds.wait(made.id)
        code = (await services.library.export(made.id, "code")).decode()
        count = len((await services.library.page(None, 50, None)).items)
        with pytest.raises(InputError):
            await services.repairs.create(ImportRequest(code=code, repair="x"))
        assert len((await services.library.page(None, 50, None)).items) == count
        child = await services.repairs.create(ImportRequest(code=code, repair=True))
        await services.builds.wait(child.id)
        services.library.forget(child.id)
        shown = await services.library.present(child.id)
        assert shown.build.status is BuildStatus.COMPLETE
        assert shown.refinement is not None
        if not shown.refinement.faults:
            assert "No change recommended: the rules find no fault." in as_text(shown)
            assert child.parent_id is not None
            files = [await services.library.export(name, "xml") for name in (child.parent_id, child.id)]
            assert without_notes(files[0]) == without_notes(files[1])
