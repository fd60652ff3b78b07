"""Is the knowledge that the prompts ask for there, and was it checked against the calculator that is installed?"""

from __future__ import annotations

from dataclasses import dataclass

from app.prompting.library import PromptLibrary


@dataclass(frozen=True)
class DomainReport:
    """What `domain check` found.

    `gaps`: missing knowledge file → prompts that ask for it. `stale`: knowledge file → the Path of Building version it
    was checked against ("none" when it does not say), where that is not the installed one. `unused`: knowledge files
    that no prompt asks for. `installed`: the version that is installed, None = none, so nothing can be called stale.
    """

    files: tuple[str, ...]
    prompts: tuple[str, ...]
    gaps: dict[str, tuple[str, ...]]
    stale: dict[str, str]
    unused: tuple[str, ...]
    installed: str | None

    @property
    def complete(self) -> bool:
        """Say whether every prompt gets the knowledge it asks for."""
        return not self.gaps


def check(library: PromptLibrary, installed: str | None) -> DomainReport:
    """Compare what prompts ask for with the files there are, and their versions with the installed one."""
    asked = _asked(library)
    files = library.knowledge
    return DomainReport(
        files=tuple(files),
        prompts=tuple(library.names),
        gaps={name: prompts for name, prompts in asked.items() if name not in files},
        stale={name: version or "none" for name, version in files.items() if installed and version != installed},
        unused=tuple(name for name in files if name not in asked),
        installed=installed,
    )


def _asked(library: PromptLibrary) -> dict[str, tuple[str, ...]]:
    """Return the prompts that ask for each knowledge file."""
    asked: dict[str, list[str]] = {}
    for prompt in library.names:
        for name in library.domain_files(prompt):
            asked.setdefault(name, []).append(prompt)
    return {name: tuple(prompts) for name, prompts in sorted(asked.items())}
