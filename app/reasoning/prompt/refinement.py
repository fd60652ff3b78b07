"""Reading a refinement: what should become better, what must stay, and what is left of the prompt."""

from __future__ import annotations

import re
from collections.abc import Callable

from app.knowledge.vocabulary import vocabulary
from app.model.base import changed
from app.model.experiments import Direction, Wish
from app.model.moves import Locks, Part
from app.model.record import MIN_PROMPT
from app.reasoning.base import RefineReading
from app.reasoning.prompt.locks import KEEP, PLACE, locks_of, names_part, with_keeps
from app.reasoning.prompt.targets import as_more, more_of

_WISH_FOLLOWS = r"(?:make|give|more|better|higher|get|improve|raise|increase|boost|cap|i (?:want|need)"
_WISH_FOLLOWS += r"|for (?:more|better|higher)|just|swap|upgrade|rework|only)\b"
_CANNOT = r"(?:(?:i|we) )?(?:do not|don'?t|dont|can'?t|cannot|can not|never)\b"
_END = rf"(?=$|[.;!?]|,?\s*\b(?:but|while|then|so)\b|,\s*{_CANNOT}|(?:,|,?\s+and|\s)\s*{_WISH_FOLLOWS})"
_KEEPS = re.compile(rf"\b{KEEP}\b(?P<what>[^.;!?]*?){_END}", re.I)
_ONLY = re.compile(
    r"\b(?:chang(?:e|ing) nothing (?:but|except)|nothing but"
    r"|only (?:chang(?:e|ing)|touch(?:ing)?|swap(?:ping)?|replac(?:e|ing)|improv(?:e|ing)|upgrad(?:e|ing)|us(?:e|ing))"
    r"|just (?:chang(?:e|ing)|swap(?:ping)?|replac(?:e|ing))"
    r"|(?:chang(?:e|ing)|touch(?:ing)?|swap(?:ping)?|replac(?:e|ing)) (?:only|just))\b(?P<what>[^.;!?]*?)" + _END,
    re.I,
)
_PERCENT = r"(?P<number>\d{1,3}(?:\.\d+)?)\s*(?:%|per ?cent)"
_LOSS = re.compile(
    r"\b(?:at most|no more than|up to|max(?:imum)?|lose|losing|cost(?:ing)?|give up|sacrific\w+)\b[^.;,]{0,30}?"
    rf"{_PERCENT}"
    r"(?:\s+(?:of )?(?:the |my |its )?\w+)?(?:\s+lost)?",
    re.I,
)
_NO_MORE_THAN = re.compile(
    r"\b(?:without|not|never|don'?t|do not)(?: want to)? (?:los(?:e|ing)|drop(?:ping)?|sacrific\w+|giv(?:e|ing) up)"
    rf" (?:more|over)(?: than)? (?={_PERCENT})",
    re.I,
)
"""What may be lost is said, and how much of it: nothing stays as it is."""
_WITHOUT = re.compile(r"\bw/o\b", re.I)
_GAIN = re.compile(
    rf"{_PERCENT}\s*(?:\w+\s+)?(?:more|better|higher|extra|tankier)|\bby\s+{_PERCENT.replace('number', 'by')}"
    rf"|(?:\+\s?|\b(?:add|gain|get)\s+){_PERCENT.replace('number', 'plus')}(?=\s*(?:dps|damage|dmg|ehp|effective)\b)",
    re.I,
)
_PLUS = re.compile(r"(?<!\w)\+\s?(?P<amount>\d[\d.,]*k?)(?!\s*%)\s+", re.I)
_TIMES = {"twice": 2, "double": 2, "doubled": 2, "triple": 3, "thrice": 3, "quadruple": 4}
_MANIFOLD = re.compile(
    rf"\b(?:(?P<word>{'|'.join(_TIMES)})|(?P<number>[2-9])(?: ?x| times)|x ?(?P<behind>[2-9]))\b", re.I
)

_FIGURE = (
    r"(?:(?:my|the|any|some|all|its|a (?:bit|little|lot) of) )?(?:damage|dps|offen[cs]e|clear(?: ?speed)?"
    r"|defen[cs]es?|survivab\w*|ehp|life|hp|health|tankiness|toughness|es|energy shield|evasion)\b"
)
_LAYER = r"energy shield|\bes\b|evasion"
_UNHARMED = re.compile(
    r"\b(?:without (?:losing|dropping|sacrificing|giving up|touching)|keep(?:ing)?|maintain(?:ing)?|same"
    rf"|(?:do not|don'?t|dont|not) (?:lose|drop|sacrifice|touch)) {_FIGURE}",
    re.I,
)
"""A figure of which nothing is to be lost: it is no part that could be locked."""
_TRADED = re.compile(
    rf"\bat (?:the )?(?:cost|expense) of {_FIGURE}"
    rf"|\b(?:less|lower|sacrific\w+|give up|giving up|trad(?:e|ing)|exchange) {_FIGURE}(?: (?:for|to get)\b)?",
    re.I,
)
_UNMINDED = re.compile(
    rf"\b(?:(?:do not|don'?t|dont) (?:care|mind)(?: about| for| losing)?|forget(?: about)?|ignore|screw) {_FIGURE}"
    rf"|\b{_FIGURE} (?:do not|don'?t|dont|does not|doesn'?t|doesnt) matter\b"
    r"|\b(?:no matter what|at any (?:cost|price)|at all costs?|whatever it (?:takes|costs)|nothing else matters)\b",
    re.I,
)
_LOSSES = ((_UNMINDED, 0.5), (_TRADED, 0.2), (_UNHARMED, 0.01))
"""Words for how much of the other figure may be lost, and the share of it."""

_SOUGHT = re.compile(
    r"\b(?:(?:upgrade|improve|change|replace|swap|re-?roll|optimi[sz]e|redo|rework|reset|respec|anoint|spend|allocate)"
    r"(?: out)?"
    r"|(?:(?:do not|don'?t|dont) like|dislike|hate)(?= (?:my|the|this|these)\b)"
    r"|better|new|different|another|other|(?:\d+ )?(?:unspent|unused|leftover|remaining))"
    rf"(?: (?:the|my|this|these|a|an|all|some|better|new|different|support|skill|unspent|unused|more|extra|\d+))*"
    rf" (?P<what>(?:{PLACE})(?:(?:,| and|, and| or| &) (?:my |the |better |new )*(?:{PLACE}))*)"
    r"(?: (?:with|for|by|to) (?:something|anything|an?|another|others?|some|new|different|better)"
    r"(?: (?:better|else|ones?))?)?"
    r"(?: only)?(?=$|[.,;!?]| (?:and|but|please|with|for|so|because|that|to|plz|pls|now|first)\b)",
    re.I,
)
"""What is looked for anew and nothing else: "better boots", "upgrade my weapon"."""

_OWN = r"(?:it|this|that|me|him|her|everything|(?:my|the|this) \w+)"
_EXCHANGE = re.compile(
    r"\b(?:swap|replace|exchange|substitute|switch|change|trade)(?: out)?(?: from)? (?!to\b|into\b)"
    r"(?P<old>[^.,;!?]{2,40}?)"
    r" (?:for|with|by|to|into) (?P<new>[^.,;!?]{2,60})",
    re.I,
)
_IMPROVED = re.compile(
    r"(?:more|better|higher|extra|get|gain|have|be|make|improve|fix|increase|raise|a better|an?other|something"
    r"|anything)\b",
    re.I,
)
_REPLACEABLE = re.compile(
    rf"{_OWN}|(?:(?:my|the|this|that|our|old|current|main|own) )*"
    rf"(?:{PLACE}|skills?|ascendancy|class|auras?|mapping|maps|bossing|boss(?:es)?|levell?ing|farming)",
    re.I,
)
"""What can be exchanged without being ruled out."""
_ANYTHING = re.compile(
    r"(?:(?:something|anything) (?:else|better|different|more useful)|an?other (?:one|skill|gem)|a better one)"
    r"(?: please)?",
    re.I,
)
_TURNED = re.compile(
    rf"(?<!no )\b(?:convert|turn|change|switch|transition|respec|reroll|move|go)(?: {_OWN})?(?: over)? (?:in)?to"
    r" (?:be |use |using |play |playing )?(?=[a-z])",
    re.I,
)
_LEVELLED = re.compile(
    rf"\b(?:(?:level|take|bring|get) {_OWN} (?:up )?to"
    r"|i(?:'m| am|'ve| have)? (?:now )?(?:level(?:l?ed)?(?: up)? to|hit|reached|dinged|made it to|got to))"
    r" (?:level |lvl )?(?P<level>\d{1,3})\b"
    r"(?=$|[.;!?]|,(?!\d)| (?:and|but|please|with|for|so|now|because|can|what)\b)",
    re.I,
)
_DROPPED = re.compile(
    r"\b(?:drop|delete|take (?:out|off)|unequip) (?!rates?\b|in\b|off\b|to\b|below\b)"
    r"(?![^.,;]{0,30} to \d)(?=[a-z])",
    re.I,
)
_ALONE = re.compile(
    rf"\bonly (?:(?:the|my) )?(?P<free>{PLACE}) (?:may|can|should|must) (?:change|be (?:changed|replaced|touched))"
    rf"|(?:^|(?<=[.,;] ))(?:(?:the|my) )?(?P<alone>{PLACE}) only\b",
    re.I,
)
_POOR = re.compile(
    rf"\b(?:my|the) (?P<what>(?!(?:body )?armou?r\b)(?:{PLACE}))"
    r" (?:(?:is|are|feels?|looks?) (?:so |too |very |really )*"
    r"(?:bad|trash|weak|old|outdated|terrible|crap|garbage|awful|poor)|sucks?)\b",
    re.I,
)
_DEAR = re.compile(
    r"\b(?:(?P<what>(?!(?:(?:my|the|this) )?(?:it|this|that|gear|items?|build|everything|all)\b)[a-z' ]{3,40}?)"
    r" (?:is|are) (?:way )?(?:too|so) (?:expensive|pricey|costly|dear)"
    r"|(?:i )?(?:(?:can'?t|cannot|can not) (?:afford|buy|find)|(?:don'?t|do not) (?:have|own))"
    r" (?P<other>(?!it\b|to\b|any|enough\b)[a-z' ]{3,40}?))(?=$|[.,;!?]| (?:and|but|yet)\b)",
    re.I,
)
"""What is not to be had: it is ruled out."""
_REPLACED = re.compile(
    r"\b(?:replace|swap)(?: out)? (?:(?:my|the|this|that) )?(?P<old>[a-z][a-z' ]{2,40}?)"
    r"(?=$|[.,;!?]| (?:because|since|please|pls|plz|it'?s|is|and|but)\b)",
    re.I,
)
"""A thing that is to go, and nothing said of what comes instead."""
_DESCRIBED = re.compile(r"\b(?:expensive|pric\w+|cost\w+|cheap\w*|old|weak|bad)\b", re.I)
_COUNTED = re.compile(
    r"\b(?:one|two|three|four|five|\d{1,2}) (?:(?:new|more|other) )?(?:items?|slots?|gems?|supports?|jewels?)\b", re.I
)
"""So many may change: nothing here keeps to a number."""
_OTHER = re.compile(
    r"\b(?:change|different|another|an other|new|reroll|swap) (?:(?:the|my|main) )*(?P<what>skill|ascendancy)\b"
    r"(?! (?:gems?|tree|points?))",
    re.I,
)
_PURPOSE = re.compile(rf"\bfor (?:another|one more|an?|my|the) (?:{PLACE})(?=$|[.,;!?])", re.I)
"""What more of a figure is for ("more spirit for another aura"): nothing that is looked for instead of it."""
WORTHWHILE = 0.01
"""Share that a part which is looked for anew has to bring: who wants better boots takes the best there are."""
_LIFE = re.compile(
    r"\btank\w*|\behp\b|\beffective (?:hp|hit points|health|life)"
    r"|\b(?:more|higher|better|increase|raise|improve|extra)\s+"
    r"(?:the |my |its )?(?:\w+ )?"
    r"(?:life|hp|health|hit points|defen[cs]e\w*|armou?r|evasion|energy shield|es|survivab\w*)\b"
    r"|\b(?:double|triple|twice)(?: (?:the|my|its))? (?:life|hp|health|es|energy shield|hit points|defen[cs]es?)\b"
    r"|\b(?:life|hp|health|es|energy shield|armou?r|evasion|max hit|hit points) (?:is |are |feels? |seems? )?"
    r"(?:too |very |so |really |pretty )*(?:low|bad|weak|poor|terrible)\b|\bdefen[cs]es? (?:is|are) \w+"
    r"|\bsurviv\w*|\bdefensive\w*|\bsturd\w*|\bdurab\w*|\bsafer\b|\bsquish\w*|\bdie[sd]?\b|\bdying\b|\bdeaths?\b"
    r"|\bkill(?:s|ed|ing)? (?:me|my)\b|\b(?:get|getting|got) killed\b|\btougher\b|\bbeef\w*"
    r"|\bone.?shot\w*|\bdefen[cs]es?\b",
    re.I,
)
_DAMAGE = re.compile(
    r"\bdps\b|\bdamage\b(?: (?:is |are )?(?:so |too |very |really )*(?:low|bad|weak|poor))?"
    r"|\bdmg\b|\bhit(?:s|ting)? harder|(?<!get )(?<!got )(?<!getting )\bkill\w*+(?! (?:me|my)\b)"
    r"|\bsingle target\b|\bstronger\b|\boffen[cs]\w*|\bclear\w*|(?<!mana )\bfaster\b|\bburst\b",
    re.I,
)
_SUFFERED = re.compile(
    r"\b(?:to|by|from|against) (?:\w+ )?(?:chaos|fire|cold|lightning|phys|physical|elemental) (?:damage|dmg)\b", re.I
)
_SUSTAIN = re.compile(r"\bmana\b|\bsustain\w*|\boom\b|\bcosts? too much\b", re.I)
_REPAIR = re.compile(
    r"\bfix\w*|\brepair\w*|\bmend\w*|\bcorrect\b|\bwrong\b|\bfaults?\b|\bbroken\b"
    r"|\b(?:not|(?:do not|don'?t|dont) have) enough"
    r" (?:str(?:ength)?|dex(?:terity)?|int(?:elligence)?|attributes?|spirit)\b",
    re.I,
)
_RESISTANCE = re.compile(r"\bresist\w*|\bres(?:es)?\b|\bcap(?:ped)?\b(?! (?:my |the )?block\b)", re.I)

_AND_YET = re.compile(r",? ?(?:but|just|yet)\b", re.I)
"""After "keep everything": the wish that follows is excepted. "More damage, but keep everything" excepts nothing."""
_JOINING = re.compile(r"(?:,|\s|\band)+$", re.I)
"""What joins a kept part to what follows."""

_WISHES = (_LIFE, _DAMAGE, _SUSTAIN, _REPAIR, _RESISTANCE, _GAIN, _LOSS)


def read_refinement(prompt: str) -> RefineReading:
    """Return what the prompt wishes and locks; without a wish everything may become better."""
    text = " ".join(prompt.replace("\u2019", "'").split())  # the patterns look ahead over white space, again and again
    text = _NO_MORE_THAN.sub("lose at most ", _WITHOUT.sub("without", text))
    unharmed = " ".join(m.group() for m in _UNHARMED.finditer(text))
    text = _ALONE.sub(r"only change \g<alone>\g<free>", with_keeps(_UNHARMED.sub(" ", text)))
    text = as_more(_POOR.sub(r"better \g<what>", _PLUS.sub(r"\g<amount> more ", text)))
    text = _exchanged(_DEAR.sub(lambda m: f"without {m['what'] or m['other']}", text))
    text = _KEEPS.sub(_as_wish, _DROPPED.sub("remove ", _REPLACED.sub(_gone, text)))
    only, kept = list(_ONLY.finditer(text)), list(_KEEPS.finditer(_ONLY.sub(" ", text)))
    rest = _KEEPS.sub(" ", _ONLY.sub(" ", text))
    other = {m["what"].casefold(): m.group() for m in _OTHER.finditer(rest)}
    rest = _OTHER.sub(" ", rest)
    more = more_of(rest)
    for words in more.values():
        rest = rest.replace(words, " ")
    rest = _PURPOSE.sub(" ", rest) if more else rest
    sought = [] if only else list(_SOUGHT.finditer(rest))
    rest = rest if only else _SOUGHT.sub(" ", rest)
    wish = _wish(f"{rest} {unharmed}")
    if sought:
        looked_for = sought[0].group().strip()
        reason = wish.reason if wish.said else f'you wrote "{looked_for}"'
        wish = changed(wish, least=WORTHWHILE, reason=reason, said=True)
    locks = locks_of([m["what"] for m in (*only, *sought)], [m["what"] for m in kept], rest)
    if wish.said and locks.parts == sorted(Part) and any(_AND_YET.match(m.string, m.end()) for m in kept):
        said = ", ".join(m.group().strip() for m in kept)
        reason = f'{wish.reason}; "{said}" would leave nothing to change, so it is not taken by the letter'
        wish, locks, kept = changed(wish, reason=reason), Locks(), []
    left = " ".join([rest, *(m.group() for m in _COUNTED.finditer(text) if m.group() not in rest)])
    for pattern in (_LOSS, _GAIN, _MANIFOLD, _UNMINDED, _TRADED):
        left = pattern.sub(" ", left)
    return RefineReading(
        wish=wish,
        locks=locks,
        kept=tuple(dict.fromkeys(_JOINING.sub("", " ".join(m.group().split())) for m in [*only, *kept])),
        rest=_readable(" ".join(left.split()).strip(" ,.;")),
        covers=_covers(rest),
        other=other,
        more=more,
    )


def _gone(replaced: re.Match[str]) -> str:
    """Return what is replaced as ruled out, but for what is looked for anew in its place, and what only costs much."""
    old = replaced["old"]
    is_kind = names_part(old) or _REPLACEABLE.search(old) or _DESCRIBED.search(old)
    return replaced.group() if is_kind else f"without {old}"


def _as_wish(kept: re.Match[str]) -> str:
    """Return what is to be kept and is no part that can be locked as what the build is to have ("keep Grim Feast")."""
    what = kept["what"].strip()
    return kept.group() if names_part(what) or not what else f"use {what}"


def _readable(rest: str) -> str:
    """Return what is left as long as a prompt has to be: "CI" is asked for like "use CI"."""
    return f"use {rest}" if 0 < len(rest) < MIN_PROMPT else rest


def _exchanged(text: str) -> str:
    """Return the text with what is to come in place of what is there, in the words in which a new build asks for it."""

    def instead(match: re.Match[str]) -> str:
        old, new = match["old"], match["new"]
        own = _REPLACEABLE.fullmatch(old)
        if _ANYTHING.fullmatch(new) and not own:
            return f"without {old}"
        whole = re.search(_LAYER, old, re.I) and not re.match(r"(?:some|a (?:bit|little|lot)) ", old, re.I)
        if _IMPROVED.match(new) or (re.fullmatch(_FIGURE, old, re.I) and not whole):
            return match.group()
        return f"use {new}" if own else f"use {new} instead of {old}"

    text = _LEVELLED.sub(lambda m: f"level {m['level']}", text)
    return _TURNED.sub("", _EXCHANGE.sub(instead, text))


def _wish(said: str) -> Wish:
    loss = _LOSS.search(said)
    wanted = _LOSS.sub(" ", said)
    given_up = [(match.group(), share) for pattern, share in _LOSSES if (match := pattern.search(wanted))]
    for pattern, _ in _LOSSES:
        wanted = pattern.sub(" ", wanted)
    gain, times = _GAIN.search(wanted), _MANIFOLD.search(wanted)
    direction, reason = _direction(wanted)
    is_said = says_wish(wanted)
    if given_up and not is_said:
        direction, reason, is_said = _other_than(given_up[0][0])
    return Wish(
        direction=direction,
        reason=reason,
        said=is_said,
        gain=_times(times)
        if times and not gain
        else _share(next(filter(None, gain.groups())) if gain else None, 0.15, 3.0),
        loss=_share(loss["number"] if loss else None, given_up[0][1] if given_up else 0.05, 0.5),
    )


def _times(match: re.Match[str]) -> float:
    """Return the gain in "twice" and "3x"."""
    times = _TIMES[match["word"].casefold()] if match["word"] else int(match["number"] or match["behind"])
    return min(3.0, times - 1.0)


def _other_than(given_up: str) -> tuple[Direction, str, bool]:
    """Return the wish of who names only what may, or must not, be lost: the other figure."""
    direction, _ = _direction(given_up)
    other: dict[Direction, Direction] = {"damage": "survivability", "survivability": "damage"}
    return other.get(direction, "balanced"), f'you wrote "{given_up.strip()}"', direction in other


def _covers(text: str) -> Callable[[str], bool]:
    """Return whether words of the text are about a wish of a refinement, or say no more than that something changes."""
    wishes = [m.group().casefold() for p in (*_WISHES, _MANIFOLD) for m in p.finditer(text)]

    def covers(words: str) -> bool:
        told = words.casefold()
        is_said = any(letter.isalpha() for letter in told)
        asked = is_said and vocabulary().change_words.issuperset(re.findall(r"[a-z]+", told))
        return asked or says_wish(words) or any(re.search(rf"\b{re.escape(told)}\b", wish) for wish in wishes)

    return covers


def says_wish(text: str) -> bool:
    """Say whether a text names something that a refinement can wish for, or how much of it."""
    return any(pattern.search(text) for pattern in _WISHES)


def _share(text: str | None, default: float, most: float) -> float:
    return default if not text else min(most, max(0.01, float(text) / 100))


def _direction(text: str) -> tuple[Direction, str]:
    life, resistance = _LIFE.search(text), _RESISTANCE.search(text)
    damage = _DAMAGE.search(_SUFFERED.sub(" ", text) if life else text)
    if life and damage:
        return "balanced", f'you wrote "{life.group()}" and "{damage.group()}"'
    if life:
        return "survivability", f'you wrote "{life.group()}"'
    if damage:
        return "damage", f'you wrote "{damage.group()}"'
    if resistance:
        return "resistances", f'you wrote "{resistance.group()}"'
    if sustain := _SUSTAIN.search(text):
        return "sustain", f'you wrote "{sustain.group()}"'
    if repair := _REPAIR.search(text):
        return "repair", f'you wrote "{repair.group()}"'
    return "balanced", "you did not say what should become better, so damage and effective hit points both count"
