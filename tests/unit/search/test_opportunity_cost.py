"""What one more unit of a budget is worth: told for what the question is about, or for what else it helps."""

from __future__ import annotations

from app.model.experiments import Spending
from app.model.stats import DPS, EHP
from app.search.opportunity_cost import NextBest, with_marginals

JEWELS = Spending(budget="jewel_sockets", spent=2)


def told(*values: NextBest, metric: str = DPS) -> tuple[str | None, float | None, str]:
    [row] = with_marginals([JEWELS], {"jewel_sockets": values}, metric)
    return row.metric, row.marginal, row.next_best


def test_what_gains_most_in_the_metric_is_told() -> None:
    weak, strong = NextBest("Ruby", damage=0.01, life=0.5), NextBest("Emerald", damage=0.02, life=0.0)
    assert told(weak, strong) == (DPS, 0.02, "Emerald")
    assert told(weak, strong, metric=EHP) == (EHP, 0.5, "Ruby")


def test_gains_count_per_unit_and_equal_ones_by_name() -> None:
    herald, aura = (NextBest(name, damage=0.04, life=0.0, units=30) for name in ("Herald", "Aura"))
    assert told(herald, aura) == (DPS, round(0.04 / 30, 6), "Aura")


def test_what_helps_only_otherwise_is_not_told_as_worth_nothing() -> None:
    assert told(NextBest("Ruby", damage=0.0, life=0.018)) == (EHP, 0.018, "Ruby")
    assert told(NextBest("Emerald", damage=0.02, life=-0.1), metric=EHP) == (DPS, 0.02, "Emerald")


def test_where_nothing_gains_nothing_is_bought() -> None:
    assert told() == (DPS, 0.0, "")
    assert with_marginals([JEWELS], {}, DPS) == [JEWELS], "not measured"
