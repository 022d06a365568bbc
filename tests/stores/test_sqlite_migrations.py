"""What is left when a migration does not come to its end? The old form or the new one (R19)."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

import apsw
import pytest

from holdfast.domain.bases import BaseSettings
from holdfast.domain.ids import BaseId
from holdfast.machine.disk import FolderDisk
from holdfast.machine.threads import Threads
from holdfast.stores.sqlite import migrations
from holdfast.stores.sqlite.connection import Session, prepare
from holdfast.stores.sqlite.main import FILE, SqliteMain
from holdfast.stores.sqlite.queries import queries
from tests.stores.main_worlds import HeardBells, SetClock
from tests.stores.processes import python, says

# A second form for these tests: it rebuilds a table, fills a column and adds one.
SECOND = """
CREATE TABLE renewed (id TEXT PRIMARY KEY, name TEXT NOT NULL, loud TEXT NOT NULL) STRICT;
INSERT INTO renewed SELECT id, name, upper(name) FROM bases;
CREATE INDEX renewed_loud ON renewed (loud);
ALTER TABLE bases ADD COLUMN note TEXT;
UPDATE bases SET note = 'renewed';
"""
OLD = migrations.newest()
NEW = OLD + 1
ROWS = 300

MIGRATE = """
import sys
from pathlib import Path
from holdfast.machine.disk import FolderDisk
from holdfast.machine.threads import Threads
from holdfast.stores.sqlite import migrations
from holdfast.stores.sqlite.main import SqliteMain
from holdfast.machine.clock import SystemClock
class Quiet:
    def ready(self, lanes): ...
    def cancelled(self, jobs): ...
    def ended(self): ...
known = migrations.migrations()
second = Path(sys.argv[2]).read_text()
migrations.migrations = lambda: (*known, (known[-1][0] + 1, second))
print("go", flush=True)
SqliteMain(FolderDisk(Path(sys.argv[1])), SystemClock(), Threads(), Quiet())
print("done", flush=True)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder in the old form, with rows."""
    old = tmp_path / "old"
    main = SqliteMain(FolderDisk(old), SetClock(), Threads(), HeardBells())
    with main.write() as tx:
        for number in range(ROWS):
            tx.insert_base(BaseId(f"b{number}"), BaseSettings("n", search_mode="keyword"))
    main.close()
    return old


@pytest.fixture
def two_forms(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on there is a second form; the folder was made before."""
    both = (*migrations.migrations(), (NEW, SECOND))
    monkeypatch.setattr(migrations, "migrations", lambda: both)


def form(folder: Path) -> int:
    """Which form it has; whatever it is, it is that form altogether."""
    connection = apsw.Connection(str(folder / FILE))
    try:
        version: int = connection.pragma("user_version")
        columns = {row[1] for row in connection.execute("PRAGMA table_info(bases)")}
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema")}
        check = connection.pragma("integrity_check")
        assert check == "ok"
        assert ("note" in columns) == ("renewed" in tables) == (version == NEW)
        if version == NEW:
            found = connection.execute(
                "SELECT count(*), (SELECT count(*) FROM renewed) FROM bases WHERE note = 'renewed'"
            ).fetchall()
            assert found == [(ROWS, ROWS)]
        return version
    finally:
        connection.close()


def statements(folder: Path) -> Iterator[int]:
    """One by one, the statements of a migration that fail; ends when none is left to fail."""
    for number in range(1_000):
        seen = 0

        def fail(_cursor: apsw.Cursor, _sql: str, _bindings: object) -> bool:
            nonlocal seen
            seen += 1
            if seen == number + 1:  # noqa: B023  (used up within the loop's turn)
                raise apsw.FullError("planted")
            return True

        connection = FolderDisk(folder).connect(FILE)
        prepare(connection, "as_writer")
        connection.exec_trace = fail
        try:
            migrations.migrate(Session(connection, queries("queue")))
        except apsw.FullError:
            yield number
            continue
        finally:
            connection.exec_trace = None
            connection.close()
        return


@pytest.mark.usefixtures("two_forms")
def test_a_migration_that_fails_at_any_statement_leaves_the_old_form(folder: Path) -> None:
    failed = 0
    for _number in statements(folder):
        failed += 1
        assert form(folder) == OLD

    assert failed >= SECOND.count(";") + 2
    assert form(folder) == NEW


@pytest.mark.usefixtures("two_forms")
def test_a_first_migration_that_fails_at_any_statement_leaves_an_empty_file(tmp_path: Path) -> None:
    for _number in statements(tmp_path):
        connection = apsw.Connection(str(tmp_path / FILE))
        version: int = connection.pragma("user_version")
        tables = len(connection.execute("SELECT name FROM sqlite_schema").fetchall())
        connection.close()
        assert (version > 0) == (tables > 0)

    assert main_opens(tmp_path)


@pytest.mark.parametrize(
    "kills", [6, pytest.param(60, marks=[pytest.mark.slow, pytest.mark.timeout(300)])]
)
@pytest.mark.usefixtures("two_forms")
def test_a_killed_migration_leaves_the_old_form_or_the_new(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, kills: int
) -> None:
    longer = folder / "second.sql"
    longer.write_text(made_longer(SECOND))
    whole = migrated_and_killed(tmp_path_factory.mktemp("whole"), folder, after=None)
    chance = random.Random(kills)
    forms = [
        form(killed)
        for killed in (tmp_path_factory.mktemp("killed") for _ in range(kills))
        if migrated_and_killed(killed, folder, after=chance.random() * 1.2 * whole)
    ]

    assert set(forms) <= {OLD, NEW}
    assert all(main_opens(killed) for killed in tmp_path_factory.getbasetemp().glob("killed*"))


def made_longer(migration: str) -> str:
    """The same in the end, but long enough that kills fall inside."""
    body, mark, tail = migration.partition("CREATE INDEX")
    fill = "INSERT INTO renewed SELECT id || '-{}', name, hex(randomblob(400)) FROM bases;\n"
    empty = "DELETE FROM renewed WHERE id NOT IN (SELECT id FROM bases);\n"
    return body + "".join(fill.format(number) for number in range(40)) + empty + mark + tail


def migrated_and_killed(to: Path, old: Path, after: float | None) -> float:
    """A copy of the old folder is migrated in a process of its own; the seconds it had."""
    shutil.copy(old / FILE, to / FILE)
    with python(MIGRATE, to, old / "second.sql") as process:
        assert says(process) == "go"
        began = monotonic()
        if after is None:
            assert says(process) == "done"
        else:
            sleep(after)
        return monotonic() - began


def main_opens(folder: Path) -> bool:
    main = SqliteMain(FolderDisk(folder), SetClock(), Threads(), HeardBells())
    with main.read() as snapshot:
        found = snapshot.bases() is not None
    main.close()
    return found
