"""The group `buildwright eval`: suites of prompts, run, listed, taken elsewhere and brought in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from app.console import evaluations
from app.console.exits import run
from app.core.config import Settings

JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON on stdout")]
evals = typer.Typer(help="Suites of prompts, run and compared.", no_args_is_help=True)


@evals.command("run")
def eval_run(
    suite: Annotated[str, typer.Argument(metavar="SUITE", help="A suite that ships (classes), or a YAML file")],
    trials: Annotated[int, typer.Option(min=1, max=100, help="How often each prompt is built")] = 1,
    label: Annotated[str | None, typer.Option(help="What to keep the runs under; default: suite and time")] = None,
    only: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Tasks named like this")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on under a label that has runs")] = False,
    engine: Annotated[Literal["auto", "pob", "sketch"], typer.Option(help="Who calculates")] = "auto",
    reasoner: Annotated[Literal["auto", "rules", "llm"], typer.Option(help="Who decides")] = "auto",
    against_rules: Annotated[
        bool, typer.Option("--against-rules/--alone", help="llm: build each by the rules, too, and print both")
    ] = True,
    as_json: JsonFlag = False,
) -> None:
    """Build every prompt of a suite and check calls and results. Exit 0 all passed, 1 one did not.

    With --reasoner llm each build must also be castable, meet its wishes, have in its file what it tells, and repeat
    no unfounded claim; the rules' builds are kept under LABEL-rules.
    """
    run(
        lambda: evaluations.run_suite(
            Settings(),
            suite,
            trials=trials,
            label=label,
            only=only,
            resume=resume,
            engine=engine,
            reasoner=reasoner,
            against_rules=against_rules,
            as_json=as_json,
        )
    )


@evals.command("list")
def eval_list(as_json: JsonFlag = False) -> None:
    """List labels with how many of their runs passed; compare them with `compare label:A label:B`."""
    run(lambda: evaluations.list_labels(Settings(), as_json))


@evals.command("export")
def eval_export(
    label: Annotated[str, typer.Argument(metavar="LABEL", help="What the runs are kept under")],
    file: Annotated[Path, typer.Argument(metavar="FILE.json", help="Where to write them")],
) -> None:
    """Write the runs under a label with all their figures, for `compare FILE FILE` or another machine."""
    run(lambda: evaluations.export_results(Settings(), label, file))


@evals.command("import")
def eval_import(file: Annotated[Path, typer.Argument(metavar="FILE.json", help="What `eval export` wrote")]) -> None:
    """Keep the runs of a result file under their label, to be compared with others."""
    run(lambda: evaluations.import_results(Settings(), file))
