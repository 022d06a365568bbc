"""What happens when there is no room left, at any write? Real SQLITE_FULL, at every one in turn.

A scenario is run once to count its write transactions, then once for each: from that transaction on
the file may not grow. Pages are small, so that nearly every write needs a new one. The room comes
back while the engine tries again, or after the user was told.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import apsw
import pytest

from holdfast import Directory, HoldfastError, Note, assembly
from holdfast.interfaces.library import Holdfast
from holdfast.machine.disk import FolderDisk
from tests.stores.main_worlds import CAPS_OF_VIOLATIONS

SMALL_PAGES = 512
UNLIMITED = (1 << 32) - 2
TRIES = 4  # write transactions that find the disk full before room comes back by itself
LONGER_THAN_ANY_PAUSE = 4_000.0


@dataclass(slots=True)
class Tide:
    """When the disk is full: from the n-th write transaction of the files of one kind."""

    kind: str = "nothing"
    at: int = 0
    tries: int = TRIES
    seen: int = 0
    refused: int = 0

    def begins(self, name: str, connection: apsw.Connection) -> None:
        """A write transaction of this file is about to begin."""
        if not name.startswith(self.kind):
            return
        self.seen += 1
        full = 0 < self.at <= self.seen < self.at + self.tries
        limit = connection.pragma("page_count") if full else UNLIMITED
        connection.pragma("max_page_count", limit)

    def ebb(self) -> None:
        """There is room again."""
        self.at = 0


class NarrowDisk(FolderDisk):
    """Files of small pages that may stop growing."""

    def __init__(self, folder: Path, tide: Tide) -> None:
        super().__init__(folder)
        self.tide = tide

    def connect(self, name: str, *, readonly: bool = False, create: bool = True) -> apsw.Connection:
        connection = super().connect(name, readonly=readonly, create=create)
        if readonly:
            return connection
        connection.pragma("page_size", SMALL_PAGES)

        def trace(cursor: apsw.Cursor, sql: str, _bindings: object) -> bool:
            if sql.startswith("BEGIN IMMEDIATE"):
                self.tide.begins(name, cursor.connection)
            return True

        connection.exec_trace = trace
        return connection


class SpringClock:
    """The real time, and what a test has wound it on by."""

    ahead = 0.0

    def wall(self) -> float:
        return time.time() + self.ahead

    def mono(self) -> float:
        return time.monotonic() + self.ahead


@dataclass(slots=True)
class Flood:
    """One run of the scenario on one tide."""

    folder: Path
    tide: Tide
    clock: SpringClock
    kb: Holdfast
    told: list[str]

    def ask(self, step: Callable[[Holdfast], object]) -> None:
        """As a user does: what is refused is asked for again when there is room."""
        while True:
            try:
                step(self.kb)
                return
            except HoldfastError as error:
                self.told.append(refusal(error))
                assert violations(self.kb) == []
                self.tide.ebb()

    def work(self) -> None:
        """Everything that is due and what will be: nobody asks for it twice."""
        for _ in range(6):
            self.ask(lambda kb: kb.drain(due_only=True))
            self.clock.ahead += LONGER_THAN_ANY_PAUSE


@contextmanager
def flooded(folder: Path, tide: Tide, monkeypatch: pytest.MonkeyPatch) -> Iterator[Flood]:
    clock = SpringClock()
    monkeypatch.setattr(assembly, "FolderDisk", lambda folder: NarrowDisk(folder, tide))
    monkeypatch.setattr(assembly, "SystemClock", lambda: clock)
    told: list[str] = []
    kb = opened(folder, tide, told)
    try:
        yield Flood(folder, tide, clock, kb, told)
    finally:
        kb.close()


def refusal(error: HoldfastError) -> str:
    """The one a user can meet here, typed."""
    assert error.code == "disk_full", error
    return str(error)


def opened(folder: Path, tide: Tide, told: list[str]) -> Holdfast:
    try:
        return Holdfast.open(folder, run=False)
    except HoldfastError as error:
        told.append(refusal(error))
        tide.ebb()
        return Holdfast.open(folder, run=False)


def scenario(flood: Flood, sources: Path) -> None:
    """Create, add notes and a folder, index, update, re-index, delete, delete the base."""
    made: dict[str, str] = {}

    def create(kb: Holdfast, name: str) -> None:
        if name not in made:
            made[name] = kb.create_base(name, embedding_model="hash/16").id

    def add(kb: Holdfast, number: int) -> None:
        key = f"note {number}"
        (note,) = kb.add(made["b"], [Note(text_of(number))], idempotency_key=key).created
        made[key] = note.id

    flood.ask(lambda kb: create(kb, "b"))
    for number in range(5):
        flood.ask(lambda kb, number=number: add(kb, number))  # type: ignore[misc]
    flood.ask(lambda kb: kb.add(made["b"], [Directory(str(sources))], idempotency_key="folder"))
    flood.work()
    flood.ask(lambda kb: kb.update(made["note 0"], content=text_of(50)))
    flood.ask(lambda kb: kb.reindex([made["note 1"]]))
    flood.work()
    everything_is_there(flood.kb, made["b"], 5 + 1 + 3)
    flood.ask(lambda kb: kb.delete(made["note 2"]))
    flood.work()
    assert len(flood.kb.items(made["b"], parent="*", include_deleting=True).items) == 5 + 3
    flood.ask(lambda kb: create(kb, "other"))
    flood.ask(lambda kb: kb.delete_base(made["b"]) if kb.bases()[0].id == made["b"] else None)
    flood.work()
    assert [base.id for base in flood.kb.bases()] == [made["other"]]
    everything_is_gone(flood.kb, made["b"])


def text_of(number: int) -> str:
    return " ".join(f"word{number}x{n}" for n in range(60))


def everything_is_there(kb: Holdfast, base: str, count: int) -> None:
    items = kb.items(base, parent="*").items
    assert [item.error for item in items if item.error] == []
    assert len([item for item in items if item.status == "completed"]) == count
    assert [hit.content[:9] for hit in kb.search("word50x3", bases=base).hits][:1] == ["word50x0 "]
    assert kb.doctor(repair=True) == []


def everything_is_gone(kb: Holdfast, base: str) -> None:
    with kb._kb.main.read() as snapshot:
        assert base not in [one.id for one in snapshot.bases(include_deleting=True)]
        assert not snapshot.work_coming()
    assert base not in kb._kb.index.bases()
    assert (
        kb.doctor(repair=True) == []
    )  # nobody sweeps here: an index may be left of a refused base


def violations(kb: Holdfast) -> list[str]:
    with kb._kb.main.read() as snapshot:
        found = snapshot.violations(CAPS_OF_VIOLATIONS)
    return [f"{one.invariant}: {one.subject}" for one in found]


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "sources"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.txt").write_text(text_of(100 + number))
    return folder


def run(folder: Path, sources: Path, tide: Tide, monkeypatch: pytest.MonkeyPatch) -> Flood:
    with flooded(folder, tide, monkeypatch) as flood:
        scenario(flood, sources)
    assert violations_on_disk(folder, monkeypatch) == []
    return flood


def violations_on_disk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    with flooded(folder, Tide(), monkeypatch) as flood:
        return violations(flood.kb)


@pytest.mark.parametrize("kind", ["holdfast.db", "index/"])
@pytest.mark.parametrize(
    "step", [12, pytest.param(1, marks=[pytest.mark.slow, pytest.mark.timeout(600)])]
)
def test_no_room_at_any_write_is_told_and_loses_nothing(
    tmp_path: Path, sources: Path, monkeypatch: pytest.MonkeyPatch, kind: str, step: int
) -> None:
    whole = Tide(kind)
    run(tmp_path / "whole", sources, whole, monkeypatch)
    told = 0
    for at in range(1, whole.seen + 1, step):
        flood = run(tmp_path / f"kb{at}", sources, Tide(kind, at), monkeypatch)
        told += bool(flood.told)

    assert whole.seen > 10
    assert told > 0
