"""Named things: what the user wants the build to have or to be without, and who the character is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from app.conflicts.case import Case, WishVerdict, advice, granted_skills
from app.knowledge.exclusions import Exclusions
from app.knowledge.gems import can_be_cut, level_required
from app.knowledge.things import Thing, ThingKind
from app.knowledge.vocabulary import vocabulary
from app.knowledge.weapons import UNARMED, for_other_hand, matches, word_of
from app.knowledge.words import listing, phrase, with_article
from app.model.blueprint import HAND_SLOTS, MAIN_HAND, SWAP_SLOTS, Gem
from app.model.conflicts import Details, Suggestion
from app.model.constraints import InvariantValue, as_list
from app.model.facts import GemFact
from app.model.names import Demand, SubProblemName

_NEEDS = SubProblemName.STAT_REQUIREMENTS
_SCALING = SubProblemName.DAMAGE_SCALING
_DELIVERY = SubProblemName.DAMAGE_DELIVERY
_SPIRIT = SubProblemName.SPIRIT_ALLOCATION
_ASCENDANCY = SubProblemName.ASCENDANCY

TIMELESS: Final = "Timeless Jewel"
"""The base of jewels that change every passive around them in a way that Path of Building does not calculate yet."""

_OWN = {
    "class": advice("asked_class", _ASCENDANCY, Demand.OTHER_SKILL, "use the class asked for"),
    "ascendancy": advice("asked_class", _ASCENDANCY, Demand.OTHER_SKILL, "use the ascendancy asked for"),
    "skill": advice("asked_skill", _DELIVERY, Demand.OTHER_SKILL, "use the skill asked for"),
    "level": advice("asked_level", _NEEDS, Demand.REPLACE_ITEM, "use the level asked for"),
}
IDENTITY = frozenset(_OWN)
"""Constraints that say who the character is; the build keeps to them whoever set them."""


def identity_verdict(case: Case, name: str, value: InvariantValue) -> WishVerdict:
    """Return whether class, ascendancy, level or main skill is the one asked for, or one of the skills asked for."""
    have: dict[str, str | int] = {
        "class": case.blueprint.class_name,
        "ascendancy": case.blueprint.ascendancy or "none",
        "level": case.level,
        "skill": case.main_skill,
    }
    met = any(_same(one, have[name]) for one in (value if isinstance(value, list) else [value]))
    target = value if isinstance(value, int) else " or ".join(as_list(value))
    label = f"{name} {target}"
    return WishVerdict(label, target, have[name], met, None if met else f"{name} {have[name]}", (_OWN[name],))


def _same(wanted: InvariantValue, have: str | int) -> bool:
    """Compare as a person would; a skill group's name may add to the asked name ("Spark" and "Spark (Volley)")."""
    left, right = str(wanted).casefold().strip(), str(have).casefold().strip()
    return left == right or (not isinstance(wanted, (int, float)) and bool(left) and left in right)


def weapon_verdict(case: Case, name: str, value: InvariantValue) -> WishVerdict:
    """Return whether the weapon is held; of several kinds for the main hand one is enough."""
    word = str(value)
    slots = (*HAND_SLOTS, *SWAP_SLOTS)
    held = {slot: case.blueprint.items[slot].base for slot in slots if slot in case.blueprint.items}
    kinds = [word_of(base) for one in held.values() if (base := case.bases.get(one)) is not None]
    wished = case.invariants.listed(name)
    alone = {*for_other_hand(wished), *(other for other in wished if (name, other) in case.never)}
    asked = [word] if word in alone else [other for other in wished if other not in alone] or [word]
    met = any(matches(asked, kind) for kind in kinds) or (UNARMED in asked and MAIN_HAND not in held)
    have = listing(list(held.values())) or "nothing in hand"
    wish = "holding nothing" if asked == [UNARMED] else f"holding {with_article(' or '.join(asked))}"
    if not met and (why := case.never.get((name, word))):
        return WishVerdict(wish, word, have, False, f"{have}; no build can: {why}")
    way = advice("asked_weapon", _DELIVERY, Demand.OTHER_WEAPON, f"hold {with_article(word)}")
    return WishVerdict(wish, word, have, met, None if met else have, (way,))


def with_verdict(case: Case, name: str, value: InvariantValue) -> WishVerdict:
    """Return whether a named thing is in the file, whatever kind of thing it is."""
    text = str(value)
    known = case.things.get(phrase(text), ())
    granted = granted_skills(case).get(phrase(text))
    where = next((place for thing in known if (place := _place(case, thing)) is not None), granted)
    if where is not None:
        return WishVerdict(f"with {text}", text, where, True)
    if not known:
        nothing = f"{case.stats.engine.name} knows nothing of this name"
        return WishVerdict(f"with {text}", text, None, False, nothing)
    return WishVerdict(f"with {text}", text, None, False, _why_not(case, known[0]), tuple(_ways_to(case, known)))


def _place(case: Case, thing: Thing) -> str | None:
    """Return where the file has the thing, in words, or None."""
    match thing.kind:
        case ThingKind.SKILL | ThingKind.SUPPORT:
            for leader, gem in _used(case):
                if gem.gem_id == thing.id or gem.name == thing.name:
                    return "a skill of the build" if gem is leader else f"in the group of {leader.name}"
        case ThingKind.KEYSTONE | ThingKind.NOTABLE:
            if int(thing.id) in {node.id for node in case.blueprint.nodes}:
                return "allocated"
            allocated = {phrase(name) for item in case.blueprint.items.values() for name in item.allocated}
            return "allocated by an item" if phrase(thing.name) in allocated else None
        case ThingKind.UNIQUE:
            worn = [i.slot for i in case.blueprint.items.values() if i.rarity == "UNIQUE" and i.title == thing.name]
            return f"worn: {listing(worn)}" if worn else None
        case ThingKind.BASE:
            worn = [item.slot for item in case.blueprint.items.values() if item.base == thing.name]
            return f"worn: {listing(worn)}" if worn else None
    return None


def _used(case: Case) -> Iterator[tuple[Gem, Gem]]:
    """Yield every enabled gem with the first gem of its group."""
    for group in case.blueprint.groups:
        for gem in group.gems:
            if group.enabled and gem.enabled:
                yield group.gems[0], gem


def _why_not(case: Case, thing: Thing) -> str:
    """Return what keeps the build from having the thing, as far as facts tell."""
    gem, node = case.gems.get(thing.id), None
    if thing.kind in (ThingKind.KEYSTONE, ThingKind.NOTABLE):
        node = case.nodes.get(int(thing.id))
    if gem is not None and gem.kind == "active" and level_required(gem) > case.level:
        return f"{thing.name} can be used from level {level_required(gem)}, the character is {case.level}"
    if _is_granted(gem):
        return f"{thing.name} is no gem: what grants it, a passive or an item, is not in the file"
    if node is not None and node.ascendancy not in (None, case.blueprint.ascendancy):
        return f"{thing.name} belongs to the ascendancy {node.ascendancy}"
    if thing.kind is ThingKind.UNIQUE and thing.id == TIMELESS:
        return f"not in the file; {case.stats.engine.name} does not calculate what {thing.name} does"
    if _is_jewel(case, thing) and not any(_is_socket(case, one.id) for one in case.blueprint.nodes):
        return f"not in the file; the passive points reach no jewel socket for {thing.name}"
    return f"not in the file; what was chosen instead measured better or {thing.name} does not fit"


def _is_granted(gem: GemFact | None) -> bool:
    return gem is not None and gem.kind == "active" and not can_be_cut(gem)


def _is_jewel(case: Case, thing: Thing) -> bool:
    base = case.bases.get(thing.id)
    return thing.kind is ThingKind.UNIQUE and base is not None and base.type == "Jewel"


def _is_socket(case: Case, node: int) -> bool:
    fact = case.nodes.get(node)
    return fact is not None and fact.kind == "socket"


def _ways_to(case: Case, known: Sequence[Thing]) -> Iterator[Suggestion]:
    """Yield what re-opens the question that owns the thing."""
    thing = known[0]
    values = Details(source=thing.name)
    if thing.kind is ThingKind.UNIQUE and thing.id == TIMELESS:
        return
    gem = case.gems.get(thing.id)
    if thing.kind is ThingKind.SKILL and gem is not None and gem.spirit > 0:
        yield advice("reserve_asked", _SPIRIT, Demand.LESS_SPIRIT, f"reserve Spirit for {thing.name} first", values)
    elif not _is_granted(gem) and thing.kind in (ThingKind.SKILL, ThingKind.SUPPORT):
        text = f"choose skills and supports anew around {thing.name}"
        yield advice("asked_gem", _SCALING, Demand.DROP_SUPPORT, text, values)
        if thing.kind is ThingKind.SUPPORT and not case.asked("skill"):
            other = f"a main skill that {thing.name} can support"
            yield advice("other_skill", _DELIVERY, Demand.OTHER_SKILL, other, values)
    elif thing.kind in (ThingKind.KEYSTONE, ThingKind.NOTABLE) or _is_jewel(case, thing) or _is_granted(gem):
        text = f"spend all passive points anew, {thing.name} first"
        yield advice("asked_passive", _SCALING, Demand.FEWER_POINTS, text, values)
    else:
        yield advice("asked_item", _NEEDS, Demand.REPLACE_ITEM, f"choose all gear anew around {thing.name}", values)


LITTLE_SHIELD: Final = 0.1
"""Energy shield, as a share of life, that comes with bases of two defences and that nobody relies on."""


def without_verdict(case: Case, name: str, value: InvariantValue) -> WishVerdict:
    """Return whether nothing of what was ruled out is in the file, granted skills included.

    What was asked for by name is wanted, although a word of it was ruled out.
    """
    text = str(value)
    gone = Exclusions.of(as_list(value), vocabulary())
    named = {phrase(one) for field in ("with", "skill") if case.asked(field) for one in case.invariants.listed(field)}
    left = [*_people_of(case, gone), *_gems_of(case, gone), *_passives_of(case, gone), *_items_of(case, gone)]
    found = [(what, way) for what, way in left if phrase(what) not in named]
    if not found:
        return _nothing_of_it(case, text, gone)
    names = list(dict.fromkeys(what for what, _ in found))
    ways = tuple({way.strategy: way for _, way in found}.values())
    return WishVerdict(f"without {text}", text, listing(names), False, f"left in: {listing(names)}", ways)


def _nothing_of_it(case: Case, text: str, gone: Exclusions) -> WishVerdict:
    """Return what becomes of a thing that no gem, passive or item has; energy shield comes with bases as well."""
    shield, life = case.stats.get("EnergyShield"), case.stats.get("Life")
    if "energy shield" not in gone.terms or shield <= 0:
        return WishVerdict(f"without {text}", text, "nothing of it", True)
    have = f"{shield:,.0f} Energy Shield beside {life:,.0f} life"
    return WishVerdict(f"without {text}", text, have, shield <= LITTLE_SHIELD * life, have)


Ruled = tuple[str, Suggestion]


def _people_of(case: Case, gone: Exclusions) -> Iterator[Ruled]:
    """Yield the class and the ascendancy where they were ruled out."""
    for name in (case.blueprint.class_name, case.blueprint.ascendancy):
        if name in gone.people:
            yield name, advice("another_class", _ASCENDANCY, Demand.OTHER_SKILL, f"anything but {name}")


def _gems_of(case: Case, gone: Exclusions) -> Iterator[Ruled]:
    """Yield gems, and skills that items grant, that were ruled out."""
    main = case.main_gem
    for leader, gem in _used(case):
        fact = case.gems.get(gem.gem_id) or GemFact(id=gem.gem_id, name=gem.name, kind="active")
        if not gone.gem(fact):
            continue
        values = Details(excluded=gem.name, gem=gem.name)
        if main is not None and gem.gem_id == main.id:
            yield gem.name, advice("other_skill", _DELIVERY, Demand.OTHER_SKILL, "another main skill", values)
        elif gem is leader and fact.spirit > 0:
            yield gem.name, advice("reserve_anew", _SPIRIT, Demand.LESS_SPIRIT, f"without {gem.name}", values)
        else:
            yield gem.name, advice("leave_out", _SCALING, Demand.DROP_SUPPORT, f"leave {gem.name} out", values)
    facts = {phrase(fact.name): fact for fact in case.gems.values() if fact.kind == "active"}
    for granted in sorted(granted_skills(case)):
        fact = facts.get(granted) or GemFact(id=granted, name=granted, kind="active")
        if gone.gem(fact):
            text = f"items that do not grant {fact.name}"
            yield f"{fact.name} (granted)", advice("craft_anew", _NEEDS, Demand.REPLACE_ITEM, text)


def _passives_of(case: Case, gone: Exclusions) -> Iterator[Ruled]:
    for node in case.blueprint.nodes:
        fact = case.nodes.get(node.id)
        if fact is not None and gone.node(fact):
            values = Details(excluded=fact.name)
            yield fact.name, advice("leave_out", _SCALING, Demand.DROP_SUPPORT, f"leave {fact.name} out", values)


def _items_of(case: Case, gone: Exclusions) -> Iterator[Ruled]:
    for slot, item in sorted(case.blueprint.items.items()):
        base = case.bases.get(item.base)
        unique = item.rarity == "UNIQUE"
        if base is not None and gone.item(item.title, base, unique=unique, lines=case.said.get(slot, ())):
            values = Details(slot=slot, local=True)
            name = item.title if unique and item.title else item.base
            yield name, advice(f"replace_{slot}", _NEEDS, Demand.REPLACE_ITEM, f"another item in {slot}", values)
