"""Every phase that runs has a step."""

from __future__ import annotations

from app.model.names import Phase
from app.wiring.services import phase_steps


def test_every_phase_but_the_last_has_a_step() -> None:
    assert set(phase_steps()) == set(Phase) - {Phase.COMPLETE}
