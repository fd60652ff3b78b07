"""What somebody's finished build says about itself: constraints, and the seven questions as the file answers them."""

from __future__ import annotations

from collections.abc import Sequence

from app.knowledge.gems import damage_types_of, is_minion
from app.model.blueprint import HAND_SLOTS
from app.model.constraints import Invariant, InvariantSet, InvariantValue
from app.model.demands import ELEMENTAL_RESISTANCE_CAP
from app.model.dependencies import without_cycles
from app.model.names import GearTier, Goal, Provenance, SubProblemName
from app.model.sub_problems import (
    AscendancyChoice,
    Choice,
    Decision,
    DeliveryChoice,
    RequirementsChoice,
    ScalingChoice,
    SpiritChoice,
    SubProblem,
    SurvivabilityChoice,
    SustainChoice,
)
from app.reasoning.base import FoundBuild
from app.reasoning.questions.brief import dependencies_for

Q = SubProblemName
READ = "read from the file"
ENDGAME_LEVEL, MID_LEVEL = 76, 60


def constraints(found: FoundBuild) -> InvariantSet:
    """Return the constraints that the file sets (explicit), and those that follow from them."""
    build, main = found.blueprint, found.main
    said = [("class", build.class_name), ("ascendancy", build.ascendancy), ("level", build.level)]
    kept = [_invariant(field, value, Provenance.EXPLICIT, READ) for field, value in said if value is not None]
    if (named := found.leader(build.main_group)) is not None:
        kept.append(_invariant("skill", named.name, Provenance.EXPLICIT, READ))
    if main is not None and (kinds := damage_types_of(main)):
        value = kinds if len(kinds) > 1 else kinds[0]
        kept.append(_invariant("damage_type", value, Provenance.INFERRED, f"what {main.name} deals"))
    gear = gear_tier(build.level).value
    kept.append(_invariant("gear", gear, Provenance.INFERRED, f"what a level {build.level} character wears"))
    kept.append(_invariant("goal", Goal.ALL_ROUND.value, Provenance.DEFAULT, "a file does not say what it is for"))
    kept.append(_invariant("hardcore", False, Provenance.DEFAULT, "softcore unless said otherwise"))
    return InvariantSet(invariants=kept, assumptions=_assumptions(found))


def gear_tier(level: int) -> GearTier:
    """Return which gear a player of the level can replace items with."""
    if level >= ENDGAME_LEVEL:
        return GearTier.ENDGAME
    return GearTier.MID if level >= MID_LEVEL else GearTier.STARTER


def _invariant(field: str, value: InvariantValue, provenance: Provenance, reason: str) -> Invariant:
    return Invariant(field=field, value=value, provenance=provenance, reason=reason)


def _assumptions(found: FoundBuild) -> list[str]:
    strongest = found.leader(found.strongest)
    if not found.silent or strongest is None:
        return []
    own = found.leader(found.blueprint.main_group)
    named = f"The file's main skill, {own.name}, shows no damage" if own else "The file names no main skill"
    return [f"{named}; refinements measure damage with {strongest.name}, the strongest skill of the file."]


def questions(found: FoundBuild) -> dict[SubProblemName, SubProblem]:
    """Return the seven questions, each answered as the file answers it."""
    waits, _ = without_cycles(dependencies_for(ascendancy_named=True, skill_named=True))
    answers = _answers(found)
    return {
        name: SubProblem(name=name, depends_on=waits[name])
        .explore()
        .decide(Decision(name=title, choice=choice, reason=READ, provenance=Provenance.EXPLICIT))
        for name, (title, choice) in answers.items()
    }


def _answers(found: FoundBuild) -> dict[SubProblemName, tuple[str, Choice]]:
    build = found.blueprint
    delivery, scaling, shield = _delivery(found), _scaling(found), _survivability(found)
    spirit, needs, sustain = _spirit(found), _requirements(found), _sustain(found)
    ascendancy = AscendancyChoice(
        class_name=build.class_name, ascendancy=build.ascendancy, notables=_ascendancy_notables(found)
    )
    return {
        Q.ASCENDANCY: (build.ascendancy or build.class_name, ascendancy),
        Q.DAMAGE_DELIVERY: (delivery.skill_name, delivery),
        Q.DAMAGE_SCALING: (" and ".join(scaling.damage_types) or "what the skill deals", scaling),
        Q.SURVIVABILITY: (f"{shield.pool.replace('_', ' ')}, {', '.join(shield.mitigation)}", shield),
        Q.RESOURCE_SUSTAIN: (sustain.resource, sustain),
        Q.SPIRIT_ALLOCATION: (f"{len(spirit.skill_ids)} persistent skills", spirit),
        Q.STAT_REQUIREMENTS: ("what gear and gems ask for", needs),
    }


def _ascendancy_notables(found: FoundBuild) -> list[int]:
    owned = [found.nodes.get(node.id) for node in found.blueprint.nodes]
    return [node.id for node in owned if node is not None and node.ascendancy and node.kind == "notable"]


def _delivery(found: FoundBuild) -> DeliveryChoice:
    main, worn = found.main, found.blueprint.items
    held = [found.bases[worn[slot].base].type for slot in HAND_SLOTS if slot in worn and worn[slot].base in found.bases]
    return DeliveryChoice(
        skill_id=main.id if main else "",
        skill_name=main.name if main else "no main skill",
        weapon_types=held[:1],
        off_hand=held[1] if len(held) > 1 else None,
        minion=main is not None and is_minion(main),
    )


def _scaling(found: FoundBuild) -> ScalingChoice:
    main = found.leader(found.strongest) or found.main
    kinds = damage_types_of(main) if main else []
    tags = [tag.lower() for tag in (main.tags if main else [])]
    return ScalingChoice(damage_types=kinds, keywords=list(dict.fromkeys([*kinds, *tags])))


def _survivability(found: FoundBuild) -> SurvivabilityChoice:
    life, shield = found.stats.get("Life"), found.stats.get("EnergyShield")
    pool = "energy_shield" if shield > 1.2 * life else "hybrid" if shield > 0.3 * life else "life"
    layers = {"armour": "Armour", "evasion": "Evasion", "energy_shield": "EnergyShield"}
    order = sorted(layers, key=lambda name: (-found.stats.get(layers[name]), name))
    worn = [name for name in order if found.stats.get(layers[name]) > 0] or ["armour"]
    return SurvivabilityChoice.model_validate({"pool": pool, "mitigation": worn[:2]})


def _sustain(found: FoundBuild) -> SustainChoice:
    paid = "life" if found.stats.get("LifePerSecondCost") > found.stats.get("ManaPerSecondCost") else "mana"
    return SustainChoice.model_validate({"resource": paid})


def _spirit(found: FoundBuild) -> SpiritChoice:
    leaders = [found.leader(index) for index in range(1, len(found.blueprint.groups) + 1)]
    return SpiritChoice(skill_ids=[fact.id for fact in leaders if fact is not None and fact.spirit > 0])


def _requirements(found: FoundBuild) -> RequirementsChoice:
    needs: dict[str, int] = {}
    for asked in found.inspection.requirements:
        if asked.attribute != "level":
            needs[asked.attribute] = max(needs.get(asked.attribute, 0), round(asked.required))
    return RequirementsChoice(attributes=needs, resistances=dict.fromkeys(_ELEMENTS, ELEMENTAL_RESISTANCE_CAP))


_ELEMENTS: Sequence[str] = ("fire", "cold", "lightning")
