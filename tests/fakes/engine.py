"""An engine that only knows facts: for everything that reasons and never calculates.

`small_world()` is a hand-made game with all 8 classes and a few dozen gems; `FactsEngine` can also be filled with the
facts of a real engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from app.engine.base import Session
from app.model.facts import AffixFact, BaseFact, ClassFact, EdgeFact, GemFact, NodeFact, RuneFact, UniqueFact
from app.model.stats import EngineVersion

_LEVELS = [1, 3, 6, 10, 14, 18, 22, 26, 31, 36, 41, 46, 52, 58, 64, 66, 72, 78, 84, 90]
_COLOURS = {"strength": "str", "dexterity": "dex", "intelligence": "int"}

_CLASSES = {
    "Druid": ((11, 7, 11), ["Oracle", "Shaman"]),
    "Huntress": ((7, 15, 7), ["Amazon", "Ritualist", "Spirit Walker"]),
    "Mercenary": ((11, 11, 7), ["Gemling Legionnaire", "Tactician", "Witchhunter"]),
    "Monk": ((7, 11, 11), ["Acolyte of Chayula", "Invoker", "Martial Artist"]),
    "Ranger": ((7, 15, 7), ["Deadeye", "Pathfinder"]),
    "Sorceress": ((7, 7, 15), ["Chronomancer", "Disciple of Varashta", "Stormweaver"]),
    "Warrior": ((15, 7, 7), ["Smith of Kitava", "Titan", "Warbringer"]),
    "Witch": ((7, 7, 15), ["Blood Mage", "Infernalist", "Lich"]),
}

_SKILLS: dict[str, tuple[str, str, int, float]] = {
    "Spark": ("spell damage projectile lightning intelligence duration", "", 1, 0),
    "Arc": ("spell damage chaining lightning intelligence", "", 5, 0),
    "Frostbolt": ("spell damage projectile cold area intelligence", "", 5, 0),
    "Frost Bomb": ("spell damage cold area orb duration intelligence", "", 1, 0),
    "Ice Nova": ("spell damage cold area nova intelligence", "", 1, 0),
    "Comet": ("spell damage cold area intelligence", "", 11, 0),
    "Fireball": ("spell damage fire projectile area intelligence", "", 3, 0),
    "Incinerate": ("spell damage fire channelling area intelligence", "", 9, 0),
    "Essence Drain": ("spell damage chaos projectile duration damageovertime intelligence", "", 3, 0),
    "Contagion": ("spell chaos area duration damageovertime degenonlyspelldamage intelligence", "", 1, 0),
    "Bonestorm": ("spell damage physical projectile channelling intelligence", "", 5, 0),
    "Volcano": ("spell damage fire channelling duration area strength intelligence", "", 1, 0),
    "Lightning Arrow": ("attack projectile lightning area chaining dexterity", "Bow", 1, 0),
    "Ice Shot": ("attack projectile cold dexterity", "Bow", 9, 0),
    "Poisonburst Arrow": ("attack projectile chaos area dexterity", "Bow", 1, 0),
    "Gas Arrow": ("attack projectile chaos fire area dexterity", "Bow", 7, 0),
    "Lightning Spear": ("attack projectile lightning area dexterity", "Spear", 3, 0),
    "Whirling Slash": ("attack melee area strike dexterity", "Spear", 1, 0),
    "Rake": ("attack melee physical strike dexterity", "Spear", 3, 0),
    "Earthquake": ("attack melee slam area duration strength", "One Hand Mace|Two Hand Mace", 1, 0),
    "Boneshatter": ("attack melee strike area strength", "One Hand Mace|Two Hand Mace", 1, 0),
    "Volcanic Fissure": ("attack melee slam fire area duration strength", "One Hand Mace|Two Hand Mace", 7, 0),
    "Shield Wall": ("attack melee physical area strength", "Armoured Shield", 7, 0),
    "Explosive Shot": ("attack projectile fire area detonator strength dexterity", "Crossbow", 7, 0),
    "Galvanic Shards": ("attack projectile lightning chaining strength dexterity", "Crossbow", 5, 0),
    "Gas Grenade": ("attack projectile grenade chaos fire area strength dexterity", "Crossbow", 5, 0),
    "Ice Strike": ("attack melee cold strike area dexterity intelligence", "Quarterstaff", 5, 0),
    "Tempest Flurry": ("attack melee lightning strike area dexterity intelligence", "Quarterstaff", 5, 0),
    "Whirling Assault": ("attack melee strike area dexterity intelligence", "Quarterstaff", 11, 0),
    "Furious Slam": ("attack melee slam area bear shapeshift strength intelligence", "Talisman", 1, 0),
    "Skeletal Arsonist": ("minion persistent fire intelligence", "", 3, 39),
    "Skeletal Warrior": ("minion persistent physical intelligence", "", 0, 20),
    "Raise Zombie": ("minion duration physical intelligence", "", 5, 0),
    "Summon Spectre": ("minion persistent intelligence", "", 0, 50),
    "Herald of Thunder": ("buff herald persistent lightning attack dexterity", "Any Martial Weapon", 4, 30),
    "Herald of Ice": ("buff herald persistent cold attack intelligence", "Any Martial Weapon", 4, 30),
    "Grim Feast": ("buff persistent spell remnant intelligence", "", 4, 30),
    "Wind Dancer": ("buff persistent attack trigger dexterity", "Any Martial Weapon", 4, 30),
    "Scavenged Plating": ("buff persistent physical strength", "", 4, 30),
    "Archmage": ("buff persistent lightning intelligence", "", 14, 100),
    "Cast on Critical": ("buff meta persistent trigger intelligence", "", 14, 100),
    "Elemental Weakness": ("spell curse area duration lightning cold fire intelligence", "", 7, 0),
    "Despair": ("spell curse area duration chaos intelligence", "", 9, 0),
    "Sniper's Mark": ("mark duration dexterity", "", 7, 0),
    "Sacrifice": ("buff minion persistent intelligence", "", 14, 60),
    "Ancestral Warrior Totem": ("totem attack melee area strength", "One Hand Mace|Two Hand Mace", 13, 0),
}

_BASES = {
    "Bow": "Warmonger Bow",
    "Crossbow": "Siege Crossbow",
    "Spear": "Grand Spear",
    "One Hand Mace": "Torment Club",
    "Two Hand Mace": "Massive Greathammer",
    "Talisman": "Maji Talisman",
    "Wand": "Withered Wand",
    "Staff": "Ashen Staff",
    "Sceptre": "Rattling Sceptre",
    "Focus": "Hallowed Focus",
    "Shield": "Vaal Tower Shield",
    "Quiver": "Visceral Quiver",
}


@dataclass(frozen=True)
class FakeFacts:
    """Implements `Facts` from lists."""

    class_facts: Sequence[ClassFact] = ()
    gem_facts: Sequence[GemFact] = ()
    node_facts: Sequence[NodeFact] = ()
    base_facts: Sequence[BaseFact] = ()
    edge_facts: Sequence[EdgeFact] = ()

    async def classes(self) -> list[ClassFact]:
        return sorted(self.class_facts, key=lambda fact: fact.name)

    async def gems(self) -> list[GemFact]:
        return sorted(self.gem_facts, key=lambda fact: fact.id)

    async def nodes(self) -> list[NodeFact]:
        return sorted(self.node_facts, key=lambda fact: fact.id)

    async def edges(self) -> list[EdgeFact]:
        return list(self.edge_facts)

    async def bases(self) -> list[BaseFact]:
        return sorted(self.base_facts, key=lambda fact: fact.name)

    async def affixes(self, base: str) -> list[AffixFact]:
        return []

    async def uniques(self) -> list[UniqueFact]:
        return []

    async def runes(self, base: str) -> list[RuneFact]:
        return []

    async def supports_for(self, gem_id: str) -> list[str]:
        return sorted(fact.id for fact in self.gem_facts if fact.kind == "support")


@dataclass
class FactsEngine:
    """Implements `Engine` without sessions."""

    facts: FakeFacts
    version: EngineVersion = field(
        default_factory=lambda: EngineVersion(name="facts", version="1", tree_version="toy", estimate=True)
    )

    def session(self) -> AbstractAsyncContextManager[Session]:
        raise AssertionError("nothing that reasons needs a session")

    async def start(self) -> None:
        return None

    async def close(self) -> None:
        return None


def skill(name: str, tags: str, weapons: str = "", tier: int = 1, spirit: float = 0.0) -> GemFact:
    """Return an active skill; its colour is the attribute among its tags."""
    words = tags.split()
    return GemFact(
        id=f"Skill/{name.replace(' ', '')}",
        name=name,
        kind="active",
        colour=next((short for word, short in _COLOURS.items() if word in words), None),
        tags=words,
        weapon_types=[word for word in weapons.split("|") if word],
        level_requirements=_LEVELS,
        costs={} if spirit else {"Mana": 50.0},
        spirit=spirit,
        cast_time_s=0.8,
        tier=tier,
    )


def small_facts() -> FakeFacts:
    """Return the facts of the small world."""
    return FakeFacts(
        class_facts=[
            ClassFact(
                name=name,
                start_node=1,
                ascendancies=own,
                attributes=dict(zip(("str", "dex", "int"), have, strict=True)),
            )
            for name, (have, own) in _CLASSES.items()
        ],
        gem_facts=[
            *(skill(name, *facts) for name, facts in _SKILLS.items()),
            GemFact(id="Support/Pierce", name="Pierce", kind="support", colour="dex"),
            GemFact(id="Support/MinionLife", name="Minion Life", kind="support", colour="str", tags=["minion"]),
        ],
        node_facts=[
            NodeFact(id=1, name="Start", kind="start", neighbours=[2, 3]),
            NodeFact(id=2, name="Minion Damage", kind="normal", mods=["Minions deal 10% increased Damage"]),
            NodeFact(id=3, name="Chaos Inoculation", kind="keystone", mods=["Maximum Life is 1"]),
            NodeFact(id=4, name="Titanic", kind="notable", ascendancy="Titan", mods=["Slam Skills deal more"]),
            NodeFact(id=5, name="Roots", kind="notable", ascendancy="Warbringer", mods=["Totems gain Life"]),
        ],
        base_facts=[
            *(BaseFact(name=name, type=kind, requirements={"level": 65}) for kind, name in _BASES.items()),
            BaseFact(
                name="Razor Quarterstaff", type="Staff", sub_type="Warstaff", requirements={"level": 77, "dex": 127}
            ),
        ],
    )


def small_world() -> FactsEngine:
    """Return an engine that knows the small world."""
    return FactsEngine(small_facts())
