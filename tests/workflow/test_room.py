"""What happens when the disk is nearly full: intake stops, deletes work, all resumes alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from holdfast import HoldfastError, Note
from holdfast.domain.errors import DiskFull
from holdfast.domain.item_states import COMPLETED, PROCESSING
from holdfast.domain.items import Item
from holdfast.domain.jobs import Lane
from holdfast.stores.sqlite.main import SqliteMain
from holdfast.workflow.sweep import sweep
from tests.workflow.worlds import World

TOTAL = 100 << 30
PLENTY, LITTLE, NOTHING = 50 << 30, 2 << 30, 1 << 20


@dataclass
class SmallDisk:
    """The world's files on a disk of a chosen size."""

    files: Any
    left: int = PLENTY

    def free(self) -> tuple[int, int]:
        return self.left, TOTAL

    def __getattr__(self, name: str) -> Any:
        return getattr(self.files, name)


@pytest.fixture
def disk(world: World) -> SmallDisk:
    small = SmallDisk(world.engine.kb.files)
    world.engine.kb = replace(world.engine.kb, files=small)
    world.hf._kb = world.engine.kb
    return small


def delete_note(world: World, note: Item) -> None:
    world.hf.delete(note)


def delete_whole_base(world: World, _note: Item) -> None:
    world.hf.delete_base(world.base)


def reserve_of(world: World) -> int:
    path = world.folder / "kb" / "reserve"
    return path.stat().st_blocks * 512 if path.exists() else 0


def test_under_the_floor_an_add_is_refused_and_writes_nothing(
    world: World, disk: SmallDisk
) -> None:
    disk.left = LITTLE
    before = world.dump()

    with pytest.raises(DiskFull) as caught:
        world.note()

    assert caught.value.code == "disk_full"
    assert "min_free_percent" in str(caught.value)
    assert world.dump() == before


def test_under_the_floor_new_content_is_refused_and_equal_content_is_not(
    world: World, disk: SmallDisk
) -> None:
    note = world.done_note("as it was")
    disk.left = LITTLE

    world.hf.update(note, content="as it was")
    with pytest.raises(DiskFull):
        world.hf.update(note, content="other")


def test_under_the_floor_nothing_starts_and_says_why_and_all_resumes_alone(
    world: World, disk: SmallDisk
) -> None:
    note = world.note()
    disk.left = LITTLE

    with pytest.raises(DiskFull):
        world.step(Lane.INDEX)
    assert world.hf.explain(note).reason == "disk_full"
    assert world.status(note) is PROCESSING

    disk.left = PLENTY
    world.drain()
    assert world.status(note) is COMPLETED


def test_a_long_document_stops_at_its_next_page_and_waits(world: World, disk: SmallDisk) -> None:
    world.hf.update_base(world.base, chunk_size=32, chunk_overlap=0)
    note = world.note("word " * 40_000)
    world.models.on_call = lambda _texts: setattr(disk, "left", LITTLE)

    world.step(Lane.INDEX)

    assert world.jobs() == ["later"]
    assert world.hf.explain(note).reason == "disk_full"
    world.models.on_call = lambda _texts: None
    disk.left = PLENTY
    world.finish()
    assert world.status(note) is COMPLETED


def test_a_delete_works_on_a_full_disk(world: World, disk: SmallDisk) -> None:
    note = world.done_note()
    disk.left = NOTHING

    world.hf.delete(note)
    while world.step(Lane.URGENT):
        pass

    assert world.is_gone(note)


def test_the_reserve_stands_while_there_is_room_and_goes_when_there_is_none(
    world: World, disk: SmallDisk
) -> None:
    sweep(world.engine.kb)
    assert reserve_of(world) >= world.engine.kb.settings.reserve_bytes

    disk.left = NOTHING
    sweep(world.engine.kb)
    assert reserve_of(world) == 0

    disk.left = LITTLE  # room for deletes, not for a reserve that intake would eat
    sweep(world.engine.kb)
    assert reserve_of(world) == 0


@pytest.mark.parametrize("act", [delete_note, delete_whole_base])
def test_a_delete_that_finds_no_room_gets_the_reserve(
    world: World, disk: SmallDisk, monkeypatch: pytest.MonkeyPatch, act: Callable[..., None]
) -> None:
    note = world.done_note()
    sweep(world.engine.kb)
    write = SqliteMain.write

    def without_room(main: SqliteMain) -> Any:
        if reserve_of(world):
            raise DiskFull("no room to write holdfast.db")
        return write(main)

    monkeypatch.setattr(SqliteMain, "write", without_room)
    act(world, note)

    assert reserve_of(world) == 0
    assert world.found("lamp") == [] if world.hf.bases() else True
    with pytest.raises(HoldfastError):
        world.hf.chunks(note)


def test_an_empty_call_is_no_intake(world: World, disk: SmallDisk) -> None:
    disk.left = LITTLE

    assert world.hf.add(world.base, list[Note]()).created == ()
