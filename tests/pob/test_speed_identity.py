"""What makes what-ifs quick changes no number: each equals Path of Building's own calculator, to the last digit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from app.engine.pob.backend import PobBackend
from tests.conftest import DEEP
from tests.pob.conftest import Child, Facts, rare

pytestmark = pytest.mark.pob

UNSTABLE = ("AreaOfEffectRadius", "Spec:")
EACH = 3
"""Candidates of one kind that are tried per build."""


def _spread(found: list[Any]) -> list[Any]:
    return found[:: max(1, len(found) // EACH)][:EACH]


def _passives(facts: Facts, blueprint: dict[str, Any]) -> list[list[dict[str, Any]]]:
    held = {node["id"] for node in blueprint["nodes"]} & facts.nodes.keys()
    near = sorted({n for node in held for n in facts.nodes[node]["neighbours"] if n in facts.nodes} - held)
    far = sorted({n for node in near for n in facts.nodes[node]["neighbours"] if n in facts.nodes} - held - {*near})
    taken = [node for node in [*near, *far] if facts.nodes[node]["kind"] != "start"]
    added = [[{"op": "allocate", "nodes": [facts.wish(node)]}] for node in _spread(taken)]
    paths = [
        [{"op": "allocate", "nodes": [facts.wish(a), facts.wish(b)]}]
        for a, b in zip(_spread(near), _spread(far), strict=False)
    ]
    gone = [[{"op": "deallocate", "nodes": [node]}] for node in _spread(sorted(held))]
    swaps = [[*removal, *growth] for removal, growth in zip(gone, added, strict=False)]
    return [*added, *paths, *gone, *swaps]


def _items(blueprint: dict[str, Any]) -> list[list[dict[str, Any]]]:
    bare = [[{"op": "unequip", "slot": slot}] for slot in sorted(blueprint["items"])]
    ring = rare("Ring 1", "Sapphire Ring", ["IncreasedLife8"], ["FireResist5"])
    shell = rare("Body Armour", "Vile Robe") | {"sockets": 2, "runes": ["Iron Rune", "Desert Rune"]}
    return [*bare, [{"op": "equip", "item": ring}], [{"op": "equip", "item": shell}]]


def _skills(blueprint: dict[str, Any]) -> list[list[dict[str, Any]]]:
    changes: list[list[dict[str, Any]]] = []
    for index, group in enumerate(blueprint["groups"], 1):
        if len(group["gems"]) > 1:
            fewer = group | {"gems": group["gems"][:-1]}
            changes.append([{"op": "set_group", "index": index, "group": fewer}])
        changes.append([{"op": "remove_group", "index": index}])
    return [*_spread(changes), [{"op": "set_main", "index": 1}]]


def _configs() -> list[list[dict[str, Any]]]:
    return [
        [{"op": "set_config", "key": "enemyIsBoss", "value": "None"}],
        [{"op": "set_config", "key": "conditionEnemyShocked", "value": True}],
        [{"op": "set_config", "key": "resistancePenalty", "value": -30}],
    ]


def _candidates(facts: Facts, blueprint: dict[str, Any]) -> list[list[dict[str, Any]]]:
    return [[], *_passives(facts, blueprint), *_items(blueprint), *_skills(blueprint), *_configs()]


@contextmanager
def _pair(backend: PobBackend, start: Any) -> Iterator[tuple[Child, Child, list[str]]]:
    """Start two processes with the build, ours and one with Path of Building's own functions; name what is compared."""
    ours, theirs = Child(backend), Child(backend)
    try:
        start(ours)
        start(theirs)
        theirs.call("bench_restore")
        yield ours, theirs, sorted(key for key in ours.stats() if not key.startswith(UNSTABLE))
    finally:
        ours.close()
        theirs.close()


def _check(backend: PobBackend, facts: Facts, name: str, start: Any) -> None:
    """Compare both ways for all numbers of the build, with and without requirements, and for a few."""
    with _pair(backend, start) as (ours, theirs, stats):
        candidates = _candidates(facts, ours.call("blueprint"))
        quiet = [key for key in stats if not key.startswith("Req")]
        for metrics in (stats, quiet, ["DPS", "Life"]):
            expected = theirs.call("what_if", candidates=candidates, metrics=metrics)
            found = ours.call("what_if", candidates=candidates, metrics=metrics)
            for changes, theirs_row, our_row in zip(candidates, expected, found, strict=True):
                assert _unequal(theirs_row, our_row) == {}, (name, changes)


def _unequal(theirs: dict[str, float], ours: dict[str, float]) -> dict[str, tuple[float | None, float | None]]:
    keys = theirs.keys() | ours.keys()
    return {key: (theirs.get(key), ours.get(key)) for key in keys if theirs.get(key) != ours.get(key)}


def _inert(backend: PobBackend, facts: Facts, name: str, start: Any) -> int:
    """Compare what is told to do nothing with Path of Building's own calculator; return how many passives that is."""
    with _pair(backend, start) as (ours, theirs, stats):
        inert = [node for node in ours.call("inert") if node in facts.nodes]
        candidates = [[{"op": "allocate", "nodes": [facts.wish(node)]}] for node in inert[:: 1 if DEEP else 20]]
        base = theirs.call("what_if", candidates=[[]], metrics=stats)[0]
        for changes, found in zip(
            candidates, theirs.call("what_if", candidates=candidates, metrics=stats), strict=True
        ):
            assert _unequal(base, found) == {}, (name, changes)
        together = [[{"op": "allocate", "nodes": [facts.wish(node) for node in inert[::20]]}]]
        assert _unequal(base, theirs.call("what_if", candidates=together, metrics=stats)[0]) == {}, name
        assert ours.call("what_if", candidates=candidates * 2, metrics=stats) == [base] * (2 * len(candidates)), name
        return len(inert)


def test_passives_told_to_do_nothing_do_nothing(warm_backend: PobBackend, facts: Facts) -> None:
    """A third of the tree at least, so that it is worth telling; a passive that counts is among the others."""
    found = _inert(warm_backend, facts, "sorceress", lambda child: child.build(facts.sorceress()))
    assert found > len(facts.nodes) / 3


def test_passives_that_do_nothing_are_found_anew_after_a_change(warm_backend: PobBackend, facts: Facts) -> None:
    """With a minion beside the main skill passives for minions count."""
    child = Child(warm_backend)
    try:
        child.build(facts.sorceress())
        before = set(child.call("inert"))
        group, index = {"gems": [facts.gem("Skeletal Arsonist")]}, len(child.call("blueprint")["groups"]) + 1
        child.call("apply", changes=[{"op": "set_group", "index": index, "group": group}])
        after = set(child.call("inert"))
        assert before - after
        assert any(
            "Minion" in line for node in (before - after) & facts.nodes.keys() for line in facts.nodes[node]["mods"]
        )
    finally:
        child.close()


@pytest.mark.slow
def test_passives_told_to_do_nothing_do_nothing_in_real_builds(
    warm_backend: PobBackend, facts: Facts, few_real_builds: list[Path]
) -> None:
    """Nothing is told where the file claims what nothing in it brings about: a passive may count as what does."""
    for path in few_real_builds:
        xml = path.read_text(encoding="utf-8")
        _inert(warm_backend, facts, path.stem, lambda child, xml=xml: child.call("load", xml=xml))


def test_a_made_build(warm_backend: PobBackend, facts: Facts) -> None:
    _check(warm_backend, facts, "sorceress", lambda child: child.build(facts.sorceress()))


@pytest.mark.slow
def test_real_builds(warm_backend: PobBackend, facts: Facts, few_real_builds: list[Path]) -> None:
    for path in few_real_builds:
        xml = path.read_text(encoding="utf-8")
        _check(warm_backend, facts, path.stem, lambda child, xml=xml: child.call("load", xml=xml))


@pytest.mark.slow
def test_modifiers_are_looked_up_as_path_of_building_does(
    warm_backend: PobBackend, few_real_builds: list[Path]
) -> None:
    """Every name that a build has, alone, with the next one and with none between, for each kind and source."""
    child = Child(warm_backend)
    try:
        child.call("load", xml=few_real_builds[0].read_text(encoding="utf-8"))
        found = child.call("check_lookups")
    finally:
        child.close()
    assert (found["wrong"], found["count"] > 10_000) == (0, True)
