"""When is a commit on the disk, and who pays? `durable` is one FULL commit for all who wait."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread
from time import monotonic, sleep

import apsw
import pytest

from holdfast.domain.errors import DiskFull
from holdfast.machine.disk import FolderDisk
from holdfast.machine.threads import Threads
from holdfast.stores.sqlite import main as main_store
from holdfast.stores.sqlite.main import SqliteMain
from tests.stores.main_worlds import HeardBells, SetClock

WAITERS = 8
PATIENCE = 20.0


class WatchedDisk(FolderDisk):
    """Notes every statement of the writer; the first sync can be held, or made to fail."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.said: list[str] = []
        self.before_sync: Callable[[], None] = lambda: None

    def connect(self, name: str, *, readonly: bool = False, create: bool = True) -> apsw.Connection:
        connection = super().connect(name, readonly=readonly, create=create)
        if not readonly:
            connection.exec_trace = self._note
        return connection

    def _note(self, _cursor: apsw.Cursor, sql: str, _bindings: object) -> bool:
        statement = " ".join(sql.split())
        if statement.startswith("UPDATE engine SET synced"):
            self.before_sync()
        self.said.append(statement)
        return True

    @property
    def full_commits(self) -> int:
        """Commits that waited for the disk."""
        full, count = False, 0
        for statement in self.said:
            if statement.startswith("PRAGMA synchronous"):
                full = statement.endswith("FULL")
            elif full and statement.startswith(("UPDATE", "INSERT", "DELETE", "COMMIT")):
                count += 1
        return count


@pytest.fixture
def disk(tmp_path: Path) -> WatchedDisk:
    return WatchedDisk(tmp_path)


@pytest.fixture
def main(disk: WatchedDisk) -> Iterator[SqliteMain]:
    made = SqliteMain(disk, SetClock(), Threads(), HeardBells())
    yield made
    made.close()


def test_a_commit_does_not_wait_for_the_disk_by_itself(main: SqliteMain, disk: WatchedDisk) -> None:
    with main.write() as tx:
        tx.wake()

    assert disk.full_commits == 0


def test_durable_is_one_full_commit(main: SqliteMain, disk: WatchedDisk) -> None:
    main.durable()

    assert disk.full_commits == 1


def test_after_it_commits_are_cheap_again(main: SqliteMain, disk: WatchedDisk) -> None:
    main.durable()
    with main.write() as tx:
        tx.wake()

    assert disk.full_commits == 1


def test_all_who_come_during_a_sync_share_the_next_one(main: SqliteMain, disk: WatchedDisk) -> None:
    under_way, go_on = Event(), Event()

    def hold() -> None:
        under_way.set()
        go_on.wait(PATIENCE)

    disk.before_sync = hold
    first = started(main.durable)
    assert under_way.wait(PATIENCE)
    others = [started(main.durable) for _ in range(WAITERS)]
    until(lambda: main._asked == WAITERS + 1)
    go_on.set()
    for thread in (first, *others):
        thread.join(PATIENCE)

    assert disk.full_commits == 2


def test_who_asks_while_the_first_one_gathers_shares_its_sync(
    main: SqliteMain, disk: WatchedDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(main_store, "GATHER", PATIENCE)
    threads = [started(main.durable) for _ in range(WAITERS)]
    until(lambda: main._asked == WAITERS)

    with main._gather:
        main._gather.notify_all()  # the millisecond is over
    for thread in threads:
        thread.join(PATIENCE)

    assert disk.full_commits == 1


def test_a_sync_under_way_is_not_enough_for_who_comes_later(
    main: SqliteMain, disk: WatchedDisk
) -> None:
    under_way, go_on, done = Event(), Event(), Event()

    def hold() -> None:
        under_way.set()
        go_on.wait(PATIENCE)

    def ask() -> None:
        main.durable()
        done.set()

    disk.before_sync = hold
    first = started(main.durable)
    assert under_way.wait(PATIENCE)
    second = started(ask)
    until(lambda: main._asked == 2)

    assert not done.is_set()
    go_on.set()
    first.join(PATIENCE)
    second.join(PATIENCE)
    assert disk.full_commits == 2


def test_eight_threads_pay_for_fewer_syncs_than_they_ask_for(
    main: SqliteMain, disk: WatchedDisk
) -> None:
    disk.before_sync = lambda: sleep(0.005)  # a slow disk
    rounds = 10

    def work() -> None:
        for _ in range(rounds):
            with main.write() as tx:
                tx.wake()
            main.durable()

    for thread in [started(work) for _ in range(WAITERS)]:
        thread.join(PATIENCE)

    assert rounds <= disk.full_commits < WAITERS * rounds


def test_a_failing_sync_is_told_and_does_not_stop_the_others(
    main: SqliteMain, disk: WatchedDisk
) -> None:
    under_way, go_on = Event(), Event()
    outcomes: list[str] = []

    def fail_once() -> None:
        disk.before_sync = lambda: None
        under_way.set()
        go_on.wait(PATIENCE)
        raise apsw.FullError("planted")

    def ask() -> None:
        try:
            main.durable()
            outcomes.append("durable")
        except DiskFull:
            outcomes.append("disk full")

    disk.before_sync = fail_once
    first = started(ask)
    assert under_way.wait(PATIENCE)
    second = started(ask)
    until(lambda: main._asked == 2)
    go_on.set()
    first.join(PATIENCE)
    second.join(PATIENCE)

    assert sorted(outcomes) == ["disk full", "durable"]
    assert disk.said.count("PRAGMA synchronous = NORMAL") == 3  # at the opening, after each try


def started(work: Callable[[], None]) -> Thread:
    thread = Thread(target=work, daemon=True)
    thread.start()
    return thread


def until(holds: Callable[[], bool]) -> None:
    deadline = monotonic() + PATIENCE
    while not holds():
        assert monotonic() < deadline
        sleep(0.001)
