"""Do the statements that run all the time find their rows by an index?

SQLite is asked for its plan. A statement that walks through all items or all jobs is as fast as any
other on the day it is written, and holds the only writer for seconds a year later.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from holdfast.machine.disk import FolderDisk
from holdfast.machine.threads import Threads
from holdfast.stores.sqlite.main import SqliteMain
from holdfast.stores.sqlite.queries import queries
from tests.stores.main_worlds import HeardBells, SetClock

FILES = ("catalog", "queue", "ledger")

# Each walks through something that is small by its nature; who stands here says what.
WALKS = {
    "items INDEXED BY items_active": "jobless: what is at work now; once a minute",
    "items INDEXED BY items_deleting": "what is being deleted now",
    "jobs INDEXED BY jobs_running": "at most as many as there are slots, 64 of a bundle each",
    "jobs INDEXED BY jobs_parked": "work that waits for a person; counted once a page of a folder",
    "jobs INDEXED BY jobs_of_base": "counts of unfinished jobs, read from the index alone",
}

# The claim, the ring, delayed jobs, the roll-up, lists, moves: by the index that was made for them.
EXPECTED = {
    "waiting_bases": "SEARCH jobs USING COVERING INDEX jobs_ready (lane=? AND base_id>?",
    "heads": "SEARCH jobs USING INDEX jobs_ready (lane=? AND base_id=? AND large=?",
    "solo": "SEARCH jobs USING INDEX jobs_solo",
    "give_up_dead": "SEARCH jobs USING INDEX jobs_solo",
    "claim_jobs": "SEARCH jobs USING INTEGER PRIMARY KEY",
    "finish_jobs": "SEARCH jobs USING INTEGER PRIMARY KEY",
    "wake_due": "SEARCH jobs USING COVERING INDEX jobs_later (lane=? AND run_at<?)",
    "next_due": "SEARCH jobs USING COVERING INDEX jobs_later (lane=?)",
    "running": "SEARCH jobs USING INDEX jobs_running (lane=?)",
    "jobs_of_item": "SEARCH jobs USING INDEX jobs_of_item (item_id=?)",
    "cancel_waiting_of_items": "SEARCH jobs USING INDEX jobs_of_item (item_id=?)",
    "roll_up_facts": "SEARCH items USING COVERING INDEX items_inside (parent_id=? AND status=?)",
    "move_items": "SEARCH items USING INDEX sqlite_autoindex_items_1 (id=?)",
    "set_published": "SEARCH items USING INDEX sqlite_autoindex_items_1 (id=?)",
    "list_inside": "SEARCH items USING INDEX items_listed (base_id=? AND parent_id=? AND",
    "list_everywhere": "SEARCH items USING INDEX items_everywhere (base_id=? AND",
    "masked": "SEARCH items USING INDEX items_of_base (base_id=? AND status=?)",
    "published": "SEARCH items USING INDEX sqlite_autoindex_items_1 (id=?)",
    "unfinished": "SCAN jobs USING COVERING INDEX jobs_of_base",
    "standing_of": "SEARCH items USING INDEX sqlite_autoindex_items_1 (id=?)",
    "children_by_key": "SEARCH items USING INDEX items_source (parent_id=? AND source_key=?)",
    "subtree": "SEARCH items USING",
    "deleting_roots_alone": "SCAN items USING INDEX items_deleting",
}


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[apsw.Connection]:
    folder: Path = tmp_path_factory.mktemp("plans")
    main = SqliteMain(FolderDisk(folder), SetClock(), Threads(), HeardBells())
    yield main._db.writer.connection
    main.close()


class AnyValue(dict[str, object]):
    def __missing__(self, name: str) -> None:
        return None


def plan_of(connection: apsw.Connection, statement: str) -> list[str]:
    rows = connection.execute(f"EXPLAIN QUERY PLAN {statement}", AnyValue())
    return [str(row[3]) for row in rows]


def walks(plan: list[str]) -> list[str]:
    """The steps that go through a whole table or a whole index of items or jobs."""
    named = [
        step.removeprefix("SCAN ").replace("USING COVERING INDEX", "INDEXED BY")
        for step in plan
        if step.startswith(("SCAN items", "SCAN jobs"))
    ]
    return [one.replace("USING INDEX", "INDEXED BY") for one in named]


STATEMENTS = {
    name: statement
    for file in FILES
    for name, statement in queries(file).items()
    if not name.endswith("_columns")
}


@pytest.mark.parametrize("name", sorted(STATEMENTS))
def test_no_statement_walks_through_all_items_or_all_jobs(
    connection: apsw.Connection, name: str
) -> None:
    found = walks(plan_of(connection, STATEMENTS[name]))

    assert [one for one in found if one not in WALKS] == []


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_hot_statement_uses_the_index_made_for_it(connection: apsw.Connection, name: str) -> None:
    plan = plan_of(connection, STATEMENTS[name])

    assert any(step.startswith(EXPECTED[name]) for step in plan), plan


@pytest.mark.parametrize("name", ["list_inside", "list_everywhere", "heads"])
def test_pages_come_in_the_order_of_an_index(connection: apsw.Connection, name: str) -> None:
    plan = plan_of(connection, STATEMENTS[name])

    assert not [step for step in plan if "TEMP B-TREE" in step], plan


def test_a_walk_is_seen(connection: apsw.Connection) -> None:
    assert walks(plan_of(connection, "SELECT * FROM items WHERE name = 'x'")) == ["items"]
    assert walks(plan_of(connection, "SELECT count(*) FROM jobs WHERE reason = 'x'")) == ["jobs"]


BUILDS_BY_ITEM = {
    "seals_of": "SEARCH b USING INDEX build_standing (item=? AND claim=?)",
    "standing_build": "SEARCH build USING INDEX build_standing (item=? AND claim=?)",
    "builds_before": "SEARCH b USING INDEX build_by_item (item=? AND claim<?)",
    "builds_exactly": "SEARCH b USING INDEX build_by_item (item=? AND claim=?)",
    "rows_of_items": "SEARCH b USING INDEX build_standing (item=?)",
}


@pytest.mark.parametrize(("name", "by"), BUILDS_BY_ITEM.items())
def test_builds_of_an_item_are_found_by_their_index(name: str, by: str) -> None:
    connection = apsw.Connection(":memory:")
    connection.execute(queries("index_schema")["index_schema"])
    statement = {**queries("index"), **queries("index_search")}[name]

    assert [step for step in plan_of(connection, statement) if step.startswith(by)]
