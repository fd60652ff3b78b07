"""Which addresses are called, and that a name cannot lead elsewhere between the check and the call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from app.core.config import Settings
from app.core.errors import LlmRejected, LlmUnavailable
from app.llm.addresses import AddressRefused, AddressRule
from app.llm.http import JsonClient
from app.wiring import open_services


class Names:
    """A resolver that answers with one list after the other, then with the last for ever."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self._answers = list(answers)
        self.asked = 0

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked += 1
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "127.9.9.9", "1.1.1.1", "2606:4700:4700::1111"])
async def test_public_addresses_and_this_machine_are_called(address: str) -> None:
    assert await AddressRule(resolve=Names([address])).address("model.example", 443) == address


PRIVATE = ["10.1.2.3", "172.17.0.2", "192.168.1.9", "100.64.0.1", "fd12::1", "::ffff:10.0.0.1", "2002:0a00:0001::"]
NEVER = [
    "169.254.169.254",
    "169.254.170.2",
    "100.100.100.200",
    "168.63.129.16",
    "fd00:ec2::254",
    "fe80::1%eth0",
    "::ffff:169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "2002:a9fe:a9fe::",
    "0.0.0.0",
    "::",
    "224.0.0.1",
    "ff02::1",
]


@pytest.mark.parametrize("address", PRIVATE)
async def test_a_private_network_is_called_where_that_was_said(address: str) -> None:
    with pytest.raises(AddressRefused, match="BUILDWRIGHT_LLM_ALLOW_PRIVATE"):
        await AddressRule(resolve=Names([address])).address("model.example", 443)
    assert await AddressRule(private=True, resolve=Names([address])).address("model.example", 443) == address


@pytest.mark.parametrize("address", NEVER)
@pytest.mark.parametrize("private", [False, True])
async def test_metadata_services_and_what_is_no_server_are_never_called(address: str, private: bool) -> None:
    with pytest.raises(AddressRefused):
        await AddressRule(private, Names([address])).address("model.example", 443)


async def test_one_wrong_address_of_a_name_is_enough() -> None:
    with pytest.raises(AddressRefused):
        await AddressRule(resolve=Names(["1.1.1.1", "10.0.0.1"])).address("model.example", 443)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://model.example",
        "file:///etc/passwd",
        "model.example/v1",
        "http://",
        "http://user:secret@127.0.0.1/v1",
        "http://[::1",
        "http://127.0.0.1:99999",
        "http://169.254.169.254/latest/meta-data",
        "http://2852039166/",
        "http://0xa9fea9fe/",
        "http://0251.0376.0251.0376/",
        "http://[::ffff:169.254.169.254]/",
        "http://0/",
    ],
)
async def test_a_base_address_that_cannot_be_meant_is_refused_at_the_start(url: str) -> None:
    with pytest.raises(AddressRefused) as refused:
        async with open_services(Settings(llm_base_url=url, llm_model="m", engine="sketch")):
            pass
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("url", ["http://127.0.0.1:11434/v1", "http://localhost:8080", "http://[::1]:11434/v1"])
async def test_a_local_model_can_be_used_without_any_setting(url: str) -> None:
    await AddressRule().check(url)


async def test_a_name_that_cannot_be_resolved_yet_does_not_end_the_start() -> None:
    await AddressRule(resolve=Names([])).check("https://model.example/v1")


@asynccontextmanager
async def a_server(answer: bytes) -> AsyncIterator[tuple[int, list[bytes]]]:
    """Serve one answer to everybody; yield the port and what was asked."""
    heard: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], heard


OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"


async def test_the_connection_goes_to_the_address_that_was_checked() -> None:
    names = Names(["127.0.0.1"], ["169.254.169.254"])
    async with a_server(OK) as (port, heard):
        client = JsonClient(f"http://model.example:{port}", {}, 30, rule=AddressRule(resolve=names))
        assert await client.post("/chat", {}) == {}
        with pytest.raises(LlmRejected, match=r"169\.254"):
            await client.post("/chat", {})
        await client.close()
    assert names.asked == 2, "asked once for each call, never again in between"
    assert len(heard) == 1
    assert f"host: model.example:{port}".encode() in heard[0].lower()


async def test_a_name_without_an_address_is_unavailable() -> None:
    client = JsonClient("http://model.example", {}, 30, rule=AddressRule(resolve=Names([])))
    with pytest.raises(LlmUnavailable):
        await client.post("/chat", {})
    await client.close()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_never_followed(status: int) -> None:
    async with a_server(OK) as (other, secret_place):
        move = f"HTTP/1.1 {status} Moved\r\nLocation: http://127.0.0.1:{other}/\r\nContent-Length: 0\r\n\r\n"
        async with a_server(move.encode()) as (port, heard):
            client = JsonClient(f"http://127.0.0.1:{port}", {"Authorization": "Bearer canary-key"}, 30)
            with pytest.raises(LlmRejected, match="redirects are not followed"):
                await client.post("/chat", {})
            await client.close()
        assert len(heard) == 1
        assert secret_place == []
