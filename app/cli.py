"""The command line: `buildwright`, or `python -m app`."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from app import __version__
from app.console import bench as benches
from app.console import build as builds
from app.console import evaluations, measures, upkeep
from app.console import show as reports
from app.console import status as installation
from app.console import tune as tunes
from app.console.eval_commands import evals
from app.console.exits import Exit, guarded, run
from app.console.transcripts import llm
from app.core.config import Settings
from app.main import serve as serve_http
from app.metrics.usage import UsageBy
from app.model.access import Permission
from app.model.names import Effort, GearTier, Mode, Phase
from app.model.record import BuildRequest
from app.worker import check as check_worker
from app.worker import work

app = typer.Typer(
    name="buildwright",
    help="One sentence in, a Path of Exile 2 build out.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
pob = typer.Typer(help="Path of Building, the calculator.", no_args_is_help=True)
db = typer.Typer(help="The store.", no_args_is_help=True)
domain = typer.Typer(help="The knowledge that the prompts are given.", no_args_is_help=True)
app.add_typer(pob, name="pob")
app.add_typer(db, name="db")
app.add_typer(evals, name="eval")
app.add_typer(llm, name="llm")
app.add_typer(domain, name="domain")
memory = typer.Typer(help="What earlier builds taught.", no_args_is_help=True)
app.add_typer(memory, name="memory")

token = typer.Typer(help="Who may use the API.", no_args_is_help=True)
app.add_typer(token, name="token")

BuildIdArgument = Annotated[str, typer.Argument(metavar="ID", help="Build id")]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON on stdout")]


def main() -> None:
    """Run the command line."""
    app()


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"buildwright {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it")] = False,
) -> None:
    """One sentence in, a Path of Exile 2 build out."""


@app.command()
def build(
    prompt: Annotated[str, typer.Argument(metavar="PROMPT", help="What you want, in your own words")],
    level: Annotated[int | None, typer.Option(help="Character level, 1-100")] = None,
    gear: Annotated[GearTier | None, typer.Option(help="How good the gear may be")] = None,
    effort: Annotated[
        Effort,
        typer.Option(help="How much is tried, and may be asked of a model: a draft, the usual, or three times that"),
    ] = Effort.NORMAL,
    engine: Annotated[Literal["auto", "pob", "sketch"], typer.Option(help="Who calculates")] = "auto",
    reasoner: Annotated[Literal["auto", "rules", "llm"], typer.Option(help="Who decides")] = "auto",
    mode: Annotated[Mode, typer.Option(help="Why it is made")] = Mode.INITIAL,
    parent: Annotated[str | None, typer.Option(help="Id of the build to start from")] = None,
    out: Annotated[Path, typer.Option(help="Folder for the files")] = Path("builds"),
    as_json: JsonFlag = False,
) -> None:
    """Make one build. Exit 0 validated, 3 finished with caveats, 1 failed, 2 usage, 130 interrupted."""

    async def make() -> Exit:
        request = BuildRequest(
            prompt=prompt,
            level=level,
            gear=gear,
            effort=effort,
            mode=mode,
            parent_id=parent,
            engine=engine,
            reasoner=reasoner,
        )
        return await builds.make_build(Settings(), request, out, as_json)

    run(make)


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on")] = 8000,
    allow_anonymous: Annotated[
        bool, typer.Option("--allow-anonymous", help="Listen where others can reach it, without access tokens")
    ] = False,
) -> None:
    """Serve the API and the web page; without tokens on this machine only, unless told otherwise."""
    guarded(lambda: serve_http(Settings(), host, port, allow_anonymous))


@app.command()
def worker(
    check: Annotated[bool, typer.Option("--check", help="Only say whether a worker of this machine works")] = False,
) -> None:
    """Work on queued builds (PostgreSQL mode)."""
    guarded(check_worker if check else lambda: work(Settings()))


@pob.command("install")
def pob_install(
    version: Annotated[str | None, typer.Option(help="Release to fetch; default: the pinned one")] = None,
    source: Annotated[
        Path | None, typer.Option("--from", help="A checkout, a bare git directory or a tarball instead")
    ] = None,
) -> None:
    """Install Path of Building for calculating."""
    guarded(lambda: installation.install(Settings(), version, source))


@pob.command("status")
def pob_status(as_json: JsonFlag = False) -> None:
    """Say whether Path of Building is installed, and which."""
    guarded(lambda: installation.pob_status(Settings(), as_json))


@db.command("upgrade")
def db_upgrade() -> None:
    """Bring the store to the schema of this version."""
    guarded(lambda: installation.upgrade(Settings()))


@db.command("copy")
def db_copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help="Address of a store, or path of an SQLite file")],
    target: Annotated[str, typer.Argument(metavar="TO", help="The same; nothing may be in it")],
) -> None:
    """Copy a whole store into an empty one, for example to PostgreSQL; all of it, or nothing."""
    guarded(lambda: installation.copy(source, target))


@db.command("check")
def db_check(as_json: JsonFlag = False) -> None:
    """Check the store's invariants; exit 1 when one is broken."""
    run(lambda: installation.check(Settings(), as_json))


@db.command("vacuum")
def db_vacuum(as_json: JsonFlag = False) -> None:
    """Let go of what BUILDWRIGHT_KEEP_* does not keep, and give the space back to the disk."""
    run(lambda: upkeep.vacuum(Settings(), as_json))


@domain.command("check")
def domain_check(as_json: JsonFlag = False) -> None:
    """List missing, stale and unused knowledge files, and unknown uniques; exit 1 when one is missing or unknown."""
    run(lambda: installation.check_domain(Settings(), as_json))


@memory.command("show")
def memory_show(as_json: JsonFlag = False) -> None:
    """List what worked per skill, goal and engine version, and what you keep asking for."""
    run(lambda: reports.show_memory(Settings(), as_json))


@memory.command("forget")
def memory_forget(
    skill: Annotated[str | None, typer.Option(metavar="NAME", help="Forget the builds of this main skill")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Forget all builds")] = False,
) -> None:
    """Forget what was learned; the builds themselves stay."""
    run(lambda: reports.forget_memory(Settings(), skill, everything))


@app.command()
def doctor(as_json: JsonFlag = False) -> None:
    """Say what is installed and how it is set up; secrets are never shown."""
    run(lambda: installation.doctor(Settings(), as_json))


@app.command()
def show(
    build_id: BuildIdArgument,
    as_json: JsonFlag = False,
    form: Annotated[
        reports.ShowFormat, typer.Option("--format", help="text, markdown, json (the API's) or full (all of it)")
    ] = "text",
) -> None:
    """Show a build."""
    run(lambda: reports.show_build(Settings(), build_id, "json" if as_json else form))


@app.command()
def conflicts(
    build_id: BuildIdArgument,
    form: Annotated[Literal["mermaid", "svg"], typer.Option("--format", help="What to print")] = "mermaid",
) -> None:
    """Draw which conflict of a build brings about which."""
    run(lambda: reports.draw_conflicts(Settings(), build_id, form))


@app.command("list")
def list_builds(
    limit: Annotated[int, typer.Option(min=1, max=200, help="How many")] = 20, as_json: JsonFlag = False
) -> None:
    """List builds, newest first."""
    run(lambda: reports.list_builds(Settings(), limit, as_json))


@app.command()
def delete(
    build_id: BuildIdArgument,
    out: Annotated[Path, typer.Option(help="Folder where its files are removed, too")] = Path("builds"),
) -> None:
    """Remove a build and everything recorded of it; one that is being worked on is stopped. Its children stay."""
    run(lambda: upkeep.delete_build(Settings(), build_id, out))


@token.command("add")
def token_add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to call it")],
    scope: Annotated[list[Permission], typer.Option(help="What it permits; several times for several")],
    owner: Annotated[str | None, typer.Option(help="Whose builds it sees and makes; default: the name")] = None,
    builds_per_day: Annotated[int | None, typer.Option(min=0, help="Most builds it may start a day (UTC)")] = None,
    requests_per_minute: Annotated[int | None, typer.Option(min=1, help="Most requests it may make")] = None,
) -> None:
    """Make an access token. Its secret is printed once; only a hash of it is kept."""
    run(lambda: upkeep.add_token(Settings(), name, scope, owner, builds_per_day, requests_per_minute))


@token.command("list")
def token_list(as_json: JsonFlag = False) -> None:
    """List the tokens that were made, revoked ones too; with --json one per line."""
    run(lambda: upkeep.list_tokens(Settings(), as_json))


@token.command("revoke")
def token_revoke(name: Annotated[str, typer.Argument(metavar="NAME", help="Its name")]) -> None:
    """Let nobody in with a token any more."""
    run(lambda: upkeep.revoke_token(Settings(), name))


@app.command()
def estimate(
    effort: Annotated[Effort, typer.Option(help="How much is tried, and may be asked")] = Effort.NORMAL,
    reasoner: Annotated[Literal["auto", "rules", "llm"], typer.Option(help="Who decides")] = "auto",
    as_json: JsonFlag = False,
) -> None:
    """Say what a build would ask of a language model: requests, tokens, USD. `build` says so before it starts."""
    run(lambda: measures.show_estimate(Settings(), effort, reasoner, as_json))


@app.command()
def metrics(
    build_id: BuildIdArgument,
    phase: Annotated[Phase | None, typer.Option(help="Only what was done in this phase")] = None,
    tool: Annotated[str | None, typer.Option(metavar="NAME", help="Only this tool, stage or other work")] = None,
    flame: Annotated[Path | None, typer.Option(metavar="FILE.svg", help="Write a flame view, too")] = None,
    as_json: JsonFlag = False,
    events: Annotated[Literal["jsonl"] | None, typer.Option(help="Print the recorded attempts instead")] = None,
) -> None:
    """Show where the time of a build went, what it cost, and what to change; most time first."""
    if events is not None:
        run(lambda: reports.export_events(Settings(), build_id))
    run(lambda: measures.show_metrics(Settings(), build_id, phase, tool, flame, as_json))


@app.command()
def tune(
    auto: Annotated[bool, typer.Option("--auto", help="Apply it, from the next start on")] = False,
    forget: Annotated[bool, typer.Option("--forget", help="Go back to the settings as they are said")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Say what the last builds suggest for engine sessions and the cache, and what the last change did."""
    run(lambda: tunes.tune(Settings(), auto, forget, as_json))


@app.command()
def usage(
    by: Annotated[UsageBy, typer.Option(help="What to add up by")] = UsageBy.DAY,
    since: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="First day (UTC); by default 30 days ago")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Add up what builds used: success, time, calls, tokens, cost per valid build, the slowest tools, budgets left."""
    run(lambda: reports.show_usage(Settings(), by, since.date() if since else None, as_json))


@app.command()
def export(
    build_id: BuildIdArgument,
    form: Annotated[Literal["xml", "code", "yaml"], typer.Option("--format", help="What to print")] = "xml",
) -> None:
    """Print the last valid state of a build."""
    run(lambda: reports.export_build(Settings(), build_id, form))


@app.command()
def compare(build_ids: Annotated[list[str], typer.Argument(metavar="A B [C...]")], as_json: JsonFlag = False) -> None:
    """Compare builds, labels (label:NAME) or result files (FILE.json) with the first of them: calls, outcome, cost."""
    run(lambda: evaluations.compare_builds(Settings(), build_ids, as_json))


@app.command()
def expect(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Expectations in YAML or JSON")],
    build_id: BuildIdArgument,
    as_json: JsonFlag = False,
) -> None:
    """Check expectations against the recorded calls of a build. Exit 0 all hold, 1 one fails, 2 unusable file."""
    run(lambda: evaluations.check_expectations(Settings(), file, build_id, as_json))


@app.command("import")
def import_build(
    file_or_code: Annotated[str, typer.Argument(metavar="FILE_OR_CODE", help='File, share code, or "-" for stdin')],
    engine: Annotated[Literal["auto", "pob", "sketch"], typer.Option(help="Who calculates")] = "auto",
    out: Annotated[Path, typer.Option(help="Folder for the files")] = Path("builds"),
    as_json: JsonFlag = False,
) -> None:
    """Import a Path of Building file or share code as a finished build. Exit 0 without faults, 3 with some."""
    run(lambda: builds.import_build(Settings(), file_or_code, engine, out, as_json))


@app.command()
def repair(
    file_or_code: Annotated[str, typer.Argument(metavar="FILE_OR_CODE", help='File, share code, or "-" for stdin')],
    sentence: Annotated[
        str, typer.Argument(metavar="[SENTENCE]", help='What to mend ("fix my mana"); without it everything')
    ] = "",
    engine: Annotated[Literal["auto", "pob", "sketch"], typer.Option(help="Who calculates")] = "auto",
    out: Annotated[Path, typer.Option(help="Folder for the files")] = Path("builds"),
    as_json: JsonFlag = False,
) -> None:
    """Find the faults of a Path of Building file, mend them, and show what was changed. Exit codes as of build."""
    run(lambda: builds.repair_build(Settings(), file_or_code, sentence, engine, out, as_json))


@app.command()
def refine(
    build_id: BuildIdArgument,
    prompt: Annotated[str, typer.Argument(help="What should become better, and what must stay")],
    out: Annotated[Path, typer.Option(help="Folder for the files")] = Path("builds"),
    as_json: JsonFlag = False,
) -> None:
    """Improve a finished build, keeping what the prompt says; the child is a new build. Exit codes as of build."""
    run(lambda: builds.refine_build(Settings(), build_id, prompt, out, as_json))


@app.command()
def bench(
    kind: Annotated[benches.Kind, typer.Argument(help="What to measure")],
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DIR]",
            help="whatif, tree, refine, gear: folder with build files (XML); quality, explore, wishes: for results",
        ),
    ] = None,
    as_json: JsonFlag = False,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="quality, wishes: prompts; tree, refine, gear: names of build files, without .xml"
        ),
    ] = None,
    scan: Annotated[bool, typer.Option("--scan", help="tree: compare with a full scan before every purchase")] = False,
    level: Annotated[
        int | None,
        typer.Option(min=1, max=100, help="explore, wishes: character level (default: 90; each prompt's own)"),
    ] = None,
    candidates: Annotated[int, typer.Option(min=1, help="explore: candidates built per prompt")] = 16,
    effort: Annotated[Effort, typer.Option(help="wishes: how far each build is searched")] = Effort.NORMAL,
    keystones: Annotated[bool, typer.Option("--keystones", help="tree: begin from the author's keystones too")] = False,
    results: Annotated[Path | None, typer.Option(metavar="DIR", help="tree: keep figures there to go on from")] = None,
    profile: Annotated[
        bool, typer.Option("--profile", help="build: seconds, candidates and busy engines of each step")
    ] = False,
) -> None:
    """Measure this installation."""
    chosen = (folder, scan, level, candidates, effort, keystones, results, profile)
    run(lambda: benches.measure(Settings(), kind, as_json, only or (), *chosen))
