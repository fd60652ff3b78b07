"""`bench gear`: real players' builds with our rares of each gear tier instead of theirs.

Tree, skills and uniques stay; every rare item, jewels included, is chosen anew within the tier, for damage and
effective hit points like the owner's. A tier is calibrated when the builds it is meant for come out about as their
owners have them.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.bench.builds import build_files
from app.core.config import Settings
from app.core.errors import InputError
from app.engine.base import Engine, Outputs
from app.model.anchors import Column, column_at
from app.model.base import changed
from app.model.blueprint import HAND_SLOTS, JEWEL_SLOT, SWAP, Blueprint, Change, GearItem
from app.model.constraints import InvariantSet
from app.model.demands import ELEMENTAL_RESISTANCE_CAP, Demands, Floor, floors_for, without_defences
from app.model.facts import BaseFact
from app.model.moves import Locks
from app.model.names import GearTier, Goal
from app.model.stats import DPS, EHP, RESISTANCES
from app.model.sub_problems import (
    AscendancyChoice,
    DeliveryChoice,
    RequirementsChoice,
    ScalingChoice,
    SpiritChoice,
    SurvivabilityChoice,
    SustainChoice,
)
from app.search.base import Plan, SearchContext
from app.search.effort import LIMITS
from app.search.gear.bases import ARMOUR_SLOTS, ATTRIBUTE_JEWELS, best_first, jewellery_options, usable
from app.search.gear.loadout import plainly
from app.search.gear.pool import SlotPool, slot_pool
from app.search.gear.search import GearSearch
from app.search.incumbent import Incumbent, trial_prefix
from app.search.objective import METRICS, Objective
from app.search.sessions import LoadedSession, Sharing, open_parallel
from app.wiring import ConfiguredEngines, engine_workers

DAMAGE_SKILLS = {
    "amazon_100": "Lightning Rod",
    "bloodmage_86": "Ember Fusillade",
    "chronomancer_97": "Incinerate",
    "gemlinglegionnaire_94": "Hailstorm Rounds",
    "invoker_100": "Lightning Arrow",
    "pathfinder_99": "Poisonburst Arrow",
    "ritualist_96": "Lightning Spear",
    "sorceress_69": "Comet",
    "titan_72": "Hammer of the Gods",
    "warbringer_100": "Boneshatter",
    "witch_85": "Skeletal Frost Mage",
}
"""What an owner deals damage with where the file's main skill is a herald, a buff, or not what the supports are for."""

TIERS = tuple(GearTier)
BINDING = (0.7, 1.3)
"""Between which the median ratios of `endgame` must be on characters from level 90 on."""

PER_KIND = 2


@dataclass(frozen=True)
class OwnersBuild:
    """A file with the figures that its owner has; `setup` makes the damage skill the main one."""

    name: str
    xml: bytes
    blueprint: Blueprint
    skill: str
    setup: list[Change]
    outputs: Outputs

    @property
    def rares(self) -> list[str]:
        """The slots of rare items that can be replaced: not those of the second weapon set."""
        items = sorted(self.blueprint.items.items())
        return [slot for slot, item in items if item.rarity == "RARE" and not slot.endswith(SWAP)]


async def measure(settings: Settings, folder: Path | None, only: Sequence[str] = ()) -> dict[str, Any]:
    """Return per file and tier the ratio of DPS and EHP to the owner's, and medians per level of character.

    Raises:
        NotAvailable: there are no build files.
        InputError: there is no file of one of the names, or none of them wears a rare item.
        EngineMissing: Path of Building is not installed.
    """
    files = build_files(folder, only)
    rows: list[dict[str, Any]] = []
    room = ConfiguredEngines(settings)
    try:
        engine = await room.engine("pob")
        for path in files:
            owner = await owners_build(engine, path)
            if owner.rares:
                rows.append(await _row(engine, owner, engine_workers(settings)))
                print(_in_columns(rows[-1]), file=sys.stderr, flush=True)  # noqa: T201 - progress of a long run
    finally:
        await room.close()
    if not rows:
        raise InputError("None of these builds wears a rare item.")
    found = medians(rows)
    return {
        "benchmark": "gear",
        "engine": engine.version.model_dump(),
        "count": len(rows),
        "endgame_holds": endgame_holds(found),
        "medians": found,
        "rows": rows,
        "table": table(rows),
    }


async def owners_build(engine: Engine, path: Path) -> OwnersBuild:
    """Read a file and measure it with the skill that its owner deals damage with."""
    xml = await asyncio.to_thread(path.read_bytes)
    async with engine.session() as session:
        await session.load(xml)
        blueprint = await session.blueprint()
        index = damage_group(blueprint, DAMAGE_SKILLS.get(path.stem))
        setup: list[Change] = trial_prefix(index, blueprint)
        (outputs,) = await session.what_if([setup], METRICS)
    gems = blueprint.groups[index - 1].gems if index else []
    return OwnersBuild(path.stem, xml, blueprint, gems[0].name if gems else "", setup, outputs)


def damage_group(blueprint: Blueprint, skill: str | None) -> int:
    """Return the 1-based group that the skill leads; the file's main group where none is named or none has it."""
    led = (i for i, group in enumerate(blueprint.groups, start=1) if group.gems and group.gems[0].name == skill)
    return next(led, blueprint.main_group)


async def _row(engine: Engine, owner: OwnersBuild, sessions: int) -> dict[str, Any]:
    start = time.monotonic()
    tiers = {tier.value: await dressed(engine, owner, tier, sessions) for tier in TIERS}
    return {
        "build": owner.name,
        "level": owner.blueprint.level,
        "skill": owner.skill,
        "rares": len(owner.rares),
        "dps": round(owner.outputs.get(DPS, 0.0)),
        "ehp": round(owner.outputs.get(EHP, 0.0)),
        "tiers": tiers,
        "seconds": round(time.monotonic() - start, 1),
    }


async def dressed(engine: Engine, owner: OwnersBuild, tier: GearTier, sessions: int) -> dict[str, float | None]:
    """Return DPS and EHP with our rares of the tier, as ratios to the owner's."""
    floors = changed(
        without_defences(floors_for(owner.blueprint.level, tier)),
        dps=_like(owner.outputs.get(DPS, 0.0)),
        ehp=_like(owner.outputs.get(EHP, 0.0)),
        resistance=_like(min(ELEMENTAL_RESISTANCE_CAP, *(owner.outputs.get(key, 0.0) for key in RESISTANCES))),
    )
    demands = Demands(level=owner.blueprint.level, gear=tier, goal=Goal.ALL_ROUND, hardcore=False, floors=floors)
    async with open_parallel(engine, None, Sharing(sessions)) as parallel:
        loaded = LoadedSession(parallel, owner.xml, owner.blueprint, Locks(), trial_prefix=owner.setup)
        await loaded.open()
        ctx = SearchContext(engine, loaded, owner.blueprint, _plan(owner), demands, InvariantSet(), 0)
        incumbent = await Incumbent.open(ctx, Objective(floors))
        await incumbent.learn_requirements()
        # what the owner does without is not asked of our items either
        lacking = incumbent.objective.shortfalls(incumbent.outputs)
        incumbent.objective = incumbent.objective.without(*(guard for guard, gap in lacking.items() if gap > 0))
        pools = await _pools(ctx, owner)
        await incumbent.commit(plainly(incumbent.blueprint, pools))
        search = GearSearch(incumbent, pools, {})
        await search.start()
        await search.craft(LIMITS[ctx.effort].gear_again)
        await search.exchange()
    ratios = {key: _ratio(incumbent.outputs, owner.outputs, name) for key, name in (("dps", DPS), ("ehp", EHP))}
    return {**ratios, "trials": incumbent.trials}


def _like(figure: float) -> Floor:
    """Return the floor that asks for what the owner has, of percent at least 1."""
    return Floor(least=max(1.0, figure), good=max(1.0, figure))


def _ratio(ours: Outputs, owners: Outputs, key: str) -> float | None:
    return round(ours.get(key, 0.0) / owners[key], 3) if owners.get(key, 0.0) > 0 else None


def _plan(owner: OwnersBuild) -> Plan:
    """Return a plan that asks for nothing: gear search reads the demands of the tier and the build itself."""
    return Plan(
        ascendancy=AscendancyChoice(class_name=owner.blueprint.class_name, ascendancy=owner.blueprint.ascendancy or ""),
        delivery=DeliveryChoice(skill_id="", skill_name=owner.skill),
        scaling=ScalingChoice(),
        survivability=SurvivabilityChoice(),
        sustain=SustainChoice(),
        spirit=SpiritChoice(),
        requirements=RequirementsChoice(),
    )


async def _pools(ctx: SearchContext, owner: OwnersBuild) -> list[SlotPool]:
    """Return the choices of every slot that holds a rare item, where the tier has a base of its kind."""
    known = {base.name: base for base in await ctx.engine.facts.bases()}
    ordinary = sorted(usable(known.values(), ctx), key=lambda base: base.name)
    found = []
    for slot in owner.rares:
        item = owner.blueprint.items[slot]
        bases = alike(ordinary, item, known.get(item.base))
        if bases:
            found.append(await slot_pool(ctx, slot, bases))
    return found


def alike(ordinary: Iterable[BaseFact], item: GearItem, own: BaseFact | None) -> list[BaseFact]:
    """Return the bases that our item may have: of the same kind the best, then the owner's own where the tier has it.

    A jewel with a radius is no ordinary jewel and stays.
    """
    if own is None:
        return []
    if item.slot.startswith(JEWEL_SLOT):
        return [base for base in ordinary if base.name in ATTRIBUTE_JEWELS] if own.name in ATTRIBUTE_JEWELS else []
    if item.slot in (*HAND_SLOTS, *ARMOUR_SLOTS):
        same = best_first(b for b in ordinary if (b.type, b.sub_type) == (own.type, own.sub_type))
        return [*same[:PER_KIND], *(base for base in same[PER_KIND:] if base.name == own.name)]
    return jewellery_options(list(ordinary), item.slot.replace("Ring 3", "Ring 1"))


def medians(rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, dict[str, Any]]]:
    """Return per column of players and tier the median ratios and of how many builds (n)."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for column in Column:
        group = [row for row in rows if column_at(row["level"]).column is column]
        for tier in TIERS if group else ():
            figures: dict[str, Any] = {"n": len(group)}
            for key in ("dps", "ehp"):
                ratios = [row["tiers"][tier.value][key] for row in group]
                known = [ratio for ratio in ratios if ratio is not None]
                figures[key] = round(statistics.median(known), 3) if known else None
            found.setdefault(column.value, {})[tier.value] = figures
    return found


def endgame_holds(found: dict[str, dict[str, dict[str, Any]]]) -> bool | None:
    """Return whether `endgame` gear is about what the owners from level 90 on have; None when there are none."""
    ladder = found.get(Column.LEVEL_90.value, {}).get(GearTier.ENDGAME.value, {})
    known = [ladder[key] for key in ("dps", "ehp") if ladder.get(key) is not None]
    return all(BINDING[0] <= ratio <= BINDING[1] for ratio in known) if known else None


def table(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return the ratios as lines: DPS and EHP of each tier, per build and as medians."""
    heads = "".join(f"{tier.value:>16}" for tier in TIERS)
    lines = [f"{'build (damage skill, rares replaced)':<52}{heads}", *(_in_columns(row) for row in rows)]
    for column, tiers in medians(rows).items():
        count = next(iter(tiers.values()))["n"]
        lines.append(f"{f'median, {column} (n={count})':<52}" + "".join(_pair(tiers[tier.value]) for tier in TIERS))
    return [*lines, "Each pair: DPS / EHP as multiples of the owner's."]


def _in_columns(row: dict[str, Any]) -> str:
    name = f"{row['build']} ({row['skill']}, {row['rares']})"
    return f"{name:<52}" + "".join(_pair(row["tiers"][tier.value]) for tier in TIERS)


def _pair(figures: dict[str, Any]) -> str:
    dps, ehp = ("-" if figures[key] is None else f"{figures[key]:.2f}" for key in ("dps", "ehp"))
    return f"{dps + ' / ' + ehp:>16}"
