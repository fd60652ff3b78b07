"""The knowledge files agree with themselves and with our own rules (Path of Building's facts: tests/pob)."""

from __future__ import annotations

from itertools import groupby

from app.conflicts.roots import with_causes
from app.core.config import resource_dir
from app.model.conflicts import BuildConflict
from app.model.demands import floors_for
from app.model.names import ConflictType, Demand, GearTier, Severity, SubProblemName
from app.reasoning.questions import dependencies_for
from tests.knowledge import FILES, knowledge, numbers, rows, strategies

MAX_BYTES = 16_000
"""A prompt carries several of these files; more than this each is not worth its tokens."""


def test_every_file_is_listed_and_says_what_it_was_checked_against() -> None:
    found = sorted(path.name for path in resource_dir("domain").glob("*.md") if path.name != "README.md")
    assert found == sorted(FILES)
    for name in FILES:
        file = knowledge(name)
        assert (file.header["pob_version"], file.header["tree"]) == ("0.20.0", "0_5"), name
        assert 1_500 < len(file.body.encode()) < MAX_BYTES, name


def test_what_is_checked_is_what_is_said() -> None:
    """A check names the words it is about, and they hold the number."""
    seen = 0
    for name in FILES:
        file = knowledge(name)
        for check in file.checks:
            assert check["text"] in file.body, f"{name}: {check['text']}"
            said = numbers(check["text"])
            for value in check["is"] if isinstance(check["is"], list) else [check["is"]]:
                forms = {value, -value, round(value * 100, 6)}
                assert forms & set(said), f"{name}: {check}"
                seen += 1
    assert seen > 50


def test_gear_tiers_are_ours() -> None:
    found = {row["Gear tier"]: row for row in rows("Gear tier", "Affixes per item")}
    assert set(found) == set(GearTier)
    for tier in GearTier:
        limits = floors_for(100, tier).gear
        own = [float(found[tier][c]) for c in ("Affixes per item", "Highest affix level", "Uniques")]
        assert own == [limits.max_affixes, limits.max_affix_level, limits.max_uniques]


def test_floors_are_ours() -> None:
    table = rows("Level", "Gear tier", "Least DPS")
    assert {row["Gear tier"] for row in table} == set(GearTier)
    for row in table:
        floors = floors_for(int(row["Level"]), GearTier(row["Gear tier"]))
        for name, floor in (
            ("DPS", floors.dps),
            ("EHP", floors.ehp),
            ("physical hit", floors.physical_hit),
            ("elemental hit", floors.elemental_hit),
            ("recovery", floors.recovery),
        ):
            assert (float(row[f"Least {name}"]), float(row[f"Good {name}"])) == (floor.least, floor.good)


def test_points_are_ours() -> None:
    text = knowledge("solution-budgets.md").body
    assert f"{floors_for(90, GearTier.MID).passive_points} at level 90" in text
    assert f"{floors_for(100, GearTier.MID).passive_points} at most" in text
    for level, points in ((25, 2), (45, 4), (65, 6), (75, 8)):
        assert floors_for(level, GearTier.MID).ascendancy_points == points
        assert floors_for(level - 1, GearTier.MID).ascendancy_points < points
    assert "2 at level 25, 4 at 45, 6 at 65, 8 at 75" in text


def test_dependencies_are_those_of_the_rules() -> None:
    usual = dependencies_for(ascendancy_named=False, skill_named=False)
    table = {row["Question"]: row["Waits for"] for row in rows("Question", "Waits for")}
    assert set(table) == {name.value for name in SubProblemName}
    for name, waits in usual.items():
        said = [] if table[name] == "none" else table[name].split(", ")
        assert sorted(said) == sorted(wait.value for wait in waits), name


def test_what_opens_with_an_answer_is_what_waits_for_it() -> None:
    usual = dependencies_for(ascendancy_named=False, skill_named=False)
    opens = {row["Changed"]: row["Opens"].replace(" (unless named)", "").split(", ") for row in rows("Changed")}
    followers = {of: sorted(name.value for name, waits in usual.items() if of in waits) for of in SubProblemName}
    assert sorted(opens["main skill"]) == followers[SubProblemName.DAMAGE_DELIVERY]
    weapon = [name for name in followers[SubProblemName.DAMAGE_DELIVERY] if name != SubProblemName.ASCENDANCY]
    assert sorted(opens["weapon or off hand only"]) == weapon
    assert sorted(opens["class or ascendancy"]) == followers[SubProblemName.ASCENDANCY]
    assert sorted(opens["pool or layers"]) == followers[SubProblemName.SURVIVABILITY]


def test_ways_out_are_those_of_the_rules() -> None:
    """Each way out in the table is offered by a rule, with that question and demand."""
    known = set(strategies())
    seen = 0
    for row in rows("Conflict", "Ways out"):
        assert row["Conflict"] in set(ConflictType)
        for part in row["Ways out"].split("), "):
            strategy, _, rest = part.rstrip(")").partition(" (")
            question, demand = rest.split(", ")
            assert (strategy, SubProblemName(question), Demand(demand)) in known, part
            seen += 1
    assert seen > 15


def test_causes_are_those_of_the_rules() -> None:
    """What a type of conflict can bring about, over all kinds of evidence it may carry."""
    table = {row["Cause"]: sorted(row["Brings about"].split(", ")) for row in rows("Cause", "Brings about")}
    own = {kind.value: sorted(_effects(kind)) for kind in ConflictType}
    assert table == {kind: effects for kind, effects in own.items() if effects}


def _effects(kind: ConflictType) -> set[str]:
    evidence: list[dict[str, str]] = [{}, {"slot": "Weapon 1"}, {"slot": "Helmet"}]
    evidence += [{"source": "Weapon 1: Wooden Club"}, {"source": "Helmet: Felt Cap"}]
    causes = [_conflict(kind, subject, carried) for carried in evidence for subject in ("x", "unconnected")]
    others = [_conflict(other, "y", {}) for other in ConflictType if other is not kind]
    return {c.type.value for cause in causes for c in with_causes([cause, *others]) if _blames(c, cause)}


def _blames(conflict: BuildConflict, cause: BuildConflict) -> bool:
    return cause.id in {found.conflict_id for found in conflict.causes}


def _conflict(kind: ConflictType, subject: str, evidence: dict[str, str]) -> BuildConflict:
    return BuildConflict(
        id=f"{kind.value}:{subject}",
        type=kind,
        severity=Severity.BLOCKING,
        subject=subject,
        affected=[SubProblemName.DAMAGE_DELIVERY],
        evidence=evidence,
    )


def test_tables_have_no_double_rows() -> None:
    for column in ("Skill", "Spirit skill", "Unique", "Keystone", "Class", "Conflict"):
        names = sorted(row[column] for row in rows(column))
        doubled = [name for name, group in groupby(names) if len(list(group)) > 1]
        assert names, column
        assert not doubled, column
