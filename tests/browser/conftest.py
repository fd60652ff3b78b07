"""Debian's Chromium against a running service; tests that need it are skipped, and say so, where it is missing."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.e2e.conftest import Server
from tests.e2e.test_server import finish
from tests.fakes.llm_player import Player
from tests.fakes.llm_server import LlmServer, Script

PROMPT = {"prompt": "lightning sorceress for mapping", "level": 4, "gear": "starter"}
TOKEN = "a-token-of-this-test"
TIMEOUT_MS = 60_000
expect.set_options(timeout=TIMEOUT_MS)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser without a window.

    It ends with its file: while Playwright's synchronous interface is open, its event loop counts as running in this
    thread, and no test of asynchronous code could end its own.
    """
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module", params=["open", pytest.param("guarded", marks=pytest.mark.deep)])
def server(
    request: pytest.FixtureRequest, chromium: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """A service with the estimator, for all tests of a file: open, and once more behind an access token."""
    guard = {"BUILDWRIGHT_API_TOKENS": TOKEN} if request.param == "guarded" else {}
    for started in _serve(tmp_path_factory.mktemp("server"), **guard):
        if guard:
            started.client.headers["Authorization"] = f"Bearer {TOKEN}"
        yield started


@pytest.fixture(scope="module")
def guarded_server(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The same behind an access token."""
    yield from _serve(tmp_path_factory.mktemp("guarded"), BUILDWRIGHT_API_TOKENS=TOKEN)


@pytest.fixture(scope="module")
def model_server(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The same with a language model, which plays along."""
    with _llm(Player()) as url:
        model = {
            "BUILDWRIGHT_LLM_BASE_URL": f"{url}/v1",
            "BUILDWRIGHT_LLM_MODEL": "scripted-1",
            "BUILDWRIGHT_LLM_API_KEY": "sk-of-this-test",
            "BUILDWRIGHT_LLM_PRICES": '{"scripted-1": {"input": "1", "output": "2"}}',
        }
        yield from _serve(tmp_path_factory.mktemp("model"), **model)


@contextmanager
def _llm(script: Script) -> Iterator[str]:
    """Serve the script on a thread of its own; Playwright's event loop holds this one."""
    ready, done = threading.Event(), asyncio.Event()
    found: list[tuple[asyncio.AbstractEventLoop, str]] = []

    async def serve() -> None:
        async with LlmServer(script) as server:
            found.append((asyncio.get_running_loop(), server.url))
            ready.set()
            await done.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert ready.wait(TIMEOUT_MS / 1000)
    ((loop, url),) = found
    try:
        yield url
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join()


@pytest.fixture(scope="module")
def pob_server(
    chromium: Browser, tmp_path_factory: pytest.TempPathFactory, pob_path: Path, real_builds: list[Path]
) -> Iterator[Server]:
    """The same with Path of Building, that holds a real player's build."""
    environment = {"BUILDWRIGHT_POB_PATH": str(pob_path), "BUILDWRIGHT_ENGINE": "auto"}
    yield from _serve(tmp_path_factory.mktemp("pob"), **environment)


@pytest.fixture(scope="module")
def imported(pob_server: Server, real_builds: list[Path]) -> str:
    """The id of a real player's build on it: the largest file, which has the most to show."""
    xml = max(real_builds, key=lambda path: (path.stat().st_size, path.name)).read_text()
    answer = pob_server.client.post("/v1/imports", json={"xml": xml})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def _serve(folder: Path, **environment: str) -> Iterator[Server]:
    started = Server(folder, **{"BUILDWRIGHT_POB_PATH": str(folder / "no-pob"), **environment})
    try:
        started.wait_until_ready()
        yield started
    finally:
        started.stop()


@pytest.fixture
def context(chromium: Browser, server: Server) -> Iterator[BrowserContext]:
    """A browser profile of its own, that may use the clipboard of the service's pages, and is let in by them."""
    for made in _context(chromium, server):
        if "Authorization" in server.client.headers:
            _sign_in(made.new_page())
        yield made


@pytest.fixture
def with_model(chromium: Browser, model_server: Server) -> Iterator[Page]:
    """A page of the service with a language model."""
    for context in _context(chromium, model_server):
        yield context.new_page()


@pytest.fixture
def guarded(chromium: Browser, guarded_server: Server) -> Iterator[Page]:
    """A page of the service behind a token."""
    for context in _context(chromium, guarded_server):
        yield context.new_page()


def _sign_in(page: Page) -> None:
    page.goto("/signin?next=/builds")
    page.get_by_label("Access token").fill(TOKEN)
    page.get_by_role("button", name="Go on").click()
    page.wait_for_url("**/builds")
    page.close()


def _context(chromium: Browser, server: Server) -> Iterator[BrowserContext]:
    made = chromium.new_context(base_url=str(server.client.base_url), viewport={"width": 1280, "height": 900})
    made.set_default_timeout(TIMEOUT_MS)
    made.grant_permissions(["clipboard-read", "clipboard-write"])
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page; whatever it complains about in the console, or loads from elsewhere, fails the test."""
    made = context.new_page()
    complaints: list[str] = []
    made.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    made.on("pageerror", lambda error: complaints.append(str(error)))
    yield made
    # What the service refuses is logged by the browser as an error, and is no fault of the page.
    assert not [text for text in complaints if "Failed to load resource" not in text]


@pytest.fixture(scope="module")
def built(server: Server) -> str:
    """The id of a finished build."""
    return make(server.client)


def make(client: httpx.Client, **request: object) -> str:
    """Make a build over HTTP and return its id once it has ended."""
    build_id = str(client.post("/v1/builds", json={**PROMPT, **request}).json()["id"])
    assert finish(client, build_id)["status"] == "complete"
    return build_id
