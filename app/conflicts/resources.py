"""Rules about Spirit and about paying for the main skill."""

from __future__ import annotations

from dataclasses import dataclass

from app.conflicts.case import Case, advice, conflict
from app.conflicts.items import filling, slots_with_room
from app.model.base import changed
from app.model.blueprint import MANA_FLASK, SWAP_SLOTS
from app.model.conflicts import BuildConflict, Details, Evidence
from app.model.damage import MOST_LIFE_PER_USE, Cost, unpayable
from app.model.demands import FIGHT_S
from app.model.names import ConflictType, Demand, Severity, SubProblemName
from app.model.stats import FREE_SPIRIT
from app.model.sub_problems import SustainChoice

_SPIRIT = SubProblemName.SPIRIT_ALLOCATION
_SUSTAIN = SubProblemName.RESOURCE_SUSTAIN
_DELIVERY = SubProblemName.DAMAGE_DELIVERY


def spirit_within_pool(case: Case) -> list[BuildConflict]:
    """Persistent skills reserve at most the Spirit there is."""
    free = case.stats.get(FREE_SPIRIT)
    if free >= 0:
        return []
    have = case.stats.get("Spirit")
    swapped = [case.bases.get(item.base) for slot in SWAP_SLOTS if (item := case.blueprint.items.get(slot))]
    is_shared = case.imported and any(base is not None and base.type == "Sceptre" for base in swapped)
    ways = [
        advice(
            "reserve_anew",
            _SPIRIT,
            Demand.LESS_SPIRIT,
            "choose anew what to reserve Spirit for",
            Details(local=True),
        ),
        advice(
            "fewer_spirit_skills", _SPIRIT, Demand.LESS_SPIRIT, f"keep {-free:.0f} Spirit free", Details(over=-free)
        ),
    ]
    message = f"{have - free:.0f} Spirit is reserved, the build has {have:.0f}."
    message += " The sceptre of the other weapon set may pay for it: the engine counts one set." if is_shared else ""
    kind = ConflictType.SPIRIT_OVERFLOW
    evidence = Evidence(required=have - free, available=have, unit="Spirit")
    return [conflict(kind, Severity.WARNING if is_shared else Severity.BLOCKING, "spirit", message, ways, evidence)]


TRIFLE = 0.5
"""Points per second that nobody notices missing: rounded, less reads as nothing."""

LONG_S = 180.0
"""Seconds of uninterrupted use from which on nobody runs dry in a fight."""


@dataclass(frozen=True)
class Budget:
    """What the main skill costs and what pays for it, of one resource.

    `cost`, `recovery`: per second of continuous use; `pool`: unreserved; `flask`: what a full flask gives back in all.
    Recovery counts regeneration, leech and gain on hit, as the engine measures them: below 0 where more drains away.
    Recoup and kills do not count.
    """

    resource: str
    cost: float
    recovery: float
    pool: float
    flask: float

    @property
    def drain(self) -> float:
        """Points per second that recovery does not pay; negative when it pays more."""
        return self.cost - self.recovery

    @property
    def lasts_s(self) -> float:
        """Seconds of continuous use until pool and flask are empty; infinite when recovery pays."""
        return float("inf") if self.drain <= 0 else (self.pool + self.flask) / self.drain


def budgets(case: Case) -> list[Budget]:
    """Return what the main skill costs in mana and in life; a resource without a cost is left out."""
    found = [_budget(case, "mana", "Mana", "ManaLeechGainRate"), _budget(case, "life", "Life", "LifeLeechGainRate")]
    return [budget for budget in found if budget.cost > 0]


def _budget(case: Case, resource: str, key: str, leech: str) -> Budget:
    pool = max(0.0, case.stats.get(f"{key}Unreserved", case.stats.get(key)))
    return Budget(
        resource=resource,
        cost=case.stats.get(f"{key}PerSecondCost"),
        recovery=case.stats.get(f"{key}RegenRecovery") + case.stats.get(leech),
        pool=pool if resource == "mana" or case.imported else 0.0,  # to pay with life is its owner's own choice
        flask=_flask_total(case, resource),
    )


def _flask_total(case: Case, resource: str) -> float:
    """Return what all charges of the worn mana flask recover; a life flask is for staying alive and never counts."""
    item = case.blueprint.items.get(MANA_FLASK)
    base = case.bases.get(item.base) if item is not None else None
    if item is None or base is None or resource != "mana":
        return 0.0
    return base.mana_in_flask(item.quality)


def main_skill_sustained(case: Case) -> list[BuildConflict]:
    """The main skill can be used once, and goes on: recovery pays for it, or mana pool and flask last 20 s.

    One use above the pool, or a life cost that kills within a few uses, is blocking. Short of recovery, less than 20 s
    is blocking, more is a warning and `LONG_S` is no problem. Life costs must be
    recovered in full; somebody's own character may pay them from the pool.
    """
    broke = unpayable(case.stats.values)
    known = {cost.resource for cost in broke}
    short = [budget for budget in budgets(case) if budget.drain >= TRIFLE and budget.resource not in known]
    return [
        *(_unpayable(case, cost) for cost in broke),
        *(_unsustained(case, budget) for budget in short if budget.lasts_s < LONG_S),
    ]


def _unpayable(case: Case, cost: Cost) -> BuildConflict:
    of_life = f", and at most {MOST_LIFE_PER_USE:.0%} of it is safe to spend at once" if cost.resource == "life" else ""
    message = (
        f"{case.main_skill} cannot be used: one use costs {cost.cost:.0f} {cost.resource}, "
        f"the build has {cost.pool:.0f}{of_life}."
    )
    values = Details(resource=cost.resource, missing=cost.cost - cost.most)
    suggestions = [
        advice("cheaper_supports", _SUSTAIN, Demand.CHEAPER_SKILL, "use supports that cost less", values),
        advice("more_recovery", _SUSTAIN, Demand.MORE_RECOVERY, f"a larger pool of {cost.resource}", values),
        advice("other_skill", _DELIVERY, Demand.CHEAPER_SKILL, "use a cheaper main skill", values),
    ]
    evidence = Evidence(required=cost.cost, available=cost.most, unit=f"{cost.resource} for one use")
    return conflict(ConflictType.SUSTAIN_GAP, Severity.BLOCKING, cost.resource, message, suggestions, evidence)


def _unsustained(case: Case, budget: Budget) -> BuildConflict:
    enough = budget.lasts_s >= FIGHT_S
    missing = budget.cost - budget.recovery
    values = Details(resource=budget.resource, missing=missing)
    choice = case.choices.get(_SUSTAIN)
    cheaper_tried = isinstance(choice, SustainChoice) and choice.prefer_cheaper_supports
    suggestions = [
        advice(
            "more_recovery",
            _SUSTAIN,
            Demand.MORE_RECOVERY,
            f"{missing:.0f} more {budget.resource} per second",
            values,
        ),
        advice("cheaper_supports", _SUSTAIN, Demand.CHEAPER_SKILL, "use supports that cost less", values),
        advice("other_skill", _DELIVERY, Demand.CHEAPER_SKILL, "use a cheaper main skill", values),
    ]
    if cheaper_tried:
        suggestions.pop(1)
    if slots := slots_with_room(case):
        refill = changed(values, slots=slots, local=True)
        suggestions.insert(0, advice("refill_items", _SUSTAIN, Demand.MORE_RECOVERY, filling(slots), refill))
    lasts = f"; pool and flask last {budget.lasts_s:.0f} s" if budget.resource == "mana" else ""
    message = (
        f"{case.main_skill} costs {budget.cost:.0f} {budget.resource} per second, "
        f"{budget.recovery:.0f} are recovered{lasts}."
    )
    return conflict(
        ConflictType.SUSTAIN_GAP,
        Severity.WARNING if enough else Severity.BLOCKING,
        budget.resource,
        message,
        suggestions,
        Evidence(
            required=budget.cost,
            available=budget.recovery,
            unit=f"{budget.resource} per second",
            lasts_s=round(budget.lasts_s, 1),
            must_last_s=FIGHT_S,
        ),
    )
