"""The build and the candidates that `bench whatif` tries."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.core.config import Settings
from app.core.errors import NotAvailable
from app.engine.base import Engine, Session
from app.model.blueprint import (
    JEWEL_SLOT,
    Allocate,
    Blueprint,
    Change,
    Deallocate,
    Equip,
    GearItem,
    PassiveNode,
    RemoveGroup,
    SetConfig,
    SetGroup,
    Unequip,
)
from app.model.facts import NodeFact
from app.model.names import Attribute
from app.model.request import BuildRequest
from app.wiring import open_services

HEAVY = "martialartist_96"
"""The build that is measured where the folder has it: many skills, many passives, radius jewels."""

PROMPT = "lightning sorceress for bossing"
COUNT = 480
ONLY_WHEN_COMMITTED = ("AreaOfEffectRadius", "ExtraPoints", "PassivePointsToWeapon", "WeaponSetPassive", "Spec:")
"""Numbers that the engine makes only for a committed build, or in another way in each process."""

Tries = list[list[Change]]


@dataclass(frozen=True)
class Case:
    """A build, candidates that only need the calculator, and one committed move of each kind."""

    name: str
    blueprint: Blueprint
    tries: Tries
    moves: dict[str, list[Change]]

    async def open(self, session: Session) -> None:
        """Load the build."""
        await session.build(self.blueprint)

    def compared(self, keys: Sequence[str]) -> list[str]:
        """Return those of the numbers that a what-if can know."""
        return [key for key in keys if not key.startswith(ONLY_WHEN_COMMITTED)]


async def load_case(settings: Settings, engine: Engine, folder: Path | None) -> Case:
    """Return the heavy build of the folder (default: beside the project), else its largest, else one we make.

    Raises:
        NotAvailable: the folder that was named has no build files.
    """
    name, xml = _file(folder) or await _made(settings)
    async with engine.session() as session:
        await session.load(xml)
        blueprint = await session.blueprint()
        dropped = set((await session.build(blueprint)).dropped_nodes)
    held = [node for node in blueprint.nodes if node.id not in dropped]
    nodes = {node.id: node for node in await engine.facts.nodes()}
    kept = blueprint.model_copy(update={"nodes": held})
    return Case(name, kept, _tries(kept, nodes), _moves(kept, nodes))


def _file(folder: Path | None) -> tuple[str, bytes] | None:
    home = folder or Path(__file__).parents[3] / "shared" / "builds"
    files = sorted(home.glob("*.xml"), key=lambda file: (file.stem != HEAVY, -file.stat().st_size, file.name))
    if files:
        return files[0].stem, files[0].read_bytes()
    if folder is not None:
        raise NotAvailable(f"There are no build files in {folder}.")
    return None


async def _made(settings: Settings) -> tuple[str, bytes]:
    """Return a level 90 build that this product makes."""
    with tempfile.TemporaryDirectory(prefix="buildwright-bench-") as folder:
        url = f"sqlite+aiosqlite:///{Path(folder) / 'bench.db'}"
        async with open_services(settings.model_copy(update={"database_url": url, "memory": "off"})) as services:
            made = await services.builds.create(BuildRequest(prompt=PROMPT, level=90))
            await services.builds.wait(made.id)
            return f"made: {PROMPT}", await services.library.export(made.id, "xml")


def _tries(blueprint: Blueprint, nodes: dict[int, NodeFact]) -> Tries:
    """Return passives to add, alone and as paths, to remove and to exchange, and items to take off."""
    held = {node.id for node in blueprint.nodes}
    near = _beside(nodes, held)
    paths = [(a, b) for a in near for b in _beside(nodes, {a}, held | {*near})]
    alone: Tries = [[_bought(nodes, a)] for a in near]
    pairs: Tries = [[_bought(nodes, a, b)] for a, b in paths]
    added = [*alone, *pairs]
    removed: Tries = [[Deallocate(nodes=[node])] for node in sorted(held)]
    swapped: Tries = [[*out, *into] for out, into in zip(removed, added, strict=False)]
    bare: Tries = [[Unequip(slot=slot)] for slot in sorted(blueprint.items) if not slot.startswith(JEWEL_SLOT)]
    return [*added, *removed, *swapped, *bare][:COUNT]


def _beside(nodes: dict[int, NodeFact], held: set[int], taken: set[int] | None = None) -> list[int]:
    found = {other for node in held if node in nodes for other in nodes[node].neighbours}
    return sorted(
        node
        for node in found - held - (taken or set())
        if node in nodes and nodes[node].kind != "start" and not nodes[node].ascendancy
    )


def _bought(nodes: dict[int, NodeFact], *ids: int) -> Allocate:
    wishes = [
        PassiveNode(id=node, attribute=Attribute.INTELLIGENCE if nodes[node].kind == "attribute" else None)
        for node in ids
    ]
    return Allocate(nodes=wishes)


def _moves(blueprint: Blueprint, nodes: dict[int, NodeFact]) -> dict[str, list[Change]]:
    near = _beside(nodes, {node.id for node in blueprint.nodes})
    ring = GearItem(slot="Ring 1", base="Sapphire Ring", rarity="NORMAL", item_level=80)
    first = blueprint.groups[blueprint.main_group - 1 if blueprint.main_group else 0]
    fewer = first.model_copy(update={"gems": first.gems[:-1] or first.gems})
    return {
        "passive": [_bought(nodes, near[0])],
        "last passive": [_bought(nodes, near[-1])],
        "item": [Equip(item=ring)],
        "empty slot": [Unequip(slot="Gloves")],
        "support": [SetGroup(index=max(1, blueprint.main_group), group=fewer)],
        "group": [RemoveGroup(index=len(blueprint.groups))],
        "configuration": [SetConfig(key="enemyIsBoss", value="None")],
    }
