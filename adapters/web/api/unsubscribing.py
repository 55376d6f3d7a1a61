"""`/unsubscribe/{token}`: the way out that bulk mails offer (RFC 8058). A POST acts, a GET only shows a page."""

from __future__ import annotations

from html import escape
from typing import Annotated, Any

from fastapi import APIRouter, Path
from fastapi.responses import HTMLResponse

from adapters.aftercare import leaving, unsubscribe
from adapters.web.api.doors import App
from adapters.web.api.problem_schemas import problems
from automations.notifications.unsubscribing import PATH

router = APIRouter(tags=["members"], prefix=PATH.rstrip("/"))

Token = Annotated[str, Path(max_length=1_000)]

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; style-src 'unsafe-inline'"
    )
}
"""The page has a form that posts to itself; browsers are told that nothing else is wanted."""

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Unsubscribe</title>
<style>body {{ font: 1.1rem/1.6 system-ui, sans-serif; margin: 15vh auto; max-width: 32rem; padding: 0 1rem }}</style>
</head>
<body>{body}</body>
</html>
"""
_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/html": {"schema": {"type": "string"}}}, "description": "A page for people."}
}


@router.get("/{token}", response_class=HTMLResponse, responses={**problems(422, 503), **_ANSWERS})
def show_way_out(application: App, token: Token) -> HTMLResponse:
    """Ask whether somebody wants no more of these mails. Nothing changes yet: programs open links too."""
    subject = leaving(application, token).subject
    body = (
        f"<h1>Unsubscribe</h1><p>No more messages of the kind <b>{escape(subject.type or 'any')}</b>?</p>"
        '<form method="post"><button>Unsubscribe</button></form>'
    )
    return HTMLResponse(_PAGE.format(body=body), headers=HEADERS)


@router.post("/{token}", response_class=HTMLResponse, responses={**problems(409, 413, 422, 503), **_ANSWERS})
def take_way_out(application: App, token: Token) -> HTMLResponse:
    """Unsubscribe a member; the same again changes nothing."""
    unsubscribe(application, token)
    return HTMLResponse(
        _PAGE.format(body="<h1>Done</h1><p>You will get no more of these messages.</p>"), headers=HEADERS
    )
