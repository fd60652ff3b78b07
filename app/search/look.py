"""The last look of every build: what it tries with those evaluations that no reasoner's ideas have taken.

So a build by the rules and one with a language model have the same bound.
"""

from __future__ import annotations

from typing import Final

from app.model.blueprint import HAND_SLOTS
from app.model.construction import StageNotes
from app.model.moves import CraftItem
from app.search.base import SearchContext, StageResult
from app.search.effort import left_to_share
from app.search.experiments import WORTHWHILE, MoveExperimenter, Unmet
from app.search.skills.gems import by_id
from app.search.skills.supports import SupportSelection
from app.search.stages.skills import support_rules

LOOKED_AT: Final = (
    *("Belt", "Boots", "Ring 1", "Ring 2", "Amulet", "Helmet", "Gloves", "Body Armour"),
    *HAND_SLOTS,
)
"""Slots, those with least to choose among first: so most of them are looked at."""


async def last_look(ctx: SearchContext, unmet: Unmet | None = None) -> StageResult:
    """Choose the main skill's supports again, then make single items anew, and keep what gains; the notes say the cost.

    The choice of all slots together stops where no exchange of one affix helps; an item made anew can differ in all.
    What somebody chose by name stays: unique items, and all supports where one was named. It ends when what is left to
    it is spent; an item that was begun is finished, as one of a proposal is.
    """
    most = left_to_share(ctx.notes)
    if not most:
        return StageResult(ctx.blueprint, label="a last look: ideas have taken its evaluations")
    experimenter = await MoveExperimenter.open(ctx, most, unmet)
    kept = ["supports"] if not ctx.plan.delivery.supports and await supports_again(ctx, experimenter) else []
    for slot in LOOKED_AT:
        worn = experimenter.incumbent.blueprint.items.get(slot)
        if worn is None or worn.rarity == "UNIQUE" or experimenter.spent >= most:
            continue
        trial = await experimenter.keep([CraftItem(op="craft_item", slot=slot)])
        kept += [] if trial.problem else [slot]
    notes = StageNotes(for_look=ctx.notes.for_look + experimenter.spent)
    label = f"a last look: better {', '.join(kept)}" if kept else "a last look: nothing better"
    return StageResult(experimenter.incumbent.blueprint, notes, label=label)


async def supports_again(ctx: SearchContext, experimenter: MoveExperimenter) -> bool:
    """Choose the main skill's supports again, and say whether that gained with the attributes that they need.

    A choice with which the build lacks something that it had is given back, as with anything else that is tried.
    """
    incumbent, faults = experimenter.incumbent, await experimenter.faults()
    before, score, main = incumbent.blueprint, incumbent.score, incumbent.blueprint.main_group
    facts = by_id(await ctx.engine.facts.gems())
    search = SupportSelection(incumbent, main, await support_rules(ctx, incumbent, main, facts), facts)
    await search.run(await ctx.engine.facts.supports_for(ctx.plan.delivery.skill_id))
    await incumbent.learn_requirements()
    if incumbent.score > score + WORTHWHILE and not await experimenter.faults() - faults:
        return True
    await incumbent.rewind(before)
    await incumbent.learn_requirements()
    return False
