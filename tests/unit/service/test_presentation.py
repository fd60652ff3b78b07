"""The block people read: everything that matters, nothing invented."""

from __future__ import annotations

import pytest

from app.model.base import changed
from app.model.blueprint import Blueprint
from app.model.damage import DamageBreakdown, DamageKind, DamageSource
from app.model.facts import UniqueOrigin
from app.model.groups import GroupRole, GroupUse
from app.model.guide import GearFigures, GemStep, Guide, ItemLine, Loss, PassiveStep, ShoppingItem
from app.model.names import BuildStatus, GearTier, UniqueTier
from app.model.record import BuildFailure
from app.model.stats import EngineVersion, Stats
from app.model.wishes import WishOutcome, WishState
from app.service.presentation import (
    as_markdown,
    as_text,
    build_name,
    loadouts,
    numbers,
    passives,
    presentation_of,
    shopping,
    verdict,
)
from app.service.view import stats_view, view_of
from tests.fakes.samples import a_complete_record, a_loadout, a_record, an_iterating_record


def test_says_everything_that_matters() -> None:
    text = as_text(presentation_of(a_complete_record()), {"xml": "builds/x.xml"})
    for part in (
        "Spark Stormweaver - finished with caveats",
        "sketch 1, passive tree 0_5; every number is an ESTIMATE",
        "DPS 54,321 · effective hit points 20,000 · against a Pinnacle boss",
        "fire 75 %",
        "chaos ?",
        "fire 5,000",
        "class: Sorceress (explicit: said so)",
        "hardcore: no (default",
        "Ascendancy: Stormweaver - lightning",
        "Damage delivery: Spark - clears well",
        "Normal boss.",
        "Which skill? Options: Spark, Arc. Until you say: Spark",
        "Chaos resistance is low.",
        "xml: builds/x.xml",
    ):
        assert part in text
    assert "exclude" not in text


@pytest.mark.parametrize(
    ("enemy", "words"),
    [("None", "common monsters"), ("Boss", "an ordinary boss"), ("Uber", "an Uber boss"), (None, "a Pinnacle boss")],
)
def test_figures_name_the_enemy_that_they_are_against(enemy: str | None, words: str) -> None:
    blueprint = Blueprint(class_name="Sorceress", level=90, config={"enemyIsBoss": enemy} if enemy else {})
    engine = EngineVersion(name="pob", version="1", tree_version="0_5", estimate=False)
    stats = stats_view(Stats(engine=engine, values={"TotalEHP": 20.0}), blueprint)
    assert numbers(stats)[0] == f"DPS not modelled by the engine · effective hit points 20 · against {words}"


def test_begins_with_asked_and_reached() -> None:
    unmet = WishOutcome(
        wish="at least 9 life",
        words="<9 life>",
        kind="life",
        target=9.0,
        reached=1.0,
        state=WishState.UNMET,
        nearest="1 life, 8 life short",
    )
    record = a_complete_record()
    record = record.model_copy(update={"state": record.state.model_copy(update={"wishes": [unmet]})})
    assert view_of(record).wishes == [unmet]
    first = as_text(presentation_of(record)).split("\n\n")[1]
    assert first == (
        'Asked and reached:\n  ✗ at least 9 life ("<9 life>"): not reached; the nearest: 1 life, 8 life short'
    )
    assert "\n## Asked and reached\n\n- ✗ at least 9 life (" in as_markdown(presentation_of(record))
    assert "\\<9 life\\>" in as_markdown(presentation_of(record))


def test_while_it_iterates_the_wishes_are_the_best_builds() -> None:
    record = an_iterating_record()
    assert record.state.best is not None
    met = WishOutcome(wish="class X", words="x", kind="class", target="X", reached="X", state=WishState.MET)
    best = record.state.best.model_copy(update={"wishes": [met]})
    state = record.state.model_copy(update={"best": best})
    assert view_of(record.model_copy(update={"state": state})).wishes == [met]


def test_a_real_engine_is_not_called_an_estimate() -> None:
    record = a_complete_record()
    stats = record.state.stats
    assert stats is not None
    real = stats.model_copy(update={"engine": stats.engine.model_copy(update={"name": "pob", "estimate": False})})
    state = record.state.model_copy(update={"stats": real})
    assert "ESTIMATE" not in as_text(presentation_of(record.model_copy(update={"state": state})))


def test_a_skill_without_a_rate_is_said_so_and_not_scored_as_zero() -> None:
    record = a_complete_record()
    stats = record.state.stats
    assert stats is not None
    state = record.state.model_copy(update={"stats": stats.model_copy(update={"values": {"Life": 1.0}})})
    text = as_text(presentation_of(record.model_copy(update={"state": state})))
    assert "DPS not modelled by the engine" in text


def test_the_damage_is_told_source_by_source() -> None:
    record = a_complete_record()
    stats = record.state.stats
    assert stats is not None
    sources = [
        DamageSource(name="Spark", kind=DamageKind.HIT, dps=75.0),
        DamageSource(name="2 x Skeletal Sniper", kind=DamageKind.MINION, dps=25.0),
        DamageSource(name="Comet", kind=DamageKind.SECOND_SKILL, dps=999.0),
    ]
    told = DamageBreakdown.of(sources, "on_kill")
    state = record.state.model_copy(update={"stats": stats.model_copy(update={"damage": told})})
    record = record.model_copy(update={"state": state})
    text = as_text(presentation_of(record))
    assert "Spark, hits: 75 per second (75%)" in text
    assert "2 x Skeletal Sniper, minions: 25 per second (25%)" in text
    assert "Not in the sum: Comet as a second skill, 999 per second" in text
    assert "not counted: it happens when an enemy is killed." in text
    shown = view_of(record).model_dump(mode="json")["damage"]
    assert shown["per_second"] is True
    assert shown["sources"][0] == {"name": "Spark", "kind": "hit", "dps": 75.0, "share": 0.75}


def test_before_anything_is_known() -> None:
    shown = presentation_of(a_record())
    assert build_name(shown.build) == shown.name == "lightning sorceress for mapping"
    assert "waiting" in as_text(shown)
    assert "none yet" in as_text(shown)


def test_verdicts() -> None:
    failed = a_record(status=BuildStatus.FAILED, failure=BuildFailure(code="engine_hung", message="Too slow."))
    assert verdict(view_of(failed)) == "failed"
    assert "engine_hung" in as_text(presentation_of(failed))
    assert verdict(view_of(an_iterating_record())) == "still running"
    assert verdict(view_of(a_record(status=BuildStatus.CANCELLED))) == "cancelled"


def test_markdown_has_the_same_parts_and_escapes_what_comes_from_outside() -> None:
    record = a_complete_record()
    request = record.request.model_copy(update={"prompt": "<img src=x> *bold* [link](x)"})
    state = record.state.model_copy(update={"sub_problems": {}, "guide": GUIDE})
    text = as_markdown(presentation_of(record.model_copy(update={"request": request, "state": state})))
    assert text.startswith("# \\<img src=x\\> \\*bold\\* \\[link\\](x)\n")
    assert "## Numbers\n\n- DPS 54,321" in text
    assert (
        "## Shopping list\n\n- Ring 1: rare Sapphire Ring (item level 65): +40 to Life; 30% Fire · runes Iron" in text
    )


def test_the_guide_is_told() -> None:
    record = a_complete_record()
    text = as_text(
        presentation_of(record.model_copy(update={"state": record.state.model_copy(update={"guide": GUIDE})}))
    )
    for part in (
        "How to play:\n  Then repeat Spark.",
        "2 points in order; with point: 2 Raw Power",
        "Ascendancy: Stormborn",
        "level 1: Spark with Faster",
        "Ring 1: rare Sapphire Ring (item level 65): +40 to Life; 30% Fire · runes Iron",
        "Not chosen:\n  Damage delivery: Arc - slower",
    ):
        assert part in text


def test_groups_and_weapon_sets_are_told() -> None:
    record = a_complete_record()
    uses = [
        GroupUse(skill="Spark", role=GroupRole.MAIN, purpose="deals the damage", supports=["Faster"]),
        GroupUse(skill="Despair", role=GroupRole.CURSE, purpose="weakens enemies", damage=0.043),
        GroupUse(skill="Arc", role=GroupRole.CLEAR, purpose="kills packs", alone=9000.0, weapon_set=2),
    ]
    second = PassiveStep(point=3, id=4, name="Chain Lightning", kind="notable", weapon_set=2)
    guide = changed(GUIDE, groups=uses, passives=[*GUIDE.passives, second])
    notes = changed(record.state.construction.notes, weapon_sets="1 passive is weapon set 2's own.")
    construction = changed(record.state.construction, notes=notes)
    state = changed(record.state, guide=guide, construction=construction)
    shown = presentation_of(changed(record, state=state))
    told = as_text(shown)
    for part in (
        "Skill groups:\n  Spark with Faster - main skill: deals the damage\n  Despair - curse: weakens enemies; ",
        "enemies; 4.3% of the damage hangs on it\n  Arc - clear: kills packs; 9,000 damage per second by itself",
        "by itself, not in the sum; weapon set 2\n",
        "Weapon sets:\n  1 passive is weapon set 2's own.",
        "2 points in order; with point: 2 Raw Power\n  Weapon set 2 instead of 1: Chain Lightning",
    ):
        assert part in told
    assert "Weapon sets" not in as_text(changed(shown, weapon_sets=""))


GUIDE = Guide(
    passives=[
        PassiveStep(point=1, id=1, name="Spell Damage", kind="normal"),
        PassiveStep(point=2, id=2, name="Raw Power", kind="notable"),
    ],
    ascendancy=[PassiveStep(point=1, id=3, name="Stormborn", kind="notable")],
    gems=[
        GemStep(level=1, name="Spark", group="Spark", support=False),
        GemStep(level=1, name="Faster", group="Spark", support=True),
    ],
    shopping=[
        ShoppingItem(
            slot="Ring 1",
            base="Sapphire Ring",
            title="",
            rarity="RARE",
            level=65,
            quality=0,
            runes=["Iron", "None"],
            lines=[
                ItemLine(side="prefix", name="Hale", text="+40 to Life"),
                ItemLine(side="suffix", name="of X", text="30% Fire"),
            ],
        )
    ],
    how_to_play=["Then repeat Spark."],
)


def test_the_shopping_list_says_what_carries_the_build() -> None:
    lines = [
        ItemLine(side="suffix", name="a", text="30% Fire", lost=Loss(ehp=0.12, needed=True)),
        ItemLine(side="prefix", name="b", text="20% Damage", lost=Loss(damage=0.25)),
        ItemLine(side="prefix", name="c", text="+9 to Mana", lost=Loss(damage=0.01)),
    ]
    item = GUIDE.shopping[0].model_copy(update={"lines": lines, "one_tier_lower": Loss(damage=0.1, ehp=0.04)})
    figures = [
        GearFigures(gear=GearTier.STARTER, dps=1200.0, ehp=900.0),
        GearFigures(gear=GearTier.MID, dps=5e3, ehp=2e3),
    ]
    told = shopping(GUIDE.model_copy(update={"shopping": [item], "at_tiers": figures}))
    assert told == [
        (
            "Ring 1: rare Sapphire Ring (item level 65): 30% Fire [-12% EHP, needed]; 20% Damage [-25% DPS]; "
            "+9 to Mana [nice to have] · runes Iron · one tier lower: -10% DPS, -4% EHP"
        ),
        "The same lines at each gear tier: starter 1,200 DPS, 900 EHP · mid 5,000 DPS, 2,000 EHP",
    ]
    plain = GUIDE.model_copy(update={"passives": GUIDE.passives[:1], "ascendancy": []})
    assert passives(plain) == ["1 points in order"], "nothing is announced that does not follow"
    little = item.model_copy(update={"one_tier_lower": Loss(damage=0.006, ehp=0.006)})
    assert "one tier lower" not in shopping(GUIDE.model_copy(update={"shopping": [little]}))[0]


@pytest.mark.parametrize(
    ("origin", "told"),
    [
        (None, "Belt: Mageblood, Utility Belt"),
        (UniqueOrigin(tier=UniqueTier.COMMON), "Belt: Mageblood, Utility Belt (common)"),
        (UniqueOrigin(tier=UniqueTier.RARE, why="drops from X"), "Belt: Mageblood, Utility Belt (rare: drops from X)"),
    ],
)
def test_the_shopping_list_says_how_hard_a_unique_is_to_come_by(origin: UniqueOrigin | None, told: str) -> None:
    item = ShoppingItem(
        slot="Belt", base="Utility Belt", title="Mageblood", rarity="UNIQUE", level=1, quality=0, origin=origin
    )
    assert shopping(Guide(shopping=[item])) == [told]


def test_a_loadout_says_what_changes_and_what_does_not_hold() -> None:
    assert loadouts(Guide(loadouts=[a_loadout()]))[:4] == [
        "Levelling 30: Zap with Faster · 37 passives + 2 · 1,234 DPS, 999 EHP, 400 life (estimate)",
        "  Boom can be used from level 41 on.",
        "  Use Zap instead of Bolt.",
        "  Not so: Hat asks for 9 str",
    ]
    assert loadouts(Guide(no_loadouts="None, because.")) == ["None, because."]
    assert loadouts(Guide()) == []
