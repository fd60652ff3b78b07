"""Clients that are slow, silent or many, against a running server: dropped in time, and nobody else notices."""

from __future__ import annotations

import resource
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from app.api.connections import BODY_S, HEAD_S, MAX_CONNECTIONS, TAKE_S
from tests.e2e.conftest import Server

pytestmark = pytest.mark.deep
Start = Callable[..., Server]
HEAD = b"POST /v1/builds HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n"


@contextmanager
def many_files() -> Iterator[None]:
    """Let this process open as many sockets as the test needs."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def connect(server: Server, first: bytes = b"") -> socket.socket:
    found = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    found.sendall(first)
    return found


def seconds_until_closed(connection: socket.socket, trickle: bytes = b"") -> float:
    """Wait for the server to end the connection, sending a byte every second."""
    began, at = time.monotonic(), 0
    connection.settimeout(1)
    while time.monotonic() - began < 90:
        try:
            if trickle:
                connection.sendall(trickle[at % len(trickle) :][:1])
                at += 1
            if connection.recv(65536) == b"":
                return time.monotonic() - began
        except TimeoutError:
            continue
        except (ConnectionResetError, BrokenPipeError):
            return time.monotonic() - began
    raise AssertionError("the connection was never ended")


def slowest_health_ms(server: Server, times: int) -> float:
    slowest = 0.0
    for _ in range(times):
        began = time.perf_counter()
        assert server.client.get("/healthz").status_code == 200
        slowest = max(slowest, 1000 * (time.perf_counter() - began))
    return slowest


def open_sockets(server: Server) -> int:
    ports = [line.split() for line in Path(f"/proc/{server.process.pid}/net/tcp").read_text().splitlines()][1:]
    here = f"0100007F:{server.port:04X}"
    return sum(fields[1] == here and fields[3] in ("01", "08") for fields in ports)


def test_four_hundred_half_open_connections_are_dropped(start_server: Start) -> None:
    server = start_server()
    starts = [b"", b"GET /heal", b"GET /healthz HTTP/1.1\r\nX-A: b", HEAD, HEAD + b"\r\n{"]
    with many_files(), ExitStack() as stack:
        for i in range(400):
            stack.enter_context(connect(server, starts[i % len(starts)]))
        beside_ms = slowest_health_ms(server, 50)
        assert open_sockets(server) >= 400
        deadline = time.monotonic() + max(HEAD_S, BODY_S) + 15
        while (left := open_sockets(server)) > 5 and time.monotonic() < deadline:
            time.sleep(1)
        print(f"400 half-open connections, {left} left; /healthz beside them at most {beside_ms:.0f} ms")
        assert left <= 5


def test_a_trickle_of_headers_or_of_a_body_is_cut_off(start_server: Start) -> None:
    server = start_server()
    with connect(server) as head, connect(server, HEAD + b"\r\n") as body:
        took_s = seconds_until_closed(head, b"GET /healthz HTTP/1.1\r\nX-A: " + b"a" * 1000)
        assert took_s < HEAD_S + 10
        assert took_s + seconds_until_closed(body, b"a" * 1000) < BODY_S + 10


def test_more_connections_than_there_may_be_are_told_so(start_server: Start) -> None:
    server = start_server()
    with many_files(), ExitStack() as stack:
        for _ in range(MAX_CONNECTIONS + 5):
            stack.enter_context(connect(server))
        late = stack.enter_context(connect(server))
        assert late.recv(1000).startswith(b"HTTP/1.1 503 ")
    time.sleep(1)
    assert server.client.get("/healthz").status_code == 200


def test_answers_that_nobody_takes_do_not_stay_in_memory(start_server: Start) -> None:
    server = start_server()
    build = server.client.post("/v1/builds", json={"prompt": "lightning sorceress for mapping", "level": 12}).json()
    before = resident_mb(server)
    with many_files(), ExitStack() as stack:
        for path in ("/openapi.json", f"/v1/builds/{build['id']}/events", "/openapi.json"):
            for _ in range(20):
                silent = stack.enter_context(socket.socket())
                silent.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
                silent.connect(("127.0.0.1", server.port))
                silent.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode() * 4)
        beside_ms = slowest_health_ms(server, 50)
        grown = resident_mb(server) - before
        print(f"60 readers that never read: {grown:.0f} MB more, /healthz at most {beside_ms:.0f} ms")
        assert grown < 150
        deadline = time.monotonic() + 2 * TAKE_S + 20
        while (left := open_sockets(server)) > 25 and time.monotonic() < deadline:
            time.sleep(1)
        assert left <= 25, "streams may stay while they have nothing to send, answers that are not taken may not"


def resident_mb(server: Server) -> float:
    pages = int(Path(f"/proc/{server.process.pid}/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def test_a_body_in_a_thousand_parts_lets_others_in(start_server: Start) -> None:
    server = start_server()
    parts = b"1\r\na\r\n" * 300_000
    with connect(server, HEAD.replace(b"Content-Length: 1000", b"Transfer-Encoding: chunked") + b"\r\n") as sender:
        sender.setblocking(False)
        slowest, sent = 0.0, 0
        began = time.monotonic()
        while time.monotonic() - began < 5:
            with suppress(BlockingIOError, BrokenPipeError, ConnectionResetError):
                sent += sender.send(parts[sent % len(parts) :][:65536])
            slowest = max(slowest, slowest_health_ms(server, 1))
    print(f"a body in parts of one byte: /healthz beside it at most {slowest:.0f} ms")
    assert slowest < 1000
