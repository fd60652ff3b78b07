"""Jinja2 as the pages use it: everything escaped, a name that is not there is an error."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from app.model.blueprint import enemy_in_words
from app.service.presentation import number, percent

FOLDER: Final = Path(__file__).parent / "templates"
STATIC: Final = Path(__file__).parent / "static"
HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src"
    " 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
"""Nothing from elsewhere, no script or style inside a page; what a build holds stays out of caches."""
REFERENCE_HEADERS: Final = {
    **HEADERS,
    "Content-Security-Policy": HEADERS["Content-Security-Policy"]
    .replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")
    .replace("img-src 'self'", "img-src 'self' data:"),
}
"""Of the reference of calls: Swagger UI sets styles and pictures from within its script."""

_DURATIONS: Final = ((3600_000, "h"), (60_000, "min"), (1000, "s"))


def duration(ms: float | None) -> str:
    """Return milliseconds as people read them; unknown is "?"."""
    if ms is None:
        return "?"
    size, unit = next(((size, unit) for size, unit in _DURATIONS if ms >= size), (1, "ms"))
    return f"{ms / size:.1f} {unit}" if ms < 10 * size and size > 1 else f"{ms / size:,.0f} {unit}"


def share(value: float | None) -> str:
    """Return a share (0 to 1) as a percentage; unknown is "?"."""
    return "?" if value is None else f"{value:.0%}".replace("%", " %")


def gain(value: float | None) -> str:
    """Return a relative gain with its sign, to a tenth of a per cent; unknown is "?"."""
    return "?" if value is None else f"{value:+.1%}".replace("%", " %")


def figure(value: float | None) -> str:
    """Return a figure of any size: whole from a hundred on, else with three digits; unknown is "?"."""
    if value is None:
        return "?"
    return number(value) if abs(value) >= 100 else f"{value:.3g}"


def words(name: object) -> str:
    """Return a name of the model in words: damage_over_time → damage over time."""
    return str(name).replace("_", " ")


_ENVIRONMENT = Environment(
    loader=FileSystemLoader(FOLDER), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)
_ENVIRONMENT.globals.update(here="", signed_in=False)
_ENVIRONMENT.filters.update(
    number=number,
    percent=percent,
    duration=duration,
    share=share,
    gain=gain,
    words=words,
    figure=figure,
    enemy=enemy_in_words,
)


def render(name: str, **values: Any) -> str:
    """Return the template filled in."""
    return _ENVIRONMENT.get_template(name).render(**values)
