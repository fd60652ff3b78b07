"""A dozen conflict graphs by hand: who is a root, who a symptom, and what is left when a root is gone."""

from __future__ import annotations

import pytest

from app.conflicts.order import in_order
from app.conflicts.roots import chains, with_roles
from app.conflicts.table import related
from app.model.conflicts import BuildConflict, Cause
from app.model.names import ConflictType, Role, Severity, SubProblemName

T = ConflictType
Q = SubProblemName
ROOT, SYMPTOM = Role.ROOT, Role.SYMPTOM
GRAPHS: dict[str, tuple[dict[str, str], str, list[str]]] = {
    # name: ({conflict: its causes}, its roots, the ways from root to last symptom)
    "one alone": ({"a": ""}, "a", ["a"]),
    "two alone": ({"a": "", "b": ""}, "ab", ["a", "b"]),
    "chain": ({"a": "", "b": "a", "c": "b"}, "a", ["abc"]),
    "chain told backwards": ({"c": "b", "b": "a", "a": ""}, "a", ["abc"]),
    "diamond": ({"a": "", "b": "a", "c": "a", "d": "bc"}, "a", ["abd", "acd"]),
    "two roots, one symptom": ({"a": "", "b": "", "c": "ab"}, "ab", ["ac", "bc"]),
    "one root, two symptoms": ({"a": "", "b": "a", "c": "a"}, "a", ["ab", "ac"]),
    "two chains": ({"a": "", "b": "a", "c": "", "d": "c"}, "ac", ["ab", "cd"]),
    "circle of two": ({"a": "b", "b": "a"}, "a", ["ab"]),
    "circle of three": ({"a": "c", "b": "a", "c": "b"}, "a", ["abc"]),
    "circle behind a root": ({"r": "", "a": "rc", "b": "a", "c": "b"}, "r", ["rabc"]),
    "circle with a tail": ({"a": "b", "b": "a", "t": "b"}, "a", ["abt"]),
    "its own cause": ({"a": "a"}, "a", ["a"]),
    "a cause that is gone": ({"b": "a"}, "b", ["b"]),
}


def conflict(name: str, causes: str = "", affected: int = 1) -> BuildConflict:
    return BuildConflict(
        id=name,
        type=T.DAMAGE_GAP,
        severity=Severity.BLOCKING,
        affected=list(Q)[:affected],
        causes=[Cause(conflict_id=cause, because="by hand") for cause in causes],
    )


@pytest.mark.parametrize("name", GRAPHS)
def test_roots_and_chains(name: str) -> None:
    graph, roots, ways = GRAPHS[name]
    found = with_roles([conflict(key, causes) for key, causes in graph.items()])
    assert "".join(sorted(c.id for c in found if c.role is ROOT)) == roots
    assert ["".join(way) for way in chains(found)] == ways


def test_every_conflict_names_the_roots_it_goes_back_to() -> None:
    found = {c.id: c.roots for c in with_roles([conflict("a"), conflict("b"), conflict("c", "ab"), conflict("d", "c")])}
    assert found == {"a": ["a"], "b": ["b"], "c": ["a", "b"], "d": ["a", "b"]}


def test_a_circle_is_entered_where_fewest_questions_are_affected() -> None:
    found = with_roles([conflict("a", "b", affected=3), conflict("b", "a", affected=1)])
    assert {c.id: c.role for c in found} == {"a": SYMPTOM, "b": ROOT}


def test_a_symptom_that_outlives_its_root_is_a_root() -> None:
    before = with_roles([conflict("a"), conflict("b", "a")])
    after = with_roles(before[1:])
    assert [(c.id, c.role) for c in after] == [("b", ROOT)]


def test_roots_come_first_and_symptoms_get_no_attempt() -> None:
    found = with_roles([conflict("c", "b"), conflict("b", "a"), conflict("a")])
    assert [c.id for c in in_order(found)] == ["a"]


def typed(
    kind: ConflictType, subject: str = "", severity: Severity = Severity.BLOCKING, **evidence: object
) -> BuildConflict:
    return BuildConflict(
        id=f"{kind.value}:{subject}", type=kind, severity=severity, subject=subject, affected=[], evidence=evidence
    )


def test_an_unmet_attribute_of_the_weapon_explains_unusable_skill_and_missing_damage() -> None:
    need = typed(T.STAT_REQUIREMENT, "str", source="Weapon 1: Doom Mallet", required=120, available=80)
    skill, gap = typed(T.CORE_ASSUMPTION_INVALIDATED, "main_skill"), typed(T.DAMAGE_GAP, "dps")
    found = related([gap, skill, need])
    assert {c.id: c.role for c in found} == {need.id: ROOT, skill.id: SYMPTOM, gap.id: SYMPTOM}
    assert [need.id, skill.id, gap.id] in chains(found)
    why = {cause.conflict_id: cause for cause in found[0].causes}[need.id]
    assert why.because == "Weapon 1: Doom Mallet cannot be used"
    assert why.evidence.required == 120


def test_an_unmet_attribute_of_boots_does_not_explain_an_unusable_skill() -> None:
    need = typed(T.STAT_REQUIREMENT, "int", source="Boots: Dusk Trail")
    found = related([need, typed(T.CORE_ASSUMPTION_INVALIDATED, "main_skill"), typed(T.SURVIVABILITY_GAP, "ehp")])
    assert [c.role for c in found] == [ROOT, ROOT, SYMPTOM]


@pytest.mark.parametrize(
    ("cause", "effect"),
    [
        (typed(T.RESISTANCE_GAP, "cold"), T.SURVIVABILITY_GAP),
        (typed(T.ILLEGAL_ITEM, "x", slot="Weapon 1"), T.DAMAGE_GAP),
        (typed(T.ILLEGAL_ITEM, "x", slot="Ring 1"), T.RESISTANCE_GAP),
        (typed(T.GEAR_SLOT_CONTENTION, "Ring 1", slot="Ring 1"), T.RESISTANCE_GAP),
        (typed(T.INEFFECTIVE_SUPPORT, "1 Martial Tempo"), T.DAMAGE_GAP),
        (typed(T.ATTRIBUTE_SQUEEZE, "int"), T.DAMAGE_GAP),
        (typed(T.TREE_OVERFLOW, "unconnected"), T.STAT_REQUIREMENT),
        (typed(T.CORE_ASSUMPTION_INVALIDATED, "main_skill"), T.SUSTAIN_GAP),
    ],
)
def test_what_brings_about_what(cause: BuildConflict, effect: ConflictType) -> None:
    assert [c.role for c in related([cause, typed(effect, "effect")])] == [ROOT, SYMPTOM]


@pytest.mark.parametrize(
    ("cause", "effect"),
    [
        (typed(T.ILLEGAL_ITEM, "x", slot="Charm 1"), T.DAMAGE_GAP),
        (typed(T.TREE_OVERFLOW, "unspent"), T.DAMAGE_GAP),
        (typed(T.SPIRIT_OVERFLOW, "spirit"), T.DAMAGE_GAP),
        (typed(T.RESISTANCE_GAP, "cold", Severity.WARNING), T.SURVIVABILITY_GAP),
    ],
)
def test_what_does_not(cause: BuildConflict, effect: ConflictType) -> None:
    assert [c.role for c in related([cause, typed(effect, "effect")])] == [ROOT, ROOT]
