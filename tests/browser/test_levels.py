"""The way to a build of a higher level, on its page: what each loadout has, as it was measured."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import make
from tests.e2e.conftest import Server

pytestmark = [pytest.mark.slow]
LEVEL = 32


@pytest.fixture(scope="module")
def grown(server: Server) -> str:
    """The id of a finished build above the first levelling loadouts."""
    return make(server.client, level=LEVEL)


def test_each_level_shows_its_figures_tree_and_skills(page: Page, server: Server, grown: str) -> None:
    guide = server.client.get(f"/v1/builds/{grown}/presentation").json()["guide"]
    levels = guide["loadouts"]
    assert levels[0]["level"] < LEVEL
    assert not guide["no_loadouts"]
    page.goto(f"/builds/{grown}")
    page.get_by_role("navigation").get_by_role("link", name="On the way").click()
    section = page.locator("#levels")
    expect(section.get_by_role("heading", name="On the way there")).to_be_in_viewport()
    rows = section.locator("tbody tr")
    expect(rows).to_have_count(len(levels))
    for row, one in zip(rows.all(), levels, strict=True):
        expect(row.get_by_role("rowheader")).to_have_text(one["title"])
        points, skill, *figures = row.locator("td").all_inner_texts()
        spent = [int(part) for part in points.split(" + ")]
        assert spent == [one["points"], *([one["ascendancy_points"]] if one["ascendancy_points"] else [])]
        assert skill.split(" with ")[0].strip() == one["skill"]
        assert all(support in skill for support in one["supports"])
        shown = [float(figure.replace(",", "")) for figure in figures]
        assert shown == pytest.approx([one[key] for key in ("dps", "ehp", "life")], abs=0.6, rel=1e-3)
    spent = [one["points"] for one in levels]
    assert spent == sorted(spent), "a tree on the way only grows"
    assert spent[0] > 0


def test_what_changes_at_a_level_and_what_to_wear_unfolds(page: Page, server: Server, grown: str) -> None:
    first = server.client.get(f"/v1/builds/{grown}/presentation").json()["guide"]["loadouts"][0]
    page.goto(f"/builds/{grown}#levels")
    details = page.locator("#levels details").first
    expect(details.locator("li").first).to_be_hidden()
    details.get_by_text(f"{first['title']}: what changes, and what to wear").click()
    for line in [*first["changes"], *(f"{item['slot']}: {item['base']}" for item in first["gear"])]:
        expect(details.locator("ul")).to_contain_text(line)
