"""The only importer of the HTTP library: JSON posts to a language model, and file downloads.

Every exchange is bounded in time (one deadline for the whole of it) and in bytes; redirects of a post are refused,
so a key never travels to another host; a host is called at the address that was checked; compressed answers are not
asked for and not accepted.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, Final

import httpx

from app.core.errors import AppError, LlmBadOutput, LlmError, LlmRateLimited, LlmRejected, LlmTimeout, LlmUnavailable
from app.llm.addresses import AddressRefused, AddressRule

MAX_ANSWER_BYTES: Final = 8 * 1024 * 1024
_IDENTITY = {
    "Accept-Encoding": "identity",
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
}


class DownloadFailed(AppError):
    """A file could not be fetched."""

    code = "download_failed"
    status = 502


class _CheckedTransport(httpx.AsyncBaseTransport):
    """Connects to the very address that was checked, so that a name cannot lead elsewhere a moment later."""

    def __init__(self, rule: AddressRule) -> None:
        self._rule = rule
        self._inner = httpx.AsyncHTTPTransport(trust_env=False)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request; the certificate must be that of the name.

        Raises:
            LlmRejected: the name leads where it must not.
            httpx.HTTPError: the exchange fails.
        """
        url = request.url
        try:
            address = await self._rule.address(url.host, url.port or (443 if url.scheme == "https" else 80))
        except AddressRefused as error:
            raise LlmRejected(error.message) from error
        except OSError as error:
            raise httpx.ConnectError(f"{url.host} cannot be resolved: {error}") from error
        request.extensions = {**request.extensions, "sni_hostname": url.host}
        request.url = url.copy_with(host=address)
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


class JsonClient:
    """Posts JSON to one base URL. `timeout_s` is the deadline of a whole exchange in seconds."""

    def __init__(
        self,
        base_url: str,
        headers: Mapping[str, str],
        timeout_s: float,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        rule: AddressRule | None = None,
        max_bytes: int = MAX_ANSWER_BYTES,
    ) -> None:
        self._timeout_s = timeout_s
        self._max_bytes = max_bytes
        self._secrets = [value for value in headers.values() if len(value) >= 8]
        self._client = httpx.AsyncClient(
            base_url=base_url.rstrip("/"),
            headers={**_IDENTITY, **headers},
            timeout=timeout_s,
            follow_redirects=False,
            trust_env=False,
            transport=transport or _CheckedTransport(rule or AddressRule()),
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def post(self, path: str, body: object) -> Any:
        """Post and return the decoded JSON answer, the list of events when it is streamed.

        Raises:
            LlmTimeout, LlmUnavailable, LlmRateLimited, LlmRejected, LlmBadOutput: see `app.core.errors`.
        """
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._exchange(path, body)
        except (TimeoutError, httpx.TimeoutException) as error:
            raise LlmTimeout(f"no complete answer within {self._timeout_s:g} s") from error
        except httpx.HTTPError as error:
            raise LlmUnavailable(self._scrub(f"{type(error).__name__}: {error}")) from None

    async def _exchange(self, path: str, body: object) -> Any:
        async with self._client.stream("POST", path, json=body) as response:
            if response.headers.get("content-encoding", "identity").lower() != "identity":
                raise LlmBadOutput("the answer is compressed although that was not accepted")
            chunks: list[bytes] = []
            size = 0
            async for chunk in response.aiter_raw():
                size += len(chunk)
                if size > self._max_bytes:
                    raise LlmBadOutput(f"the answer is larger than {self._max_bytes} bytes")
                chunks.append(chunk)
            raw = b"".join(chunks)
        self._check_status(response, raw)
        try:
            return self._scrub_all(_decode(raw, response.headers.get("content-type", "")))
        except RecursionError as error:
            raise LlmBadOutput("the answer is nested too deeply") from error

    def _check_status(self, response: httpx.Response, raw: bytes) -> None:
        status = response.status_code
        if 200 <= status < 300:
            return
        raise failed(status, self._scrub(raw[:300].decode("utf-8", "replace")), retry_after(response.headers))

    def _scrub_all(self, value: Any) -> Any:
        """Return the answer without our secrets: a service that throws them back must not get them stored."""
        if isinstance(value, str):
            return self._scrub(value)
        if isinstance(value, list):
            return [self._scrub_all(one) for one in value]
        if isinstance(value, dict):
            return {self._scrub(key): self._scrub_all(one) for key, one in value.items()}
        return value

    def _scrub(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "[secret]").replace(secret.removeprefix("Bearer "), "[secret]")
        return text


def failed(status: int, excerpt: str, wait_s: float | None = None) -> LlmError:
    """Return the error for a status that is no success; `wait_s` is how long the provider asks to wait."""
    if status == 429:
        return LlmRateLimited("the provider asks to slow down", retry_after_s=wait_s)
    if status == 408:
        return LlmTimeout(f"status {status}: {excerpt}")
    if status >= 500:
        return LlmUnavailable(f"status {status}: {excerpt}", retry_after_s=wait_s)
    if 300 <= status < 400:
        return LlmRejected(f"status {status}: redirects are not followed")
    return LlmRejected(f"status {status}: {excerpt}")


def events_of(text: str) -> list[Any]:
    """Return the data of Server-Sent Events, in order.

    Raises:
        ValueError: one of them is not JSON.
    """
    lines = (line[5:].strip() for line in text.splitlines() if line.startswith("data:"))
    return [json.loads(line) for line in lines if line and line != "[DONE]"]


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return seconds to wait from a Retry-After header in either form, None when absent or unreadable."""
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (aware - (now or datetime.now(UTC))).total_seconds())


def _decode(raw: bytes, kind: str) -> Any:
    """Return the JSON, or the list of events of a streamed answer."""
    try:
        text = raw.decode("utf-8")
        return events_of(text) if kind.startswith("text/event-stream") else json.loads(text)
    except UnicodeDecodeError as error:
        raise LlmBadOutput("the answer is not UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise LlmBadOutput("the answer is not JSON") from error


def download(url: str, target: Path, max_bytes: int, timeout_s: float = 60.0) -> None:
    """Fetch a file over HTTPS, following redirects, into `target`; blocks, so call it outside the event loop.

    Raises:
        DownloadFailed: the server cannot be reached, answers with an error, or sends more than `max_bytes`.
    """
    try:
        with (
            httpx.Client(follow_redirects=True, timeout=timeout_s) as client,
            client.stream("GET", url) as response,
            target.open("wb") as out,
        ):
            response.raise_for_status()
            size = 0
            for chunk in response.iter_bytes():
                size += len(chunk)
                if size > max_bytes:
                    raise DownloadFailed(f"{url} is larger than {max_bytes} bytes")
                out.write(chunk)
    except httpx.HTTPError as error:
        raise DownloadFailed(f"cannot fetch {url}: {error}") from error
