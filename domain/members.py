"""Members: the people who book, pay and are written to."""

from __future__ import annotations

from domain.civil_time import Zone
from domain.fields import EmailAddress, Fields, Flag, Locale, PersonalText, PhoneNumber, Texts
from domain.ids import Id
from domain.nouns import FactType, Noun, define


class MemberFields(Fields):
    """What is told about a member; everything that names the person is personal."""

    member_id: Id | None = None
    name: PersonalText | None = None
    email: EmailAddress | None = None
    phone: PhoneNumber | None = None
    locale: Locale | None = None
    time_zone: Zone | None = None
    company: PersonalText | None = None
    tags: Texts | None = None
    staff: Flag | None = None
    erased: Flag | None = None


MEMBER = define(
    Noun(
        kind="member",
        fields=MemberFields,
        types={
            "member.registered": FactType(needs=("member_id", "name")),
            "member.changed": FactType(needs=("member_id",)),
            "member.erased": FactType(needs=("member_id",), sets={"erased": True}),
        },
    )
)
