"""Is the knowledge that prompts ask for there, current and used? And the headers of knowledge files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.console import status as console
from app.console.exits import Exit
from app.core.config import Settings, resource_dir
from app.engine.pob.install import InstalledPob
from app.knowledge.uniques import unique_table
from app.model.facts import UniqueFact
from app.prompting.library import DomainReport, PromptLibrary, check, split


def header(version: str) -> str:
    return f"---\npob_version: {version}\n---\n"


@pytest.fixture
def library(tmp_path: Path) -> PromptLibrary:
    prompts, domain = tmp_path / "prompts", tmp_path / "domain"
    prompts.mkdir()
    domain.mkdir()
    (prompts / "explore.md").write_text("{domain:scaling.md} {domain:skills.md}")
    (prompts / "construct.md").write_text("{domain:skills.md} {domain:../secret.md}")
    (prompts / "README.md").write_text("{domain:file} stands for a file")
    (domain / "scaling.md").write_text(header("0.20.0") + "More is more.")
    (domain / "defenses.md").write_text(header("0.19.0") + "Less is less.")
    (domain / "runes.md").write_text("No header.")
    (domain / "README.md").write_text("About this folder.")
    return PromptLibrary(prompts, domain)


def test_gaps_name_the_prompts_that_ask(library: PromptLibrary) -> None:
    report = check(library, "0.20.0")
    assert report.gaps == {"../secret.md": ("construct",), "skills.md": ("construct", "explore")}
    assert not report.complete


def test_stale_is_what_was_checked_against_another_version(library: PromptLibrary) -> None:
    assert check(library, "0.20.0").stale == {"defenses.md": "0.19.0", "runes.md": "none"}
    assert check(library, "0.21.0").stale == {"defenses.md": "0.19.0", "runes.md": "none", "scaling.md": "0.20.0"}
    assert check(library, None).stale == {}, "nothing to compare with"


def test_unused_is_what_no_prompt_asks_for(library: PromptLibrary) -> None:
    report = check(library, "0.20.0")
    assert report.unused == ("defenses.md", "runes.md")
    assert report.files == ("defenses.md", "runes.md", "scaling.md"), "the README is no knowledge"
    assert report.prompts == ("construct", "explore"), "the README is no prompt"


def test_headers_stay_out_of_prompts(library: PromptLibrary) -> None:
    assert library.render("explore", {}).text.startswith("More is more. ")


@pytest.mark.parametrize(
    ("text", "fields", "body"),
    [
        ("---\npob_version: 0.20.0\n---\nText", {"pob_version": "0.20.0"}, "Text"),
        (
            "---\nchecks:\n  - {text: a, is: 1}\n---\nA --- b\n---\n",
            {"checks": [{"text": "a", "is": 1}]},
            "A --- b\n---\n",
        ),
        ("Text\n---\npob_version: 1\n---\n", {}, "Text\n---\npob_version: 1\n---\n"),
        ("---\n[not: a mapping\n---\nText", {}, "Text"),
        ("---\n- a list\n---\nText", {}, "Text"),
        ("---\nnever closed", {}, "---\nnever closed"),
        ("", {}, ""),
    ],
)
def test_headers(text: str, fields: dict[str, object], body: str) -> None:
    assert split(text) == (fields, body)


def _console(monkeypatch: pytest.MonkeyPatch, library: PromptLibrary, version: str | None, lost: str = "") -> None:
    folders = {"prompts": library.prompts_dir, "domain": library.domain_dir}
    monkeypatch.setattr(console, "resource_dir", lambda name: folders[name])
    found = InstalledPob(version=version, tree_version="0_5", source="download") if version else None
    monkeypatch.setattr(console, "installed_pob", lambda settings: found)

    async def uniques(settings: Settings) -> list[UniqueFact]:
        assert found is not None, "nobody can be asked"
        names = [*unique_table().chase, *unique_table().rare]
        return [UniqueFact(name=name, base="Ring", type="Ring", level=1, text="") for name in names if name != lost]

    monkeypatch.setattr(console, "known_uniques", uniques)


async def test_the_command_fails_on_gaps_and_says_which(
    monkeypatch: pytest.MonkeyPatch, library: PromptLibrary, capsys: pytest.CaptureFixture[str]
) -> None:
    _console(monkeypatch, library, "0.20.0")
    assert await console.check_domain(Settings(), as_json=False) is Exit.FAILED
    out = capsys.readouterr().out
    assert "missing: skills.md, asked for by construct, explore" in out
    assert "stale: defenses.md was checked against Path of Building 0.19.0, 0.20.0 is installed" in out
    assert "unused: no prompt asks for runes.md" in out
    assert out.endswith("3 knowledge files, 2 prompts: 2 missing, 2 stale, 2 unused\n")


async def test_stale_and_unused_alone_do_not_fail(
    monkeypatch: pytest.MonkeyPatch, library: PromptLibrary, capsys: pytest.CaptureFixture[str]
) -> None:
    (library.prompts_dir / "construct.md").unlink()
    (library.prompts_dir / "explore.md").write_text("{domain:scaling.md}")
    _console(monkeypatch, library, "0.21.0")
    assert await console.check_domain(Settings(), as_json=True) is Exit.OK
    report = json.loads(capsys.readouterr().out)
    assert (report["complete"], report["gaps"], report["installed"]) == (True, {}, "0.21.0")
    assert report["stale"]["scaling.md"] == "0.20.0"
    assert report["stale"]["uniques.yaml"] == unique_table().pob_version


async def test_a_unique_that_the_engine_does_not_know_fails(
    monkeypatch: pytest.MonkeyPatch, library: PromptLibrary, capsys: pytest.CaptureFixture[str]
) -> None:
    (library.prompts_dir / "construct.md").unlink()
    (library.prompts_dir / "explore.md").write_text("{domain:scaling.md}")
    _console(monkeypatch, library, unique_table().pob_version, lost="Mageblood")
    assert await console.check_domain(Settings(), as_json=False) is Exit.FAILED
    out = capsys.readouterr().out
    assert "unknown: uniques.yaml names Mageblood, which Path of Building does not have" in out
    assert "stale: uniques.yaml" not in out


async def test_without_path_of_building_nothing_is_called_stale(
    monkeypatch: pytest.MonkeyPatch, library: PromptLibrary, capsys: pytest.CaptureFixture[str]
) -> None:
    _console(monkeypatch, library, None)
    await console.check_domain(Settings(), as_json=False)
    assert "not installed, so nothing can be called stale" in capsys.readouterr().out


def test_our_own_knowledge_is_complete_and_used() -> None:
    report: DomainReport = check(PromptLibrary(resource_dir("prompts"), resource_dir("domain")), "0.20.0")
    assert (report.gaps, report.stale, report.unused) == ({}, {}, ())
