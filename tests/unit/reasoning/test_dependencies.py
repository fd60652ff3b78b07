"""Which question waits for which."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.model.names import SubProblemName
from app.model.sub_problems import without_cycles
from app.reasoning.questions import dependencies_for

Q = SubProblemName


@pytest.mark.parametrize("ascendancy_named", [True, False])
@pytest.mark.parametrize("skill_named", [True, False])
def test_no_question_waits_in_a_circle(ascendancy_named: bool, skill_named: bool) -> None:
    waits = dependencies_for(ascendancy_named=ascendancy_named, skill_named=skill_named)

    assert set(waits) == set(Q)
    assert without_cycles(waits) == (waits, [])


def test_the_skill_follows_the_ascendancy_only_when_that_alone_was_named() -> None:
    assert dependencies_for(ascendancy_named=True, skill_named=False)[Q.DAMAGE_DELIVERY] == [Q.ASCENDANCY]
    assert dependencies_for(ascendancy_named=False, skill_named=False)[Q.ASCENDANCY] == [Q.DAMAGE_DELIVERY]


def test_a_cycle_is_broken_at_the_member_with_the_fewest_dependants() -> None:
    waits = {
        Q.ASCENDANCY: [Q.DAMAGE_DELIVERY],
        Q.DAMAGE_DELIVERY: [Q.ASCENDANCY],
        Q.DAMAGE_SCALING: [Q.ASCENDANCY],
        Q.SURVIVABILITY: [],
    }
    free, broken = without_cycles(waits)

    assert free[Q.DAMAGE_DELIVERY] == []
    assert free[Q.ASCENDANCY] == [Q.DAMAGE_DELIVERY]
    assert broken == ["damage_delivery is answered before ascendancy, although each waits for the other."]


def test_a_question_that_waits_for_itself_is_freed() -> None:
    free, broken = without_cycles({Q.ASCENDANCY: [Q.ASCENDANCY]})

    assert free == {Q.ASCENDANCY: []}
    assert len(broken) == 1


@given(st.dictionaries(st.sampled_from(list(Q)), st.lists(st.sampled_from(list(Q)), unique=True), max_size=7))
def test_nothing_waits_for_itself_in_the_end(waits: dict[SubProblemName, list[SubProblemName]]) -> None:
    free, _ = without_cycles(waits)

    done: set[SubProblemName] = set(Q) - set(free)
    while ready := {name for name in free.keys() - done if set(free[name]) <= done}:
        done |= ready
    assert done == set(Q)
    assert all(set(free[name]) <= set(waits[name]) for name in waits)
