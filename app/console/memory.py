"""`memory show`, `memory forget`: what earlier builds taught."""

from __future__ import annotations

import typer

from app.core.config import Settings
from app.core.errors import InputError
from app.service.memories import MemoryPage, MemoryView, Scored
from app.wiring import open_reading


async def show_memory(settings: Settings, as_json: bool) -> None:
    """Print what is remembered."""
    async with open_reading(settings) as store:
        page = await store.memories.page()
    typer.echo(page.model_dump_json(indent=2) if as_json else memory_text(page))


async def forget_memory(settings: Settings, skill: str | None, everything: bool) -> None:
    """Forget the builds of a skill, or all of them.

    Raises:
        InputError: neither or both are named.
        NotFound: nothing is remembered of the skill.
    """
    if everything == (skill is not None):
        raise InputError("Name a skill with --skill, or say --all.")
    async with open_reading(settings) as store:
        many = await store.memories.forget(skill)
    typer.echo(f"Forgot {many} build{'' if many == 1 else 's'}.")


def memory_text(page: MemoryPage) -> str:
    """Return what is remembered as text for people."""
    blocks = ["\n".join(_lines(item)) for item in page.items] or ["Nothing is remembered yet."]
    wishes = [f"  {wish.field} = {wish.value} ({wish.builds} builds)" for wish in page.wishes]
    return "\n\n".join([*blocks, *(["\n".join(["Asked for in words:", *wishes])] if wishes else [])])


def _lines(item: MemoryView) -> list[str]:
    head = f"{item.skill}, {item.goal}, {item.engine}: {item.builds} builds, best score {item.score:+.3f}"
    parts = [("supports", item.supports), ("passives", item.notables), ("gear", item.bases)]
    lines = [f"  {title}: {_scored(one)}" for title, found in parts for one in found]
    failed = [f"  failed: {f.option} ({f.sub_problem.value.replace('_', ' ')}): {f.reason}" for f in item.failures]
    return [head, *lines, *failed]


def _scored(one: Scored) -> str:
    return f"{one.name} ({one.score:+.3f}, {one.builds} builds)"
