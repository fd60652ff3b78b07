"""Fields that the request itself sets: they win over the prompt, once they are made to fit what exists."""

from __future__ import annotations

from app.model.invariants import InvariantValue
from app.model.names import GearTier, Goal, Provenance
from app.model.request import BuildRequest
from app.reasoning.rules.catalogue import Catalogue
from app.reasoning.rules.draft import FIELDS, Draft
from app.reasoning.rules.guessing import closest


def settle_overrides(draft: Draft, request: BuildRequest, catalogue: Catalogue) -> None:
    """Set the request's fields; one that fits nothing is left out with an assumption that says so."""
    for name, value in sorted(request.overrides.items()):
        fitted = _fit(name, value, catalogue)
        if fitted is None:
            draft.assume(f'The request sets {name} to "{value}", which I cannot use, so I left it aside.')
        else:
            draft.put(name, fitted, Provenance.EXPLICIT, "set in the request")


def _fit(name: str, value: InvariantValue, catalogue: Catalogue) -> InvariantValue:
    match name:
        case "class":
            return _nearest(value, [fact.name for fact in catalogue.classes])
        case "ascendancy":
            return _nearest(value, [a for fact in catalogue.classes for a in fact.ascendancies])
        case "skill":
            gem = catalogue.skill(str(value))
            return gem.name if gem else _nearest(value, [gem.name for gem in catalogue.active])
        case "goal":
            return value if value in set(Goal) else None
        case "gear":
            return value if value in set(GearTier) else None
        case "level":
            return _level(value)
        case "hardcore":
            return str(value).strip().lower() in {"true", "1", "yes", "hardcore", "hc"}
        case "exclude":
            return [str(word) for word in value] if isinstance(value, list) else [str(value)]
        case _:
            return value if name in FIELDS else None


def _nearest(value: InvariantValue, names: list[str]) -> str | None:
    best = closest(str(value), names)
    return best[0] if best and best[1] >= 80 else None


def _level(value: InvariantValue) -> int | None:
    try:
        return min(100, max(1, int(str(value))))
    except ValueError:
        return None
