"""The passive tree on the page, pictures of all pages to look at, and events that come faster than anybody reads."""

from __future__ import annotations

import http.server
import json
import threading
import time
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import TIMEOUT_MS, make
from tests.e2e.conftest import Server
from tests.e2e.test_server import finish

pytestmark = [pytest.mark.slow, pytest.mark.deep]
PICTURES = Path(__file__).resolve().parents[2] / "screenshots"
SCREENS = {"desktop": (1280, 900, "light"), "phone": (390, 844, "light"), "dark": (1280, 900, "dark")}
RATE = 60
STEADY_S = 8
PARTS = ("asked", "numbers", "decisions", "items", "skills", "tree", "take", "measure")


def open_page(chromium: Browser, server: Server, screen: str) -> Page:
    width, height, scheme = SCREENS[screen]
    page = chromium.new_page(
        base_url=str(server.client.base_url),
        viewport={"width": width, "height": height},
        color_scheme=scheme,  # type: ignore[arg-type]
    )
    page.set_default_timeout(TIMEOUT_MS)
    return page


@pytest.mark.pob
def test_the_tree_is_there_at_once_and_can_be_explored(chromium: Browser, pob_server: Server, imported: str) -> None:
    pob_server.client.get("/v1/tree").raise_for_status()  # the engine has answered; from here on it is the page's time
    page = open_page(chromium, pob_server, "desktop")
    page.goto(f"/builds/{imported}#tree")
    canvas = page.locator("#tree-canvas[data-ready]")
    canvas.wait_for()
    assert int(canvas.get_attribute("data-passives") or 0) > 4_500
    assert int(canvas.get_attribute("data-ready") or 9e9) < 1_500
    before = canvas.screenshot()
    page.get_by_label("Order of allocation").evaluate(
        "slider => { slider.value = 10; slider.dispatchEvent(new Event('input')) }"
    )
    expect(page.locator("#tree-count")).to_contain_text("10 of")
    assert canvas.screenshot() != before
    page.get_by_label("Find a passive").fill("maximum life")
    page.locator("#tree-found button").first.press("Enter")
    expect(page.locator("#tree-tip")).to_contain_text("Life")
    moved = canvas.screenshot()
    canvas.focus()
    for key in ("ArrowLeft", "ArrowUp", "+", "-"):
        canvas.press(key)
    assert canvas.screenshot() != moved
    drawn = pob_server.client.get(f"/v1/builds/{imported}/tree.svg")
    assert drawn.headers["content-type"] == "image/svg+xml"
    assert drawn.text.count("<circle") > 80


@pytest.mark.pob
def test_what_the_parent_had_is_drawn_on_demand(chromium: Browser, pob_server: Server, imported: str) -> None:
    answer = pob_server.client.post(
        f"/v1/builds/{imported}/refine", json={"prompt": "more effective HP, keep the gear"}
    )
    child = answer.raise_for_status().json()["id"]
    assert finish(pob_server.client, child)["status"] == "complete"
    page = open_page(chromium, pob_server, "desktop")
    page.goto(f"/builds/{child}#tree")
    canvas = page.locator("#tree-canvas[data-ready]")
    canvas.wait_for()
    alone = canvas.screenshot()
    page.get_by_label("What the parent had").check()
    assert canvas.screenshot() != alone
    page.get_by_label("What the parent had").uncheck()
    assert canvas.screenshot() == alone


@pytest.mark.pob
@pytest.mark.parametrize("screen", SCREENS)
def test_pictures_of_every_part(chromium: Browser, pob_server: Server, imported: str, screen: str) -> None:
    PICTURES.mkdir(exist_ok=True)
    page = open_page(chromium, pob_server, screen)
    page.goto("/")
    page.get_by_label("Your wish").fill("lightning sorceress for mapping, at least 20k ehp, no Whirling Pirouettes")
    expect(page.locator("#understood li.lost")).to_be_visible()
    page.screenshot(path=PICTURES / f"ask-{screen}.png", full_page=True)
    running = pob_server.client.post("/v1/builds", json={"prompt": "titan with maces", "level": 20, "engine": "sketch"})
    page.goto(f"/builds/{running.json()['id']}")
    expect(page.locator("#timeline li li").nth(3)).to_be_visible()
    page.screenshot(path=PICTURES / f"watch-{screen}.png", full_page=True)
    pob_server.client.post(f"/v1/builds/{running.json()['id']}/cancel")
    page.goto(f"/builds/{imported}")
    page.locator("#tree").scroll_into_view_if_needed()
    page.locator("#tree-canvas[data-ready]").wait_for()
    for part in PARTS:
        page.locator(f"#{part}").screenshot(path=PICTURES / f"{part}-{screen}.png")
    for name in ("builds", "import", "compare", "signin"):
        page.goto(f"/{name}")
        page.screenshot(path=PICTURES / f"{name}-{screen}.png", full_page=True)
    for path in ("/", f"/builds/{imported}", "/builds"):
        page.goto(path)
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, path
    assert len(list(PICTURES.glob(f"*-{screen}.png"))) == len(PARTS) + 6


class Steady(http.server.BaseHTTPRequestHandler):
    """An event stream that sends a step sixty times a second for some seconds."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        began = time.monotonic()
        for number in range(1, STEADY_S * RATE + 1):
            step = {"seq": number, "type": "step", "phase": "construct", "label": f"step {number}", "done": number}
            self.wfile.write(f"id: {number}\nevent: step\ndata: {json.dumps({**step, 'total': 1200})}\n\n".encode())
            time.sleep(max(0.0, began + number / RATE - time.monotonic()))

    def log_message(self, *_: object) -> None:
        pass


def test_sixty_events_a_second_leave_the_page_smooth(page: Page, server: Server) -> None:
    build_id = make(server.client)
    stream = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Steady)
    threading.Thread(target=stream.serve_forever, daemon=True).start()
    try:
        page.route("**/events", lambda route: route.continue_(url=f"http://127.0.0.1:{stream.server_port}/"))
        page.goto(f"/builds/{build_id}")
        page.get_by_text("How it was made").click()
        expect(page.locator("#timeline li li").first).to_be_visible()
        gaps = page.evaluate(
            "seconds => new Promise(done => { const gaps = []; let last = performance.now();"
            " const end = last + seconds * 1000;"
            " const frame = (now) => { gaps.push(now - last); last = now; now < end ? requestAnimationFrame(frame)"
            " : done(gaps.sort((one, other) => one - other)) }; requestAnimationFrame(frame) })",
            STEADY_S - 3,
        )
        expect(page.locator("#timeline li li")).to_have_count(STEADY_S * RATE)
    finally:
        stream.shutdown()
        stream.server_close()
    assert len(gaps) > 20 * (STEADY_S - 3)
    assert gaps[len(gaps) * 95 // 100] < 60  # milliseconds between frames, with the browser on a busy machine


def test_many_events_at_once_do_not_hold_the_page_up(page: Page, server: Server) -> None:
    build_id = make(server.client, prompt="cold sorceress for mapping")
    steps = [
        {"seq": number, "type": "step", "phase": "construct", "label": f"step {number}", "done": number, "total": 1200}
        for number in range(1, 1201)
    ]
    stream = "".join(f"id: {one['seq']}\nevent: step\ndata: {json.dumps(one)}\n\n" for one in steps)
    page.route("**/events", lambda route: route.fulfill(body=stream, content_type="text/event-stream"))
    page.goto(f"/builds/{build_id}")
    page.evaluate(
        "window.longest = 0; new PerformanceObserver(list => { for (const one of list.getEntries())"
        " window.longest = Math.max(window.longest, one.duration) }).observe({ type: 'longtask' })"
    )
    page.get_by_text("How it was made").click()
    expect(page.locator("#timeline li li")).to_have_count(1200)
    assert page.evaluate("window.longest") < 500  # twenty seconds of sixty events each, all in one go
