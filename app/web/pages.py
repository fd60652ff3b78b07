"""The pages: ask, watch, read, take, measure, compare."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Final
from urllib.parse import urlencode

from fastapi import APIRouter, FastAPI, Query, Request
from fastapi.responses import HTMLResponse
from markupsafe import Markup
from starlette.staticfiles import StaticFiles

from app.api.access import READS, USES, AccessDep, OwnBuild
from app.api.dependencies import Cursor, ServicesDep
from app.core.errors import InputError, NotFound
from app.metrics.flame import flame_svg
from app.metrics.usage import UsageBy
from app.model.anchors import column_at
from app.model.names import BuildStatus, GearTier, Outcome
from app.service import Services
from app.service.builds import FINISHED
from app.service.presentation import ABOUT_LOADOUTS, QUESTIONS
from app.service.sheet import CharacterSheet
from app.web import browsers, charts
from app.web.browsers import COOKIE, CookieAccess, ErrorPages
from app.web.templates import HEADERS, REFERENCE_HEADERS, STATIC, figure, render

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
PAGE: Final = 50
MOST_ROWS: Final = 30
Status = Annotated[str, Query(pattern=f"^({'|'.join(BuildStatus)})?$")]
Outcomes = Annotated[str, Query(pattern=f"^({'|'.join(Outcome)})?$")]
EXAMPLES: Final = (
    "lightning sorceress for mapping",
    "titan with maces for bossing, at least 40k effective hit points",
    "deadeye with Lightning Arrow, fast, no evasion",
    "minion infernalist for hardcore, life-based, level 75",
)


def add_pages(app: FastAPI) -> None:
    """Give the application its pages, their files, and what browsers need around every request."""
    app.include_router(router)
    app.include_router(browsers.router)
    app.mount("/static/reference", StaticFiles(packages=[("fastapi_offline", "static")]), name="reference")
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    app.add_middleware(CookieAccess)
    app.add_middleware(ErrorPages)


@router.get("/")
async def ask(request: Request, services: ServicesDep) -> HTMLResponse:
    """Show where to ask, and what this installation can use."""
    setup = services.setup()
    bounds = {
        "seconds": setup.budget_seconds,
        "USD for language models": setup.budget_usd,
        "tokens": setup.budget_tokens,
    }
    limits = [f"{figure(most)} {unit}" for unit, most in bounds.items() if most is not None]
    return _page(
        request,
        "ask.html",
        setup=setup,
        limits=limits,
        examples=EXAMPLES,
        gear=[tier.value for tier in GearTier],
    )


@router.get("/docs")
async def reference(request: Request) -> HTMLResponse:
    """Show all calls of the API, to read and to try."""
    page = _page(request, "docs.html")
    page.headers.update(REFERENCE_HEADERS)
    return page


@router.get("/builds", dependencies=[READS])
async def list_builds(
    request: Request,
    services: ServicesDep,
    access: AccessDep,
    status: Status = "",
    outcome: Outcomes = "",
    words: Annotated[str, Query(max_length=200)] = "",
    cursor: Cursor = None,
) -> HTMLResponse:
    """List builds, newest first; outcome and words are looked for among those of the page."""
    found = await services.library.page(BuildStatus(status) if status else None, PAGE, cursor, access.only)
    wanted = words.casefold().split()
    items = [
        build
        for build in found.items
        if (not outcome or build.outcome == outcome) and all(word in build.prompt.casefold() for word in wanted)
    ]
    kept = {"status": status, "outcome": outcome, "words": words, "cursor": found.next_cursor}
    following = urlencode({name: value for name, value in kept.items() if value}) if found.next_cursor else ""
    choices = {"statuses": list(BuildStatus), "outcomes": list(Outcome)}
    chosen = {"status": status, "outcome": outcome, "words": words}
    return _page(request, "builds.html", items=items, following=following, **choices, **chosen)


@router.get("/builds/{build_id}", dependencies=[READS])
async def show_build(build_id: OwnBuild, request: Request, services: ServicesDep) -> HTMLResponse:
    """Show a build: while it is made what happens, then all that a player wants to know of it."""
    shown, sheet = await services.library.presented(build_id)
    metrics = await services.recordings.metrics(build_id)
    build, level = shown.build, sheet.level if sheet else 0
    figures: dict[str, Any] = {"strips": [], "resistances": [], "hits": []}
    players = column_at(level)
    if build.stats is not None:
        figures = {
            "strips": charts.strips(build.stats, players),
            "resistances": charts.resistances(build.stats),
            "hits": charts.hits(build.stats),
        }
    return _page(
        request,
        "build.html",
        shown=shown,
        sheet=sheet,
        over=build.status in FINISHED,
        metrics=metrics,
        players=players,
        questions=QUESTIONS,
        about_loadouts=ABOUT_LOADOUTS,
        setup=services.setup(),
        stack=charts.damage_stack(build.damage) if build.damage else [],
        changes=charts.before_and_after(shown.refinement),
        upgrades=charts.upgrades(build),
        times=charts.times(metrics),
        flame=Markup(flame_svg(metrics.time.tree).decode()) if metrics.time else None,  # noqa: S704 - escaped there
        most_rows=MOST_ROWS,
        tree=await _tree(services, build.parent_id, sheet),
        **figures,
    )


@router.get("/import", dependencies=[READS])
async def bring(request: Request) -> HTMLResponse:
    """Offer to import or repair a build by file or code."""
    return _page(request, "import.html")


@router.get("/compare", dependencies=[READS])
async def compare(
    request: Request,
    services: ServicesDep,
    access: AccessDep,
    ids: Annotated[str, Query(max_length=1000)] = "",
    id: Annotated[list[str] | None, Query(max_length=20)] = None,  # noqa: A002
) -> HTMLResponse:
    """Put builds next to each other; `ids` are separated by commas, `id` can be there many times."""
    wanted = [name for one in [*ids.split(","), *(id or [])] if (name := one.strip())]
    values: dict[str, Any] = {"ids": ",".join(wanted), "found": None, "problem": None, "names": {}}
    if len(wanted) > 1:
        try:
            values["found"] = await services.comparisons.compare(wanted, access)
            values["names"] = {name: (await services.library.get(name)).prompt[:80] for name in wanted}
        except (InputError, NotFound) as error:
            values["problem"] = error.message
    return _page(request, "compare.html", **values)


@router.get("/usage", dependencies=[USES])
async def show_usage(
    request: Request,
    services: ServicesDep,
    access: AccessDep,
    by: UsageBy = UsageBy.DAY,
    since: date | None = None,
) -> HTMLResponse:
    """Show what builds used: by day, owner, model, tool or phase, and what is left of today's budgets."""
    found = await services.usage.usage(by, since, access)
    budgets = found.budget_left.model_dump()
    left = [f"{figure(float(most))} {name}" for name, most in budgets.items() if most is not None]
    return _page(request, "usage.html", found=found, ways=list(UsageBy), left=left, slowest=charts.slowest(found))


@router.get("/signin")
async def sign_in(request: Request, next: Annotated[str, Query(max_length=500)] = "/") -> HTMLResponse:  # noqa: A002
    """Ask for an access token, or offer to forget it."""
    return _page(request, "signin.html", next=next)


async def _tree(services: Services, parent_id: str | None, sheet: CharacterSheet | None) -> dict[str, Any] | None:
    """Return what the tree's script draws, None when there is nothing to draw it from; `parent`: its passives."""
    if sheet is None or services.setup().pob is None:
        return None
    parent = None if parent_id is None else await services.library.sheet(parent_id)
    return {
        "taken": [[node.id, node.weapon_set] for node in sheet.nodes],
        "ascendancy": sheet.ascendancy,
        "jewels": sheet.jewels,
        "parent": None if parent is None else [node.id for node in parent.nodes],
    }


def _page(request: Request, name: str, **values: Any) -> HTMLResponse:
    return HTMLResponse(render(name, signed_in=COOKIE in request.cookies, **values), headers=HEADERS)
