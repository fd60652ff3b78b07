"""What a player does with the pages, from a sentence to the share code."""

from __future__ import annotations

import base64
import re
import zlib

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.conftest import PROMPT, TOKEN, make
from tests.e2e.conftest import Server

pytestmark = pytest.mark.slow


def test_from_a_sentence_to_the_share_code(page: Page, server: Server) -> None:
    page.goto("/")
    page.get_by_label("Your wish").fill("lightning sorceress for mapping, at least 900 life, no Whirling Pirouettes")
    expect(page.locator("#understood li").first).to_have_text("class: Sorceress")
    expect(page.locator("#understood li.lost")).to_contain_text("Whirling Pirouettes")
    page.get_by_label("Level").fill("4")
    page.get_by_label("Gear").select_option("starter")
    page.get_by_role("button", name="Build it").click()
    page.wait_for_url(re.compile(r"/builds/\w{26}$"))
    expect(page.get_by_role("heading", name="Being built")).to_be_visible()
    expect(page.locator("#timeline .phase b").first).to_have_text("decompose")
    page.reload()  # in the middle of it: the events begin again, nothing is missed
    expect(page.locator("#timeline .phase b").first).to_have_text("decompose")
    expect(page.get_by_role("heading", name="Asked and reached")).to_be_visible(timeout=180_000)
    expect(page.locator("#watch.finished")).to_be_hidden()
    build_id = page.url.rsplit("/", 1)[-1]
    page.get_by_role("button", name="Copy share code").click()
    expect(page.get_by_role("status")).to_contain_text("byte for byte")
    code = page.evaluate("navigator.clipboard.readText()")
    xml = server.client.get(f"/v1/builds/{build_id}/build.xml").content
    assert zlib.decompress(base64.urlsafe_b64decode(code)) == xml
    page.get_by_text("How it was made").click()
    expect(page.locator("#timeline .phase b").first).to_have_text("decompose")


def test_the_race_is_drawn_while_it_runs(page: Page) -> None:
    page.goto("/")
    page.get_by_label("Your wish").fill("lightning sorceress for mapping")
    page.get_by_label("Level").fill("24")
    page.get_by_role("button", name="Build it").click()
    page.wait_for_url(re.compile(r"/builds/\w{26}$"))
    bars = page.locator("#bars li")
    expect(bars.first).to_contain_text(re.compile(r"[1-9][\d,]* DPS, [1-9][\d,]* EHP"), timeout=120_000)
    assert bars.count() > 1
    expect(page.locator("#rung")).to_contain_text(re.compile(r"After rung [1-3]: drafts, not finished builds"))
    # read at once: the bars are drawn anew with every rung
    drawn = page.locator("#bars meter").evaluate_all("bars => bars.map(bar => [bar.value, bar.max])")
    assert max(value for value, _ in drawn) > 0
    assert all(top == pytest.approx(max(value for value, _ in drawn)) for _, top in drawn)
    page.get_by_role("button", name="Cancel").click()


@pytest.mark.parametrize(
    "path",
    ["/", "/builds/{built}"]
    + [
        pytest.param(path, marks=pytest.mark.deep) for path in ("/builds", "/import", "/compare", "/nowhere", "/signin")
    ],
)
def test_no_page_has_a_barrier(page: Page, built: str, path: str) -> None:
    page.goto(path.format(built=built))
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found = Axe().run(page).response["violations"]
        assert not [(scheme, one["id"], one["impact"], one["nodes"][0]["html"]) for one in found]


def test_the_effort_that_is_chosen_is_asked_for_and_told(page: Page) -> None:
    page.goto("/")
    page.get_by_label("Your wish").fill("sorceress with Spark")
    page.get_by_label("Level").fill("4")
    page.get_by_label("Effort").select_option("quick")
    with page.expect_request(lambda sent: sent.method == "POST" and sent.url.endswith("/v1/builds")) as sent:
        page.get_by_role("button", name="Build it").click()
    assert (sent.value.post_data_json or {})["effort"] == "quick"
    page.wait_for_url(re.compile(r"/builds/\w{26}$"))
    expect(page.locator("#numbers")).to_contain_text("A first draft", timeout=180_000)


def test_what_a_model_will_cost_is_said_above_the_button(with_model: Page, model_server: Server) -> None:
    with_model.goto("/")
    cost = with_model.locator("#cost")
    expect(cost).to_have_text(
        re.compile(r"^Estimate: at most 120 requests, .* USD: the bounds; .* scripted-1 at normal")
    )
    with_model.get_by_label("Effort").select_option("quick")
    expect(cost).to_have_text(
        re.compile(r"^Estimate: at most 30 requests, .* scripted-1 at quick effort is stored yet")
    )
    with_model.get_by_label("Reasoner").select_option("rules")
    expect(cost).to_be_empty()
    with_model.get_by_label("Reasoner").select_option("llm")
    expect(cost).to_contain_text("at most 30 requests")
    make(model_server.client, effort="quick")
    with_model.reload()
    expect(cost).to_contain_text("at normal effort is stored yet")
    with_model.get_by_label("Effort").select_option("quick")
    expect(cost).to_have_text(
        re.compile(r"^Estimate: \d+ requests, .* USD; the median of 1 stored build with scripted-1 at quick effort\.$")
    )


def test_rules_cost_nothing_so_nothing_is_said(page: Page) -> None:
    with page.expect_response(re.compile("/v1/estimate")) as told:
        page.goto("/")
    assert told.value.json()["basis"] == "rules"
    expect(page.locator("#cost")).to_be_empty()
    expect(page.get_by_label("Reasoner").locator("option[value=llm]")).to_have_text("language model (not set up)")


def test_the_first_view_is_light(page: Page) -> None:
    sizes: list[int] = []
    page.on("requestfinished", lambda request: sizes.append(request.sizes()["responseBodySize"]))
    page.goto("/", wait_until="networkidle")
    assert 5_000 < sum(sizes) < 300_000


def test_a_build_below_them_says_why_it_has_none(page: Page, built: str) -> None:
    page.goto(f"/builds/{built}")
    expect(page.locator("#levels")).to_contain_text("loadouts begin at level")
    expect(page.locator("#levels table")).to_have_count(0)


def test_what_goes_wrong_is_said(page: Page, server: Server) -> None:
    page.goto("/builds/nowhere")
    expect(page.get_by_role("heading", level=1)).to_have_text("No such build.")
    page.goto("/compare?ids=nowhere,nothing")
    expect(page.get_by_role("alert")).to_contain_text("no such build")
    page.goto("/import")
    page.get_by_label("Share code", exact=True).fill("this is no code")
    page.locator("#by-code").get_by_role("button").click()
    expect(page.locator("#by-code .problem")).to_contain_text("code")
    page.goto("/")
    page.get_by_label("Your wish").fill(PROMPT["prompt"])  # type: ignore[arg-type]
    page.get_by_label("Level").evaluate("field => { field.removeAttribute('max'); field.value = '400' }")
    page.get_by_role("button", name="Build it").click()
    expect(page.locator("form .problem")).to_contain_text("body.level")


def test_the_token_is_asked_for_once_and_kept_where_no_script_reads_it(guarded: Page, guarded_server: Server) -> None:
    guarded.goto("/builds?status=complete")
    guarded.wait_for_url(re.compile(r"/signin\?next=/builds%3Fstatus%3Dcomplete$"))
    guarded.get_by_label("Access token").fill("wrong")
    guarded.get_by_role("button", name="Go on").click()
    expect(guarded.get_by_role("alert")).to_have_text("This token is not valid.")
    guarded.get_by_label("Access token").fill(TOKEN)
    guarded.get_by_role("button", name="Go on").click()
    guarded.wait_for_url(re.compile(r"/builds\?status=complete$"))
    assert guarded.evaluate("document.cookie") == ""
    (cookie,) = guarded.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    guarded.goto("/")
    guarded.get_by_label("Your wish").fill("lightning sorceress")
    expect(guarded.locator("#understood li").first).to_have_text("class: Sorceress")
    given = {"Cookie": f"{cookie['name']}={TOKEN}"}
    elsewhere = {**given, "Origin": "http://elsewhere.example", "Sec-Fetch-Site": "cross-site"}
    client = guarded_server.client
    assert client.post("/v1/builds", json=PROMPT, headers=elsewhere).json()["code"] == "cross_site"
    assert client.post("/v1/builds", json=PROMPT, headers=given).status_code == 403
    assert client.get("/v1/builds", headers=given).status_code == 200
    guarded.goto("/signin")
    guarded.get_by_role("button", name="Forget it").click()
    guarded.wait_for_url(re.compile(r"/$"))
    assert guarded.context.cookies() == []


def test_the_reference_of_calls_comes_from_here_alone(page: Page, server: Server) -> None:
    elsewhere: list[str] = []
    page.on("request", lambda request: elsewhere.append(request.url))
    page.goto("/docs")
    page.get_by_text("/v1/builds/{build_id}/refine", exact=True).click()
    page.get_by_role("button", name="Try it out").click()
    page.locator("input[placeholder=build_id]").fill("nowhere")
    page.get_by_role("button", name="Execute").click()
    expect(page.locator("#reference .live-responses-table")).to_contain_text("404")
    assert len(elsewhere) > 3
    assert all(url.startswith((str(server.client.base_url), "data:")) for url in elsewhere)
