from __future__ import annotations

from app.knowledge.styles import (
    CRITICAL_CHANCE,
    FAST,
    HALF,
    LEAST_AILMENT,
    MAXIMUM_BLOCK,
    OF_FURTHER_SKILLS,
    OF_MAIN_SKILL,
    OF_MINIONS,
    SUPPORTS,
    style_targets,
)
from app.knowledge.vocabulary import preferences


def test_a_style_is_of_the_main_skill_or_of_another() -> None:
    assert not OF_MAIN_SKILL & OF_FURTHER_SKILLS
    assert OF_MINIONS <= OF_MAIN_SKILL
    assert set(SUPPORTS) <= OF_MAIN_SKILL


def test_styles_ask_for_figures_by_level() -> None:
    assert style_targets(["max_block"], 24) == {"EffectiveBlockChance": MAXIMUM_BLOCK}
    low, high = (style_targets(["strength_stacking", "life_stacking"], level) for level in (20, 90))
    assert set(low) == {"Str", "Life"}
    assert all(high[stat] == 4.5 * low[stat] for stat in low)
    assert style_targets(["spell", "unheard of"], 90) == {}


def test_a_fast_build_is_made_faster_than_a_naked_character() -> None:
    assert style_targets(["fast"], 45) == {"EffectiveMovementSpeedMod": FAST}
    assert FAST > 1.1


def test_critical_hits_are_the_characters_own() -> None:
    assert style_targets(["critical"], 45) == {"CritChance": CRITICAL_CHANCE}
    assert style_targets(["critical", "ignite", "minion"], 45) == {}


def test_ailments_ask_for_their_share_of_the_damage() -> None:
    assert style_targets(["ignite"], 45) == {"DamageShare.ignite": LEAST_AILMENT}
    assert style_targets(["damage_over_time"], 45) == {"DamageShare.over_time": HALF}


def test_stacking_has_words_to_look_for() -> None:
    stacked = {name for name in preferences().keywords if name.endswith("_stacking")}
    assert {"strength_stacking", "life_stacking", "energy_shield_stacking"} <= stacked
