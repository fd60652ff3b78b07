"""The pack's facts in the shapes that every engine answers with."""

from __future__ import annotations

from app.engine.protocol import Refused
from app.engine.sketch.gear import TABLES, rune_kinds
from app.engine.sketch.lines import Wording
from app.engine.sketch.pack import AffixFamily, Base, Pack
from app.engine.sketch.sheet import at_level
from app.model.blueprint import CHARM_SLOTS, HAND_SLOTS, LIFE_FLASK, MAIN_HAND, MANA_FLASK, OFF_HAND
from app.model.facts import AffixFact, BaseFact, ClassFact, GemFact, NodeFact, RuneFact

UNKNOWN = "unknown_fact"
_WEARABLE = {"Helmet", "Body Armour", "Gloves", "Boots", "Amulet", "Belt"}
_SLOTS = {
    "Ring": ["Ring 1", "Ring 2"],
    "Charm": [*CHARM_SLOTS],
    "Jewel": ["Jewel"],
    "Shield": [OFF_HAND],
    "Focus": [OFF_HAND],
    "Quiver": [OFF_HAND],
    "One Hand Mace": [*HAND_SLOTS],
}
_FLASK = {
    "life": "life",
    "mana": "mana",
    "chargesUsed": "charges_used",
    "chargesMax": "charges_max",
    "duration": "duration_s",
}
_DEFENCES = {"armour": "Armour", "evasion": "Evasion", "energy_shield": "EnergyShield", "block": "BlockChance"}


class PackFacts:
    """Answers questions about the game."""

    def __init__(self, pack: Pack, wording: Wording) -> None:
        self._pack = pack
        self._wording = wording

    def classes(self) -> list[ClassFact]:
        """Return all classes, sorted by name."""
        return [
            ClassFact(
                name=c.name,
                start_node=c.start,
                ascendancies=sorted(a.name for a in c.ascendancies),
                attributes=dict(zip(("str", "dex", "int"), c.attributes, strict=True)),
            )
            for c in sorted(self._pack.classes.values(), key=lambda c: c.name)
        ]

    def gems(self) -> list[GemFact]:
        """Return all gems, sorted by id."""
        game = self._pack.game
        gems: list[GemFact] = []
        for skill in self._pack.skills.values():
            cost = at_level(skill.mana, game.gem_samples, 20) if skill.mana else 0.0
            fact = GemFact(
                id=skill.id,
                name=skill.name,
                kind="active",
                colour=skill.colour,
                tags=sorted(skill.tags),
                skill_types=sorted(skill.types),
                weapon_types=list(skill.wields),
                level_requirements=[max(1, level) for level in game.gem_levels],
                costs={"Mana": cost} if cost else {},
                spirit=skill.spirit,
                cast_time_s=skill.cast_time,
                modelled=skill.deals_damage or bool(skill.effects),
                tier=skill.tier,
            )
            gems.append(fact)
        for support in self._pack.supports.values():
            fact = GemFact(
                id=support.id,
                name=support.name,
                kind="support",
                colour=support.colour,
                tags=sorted(support.tags),
                level_requirements=[1],
                natural_max_level=1,
                family=support.family,
                tier=support.tier,
                modelled=bool(support.effects),
            )
            gems.append(fact)
        return sorted(gems, key=lambda gem: gem.id)

    def nodes(self) -> list[NodeFact]:
        """Return all passives, sorted by id."""
        found = []
        for _, passive in sorted(self._pack.passives.items()):
            lines = [self._wording.line(stat, amount) for stat, amount in passive.gives.items()]
            if passive.kind == "attribute":
                lines = [self._wording.line("any_attribute", self._pack.game.attribute_passive)]
            fact = NodeFact(
                id=passive.id,
                name=passive.name,
                kind=passive.kind,
                mods=lines,
                neighbours=list(self._pack.neighbours[passive.id]),
                ascendancy=self._pack.ascendancy_of.get(passive.id),
                x=passive.at[0],
                y=passive.at[1],
                unparsed=passive.other,
                cost=0 if passive.kind in ("start", "ascendancy_start") else passive.cost,
                recipe=list(passive.recipe),
            )
            found.append(fact)
        return found

    def bases(self) -> list[BaseFact]:
        """Return all item bases, sorted by name."""
        found = []
        for _, base in sorted(self._pack.bases.items()):
            implicits = [self._wording.span_line(stat, spans) for stat, spans in base.implicit.items()]
            if base.grants:
                levels = "Level ({}-{}) ".format(*base.grants.levels) if base.grants.levels else ""
                implicits.append(f"Grants Skill: {levels}{base.grants.skill}")
            fact = BaseFact(
                name=base.name,
                type=base.type,
                sub_type=base.sub,
                slots=slots_of(base),
                tags=sorted(base.tags),
                requirements={"level": 1, "str": 0, "dex": 0, "int": 0, **base.requires},
                implicits=implicits,
                socket_limit=base.sockets,
                defences={_DEFENCES[k]: v for k, v in base.defences.items() if k in _DEFENCES},
                weapon=_weapon(base),
                flask={_FLASK[key]: value for key, value in base.flask.items()},
            )
            found.append(fact)
        return found

    def affixes(self, base_name: str) -> list[AffixFact]:
        """Return the affixes the base can have, sorted by id.

        Raises:
            Refused: unknown base.
        """
        base = self._known_base(base_name)
        found = []
        for family in (f for f in self._pack.families if can_spawn(f, base)):
            own = (a for (table, _), a in self._pack.affixes.items() if a.family is family and table == family.only)
            for affix in own:
                spans = zip(family.stats, affix.spans, strict=True)
                fact = AffixFact(
                    id=affix.id,
                    side=family.side,
                    name=affix.name,
                    group=family.group,
                    level=affix.level,
                    lines=[self._wording.span_line(stat, span) for stat, span in spans],
                    weight=1,
                    tags=list(family.tags),
                )
                found.append(fact)
        return sorted(found, key=lambda fact: fact.id)

    def runes(self, base_name: str) -> list[RuneFact]:
        """Return the runes the base can hold, sorted by name.

        Raises:
            Refused: unknown base.
        """
        kinds = rune_kinds(self._known_base(base_name))
        found = []
        for name, rune in sorted(self._pack.runes.items()):
            given = {k: v for kind, stats in rune.given.items() if kind in kinds for k, v in stats.items()}
            lines = [self._wording.line(stat, amount) for stat, amount in given.items() if stat != "other"]
            if lines:
                found.append(RuneFact(name=name, lines=lines, level=max(1, rune.level)))
        return found

    def supports_for(self, gem_id: str) -> list[str]:
        """Return the ids of supports that can act on the active gem, sorted.

        Raises:
            Refused: unknown active gem.
        """
        if gem_id not in self._pack.skills:
            raise Refused(f"unknown active gem {gem_id!r}", UNKNOWN)
        return sorted(self._pack.gems_by_name[name].id for name in self._pack.skills[gem_id].supports)

    def _known_base(self, name: str) -> Base:
        if name not in self._pack.bases:
            raise Refused(f"unknown item base {name!r}", UNKNOWN)
        return self._pack.bases[name]


def can_spawn(family: AffixFamily, base: Base) -> bool:
    """Return whether the base can have affixes of the family: the first tag it has decides, "!" means never."""
    if family.only != TABLES.get(base.type, ""):
        return False
    for tag in family.on:
        if tag.removeprefix("!") in base.tags:
            return not tag.startswith("!")
    return False


def slots_of(base: Base) -> list[str]:
    """Return the slots the base fits into, in PoB's words."""
    if base.type == "Flask":
        return [LIFE_FLASK if base.sub == "Life" else MANA_FLASK]
    if base.type in _WEARABLE:
        return [base.type]
    return _SLOTS.get(base.type, [MAIN_HAND])


def _weapon(base: Base) -> dict[str, float]:
    numbers = base.weapon
    if numbers is None:
        return {}
    found = {
        "PhysicalMin": numbers.damage[0],
        "PhysicalMax": numbers.damage[1],
        "AttackRateBase": numbers.rate,
        "CritChanceBase": numbers.crit,
        "Range": numbers.range,
    }
    return found | ({"ReloadTimeBase": numbers.reload} if numbers.reload else {})
