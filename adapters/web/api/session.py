"""`/v1/session`: somebody signs in, sees who they are, and signs out."""

from __future__ import annotations

import math
from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field, SecretStr

from adapters.web.access.callers import Caller
from adapters.web.access.doorkeeper import COOKIE, refuse_foreign
from adapters.web.access.proofs import LONGEST, csrf_of
from adapters.web.api.doors import By, Front, needs_caller
from adapters.web.api.problem_schemas import problems
from adapters.web.api.problems import Problem
from domain.accounts import LONGEST_PASSWORD

router = APIRouter(tags=["session"], prefix="/v1/session")


class SignIn(BaseModel):
    """Who somebody says they are."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"example": {"user": "ana", "password": "correct horse battery"}}
    )

    user: Annotated[str, Field(min_length=1, max_length=64)]
    password: Annotated[SecretStr, Field(min_length=1, max_length=LONGEST_PASSWORD)]


class Me(BaseModel):
    """Who calls, and what they may do. `csrf_token` goes into the header X-CSRF-Token with each change."""

    name: str
    kind: str
    scopes: list[str]
    csrf_token: str | None = None


@router.post("", responses=problems(400, 401, 403, 413, 422, 429, 503))
def sign_in(asked: SignIn, request: Request, response: Response, front: Front) -> Me:
    """Sign in. The answer sets a cookie that scripts cannot read, and tells the token against forgery."""
    refuse_foreign(request)
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Problem(415, "signing in takes application/json")
    address = request.client.host if request.client else ""
    wait = front.throttle.wait(asked.user, address).total_seconds()
    if wait > 0:
        seconds = str(math.ceil(wait))
        raise Problem(429, f"too many tries: wait {seconds} seconds", headers={"retry-after": seconds})
    if not front.users.knows(asked.user, asked.password.get_secret_value()):
        front.throttle.failed(asked.user, address)
        raise Problem(401, "the name or the password is wrong")
    front.throttle.succeeded(asked.user, address)
    secret = front.sessions.begin(asked.user, instead_of=request.cookies.get(COOKIE, "")[:LONGEST])
    caller = front.sessions.known(secret)
    if caller is None:
        raise Problem(401, "the name or the password is wrong")
    response.set_cookie(
        COOKIE, secret, httponly=True, samesite="strict", secure=request.url.scheme == "https", path="/"
    )
    return _me(caller, secret)


@router.get("", dependencies=needs_caller(), responses=problems(401, 503))
def who_am_i(request: Request, caller: By) -> Me:
    """Say who calls, and what they may do."""
    return _me(caller, request.cookies.get(COOKIE, "") if caller.kind == "user" else "")


@router.delete("", status_code=204, dependencies=needs_caller(), responses=problems(401, 403, 503))
def sign_out(request: Request, response: Response, front: Front, caller: By) -> None:
    """Sign out: the session is over at once. Of a token nothing changes."""
    if caller.kind == "user":
        front.sessions.end(request.cookies.get(COOKIE, ""))
    response.delete_cookie(COOKIE, httponly=True, samesite="strict", path="/")


def _me(caller: Caller, secret: str) -> Me:
    csrf = csrf_of(secret) if secret else None
    return Me(name=caller.by, kind=caller.kind, scopes=sorted(caller.scopes), csrf_token=csrf)
