"""What members want to be told, and on which devices: `/v1/members/{id}/preferences` and `/devices`."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field

from adapters.aftercare import device_desk
from adapters.database.preferences import PreferenceDesk
from adapters.web.api.doors import App, By, needs
from adapters.web.api.problem_schemas import problems
from adapters.wording.known_names import require_subject
from domain.ids import LONGEST_ID, id_of
from domain.preferences import Preferences, Subject

router = APIRouter(tags=["members"], prefix="/v1/members")

Member = Annotated[str, Path(min_length=1, max_length=LONGEST_ID, description="The member's id.")]
Name = Annotated[str, Field(max_length=100)]


class Wish(BaseModel):
    """Whether a member wants to be told; an empty type or channel stands for all of them, null forgets the wish."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {"type": "news", "enabled": False}})

    type: Name = ""
    channel: Name = ""
    enabled: bool | None


class Wishes(BaseModel):
    """All that a member has said; about everything else the type decides."""

    preferences: list[Wish]


_KEYS: dict[str, Any] = {
    "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    "auth": "BTBZMqHH6r4Tts7J_aSIgg",
}
_BROWSER: dict[str, Any] = {
    "platform": "web",
    "subscription": {"endpoint": "https://push.example.org/p/1", "keys": _KEYS},
}


class DeviceForm(BaseModel):
    """A device: the subscription that a browser gave, or the token that a phone got, which no channel here reaches."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": _BROWSER})

    platform: Literal["web", "android", "ios"]
    subscription: str | dict[str, Any]


class RegisteredDevice(BaseModel):
    """A device of a member; what the push service gave it is not told. Pushes go to browsers: to the platform `web`."""

    device: str
    platform: str
    registered_at: datetime | None
    withdrawn_at: datetime | None = None
    invalidated_at: datetime | None = None


class Withdrawal(BaseModel):
    """Whether pushes went to the device until now."""

    was_registered: bool


@router.get("/{id:path}/preferences", dependencies=needs("read"), responses=problems(401, 403, 404, 422, 503))
def list_preferences(application: App, id: Member) -> Wishes:
    """Tell what a member wants to be told."""
    return _wishes(PreferenceDesk(application.log, application.clock).of(id))


@router.post(
    "/{id:path}/preferences",
    dependencies=needs("notifications:write"),
    responses=problems(400, 401, 403, 404, 409, 413, 422, 503),
)
def choose_preference(application: App, caller: By, id: Member, wish: Wish) -> Wishes:
    """Note a wish of a member; the same again changes nothing."""
    desk, subject = PreferenceDesk(application.log, application.clock), Subject(wish.type, wish.channel)
    if wish.enabled is None:
        desk.clear(id, subject, by=caller.by)
    else:
        require_subject(application, subject)
        desk.choose(id, subject, enabled=wish.enabled, by=caller.by)
    return _wishes(desk.of(id))


@router.get("/{id:path}/devices", dependencies=needs("read"), responses=problems(401, 403, 404, 422, 503))
def list_devices(application: App, id: Member) -> list[RegisteredDevice]:
    """List the devices of a member, the newest first."""
    names = RegisteredDevice.model_fields
    return [
        RegisteredDevice(**{name: row[name] for name in names if name in row})
        for row in device_desk(application).of(id)
    ]


@router.post(
    "/{id:path}/devices",
    status_code=201,
    dependencies=needs("notifications:write"),
    responses=problems(400, 401, 403, 404, 409, 413, 422, 503),
)
def register_device(application: App, id: Member, form: DeviceForm) -> RegisteredDevice:
    """Register a device of a member; the same again is the same device."""
    device = device_desk(application).register(id, form.platform, form.subscription)
    return RegisteredDevice(device=id_of(device.stream), platform=form.platform, registered_at=device.registered_at)


@router.delete(
    "/{id:path}/devices/{device}",
    dependencies=needs("notifications:write"),
    responses=problems(401, 403, 404, 409, 422, 503),
)
def withdraw_device(application: App, caller: By, id: Member, device: str) -> Withdrawal:
    """Send no more pushes to a device of a member."""
    return Withdrawal(was_registered=device_desk(application).withdraw(id, device, by=caller.by))


def _wishes(known: Preferences) -> Wishes:
    wishes = [
        Wish(type=subject.type, channel=subject.channel, enabled=known.choices[subject].enabled)
        for subject in sorted(known.choices)
    ]
    return Wishes(preferences=wishes)
