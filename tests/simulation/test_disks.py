"""Both disks: what a crash keeps, and what a power cut may take."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import apsw
import pytest

from holdfast.domain.errors import Unavailable
from holdfast.testing.disks import MemoryDisk
from holdfast.testing.file_disk import FileDisk

Disk = MemoryDisk | FileDisk


def memory(_: Path) -> Disk:
    return MemoryDisk(watched=("main.db",))


def files(folder: Path) -> Disk:
    return FileDisk(folder)


@pytest.fixture(params=[memory, files])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Disk]:
    made: Callable[[Path], Disk] = request.param
    disk = made(tmp_path / "disk")
    yield disk
    disk.close()


def opened(disk: Disk, name: str = "main.db") -> apsw.Connection:
    connection = disk.connect(name)
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE IF NOT EXISTS row(n)")
    return connection


def rows(disk: Disk, name: str = "main.db") -> list[int]:
    return [n for (n,) in opened(disk, name).execute("SELECT n FROM row ORDER BY n")]


def insert(connection: apsw.Connection, *numbers: int) -> None:
    for n in numbers:
        connection.execute("INSERT INTO row VALUES (?)", (n,))


def test_a_file_that_is_missing_may_be_made_or_not(disk: Disk) -> None:
    with pytest.raises(Unavailable):
        disk.connect("main.db", create=False)
    with pytest.raises(Unavailable):
        disk.connect("main.db", readonly=True)

    opened(disk)

    assert disk.exists("main.db")
    disk.connect("main.db", create=False)


def test_files_are_listed_by_folder_and_removed(disk: Disk) -> None:
    for name in ("main.db", "index/a.db", "index/b.db"):
        opened(disk, name)

    assert disk.names("index") == ["index/a.db", "index/b.db"]
    disk.remove("index/a.db")
    disk.remove("index/a.db")
    assert disk.names("index") == ["index/b.db"]


def test_a_crash_keeps_what_was_committed_and_nothing_else(disk: Disk) -> None:
    connection = opened(disk)
    insert(connection, 1, 2)
    connection.execute("BEGIN IMMEDIATE")
    insert(connection, 3)

    disk.crash()

    assert rows(disk) == [1, 2]


def test_a_power_cut_keeps_what_was_synced_and_a_prefix_of_the_rest(tmp_path: Path) -> None:
    for make in (memory, files):
        seen = set()
        for seed in range(40):
            disk = make(tmp_path / f"{make.__name__}{seed}")
            connection = opened(disk)
            insert(connection, 1)
            disk.synced("main.db")
            insert(connection, 2)
            disk.committed("main.db")
            insert(connection, 3)

            disk.power_cut(Random(seed))

            seen.add(tuple(rows(disk)))
            disk.close()
        assert seen == {(1,), (1, 2), (1, 2, 3)}


def test_files_lose_their_commits_independently(tmp_path: Path) -> None:
    seen = set()
    for seed in range(40):
        disk = memory(tmp_path)
        for name in ("main.db", "index/a.db"):
            connection = opened(disk, name)
            disk.synced(name)
            insert(connection, 1)
        disk.power_cut(Random(seed))
        seen.add((len(rows(disk)), len(rows(disk, "index/a.db"))))

    assert seen == {(0, 0), (0, 1), (1, 0), (1, 1)}


def test_a_template_makes_opening_cheap() -> None:
    first = MemoryDisk()
    insert(opened(first), 7)
    template = first.files["main.db"].image()

    assert rows(MemoryDisk({"main.db": template})) == [7]


def test_a_watched_file_tells_of_its_open_transaction() -> None:
    disk = MemoryDisk(watched=("main.db",))
    connection = opened(disk)
    assert disk.open_transaction() is None

    connection.execute("BEGIN IMMEDIATE")

    assert disk.open_transaction() == "main.db"


def test_a_reader_of_an_unwatched_file_keeps_its_snapshot() -> None:
    disk = MemoryDisk(watched=("main.db",))
    writer = opened(disk, "index/a.db")
    insert(writer, 1)
    reader = disk.connect("index/a.db", readonly=True)
    insert(writer, 2)

    assert list(reader.execute("SELECT n FROM row")) == [(1,)]
