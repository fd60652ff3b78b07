"""What a player has to find or craft, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.engine.base import Facts
from app.model.blueprint import Blueprint, GearItem
from app.model.facts import UniqueFact
from app.search.legality import BaseKnowledge, knowledge


async def shopping_list(facts: Facts, blueprint: Blueprint) -> list[dict[str, Any]]:
    """Return per slot, sorted: base, rarity, item level, quality, runes and the lines the item must have.

    A unique item's lines have its name; the ranges are those it drops with.
    """
    items = [blueprint.items[slot] for slot in sorted(blueprint.items)]
    known = await knowledge(facts, (item.base for item in items if item.text is None))
    named = any(item.rarity == "UNIQUE" for item in items)
    uniques = {(fact.name, fact.base): fact for fact in (await facts.uniques() if named else [])}
    return [
        _entry(item, _unique_lines(item, uniques) or _affix_lines(item, known.get(item.base, BaseKnowledge(None))))
        for item in items
    ]


def _affix_lines(item: GearItem, known: BaseKnowledge) -> list[dict[str, str]]:
    rolls = [*item.prefixes, *item.suffixes]
    facts = [known.affixes[roll.id] for roll in rolls if roll.id in known.affixes]
    return [{"side": fact.side, "name": fact.name, "text": " / ".join(fact.lines)} for fact in facts]


def _unique_lines(item: GearItem, uniques: Mapping[tuple[str, str], UniqueFact]) -> list[dict[str, str]]:
    fact = uniques.get((item.title, item.base)) if item.rarity == "UNIQUE" else None
    return [{"side": "unique", "name": item.title, "text": line} for line in fact.lines] if fact else []


def _entry(item: GearItem, lines: list[dict[str, str]]) -> dict[str, Any]:
    return {
        "slot": item.slot,
        "base": item.base,
        "title": item.title,
        "rarity": item.rarity,
        "item_level": item.item_level,
        "quality": item.quality,
        "runes": list(item.runes),
        "lines": lines,
    }
