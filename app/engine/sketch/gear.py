"""What an item does when worn: its lines, local numbers, requirements."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.engine.protocol import Refused
from app.engine.sketch import lines as itemtext
from app.engine.sketch.lines import Wording, mean, rolled
from app.engine.sketch.pack import Amount, Base, Pack, Passive, WeaponNumbers
from app.model.blueprint import GearItem

Entry = tuple[str, Amount]
TABLES = {"Jewel": "Jewel"}
"""Item types with affixes of their own; everything else shares one table."""

_DAMAGE = {
    "weapon_physical": "physical",
    "weapon_fire": "fire",
    "weapon_cold": "cold",
    "weapon_lightning": "lightning",
}
_WEAPON_ONLY = frozenset([*_DAMAGE, "physical_damage", "attack_speed", "weapon_crit_chance", "weapon_crit_bonus"])
_LOCAL_INCREASES = {
    "armour": ("armour_inc", "all_defences_inc"),
    "evasion": ("evasion_inc", "all_defences_inc"),
    "energy_shield": ("local_energy_shield_inc", "all_defences_inc"),
    "block": ("block_inc",),
}
_FLAGS = {"bow", "crossbow", "spear", "mace", "talisman"}


@dataclass(frozen=True, slots=True)
class Weapon:
    """A weapon with its local affixes: mean damage per hit by type, attacks per second, crit in percent."""

    type: str
    flags: frozenset[str]
    damage: dict[str, float]
    rate: float
    crit: float
    bonus: float
    reload: float


@dataclass(frozen=True, slots=True)
class Worn:
    """An item as the calculator uses it. `stats` are global; defences count among them as flat amounts.

    `allocates`: the id of the notable that it is anointed with.
    """

    item: GearItem
    base: Base
    stats: dict[str, float]
    requires: dict[str, int]
    weapon: Weapon | None = None
    unread: tuple[str, ...] = ()
    buff: dict[str, float] = field(default_factory=dict)
    allocates: int | None = None


class ItemEffects:
    """Turns items into what they do; every item object is worked out once."""

    _MOST = 4096

    def __init__(self, pack: Pack, wording: Wording) -> None:
        self._pack = pack
        self._wording = wording
        self._known: dict[int, Worn] = {}

    def worn(self, item: GearItem) -> Worn:
        """Return what the item does.

        Raises:
            Refused: unknown base, affix or rune, or an affix on the wrong side.
        """
        found = self._known.get(id(item))
        if found is None or found.item is not item:
            if len(self._known) >= self._MOST:
                self._known.clear()
            found = self._known[id(item)] = self._read(item)
        return found

    def _read(self, item: GearItem) -> Worn:
        """Work the item out: from its affixes, or from the lines of its text as far as the pack has their wording."""
        base = self.base(item)
        unread: list[str] = []
        anoint = self.anoint(item)
        if item.text is None:
            entries = [*self.implicit(item), *self.runes(item), *self.explicit(item)]
        else:
            entries = []
            read = itemtext.read(item.text)
            anoint = anoint or self._pack.notables.get(read.anoint)
            unread += [itemtext.ALLOCATES + read.anoint] if read.anoint and anoint is None else []
            for line in read.lines:
                entry = self._wording.read(line)
                if entry is not None:
                    entries.append(entry)
                elif not line.startswith(("Grants Skill:", "Bonded:")):
                    unread.append(line)
        totals: dict[str, float] = {}
        for stat, amount in entries:
            totals[stat] = totals.get(stat, 0.0) + mean(amount)
        requires = {"level": 1, **base.requires}
        if base.grants and base.grants.levels:
            level = self._pack.game.gem_levels[granted_level(self._pack, item) - 1]
            requires["level"] = max(requires["level"], level)
            if base.grants.intelligence:
                requires["int"] = gem_attribute(requires["level"], base.grants.intelligence)
        runes = [self._pack.runes[rune].level for rune in item.runes if rune in self._pack.runes]
        requires["level"] = max([requires["level"], *runes])
        weapon = _weapon(base, base.weapon, totals, item.quality) if base.weapon else None
        stats = {k: v for k, v in totals.items() if not (weapon and k in _WEAPON_ONLY)}
        if base.defences:
            stats = _with_defences(base, stats, item.quality)
        return Worn(item, base, stats, requires, weapon, tuple(unread), base.buff, anoint.id if anoint else None)

    def anoint(self, item: GearItem) -> Passive | None:
        """Return the notable that the item is anointed with beside its text.

        Raises:
            Refused: there is no such notable, or the item is no amulet.
        """
        if not item.anoint:
            return None
        if self.base(item).type != "Amulet":
            raise Refused(f"{item.base} cannot be anointed")
        if item.anoint not in self._pack.notables:
            raise Refused(f"there is no notable {item.anoint!r}")
        return self._pack.notables[item.anoint]

    def explicit(self, item: GearItem) -> list[Entry]:
        """Return stats and amounts of the explicit affixes, prefixes first."""
        table = TABLES.get(self.base(item).type, "")
        found: list[Entry] = []
        for side, rolls in (("prefix", item.prefixes), ("suffix", item.suffixes)):
            for roll in rolls:
                affix = self._pack.affixes.get((table, roll.id))
                if affix is None or affix.family.side != side:
                    raise Refused(f"unknown {side} {roll.id!r} for {item.base}")
                found += [(s, rolled(span, roll.roll)) for s, span in zip(affix.family.stats, affix.spans, strict=True)]
        return found

    def implicit(self, item: GearItem) -> list[Entry]:
        """Return stats and amounts every item of the base has, at the middle of their ranges."""
        return [(stat, rolled(spans, 0.5)) for stat, spans in self.base(item).implicit.items()]

    def runes(self, item: GearItem) -> list[Entry]:
        """Return stats and amounts of the socketed runes."""
        base = self.base(item)
        found: list[Entry] = []
        for name in item.runes:
            if name == "None":
                continue
            if name not in self._pack.runes:
                raise Refused(f"unknown rune {name!r}")
            for kind, given in self._pack.runes[name].given.items():
                if kind in rune_kinds(base):
                    found += [(stat, amount) for stat, amount in given.items() if stat != "other"]
        return found

    def base(self, item: GearItem) -> Base:
        """Return the item's base."""
        base = self._pack.bases.get(item.base)
        if base is None:
            raise Refused(f"unknown item base {item.base!r}")
        return base


def rune_kinds(base: Base) -> frozenset[str]:
    """Return the kinds of item that the base is for runes, in PoB's words."""
    kinds = {base.type.lower()}
    if base.weapon:
        kinds.add("weapon")
    if base.defences:
        kinds.add("armour")
    if base.type in ("Wand", "Sceptre") or (base.type == "Staff" and base.sub != "Warstaff"):
        kinds.add("caster")
    if base.sub == "Warstaff":
        kinds.add("warstaff")
    return frozenset(kinds)


def granted_level(pack: Pack, item: GearItem) -> int:
    """Return the level of the skill the base grants: the highest whose own requirement fits the item level."""
    return max((n for n, need in enumerate(pack.game.gem_levels, 1) if need <= item.item_level), default=1)


def gem_attribute(level: int, share: float) -> int:
    """Return the attribute an active gem needs at a required character level (game formula); share in percent."""
    if share <= 0:
        return 0
    need = int((5 + (level - 3) * 1.7) * (share / 100) ** 0.9 + 0.5) + 4
    return need if need >= 8 else 0


def _weapon(base: Base, numbers: WeaponNumbers, totals: dict[str, float], quality: int) -> Weapon:
    damage = {kind: totals[stat] for stat, kind in _DAMAGE.items() if stat in totals}
    physical = damage.get("physical", 0.0) + sum(numbers.damage) / 2
    damage["physical"] = physical * (1 + totals.get("physical_damage", 0.0) / 100) * (1 + quality / 100)
    hands = "two_handed" if "twohand" in base.tags else "one_handed"
    kind = "quarterstaff" if base.sub == "Warstaff" else ""
    return Weapon(
        type=base.type,
        flags=frozenset({hands, kind} | (_FLAGS & base.tags)) - {""},
        damage=damage,
        rate=numbers.rate * (1 + totals.get("attack_speed", 0.0) / 100),
        crit=numbers.crit + totals.get("weapon_crit_chance", 0.0),
        bonus=totals.get("weapon_crit_bonus", 0.0),
        reload=numbers.reload,
    )


def _with_defences(base: Base, stats: dict[str, float], quality: int) -> dict[str, float]:
    """Local rule of the game: (base + flat) x (1 + local increases) x (1 + quality)."""
    kept = dict(stats)
    for name, value in base.defences.items():
        increases = sum(stats.get(key, 0.0) for key in _LOCAL_INCREASES.get(name, ()))
        share = 1 if name in ("block", "movement_penalty") else 1 + quality / 100
        kept[name] = round((value + stats.get(name, 0.0)) * (1 + increases / 100) * share, 4)
    for keys in _LOCAL_INCREASES.values():
        for key in keys:
            kept.pop(key, None)
    return kept
