"""`semel runs`, `why` and `dossiers` on what a worker did, on both databases."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adapters.cli.conftest import Semel, call, objects
from tests.adapters.cli.samples import RULES, WORLD, booking, event, no_show, write_lines, write_rules
from tests.databases import Databases

RUN = ["rule", "version", "trigger", "entity", "date", "key", "status", "at", "reason"]
"""The keys of a run, as the contract names them."""

FAILING = """
  - id: doomed
    when: booking.changed
    do:
      - grant_access: {door: "{{ resource.door }}", from: booking.ends_at, until: booking.starts_at}
"""


@pytest.fixture(scope="module")
def url(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A database on which a worker has worked; the tests only look at it."""
    with databases.fresh(blank=True) as url:
        work_on(url, tmp_path_factory.mktemp("worked"))
        yield url


def work_on(url: str, folder: Path) -> None:
    lines = [*WORLD, booking(2), booking(3), booking(4), no_show(3), no_show(3, again=1)]
    events = folder / write_lines(folder / "e.jsonl", *lines)
    rules = folder / write_rules(folder, RULES + FAILING)
    for command in (["init"], ["apply", str(rules)], ["ingest", str(events)], ["work", "--until-idle"]):
        call(*command, "--database", url)


def test_runs_have_the_keys_of_the_contract(semel: Semel, url: str) -> None:
    found = objects(semel("runs", "--json", "--database", url))
    assert [list(run) for run in found] == [RUN] * 3
    assert [(run["rule"], run["entity"], run["status"], run["date"]) for run in found] == [
        ("prepare", "booking/b3", "done", "2026-05-01"),
        ("prepare", "booking/b4", "done", "2026-05-01"),
        ("fee", "booking/b3", "done", "2026-05-01"),
    ]
    assert all(len(run["key"]) == 64 and run["at"].endswith("Z") for run in found)


def test_runs_can_be_picked_out(semel: Semel, url: str) -> None:
    def count(*options: str) -> int:
        return len(objects(semel("runs", "--json", "--database", url, *options)))

    assert count("--rule", "prepare") == 2
    assert count("--entity", "booking/b3") == 2
    assert count("--status", "done", "--status", "failed") == 3
    assert count("--status", "failed") == 0
    assert count("--rule", "fee", "--entity", "booking/b4") == 0
    assert "nothing ran that fits" in semel("runs", "--status", "failed", "--database", url).stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rule", "prepar"], "did you mean prepare?"),
        (["--entity", "b3"], "write its kind and its id, such as booking/b1"),
        (["--entity", "bocking/b3"], "did you mean booking?"),
        (["--status", "dun"], "'dun' is not one of"),
    ],
)
def test_what_cannot_be_meant_is_refused(semel: Semel, url: str, options: list[str], message: str) -> None:
    assert message in semel("runs", "--database", url, *options, exits=2).stderr


def test_a_table_in_a_pipe_is_plain_and_whole(semel: Semel, url: str) -> None:
    lines = semel("runs", "--database", url).stdout.splitlines()
    assert lines[0].split() == [name.upper() for name in RUN]
    assert len(lines) == 4
    assert "\x1b" not in "".join(lines)
    assert not any(line.endswith(" ") for line in lines)


def test_why_tells_what_ran_with_its_grounds_and_what_it_called(semel: Semel, url: str) -> None:
    told = semel("why", "booking/b3", "--database", url).stdout
    assert "done  Prepare the room (prepare, version 1)" in told
    assert "started by booking.created, event booking-3 of test" in told
    assert "true: booking.attendees is 3, wanted: at least 3" in told
    assert "tasks.create, attempt 1: done: task_id task-" in told


def test_why_tells_what_was_kept_from_repeating(semel: Semel, url: str) -> None:
    told = semel("why", "booking/b3", "--database", url).stdout
    assert "not run  fee, version 1, booking.no_show on 2026-05-01" in told
    assert " on 2026-05-01 (last looked at" in told.partition("already ")[2]


def test_why_tells_which_condition_said_no_with_the_value_it_saw(semel: Semel, url: str) -> None:
    told = semel("why", "booking/b2", "--database", url).stdout
    assert told.startswith("not run  prepare, version 1, booking.created on 2026-05-01")
    assert "booking.attendees is 2, wanted: at least 3" in told


def test_why_gives_programs_runs_alone(semel: Semel, url: str) -> None:
    found = objects(semel("why", "booking/b3", "--json", "--database", url))
    assert [list(run) for run in found] == [RUN] * 3
    assert sorted(run["status"] for run in found) == ["done", "done", "not run"]
    assert len({run["key"] for run in found}) == 2, "what was kept from repeating has the key of what it would repeat"


def test_why_of_what_is_not_known(semel: Semel, url: str) -> None:
    assert semel("why", "booking/b9", "--database", url).stdout == "nothing was ever recorded about booking/b9\n"
    assert semel("why", "space/mitte", "--database", url).stdout == "no rule has looked at space/mitte\n"
    assert objects(semel("why", "booking/b9", "--json", "--database", url)) == []
    assert "such as booking/b1" in semel("why", "b9", "--database", url, exits=2).stderr


def test_without_a_failure_no_dossier_is_open(semel: Semel, url: str) -> None:
    assert semel("dossiers", "--fail", "--database", url).stdout == "no dossier is open\n"
    assert objects(semel("dossiers", "--json", "--database", url)) == []


@pytest.fixture(scope="module")
def failed(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Such a database after two runs have failed for one reason."""
    folder = tmp_path_factory.mktemp("failed")
    changes = [event(f"c{number}", "booking.changed", {"booking_id": f"b{number}"}) for number in (2, 4)]
    with databases.fresh(blank=True) as url:
        work_on(url, folder)
        call("ingest", str(folder / write_lines(folder / "c.jsonl", *changes)), "--database", url)
        call("work", "--until-idle", "--database", url)
        yield url


def test_failures_of_one_cause_are_one_dossier(semel: Semel, failed: str) -> None:
    (found,) = objects(semel("dossiers", "--json", "--database", failed))
    assert found["runs"] == len(found["keys"]) == 2
    assert (found["service"], found["operation"], found["ending"]) == ("access", "access.grant", "refused")
    assert "would end before it begins" in found["reason"]
    assert semel("dossiers", "--database", failed).stdout.splitlines()[1].startswith(found["dossier"])


def test_open_dossiers_are_an_exit_code_where_that_is_wanted(semel: Semel, failed: str) -> None:
    semel("dossiers", "--database", failed)
    semel("dossiers", "--fail", "--database", failed, exits=1)
    semel("dossiers", "--fail", "--json", "--database", failed, exits=1)


def test_a_dossier_explains_itself(semel: Semel, failed: str) -> None:
    (found,) = objects(semel("dossiers", "--json", "--database", failed))
    told = semel("dossiers", "show", found["dossier"][:6], "--database", failed).stdout
    for part in (
        f"dossier {found['dossier']}: access.grant was refused",
        "the rule as it was:",
        "when: booking.changed",
        "started by booking.changed, event c2 of test",
        f"key {found['keys'][0]}",
        f"idempotency key {found['keys'][0]}/0",
        "door: d1",
        "access.grant, attempt 1: refused: access from",
    ):
        assert part in told
    stories = objects(semel("dossiers", "show", found["dossier"], "--json", "--database", failed))
    assert [list(story)[: len(RUN)] for story in stories] == [RUN] * 2
    assert stories[0]["attempts"][0]["idempotency_key"] == f"{found['keys'][0]}/0"


def test_a_dossier_that_is_not_meant_is_refused(semel: Semel, failed: str) -> None:
    assert "no dossier is called 'zzz'" in semel("dossiers", "show", "zzz", "--database", failed, exits=2).stderr


def test_projections_can_be_filled_again(semel: Semel, failed: str) -> None:
    before = [semel(*command, "--json", "--database", failed).stdout for command in (["runs"], ["dossiers"])]
    assert "filled again from" in semel("rebuild", "--database", failed).stdout
    after = [semel(*command, "--json", "--database", failed).stdout for command in (["runs"], ["dossiers"])]
    assert before == after


def test_a_list_that_is_behind_says_so(semel: Semel) -> None:
    semel("ingest", "-", given=json.dumps(WORLD[0]))
    result = semel("runs", "--json")
    assert "1 events were recorded since anybody worked: semel work --until-idle" in result.stderr
    assert objects(result) == []
