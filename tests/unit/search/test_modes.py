from __future__ import annotations

from collections.abc import Callable, Sequence

from app.engine.base import Outputs
from app.model.blueprint import Blueprint, Change, Gem, SetGroup, SkillGroup
from app.model.facts import GemFact
from app.search.skills.gems import ModeSearch, chosen, counts, monster_of, offering, variants

GROUP = SkillGroup(gems=[Gem(gem_id="zap", name="Zap")])
Rate = Callable[[SkillGroup], dict[str, float]]


class OneGroup:
    """A session that calculates what a rule says about the tried group."""

    def __init__(self, rate: Rate) -> None:
        self._rate = rate

    async def what_if(self, candidates: Sequence[Sequence[Change]], metrics: Sequence[str]) -> list[Outputs]:
        groups = [change.group for (change,) in candidates if isinstance(change, SetGroup)]
        return [{k: v for k, v in self._rate(group).items() if k in metrics} for group in groups]


def search(rate: Rate) -> ModeSearch:
    return ModeSearch(OneGroup(rate), 1)  # type: ignore[arg-type]


def fact(**more: object) -> GemFact:
    return GemFact.model_validate({"id": "zap", "name": "Zap", "kind": "active", **more})


async def test_a_totem_counts_by_what_it_throws() -> None:
    def rate(group: SkillGroup) -> dict[str, float]:
        return {"DPS": 9.0} if group.main_skill == 2 else {}

    found = await search(rate).best(variants(GROUP, fact(modes={"Totem": 1, "Bolt": 1})))
    assert found is not None
    assert (found.main_skill, found.in_full_dps) == (2, False)


async def test_a_crystal_counts_by_its_explosion() -> None:
    def rate(group: SkillGroup) -> dict[str, float]:
        return {"DPS": 7.0} if group.gems[0].choices.get("statSet.Crystal") == 2 else {"DPS": 0.0}

    found = await search(rate).best(variants(GROUP, fact(modes={"Crystal": 2})))
    assert found is not None
    assert found.gems[0].choices == {"statSet.Crystal": 2}
    assert found.main_skill == 1


async def test_a_skill_without_any_rate_has_no_way() -> None:
    assert await search(lambda _: {"DPS": 0.0}).best(variants(GROUP, fact(modes={"A": 3}))) is None
    assert await search(lambda _: {}).best([]) is None


def test_only_minion_skills_are_asked_for_their_minions_skills() -> None:
    asked = [g for g in variants(GROUP, fact()) if "skillMinionSkill" in g.gems[0].choices]
    assert asked == []
    asked = [g for g in variants(GROUP, fact(skill_types=["Minion"])) if "skillMinionSkill" in g.gems[0].choices]
    assert [g.gems[0].choices["skillMinionSkill"] for g in asked] == [2, 3, 4, 5, 6]


DAMAGE = {"wolf": 10.0, "ox": 30.0, "fly": 4.0, "god": 900.0}
RESERVES = {"wolf": 25.0, "ox": 100.0, "fly": 0.0, "god": 120.0}


def army(group: SkillGroup) -> dict[str, float]:
    monster = monster_of(group.gems[0]) or "fly"
    rate = DAMAGE[monster] * (2.0 if group.gems[0].choices.get("skillMinionSkill") == 3 and monster == "wolf" else 1.0)
    return {"DPS": rate, "Spirit": 100.0, "SpiritUnreserved": 100.0 - RESERVES[monster]}


async def test_the_monster_is_chosen_by_the_damage_of_all_that_the_spirit_feeds() -> None:
    found = await search(army).monster(GROUP, DAMAGE)
    assert found is not None
    assert found.gems[0].choices == {"skillMinion": "wolf", "skillMinionSkill": 3}


async def test_a_monster_that_no_spirit_feeds_is_none() -> None:
    assert await search(army).monster(GROUP, ["god"]) is None


def test_monsters_are_offered_as_what_the_gem_summons() -> None:
    bare = Blueprint(class_name="Toy", level=90)
    assert offering(bare, fact(tags=["minion"]), ["b", "a"]).spectres == ["a", "b"]
    tamed = offering(bare, fact(tags=["Companion"]), ["b", "a"])
    assert (tamed.spectres, tamed.beasts) == ([], ["a", "b"])


def test_one_minion_is_the_default_and_not_written_down() -> None:
    found = counts(chosen(GROUP, skillMinion="ox"), 3)
    assert [g.gems[0].choices for g in found] == [
        {"skillMinion": "ox"},
        {"skillMinion": "ox", "count": 2},
        {"skillMinion": "ox", "count": 3},
    ]
