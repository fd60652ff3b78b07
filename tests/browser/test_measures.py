"""Where the time of a build went, and what all builds used, on their pages."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Server

pytestmark = [pytest.mark.slow]


def test_a_build_has_a_flame_view_a_sorted_table_and_what_to_change(page: Page, server: Server, built: str) -> None:
    page.goto(f"/builds/{built}")
    expect(page.get_by_role("heading", name="What to change")).to_be_visible()
    expect(page.locator("#advice li").first).to_have_text(re.compile(r"\w"))
    flame = page.locator("#flame svg")
    expect(flame).to_be_visible()
    widths = [float(box.get_attribute("width") or 0) for box in flame.locator("g > rect").all()]
    assert max(widths) == 1200.0
    assert len(widths) > 20
    shares = [int(text.split()[0]) for text in page.locator("#work tbody td:nth-child(3)").all_inner_texts()]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) > 80
    rows = server.client.get(f"/v1/builds/{built}/metrics").json()["rows"]
    expect(page.locator("#work tbody tr").first).to_contain_text(rows[0]["name"])


def test_usage_adds_up_what_builds_used(page: Page, server: Server, built: str) -> None:
    page.goto("/")
    page.get_by_role("link", name="Usage").click()
    expect(page.get_by_role("heading", name="Usage")).to_be_visible()
    page.get_by_label("Added up by").select_option("tool")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url(re.compile("by=tool"))
    said = server.client.get("/v1/usage?by=tool").json()
    expect(page.locator("#usage-rows tbody tr")).to_have_count(len(said["rows"]))
    expect(page.get_by_role("heading", name="Tools that took most time")).to_be_visible()
    expect(page.locator("#usage-rows")).to_contain_text(said["rows"][0]["name"])
