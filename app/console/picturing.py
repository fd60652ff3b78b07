"""`conflicts`: what is wrong with a build and what brings it about, as a picture."""

from __future__ import annotations

from typing import Literal

import typer

from app.core.config import Settings
from app.service import conflict_picture
from app.wiring import open_reading

Form = Literal["mermaid", "svg"]


async def draw_conflicts(settings: Settings, build_id: str, form: Form) -> None:
    """Print the picture."""
    async with open_reading(settings) as store:
        conflicts = (await store.library.get(build_id)).conflicts
    picture = conflict_picture.mermaid(conflicts) if form == "mermaid" else conflict_picture.svg(conflicts).decode()
    typer.echo(picture, nl=False)
