"""Access: who may open which door, from when until when, and on account of what."""

from __future__ import annotations

from typing import Literal

from domain.fields import Fields, Moment, Text
from domain.ids import Id
from domain.nouns import FactType, Noun, define


class AccessFields(Fields):
    """What is told about a grant: it belongs to an entity, a door and a member."""

    access_id: Id | None = None
    entity: Text | None = None
    door: Text | None = None
    member_id: Id | None = None
    valid_from: Moment | None = None
    valid_until: Moment | None = None
    key: Text | None = None
    status: Literal["granted", "revoked"] | None = None


ACCESS = define(
    Noun(
        kind="access",
        fields=AccessFields,
        types={
            "access.granted": FactType(
                needs=("access_id", "entity", "door", "member_id", "valid_from", "valid_until"),
                sets={"status": "granted"},
            ),
            "access.revoked": FactType(needs=("access_id",), sets={"status": "revoked"}),
        },
    )
)
