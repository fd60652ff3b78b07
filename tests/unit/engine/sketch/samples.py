"""Complete builds made only from the sketch engine's own facts, the same on every machine."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from app.core.config import resource_dir
from app.engine.sketch.backend import SketchBackend
from app.engine.sketch.pack import Pack
from app.model.blueprint import AffixRoll, Blueprint, GearItem, Gem, PassiveNode, SkillGroup
from app.model.facts import AffixFact, BaseFact, NodeFact
from app.model.names import Attribute

LEVEL, ITEM_LEVEL = 90, 65
POINTS, ASCENDANCY_POINTS = LEVEL - 1 + 24, 8
GROUPS = (
    "IncreasedLife",
    "WeaponSpellDamage",
    "LocalPhysicalDamagePercent",
    "LocalPhysicalDamage",
    "LocalEnergyShieldPercent",
    "LocalEvasionRatingIncreasePercent",
    "LocalPhysicalDamageReductionRatingPercent",
    "LightningDamage",
    "MovementVelocity",
    "IncreasedCastSpeed",
    "LocalIncreasedAttackSpeed",
    "FireResistance",
    "ColdResistance",
    "LightningResistance",
)


@dataclass(frozen=True)
class Recipe:
    """What a sample build is made of; `weapon` is an item type or sub type."""

    class_name: str
    skill: str
    weapon: str
    armour: str
    supports: tuple[str, ...] = ()


SPELL = ("Controlled Destruction", "Rapid Casting I", "Elemental Focus")
ATTACK = ("Elemental Armament I", "Rapid Attacks I", "Deliberation")
MELEE = ("Elemental Armament I", "Rapid Attacks I", "Elemental Focus")
RECIPES = (
    Recipe("Sorceress", "Spark", "Wand", "Energy Shield", SPELL),
    Recipe("Sorceress", "Arc", "Wand", "Energy Shield", ("Considered Casting", "Lightning Attunement")),
    Recipe("Sorceress", "Comet", "Wand", "Energy Shield", ("Supercritical", "Pinpoint Critical")),
    Recipe("Sorceress", "Frostbolt", "Wand", "Energy Shield", ("Cold Attunement", "Concentrated Area")),
    Recipe("Witch", "Essence Drain", "Wand", "Energy Shield", ("Controlled Destruction",)),
    Recipe("Witch", "Fireball", "Wand", "Energy Shield", SPELL),
    Recipe("Witch", "Ember Fusillade", "Wand", "Energy Shield", ("Fire Attunement", "Rapid Casting II")),
    Recipe("Ranger", "Lightning Arrow", "Bow", "Evasion", ATTACK),
    Recipe("Ranger", "Ice Shot", "Bow", "Evasion", ATTACK),
    Recipe("Ranger", "Poisonburst Arrow", "Bow", "Evasion", ("Brutality I",)),
    Recipe("Huntress", "Lightning Spear", "Spear", "Evasion", ATTACK),
    Recipe("Huntress", "Glacial Lance", "Spear", "Evasion", ("Pinpoint Critical", "Elemental Armament II")),
    Recipe("Huntress", "Explosive Spear", "Spear", "Evasion", ("Rapid Attacks II", "Chaos Attunement")),
    Recipe("Warrior", "Boneshatter", "Two Hand Mace", "Armour", ("Heavy Swing", "Brutality II")),
    Recipe("Warrior", "Earthquake", "Two Hand Mace", "Armour", ("Heavy Swing", "Efficiency I")),
    Recipe("Warrior", "Molten Blast", "One Hand Mace", "Armour", MELEE),
    Recipe("Mercenary", "Armour Piercing Rounds", "Crossbow", "Evasion", ("Brutality I",)),
    Recipe("Mercenary", "High Velocity Rounds", "Crossbow", "Armour", ("Brutality I", "Heightened Accuracy I")),
    Recipe("Mercenary", "Explosive Shot", "Crossbow", "Armour", ATTACK),
    Recipe("Monk", "Tempest Flurry", "Warstaff", "Evasion", MELEE),
    Recipe("Monk", "Ice Strike", "Warstaff", "Energy Shield", ("Elemental Focus", "Efficiency II")),
    Recipe("Druid", "Entangle", "Wand", "Armour", ("Brutality I",)),
    Recipe("Druid", "Furious Slam", "Talisman", "Armour", ("Heavy Swing",)),
    Recipe("Druid", "Rolling Magma", "Talisman", "Armour", ATTACK),
    Recipe("Druid", "Lunar Assault", "Talisman", "Armour", MELEE),
)
"""Every damaging skill of the pack once."""


def pack() -> Pack:
    """Return the pack that ships."""
    return Pack(resource_dir("domain") / "facts")


class Builder:
    """Makes builds from recipes."""

    def __init__(self, backend: SketchBackend) -> None:
        self.backend = backend
        self.nodes = {n.id: n for n in map(NodeFact.model_validate, backend.handle("nodes", {}))}
        self.bases = {b.name: b for b in map(BaseFact.model_validate, backend.handle("bases", {}))}
        self.gems = {g["name"]: g["id"] for g in backend.handle("gems", {})}
        self.classes = {c["name"]: c for c in backend.handle("classes", {})}

    def build(self, recipe: Recipe) -> Blueprint:
        """Return a level-90 build with all points spent, gear in every slot and some of each kind of thing."""
        hero = self.classes[recipe.class_name]
        passives = [self._passive(i) for i in self.walk(hero["start_node"], POINTS)]
        ascendancy = hero["ascendancies"][0]
        start = next(n.id for n in self.nodes.values() if n.kind == "ascendancy_start" and n.ascendancy == ascendancy)
        passives += [self._passive(i) for i in self.walk(start, ASCENDANCY_POINTS)]
        return Blueprint(
            class_name=recipe.class_name,
            ascendancy=ascendancy,
            level=LEVEL,
            nodes=passives,
            items={item.slot: item for item in self._gear(recipe)},
            groups=[self._group(recipe)],
            main_group=1,
        )

    def walk(self, start: int, length: int) -> list[int]:
        """Return passives worth so many points in breadth-first order from a start, without the start."""
        found, seen = [start], {start}
        for id_ in found:
            for other in self.nodes[id_].neighbours:
                plain = self.nodes[other].kind not in ("start", "ascendancy_start", "socket")
                if plain and other not in seen:
                    seen.add(other)
                    found.append(other)
        assert len(found) > length
        paid = [i for i, id_ in enumerate(found) if self.nodes[id_].cost]
        return found[1 : paid[length - 1] + 1]

    def item(self, slot: str, base: str, runes: Iterable[str] = ()) -> GearItem:
        """Return a rare item with affixes of the sample groups, at most three of a side."""
        affixes = [AffixFact.model_validate(a) for a in self.backend.handle("affixes", {"base": base})]
        best: dict[str, AffixFact] = {}
        for affix in affixes:
            known = best.get(affix.group)
            if affix.group in GROUPS and affix.level <= ITEM_LEVEL and (not known or affix.level > known.level):
                best[affix.group] = affix
        chosen = [best[group] for group in GROUPS if group in best]
        rune_list = list(runes)
        return GearItem(
            slot=slot,
            base=base,
            title=f"Sample {slot}",
            item_level=ITEM_LEVEL,
            quality=20 if self.bases[base].socket_limit else 0,
            sockets=len(rune_list),
            runes=rune_list,
            prefixes=[AffixRoll(id=a.id) for a in chosen if a.side == "prefix"][:3],
            suffixes=[AffixRoll(id=a.id, roll=0.25) for a in chosen if a.side == "suffix"][:2],
        )

    def best_base(self, kind: str, sub_type: str = "") -> str:
        """Return the base of a type (or sub type) with the highest level requirement within the item level."""
        fitting = [
            b
            for b in self.bases.values()
            if kind in (b.type, b.sub_type)
            and (not sub_type or b.sub_type == sub_type)
            and b.requirements["level"] <= ITEM_LEVEL
        ]
        return max(fitting, key=lambda b: (b.requirements["level"], b.name)).name

    def _gear(self, recipe: Recipe) -> Iterable[GearItem]:
        yield self.item("Weapon 1", self.best_base(recipe.weapon), ["Iron Rune"] if recipe.weapon == "Wand" else [])
        for slot in ("Body Armour", "Helmet", "Gloves", "Boots"):
            yield self.item(slot, self.best_base(slot, recipe.armour), ["Storm Rune", "None"])
        plain = {"Ring 1": "Ruby Ring", "Ring 2": "Sapphire Ring", "Amulet": "Stellar Amulet", "Belt": "Plate Belt"}
        for slot, base in plain.items():
            yield self.item(slot, base)
        yield GearItem(slot="Charm 1", base="Topaz Charm", rarity="NORMAL", item_level=ITEM_LEVEL)
        yield GearItem(slot="Flask 1", base="Ultimate Life Flask", rarity="NORMAL", item_level=ITEM_LEVEL)

    def _group(self, recipe: Recipe) -> SkillGroup:
        gems = [Gem(gem_id=self.gems[recipe.skill], name=recipe.skill, level=18)]
        gems += [Gem(gem_id=self.gems[name], name=name, level=1) for name in recipe.supports]
        return SkillGroup(label=recipe.skill, gems=gems)

    def _passive(self, id_: int) -> PassiveNode:
        chosen = Attribute.INTELLIGENCE if id_ % 2 else Attribute.STRENGTH
        return PassiveNode(id=id_, attribute=chosen if self.nodes[id_].kind == "attribute" else None)
