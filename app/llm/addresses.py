"""Where a language model may be: addresses that a service must not be talked into calling are refused."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final
from urllib.parse import urlsplit

from app.core.errors import InputError

IpAddress = IPv4Address | IPv6Address
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]

_METADATA: Final = frozenset(map(ip_address, ("100.100.100.200", "168.63.129.16", "fd00:ec2::254")))
"""Where clouds tell their machines secrets, besides the link-local 169.254.169.254 of most of them."""
_TRANSLATED: Final = ip_network("64:ff9b::/96")
_START_S: Final = 5.0


class AddressRefused(InputError):
    """The address of the language model is one that is not called."""

    code = "llm_address_refused"


class AddressRule:
    """Public addresses and this machine's own are allowed; those of a private network only where that was said.

    `resolve` returns the addresses of a host name.
    """

    def __init__(self, private: bool = False, resolve: Resolve | None = None) -> None:
        self._private = private
        self._resolve = resolve or _system_addresses

    async def address(self, host: str, port: int) -> str:
        """Return the address to connect to; every address of the name must be allowed.

        Raises:
            AddressRefused: one of them is not.
            OSError: the name cannot be resolved.
        """
        found = await self._resolve(host, port)
        if not found:
            raise OSError(f"{host} has no address")
        for address in found:
            if (reason := self._reason(address)) is not None:
                raise AddressRefused(f"{host} is not called: {address} is {reason}.")
        return found[0]

    async def check(self, url: str) -> None:
        """Return when the base address can be used; a name that cannot be resolved now is looked at when it is called.

        Raises:
            AddressRefused: it is no address of HTTP, carries credentials, or leads where it must not.
        """
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port
        except ValueError as error:
            raise AddressRefused("The address of the language model cannot be read.") from error
        if parts.scheme not in ("http", "https") or not host:
            raise AddressRefused("The address of the language model must begin with http:// or https:// and a host.")
        if "@" in parts.netloc:
            raise AddressRefused("The address of the language model must not carry credentials; set its key instead.")
        try:
            async with asyncio.timeout(_START_S):
                await self.address(host, port or (443 if parts.scheme == "https" else 80))
        except (OSError, TimeoutError):
            return

    def _reason(self, address: str) -> str | None:
        """Return why an address is refused, None when it is allowed."""
        ip = _meant(ip_address(address.partition("%")[0]))
        if ip.is_loopback:
            return None
        if ip in _METADATA or ip.is_link_local:
            return "link-local or a cloud's metadata service"
        if ip.is_unspecified or ip.is_multicast or (ip.is_reserved and not ip.is_private):
            return "no address of a server"
        if not ip.is_global and not self._private:
            return "in a private network; BUILDWRIGHT_LLM_ALLOW_PRIVATE=true allows those"
        return None


def _meant(ip: IpAddress) -> IpAddress:
    """Return the IPv4 address that is hidden in an IPv6 one, else the address itself."""
    if isinstance(ip, IPv4Address):
        return ip
    if ip in _TRANSLATED:
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else ip)


async def _system_addresses(host: str, port: int) -> list[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))
