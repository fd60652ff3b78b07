"""The time of a build as a flame view: each stretch as wide as its time, its parts below it."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape

from app.core.spans import SpanKind
from app.metrics.breakdown import Stretch

WIDTH = 1200.0
ROW = 20
_LETTER = 6.6
_NARROWEST = 0.6
_COLOURS = {
    SpanKind.FRAME: "#b8b8b8",
    SpanKind.PLANNER: "#8fb8e8",
    SpanKind.SEARCH: "#8fd0a0",
    SpanKind.ENGINE: "#f0b060",
    SpanKind.MODEL: "#c8a0e8",
    SpanKind.WAIT: "#e88080",
    SpanKind.STORE: "#d8d078",
}


def flame_svg(tree: Stretch) -> bytes:
    """Return the picture as SVG: complete, without scripts or anything from elsewhere."""
    height = ROW * (_depth(tree) + 2)
    key = "".join(
        f'<rect x="{8 + place * 120}" y="{height - ROW + 4}" width="12" height="12" fill="{colour}"/>'
        f'<text x="{24 + place * 120}" y="{height - 6}" fill="#808080">{kind.value}</text>'
        for place, (kind, colour) in enumerate(_COLOURS.items())
    )
    body = "".join(_boxes(tree, 0.0, WIDTH, 0, tree.wall_ms))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {height}" role="img"'
        f' font-family="monospace" font-size="11"><title>Where the time went: {tree.wall_ms / 1000:.1f} s</title>'
        f"{body}{key}</svg>\n"
    ).encode()


def _depth(one: Stretch) -> int:
    return 1 + max((_depth(child) for child in one.children), default=0)


def _boxes(one: Stretch, left: float, width: float, level: int, whole_ms: float) -> Iterator[str]:
    if width < _NARROWEST:
        return
    share = one.wall_ms / whole_ms if whole_ms else 0.0
    told = f"{one.name}: {one.wall_ms:,.1f} ms ({share:.1%}), own {one.self_ms:,.1f} ms, {one.calls} times"
    room = int((width - 6) / _LETTER)
    label = one.name if len(one.name) <= room else f"{one.name[: room - 1]}…" if room > 3 else ""
    yield (
        f'<g><title>{escape(told)}</title><rect x="{left:.2f}" y="{level * ROW}" width="{width:.2f}"'
        f' height="{ROW - 1}" fill="{_COLOURS[one.kind]}"/>'
        f'<text x="{left + 3:.2f}" y="{level * ROW + 14}">{escape(label)}</text></g>'
    )
    for child in one.children:
        wide = width * child.wall_ms / one.wall_ms if one.wall_ms else 0.0
        yield from _boxes(child, left, wide, level + 1, whole_ms)
        left += wide
