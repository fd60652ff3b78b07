"""`bench refine`: do refinements of real players' builds keep their word?

Every file is imported and refined twice: "more effective HP" must raise effective hit points by 15 % at no more than
5 % damage lost, "more damage" the reverse; otherwise the child must be its parent, byte for byte.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lxml import etree

from app.bench.builds import build_files, scratch_services
from app.core.config import Settings
from app.engine.files.xml import read, write
from app.model.moves import Locks, Part
from app.model.stats import DPS, EHP
from app.service import Services
from app.service.imports import ImportRequest
from app.service.refinement import RefineRequest
from app.service.view import BuildView

PROMPTS = ("more effective HP", "more damage")
WANTED = 0.8
"""Share of refinements that must reach the wish."""


async def measure(
    settings: Settings, folder: Path | None, only: Sequence[str] = (), prompts: Sequence[str] = PROMPTS
) -> dict[str, Any]:
    """Return per file and prompt what was reached, whether locked parts stayed, trials and seconds.

    Raises:
        NotAvailable: there are no build files.
        InputError: there is no file of one of the names.
    """
    files = build_files(folder, only)
    async with scratch_services(settings) as services:
        rows = []
        for path in files:
            text = await asyncio.to_thread(path.read_text, encoding="utf-8-sig")
            parent = await services.imports.create(ImportRequest(xml=text))
            rows += [await _row(services, path.stem, parent, prompt) for prompt in prompts]
    reached = sum(row["reached"] for row in rows)
    found = {
        "count": len(rows),
        "reached": reached,
        "share": round(reached / len(rows), 3),
        "enough": reached >= WANTED * len(rows),
        "honest": all(row["honest"] for row in rows),
        "locks_kept": all(row["locks_kept"] for row in rows),
        "trials": sum(row["trials"] for row in rows),
        "seconds": round(sum(row["seconds"] for row in rows), 1),
    }
    head = f"{'build':<24}{'prompt':<20}{'result':<12}{'damage':>8}{'ehp':>8}{'changes':>9}{'trials':>8}{'seconds':>9}"
    kept = f"locked parts kept: {'yes' if found['locks_kept'] else 'NO'}"
    unchanged = f"the others unchanged: {'yes' if found['honest'] else 'NO'}"
    share = f"{reached} of {len(rows)} reached ({found['share']:.0%})"
    table = [head, *(_in_columns(row) for row in rows), f"{share}; {kept}; {unchanged}"]
    return {"benchmark": "refine", **found, "rows": rows, "table": table}


def _in_columns(row: dict[str, Any]) -> str:
    result = "reached" if row["reached"] else "no change" if row["unchanged"] else row["status"]
    figures = "".join(f"{'-' if row[key] is None else format(row[key], '.3f'):>8}" for key in ("damage", "ehp"))
    counts = f"{row['changes']:>9}{row['trials']:>8}{row['seconds']:>9.1f}"
    return f"{row['build']:<24}{row['prompt']:<20}{result:<12}{figures}{counts}"


async def _row(services: Services, name: str, parent: BuildView, prompt: str) -> dict[str, Any]:
    start = time.monotonic()
    child = await services.refinements.refine(parent.id, RefineRequest(prompt=prompt))
    await services.builds.wait(child.id)
    services.library.forget(child.id)
    view = await services.library.get(child.id)
    before = await services.library.export(parent.id, "xml")
    after = await services.library.export(child.id, "xml")
    found = view.refinement
    reached = found is not None and bool(found.reached)
    return {
        "build": name,
        "prompt": prompt,
        "status": view.status.value,
        "reached": reached,
        "unchanged": before == after,
        "honest": reached or before == after,
        "locks_kept": found is not None and not broken_locks(before, after, found.locks),
        "damage": _ratio(found.before, found.after, DPS) if found else None,
        "ehp": _ratio(found.before, found.after, EHP) if found else None,
        "changes": len(found.changes) if found else 0,
        "measured_with": found.measured_with if found else None,
        "verdict": found.verdict if found else "",
        "trials": view.exploration.trials if view.exploration else 0,
        "seconds": round(time.monotonic() - start, 1),
    }


def _ratio(before: dict[str, float], after: dict[str, float], key: str) -> float | None:
    old = before.get(key, 0.0)
    return round(after.get(key, 0.0) / old, 4) if old > 0 else None


def broken_locks(before: bytes, after: bytes, locks: Locks) -> list[str]:
    """Return what differs in two files although it is locked: slots by name, parts by theirs."""
    old, new = read(before), read(after)
    worn_before, worn_after = worn(old), worn(new)
    slots = sorted(slot for slot in {*worn_before, *worn_after} if locks.holds_slot(slot))
    broken = [slot for slot in slots if worn_before.get(slot) != worn_after.get(slot)]
    if locks.holds(Part.TREE) and passives(old) != passives(new):
        broken.append(Part.TREE.value)
    if locks.holds(Part.SUPPORTS) and locks.holds(Part.SPIRIT) and section(old, "Skills") != section(new, "Skills"):
        broken.append(Part.SUPPORTS.value)
    return broken


def worn(root: etree._Element) -> dict[str, bytes]:
    """Return per slot of the active set, jewel sockets included, the canonical text of the item element."""
    items = {item.get("id", ""): write(item) for item in root.iter("Item")}
    chosen = root.find("Items")
    active = chosen.get("activeItemSet", "") if chosen is not None else ""
    found: dict[str, bytes] = {}
    for item_set in root.iter("ItemSet"):
        if item_set.get("id") == active:
            slots = {slot.get("name", ""): slot.get("itemId", "0") for slot in item_set.iter("Slot")}
            found |= {name: items[number] for name, number in slots.items() if number in items}
    for socket in root.iter("Socket"):
        number = socket.get("itemId", "0")
        if number in items:
            found[f"Jewel {socket.get('nodeId')}"] = items[number]
    return found


def passives(root: etree._Element) -> list[bytes]:
    """Return the canonical text of every tree, without the jewels in its sockets."""
    found = []
    for spec in root.iter("Spec"):
        for sockets in spec.findall("Sockets"):
            spec.remove(sockets)
        found.append(write(spec))
    return found


def section(root: etree._Element, name: str) -> bytes:
    """Return the canonical text of one section of the file, empty when there is none."""
    found = root.find(name)
    return b"" if found is None else write(found)
