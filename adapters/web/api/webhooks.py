"""`/v1/webhooks`: programs of others that get events, each at a URL, signed; what an operator does about them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from adapters.application import Application
from adapters.database.webhooks import NewSecret
from adapters.web.api.doors import App, By, needs
from adapters.web.api.paging import CursorParameter, Limit, Page, page_of, place_at
from adapters.web.api.problem_schemas import problems
from adapters.web.api.problems import Problem
from adapters.web.api.rules import Happening
from adapters.webhooks.opening import webhook_desk
from adapters.webhooks.pages import life_of, page_of_webhook, pages_of_webhooks, retry_failed
from domain.webhooks import BOTH_SIGN_FOR, LONGEST_URL, MOST_TOPICS

router = APIRouter(tags=["webhooks"], prefix="/v1/webhooks")

WebhookId = Annotated[str, Path(pattern="^[a-z0-9][a-z0-9-]{0,39}$", description="The webhook's id.")]
Act = Annotated[
    Literal["pause", "resume", "test", "retry"],
    Path(
        description="`pause` lets events wait, `resume` sends them, `test` sends one that means nothing,"
        " `retry` sends anew what failed."
    ),
]
Url = Annotated[str, Field(max_length=LONGEST_URL, description="Where events are posted to.")]
Topics = Annotated[
    list[Annotated[str, Field(max_length=300)]],
    Field(min_length=1, max_length=MOST_TOPICS, description="Such as `booking.created`, or `booking.*`."),
]

EXAMPLE: dict[str, Any] = {
    "id": "books",
    "url": "https://books.example.org/hooks/semel",
    "topics": ["invoice.*", "payment.received"],
}
HOURS = BOTH_SIGN_FOR / timedelta(hours=1)
GUARDED = problems(400, 401, 403, 404, 409, 413, 422, 503)


class WebhookForm(BaseModel):
    """A webhook to be added: what it is called here, where it is, and what it gets."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": EXAMPLE})

    id: Annotated[str, Field(max_length=40, description="Letters a-z, digits and dashes.")]
    url: Url
    topics: Topics


class WebhookChange(BaseModel):
    """What is to be different about a webhook; what is left out stays."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {"topics": ["invoice.*"]}})

    url: Url | None = None
    topics: Topics | None = None


class WebhookRotation(BaseModel):
    """For how long the old secret signs as well."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {"both_hours": 24}})

    both_hours: Annotated[float, Field(ge=0, le=720)] = HOURS


class WebhookReplay(BaseModel):
    """Since when what was recorded is to be sent as well."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {"since": "2026-05-01T00:00:00Z"}})

    since: AwareDatetime


class WebhookPage(BaseModel):
    """A webhook, with how many of its deliveries stand how; `reason` says why Semel itself has paused it."""

    webhook: str
    status: Literal["enabled", "paused"]
    reason: str
    url: str
    topics: list[str]
    added_at: datetime
    paused_at: datetime | None
    former_secret_until: datetime | None
    last_sent_at: datetime | None
    deliveries: dict[str, int]


class WebhookStory(WebhookPage):
    """A webhook with all that was done about it."""

    history: list[Happening]


class WebhookSecret(BaseModel):
    """What signs the events of a webhook; it is told this once."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"webhook": "books", "secret": "whsec_c2VtZWwsIGFuIGV4YW1wbGUgb2YgYSBzZWNyZXQ="}}
    )

    webhook: str
    secret: str


class WebhookActed(BaseModel):
    """How the webhook stands after an act, and which deliveries could not be sent anew, with the reason."""

    webhook: WebhookPage
    refused: dict[str, str] = {}


@router.get("", dependencies=needs("admin"), responses=problems(401, 403, 422, 503))
def list_webhooks(application: App, limit: Limit = 100, cursor: CursorParameter = None) -> Page[WebhookPage]:
    """List the webhooks, by their ids."""
    place = place_at(cursor)
    if place is not None and not isinstance(place, str):
        raise Problem(422, "this is no cursor")
    found = [each for each in pages_of_webhooks(application) if place is None or each["webhook"] > place]
    return Page[WebhookPage](**page_of(found[: limit + 1], limit, dict, lambda each: each["webhook"]))


@router.post("", status_code=201, dependencies=needs("admin"), responses=problems(400, 401, 403, 409, 413, 422, 503))
def add_webhook(application: App, caller: By, asked: WebhookForm) -> WebhookSecret:
    """Send a program the events of some topics, from now on. The secret is told this once."""
    return _secret(webhook_desk(application).add(asked.id, asked.url, asked.topics, caller.by))


@router.get("/{webhook}", dependencies=needs("admin"), responses=problems(401, 403, 404, 422, 503))
def show_webhook(application: App, webhook: WebhookId) -> WebhookStory:
    """Show one webhook, with all that was done about it."""
    page = _found(application, webhook)
    return WebhookStory(**page.model_dump(), history=[Happening(**each) for each in life_of(application, webhook)])


@router.patch("/{webhook}", dependencies=needs("admin"), responses=GUARDED)
def change_webhook(application: App, caller: By, webhook: WebhookId, asked: WebhookChange) -> WebhookPage:
    """Send events elsewhere, or those of other topics, from now on."""
    _found(application, webhook)
    webhook_desk(application).change(webhook, caller.by, url=asked.url, topics=asked.topics)
    return _found(application, webhook)


@router.delete(
    "/{webhook}", status_code=204, dependencies=needs("admin"), responses=problems(401, 403, 404, 409, 422, 503)
)
def remove_webhook(application: App, caller: By, webhook: WebhookId) -> None:
    """Send no more, and forget the secret; what waits is cancelled."""
    _found(application, webhook)
    webhook_desk(application).remove(webhook, caller.by)


@router.post("/{webhook}/rotate", dependencies=needs("admin"), responses=GUARDED)
def rotate_secret(application: App, caller: By, webhook: WebhookId, asked: WebhookRotation) -> WebhookSecret:
    """Make a new secret, told this once; for a while the old one signs as well."""
    _found(application, webhook)
    return _secret(webhook_desk(application).rotate(webhook, caller.by, timedelta(hours=asked.both_hours)))


@router.post("/{webhook}/replay", status_code=202, dependencies=needs("admin"), responses=GUARDED)
def replay_events(application: App, caller: By, webhook: WebhookId, asked: WebhookReplay) -> WebhookPage:
    """Send what was recorded in the past as well; what the webhook got already does not go out again."""
    _found(application, webhook)
    webhook_desk(application).replay(webhook, asked.since, caller.by)
    return _found(application, webhook)


@router.post("/{webhook}/{act}", dependencies=needs("admin"), responses=GUARDED)
def act_on_webhook(application: App, caller: By, webhook: WebhookId, act: Act) -> WebhookActed:
    """Pause a webhook, let it go on, test it, or send anew what failed."""
    _found(application, webhook)
    desk, refused = webhook_desk(application), dict[str, str]()
    if act == "retry":
        acted = retry_failed(application, webhook, caller.by)
        refused = {each.key: each.refused for each in acted if each.refused}
    else:
        {"pause": desk.pause, "resume": desk.resume, "test": desk.test}[act](webhook, caller.by)
    return WebhookActed(webhook=_found(application, webhook), refused=refused)


def _found(application: Application, webhook: str) -> WebhookPage:
    page = page_of_webhook(application, webhook)
    if page is None:
        raise Problem(404, "there is no webhook with this id")
    return WebhookPage(**page)


def _secret(made: NewSecret) -> WebhookSecret:
    return WebhookSecret(webhook=made.webhook.id, secret=made.secret)
