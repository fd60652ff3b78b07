"""Trees on paper: what is bought, given back and traded, by vectors that are written down by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.model.demands import floors_for
from app.model.facts import NodeFact
from app.model.names import Attribute, GearTier
from app.model.stats import ATTRIBUTE_METRICS, DPS
from app.search.objective import METRICS, Guard, Objective
from app.search.passives.effects import Entries, Vector, outputs_of, plus, short_attribute, vector_of, zero_of
from app.search.passives.graph import PassiveGraph
from app.search.passives.planner import LARGEST_BRANCH, Planner, TreeDraft
from tests.fakes.arithmetic import node

AT = METRICS.index(DPS)
ZERO = zero_of(METRICS)
FORK = [
    node(1, 2, 5, 8, kind="start"),
    node(2, 3),
    node(3, 4),
    node(4, kind="notable"),
    node(5, 6),
    node(6, 7),
    node(7, kind="notable"),
    node(8),
]
"""Two arms of three points, and one passive beside the start."""

WORTH = {4: 6.0, 5: 0.5, 7: 5.0, 8: 0.4}


def worth(amount: float) -> Vector:
    return (*ZERO[:AT], amount, *ZERO[AT + 1 :])


class Known:
    """Effects that were measured long ago; passives without one do nothing, attribute passives what is asked."""

    metrics = METRICS

    def __init__(self, effects: Mapping[int, float], attributes: Mapping[Attribute, float] | None = None) -> None:
        self._effects = effects
        self._attributes = attributes or {}
        self._entries: dict[tuple[int, Attribute | None], Entries] = {}

    def entries(self, node: int, attribute: Attribute | None = None) -> Entries | None:
        found = tuple((at, value) for at, value in enumerate(self.of(node, attribute) or ()) if value)
        return self._entries.setdefault((node, attribute), found)

    def of(self, node: int, attribute: Attribute | None = None) -> Vector | None:
        return worth(self._effects.get(node, 0.0) if attribute is None else self._attributes[attribute])

    def option(self, attribute: Attribute) -> Vector | None:
        return worth(self._attributes[attribute]) if attribute in self._attributes else None

    def is_target(self, node: int) -> bool:
        return True


def planner_of(nodes: list[NodeFact], effects: Any, **more: Any) -> Planner:
    return Planner(PassiveGraph(nodes, [1]), effects, lambda vector: vector[AT], **more)


def begun(planner: Planner, owned: set[int], attributes: Mapping[int, Attribute] | None = None) -> TreeDraft:
    """Return the draft of the tree whose passives do what is known of them."""
    given_now = attributes or {}
    return planner.begin(frozenset(owned), given_now, planner.vector_of(owned, given_now))


def test_points_go_where_each_brings_most() -> None:
    planner = planner_of(FORK, Known(WORTH))
    steps = planner.grown(begun(planner, set()), 7)
    assert [sorted(step.owned) for step in steps[:2]] == [[2, 3, 4], [2, 3, 4, 5, 6, 7]]
    assert steps[-1].owned == set(range(2, 9))
    assert steps[-1].score == pytest.approx(sum(WORTH.values()))


def test_no_more_points_are_spent_than_there_are() -> None:
    planner = planner_of(FORK, Known(WORTH))
    assert sorted(planner.grown(begun(planner, set()), 2)[-1].owned) == [5, 8]
    assert planner.grown(begun(planner, set()), 0) == []


def test_what_is_banned_is_never_bought_nor_walked_through() -> None:
    planner = planner_of(FORK, Known(WORTH), banned=frozenset({3}))
    assert planner.grown(begun(planner, set()), 7)[-1].owned == {2, 5, 6, 7, 8}


def test_branches_are_given_back_cheapest_per_point_first() -> None:
    planner = planner_of(FORK, Known(WORTH))
    branches = planner.branches(begun(planner, {2, 3, 4, 8}))
    assert [(sorted(b.nodes), round(b.loss, 9)) for b in branches] == [
        ([8], 0.4),
        ([2, 3, 4], 2.0),
        ([3, 4], 3.0),
        ([4], 6.0),
    ]


def test_a_trade_gives_back_no_more_than_it_costs_where_nothing_takes_the_rest() -> None:
    """The cheapest passive is freed first, then an arm that pays for the route alone; no point more could be spent."""
    start = node(1, 2, 3, 6, kind="start")
    nodes = [start, node(2), node(3, 4), node(4, 5), node(5), node(6, 7), node(7, 8), node(8, kind="notable")]
    planner = planner_of(nodes, Known({2: 0.1, 5: 0.6, 8: 6.0}))
    assert planner.trades(begun(planner, {2, 3, 4, 5}))[0].owned == {2, 6, 7, 8}


def test_fixed_passives_and_what_leads_to_them_are_no_branch() -> None:
    planner = planner_of(FORK, Known(WORTH), fixed=frozenset({3}))
    assert [sorted(b.nodes) for b in planner.branches(begun(planner, {2, 3, 4, 8}))] == [[8], [4]]


def test_long_branches_are_given_back_from_their_end() -> None:
    line = [node(n, n + 1, kind="start" if n == 1 else "normal") for n in range(1, 2 * LARGEST_BRANCH)]
    planner = planner_of(line, Known({}))
    owned = set(range(2, 2 * LARGEST_BRANCH))
    assert max(len(b.nodes) for b in planner.branches(begun(planner, owned))) == LARGEST_BRANCH


def test_shrinking_costs_least() -> None:
    planner = planner_of(FORK, Known(WORTH))
    draft = begun(planner, set(range(2, 9)))
    assert planner.shrunk(draft, 1).owned == draft.owned - {8}
    assert planner.shrunk(draft, 4).owned == {2, 3, 4}
    assert planner.shrunk(draft, 100).owned == set()


def test_a_trade_costs_what_the_tree_cost_before() -> None:
    planner = planner_of(FORK, Known(WORTH))
    draft = begun(planner, {5, 6, 7})
    trades = planner.trades(draft)
    assert sorted(trades[0].owned) == [2, 3, 4]
    assert {len(trade.owned) for trade in trades} == {3}
    assert [trade.score for trade in trades] == sorted((trade.score for trade in trades), reverse=True)


def test_trading_goes_on_until_nothing_helps() -> None:
    planner = planner_of(FORK, Known(WORTH))
    chain = planner.traded(begun(planner, {5, 6, 7}), 10)
    assert [sorted(step.owned) for step in chain] == [[2, 3, 4]]
    assert planner.traded(chain[-1], 10) == []


def test_a_route_is_not_paid_with_what_it_stands_on() -> None:
    nodes = [node(1, 2, 4, kind="start"), node(2, 3), node(3), node(4)]
    planner = planner_of(nodes, Known({3: 1.0, 4: 0.1}))
    assert [sorted(trade.owned) for trade in planner.trades(begun(planner, {2, 4}))] == [[2, 3]]


def test_points_left_over_by_a_trade_are_spent_beside_the_tree() -> None:
    nodes = [node(1, 2, 4, 5, kind="start"), node(2, 3), node(3), node(4), node(5)]
    planner = planner_of(nodes, Known({3: 1.0, 4: 5.0, 5: 0.3}))
    # 4 costs one point, the branch of 2 and 3 frees two
    planner.fixed = frozenset()
    best = planner.trades(begun(planner, {2, 3}))[0]
    assert sorted(best.owned) == [4, 5]
    assert best.score == pytest.approx(5.3)


GIVEN = {Attribute.STRENGTH: 0.1, Attribute.DEXTERITY: 0.3, Attribute.INTELLIGENCE: 0.2}
TRAVEL = [node(1, 2, kind="start"), node(2, 3, kind="attribute"), node(3, kind="notable")]


def test_attribute_passives_give_what_is_wanted_most() -> None:
    planner = planner_of(TRAVEL, Known({3: 1.0}, GIVEN))
    grown = planner.grown(begun(planner, set()), 2)[-1]
    assert grown.attributes == {2: Attribute.DEXTERITY}
    assert grown.score == pytest.approx(1.3)


def test_an_attribute_may_be_switched_instead_of_traded() -> None:
    planner = planner_of(TRAVEL, Known({3: 1.0}, GIVEN))
    draft = begun(planner, {2, 3}, {2: Attribute.STRENGTH})
    (best,) = planner.trades(draft)
    assert (best.owned, best.attributes) == (draft.owned, {2: Attribute.DEXTERITY})
    assert best.score - draft.score == pytest.approx(0.2)


def test_a_fixed_attribute_passive_is_not_switched() -> None:
    planner = planner_of(TRAVEL, Known({3: 1.0}, GIVEN), fixed=frozenset({2, 3}))
    assert planner.trades(begun(planner, {2, 3}, {2: Attribute.STRENGTH})) == []


class Points(Known):
    """Attribute passives give five points of what they are chosen for."""

    def of(self, node: int, attribute: Attribute | None = None) -> Vector | None:
        return super().of(node) if attribute is None else points(attribute, 5.0)

    def option(self, attribute: Attribute) -> Vector | None:
        return points(attribute, 5.0)


def points(attribute: Attribute, amount: float) -> Vector:
    at = METRICS.index(ATTRIBUTE_METRICS[attribute])
    return (*ZERO[:at], amount, *ZERO[at + 1 :])


FLOORS = floors_for(50, GearTier.MID)
NEEDED = Objective(FLOORS, guards=frozenset(), minima={"Str": 5.0})
CHOICE = [
    node(1, 2, 3, 5, kind="start"),
    node(2, kind="attribute"),
    node(3, 4, kind="attribute"),
    node(4, kind="notable"),
    node(5),
]
"""An attribute passive beside the start, another on the way to a notable, and a passive beside the start."""


def needing(objective: Objective, fixed: frozenset[int] = frozenset()) -> Planner:
    """Return a planner for whom damage counts, and strength that is lacking."""
    at = METRICS.index(ATTRIBUTE_METRICS[Attribute.STRENGTH])
    planner = planner_of(CHOICE, Points({4: 3.0, 5: 1.0}), short=partial(short_attribute, objective), fixed=fixed)
    return replace(planner, score=lambda vector: vector[AT] - max(0.0, 5.0 - vector[at]))


def test_a_trade_that_takes_a_needed_attribute_away_chooses_it_elsewhere() -> None:
    held = {2: Attribute.STRENGTH, 3: Attribute.INTELLIGENCE}
    planner = needing(NEEDED)
    best = planner.trades(begun(planner, {2, 3, 4}, held))[0]
    assert (sorted(best.owned), best.attributes) == ([3, 4, 5], {3: Attribute.STRENGTH})
    assert best.score == pytest.approx(4.0)


def test_a_fixed_passive_gives_what_it_gave_though_that_is_short() -> None:
    planner = needing(NEEDED, frozenset({3}))
    draft = begun(planner, {2, 3, 4}, {2: Attribute.STRENGTH, 3: Attribute.INTELLIGENCE})
    assert planner.traded(draft, 5) == []


def test_attributes_are_left_alone_where_none_is_short() -> None:
    planner = needing(replace(NEEDED, minima={}))
    draft = begun(planner, {2, 3, 4}, {2: Attribute.STRENGTH, 3: Attribute.INTELLIGENCE})
    assert planner.settled(draft) is draft


@pytest.mark.parametrize(
    ("objective", "there", "short"),
    [
        (Objective(FLOORS, minima={"Str": 20.0, "Dex": 30.0}), {}, Attribute.DEXTERITY),
        (Objective(FLOORS, minima={"Str": 20.0, "Dex": 30.0}), {"Dex": 30.0}, Attribute.STRENGTH),
        (Objective(FLOORS, minima={"Str": 20.0}), {"Str": 20.0}, None),
        (Objective(FLOORS, required={Attribute.INTELLIGENCE: 9.0}), {"Int": 8.0}, Attribute.INTELLIGENCE),
        (Objective(FLOORS), {"ReqInt": 9.0, "Int": 8.0}, Attribute.INTELLIGENCE),
        (Objective(FLOORS).without(Guard.ATTRIBUTES), {"ReqInt": 9.0, "Int": 8.0}, None),
    ],
)
def test_an_attribute_is_short_by_minima_requirements_and_items(
    objective: Objective, there: Mapping[str, float], short: Attribute | None
) -> None:
    assert short_attribute(objective, vector_of(there)) is short


def test_on_paper_a_build_is_worth_what_it_is_measured_to_be_also_without_mana() -> None:
    """A cost of nothing once read as a small cost, which no mana pays: giving Blood Magic back looked like a gain."""
    unpaid = dict.fromkeys(("Mana", "ManaUnreserved", "ManaRegenRecovery", "ManaLeechGainRate"), 0.0)
    for cost in (0.0, 5.0):
        outputs = {**dict.fromkeys(METRICS, 100.0), **unpaid, "ManaPerSecondCost": cost}
        assert Objective(FLOORS).score(outputs_of(vector_of(outputs))) == pytest.approx(
            Objective(FLOORS).score(outputs)
        )


def test_what_was_measured_together_corrects_drafts_that_hold_it() -> None:
    planner = planner_of(FORK, Known(WORTH))
    base = begun(planner, {5, 6, 7})
    promised = planner.trades(base)[0]
    planner.correct(promised, worth(promised.score - 4.0))
    again = planner.draft(promised.owned, promised.attributes, promised.plain)
    assert again.score == pytest.approx(promised.score - 4.0)
    assert planner.traded(base, 10) == [], "it is not tried again"
    assert planner.without(base, frozenset({7})).score == pytest.approx(base.score - 5.0), (
        "another tree is not corrected"
    )


def test_corrections_are_forgotten_with_the_tree_they_are_about() -> None:
    planner = planner_of(FORK, Known(WORTH))
    promised = planner.trades(begun(planner, {5, 6, 7}))[0]
    planner.correct(promised, worth(0.0))
    begun(planner, {5, 6, 7})
    assert planner.corrections
    begun(planner, {2, 3, 4})
    assert not planner.corrections


def test_the_halves_of_a_trade_are_its_two_sides_alone() -> None:
    planner = planner_of(FORK, Known(WORTH))
    base = begun(planner, {5, 6, 7})
    without, more = planner.halves(base, planner.trades(base)[0])
    assert not without.owned
    assert more.owned == {2, 3, 4, 5, 6, 7}
    assert [without.score, more.score] == pytest.approx([0.0, 11.5])
    assert planner.halves(base, base) == []


def test_a_passive_is_worth_what_is_lost_without_it() -> None:
    planner = planner_of(FORK, Known(WORTH))
    assert planner.worth_of(begun(planner, {5, 6, 7}), 7) == pytest.approx(5.0)


EFFECTS = st.dictionaries(st.integers(2, 8), st.floats(0.0, 10.0), max_size=7)
OWNED = st.sampled_from([{2}, {2, 3}, {2, 3, 4}, {5, 6, 8}, {2, 5, 8}, {2, 3, 5, 6}])


@given(EFFECTS, OWNED, st.sampled_from([frozenset(), frozenset({3}), frozenset({8})]))
def test_a_chain_of_trades_rises_and_stays_whole(
    effects: dict[int, float], owned: set[int], banned: frozenset[int]
) -> None:
    planner = planner_of(FORK, Known(effects), banned=banned - owned)
    score = begun(planner, owned).score
    for step in planner.traded(begun(planner, owned), 8):
        assert step.score > score
        assert len(step.owned) == len(owned)
        assert planner.graph.connected(step.owned) == step.owned
        assert not step.owned & planner.banned
        assert step.vector == pytest.approx(planner.vector_of(step.owned, {}))
        score = step.score


def test_vectors_add_up() -> None:
    planner = planner_of(FORK, Known(WORTH))
    assert planner.vector_of({4, 7}, {}) == plus(worth(6.0), worth(5.0))
