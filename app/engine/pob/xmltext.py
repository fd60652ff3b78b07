"""Reading untrusted PoB XML within bounds, and writing XML in the dialect that PoB's own reader understands.

PoB's reader is a handful of Lua patterns: it knows the five named entities only (a numeric one vanishes), ends a tag
at the first ">", and keeps raw newlines in attributes, which real builds have (`customMods`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree

from app.core.errors import BadImport

MAX_XML_BYTES = 1_000_000
MAX_ELEMENTS = 50_000
MAX_DEPTH = 16
MAX_ATTRIBUTES = 64
ROOT = "PathOfBuilding2"

_NAME = re.compile(r"[A-Za-z0-9]+")
_DECLARATION = re.compile(r"\s*<\?xml[^<>]*\?>")
_TAG = re.compile(r"<[^!?<>][^<>]*>")
_SPACE = " \t\n"
_ESCAPES = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;", ord('"'): "&quot;", ord("'"): "&apos;"}


def read(xml: bytes) -> etree._Element:
    """Return the root of a PoB 2 build.

    Raises:
        BadImport: not UTF-8, too large, too deep, not well-formed, with a document type, or not a build of PoB 2.
    """
    if len(xml) > MAX_XML_BYTES:
        raise BadImport(f"the XML is larger than {MAX_XML_BYTES} bytes")
    try:
        text = xml.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise BadImport("the XML is not UTF-8") from exc
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise BadImport("the XML has a document type, which no build has")
    # The parser would turn raw newlines and tabs of attributes into spaces, as XML says and PoB does not.
    text = _TAG.sub(_keep_newlines, _DECLARATION.sub("", text, count=1))
    root = _parse(text.encode())
    _check(root)
    return root


def write(element: etree._Element) -> bytes:
    """Return the document as PoB would write it: a tab per level, attributes sorted, newlines raw."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', *_lines(element, 0)]
    return ("\n".join(lines) + "\n").encode()


def _parse(text: bytes) -> etree._Element:
    parser = etree.XMLParser(
        encoding="utf-8", resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    try:
        return etree.fromstring(text, parser)
    except etree.XMLSyntaxError as exc:
        raise BadImport(f"the XML is not well-formed: {exc.msg}") from exc


def _keep_newlines(tag: re.Match[str]) -> str:
    text = tag.group()
    return (
        text.replace("\r\n", "\n").replace("\n", "&#10;").replace("\t", "&#9;") if '"' in text or "'" in text else text
    )


def _check(root: etree._Element) -> None:
    if root.tag != ROOT:
        raise BadImport(f"this is <{str(root.tag)[:40]}>, not a <{ROOT}> build")
    for count, (element, depth) in enumerate(_walk(root, 1)):
        names = [element.tag, *element.attrib]
        if count > MAX_ELEMENTS or depth > MAX_DEPTH or len(names) > MAX_ATTRIBUTES:
            raise BadImport("the XML has too many elements, levels or attributes")
        if not all(isinstance(name, str) and _NAME.fullmatch(name) for name in names):
            raise BadImport("the XML has names that no build has")


def _walk(element: etree._Element, depth: int) -> Iterator[tuple[etree._Element, int]]:
    """Yield elements with their depth, not descending below the bound."""
    yield element, depth
    if depth <= MAX_DEPTH:
        for child in element:
            yield from _walk(child, depth + 1)


def _lines(element: etree._Element, level: int) -> Iterator[str]:
    indent = "\t" * level
    attributes = "".join(f' {name}="{_escape(value)}"' for name, value in sorted(_attributes(element)))
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


def _attributes(element: etree._Element) -> Iterator[tuple[str, str]]:
    return ((str(name), str(value)) for name, value in element.items())


def _clean(text: str | None) -> str:
    """Strip what PoB's reader strips, so that indenting changes nothing."""
    return _escape(text or "").strip(_SPACE)


def _escape(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_ESCAPES)
