"""Canonical XML: one text per build, still the same build for PoB's own reader, and hostile XML refused."""

from __future__ import annotations

import base64
import random
import re
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from app.core.errors import BadImport
from app.engine.files.xml import MAX_XML_BYTES, canonical, write


def document(body: str) -> bytes:
    return f"<PathOfBuilding2>{body}</PathOfBuilding2>".encode()


def pob_attributes(xml: bytes) -> list[tuple[str, dict[str, str]]]:
    """Read tags as PoB's reader does: by pattern, with five entities and nothing else decoded."""
    entities = {"lt": "<", "gt": ">", "amp": "&", "apos": "'", "quot": '"'}

    def decoded(value: str) -> str:
        return re.sub(r"&(.*?);", lambda match: entities.get(match.group(1), ""), value, flags=re.DOTALL)

    tags = re.findall(r"<(\w+)([^>]*)>", xml.decode())
    return [
        (name, {k: decoded(v) for k, _, v in re.findall(r"(\w+)=([\"'])(.*?)\2", rest, re.DOTALL)})
        for name, rest in tags
    ]


def test_sections_attributes_and_lists_are_ordered() -> None:
    one = document(
        '<Items b="2" a="1"><ItemSet id="1"><Slot name="Ring 2"/><Slot name="Belt"/></ItemSet></Items>'
        '<Tree><Spec nodes="30,4,200"><Sockets><Socket nodeId="90"/><Socket nodeId="8"/></Sockets>'
        '<URL>x</URL></Spec></Tree><Build level="1"/>'
    )
    other = document(
        '<Build level="1"/><Tree><Spec nodes="4,200,30"><URL>x</URL><Sockets><Socket nodeId="8"/>'
        '<Socket nodeId="90"/></Sockets></Spec></Tree>'
        '<Items a="1" b="2"><ItemSet id="1"><Slot name="Belt"/><Slot name="Ring 2"/></ItemSet></Items>'
    )

    assert canonical(one) == canonical(other)
    assert b'nodes="4,30,200"' in canonical(one)


def test_orders_that_mean_something_stay() -> None:
    result = canonical(
        document(
            '<Skills><SkillSet id="2"/><SkillSet id="1"><Skill label="b"><Gem gemId="z"/><Gem gemId="a"/></Skill>'
            '<Skill label="a"/></SkillSet></Skills><Items><Item id="9">x</Item><Item id="1">y</Item></Items>'
        )
    )
    order = [result.index(part) for part in (b'"2"', b'"1"', b'label="b"', b'"z"', b'"a"', b'label="a"', b'"9"')]

    assert order == sorted(order)


def test_newlines_in_attributes_are_raw_and_stay() -> None:
    mods = "10% increased Damage\n\t+5 to Strength &lt; &amp; &quot;"
    result = canonical(
        document(f'<Config><ConfigSet id="1"><Input name="customMods" string="{mods}"/></ConfigSet></Config>')
    )

    assert b"&#" not in result
    attributes = dict(pob_attributes(result)[-1:])["Input"]
    assert attributes["string"] == '10% increased Damage\n\t+5 to Strength < & "'


def test_numeric_entities_become_what_they_mean() -> None:
    result = canonical(
        document('<Config><ConfigSet><Input name="m" string="a&#10;b&#13;&#10;c&#233;"/></ConfigSet></Config>')
    )

    assert dict(pob_attributes(result)[-1:])["Input"]["string"] == "a\nb\ncé"


def test_text_of_items_stays_to_the_letter() -> None:
    text = "Rarity: RARE\nOnslaught  Coil\n{range:0.5}+(5-10)% to Fire\n  indented\n--------"
    result = canonical(
        document(f"<Items><Item id='1'>\n\t\t\t{text}\n\t\t<ModRange id='1' range='0.5'/></Item></Items>")
    )

    item = etree.fromstring(result).find("Items/Item")
    assert item is not None
    assert (item.text or "").strip() == text


def test_tree_links_are_ordered() -> None:
    def link(*nodes: int) -> str:
        body = b"".join(node.to_bytes(2, "big") for node in nodes)
        return "https://e/" + base64.urlsafe_b64encode(bytes([0, 0, 0, 6, 7, 1, len(nodes)]) + body + b"\0\0").decode()

    one, other = (
        canonical(document(f"<Tree><Spec><URL>{url}</URL></Spec></Tree>")) for url in (link(5, 900, 3), link(3, 5, 900))
    )

    assert one == other
    assert link(3, 5, 900).encode() in one


def test_a_link_that_is_none_stays() -> None:
    for url in ("", "https://e/", "https://e/AAAA", "https://e/%%%", "nothing", "https://e/" + "A" * 400):
        assert url.encode() in canonical(document(f"<Tree><Spec><URL>{url}</URL></Spec></Tree>"))


def test_a_stat_without_a_stable_value_is_left_out() -> None:
    life = '<PlayerStat stat="Life" value="1"/>'
    radius = '<PlayerStat stat="AreaOfEffectRadiusMetres" value="3.7"/>'

    assert canonical(document(f"<Build>{life}{radius}</Build>")) == canonical(document(f"<Build>{life}</Build>"))


def test_what_pob_takes_for_granted_is_written_out() -> None:
    bare = document('<Items useSecondWeaponSet="nil"/><Config><ConfigSet id="1"/></Config>')
    full = document(
        '<Items useSecondWeaponSet="false"><TradeSearchWeights/></Items>'
        '<Config><ConfigSet id="1" title="Default"/></Config>'
    )

    assert canonical(bare) == canonical(full)


def test_real_builds_are_stable_under_shuffling(real_builds: list[Path]) -> None:
    for file in real_builds:
        once = canonical(file.read_bytes())

        assert canonical(once) == once
        assert canonical(shuffled(once, seed=len(once))) == once
        assert texts(once) == texts(file.read_bytes())


def test_real_builds_keep_every_attribute_of_pobs_reader(real_builds: list[Path]) -> None:
    for file in real_builds:
        before, after = (everything(pob_attributes(xml)) for xml in (file.read_bytes(), canonical(file.read_bytes())))

        assert after == before


GRANTED = {"title": "Default", "socketFilterDistance": "0", "useSecondWeaponSet": "false", "defaultGemQuality": "0"}


def everything(tags: list[tuple[str, dict[str, str]]]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Forget every order, that of comma-separated lists too, and what PoB takes for granted."""
    left_out = ("AreaOfEffect", "TradeSearchWeights")
    kept = [(name, some) for name, some in tags if not some.get("stat", name).startswith(left_out)]
    return sorted((name, sorted(plain(some))) for name, some in kept)


def plain(attributes: dict[str, str]) -> list[tuple[str, str]]:
    told = [(name, value) for name, value in attributes.items() if value not in ("nil", GRANTED.get(name))]
    return [(name, ",".join(sorted(re.split(", ?", value)))) for name, value in told]


def texts(xml: bytes) -> list[str]:
    found = etree.fromstring(xml).iter("Item", "Notes", "ExportedBuffs")
    return sorted("".join(str(text) for text in element.itertext()).strip() for element in found)


def shuffled(xml: bytes, seed: int) -> bytes:
    """Shuffle what PoB writes in random order."""
    rng = random.Random(seed)
    text = re.sub(rb"<[^<>]*>", lambda tag: tag.group().replace(b"\n", b"&#10;").replace(b"\t", b"&#9;"), xml)
    root = etree.fromstring(text)
    for path in (".", "Tree/Spec/Sockets", "Items/ItemSet", "Config/ConfigSet"):
        for element in root.findall(path):
            element[:] = rng.sample(list(element), len(element))
    for element in root.iter():
        items = [(str(name), str(value)) for name, value in element.items()]
        rng.shuffle(items)
        for name, _ in items:
            del element.attrib[name]
        for name, value in items:
            parts = value.split(",")
            element.set(name, ",".join(rng.sample(parts, len(parts))) if name == "nodes" else value)
    return etree.tostring(root)


HOSTILE = {
    "empty": b"",
    "words": b"hello",
    "binary": bytes(range(256)),
    "not UTF-8": document("<Notes>\xff</Notes>").decode().encode("latin-1"),
    "UTF-16": document("").decode().encode("utf-16"),
    "PoE 1": b"<PathOfBuilding/>",
    "another root": b"<html/>",
    "a document type": b"<!DOCTYPE x><PathOfBuilding2/>",
    "an external entity": b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><PathOfBuilding2>&e;</PathOfBuilding2>',
    "laughs": b'<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><PathOfBuilding2>&b;</PathOfBuilding2>',
    "an unknown entity": document("&nbsp;"),
    "ampersands": document("<Notes>" + "&" * 200_000 + "</Notes>"),
    "ampersands in an attribute": document('<Notes a="' + "&" * 200_000 + '"/>'),
    "brackets": b"<" * 900_000,
    "quotes": b"<PathOfBuilding2 " + b"\"'" * 400_000,
    "open tag": b"<PathOfBuilding2 " + b"a" * 900_000,
    "depth": b"<PathOfBuilding2>" * 5000 + b"</PathOfBuilding2>" * 5000,
    "depth 100": document("<a>" * 100 + "</a>" * 100),
    "elements": document("<a/>" * 200_000),
    "attributes": document("<a " + " ".join(f'a{i}="1"' for i in range(60_000)) + "/>"),
    "the same attribute twice": document('<Build level="1" level="2"/>'),
    "a name that PoB reads differently": document("<Buil-d/>"),
    "a namespace": document('<x:Build xmlns:x="urn:x"/>'),
    "too large": document("<Notes>" + "x" * MAX_XML_BYTES + "</Notes>"),
    "too large once escaped": document("<Notes>" + "'" * 900_000 + "</Notes>"),
    "cut": document("<Notes>")[:-5],
    "NUL": document("<Notes>\0</Notes>"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_xml_is_refused_at_once(case: str) -> None:
    started = time.process_time()
    with pytest.raises(BadImport):
        canonical(HOSTILE[case])

    assert time.process_time() - started < 2


ITEM = "Rarity: RARE\nX\nSapphire Ring\n"


@pytest.mark.parametrize(
    "text",
    [
        "+10 to maximum Life\n" * 21,
        "\n".join(f"Grants Skill: Level {i} Spark" for i in range(21)),
        "<ModRange/>" + "50% of Fire Damage Converted to Cold Damage\n" * 21,
        "\n".join(f"a {i:b}".replace("1", "b") for i in range(2_000)),
        "a" * 401,
    ],
)
def test_lines_that_hold_an_engine_are_refused(text: str) -> None:
    with pytest.raises(BadImport, match="lines"):
        canonical(document(f"<Items><Item>{ITEM}{text}</Item></Items>"))


def test_the_longest_item_of_all_is_taken() -> None:
    lines = "\n".join(f"{{variant:{i}}}Allocates {i:b}".replace("1", "b").replace("0", "a") for i in range(1_200))
    canonical(document(f"<Items><Item>{ITEM}{lines}</Item></Items>"))


def test_numbers_without_end_are_only_text() -> None:
    huge = "9" * 100_000

    assert huge.encode() in canonical(document(f'<Tree><Spec nodes="1,{huge}"/></Tree>'))


TAGS = st.sampled_from(
    ["Build", "Tree", "Spec", "Sockets", "Items", "Item", "ItemSet", "Config", "ConfigSet", "Gem", "X"]
)
VALUES = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], include_characters="\n\t"), max_size=12)
ATTRIBUTES = st.dictionaries(
    st.sampled_from(["nodes", "name", "nodeId", "string", "buffList", "stat"]), VALUES, max_size=4
)


@st.composite
def elements(draw: st.DrawFn, depth: int = 4) -> etree._Element:
    element = etree.Element(draw(TAGS))
    for name, value in draw(ATTRIBUTES).items():
        element.set(name, value)
    element.text = draw(VALUES)
    if depth:
        for child in draw(st.lists(elements(depth=depth - 1), max_size=3)):
            element.append(child)
    return element


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(elements(), max_size=3))
def test_canonical_text_is_its_own_canonical_text(children: list[etree._Element]) -> None:
    root = etree.Element("PathOfBuilding2")
    root.extend(children)
    once = canonical(write(root))

    assert canonical(once) == once
