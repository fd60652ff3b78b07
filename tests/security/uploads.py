"""Files that are sent to do harm, and what each of them costs; `python -m tests.security.uploads` prints it."""

from __future__ import annotations

import base64
import json
import os
import resource
import sys
import time
import zlib
from collections.abc import Callable

from app.core.errors import AppError
from app.service.imports import ImportRequest, file_of

ROOT = "PathOfBuilding2"
ITEM = "Rarity: RARE\nX\nSapphire Ring\nItem Level: 80\nImplicits: 0\n"
LAUGHS = "".join(f'<!ENTITY l{i} "{"".join([f"&l{i - 1};"] * 10)}">' for i in range(1, 10))


def build(body: str) -> str:
    return f"<{ROOT}>{body}</{ROOT}>"


def items(*texts: str) -> str:
    return build(
        "<Items>" + "".join(f'<Item id="{i}">{ITEM}{text}</Item>' for i, text in enumerate(texts)) + "</Items>"
    )


def code(content: bytes) -> str:
    return base64.urlsafe_b64encode(zlib.compress(content, 9)).decode()


XML: dict[str, Callable[[], str]] = {
    "blanks before a build": lambda: " " * 999_000 + f"<{ROOT}/>",
    "blanks before a declaration": lambda: " " * 990_000 + f'<?xml version="1.0"?><{ROOT}/>',
    "line ends before a build": lambda: "\r\n" * 490_000 + f"<{ROOT}/>",
    "blanks inside a build": lambda: build((" " * 1000 + "\n") * 990),
    "blanks inside a tag": lambda: f"<{ROOT}{' ' * 990_000}/>",
    "blanks and elements": lambda: build((" " * 90 + "<a/>") * 9_900),
    "blanks before nothing": lambda: " " * 999_000,
    "declarations": lambda: "<?xml " * 160_000,
    "a declaration without an end": lambda: "<?xml " + " " * 990_000,
    "brackets": lambda: "<" * 990_000,
    "open tags": lambda: build("<a " * 330_000),
    "49,000 elements": lambda: build("<a/>" * 49_000),
    "240,000 elements": lambda: build("<a/>" * 240_000),
    "depth 200,000": lambda: f"<{ROOT}>" + "<a>" * 200_000,
    "depth 140,000, closed": lambda: build("<a>" * 140_000 + "</a>" * 140_000),
    "160,000 attributes": lambda: build("<a " + " ".join(f'a{i}="1"' for i in range(90_000)) + "/>"),
    "elements full of attributes": lambda: build(
        ("<a " + " ".join(f'a{i}="1"' for i in range(60)) + "/>") * 2_000,
    ),
    "comments": lambda: build("<Notes>" + "a<!---->" * 120_000 + "</Notes>"),
    "instructions": lambda: build("<Notes>" + "a<?b?>" * 160_000 + "</Notes>"),
    "character data": lambda: build("<Notes>" + "<![CDATA[x]]>" * 75_000 + "</Notes>"),
    "character data without an end": lambda: build("<Notes><![CDATA[" + "]]" * 490_000),
    "ampersands": lambda: build("<Notes>" + "&amp;" * 190_000 + "</Notes>"),
    "an entity of each kind": lambda: f'<!DOCTYPE x [<!ENTITY l0 "ha">{LAUGHS}]>' + build("&l9;"),
    "a long entity": lambda: f'<!DOCTYPE x [<!ENTITY a "{"x" * 400_000}">]>' + build("&a;" * 100_000),
    "an external entity": lambda: '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>' + build("&e;"),
    "an entity of the network": lambda: '<!DOCTYPE x SYSTEM "http://127.0.0.1:1/x.dtd">' + build(""),
    "a parameter entity": lambda: '<!DOCTYPE x [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]>' + build(""),
    "another encoding": lambda: '<?xml version="1.0" encoding="UTF-7"?>' + build("<Notes>+ADw-a+AD4-</Notes>"),
    "passives without end": lambda: build('<Tree><Spec nodes="' + ",".join(map(str, range(150_000))) + '"/></Tree>'),
    "words without end": lambda: build('<Build><Buffs buffList="' + "a, " * 320_000 + '"/></Build>'),
    "a long number": lambda: build('<Build level="' + "9" * 900_000 + '"/>'),
    "stats that are left out": lambda: build(
        "<Build>" + '<PlayerStat stat="AreaOfEffectRadius"/>' * 9_900 + "</Build>"
    ),
    "1,500 equal lines": lambda: items("\n".join(["+10 to maximum Life"] * 1_500)),
    "lines that differ in a number": lambda: items("\n".join(f"{{range:{i}}}+{i} to Life" for i in range(1_500))),
    "lines behind an element": lambda: items("<ModRange/>" + "\n".join(["+10 to maximum Life"] * 1_500)),
    "20,000 lines": lambda: items("\n".join(f"a{chr(97 + i % 26)}{i:b}" for i in range(20_000))),
    "many items of many lines": lambda: items(
        *["\n".join(chr(97 + i // 26) + chr(97 + i % 26) for i in range(400)) for _ in range(100)]
    ),
    "a line of 900,000 characters": lambda: items("{" * 900_000),
    "modifiers of one's own": lambda: build(
        '<Config><ConfigSet><Input name="customMods" string="' + "+1 to Spirit\n" * 1_500 + '"/></ConfigSet></Config>'
    ),
}
CODES: dict[str, Callable[[], str]] = {
    "300 MB deflated": lambda: code(bytes(300_000_000)),
    "1 M elements deflated": lambda: code(build("<a/>" * 1_000_000).encode()),
    "blanks deflated": lambda: code(XML["blanks before a build"]().encode()),
    "blanks": lambda: " " * 1_900_000,
    "letters between blanks": lambda: "A " * 950_000,
    "padding": lambda: "=" * 1_900_000,
    "one code after another": lambda: base64.urlsafe_b64encode(zlib.compress(b"a") * 100_000).decode()[:1_900_000],
    "empty blocks": lambda: base64.b64encode(b"\x78\x9c" + b"\x00\x00\x00\xff\xff" * 250_000).decode(),
}
HARMLESS = frozenset(
    {
        "blanks before a build",
        "blanks before a declaration",
        "line ends before a build",
        "blanks inside a build",
        "blanks inside a tag",
        "blanks and elements",
        "blanks deflated",
        "comments",
        "instructions",
        "character data",
        "ampersands",
        "another encoding",
        "passives without end",
        "words without end",
        "a long number",
        "stats that are left out",
        "elements full of attributes",
    }
)
"""Odd, but a build all the same."""


def bodies() -> dict[str, dict[str, str]]:
    """Return all of them as bodies of `POST /v1/imports`."""
    xml = {f"xml: {name}": {"xml": make()} for name, make in XML.items()}
    return xml | {f"code: {name}": {"code": make()} for name, make in CODES.items()}


def main() -> None:
    for name, body in bodies().items():
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            _measure(name, json.dumps(body))
            os._exit(0)
        os.waitpid(pid, 0)


def _measure(name: str, body: str) -> None:
    """Print what it costs to take the body in, in this process, which is used once."""
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    try:
        answer = f"taken, {len(file_of(ImportRequest.model_validate_json(body)))} bytes"
    except AppError as error:
        answer = f"{error.code}: {error.message}"
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    found = {"name": name, "cpu_s": time.process_time() - began, "mb": used / 1024, "answer": answer}
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
