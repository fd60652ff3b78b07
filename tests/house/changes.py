"""Ten typical changes, each as edits of the files it touches and a look at what came of it.

`edits`: a file, the text that stands there once, and what takes its place.
`seen`: a program that fails unless the change works; it runs in the changed copy.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Edit:
    """What takes the place of a text that stands once in a file."""

    file: str
    before: str
    after: str


@dataclass(frozen=True)
class Change:
    """One row of the table in docs/architecture.md."""

    title: str
    edits: tuple[Edit, ...]
    seen: str

    @property
    def files(self) -> list[str]:
        """The files it touches, in order."""
        return list(dict.fromkeys(edit.file for edit in self.edits))


CHANGES = (
    Change(
        "Something more can be asked for",
        (
            Edit(
                "app/model/constraints.py",
                'InvariantType("exclude"',
                'InvariantType("league", Kind.PHRASE, "where it is played"),\n    InvariantType("exclude"',
            ),
        ),
        """
from app.core.errors import InputError
from app.model.record import BuildRequest
from app.service.intake import check_request
request = BuildRequest(prompt="cold witch", overrides={"league": "standard"})
assert check_request(request).overrides == {"league": "standard"}
try:
    check_request(BuildRequest(prompt="cold witch", overrides={"legue": "x"}))
except InputError as exc:
    assert "league" in str(exc)
else:
    raise SystemExit("an unknown field passed")
""",
    ),
    Change(
        "Players have another word for something",
        (Edit("domain/vocabulary.yaml", "  totem: [totem,", "  totem: [tiki, totem,"),),
        """
from app.knowledge.vocabulary import vocabulary
assert "tiki" in vocabulary().styles["totem"]
""",
    ),
    Change(
        "One of the seven questions asks for more",
        (
            Edit(
                "app/reasoning/questions/resource_sustain.py",
                "    prefer_cheaper_supports: bool = False\n",
                "    prefer_cheaper_supports: bool = False\n    flask_counts: bool = True\n",
            ),
            Edit(
                "prompts/explore-resource_sustain.md",
                "prefer_cheaper_supports: true",
                "prefer_cheaper_supports: true\nflask_counts: true",
            ),
        ),
        """
from app.core.config import resource_dir
from app.model.names import SubProblemName
from app.reasoning.questions import QUESTIONS
kind = QUESTIONS[SubProblemName.RESOURCE_SUSTAIN]
assert "flask_counts" in kind.answer.model_json_schema()["properties"]
assert "flask_counts" in (resource_dir("prompts") / "explore-resource_sustain.md").read_text()
""",
    ),
    Change(
        "Validate holds another rule",
        (
            Edit(
                "app/conflicts/points.py",
                "\n\ndef points_within_level(",
                '''

def no_empty_tree(case: Case) -> list[BuildConflict]:
    """A tree has passives."""
    return []


def points_within_level(''',
            ),
            Edit(
                "app/conflicts/table.py",
                "    no_point_unspent,\n    passives_connected,",
                "    no_empty_tree,\n    no_point_unspent,\n    passives_connected,",
            ),
            Edit("app/conflicts/table.py", "    # points\n", "    # points\n    no_empty_tree,\n"),
        ),
        """
from app.conflicts.table import RULES
assert [rule.__name__ for rule in RULES].count("no_empty_tree") == 1
""",
    ),
    Change(
        "A gear tier asks for more",
        (Edit("app/model/demands.py", "GearTier.MID: (3, 55, 2)", "GearTier.MID: (3, 55, 3)"),),
        """
from app.model.demands import floors_for
from app.model.names import GearTier
assert floors_for(92, GearTier.MID).gear.max_uniques == 3
""",
    ),
    Change(
        "The search prices a weakness otherwise",
        (Edit("app/search/objective.py", "SLOWNESS = 2.0", "SLOWNESS = 3.0"),),
        """
from app.search.objective import SLOWNESS
assert SLOWNESS == 3.0
""",
    ),
    Change(
        "Construct has one more stage",
        (
            Edit(
                "app/search/stages/passives.py",
                "\n\nasync def grow_tree(",
                '''

async def look_again(ctx: SearchContext) -> StageResult:
    """Leave all as it is."""
    return StageResult(ctx.blueprint)


async def grow_tree(''',
            ),
            Edit("app/search/stages/table.py", "ascend, finish, grow_tree,", "ascend, finish, grow_tree, look_again,"),
            Edit(
                "app/search/stages/table.py",
                '    _stage("finish", "finishing touches", finish, Q),',
                """    _stage("again", "looking again", look_again, Q),
    _stage("finish", "finishing touches", finish, Q),""",
            ),
        ),
        """
from app.search.stages.table import STAGES, stages_for
assert stages_for(STAGES, None)[-2:] == ["again", "finish"]
""",
    ),
    Change(
        "There is another command",
        (
            Edit(
                "app/cli.py",
                '@app.command("list")',
                '''@app.command()
def where() -> None:
    """Say where the data is."""
    typer.echo(Settings().data_dir)


@app.command("list")''',
            ),
        ),
        """
import subprocess, sys
done = subprocess.run([sys.executable, "-m", "app", "where"], capture_output=True, text=True)
assert done.returncode == 0 and done.stdout.strip(), done.stderr
""",
    ),
    Change(
        "There is another call",
        (
            Edit(
                "app/api/health.py",
                '@router.get("/readyz"',
                '''@router.get("/v1/version")
async def version() -> dict[str, str]:
    """Say which version."""
    return {"version": "1"}


@router.get("/readyz"''',
            ),
        ),
        """
from app.core.config import Settings
from app.main import create_app
assert "/v1/version" in create_app(Settings()).openapi()["paths"]
""",
    ),
    Change(
        "Operators can set one more thing",
        (
            Edit("app/core/config.py", "    cache_skip: str", "    motto: str = ''\n    cache_skip: str"),
            Edit(
                "README.md",
                "| `BUILDWRIGHT_CACHE_SKIP` |",
                "| `BUILDWRIGHT_MOTTO` | none | a line for the log |\n| `BUILDWRIGHT_CACHE_SKIP` |",
            ),
        ),
        """
import os
os.environ["BUILDWRIGHT_MOTTO"] = "measure"
from app.core.config import Settings
assert Settings().motto == "measure"
""",
    ),
)
