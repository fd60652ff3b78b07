"""Figures that a prompt asks for: "at least 5k life", "dps > 300k", "75% all res", "capped resistances"."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from app.knowledge.quantities import QUANTITY, number_of
from app.knowledge.vocabulary import vocabulary
from app.model.constraints import INVARIANTS, Figure
from app.model.demands import ELEMENTAL_RESISTANCE_CAP
from app.reasoning.prompt.page import Page, Span

_NUMBER = re.compile(
    r"(?<![a-z0-9])(?<![0-9][.,])(?P<before>(?:\d{1,3} ?%? ?/ ?){1,3}|\d+(?:[.,]\d+)? ?k? ?(?:-|to) ?"
    r"|between \d+(?:[.,]\d+)? ?k? ?%? and )?" + QUANTITY
)
_RATE = re.compile(r" ?(?:/ ?s(?:ec(?:ond)?)?|(?:per|a|each) (?:sec(?:ond)?|cast|use|attack)|p/?s)\b")
_MOST = re.compile(
    r"(?<!no )(?<!not )(?:less than|lower than|fewer than)|no(?:t)? more than|at most|under\b|below\b|<|\u2264"
    r"|weniger als|hochstens|maximal|moins de|menos de"
)
_LEAST = re.compile(
    r"at ?least|over\b|above\b|(?<!no )(?<!not )(?:more than|greater than|higher than)|no(?:t)? less than|not under"
    r"|exceed|>|\u2265|mindestens|mehr als|uber\b|minimum|min\b|plus de|au moins|mas de|al menos|ponad"
)
_NOT_UNDER = re.compile(
    r"\b(?:without|not|never|dont|cant|nicht|sans|sin)(?: (?:dropping|drop|drops|falling|fall|going|go|getting|get))?"
    r" (?:below|under|less than|lower than)\b"
)
_AROUND = frozenset(
    {"a", "about", "above", "al", "als", "an", "and", "approx", "approximately", "around", "at", "atleast", "au",
     "below", "ca", "cap", "capped", "caps", "chance", "circa", "combined", "de", "drop", "dropping", "drops",
     "even", "exceed", "fall", "falling", "fewer", "for", "get", "gets", "go", "going", "greater", "has", "have",
     "having", "higher", "hit", "hits", "hochstens", "in", "is", "least", "less", "like", "lower", "mas", "max",
     "maximal", "maximum", "mehr", "menos", "min", "mindestens", "minimum", "moins", "more", "most", "my", "need",
     "no", "not", "of", "or", "over", "overall", "percent", "plus", "ponad", "pure", "rating", "raw", "reach",
     "reaching", "real", "roughly", "some", "survive", "survives", "surviving", "sustained", "take", "takes",
     "taking", "tank", "than", "the", "to", "tooltip", "total", "uber", "under", "unreserved", "up", "value", "want",
     "weniger", "with"}
)  # fmt: skip
_SIGN = re.compile(r"[:=<>\u2264\u2265]")
_WORDED = dict.fromkeys(
    ("capped", "cap", "caps", "maxed", "max", "full", "maximum", "capping"), float(ELEMENTAL_RESISTANCE_CAP)
) | {"positive": 1.0}
"""What a resistance is when a word stands for its figure; what is positive is 1 % or more, as it is whole."""
_ELEMENTS = ("fire", "cold", "lightning", "chaos")
_HIT_OF = dict.fromkeys(("fire", "cold", "lightning", "ele", "elemental"), "elemental_hit") | {
    "phys": "physical_hit", "physical": "physical_hit", "chaos": "chaos_hit"
}  # fmt: skip
_SHORT_ELEMENTS = {one: one for one in _ELEMENTS} | {"light": "lightning", "lite": "lightning"}
_CHAOS = "chaos_resistance"
_OF_DAMAGE = frozenset({"damage", "dmg", "dps", "dot", "orbs", "orb"})
"""Words that say that a number before an element is no resistance."""
_LEFT_OVER = frozenset({"free", "unused", "left", "leftover", "spare"})
"""Words behind a figure that somebody has and does not ask for ("30 spirit left")."""
_NEAR = 6
"""How many words may stand between a figure and what it is a figure of."""
_LONGEST = 4
"""The number of words of the longest name of a target."""


@dataclass(frozen=True)
class Target:
    """A figure that a prompt asks for; `name` is the constraint."""

    name: str
    value: float
    span: Span


@dataclass(frozen=True)
class _Named:
    """Words that name targets; of several `names` the first that a figure can be is meant, of a `group` all are."""

    start: int
    end: int
    names: tuple[str, ...]
    group: bool = False


@dataclass(frozen=True)
class _Amount:
    """A number among the words; `parts` are the numbers before it, separated by slashes."""

    start: int
    end: int
    value: float
    percent: bool
    parts: tuple[float, ...] = ()


def read_targets(page: Page) -> list[Target]:
    """Read every figure that is asked for and use its words; what asks for the impossible way round is strange."""
    amounts = list(_amounts(page))
    found: list[Target] = []
    for i, amount in enumerate(amounts):
        if page.free(amount.start, amount.end):
            following = amounts[i + 1].start if i + 1 < len(amounts) else len(page.words)
            before = amounts[i - 1].end if i else 0
            found += _another_resistance(page, amount, found) or _asked(page, amount, before, following)
    return [*found, *_worded(page)]


def _amounts(page: Page) -> Iterator[_Amount]:
    at = 0
    while (match := _NUMBER.search(page.text, at)) is not None:
        at = match.end()
        start, end = page.covering(*match.span())
        value = number_of(match["digits"], match["times"])
        before = match["before"] or ""
        parts = tuple(float(part) for part in re.findall(r"\d+", before)) if "/" in before else ()
        if before and "/" not in before:  # the lower end of a range is what must be reached
            low = re.findall(r"[\d.,]+", before)[0]
            value = min(value, number_of(low, match["times"] or ("k" if "k" in before else None)))
        if end > start and value > 0:
            yield _Amount(start, end, value, match["percent"] is not None, parts)


def _another_resistance(page: Page, amount: _Amount, found: list[Target]) -> list[Target]:
    """Read "50 chaos" and "chaos 50" behind a resistance ("75% ele res, 50 chaos"), unless damage is said to be meant.

    Nothing but a comma or an "and" may stand between.
    """
    if not found or not found[-1].name.endswith(("_resistance", "_resistances")) or not _can_be(_CHAOS, amount):
        return []
    texts = [word.text for word in page.words]
    at = found[-1].span.end
    at += texts[at : at + 1] == ["and"]
    element, end = (amount.end, amount.end + 1) if amount.start == at else (at, amount.end)
    if amount.start not in (at, at + 1) or not page.free(at, end) or texts[element] not in _SHORT_ELEMENTS:
        return []
    behind = texts[end] if end < len(texts) else ""
    if behind in _OF_DAMAGE or behind in page.lexicon.targets:
        return []
    page.take(at, end)
    return [Target(f"{_SHORT_ELEMENTS[texts[element]]}_resistance", amount.value, page.span(at, end))]


def _asked(page: Page, amount: _Amount, before: int, following: int) -> list[Target]:
    """Return the targets that an amount is of: what stands right of it, or left where that is the nearer reading."""
    chosen = _nearer(page, amount, _left_of(page, amount, before), _right_of(page, amount), following)
    if chosen is None:
        return []
    start, end = min(chosen.start, amount.start), max(chosen.end, amount.end)
    while start > before and page.words[start - 1].text in _AROUND and page.free(start - 1, start):
        if page.breaks(start - 1, start) or page.words[start - 1].text in {"with", "and", "for", "in", "the", "my"}:
            break
        start -= 1
    end = _end_of_bound(page, start, end)
    if end < len(page.words) and page.words[end].text in _LEFT_OVER:
        page.strange.update(range(start, end + 1))
        return []
    least_of = _NOT_UNDER.search(page.text, page.words[max(0, start - 2)].start, page.words[end - 1].end)
    if least_of is not None:
        start = min(start, page.covering(*least_of.span())[0])
    names, end = _typed_hit(page, chosen.names, end)
    span = page.span(start, end)
    page.take(start, end)
    around = page.text[page.words[start - 1].end if start else 0 : page.words[end - 1].end]
    around = _NOT_UNDER.sub("at least", around)
    most, least = bool(_MOST.search(around)), bool(_LEAST.search(around))
    fitting = tuple(name for name in names if most == least or _figure(name).at_most == most)
    if not fitting:
        page.strange.update(range(start, end))
        return []
    names = fitting if chosen.group else fitting[:1]
    if amount.parts and names == ("elemental_resistances",):
        values = [*amount.parts, amount.value]
        if len(set(values)) > 1 or len(values) > len(_ELEMENTS) - 1:
            return [
                Target(f"{one}_resistance", value, span) for one, value in zip(_ELEMENTS, values, strict=False) if value
            ]
    return [Target(name, amount.value, span) for name in names]


def _typed_hit(page: Page, names: tuple[str, ...], end: int) -> tuple[tuple[str, ...], int]:
    """Return the hit whose type stands behind its amount ("max hit 5k physical"), and where that ends."""
    follows = end < len(page.words) and page.free(end, end + 1) and not page.breaks(end - 1, end)
    hit = _HIT_OF.get(page.words[end].text) if follows and names[0].endswith("_hit") else None
    return ((hit,), end + 1) if hit else (names, end)


def _end_of_bound(page: Page, start: int, end: int) -> int:
    """Return where an amount ends together with "per second" or "or more" behind it."""
    if (rate := _RATE.match(page.text, page.words[end - 1].end)) is not None:
        end = page.covering(page.words[start].start, rate.end())[1]
    if end < len(page.words) and page.words[end].text in {"minimum", "min", "mindestens"} and page.free(end, end + 1):
        end += 1
    while end < len(page.words) - 1 and page.join(end, end + 2) in {"or more", "at least", "or higher", "or above"}:
        end += 2
    return end


def _nearer(page: Page, amount: _Amount, left: _Named | None, right: _Named | None, following: int) -> _Named | None:
    """Return what the amount is of: the words right of it, unless those have an amount of their own behind them."""
    if left is None or right is None:
        return left or right
    taken = following < len(page.words) and _only_around(page, right.end, following)
    signed = _SIGN.search(page.between(left.end - 1, amount.start)) is not None
    return left if taken or signed or right.start > amount.end else right


def _right_of(page: Page, amount: _Amount) -> _Named | None:
    at = amount.end
    if (rate := _RATE.match(page.text, page.words[at - 1].end)) is not None and page.text[rate.start()] in "/ ":
        named = _named(page, at, amount)
        if named is not None:
            return named
        at = page.covering(page.words[amount.start].start, rate.end())[1]
    for start in range(at, min(len(page.words), at + _NEAR)):
        if page.breaks(start - 1, start):
            return None
        if (named := _named(page, start, amount)) is not None:
            return named
        if page.words[start].text not in _AROUND:
            return None
    return None


def _left_of(page: Page, amount: _Amount, before: int) -> _Named | None:
    end = amount.start
    while end > before and amount.start - end <= _NEAR and not page.breaks(end - 1, end):
        for start in range(max(before, end - 2 * _LONGEST), end):
            named = _named(page, start, amount)
            if named is not None and named.end == end:
                return named
        if page.words[end - 1].text not in _AROUND:
            return None
        end -= 1
    return None


def _named(page: Page, start: int, amount: _Amount | None) -> _Named | None:
    """Return the targets named by the words from `start`, such as the amount can be of."""
    terms = page.lexicon.targets
    for end in range(min(len(page.words), start + _LONGEST), start, -1):
        names = terms.get(page.join(start, end), ()) if page.free(start, end) else ()
        can_be = tuple(name for name in names if amount is None or _can_be(name, amount))
        if can_be:
            return _Named(start, end, can_be, group=names == _ATTRIBUTES)
    return _several_resistances(page, start) or _listed_resistance(page, start)


def _several_resistances(page: Page, start: int) -> _Named | None:
    """Read "fire and cold res", "fire/cold/lightning resistances"."""
    names: list[str] = []
    at = start
    while at < len(page.words) and page.words[at].text in _ELEMENTS and page.free(at, at + 1):
        names.append(f"{page.words[at].text}_resistance")
        at += 1
        if at < len(page.words) and page.words[at].text == "and":
            at += 1
    generic = at < len(page.words) and "elemental_resistances" in page.lexicon.targets.get(page.words[at].text, ())
    return _Named(start, at + 1, tuple(names), group=True) if generic and len(names) > 1 else None


def _listed_resistance(page: Page, start: int) -> _Named | None:
    """Read "fire" in "80 fire, 80 cold and 60 chaos res": amounts of elements of which the last says what they are."""
    if page.words[start].text not in _SHORT_ELEMENTS or not page.free(start, start + 1):
        return None
    words = [word.text for word in page.words]
    at = start
    while at < len(words) and words[at] in _SHORT_ELEMENTS:
        after = at + 1 + (words[at + 1 : at + 2] == ["and"])
        if not words[after : after + 1] or not words[after].isdigit():
            break
        at = after + 1
    generic = at + 1 < len(words) and "elemental_resistances" in page.lexicon.targets.get(words[at + 1], ())
    if at == start or not generic or words[at] not in _SHORT_ELEMENTS:
        return None
    return _Named(start, start + 1, (f"{_SHORT_ELEMENTS[words[start]]}_resistance",))


def _figure(name: str) -> Figure:
    figure = INVARIANTS[name].figure
    assert figure is not None, f"{name} is no target"
    return figure


def _can_be(name: str, amount: _Amount) -> bool:
    if name.endswith("_rate"):
        return not amount.percent and amount.value <= _MOST_RATE
    if _figure(name).unit == "percent":
        return amount.value <= _MOST_PERCENT.get(name, _MOST_PERCENT_ELSE)
    least = 1.0 if name in _SMALL else _LEAST_POINTS
    most = _MOST_POOL if name in _POOLS else math.inf
    return not amount.percent and least <= amount.value <= most


_RECOVERY = ("life_regeneration", "mana_regeneration", "energy_shield_recharge")
_ATTRIBUTES = ("strength", "dexterity", "intelligence")
"""Words that name all three of them mean each."""
_MOST_RATE, _MOST_PERCENT_ELSE, _LEAST_POINTS, _MOST_POOL = 50.0, 300.0, 100.0, 100_000.0
_MOST_PERCENT = {"critical_damage": 2_000.0}
"""What a figure can be: nobody attacks faster, has more percent or life, or asks for less life or damage."""
_SMALL = frozenset({"spirit", "mana_cost", "mana", *_RECOVERY, *_ATTRIBUTES})
_POOLS = frozenset({"life", "energy_shield", "mana", "spirit", "mana_cost"})


def _only_around(page: Page, start: int, end: int) -> bool:
    return all(page.words[i].text in _AROUND for i in range(start, end)) and not any(
        page.breaks(i - 1, i) for i in range(start, end + 1) if i < len(page.words)
    )


def _worded(page: Page) -> list[Target]:
    """Read resistances that should be at their cap or positive, without a figure."""
    found: list[Target] = []
    for i, word in enumerate(page.words):
        if word.text not in _WORDED or not page.free(i, i + 1):
            continue
        follows = i + 1 < len(page.words) and not page.breaks(i, i + 1)
        after = _named(page, i + 1, None) if follows else None
        starts = range(max(0, i - _LONGEST), i)
        before = next((one for at in starts if (one := _named(page, at, None)) and one.end == i), None)
        if before is None and i and page.words[i - 1].text in {"are", "at", "to", "is"}:
            before = next((one for at in starts if (one := _named(page, at, None)) and one.end == i - 1), None)
        named = next(
            (one for one in (after, before) if one and one.names[0].endswith(("resistance", "resistances"))), None
        )
        if named is not None:
            start, end = min(i, named.start), max(i + 1, named.end)
            span = page.span(start, end)
            page.take(start, end)
            names = named.names if named.group else named.names[:1]
            found += [Target(name, _WORDED[word.text], span) for name in names]
    return found


_RAISED = (
    "spirit", "strength", "dexterity", "intelligence", "block", "movement_speed", "attack_rate", "cast_rate",
    "chaos_resistance", "critical_chance", "critical_damage", *_RECOVERY,
)  # fmt: skip
"""Figures of which more can be asked for without an amount; life and what protects count together."""


@cache
def _raised() -> tuple[re.Pattern[str], dict[str, str]]:
    """Return what asks for more of a figure, longest names first ("crit damage" is no "crit"), and whose names are."""
    before = r"(?<![\dk%] )\b(?:more|higher|increase|raise|improve|extra|better|faster)(?: (?:my|the|overall|total))? "
    fields = {name.casefold(): field for field in _RAISED for name in vocabulary().targets[field]}
    names = "|".join(re.escape(name) for name in sorted(fields, key=lambda name: (-len(name), name)))
    return re.compile(rf"{before}(?P<name>{names})\b", re.I), fields


def more_of(text: str) -> dict[str, str]:
    """Return the figures of which more is asked for without an amount, each with the words that ask for it."""
    asks, fields = _raised()
    return {fields[match["name"].casefold()]: match.group() for match in asks.finditer(text)}


_SHORT = re.compile(
    r"\b(?:short|missing|lack(?:ing)?)(?: (?:of|by|on))? (?P<lacked>\d[\d.,]*k?)%?(?= [a-z])"
    r"|\b(?P<amount>\d[\d.,]*k?)%? (?P<what>[a-z]+(?: [a-z]+)?) (?:too )?short\b",
    re.I,
)
_FEW = r"hardly any|barely any|almost no|(?:far |way )?too (?:little|few)|not enough|insufficient"
_NOT = r"(?:don'?t|do not|doesn'?t|does not)"
_RAISABLE = (
    r"(?:life|hp|health|es|energy shield|evasion|armou?r|block|mana|spirit|(?:life )?regen\w*|leech|recovery"
    r"|(?:(?:fire|cold|lightning|chaos|elemental|ele|all) )?res(?:es|ist\w*)?|movement speed|move ?speed|crit\w*|damage"
    r"|dps|curses?|marks?|heralds?|auras?|(?:attack |cast )?speed|accuracy|aoe|stun threshold)\b"
)
_LACKED = re.compile(
    rf"\b(?:(?:(?:i|it|we|(?:my|the|this) \w+) (?:have|has|had|got|have got|has got)|there(?: is|'?s)) (?:no|{_FEW})"
    rf"|(?:i |it )?{_NOT} have|(?:i |it |we )?lack(?:s|ing)?|(?:i'?m |it'?s |is |am )?missing|{_FEW})"
    rf"(?: (?:a|an|any|enough|much))? (?P<what>{_RAISABLE}(?:(?:,? and|,? or|,) no {_RAISABLE})*)",
    re.I,
)
"""A complaint of what there is too little of: "no chaos resistance" said of what one has rules nothing out."""
_ALSO = re.compile(rf"\b(?P<how>more|higher|better) (?P<what>{_RAISABLE}) (?:and|&) (?={_RAISABLE})", re.I)


def as_more(text: str) -> str:
    """Return the text in which what is lacked is asked for: "short 20 strength" is "20 more strength".

    So is what stands beside another: "more life and mana" is "more life and more mana".
    """
    text = _SHORT.sub(lambda m: f"{m['lacked']} more" if m["lacked"] else f"{m['amount']} more {m['what']}", text)
    text = _LACKED.sub(lambda m: "more " + m["what"].replace(" no ", " more "), text)
    return _ALSO.sub(r"\g<how> \g<what> and \g<how> ", text)
