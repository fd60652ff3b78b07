"""Which reasoner serves whom."""

from __future__ import annotations

from typing import Any

import pytest

from app.core.config import Settings
from app.core.errors import ReasonerMissing
from app.model.names import Phase
from app.model.record import BuildRequest, ReasonerChoice, ReasonerVersion
from app.tools.runner import ToolRunner
from app.tools.scope import Scope
from app.wiring.reasoners import ConfiguredReasoners
from tests.fakes.steps import new_record
from tests.fakes.stores import MemoryEventStore

MODEL = {"llm_model": "m", "llm_base_url": "http://127.0.0.1:1/v1"}


def room(**settings: Any) -> ConfiguredReasoners:
    events = MemoryEventStore()
    return ConfiguredReasoners(Settings(**settings), events, ToolRunner(events))


@pytest.mark.parametrize(
    ("settings", "choice", "name"),
    [
        ({}, "auto", "rules"),
        ({"llm_api_key": "k"}, "auto", "rules"),
        ({"llm_model": "m"}, "auto", "rules"),
        ({"llm_model": "m", "llm_api_key": "k"}, "auto", "llm"),
        (MODEL, "auto", "llm"),
        (MODEL, "rules", "rules"),
        ({**MODEL, "reasoner": "rules"}, "auto", "rules"),
        ({**MODEL, "reasoner": "rules"}, "llm", "llm"),
    ],
)
def test_auto_takes_a_model_that_is_set_up(settings: dict[str, Any], choice: ReasonerChoice, name: str) -> None:
    found = room(**settings)
    found.check(choice)
    record = new_record(request=BuildRequest(prompt="a witch", reasoner=choice))
    assert found.reasoner(record, Scope(record.id, Phase.EXPLORE)).name == found.resolve(choice) == name


@pytest.mark.parametrize("settings", [{}, {"llm_model": "m"}, {"llm_api_key": "secret-key-1"}])
def test_a_model_that_is_not_set_up_is_refused(settings: dict[str, Any]) -> None:
    for choice, more in (("llm", {}), ("auto", {"reasoner": "llm"})):
        with pytest.raises(ReasonerMissing) as caught:
            room(**settings, **more).check(choice)  # type: ignore[arg-type]
        assert "BUILDWRIGHT_LLM_MODEL" in caught.value.message
        assert "secret-key-1" not in caught.value.message


def test_a_build_stays_with_the_reasoner_it_began_with() -> None:
    begun = new_record(reasoner=ReasonerVersion(name="rules"))
    assert room(**MODEL).reasoner(begun, Scope(begun.id, Phase.EXPLORE)).name == "rules"
    lost = new_record(reasoner=ReasonerVersion(name="llm", model="m"))
    assert room().reasoner(lost, Scope(lost.id, Phase.EXPLORE)).name == "rules"
