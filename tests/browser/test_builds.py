"""What can be done with builds on their pages: cancel, refine, repair, import, compare. Hostile words do nothing."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import make
from tests.e2e.conftest import Server
from tests.e2e.test_server import finish

pytestmark = [pytest.mark.slow, pytest.mark.deep]
LONG_MS = 300_000
XSS = (
    "<script>window.hit = 1</script>",
    "\"><img src=x onerror='window.hit=1'>",
    "</textarea><svg onload=window.hit=1>",
    "javascript:window.hit=1",
    "{{ 7 * 7 }} ${window.hit=1}",
    '<a href="javascript:window.hit=1" autofocus onfocus=window.hit=1>x</a>',
)


def test_cancel_keeps_what_there_is_and_resume_goes_on(page: Page, server: Server) -> None:
    build_id = server.client.post("/v1/builds", json={"prompt": "titan with maces", "level": 30}).json()["id"]
    page.goto(f"/builds/{build_id}")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("cancelled", exact=True)).to_be_visible(timeout=LONG_MS)
    page.get_by_role("button", name="Go on from where it stopped").click()
    expect(page.get_by_role("heading", name="Being built")).to_be_visible()
    server.client.post(f"/v1/builds/{build_id}/cancel")


def test_what_each_skill_and_weapon_set_is_for_can_be_read(page: Page, built: str) -> None:
    page.goto(f"/builds/{built}")
    expect(page.get_by_role("heading", name="What each skill is for")).to_be_visible()
    uses = page.locator("ul.uses li")
    expect(uses.first).to_contain_text("main skill: what the build deals its damage with")
    expect(page.get_by_role("heading", name="Weapon sets")).to_be_visible()


def test_refine_shows_before_and_after(page: Page, built: str) -> None:
    page.goto(f"/builds/{built}")
    page.get_by_label("What should become better").fill("make it tankier, keep the weapon")
    page.get_by_role("button", name="Refine").click()
    page.wait_for_url(lambda url: built not in url and "#changes" in url)
    expect(page.get_by_role("heading", name="Before and after")).to_be_visible(timeout=LONG_MS)
    expect(page.locator("#changes tbody th").first).to_have_text("DPS")
    page.get_by_role("link", name="Compare with its parent").click()
    expect(page.get_by_role("heading", name="What came of it")).to_be_visible()


def test_import_by_code_and_repair_by_file(page: Page, server: Server, built: str) -> None:
    page.goto("/import")
    page.get_by_label("Share code", exact=True).fill(server.client.get(f"/v1/builds/{built}/code").text)
    page.locator("#by-code").get_by_role("button", name="Go on").click()
    page.wait_for_url(re.compile(r"/builds/\w{26}$"))
    expect(page.get_by_role("heading", name="Items")).to_be_visible()
    xml = server.client.get(f"/v1/builds/{built}/build.xml").content
    page.goto("/import")
    page.get_by_label("Path of Building XML").set_input_files({"name": "b.xml", "mimeType": "text/xml", "buffer": xml})
    page.locator("#by-file").get_by_label("Repair whatever").check()
    page.locator("#by-file").get_by_role("button", name="Go on").click()
    page.wait_for_url(re.compile(r"/builds/\w{26}$"))
    expect(page.get_by_role("heading", name="Asked and reached")).to_be_visible(timeout=LONG_MS)


def test_the_list_filters_and_leads_to_a_comparison(page: Page, server: Server, built: str) -> None:
    other = make(server.client, prompt="cold sorceress for bossing")
    page.goto("/builds")
    page.get_by_label("Words of the prompt").fill("COLD boss")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator("tbody tr")).to_have_count(1)
    page.goto("/builds?status=complete")
    for build_id in (built, other):
        page.locator(f"input[value='{build_id}']").check()
    page.get_by_role("button", name="Compare those marked").click()
    expect(page.get_by_role("heading", name="What came of it")).to_be_visible()
    expect(page.locator("tbody").first.locator("tr")).to_have_count(2)


def test_delete_asks_once_and_then_it_is_gone(page: Page, server: Server) -> None:
    build_id = make(server.client)
    page.goto(f"/builds/{build_id}")
    page.once("dialog", lambda dialog: dialog.dismiss())
    page.get_by_role("button", name="Delete").click()
    assert server.client.get(f"/v1/builds/{build_id}").status_code == 200
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Delete").click()
    page.wait_for_url("**/builds")
    assert server.client.get(f"/v1/builds/{build_id}").status_code == 404
    page.goto(f"/builds/{build_id}")
    expect(page.get_by_role("heading", level=1)).to_have_text("No such build.")


@pytest.mark.parametrize("words", XSS)
def test_hostile_words_do_nothing(page: Page, server: Server, built: str, words: str) -> None:
    xml = server.client.get(f"/v1/builds/{built}/build.xml").text
    harmless = words.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    hostile = re.sub(r"(Rarity: RARE\n)[^\n]+", lambda found: found[1] + harmless, xml, count=1)
    hostile = re.sub(r"<Notes>.*?</Notes>", f"<Notes>{harmless}</Notes>", hostile, flags=re.DOTALL)
    hostile = hostile.replace('label="', f'label="{harmless}', 1)
    taken = server.client.post("/v1/imports", json={"xml": hostile})
    asked = server.client.post("/v1/builds", json={"prompt": f"{words} sorceress", "level": 2, "gear": "starter"})
    if asked.status_code == 202:  # a page of a build that ends while it is looked at loads anew
        server.client.post(f"/v1/builds/{asked.json()['id']}/cancel")
        finish(server.client, asked.json()["id"])
    paths = ["/builds", f"/builds?words={words}", f"/compare?ids={words},{words}", f"/signin?next={words}", "/"]
    paths += [f"/builds/{answer.json()['id']}" for answer in (taken, asked) if answer.status_code in (201, 202)]
    for path in paths:
        page.goto(path)
        if path == "/":
            page.get_by_label("Your wish").fill(f"{words} sorceress")
            try:
                expect(page.locator("#understood")).not_to_contain_text("nothing yet")
            except AssertionError as error:
                error.add_note(str(page.locator("#left-open, form .problem").all_inner_texts()))
                raise
        page.wait_for_timeout(150)
        assert page.evaluate("window.hit") is None
        assert page.locator("main script, main [onerror], main [onload], main [onfocus]").count() == 0
