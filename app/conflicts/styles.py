"""Styles, damage types and defences: what the words mean on a finished build, as figures of the file where it can be.

A word that nothing here can tell has no effect, and is said to have none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from app.conflicts.case import AILMENTS, Case, WishVerdict, advice, damage_shares, figure_of, other_ascendancy
from app.conflicts.resources import TRIFLE, budgets
from app.knowledge.gems import ELEMENTS, dealt, has_style, is_minion, tags
from app.knowledge.styles import (
    BY_ITSELF,
    CRITICAL_CHANCE,
    DUAL_WIELD,
    FAST,
    GLASS_CANNON,
    HALF,
    LAYERS,
    LEAST_AILMENT,
    ONE_BUTTON,
    layer_targets,
    style_stat,
    style_targets,
)
from app.knowledge.weapons import CASTER, MARTIAL, word_of
from app.knowledge.words import listing, phrase
from app.model.blueprint import HAND_SLOTS
from app.model.conflicts import Details, Suggestion
from app.model.constraints import InvariantValue
from app.model.damage import AFTER_HIT, DamageKind
from app.model.demands import FIGHT_S
from app.model.names import Attribute, Demand, SubProblemName
from app.model.stats import ATTRIBUTE_METRICS, DPS, EHP, MOVEMENT

Found = tuple[bool | None, str]
"""Whether the build is so (None = nothing tells), and what it has, in words; for None what it would need."""

_SCALING = SubProblemName.DAMAGE_SCALING
_DELIVERY = SubProblemName.DAMAGE_DELIVERY
_SURVIVAL = SubProblemName.SURVIVABILITY
_SUSTAIN = SubProblemName.RESOURCE_SUSTAIN
_NEEDS = SubProblemName.STAT_REQUIREMENTS

LEAST_CRITICAL = 1 + CRITICAL_CHANCE / 100
"""How many times more damage critical hits must bring for a build of critical hits."""
STACKED = 1.5
"""How many times the next attribute the stacked one is."""
REGENERATED = 0.02
"""Share of the larger pool that regenerates per second in a build that relies on it."""


def _of_main(style: str) -> Callable[[Case], Found]:
    """Return the check that the main skill is of a kind, by its tags or those of a gem in its group."""

    def check(case: Case) -> Found:
        group = case.blueprint.main
        own = group.gems if group is not None else []
        facts = [fact for gem in own if gem.enabled and (fact := case.gems.get(gem.gem_id)) is not None]
        word = style.replace("_", "")
        first = bool(facts) and has_style(facts[0], style)
        return first or any(word in tags(fact) for fact in facts[1:]), case.main_skill

    return check


def _over_time(case: Case) -> Found:
    share = _share(case, *AFTER_HIT)
    if share is None:
        main = case.main_gem
        return (True, case.main_skill) if main and has_style(main, "damage_over_time") else _unknown("over time")
    return share >= HALF, f"{share:.0%} of the damage is over time"


def _ailment(kind: DamageKind) -> Callable[[Case], Found]:
    """Return the check that an ailment carries a good part of the damage."""

    def check(case: Case) -> Found:
        share = _share(case, kind)
        if share is None:
            return _unknown(f"of {kind.value}")
        return share >= LEAST_AILMENT, f"{share:.0%} of the damage is {kind.value}"

    return check


_PARTS = {kind: figure for _, kind, figure in AILMENTS}


def _share(case: Case, *kinds: DamageKind) -> float | None:
    """Return the share of the damage that is of these kinds, None where damage over time is not calculated.

    The damage that counts is split by its sources, what minions deal too. Without sources it is read off the figures,
    where a part that the engine does not name is none.
    """
    if case.stats.damage.sources and not case.stats.engine.estimate:
        return case.stats.damage.share(*kinds)
    over_time = figure_of(case, "TotalDotDPS")
    if over_time is None:
        return None
    keys = [f"{prefix}{_PARTS[kinds[0]]}" for prefix in ("Total", "")] if len(kinds) == 1 else ["TotalDotDPS"]
    part = next((figure for key in keys if (figure := figure_of(case, key))), 0.0)
    everything = max(figure_of(case, "TotalDPS") or 0.0, figure_of(case, "CombinedDPS") or 0.0, part)
    return min(1.0, part / everything) if everything > 0 else 0.0


def _unknown(what: str) -> Found:
    return None, f"it would need an engine that calculates damage {what}"


def _critical(case: Case) -> Found:
    chance, bonus = figure_of(case, "CritChance"), figure_of(case, "CritMultiplier")
    if chance is None or bonus is None:
        return _unknown("of critical hits")
    times = 1 + min(chance, 100.0) / 100 * (bonus - 1)
    return times >= LEAST_CRITICAL, f"{chance:.0f} % critical hits of {bonus:.2f} times the damage"


def _max_block(case: Case) -> Found:
    chance, cap = case.stats.values.get("EffectiveBlockChance"), case.stats.values.get("BlockChanceMax")
    if chance is None or cap is None:
        return None, "it would need an engine that calculates the cap of block"
    return chance >= cap, f"{chance:.0f} % block of at most {cap:.0f} %"


def _stacked(attribute: Attribute | None) -> Callable[[Case], Found]:
    """Return the check that an attribute (None: any one) is far above the others."""

    def check(case: Case) -> Found:
        have = {one: case.stats.get(metric) for one, metric in ATTRIBUTE_METRICS.items()}
        best = attribute or max(sorted(have), key=lambda one: have[one])
        others = max(value for one, value in have.items() if one is not best)
        return have[best] >= STACKED * max(others, 1.0), ", ".join(f"{v:.0f} {k.value}" for k, v in have.items())

    return check


def _used(*words: str) -> Callable[[Case], Found]:
    """Return the check that some enabled skill is of a kind, whether or not it is the main one."""

    def check(case: Case) -> Found:
        used = [
            gem.name
            for group in case.blueprint.groups
            for gem in group.gems
            if group.enabled and gem.enabled and (fact := case.gems.get(gem.gem_id)) is not None
            if fact.kind == "active" and set(words) & (tags(fact) | set(phrase(fact.name).split()))
        ]
        return bool(used), ", ".join(used) or f"no {words[0]}"

    return check


def _largest(style: str, *others: str, times: float = 1.0) -> Callable[[Case], Found]:
    """Return the check that a style's figure is what is worked for, or above others, so many times."""

    def check(case: Case) -> Found:
        ((own, enough),) = style_targets([style], case.demands.level).items()
        have = {key: case.stats.get(key) for key in (own, *others)}
        told = ", ".join(f"{value:,.0f} {key}" for key, value in have.items())
        return have[own] >= min(enough, max(1.0, *(times * have[key] for key in others))), told

    return check


def _fast(case: Case) -> Found:
    speed = case.stats.values.get(MOVEMENT)
    if speed is None:
        return None, "it would need an engine that calculates movement speed"
    return speed >= FAST, f"{100 * speed - 100:.0f} % added movement speed"


def _tanky(case: Case) -> Found:
    have, good = case.stats.get(EHP), case.demands.floors.ehp.good
    return have >= good, f"{have:,.0f} effective hit points, {good:,.0f} are good for its level and gear"


def _glass_cannon(case: Case) -> Found:
    floors, have = case.demands.floors, (case.stats.get(DPS), case.stats.get(EHP))
    damage, life = have[0] / floors.dps.good, have[1] / floors.ehp.good
    told = f"{have[0]:,.0f} damage per second, {damage:.1f} times what is good for its level and gear"
    return damage >= max(1.0, life), f"{told}; {have[1]:,.0f} effective hit points, {life:.1f} times"


def _leech(case: Case) -> Found:
    gains = {kind: case.stats.get(f"{kind}LeechGainRate") for kind in ("Life", "Mana", "EnergyShield")}
    return any(gains.values()), ", ".join(f"{rate:,.0f} {kind} leeched per second" for kind, rate in gains.items())


def _regeneration(case: Case) -> Found:
    pool, rate = max(case.stats.get("Life"), case.stats.get("EnergyShield")), case.stats.get("LifeRegenRecovery")
    return rate >= REGENERATED * max(pool, 1.0), f"{rate:,.0f} life regenerated per second"


def _sustained(case: Case) -> Found:
    least = min(budgets(case), key=lambda budget: budget.lasts_s, default=None)
    if least is None or least.drain < TRIFLE:
        return True, "what the main skill costs is recovered" if least else "the main skill costs nothing"
    return least.lasts_s >= FIGHT_S, f"{least.resource} pays for {least.lasts_s:,.0f} s of the main skill"


def _one_button(case: Case) -> Found:
    """Return the check that nothing beside the main skill is pressed: what else there is reserves Spirit."""
    others = [g for g in case.blueprint.groups if g is not case.blueprint.main and g.enabled and g.gems]
    facts = [fact for group in others if (fact := case.gems.get(group.gems[0].gem_id)) is not None]
    pressed = [fact.name for fact in facts if not fact.spirit and "HasReservation" not in fact.skill_types]
    return not pressed, f"{case.main_skill}, and {', '.join(pressed) or 'nothing else'} to press"


def _held(case: Case) -> tuple[str, str]:
    """Return the kinds of what the main hand and the off hand hold, empty for nothing."""
    items = case.blueprint.items
    bases = [case.bases.get(items[slot].base) if slot in items else None for slot in HAND_SLOTS]
    main, off = ("" if base is None else word_of(base) for base in bases)
    return main, off


def _in_hands(case: Case) -> str:
    held = [case.blueprint.items[slot].base for slot in HAND_SLOTS if slot in case.blueprint.items]
    return listing(held) or "nothing in hand"


_POOLS = (
    ("life", ("EnergyShield", "Mana"), 1.0),
    ("energy_shield", ("Life", "Mana"), 1.0),
    ("mana", ("Life", "EnergyShield"), 1.0),
    ("armour", ("Evasion",), STACKED),
    ("evasion", ("Armour",), STACKED),
)
_STACKS = {
    "attribute_stacking": _stacked(None),
    "strength_stacking": _stacked(Attribute.STRENGTH),
    "dexterity_stacking": _stacked(Attribute.DEXTERITY),
    "intelligence_stacking": _stacked(Attribute.INTELLIGENCE),
    **{f"{one}_stacking": _largest(f"{one}_stacking", *others, times=times) for one, others, times in _POOLS},
}
_MAIN = (
    "totem", "ballista", "grenade", "slam", "plant", "projectile", "melee", "channelling", "spell", "attack", "area"
)  # fmt: skip
_SHAPES = ("shapeshift", "bear", "wolf", "wyvern")
_BESIDE = ("warcry", "herald", "curse", "mark", "aura", "banner", "companion", "concoction")

STYLES: Mapping[str, Callable[[Case], Found]] = MappingProxyType(
    {
        **{kind: _of_main(kind) for kind in (*_MAIN, *_SHAPES)},
        **{kind: _used(kind) for kind in _BESIDE},
        "corpse": _used("corpse", "targetsdestructiblecorpses"),
        "trigger": _used("trigger", "triggered", "meta"),
        "minion": lambda case: (case.main_gem is not None and is_minion(case.main_gem), case.main_skill),
        "damage_over_time": _over_time,
        "poison": _ailment(DamageKind.POISON),
        "bleed": _ailment(DamageKind.BLEED),
        "ignite": _ailment(DamageKind.IGNITE),
        "critical": _critical,
        "max_block": _max_block,
        "fast": _fast,
        "tanky": _tanky,
        GLASS_CANNON: _glass_cannon,
        "leech": _leech,
        "sustained": _sustained,
        ONE_BUTTON: _one_button,
        "regeneration": _regeneration,
        DUAL_WIELD: lambda case: (_held(case)[1] in (*MARTIAL, *CASTER), _in_hands(case)),
        "unarmed": lambda case: (not _held(case)[0], _in_hands(case)),
        **_STACKS,
    }
)
"""What each style means on a finished build."""

_THE_MOST = "it would need the most that is possible to hold the figure against"
_OF_ENEMIES = "it would need figures of how enemies are in a fight"
_OF_PLAY = "it would need figures of the fight in which it is gained and spent"

WITHOUT_EFFECT: Mapping[str, str] = MappingProxyType(
    {
        "one_shot": "it would need the life of the enemy to hold one hit against",
        **dict.fromkeys(("freeze", "chill", "shock", "stun", "thorns"), _OF_ENEMIES),
        **dict.fromkeys(("rage", "charges", "low_life", "recharge"), _OF_PLAY),
        **dict.fromkeys(("max_attack_speed", "max_cast_speed", "max_projectiles", "spirit_stacking"), _THE_MOST),
        "slow_projectiles": "it would need a figure of projectile speed",
        "penetration": "it would need a figure of what the enemy resists",
        "magic_find": "it would need figures of what enemies drop",
    }
)
"""Styles that nothing measured can tell, with what it would need."""


def style_verdict(case: Case, name: str, value: InvariantValue) -> WishVerdict:
    """Return whether the build is played in the style."""
    style = str(value)
    check = STYLES.get(style)
    none = WITHOUT_EFFECT.get(style, "it would need a measure of its own, which does not exist yet")
    met, have = check(case) if check is not None else (None, none)
    why = case.never.get((name, style)) if met is False else None
    found, ways = (f"{have}; no build can: {why}", ()) if why else (have, _ways(case, style))
    return _verdict(f"played as {style.replace('_', ' ')}", style, (met, found), ways)


def damage_type_verdict(case: Case, name: str, value: InvariantValue) -> WishVerdict:
    """Return whether the build deals damage of the type: its fair share of all, where the engine gives shares."""
    kind, asked = str(value), case.invariants.listed(name)
    kinds = ELEMENTS if kind == "elemental" else (kind,)
    shares = damage_shares(case)
    if shares:
        met = sum(shares.get(one, 0.0) for one in kinds) >= HALF / max(1, len(asked))
        have = ", ".join(f"{share:.0%} {one}" for one, share in sorted(shares.items(), key=lambda pair: -pair[1]))
    else:
        own = dealt(case.main_gem) if case.main_gem is not None else []
        met, have = bool(set(own) & set(kinds)), f"{case.main_skill}: {', '.join(own) or 'no type of its own'}"
    # An ascendancy may add damage of another type to whatever is used.
    ways = (*_other_damage(case, Details(element=kind)), *other_ascendancy(case, Demand.MORE_DAMAGE))
    return _verdict(f"{kind} damage", kind, (met, have), ways)


_OF_DEFENCE = frozenset(
    {
        "tanky", "max_block", "regeneration",
        "life_stacking", "energy_shield_stacking", "armour_stacking", "evasion_stacking",
    }
)  # fmt: skip
_OF_MANA = frozenset({"mana_stacking", "leech", "sustained"})


def _ways(case: Case, style: str) -> tuple[Suggestion, ...]:
    """Return what could bring the style about: by the answer, or the item, that its figure hangs on."""
    if style == "fast":
        boots = Details(slot="Boots", local=True)
        return (advice("faster_boots", _NEEDS, Demand.REPLACE_ITEM, "boots with more movement speed", boots),)
    figure = Details(style=style) if style_stat(style) is not None else None
    if style in _OF_DEFENCE:
        heavier = "weigh defence higher in passives and gear"
        return (advice("more_layers", _SURVIVAL, Demand.MORE_EFFECTIVE_LIFE, heavier, figure),)
    if style in _OF_MANA:
        resource = Details(resource="mana", style=style if figure else None)
        return (advice("more_mana", _SUSTAIN, Demand.MORE_RECOVERY, "more mana on gear and passives", resource),)
    ways = _other_damage(case, Details(style=style) if style in BY_ITSELF else None, weighed=figure)
    # Any skill that hits can be made one of critical hits.
    return tuple(reversed(ways)) if style == "critical" else ways


def _other_damage(case: Case, wanted: Details | None = None, weighed: Details | None = None) -> tuple[Suggestion, ...]:
    """Return what could change how damage is dealt; a skill asked for by name is not exchanged.

    `wanted` is told to who chooses another skill, `weighed` to who weighs damage.
    """
    scale = advice("asked_damage", _SCALING, Demand.MORE_DAMAGE, "weigh the damage asked for higher", weighed)
    other = advice("other_skill", _DELIVERY, Demand.OTHER_SKILL, "a main skill that is played as asked", wanted)
    return (scale,) if case.asked("skill") else (other, scale)


_LAYER_TELLS = {
    "armour": "{0:,.0f} armour, {1:.0f} % off a usual physical hit",
    "evasion": "{0:,.0f} evasion, {1:.0f} % of hits evaded",
    "block": "{1:.0f} % block",
}


def defence_verdict(case: Case, name: str, value: InvariantValue) -> WishVerdict:
    """Return whether the build is kept alive by what was asked for."""
    layer, asked = str(value), case.invariants.listed(name)
    life, shield = case.stats.get("Life"), case.stats.get("EnergyShield")
    if layer in LAYERS:
        have, least = case.stats.get(LAYERS[layer]), layer_targets(asked)[LAYERS[layer]]
        found: Found = (have >= least, _LAYER_TELLS[layer].format(case.stats.get(layer.capitalize()), have))
    elif layer == "mana":
        owned = {fact.name for node in case.blueprint.nodes if (fact := case.nodes.get(node.id)) is not None}
        found = ("Mind Over Matter" in owned, f"{case.stats.get('Mana'):,.0f} mana")
    else:
        pools = {
            "life": life >= shield,
            "energy_shield": shield >= life,
            "hybrid": 3 * min(life, shield) >= max(life, shield),
        }
        met = pools.get(layer)
        none = "it would need a measure of its own, which does not exist yet"
        found = (met, f"{life:,.0f} life, {shield:,.0f} Energy Shield" if met is not None else none)
    way = advice("asked_defence", _SURVIVAL, Demand.MORE_EFFECTIVE_LIFE, f"rely on {layer.replace('_', ' ')}")
    return _verdict(f"kept alive by {layer.replace('_', ' ')}", layer, found, (way,))


def _verdict(wish: str, target: str, found: Found, ways: tuple[Suggestion, ...]) -> WishVerdict:
    met, have = found
    if met is None:
        return WishVerdict(wish, target, None, None, have)
    return WishVerdict(wish, target, have, met, None if met else have, () if met else ways)
