"""One byte sequence per build: PoB writes sections, attributes and many lists in an order that differs per process."""

from __future__ import annotations

import base64
import binascii
import io
import re
from collections.abc import Callable, Iterator, Sequence

from lxml import etree

from app.core.errors import BadImport
from app.engine.files.lines import check_lines

MAX_XML_BYTES = 1_000_000
MAX_ELEMENTS = 10_000
"""Five times what the largest builds of players have."""

MAX_DEPTH = 16
MAX_ATTRIBUTES = 64
ROOT = "PathOfBuilding2"

_NAME = re.compile(r"[A-Za-z0-9]+")
_DECLARATION = re.compile(r"<\?xml[^<>]*\?>")
_TAG = re.compile(r"<[^!?<>][^<>]*>")
_SPACE = " \t\n"
_ESCAPES = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;", ord('"'): "&quot;", ord("'"): "&apos;"}


def read(xml: bytes) -> etree._Element:
    """Return the root of a PoB 2 build.

    Raises:
        BadImport: not UTF-8, too large, too deep, not well-formed, with a document type, not a build of PoB 2, or
            with more lines of items and modifiers than a build has.
    """
    if len(xml) > MAX_XML_BYTES:
        raise BadImport(f"the XML is larger than {MAX_XML_BYTES} bytes")
    try:
        text = xml.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise BadImport("the XML is not UTF-8") from exc
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise BadImport("the XML has a document type, which no build has")
    text = text.lstrip()
    if declaration := _DECLARATION.match(text):
        text = text[declaration.end() :]
    try:
        root = _parse(_TAG.sub(_keep_newlines, text).encode())
    except etree.XMLSyntaxError as exc:
        raise BadImport(f"the XML is not well-formed: {exc.msg.partition(chr(10))[0][:200]}") from exc
    check_lines(root)
    return root


def _parse(text: bytes) -> etree._Element:
    """Return the root, each start of an element checked as it is read, so that nothing beyond the bounds is built."""
    elements, depth = 0, 0
    steps = etree.iterparse(
        io.BytesIO(text),
        events=("start", "end"),
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        remove_comments=True,
        remove_pis=True,
    )
    for event, element in steps:
        if event == "end":
            depth -= 1
            continue
        elements, depth = elements + 1, depth + 1
        if elements == 1 and element.tag != ROOT:
            raise BadImport(f"this is <{str(element.tag)[:40]}>, not a <{ROOT}> build")
        names = [element.tag, *element.attrib]
        if elements > MAX_ELEMENTS or depth > MAX_DEPTH or len(names) > MAX_ATTRIBUTES:
            raise BadImport("the XML has too many elements, levels or attributes")
        if not all(isinstance(name, str) and _NAME.fullmatch(name) for name in names):
            raise BadImport("the XML has names that no build has")
    root: etree._Element = steps.root
    return root


def write(element: etree._Element) -> bytes:
    """Return the document as PoB would write it: a tab per level, attributes sorted, newlines raw."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', *_lines(element, 0)]
    return ("\n".join(lines) + "\n").encode()


def _keep_newlines(tag: re.Match[str]) -> str:
    """The parser would turn raw newlines and tabs of attributes into spaces, as XML says and PoB does not."""
    text = tag.group()
    return (
        text.replace("\r\n", "\n").replace("\n", "&#10;").replace("\t", "&#9;") if '"' in text or "'" in text else text
    )


def _lines(element: etree._Element, level: int) -> Iterator[str]:
    indent = "\t" * level
    pairs = sorted((str(name), str(value)) for name, value in element.items())
    attributes = "".join(f' {name}="{_escape(value)}"' for name, value in pairs)
    text = _clean(element.text)
    if not text and not len(element):
        yield f"{indent}<{element.tag}{attributes}/>"
    else:
        yield f"{indent}<{element.tag}{attributes}>"
        if text:
            yield f"{indent}\t{text}"
        for child in element:
            yield from _lines(child, level + 1)
        yield f"{indent}</{element.tag}>"
    if tail := _clean(element.tail):
        yield f"{indent}{tail}"


def _clean(text: str | None) -> str:
    """Strip what PoB's reader strips, so that indenting changes nothing."""
    return _escape(text or "").strip(_SPACE)


def _escape(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_ESCAPES)


_SECTIONS = ["Build", "Tree", "Skills", "Items", "Config", "Calcs", "Notes", "Party", "Import", "TreeView"]
_SPEC = ["URL", "WeaponSet1", "WeaponSet2", "Sockets", "Overrides"]
_BUILD = ["Spectre", "BeastCompanion", "PlayerStat", "FullDPSSkill", "MinionStat", "Buffs", "TimelessData"]
_STATS = ("PlayerStat", "MinionStat")
_NODE_LISTS = ["nodes", "strNodes", "dexNodes", "intNodes"]
_WORD_LISTS = ["buffList", "combatList", "curseList"]
_UNSTABLE_STATS = "AreaOfEffectRadius"
"""PoB gives these stats another value in another process; it calculates them anew when it loads the build."""

_DEFAULTS = {
    "Items": {"useSecondWeaponSet": "false"},
    "ItemSet": {"useSecondWeaponSet": "false"},
    "ConfigSet": {"title": "Default"},
    "Skills": {"defaultGemQuality": "0"},
    "TimelessData": {"socketFilterDistance": "0"},
}
"""What PoB takes an absent (or "nil") attribute for; a build it never loaded from a file lacks them."""

_MAY_BE_NIL = ["statSetIndex", "statSetIndexCalcs"]
"""Attributes of gems that PoB writes as "nil" after loading a gem without them."""

_URL_HEADER = 6
_MAX_DIGITS = 15

Key = tuple[int, int, str, str]


def canonical(xml: bytes) -> bytes:
    """Return the build's canonical XML: what PoB loads from it is what it loads from the original.

    Lists whose order means something (items, skill groups, gems, specs) keep it; all others are sorted. The result
    of a canonical text is that text.

    Raises:
        BadImport: this is not a PoB 2 build, or it exceeds the bounds for untrusted XML.
    """
    return _canonical(read(xml))


def _canonical(root: etree._Element) -> bytes:
    for element in list(root.iter()):  # a list, because reordering would lead the walk astray
        in_build = element.tag == "Build"
        for child in list(element):  # what says nothing, or something else in every process
            weights = child.tag == "TradeSearchWeights" and not len(child)
            if child.get("stat", "").startswith(_UNSTABLE_STATS) if in_build else weights:
                element.remove(child)
        key = _KEYS.get(str(element.tag))
        if key is not None:
            element[:] = sorted(element, key=key)
        _order_attributes(element)
        if element.tag == "Gem":
            for name in [name for name in _MAY_BE_NIL if element.get(name) == "nil"]:
                del element.attrib[name]
        for name, value in _DEFAULTS.get(str(element.tag), {}).items():
            if element.get(name, "nil") == "nil":
                element.set(name, value)
    result = write(root)
    if len(result) > MAX_XML_BYTES:
        raise BadImport(f"the XML is larger than {MAX_XML_BYTES} bytes")
    return result


NOTES_END = "-----"
"""The line that ends our part of a build's notes; what its owner wrote stands below."""


def with_notes(xml: bytes, heading: str, lines: Sequence[str]) -> bytes:
    """Return the build with the lines under a heading at the beginning of its notes, in place of earlier ones.

    Raises:
        BadImport: this is not a PoB 2 build, or it exceeds the bounds for untrusted XML.
    """
    root = read(xml)
    notes = root.find("Notes")
    if notes is None:
        notes = etree.SubElement(root, "Notes")
    old = (notes.text or "").strip(_SPACE)
    if old.startswith(heading) and NOTES_END in old:
        old = old.split(NOTES_END, 1)[1].strip(_SPACE)
    told = "\n".join([heading, *lines, NOTES_END])
    # a caret begins a colour where the notes are shown
    plain = "".join(char for char in told if char == "\n" or char.isprintable()).replace("^", "")
    notes.text = f"{plain}\n{old}".strip(_SPACE)
    return _canonical(root)


def _order_attributes(element: etree._Element) -> None:
    for name in _NODE_LISTS:
        parts = element.get(name, "").split(",")
        if all(_is_number(part) for part in parts):
            element.set(name, ",".join(str(number) for number in sorted({int(part) for part in parts})))
    for name in _WORD_LISTS:
        if element.get(name):
            element.set(name, ", ".join(sorted(element.get(name, "").split(", "))))
    if element.tag == "URL" and element.text:
        element.text = _ordered_url(element.text.strip())


def _ordered_url(url: str) -> str:
    """Sort the passives in a tree link: base64url of 6 header bytes, a count, two bytes per passive, and the rest."""
    prefix, slash, code = url.rpartition("/")
    try:
        data = base64.urlsafe_b64decode(code)
    except (binascii.Error, ValueError):
        return url
    end = _URL_HEADER + 1 + 2 * data[_URL_HEADER] if len(data) > _URL_HEADER else 0
    if not end or len(data) < end:
        return url
    body = data[_URL_HEADER + 1 : end]
    nodes = sorted(body[i : i + 2] for i in range(0, len(body), 2))
    return prefix + slash + base64.urlsafe_b64encode(data[: _URL_HEADER + 1] + b"".join(nodes) + data[end:]).decode()


def _rank(order: list[str], child: etree._Element) -> int:
    return order.index(str(child.tag)) if child.tag in order else len(order)


def _number(text: str | None) -> int:
    return int(text) if text and _is_number(text) else 0


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS


def _by_name(child: etree._Element) -> Key:
    return 0, _number(child.get("nodeId")), str(child.tag), child.get("name", "")


def _by_effect(child: etree._Element) -> Key:
    return 0, _number(child.get("skillIndex")), str(child.tag), child.get("grantedEffect", "")


_KEYS: dict[str, Callable[[etree._Element], Key]] = {
    "PathOfBuilding2": lambda child: (_rank(_SECTIONS, child), 0, str(child.tag), ""),
    "Build": lambda child: (_rank(_BUILD, child), 0, child.get("stat", "") if child.tag in _STATS else "", ""),
    "Spec": lambda child: (_rank(_SPEC, child), 0, str(child.tag), ""),
    "Sockets": _by_name,
    "ItemSet": _by_name,
    "ConfigSet": _by_name,
    "Calcs": lambda child: (int(child.tag != "Input"), 0, child.get("name", ""), ""),
    "Gem": _by_effect,
    "MinionSkillIndexLookup": _by_effect,
    "MinionSkillIndexLookupCalcs": _by_effect,
}
"""By which the children of an element are sorted; of others the order means something."""
