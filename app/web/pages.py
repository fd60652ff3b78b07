"""The start page: what this service is and where to go. It needs no script and loads nothing from elsewhere."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

router = APIRouter(include_in_schema=False)
_HEADERS: Final = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'"}
_START: Final = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Buildwright</title>
<style>body { font: 1rem/1.5 system-ui, sans-serif; max-width: 42rem; margin: 3rem auto; padding: 0 1rem; }</style>
<h1>Buildwright</h1>
<p>One sentence in, a Path of Exile 2 build out: calculated by Path of Building, checked, with a reason for every
decision and a file to open.</p>
<pre>curl -s localhost:8000/v1/builds -H 'Content-Type: application/json' \\
  -d '{"prompt": "lightning sorceress for mapping"}'</pre>
<ul>
<li><a href="/docs">Every call, with its answers and errors</a></li>
<li><a href="/v1/builds">Builds so far</a></li>
<li><a href="/readyz">Is it ready?</a> · <a href="/healthz">Is it alive?</a> · <a href="/metrics">Counters</a></li>
</ul>
</html>
"""


@router.get("/", response_class=HTMLResponse)
async def start() -> HTMLResponse:
    """Say what this is."""
    return HTMLResponse(_START, headers=_HEADERS)
