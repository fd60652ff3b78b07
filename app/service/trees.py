"""The passive tree as it is drawn: where its passives stand, and a build's own as a picture."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Final

from app.core.errors import EngineMissing, TreeUnavailable
from app.model.base import Model, changed
from app.model.facts import EdgeFact, NodeFact
from app.service.prompts import EngineRoom
from app.service.sheet import CharacterSheet

ROOM: Final = 700.0
"""Free space around what is drawn, in tree coordinates."""

_RADII: Final = {"normal": 42, "attribute": 42, "notable": 75, "keystone": 110, "socket": 75}
_SETS: Final = {0: "#e0a458", 1: "#7fd19b", 2: "#8ab8ff"}
"""Colours of what is allocated: for both weapon sets, for the first, for the second."""


class TreeDrawing(Model):
    """The whole tree: passives with coordinates (y grows downwards, ascendancies stand in the middle), connections, and
    the versions of Path of Building and of the tree."""

    version: str
    nodes: list[NodeFact]
    edges: list[EdgeFact]


class Trees:
    """Draws passive trees; what the engine knows of them is asked for once per version."""

    def __init__(self, engines: EngineRoom) -> None:
        self._engines = engines
        self._known: TreeDrawing | None = None
        self._packed: tuple[str, bytes] | None = None

    async def drawing(self) -> TreeDrawing:
        """Return the whole tree.

        Raises:
            TreeUnavailable: Path of Building is not installed.
            EngineError: it does not answer.
        """
        try:
            engine = await self._engines.engine("pob")
        except EngineMissing as error:
            raise TreeUnavailable(
                "Only Path of Building knows where passives stand; to install it, run `buildwright pob install`."
            ) from error
        version = f"{engine.version.version}-{engine.version.tree_version}"
        if self._known is None or self._known.version != version:
            nodes, edges = await engine.facts.nodes(), await engine.facts.edges()
            self._known = TreeDrawing(version=version, nodes=gathered(nodes), edges=edges)
        return self._known

    async def packed(self) -> tuple[str, bytes]:
        """Return the version of the tree, and all of it as compressed JSON.

        Raises:
            TreeUnavailable, EngineError: as `drawing`.
        """
        drawing = await self.drawing()
        if self._packed is None or self._packed[0] != drawing.version:
            text = drawing.model_dump_json(exclude={"nodes": {"__all__": {"neighbours", "unparsed", "unlocked_by"}}})
            self._packed = drawing.version, await asyncio.to_thread(gzip.compress, text.encode(), 6, mtime=0)
        return self._packed

    async def svg(self, sheet: CharacterSheet) -> bytes:
        """Return the tree with what the character has of it as SVG, which needs nothing else to be shown.

        Raises:
            TreeUnavailable, EngineError: as `drawing`.
        """
        return (await asyncio.to_thread(tree_svg, await self.drawing(), sheet)).encode()


def gathered(nodes: Sequence[NodeFact]) -> list[NodeFact]:
    """Return the passives with every ascendancy in the free middle of the tree, where the game shows one's own."""
    places: dict[str, list[NodeFact]] = {}
    for node in nodes:
        if node.ascendancy is not None:
            places.setdefault(node.ascendancy, []).append(node)
    middles = {}
    for name, own in places.items():
        xs, ys = [node.x for node in own], [node.y for node in own]
        middles[name] = (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2
    return [
        changed(node, x=node.x - middles[node.ascendancy][0], y=node.y - middles[node.ascendancy][1])
        if node.ascendancy is not None
        else node
        for node in nodes
    ]


def tree_svg(drawing: TreeDrawing, sheet: CharacterSheet) -> str:
    """Return the picture: the whole tree faintly, above it what is allocated, with names to hover over."""
    shown = {node.id: node for node in drawing.nodes if node.ascendancy in (None, sheet.ascendancy)}
    taken = {node.id: node.weapon_set for node in sheet.nodes if node.id in shown}
    starts = {node.id for node in shown.values() if node.kind in ("start", "ascendancy_start")}
    edges = [edge for edge in drawing.edges if edge.a in shown and edge.b in shown]
    reached = {**taken, **dict.fromkeys(starts, 0)}
    walked = [one for one in edges if {one.a, one.b} <= reached.keys() and not {one.a, one.b} <= starts]
    xs, ys = [node.x for node in shown.values()], [node.y for node in shown.values()]
    box = (min(xs) - ROOM, min(ys) - ROOM, max(xs) - min(xs) + 2 * ROOM, max(ys) - min(ys) + 2 * ROOM)
    who = escape(f"level {sheet.level} {sheet.ascendancy or sheet.class_name}")
    dots = "".join(f"M{node.x:.0f} {node.y:.0f}h0" for node in shown.values())  # no length, but round ends
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{" ".join(f"{one:.0f}" for one in box)}" role="img">',
            f"<title>Passive tree of a {who}: {len(taken)} passives</title>",
            f'<rect x="{box[0]:.0f}" y="{box[1]:.0f}" width="{box[2]:.0f}" height="{box[3]:.0f}" fill="#14130f"/>',
            f'<path d="{_lines(edges, shown)}" fill="none" stroke="#4a4436" stroke-width="16"/>',
            f'<path d="{dots}" stroke="#6b6252" stroke-width="70" stroke-linecap="round"/>',
            *(
                f'<path d="{_lines(own, shown)}" fill="none" stroke="{colour}" stroke-width="36"/>'
                for group, colour in _SETS.items()
                if (own := [one for one in walked if max(reached[one.a], reached[one.b]) == group])
            ),
            *(_passive(shown[number], group, sheet.jewels) for number, group in taken.items()),
            "</svg>\n",
        ]
    )


def _lines(edges: Iterable[EdgeFact], nodes: Mapping[int, NodeFact]) -> str:
    parts = []
    for edge in edges:
        start, end, bend = nodes[edge.a], nodes[edge.b], f"{edge.radius:.0f}"
        way = f"A{bend} {bend} 0 0 {int(edge.clockwise)} " if edge.radius else "L"
        parts.append(f"M{start.x:.0f} {start.y:.0f}{way}{end.x:.0f} {end.y:.0f}")
    return "".join(parts)


def _passive(node: NodeFact, group: int, jewels: Mapping[str, str]) -> str:
    jewel = jewels.get(str(node.id))
    name = escape(f"{node.name}: {jewel}" if jewel else "; ".join([node.name, *node.mods]))
    fill = "#cf9be2" if jewel else _SETS[group]
    place = f'cx="{node.x:.0f}" cy="{node.y:.0f}" r="{_RADII.get(node.kind, 42)}"'
    return f'<circle {place} fill="{fill}"><title>{name}</title></circle>'
