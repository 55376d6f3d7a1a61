"""JSON lines: every line is read or refused with its number, and no line is held that is too long."""

from __future__ import annotations

import gzip
import io
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from adapters.ingestion.json_lines import Item, opened, read_items, read_line
from domain.errors import InvalidInput

EVENT = {
    "id": "1",
    "source": "test",
    "type": "member.registered",
    "time": "2026-05-01T10:00:00+02:00",
    "data": {"member_id": "m1", "name": "Mia"},
}
LINE = json.dumps(EVENT).encode()


def items(content: bytes, longest: int = 1_000) -> list[Item]:
    return list(read_items(io.BytesIO(content), longest))


def told(item: Item) -> list[str]:
    return [str(mistake) for mistake in item.mistakes]


def test_a_line_says_what_its_event_says() -> None:
    (item,) = items(LINE + b"\n")
    assert item.incoming is not None
    assert (item.number, item.source, item.id, item.type) == (1, "test", "1", "member.registered")
    assert item.incoming.data == {"member_id": "m1", "name": "Mia"}


def test_a_mark_at_the_beginning_blank_lines_and_foreign_line_ends_change_nothing() -> None:
    content = b"\xef\xbb\xbf" + LINE + b"\r\n\r\n  \t\n" + LINE
    assert [item.number for item in items(content)] == [1, 4]
    assert all(item.incoming is not None for item in items(content))


def test_a_mark_anywhere_else_is_no_json() -> None:
    first, second = items(LINE + b"\n\xef\xbb\xbf" + LINE)
    assert first.incoming is not None
    assert second.incoming is None


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b'{"id": "1", "da', "this is not JSON: EOF while parsing"),
        (b"", None),
        (b"\x00\x00", "this is not JSON: expected value at character 1"),
        (b'{"id": "a\x00"}', "this is not JSON: control character"),
        (b'{"id": "\xff"}', "is not UTF-8: byte 9 cannot be read"),
        (b'{"id": "\xed\xa0\x80"}', "is not UTF-8: byte 9 cannot be read"),
        (b'{"id": "\\ud800"}', "this is not JSON"),
        (b'{"id": "\\udc00"}', "this is not JSON"),
        (b'{"id": NaN}', "this is not JSON: expected value at character 8"),
        (b'{"id": Infinity}', "this is not JSON"),
        (b'{"id": 1} {"id": 2}', "this is not JSON: trailing characters"),
        (b'{"id": "1", "id": "2"}', "the name 'id' stands twice in one object"),
        (b'{"data": {"a": [{"b": 1, "b": 1}]}}', "the name 'b' stands twice in one object"),
        (b"[" * 900, "this is not JSON: recursion limit exceeded"),
        (b'{"a":' * 150 + b"1" + b"}" * 150, "id: Field required"),
        (b"[1, 2]", "an event must be a JSON object, not [1, 2]"),
        (b'"text"', "an event must be a JSON object, not 'text'"),
        (b"null", "an event must be a JSON object, not None"),
        (b"9" * 990, "an event must be a JSON object"),
    ],
)
def test_what_is_no_event_is_refused_in_words(line: bytes, fault: str | None) -> None:
    found = items(line + b"\n" + LINE)
    if fault is not None:
        assert told(found[0])[0].startswith(fault)
        assert found[0].number == 1
    assert found[-1].number == 2
    assert found[-1].incoming is not None, "a bad line takes no other with it"


@pytest.mark.parametrize("digits", [400, 4_000, 6_000])
def test_enormous_numbers_are_refused_and_break_nothing(digits: int) -> None:
    wrong = json.dumps({**EVENT, "type": "booking.changed", "data": {"booking_id": "b1", "attendees": 0}})
    item = read_line(1, wrong.replace('"attendees": 0', f'"attendees": {"9" * digits}').encode())
    assert item.incoming is None
    assert max(map(len, told(item))) < 300


def test_every_fault_of_a_line_is_named_at_once() -> None:
    data = {"booking_id": "", "starts_at": "2026-05-12T10:00:00", "price": 18.5, "attendees": "many"}
    item = read_line(7, json.dumps({"id": "1", "type": "booking.created", "data": data}).encode())
    places = {".".join(map(str, mistake.path)) for mistake in item.mistakes}
    assert places >= {
        "source",
        "time",
        "data.booking_id",
        "data.starts_at",
        "data.price",
        "data.attendees",
        "data.resource_id",
        "data.member_id",
        "data.ends_at",
    }


def test_what_could_be_read_of_a_refused_event_is_told() -> None:
    item = read_line(3, json.dumps({**EVENT, "time": "2026-05-01T10:00:00"}).encode())
    assert (item.source, item.id, item.type) == ("test", "1", "member.registered")
    assert told(item) == ["time: 2026-05-01T10:00:00 has no offset: write it like 2026-05-12T10:00:00+02:00"]


@pytest.mark.parametrize("ending", [b"", b"\n", b"\r\n"])
def test_a_line_may_be_exactly_as_long_as_the_limit(ending: bytes) -> None:
    longest = len(LINE)
    assert items(LINE + ending, longest)[0].incoming is not None
    (refused,) = items(LINE + b" " + ending, longest)
    assert told(refused) == [f"is longer than {longest} bytes (the setting longest_line)"]


class Endless(io.RawIOBase):
    """Bytes that never touch a disk or stay in memory: one short line, one of 100 MB, one short one."""

    def __init__(self) -> None:
        self._parts = [LINE + b"\n", *([b"x" * 1_000_000] * 100), b"\n", LINE + b"\n"]

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._parts:
            return 0
        taken, self._parts[0] = self._parts[0][: len(buffer)], self._parts[0][len(buffer) :]
        if not self._parts[0]:
            del self._parts[0]
        buffer[: len(taken)] = taken
        return len(taken)


def test_a_line_of_100_mb_is_refused_without_being_held() -> None:
    tracemalloc.start()
    found = list(read_items(io.BufferedReader(Endless()), 100_000))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [(item.number, item.incoming is not None) for item in found] == [(1, True), (2, False), (3, True)]
    assert peak < 5_000_000


def test_packed_files_are_unpacked_on_the_way(tmp_path: Path) -> None:
    packed = tmp_path / "events.jsonl.gz"
    packed.write_bytes(gzip.compress(LINE + b"\n" + LINE))
    with opened(str(packed)) as lines:
        assert len(list(lines.items())) == 2
        assert lines.size == lines.bytes_read() == packed.stat().st_size


def test_a_small_packed_file_cannot_fill_the_memory(tmp_path: Path) -> None:
    packed = tmp_path / "bomb.gz"
    with gzip.open(packed, "wb", compresslevel=1) as writer:
        for _ in range(50):
            writer.write(b"0" * 1_000_000)
    tracemalloc.start()
    with opened(str(packed)) as lines:
        (item,) = lines.items(100_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert item.incoming is None
    assert peak < 5_000_000


def test_a_packed_file_that_breaks_off_says_where(tmp_path: Path) -> None:
    broken = tmp_path / "events.gz"
    broken.write_bytes(gzip.compress(b"\n".join([LINE] * 3))[:-9])
    with opened(str(broken)) as lines:
        found = list(lines.items())
    assert "breaks off here" in told(found[-1])[0]
    assert all(item.incoming is not None for item in found[:-1])


def test_a_packed_file_with_rubbish_in_it_is_refused_where_it_begins(tmp_path: Path) -> None:
    broken = tmp_path / "events.gz"
    content = bytearray(gzip.compress(b"\n".join([LINE] * 3)))
    content[20:40] = b"\xff" * 20
    broken.write_bytes(content)
    with opened(str(broken)) as lines:
        assert "breaks off here" in told(list(lines.items())[-1])[0]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_file_in_another_encoding_is_refused_as_a_whole(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(("\ufeff" + LINE.decode()).encode(encoding))
    with pytest.raises(InvalidInput, match="is written in UTF-16: save it as UTF-8"), opened(str(path)):
        pass


@pytest.mark.parametrize("name", ["missing.jsonl", "."])
def test_what_cannot_be_opened_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput, match=rf"^{name}: "), opened(name):
        pass
