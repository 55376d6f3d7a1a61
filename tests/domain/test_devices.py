"""Devices are registered and withdrawn once, and a dead registration ends no newer one (delivery trials J)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from domain.devices import Device, device_of, device_stream, invalidated, registered, withdrawn

AT = datetime(2026, 8, 8, 12, tzinfo=UTC)
SALT = b"salt"
STREAM = device_stream("web", "https://push.example/1", SALT)


def register(before: Device, member: str = "m1", keys: str = "one") -> Device:
    for event in registered(before, member, "web", keys, at=AT, salt=SALT):
        before = before.after(event)
    return before


def test_a_device_is_known_by_a_hash_that_says_nothing() -> None:
    assert "push.example" not in STREAM
    assert len({STREAM, device_stream("web", "https://push.example/1", b"x"), device_stream("ios", "t", SALT)}) == 3


def test_the_same_registration_again_changes_nothing() -> None:
    device = register(Device(STREAM))
    assert device.is_reachable
    assert registered(device, "m1", "web", "one", at=AT + timedelta(days=1), salt=SALT) == []


def test_new_keys_or_another_member_are_another_registration() -> None:
    device = register(Device(STREAM))
    assert register(device, keys="two").registration == 2
    assert register(device, "m2").member == "m2"


def test_it_is_withdrawn_once_and_can_come_back() -> None:
    device = register(Device(STREAM))
    [event] = withdrawn(device, at=AT, by="m1")
    gone = device.after(event)
    assert not gone.is_reachable
    assert withdrawn(gone, at=AT) == []
    assert register(gone).is_reachable


def test_j1_what_a_push_service_says_ends_the_registration_that_it_is_about_and_no_other() -> None:
    device = register(Device(STREAM))
    [event] = invalidated(device, registration=1, delivery="d1", at=AT)
    gone = device.after(event)
    assert (gone.invalidated_at, gone.is_reachable) == (AT, False)
    assert invalidated(gone, registration=1, delivery="d2", at=AT) == []
    anew = register(device, keys="two")
    assert invalidated(anew, registration=1, delivery="d1", at=AT) == []


def test_a_device_folds_from_its_events() -> None:
    [event] = registered(Device(STREAM), "m1", "web", "one", at=AT, salt=SALT)
    assert device_of(STREAM, [event]) == register(Device(STREAM))
