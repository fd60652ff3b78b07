"""Prompts as people write them, and what must be understood."""

from __future__ import annotations

from typing import Any

import pytest

from app.knowledge.catalogue import Catalogue
from app.knowledge.gems import damage_types_of
from app.knowledge.values import answer_of, words_of
from app.model.constraints import INVARIANTS, Count, InvariantSet, InvariantValue, Kind
from app.model.names import GearTier, Provenance
from app.model.record import BuildRequest
from app.reasoning.prompt.extract import extract_from

PROMPTS: list[tuple[str, dict[str, Any]]] = [
    ("lightning sorceress for mapping", {"class": "Sorceress", "damage_type": "lightning", "goal": "mapping"}),
    ("bow build that isn't lightning arrow", {"weapon": "Bow", "exclude": ["lightning arrow"], "class": "Ranger"}),
    ("something with totems that isn't ballista", {"style": "totem", "exclude": ["ballista"]}),
    ("totems that aren't ballistas", {"style": "totem", "exclude": ["ballistas"]}),
    ("everything but minions, witch", {"class": "Witch", "exclude": ["minions"]}),
    ("fire res capped at 80, fireball", {"skill": "Fireball", "fire_resistance": 80.0}),
    ("minions for a witch that can get to endgame on a small budget", {"gear": "starter", "budget": "low"}),
    ("not for hardcore, ranger", {"class": "Ranger", "hardcore": False, "exclude": None}),
    ("no chrono, but chronomancer", {"ascendancy": None, "exclude": ["chrono"]}),
    ("I don't care about life, es witch", {"defence": "energy_shield", "exclude": None}),
    ("don't care about budget, arc", {"skill": "Arc", "budget": "unlimited"}),
    ("don't care about defences, monk", {"class": "Monk", "style": "glass_cannon"}),
    ("facetank warrior", {"class": "Warrior", "style": "tanky"}),
    ("75% ele res 50 chaos, ranger", {"elemental_resistances": 75.0, "chaos_resistance": 50.0}),
    ("all res 75+, chaos 60+, arc", {"elemental_resistances": 75.0, "chaos_resistance": 60.0, "skill": "Arc"}),
    ("75 fire res, 60 cold and 50 lightning", {"cold_resistance": 60.0, "lightning_resistance": 50.0}),
    ("75% all res, 100% cold damage monk", {"damage_type": "cold", "cold_resistance": None}),
    ("between 3k and 4k life, monk", {"life": 3000.0}),
    ("not for bossing, ranger", {"class": "Ranger", "goal": "mapping", "exclude": None}),
    ("I don't care for bosses, just fast maps", {"goal": "mapping", "exclude": None}),
    ("don't care about mapping, only bosses", {"goal": "bossing"}),
    ("budget maybe 10 div, ranger", {"class": "Ranger", "gear": "mid", "budget": "medium"}),
    ("low budget, 2 div, ranger", {"gear": "starter", "budget": "low"}),
    ("rather melee than ranged", {"style": "melee", "exclude": None}),
    ("prefer lightning over cold, sorc", {"damage_type": "lightning", "exclude": None}),
    ("I'd rather play a witch than a sorceress", {"class": "Witch"}),
    ("bored of lightning arrow, other bow skills?", {"weapon": "Bow", "exclude": ["lightning arrow"], "skill": None}),
    ("any build but deadeye, bow", {"weapon": "Bow", "exclude": ["deadeye"], "ascendancy": None}),
    ("everyone plays deadeye, I want something else with a bow", {"weapon": "Bow", "ascendancy": None}),
    ("doesn't need perfect gear, monk", {"class": "Monk", "gear": "mid", "exclude": None}),
    ("neither bow nor crossbow, ranger", {"class": "Ranger", "exclude": ["bow", "crossbow"]}),
    ("bow build, no ranger", {"class": "Huntress", "weapon": "Bow", "exclude": ["ranger"]}),
    ("minions, not witch", {"class": "Sorceress", "style": "minion", "exclude": ["witch"]}),
    ("lightning, but not a sorceress", {"class": "Witch", "damage_type": "lightning", "exclude": ["sorceress"]}),
    ("ignite build w/o fireball", {"style": "ignite", "exclude": ["fireball"]}),
    ("pure energy shield witch", {"class": "Witch", "weapon": None, "defence": "energy_shield"}),
    ("dps doesn't matter, just never die", {"style": "tanky"}),
    ("druid who uses plants and vines", {"class": "Druid", "style": "plant"}),
    ("amazon that doesn't have to worry about mana", {"ascendancy": "Amazon", "style": "sustained"}),
    (
        "cold sorceress for bossing, life-based",
        {"class": "Sorceress", "damage_type": "cold", "goal": "bossing", "defence": "life"},
    ),
    ("Fire sorc that farms maps", {"class": "Sorceress", "damage_type": "fire"}),
    ("merc with a crossbow", {"class": "Mercenary", "weapon": "Crossbow"}),
    ("witch hunter boss killer", {"class": "Mercenary", "ascendancy": "Witchhunter", "goal": "bossing"}),
    ("witchhunter", {"class": "Mercenary", "ascendancy": "Witchhunter"}),
    ("chaos witch", {"class": "Witch", "damage_type": "chaos"}),
    ("lightening witch", {"damage_type": "lightning"}),
    ("sorceres ice nova", {"class": "Sorceress", "skill": "Ice Nova", "damage_type": "cold"}),
    ("mercanary explosive show", {"class": "Mercenary", "skill": "Explosive Shot"}),
    ("explosive show build", {"skill": "Explosive Shot", "class": "Mercenary", "damage_type": "fire"}),
    ("lightening arrow ranger", {"skill": "Lightning Arrow", "class": "Ranger"}),
    ("lightningarrow deadeye", {"skill": "Lightning Arrow", "ascendancy": "Deadeye"}),
    ("LA deadeye", {"skill": "Lightning Arrow", "ascendancy": "Deadeye", "class": "Ranger"}),
    ("frost bolt sorc", {"skill": "Frostbolt"}),
    ("fire ball sorc", {"skill": "Fireball"}),
    ("ED contagion lich", {"skill": "Essence Drain", "ascendancy": "Lich", "class": "Witch"}),
    ("poisonburst arrow pathfinder", {"skill": "Poisonburst Arrow", "ascendancy": "Pathfinder"}),
    ("poison pathfinder", {"damage_type": "chaos", "style": "poison"}),
    ("summoner witch", {"class": "Witch", "style": "minion", "damage_type": "fire"}),
    ("zombie summoner", {"class": "Witch", "skill": "Raise Zombie"}),
    ("archer with ice shots", {"class": "Ranger", "skill": "Ice Shot", "weapon": "Bow"}),
    ("slam warrior, tanky", {"class": "Warrior", "style": ["slam", "tanky"]}),
    ("titan with two handed mace", {"class": "Warrior", "ascendancy": "Titan", "weapon": "Two Hand Mace"}),
    ("smith of kitava fire", {"class": "Warrior", "ascendancy": "Smith of Kitava", "damage_type": "fire"}),
    ("blood mage physical spells", {"class": "Witch", "ascendancy": "Blood Mage", "style": "spell"}),
    ("quarterstaff monk", {"class": "Monk", "weapon": "Quarterstaff"}),
    ("ice strike invoker", {"skill": "Ice Strike", "ascendancy": "Invoker", "class": "Monk"}),
    ("tempest flurries monk", {"skill": "Tempest Flurry"}),
    ("bear druid", {"class": "Druid", "style": "bear"}),
    ("werewolf", {"class": "Druid", "style": "wolf"}),
    ("huntress with spears, bleed", {"class": "Huntress", "weapon": "Spear", "damage_type": "physical"}),
    ("amazon lightning spear", {"class": "Huntress", "ascendancy": "Amazon", "skill": "Lightning Spear"}),
    ("grenadier", {"class": "Mercenary", "style": "grenade"}),
    ("grenade build", {"class": "Mercenary", "style": "grenade"}),
    ("sorceress, no es, life and armour", {"exclude": ["es"], "defence": ["life", "armour"]}),
    ("bow with herald of ash", {"class": "Ranger", "weapon": "Bow"}),
    ("easy and tanky minions", {"class": "Witch", "style": ["tanky", "minion"]}),
    ("bow tank", {"class": "Ranger", "style": "tanky"}),
    ("deadeye to take out bosses", {"ascendancy": "Deadeye", "goal": "bossing"}),
    ("tank", {"class": "Warrior", "style": "tanky"}),
    ("bow mapper, budget of 100 divines", {"budget": "high", "weapon": "Bow"}),
    ("gas grenades please", {"skill": "Gas Grenade", "class": "Mercenary"}),
    ("hardcore warrior", {"hardcore": True}),
    ("hc ssf ranger", {"hardcore": True, "gear": "starter"}),
    ("softcore ranger", {"hardcore": False}),
    ("hcssf titan", {"hardcore": True, "gear": "starter"}),
    ("spark sorc level 95", {"level": 95, "skill": "Spark"}),
    ("spark sorc lvl 95", {"level": 95}),
    ("spark sorc lvl70", {"level": 70}),
    ("a 70th level monk", {"level": 70}),
    ("level 200 monk", {"level": 100}),
    ("level -5 monk", {"level": 1}),
    ("level 99999999 monk", {"level": 100}),
    ("league start ranger", {"gear": "starter"}),
    ("league starter warrior", {"gear": "starter"}),
    ("totem warrior level 80 mid gear", {"gear": "mid", "style": "totem", "level": 80}),
    ("bow ranger with medium gear", {"gear": "mid"}),
    ("cheap budget witch", {"gear": "starter", "budget": "low"}),
    ("mirror tier deadeye", {"gear": "mirror", "budget": "unlimited"}),
    ("perfect gear deadeye", {"gear": "mirror"}),
    ("min-max stormweaver", {"gear": "endgame"}),
    ("no budget limit spark", {"gear": "endgame", "skill": "Spark"}),
    ("campaign leveling witch", {"goal": "leveling"}),
    ("monk for maps and bosses", {"goal": "all_round"}),
    ("all-rounder monk", {"goal": "all_round"}),
    ("pinnacle bosses monk", {"goal": "bossing"}),
    ("energy shield witch", {"defence": "energy_shield"}),
    ("CI sorceress", {"defence": "energy_shield"}),
    ("monk with evasion and energy shield", {"defence": ["evasion", "energy_shield"]}),
    ("hybrid monk", {"defence": "hybrid"}),
    ("life and energy shield druid", {"defence": "hybrid"}),
    ("armor warrior", {"defence": "armour"}),
    ("warrior, no minions", {"exclude": ["minions"]}),
    ("witch without energy shield", {"exclude": ["energy shield"]}),
    ("ranger without minions or totems", {"exclude": ["minions", "totems"]}),
    ("non-crit spark sorceress", {"exclude": ["crit"], "skill": "Spark"}),
    ("critless spark sorceress", {"exclude": ["crit"], "skill": "Spark"}),
    ("minion-less witch, shieldless", {"exclude": ["minion", "shield"], "class": "Witch"}),
    ("relentless crit less monk", {"exclude": None, "class": "Monk"}),
    ("2h warrior slam", {"weapon": "Two Hand Mace", "class": "Warrior"}),
    ("two-handed quarterstaff monk", {"weapon": "Quarterstaff", "class": "Monk"}),
    ("2h crossbow mercenary", {"weapon": "Crossbow", "class": "Mercenary"}),
    ("2h monk", {"weapon": "Quarterstaff", "class": "Monk"}),
    ("warrior, no 2h weapon", {"exclude": ["2h weapon"], "weapon": None}),
    ("spark sorceress, one skill only", {"style": "one_button", "skill": "Spark"}),
    ("monk, not ice strike please", {"exclude": ["ice strike"]}),
    ("sorceress, no Archmage", {"exclude": ["archmage"]}),
    ("Comet sorceress with Cast on Critical", {"skill": "Comet", "with": ["Cast on Critical"]}),
    ("herald of thunder lightning arrow", {"skill": "Lightning Arrow", "with": ["Herald of Thunder"]}),
    ("Sacrifice build", {"with": ["Sacrifice"]}),
    ("simulacrum farmer monk", {"content": "simulacrum"}),
    ("Sorceress élémentaire: lightning", {"class": "Sorceress", "damage_type": "lightning"}),
    ("SPARK!!!", {"skill": "Spark", "class": "Sorceress", "damage_type": "lightning"}),
    ("fire and cold sorceress", {"damage_type": ["fire", "cold"]}),
]


def understood(prompt: str, catalogue: Catalogue, **fields: Any) -> InvariantSet:
    return extract_from(BuildRequest(prompt=prompt, **fields), catalogue)


@pytest.mark.parametrize(("prompt", "expected"), PROMPTS, ids=[prompt for prompt, _ in PROMPTS])
def test_a_prompt_is_understood(prompt: str, expected: dict[str, Any], catalogue: Catalogue) -> None:
    found = understood(prompt, catalogue)

    assert {field: found.get(field) for field in expected} == expected
    assert all(invariant.reason for invariant in found.invariants)


def test_explicit_values_quote_the_users_words(catalogue: Catalogue) -> None:
    found = understood("Lightening sorc for mapping", catalogue)

    reasons = {i.field: (i.provenance, i.reason) for i in found.invariants}
    assert reasons["damage_type"] == (Provenance.EXPLICIT, 'you wrote "lightening"')
    assert reasons["class"] == (Provenance.EXPLICIT, 'you wrote "sorc"')
    assert reasons["level"][0] is Provenance.DEFAULT


def test_what_follows_from_a_skill_is_inferred(catalogue: Catalogue) -> None:
    found = understood("spark", catalogue)

    assert found.find("skill") is not None
    provenance = {i.field: i.provenance for i in found.invariants}
    assert provenance["skill"] is Provenance.EXPLICIT
    assert provenance["class"] is provenance["damage_type"] is Provenance.INFERRED


def test_defaults_stand_where_nothing_was_said(catalogue: Catalogue) -> None:
    found = understood("spark sorceress", catalogue)

    wanted = {"level": 90, "gear": "mid", "hardcore": False, "goal": "all_round"}
    assert {name: found.get(name) for name in wanted} == wanted
    assert all(i.provenance is Provenance.DEFAULT for i in found.invariants if i.field in wanted)


def test_request_fields_win_over_the_prompt(catalogue: Catalogue) -> None:
    found = understood("endgame gear level 70 spark sorceress", catalogue, level=95, gear=GearTier.STARTER)

    assert (found.get("level"), found.get("gear")) == (95, "starter")
    assert any("95" in sentence and "70" in sentence for sentence in found.assumptions)


def test_overrides_win_and_are_made_to_fit(catalogue: Catalogue) -> None:
    overrides = {"class": "sorcerres", "skill": "spark", "goal": "dancing", "level": "250", "exclude": ["minions"]}
    found = understood("warrior with earthquake", catalogue, overrides=overrides)

    assert (found.get("class"), found.get("skill"), found.get("level")) == ("Sorceress", "Spark", 90)
    assert found.get("exclude") == ["minions"]
    assert found.get("goal") == "all_round"
    assert all(any(left in sentence for sentence in found.assumptions) for left in ("dancing", "250"))


@pytest.mark.parametrize(
    ("prompt", "field", "assumed"),
    [
        ("cold dot occultist for bossing", "class", "Witch"),
        ("necromancer", "class", "Witch"),
        ("marauder", "class", "Warrior"),
        ("vortex witch", "skill", "Frost Bomb"),
        ("RF build", "skill", "Incinerate"),
        ("righteous fire sorceress", "skill", "Incinerate"),
        ("paladin with a hammer", "class", "Warrior"),
        ("cyclone warrior", "skill", "Earthquake"),
        ("cyclone monk", "skill", "Whirling Assault"),
    ],
)
def test_a_foreign_name_becomes_the_question(prompt: str, field: str, assumed: str, catalogue: Catalogue) -> None:
    found = understood(prompt, catalogue)

    assert found.question is not None
    assert found.question.field == field
    assert assumed in found.question.assumed
    assert found.get(field) == assumed


def test_a_foreign_ascendancy_keeps_what_else_was_said(catalogue: Catalogue) -> None:
    found = understood("cold dot occultist for bossing", catalogue)

    assert found.get("ascendancy") == "Lich"
    assert (found.get("damage_type"), found.get("goal")) == ("cold", "bossing")


def test_two_classes_and_an_impossible_level(catalogue: Catalogue) -> None:
    found = understood("level 200 warrior sorceress", catalogue)

    assert (found.get("class"), found.get("level")) == ("Warrior", 100)
    assert found.question is not None
    assert found.question.options == ["Warrior", "Sorceress"]
    assert any("200" in sentence for sentence in found.assumptions)


def test_an_ascendancy_of_another_class(catalogue: Catalogue) -> None:
    found = understood("stormweaver warrior", catalogue)

    assert (found.get("class"), found.get("ascendancy")) == ("Warrior", None)
    assert found.question is not None
    assert "Stormweaver" in found.question.options


def test_a_skill_against_its_damage_type(catalogue: Catalogue) -> None:
    found = understood("fire spark sorceress", catalogue)

    assert (found.get("skill"), found.get("damage_type")) == ("Spark", "lightning")
    assert found.question is not None
    assert found.question.assumed == "Spark"


def test_the_weightiest_question_is_asked_and_the_others_become_assumptions(catalogue: Catalogue) -> None:
    found = understood("vortex warrior sorceress", catalogue)

    assert found.question is not None
    assert found.question.field == "class"
    assert any("vortex" in sentence for sentence in found.assumptions)


@pytest.mark.parametrize(
    "prompt", ["asdkjh qwoeiu", "???", "make me something nice", "日本語のビルド", "build for mapping"]
)
def test_a_prompt_without_a_subject_is_asked_about(prompt: str, catalogue: Catalogue) -> None:
    found = understood(prompt, catalogue)

    assert found.question is not None
    assert found.get("class") == "Sorceress"
    assert found.find("class").provenance is Provenance.DEFAULT  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "prompt",
    [
        "a warrior that can sacrifice some damage for defence",
        "monk with good discipline in boss fights",
        "a sorceress who comes to the park and stamps",
        "ranger to snap up loot, no idea about skills",
        "fire boots and lightning bow for my ranger",
        "the best build you can unleash for a huntress",
    ],
)
def test_ordinary_words_do_not_become_skills(prompt: str, catalogue: Catalogue) -> None:
    found = understood(prompt, catalogue)

    assert found.get("skill") is None
    assert found.get("with") is None
    assert found.get("exclude") is None


def test_life_leech_is_no_defence(catalogue: Catalogue) -> None:
    assert understood("warrior with life leech", catalogue).get("defence") is None


def test_an_unknown_name_is_asked_about_with_the_closest_one(catalogue: Catalogue) -> None:
    found = understood("stormwavr build", catalogue)
    assert found.get("ascendancy") == "Stormweaver"

    found = understood("Boneshaker build", catalogue)
    assert found.question is not None
    assert "boneshaker" in found.question.text
    assert found.get("skill") == "Boneshatter"


def test_a_skill_that_only_the_other_engine_knows_is_asked_about(catalogue: Catalogue) -> None:
    found = understood("ball lightning sorceress", catalogue)

    assert found.question is not None
    assert "Ball Lightning" in found.question.text
    assert found.get("skill") is None


@pytest.mark.parametrize(
    "prompt", ["lightning sorceress for mapping", "spark", "hc ssf ranger level 40 without minions"]
)
def test_every_constraint_set_in_the_request_is_the_one_that_holds(prompt: str, catalogue: Catalogue) -> None:
    named: dict[Kind, InvariantValue] = {
        Kind.CLASS: "Witch",
        Kind.ASCENDANCY: "Lich",
        Kind.SKILL: "Fireball",
        Kind.NAME: "Fireball",
        Kind.FLAG: True,
        Kind.NUMBER: 33,
        Kind.TARGET: 1234.5,
        Kind.PHRASE: "totems",
    }
    for field, constraint in INVARIANTS.items():
        value = list(words_of(constraint))[-1] if constraint.kind is Kind.WORD else named[constraint.kind]
        wanted = [value] if constraint.count is Count.LIST else value
        found = understood(prompt, catalogue, overrides={field: wanted}).find(field)
        assert found is not None, field
        assert (found.value, found.provenance, found.reason) == (wanted, Provenance.EXPLICIT, "set in the request")


@pytest.mark.parametrize(
    "prompt",
    [
        "spark build with cold damage",
        "monk deadeye",
        "witch or ranger",
        "cold dot occultist for bossing",
        "vortex witch",
        "sparrk build",
        "something nice",
    ],
)
def test_an_answer_to_the_question_is_not_asked_for_again(prompt: str, catalogue: Catalogue) -> None:
    asked = understood(prompt, catalogue).question
    if asked is None:
        return
    constraint = INVARIANTS[asked.field]
    for option in [option for option in asked.options if option != asked.assumed]:
        value = answer_of(constraint, option)
        found = understood(prompt, catalogue, overrides={asked.field: value})
        assert found.get(asked.field) == value
        assert found.question is None or found.question.field != asked.field
        owner = catalogue.class_of(found.text("ascendancy"))
        assert owner is None or owner.name == found.get("class")


def test_the_class_follows_from_an_ascendancy_that_the_request_sets(catalogue: Catalogue) -> None:
    found = understood("lightning build", catalogue, overrides={"ascendancy": "Lich"})
    assert (found.get("class"), found.get("ascendancy")) == ("Witch", "Lich")
    both = understood("lightning build", catalogue, overrides={"ascendancy": "Lich", "class": "Monk"})
    assert (both.get("class"), both.get("ascendancy")) == ("Monk", None)
    assert any("Lich is an ascendancy of the Witch" in sentence for sentence in both.assumptions)


def test_a_field_of_the_request_wins_over_an_override(catalogue: Catalogue) -> None:
    found = understood("spark", catalogue, level=80, overrides={"level": 70})
    assert found.get("level") == 80


@pytest.mark.parametrize(
    ("prompt", "main", "early"),
    [
        ("level with spark, then comet", "Comet", "Spark"),
        ("spark early then comet", "Comet", "Spark"),
        ("start as spark until 60 then comet", "Comet", "Spark"),
        ("level with spark", "Spark", None),
        ("level with spark or arc, then comet", "Comet", "Arc"),
    ],
)
def test_a_skill_for_the_way_is_no_part_of_the_finished_build(
    prompt: str, main: str, early: str | None, catalogue: Catalogue
) -> None:
    found = understood(prompt, catalogue)
    assert found.get("skill") == main
    assert found.get("with") is None
    told = [sentence.split(" is ")[0] for sentence in found.assumptions if "for the way there" in sentence]
    assert told[-1:] == ([early] if early else [])


@pytest.mark.parametrize(
    ("prompt", "skills", "beside"),
    [
        ("arc or spark, whichever is better", ["Arc", "Spark"], []),
        ("which is better for mapping: lightning arrow, spark or the arc?", ["Lightning Arrow", "Spark", "Arc"], []),
        ("comet vs frostbolt sorceress", ["Comet", "Frostbolt"], []),
        ("arc or spark, fireball", ["Arc", "Spark"], ["Fireball"]),
        ("arc, spark", "Arc", ["Spark"]),
        ("arc with spark or fireball", "Arc", ["Spark", "Fireball"]),
        ("spark but not arc or comet", "Spark", []),
        ("essence drain or contagion", ["Essence Drain", "Contagion"], []),
    ],
)
def test_of_several_main_skills_the_choice_is_left(
    prompt: str, skills: str | list[str], beside: list[str], catalogue: Catalogue
) -> None:
    """Found with "arc or spark, whichever is better": Spark went along, and nothing was compared."""
    found = understood(prompt, catalogue)
    assert (found.get("skill"), found.listed("with")) == (skills, beside)
    assert found.is_settled("skill") is isinstance(skills, str)
    if not beside:
        gems = [gem for name in found.listed("skill") if (gem := catalogue.skill(name)) is not None]
        types = {kind for gem in gems for kind in damage_types_of(gem)}
        assert set(found.listed("damage_type")) == types


@pytest.mark.parametrize(
    ("prompt", "ascendancies"),
    [
        ("titan or warbringer, earthquake", ["Titan", "Warbringer"]),
        (
            "invoker, martial artist or acolyte of chayula with ice strike",
            ["Invoker", "Martial Artist", "Acolyte of Chayula"],
        ),
        ("titan, warbringer", "Titan"),
        ("titan or deadeye", "Titan"),
    ],
)
def test_of_several_ascendancies_of_a_class_the_choice_is_left(
    prompt: str, ascendancies: str | list[str], catalogue: Catalogue
) -> None:
    found = understood(prompt, catalogue)
    assert found.get("ascendancy") == ascendancies
    assert found.is_settled("ascendancy") is isinstance(ascendancies, str)
    set_by_request = extract_from(BuildRequest(prompt="a build", overrides={"ascendancy": ascendancies}), catalogue)
    assert set_by_request.get("ascendancy") == ascendancies
    assert set_by_request.get("class") == found.get("class")


def test_a_skill_that_the_request_sets_leaves_no_choice(catalogue: Catalogue) -> None:
    request = BuildRequest(prompt="arc or spark or comet", overrides={"skill": "Spark"})
    found = extract_from(request, catalogue)
    assert (found.get("skill"), found.get("with")) == ("Spark", None)
    several = extract_from(BuildRequest(prompt="a build", overrides={"skill": ["spark", "arc"]}), catalogue)
    assert several.get("skill") == ["Spark", "Arc"]


@pytest.mark.parametrize("words", ["other than", "apart from", "different from"])
def test_something_other_than_a_skill_rules_it_out(words: str, catalogue: Catalogue) -> None:
    found = understood(f"something {words} spark for stormweaver", catalogue)
    assert found.get("skill") != "Spark"
    assert found.listed("exclude") == ["spark"]


def test_no_poison_leaves_chaos_damage(catalogue: Catalogue) -> None:
    found = understood("chaos but not poison ranger", catalogue)
    assert (found.get("damage_type"), found.listed("exclude")) == ("chaos", ["poison"])


@pytest.mark.parametrize(
    ("prompt", "figures"),
    [
        ("at least 60 % crit chance", {"critical_chance": 60}),
        ("500% crit damage", {"critical_damage": 500}),
        ("regen 500 life/s", {"life_regeneration": 500}),
        ("50 mana per second", {"mana_regeneration": 50}),
        ("spark with 200 mana regen", {"mana_regeneration": 200}),
        ("mana regen of 50 and 4000 mana", {"mana_regeneration": 50, "mana": 4000}),
        ("1000 es/s", {"energy_shield_recharge": 1000}),
        ("500 es recharge per second, 5k es", {"energy_shield_recharge": 500, "energy_shield": 5000}),
        ("200 all attributes", {"strength": 200, "dexterity": 200, "intelligence": 200}),
        ("100k tooltip dps", {"dps": 100_000}),
    ],
)
def test_figures_of_critical_hits_regeneration_and_all_attributes(
    prompt: str, figures: dict[str, float], catalogue: Catalogue
) -> None:
    found = understood(f"spark, {prompt}", catalogue)
    assert {name: found.get(name) for name in figures} == figures
    styles = {"crit": "critical", "regen 500": "regeneration"}
    assert found.listed("style") == [style for word, style in styles.items() if word in prompt]
    assert found.not_understood == []


@pytest.mark.parametrize(
    ("prompt", "figures"),
    [
        ("80 fire 70 cold 60 light 50 chaos res", {"fire": 80, "cold": 70, "lightning": 60, "chaos": 50}),
        ("75% fire, 60% cold and 40 chaos resistance", {"fire": 75, "cold": 60, "chaos": 40}),
        ("80 fire res", {"fire": 80}),
        ("80 fire 70 cold", {}),
        ("80 fire 70", {}),
    ],
)
def test_resistances_in_a_list_are_told_apart(prompt: str, figures: dict[str, float], catalogue: Catalogue) -> None:
    found = understood(f"monk, {prompt}", catalogue)
    known = {element: found.get(f"{element}_resistance") for element in ("fire", "cold", "lightning", "chaos")}
    assert {element: value for element, value in known.items() if value is not None} == figures
    assert not (figures and found.is_explicit("damage_type"))


@pytest.mark.parametrize("word", ["purple", "showcase", "discharge"])
def test_a_word_like_no_name_is_none(word: str, catalogue: Catalogue) -> None:
    """Found with "showcase build": it was a crossbow's Shockburst Rounds."""
    found = understood(f"{word} build", catalogue)
    assert found.get("skill") is None
    assert found.question is not None
    assert found.question.field == "class"


@pytest.mark.parametrize(
    ("kind", "hit"),
    [("phys", "physical_hit"), ("physical", "physical_hit"), ("chaos", "chaos_hit"), ("fire", "elemental_hit")],
)
def test_a_hit_of_a_type_is_no_damage_that_is_dealt(kind: str, hit: str, catalogue: Catalogue) -> None:
    """Found with "max hit 15k physical": the build was to deal physical damage."""
    found = understood(f"ice nova, max hit 15k {kind}", catalogue)
    assert (found.get(hit), found.get("damage_type")) == (15_000.0, "cold")


@pytest.mark.parametrize("words", ["less crit", "fewer minions"])
def test_less_of_a_way_to_play_is_no_wish_for_it(words: str, catalogue: Catalogue) -> None:
    found = understood(f"spark, {words}", catalogue)
    assert (found.get("style"), found.not_understood) == (None, [words])


def test_the_level_of_gems_is_not_the_character_s(catalogue: Catalogue) -> None:
    found = understood("spark with level 21 gems, level 85", catalogue)
    assert (found.get("level"), found.not_understood) == (85, ["21 gems"])


def test_what_somebody_has_left_is_not_asked_for(catalogue: Catalogue) -> None:
    found = understood("spark, I have 150 spirit free", catalogue)
    assert (found.get("spirit"), found.not_understood) == (None, ["have 150 spirit free"])


def test_who_gets_one_shot_wants_to_survive(catalogue: Catalogue) -> None:
    """Found with "I get oneshot by bosses": it asked for a build that kills with one hit."""
    assert understood("monk, I get oneshot by bosses", catalogue).get("style") == "tanky"


def test_life_or_energy_shield_is_no_hybrid(catalogue: Catalogue) -> None:
    found = understood("life or energy shield spark, whichever is tankier", catalogue)
    assert (found.get("defence"), found.not_understood) == (None, [])
    assert any("life or energy shield" in sentence for sentence in found.assumptions)
    assert understood("spark with life and energy shield", catalogue).get("defence") == "hybrid"
    assert understood("evasion or armour monk, life or es", catalogue).listed("defence") == ["evasion", "armour"]


@pytest.mark.parametrize(
    ("prompt", "fields"),
    [
        ("kill xesht with a bow", {"goal": "bossing", "weapon": "Bow"}),
        ("king in the mists sorceress", {"goal": "bossing", "class": "Sorceress"}),
        ("two-handed axe warrior", {"weapon": "Axe", "class": "Warrior"}),
        ("1h sword and shield warrior", {"weapon": ["Sword", "Shield"], "class": "Warrior"}),
        ("not another spark sorc", {"exclude": ["spark"], "skill": None, "class": "Sorceress"}),
    ],
)
def test_what_was_left_over_at_first_sight(prompt: str, fields: dict[str, Any], catalogue: Catalogue) -> None:
    """Fifty new prompts of 2026-11-28: "not another spark sorc" was a Spark."""
    found = understood(prompt, catalogue)
    assert {name: found.get(name) for name in fields} == fields
    assert found.not_understood == []
