"""Small builds constructed by the rules reasoner, without the machine around them."""

from __future__ import annotations

from app.core.ids import BuildId
from app.engine.base import Engine
from app.model.base import changed
from app.model.constraints import Invariant, InvariantSet, InvariantValue
from app.model.names import GearTier, Phase, Provenance
from app.model.record import BuildRequest
from app.model.state import BuildState
from app.phases.base import PhaseContext
from app.phases.construct.stages import ConstructPhase
from app.reasoning.rules import RulesReasoner
from app.search.sessions import Sharing
from tests.unit.reasoning.planning import plan_with


async def constructed(engine: Engine, prompt: str, level: int = 24, **fields: InvariantValue) -> BuildState:
    """Return the state after a build of the prompt was constructed, with further explicit wishes."""
    request = BuildRequest(prompt=prompt, level=level, gear=GearTier.MID)
    said = [
        Invariant(field=name.rstrip("_"), value=value, provenance=Provenance.EXPLICIT, reason="said")
        for name, value in fields.items()
    ]
    found = await RulesReasoner().extract(request, engine)
    others = [one for one in found.invariants if one.field not in {i.field for i in said}]
    invariants: InvariantSet = changed(found, invariants=[*others, *said])
    planned = await plan_with(request, engine, invariants)
    state = changed(planned.state, phase=Phase.CONSTRUCT)
    while True:
        ctx = PhaseContext(
            build_id=BuildId("b"),
            request=request,
            invariants=invariants,
            state=state,
            engine=engine,
            reasoner=RulesReasoner(),
        )
        result = await ConstructPhase(Sharing(1)).run(ctx)
        state = result.state
        if result.trigger is not None:
            break
    return state
