"""A build in words for people: text, Markdown and JSON from the same parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import Field

from app.model.base import Model
from app.model.experiments import Experiment, Refinement
from app.model.guide import Guide
from app.model.names import BuildStatus, Outcome, SubProblemName
from app.model.recalled import UsedMemory
from app.model.record import BuildRecord
from app.service import sections
from app.service.view import BuildView, view_of

_LABELS = {
    "queued": "waiting",
    "running": "still running",
    "failed": "failed",
    "cancelled": "cancelled",
}
_MARKED = str.maketrans({char: f"\\{char}" for char in "\\`*_[]<>#|"})

Section = tuple[str, Sequence[str]]


class Presentation(Model):
    """Everything that a player wants to know of a build; `guide` is there once it is finished."""

    name: str
    verdict: str
    build: BuildView
    guide: Guide | None = None
    refinement: Refinement | None = None
    experiments: list[Experiment] = Field(default_factory=list)
    memories: list[UsedMemory] = Field(default_factory=list)
    habits: list[str] = Field(default_factory=list)


def presentation_of(record: BuildRecord) -> Presentation:
    """Return the presentation of a stored build."""
    view, state = view_of(record), record.state
    return Presentation(
        name=build_name(view),
        verdict=verdict(view),
        build=view,
        guide=state.guide,
        refinement=state.refinement,
        experiments=state.experiments,
        memories=state.memories,
        habits=state.habits,
    )


def as_text(shown: Presentation, files: Mapping[str, str] | None = None) -> str:
    """Return the presentation block; `files` are the paths written, by kind (xml, code, state)."""
    view = shown.build
    parts = [[f"{shown.name} - {shown.verdict} ({view.id})", _engine_line(view)]]
    parts += [
        [f"{title}:", *(f"  {line}" for line in lines)] for title, lines in _sections(shown, files or {}) if lines
    ]
    return "\n\n".join("\n".join(part) for part in parts)


def as_markdown(shown: Presentation) -> str:
    """Return the presentation as Markdown; what came from outside is escaped."""
    view = shown.build
    parts = [f"# {_plain(shown.name)}", f"**{shown.verdict}** · {_plain(_engine_line(view))} · `{view.id}`"]
    for title, lines in _sections(shown, {}):
        if lines:
            parts.append(f"## {title}")
            parts.append("\n".join(_bullet(line) for line in lines))
    return "\n\n".join(parts) + "\n"


def _bullet(line: str) -> str:
    indent = "  " if line.startswith("  ") else ""
    return f"{indent}- {_plain(line.strip())}"


def _plain(text: str) -> str:
    return text.translate(_MARKED)


def _sections(shown: Presentation, files: Mapping[str, str]) -> list[Section]:
    view, guide = shown.build, shown.guide or Guide()
    return [
        ("Numbers", sections.numbers(view.stats)),
        ("Changes", sections.changes(shown.refinement)),
        ("You asked for", sections.constraints(view)),
        ("Decisions", sections.decisions(view)),
        ("Not chosen", sections.alternatives(view)),
        ("Assumptions", view.assumptions),
        ("From memory", sections.from_memory(shown.memories, shown.habits)),
        ("One question", sections.question(view)),
        ("How to play", guide.how_to_play),
        ("Levelling: passives", sections.passives(guide)),
        ("Levelling: gems", sections.gems(guide)),
        ("Shopping list", sections.shopping(guide)),
        ("Not known well", view.domain_gaps),
        ("Caveats", view.caveats),
        ("Files", [f"{kind}: {path}" for kind, path in files.items()]),
    ]


def verdict(view: BuildView) -> str:
    """Return in a few words how the build stands."""
    if view.status is not BuildStatus.COMPLETE:
        return _LABELS[view.status.value]
    return "validated" if view.outcome is Outcome.VALIDATED else "finished with caveats"


def build_name(view: BuildView) -> str:
    """Return what to call the build: main skill and ascendancy once decided, the prompt before that."""
    skill = _chosen(view, SubProblemName.DAMAGE_DELIVERY, "skill_name")
    who = _chosen(view, SubProblemName.ASCENDANCY, "ascendancy") or _chosen(
        view, SubProblemName.ASCENDANCY, "class_name"
    )
    return f"{skill} {who}" if skill and who else view.prompt


def _chosen(view: BuildView, name: SubProblemName, field: str) -> str | None:
    question = view.sub_problems.get(name)
    value = None if question is None or question.decision is None else question.decision.choice.get(field)
    return value if isinstance(value, str) else None


def _engine_line(view: BuildView) -> str:
    if view.stats is None:
        return f"Engine: {view.engine.name or 'not chosen yet'}"
    found = view.stats
    mark = "; every number is an ESTIMATE, not Path of Building's" if found.estimate else ""
    return f"Engine: {found.engine} {found.version}, passive tree {found.tree_version}{mark}"
