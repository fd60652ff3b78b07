"""The cheapest repair first: what a conflict names is mended, and only then is anything made anew."""

from __future__ import annotations

from app.conflicts.items import slots_with_room
from app.conflicts.requirements import holds_what_was_decided, main_skill_usable
from app.model.blueprint import AffixRoll, GearItem
from app.model.conflicts import BuildConflict, Details, Suggestion
from app.model.facts import BaseFact
from app.model.names import ConflictType, Demand, Role, Severity, SubProblemName
from app.model.state import BuildState
from app.model.sub_problems import Constraint, DeliveryChoice, SubProblem
from app.phases.iterate import least_disruptive
from app.search.passives.graph import PassiveGraph
from app.search.stages.repair import Damage, newest, reconnected
from app.search.stages.table import STAGES, repairs_for
from tests.fakes.arithmetic import node
from tests.unit.conflicts.conftest import MakeCase, make_case

Q = SubProblemName
RING = BaseFact(name="Gold Ring", type="Ring", sub_type="", slots=["Ring 1", "Ring 2"])
WAND = BaseFact(name="Oak Wand", type="Wand", sub_type="", slots=["Weapon 1"])
BOW = BaseFact(name="Short Bow", type="Bow", sub_type="", slots=["Weapon 1"])


def pick(name: str, local: bool) -> tuple[BuildConflict, Suggestion]:
    way = Suggestion(
        strategy=name, sub_problem=Q.DAMAGE_SCALING, demand=Demand.FEWER_POINTS, values=Details(local=local)
    )
    kind, severity = ConflictType.TREE_OVERFLOW, Severity.BLOCKING
    found = BuildConflict(id=name, type=kind, severity=severity, role=Role.ROOT, affected=[way.sub_problem])
    return found, way


def constraint(
    iteration: int, local: bool = True, demand: Demand = Demand.REPLACE_ITEM, **values: object
) -> Constraint:
    known = Details.model_validate({**({"local": True} if local else {}), **values})
    return Constraint(conflict_id="c", demand=demand, values=known, iteration=iteration)


def test_repairs_come_alone() -> None:
    small, large = pick("small", local=True), pick("large", local=False)
    assert least_disruptive([large, small]) == [small]
    assert least_disruptive([large]) == [large]
    assert least_disruptive([]) == []


def test_a_repair_runs_its_own_stage_and_the_last() -> None:
    assert repairs_for(STAGES, [Demand.DROP_SUPPORT]) == ["supports", "finish"]
    assert repairs_for(STAGES, [Demand.FEWER_POINTS]) == ["mend_tree", "finish"]
    assert repairs_for(STAGES, [Demand.SPEND_POINTS]) == ["finish"]
    both = repairs_for(STAGES, [Demand.LESS_SPIRIT, Demand.MORE_RESISTANCE, Demand.REPLACE_ITEM])
    assert both == ["mend_gear", "spirit", "finish"]


def test_only_the_newest_constraints_are_mended() -> None:
    old, new, wide = constraint(1, slot="Helmet"), constraint(2, slot="Belt"), constraint(2, local=False)
    assert newest([old, new, wide]) == [new]
    sub = SubProblem(
        name=Q.STAT_REQUIREMENTS, constraints=[old, new, wide, Constraint(conflict_id="x", demand=old.demand)]
    )
    state = BuildState(sub_problems={Q.STAT_REQUIREMENTS: sub})
    assert state.demanded(2) == [new, wide]
    assert state.demanded(0) == []


def test_what_goes_and_what_has_room_are_told_apart() -> None:
    room = constraint(1, demand=Demand.MORE_RESISTANCE, slots=["Helmet", "Belt"])
    found = Damage.of([constraint(1, slot="Belt"), constraint(1, slot="Weapon 1"), room])
    assert found == Damage(frozenset({"Belt", "Weapon 1", "Weapon 2"}), frozenset({"Helmet"}))


def chain(last: int) -> PassiveGraph:
    """1 is the start, 2, 3 ... hang on each other, and 50-51 is another way from 2 to 4."""
    plain = [node(i, i + 1) for i in range(2, last)]
    return PassiveGraph([node(1, 2, kind="start"), *plain, node(last), node(50, 2, 51), node(51, 4)], [1])


def test_a_broken_path_is_joined_where_it_broke() -> None:
    graph = chain(12)
    owned = frozenset(range(2, 13))
    lost = frozenset(range(4, 13))
    assert reconnected(graph, owned - lost - {3}, lost) == owned


def test_what_is_not_worth_its_way_is_left_out() -> None:
    graph = chain(12)
    assert reconnected(graph, frozenset({2}), frozenset({12})) == {2}
    assert reconnected(graph, frozenset({2, 3}), frozenset()) == {2, 3}


def ring(slot: str = "Ring 1", prefixes: int = 3, suffixes: int = 2, **fields: object) -> GearItem:
    rolls = [AffixRoll(id=str(i)) for i in range(6)]
    item = GearItem(slot=slot, base="Gold Ring", prefixes=rolls[:prefixes], suffixes=rolls[3 : 3 + suffixes])
    return item.model_copy(update=fields)


def roomy(*items: GearItem) -> set[str]:
    """Return what has room among the slots that are worn."""
    return set(slots_with_room(make_case(items=list(items), bases=[RING]))) & {item.slot for item in items}


def test_room_is_where_an_affix_or_a_rune_is_missing() -> None:
    assert roomy(ring()) == set()
    assert roomy(ring(prefixes=1, suffixes=1)) == {"Ring 1"}, "gear of the tier has three lines"
    assert roomy(ring(rarity="NORMAL", prefixes=0, suffixes=0), ring("Ring 2")) == {"Ring 1"}
    assert roomy(ring(sockets=1, runes=["None"])) == {"Ring 1"}
    assert roomy(ring(sockets=1, runes=["Iron Rune"])) == set()
    assert roomy(ring(prefixes=0, rarity="UNIQUE")) == set()
    assert roomy(ring("Jewel 7", prefixes=0), ring("Charm 1", prefixes=0)) == set()


def test_empty_slots_have_room_once_there_is_gear() -> None:
    assert slots_with_room(make_case(items=[])) == []
    assert {"Flask 2", "Helmet", "Ring 2"} <= set(slots_with_room(make_case(items=[ring()], bases=[RING])))


def armed(case: MakeCase, base: str, skill: frozenset[str] = frozenset(), **inspection: object) -> list[BuildConflict]:
    choice = DeliveryChoice(skill_id="spark", skill_name="Spark", weapon_types=["Wand"])
    built = case(
        items=[GearItem(slot="Weapon 1", base=base)],
        bases=[WAND, BOW],
        choices={Q.DAMAGE_DELIVERY: choice},
        skill_weapons=skill,
        inspection=inspection,
    )
    return [*main_skill_usable(built), *holds_what_was_decided(built)]


def test_another_weapon_than_decided_is_exchanged_before_the_decision_is() -> None:
    assert armed(make_case, "Oak Wand") == []
    (found,) = armed(make_case, "Short Bow")
    assert found.type is ConflictType.CORE_ASSUMPTION_INVALIDATED
    assert [s.strategy for s in found.suggested_solutions] == ["planned_weapon", "fitting_weapon"]
    assert [s.local for s in found.suggested_solutions] == [True, False]


def test_an_unusable_skill_is_one_conflict_not_two() -> None:
    (found,) = armed(make_case, "Short Bow", disabled_reason="wrong weapon")
    assert [s.strategy for s in found.suggested_solutions] == ["planned_weapon", "fitting_weapon", "other_skill"]
    (held,) = armed(make_case, "Oak Wand", disabled_reason="wrong weapon")
    assert [s.strategy for s in held.suggested_solutions] == ["fitting_weapon", "other_skill"]
    assert held.id == found.id


def test_a_decision_that_the_skill_cannot_follow_binds_nobody() -> None:
    assert armed(make_case, "Short Bow", frozenset({"Bow"})) == []
