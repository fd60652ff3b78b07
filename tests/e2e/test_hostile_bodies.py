"""Two hundred bodies that were made to hold the service, over every call that takes one, and `/healthz` beside them."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.conftest import Server
from tests.security.uploads import bodies

pytestmark = pytest.mark.deep
Start = Callable[..., Server]
ANSWER_S, HEALTH_MS = 1.0, 100.0


def busy() -> float:
    """Return how much longer a machine that does other things besides may take; the figures themselves are printed."""
    return 2 * (1 + os.getloadavg()[0] / (os.cpu_count() or 1))


def processor_s(pid: int) -> float:
    """Return how long the process itself has worked."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Health(threading.Thread):
    """Asks `/healthz` again and again and keeps how long each answer took."""

    def __init__(self, port: int) -> None:
        super().__init__(daemon=True)
        self._client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False)
        self._over = threading.Event()
        self.took_ms: list[float] = []

    def run(self) -> None:
        while not self._over.is_set():
            began = time.perf_counter()
            self._client.get("/healthz").raise_for_status()
            self.took_ms.append(1000 * (time.perf_counter() - began))
            time.sleep(0.01)

    def end(self) -> list[float]:
        self._over.set()
        self.join(60)
        self._client.close()
        return sorted(self.took_ms)


def deep(levels: int, opening: str, closing: str, inside: str = "1") -> str:
    return opening * levels + inside + closing * levels


ANYWHERE: dict[str, str | bytes] = {
    "nothing": "",
    "no JSON": "hello",
    "half a text": '{"prompt": "a',
    "quotes": '"' * 100_000,
    "escaped quotes": '"' + '\\"' * 60_000,
    "brackets": "[" * 100_000,
    "closed brackets": deep(50_000, "[", "]"),
    "objects in objects": deep(15_000, '{"a":', "}"),
    "empty objects": "[" + "{}," * 40_000 + "{}]",
    "numbers": "[" + "1," * 60_000 + "1]",
    "keys": "{" + ",".join(f'"{i}":1' for i in range(9_000)) + "}",
    "a number of 100,000 digits": "9" * 100_000,
    "a number beyond all": '{"level": 1e999999999}',
    "not a number": '{"level": NaN, "min_calls": Infinity}',
    "half a surrogate": '{"prompt": "\\ud800 spark", "answer": "\\udfff"}',
    "NUL": '{"prompt": "spark\\u0000 build"}',
    "not UTF-8": b'{"prompt": "\xff\xfe spark"}',
    "UTF-16": '{"prompt": "spark build"}'.encode("utf-16"),
    "blanks": " " * 120_000,
    "too large": "a" * 3_000_000,
}
PROMPTS: dict[str, str] = {
    "near words": "sorcerss sparkk " * 250,
    "figures": "1 " * 2_000,
    "a list of exclusions": "no " + "fire, cold, " * 320 + "fire or cold",
    "blanks": "keep" + " " * 3_990 + "x",
    "levels": "level " * 660,
    "slashes": "1/" * 2_000,
    "one word": "a" * 4_000,
    "accents": "\u0301" * 4_000,
    "ligatures": "\ufdfa" * 4_000,
}
REGEXES = ("^(a|a)*$", "^([a-f0-9]+)+z$", "(a+)+$", "(.*a){25}$", "((a{100}){100}){100}", "(?=a)a", "a" * 5_000)
SCHEMAS: dict[str, Any] = {
    "itself": {"$ref": "#"},
    "a file": {"$ref": "file:///etc/passwd"},
    "the network": {"$ref": "http://127.0.0.1:9/"},
    "nowhere": {"$ref": "#/nothing"},
    "no draft": {"$schema": 5},
    "a list as draft": {"$schema": []},
    "an old draft": {"$schema": "http://json-schema.org/draft-03/schema#", "extends": "file:///etc/passwd"},
    "doubling": {
        "$ref": "#/$defs/0",
        "$defs": {str(i): {"allOf": [{"$ref": f"#/$defs/{min(i + 1, 29)}"}] * 2} for i in range(30)},
    },
    "names": {"patternProperties": {"^(a|a)*$": {}}, "additionalProperties": False},
    "unique": {"uniqueItems": True, "not": {"contains": {"uniqueItems": True}}},
    "wide": {"anyOf": [{"properties": {f"p{i}": {"type": "number"}}} for i in range(600)]},
}
VALUES: dict[str, Any] = {
    "range": {"range": {"gte": 10**400}},
    "approx": {"approx": {"value": 10**400, "rel": 10**400}},
    "equals": {"equals": json.loads(deep(400, "[", "]"))},
    "subset": {"subset": json.loads(deep(400, '{"a":', "}"))},
    "one_of": {"one_of": list(range(15_000))},
}


def expectations() -> Iterator[tuple[str, Any]]:
    matchers: dict[str, Any] = {f"regex {pattern[:20]}": {"regex": pattern} for pattern in REGEXES}
    matchers |= {f"schema pattern {pattern[:20]}": {"json_schema": {"pattern": pattern}} for pattern in REGEXES}
    matchers |= {f"schema of {name}": {"json_schema": schema} for name, schema in SCHEMAS.items()} | VALUES
    for name, matcher in matchers.items():
        yield name, {"expect": [{"tool": "/.*/", "args": {"/a": matcher}}]}
        yield f"{name}, forbidden", {"forbidden_tools": [{"tool": "/.*/", "args": {"x": matcher}}]}
    yield "a tool", {"expect": [{"tool": "/(a|a)*(b|b)*((c+)+)+/"}] * 200}
    yield "many tools", {"required_tools": [f"tool{i}" for i in range(200)], "expect": [{"tool": "/.*/"}] * 200}
    many = {f"k{i}": {"json_schema": SCHEMAS["wide"]} for i in range(2)}
    yield "many schemas", {"expect": [{"tool": "/.*/", "args": many}] * 2}


def builds() -> Iterator[tuple[str, Any]]:
    for name, prompt in PROMPTS.items():
        yield f"prompt of {name}", {"prompt": prompt}
    over: dict[str, Any] = {
        "a long text": {"exclude": "a" * 100_000},
        "texts": {"exclude": ["fire"] * 9_000},
        "integers": {"life": 10**400, "level": -(10**400)},
        "keys": {f"k{i}": [1, 2] for i in range(2_000)},
        "lists of numbers": {"exclude": list(range(9_000))},
        "blanks": {"skill": " " * 100_000},
    }
    for name, value in over.items():
        yield f"overrides of {name}", {"prompt": "spark build", "overrides": value}
    yield "a long parent", {"prompt": "spark build", "parent_id": "a" * 100_000}
    yield "many fields", {"prompt": "spark build"} | {f"f{i}": i for i in range(4_000)}


def corpus(build_id: str) -> list[tuple[str, str, bytes]]:
    """Return name, path and body of each request; none of them may make a build that works."""
    here = f"/v1/builds/{build_id}"
    taking = ("/v1/builds", "/v1/read", "/v1/imports", f"{here}/refine", f"{here}/answer", f"{here}/expectations")
    found = [
        (f"{name} to {path.rpartition('/')[2]}", path, body.encode() if isinstance(body, str) else body)
        for path in taking
        for name, body in ANYWHERE.items()
    ]
    found += [(f"import: {name}", "/v1/imports", json.dumps(body).encode()) for name, body in bodies().items()]
    found += [(f"expect: {name}", f"{here}/expectations", json.dumps(body).encode()) for name, body in expectations()]
    found += [(f"build: {name}", "/v1/builds", json.dumps(body).encode()) for name, body in builds()]
    for name, prompt in PROMPTS.items():
        found.append((f"read: {name}", "/v1/read", json.dumps({"prompt": prompt}).encode()))
        found.append((f"refine: {name}", f"{here}/refine", json.dumps({"prompt": prompt}).encode()))
        found.append((f"answer: {name}", f"{here}/answer", json.dumps({"answer": prompt}).encode()))
    return found


def test_no_body_holds_the_service(start_server: Start) -> None:
    server = start_server()
    made = server.client.post("/v1/builds", json={"prompt": "lightning sorceress for mapping", "level": 4}).json()
    server.client.post(f"/v1/builds/{made['id']}/cancel")
    server.client.post("/v1/read", json={"prompt": "spark"})  # the engine is started by the first who needs it
    requests = corpus(made["id"])
    assert len(requests) >= 200
    health = Health(server.port)
    health.start()
    took: list[tuple[float, str, int]] = []
    worked: list[tuple[float, str]] = []
    for name, path, body in requests:
        began, work = time.perf_counter(), processor_s(server.process.pid)
        answer = server.client.post(path, content=body, headers={"Content-Type": "application/json"})
        took.append((time.perf_counter() - began, name, answer.status_code))
        worked.append((processor_s(server.process.pid) - work, name))
        if answer.status_code == 202:
            server.client.post(f"/v1/builds/{answer.json()['id']}/cancel")
    beside = health.end()
    took.sort(reverse=True)
    print("processor seconds:", *sorted(worked, reverse=True)[:5])
    for seconds, name, status in took[:10]:
        print(f"{seconds:6.3f} s  {status}  {name}")
    print(f"{len(took)} bodies; /healthz {len(beside)} times: median {beside[len(beside) // 2]:.1f} ms, ", end="")
    print(f"99 % below {beside[int(len(beside) * 0.99)]:.1f} ms, at most {beside[-1]:.1f} ms")
    assert not [(name, status) for _, name, status in took if status >= 500]
    assert max(worked)[0] < ANSWER_S
    assert took[0][0] < busy() * ANSWER_S
    assert beside[int(len(beside) * 0.99)] < busy() * HEALTH_MS
