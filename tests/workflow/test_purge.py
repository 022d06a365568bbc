"""When is the deleted text in no file any more?"""

from __future__ import annotations

import pytest

from holdfast import Note
from holdfast.workflow.purge import UNTIL_IDLE, Purges, purge_all, purges_due
from tests.workflow.conftest import MakeWorld
from tests.workflow.worlds import World

MARKER = "xyzzymarker"


def files_with(world: World, marker: str) -> list[str]:
    found = [path for path in world.folder.rglob("*") if path.is_file()]
    return [path.name for path in found if marker.encode() in path.read_bytes()]


def deleted(world: World) -> None:
    """A note with the marker, done and deleted."""
    note = world.done_note(f"The lamp hums, says the {MARKER}. " * 40)
    assert files_with(world, MARKER)
    world.hf.delete(note)
    world.drain()


def test_after_a_delete_a_purge_is_due_and_then_no_file_holds_the_text(world: World) -> None:
    deleted(world)
    assert purges_due(world.engine.kb) == [world.base.id, None]

    assert purge_all(world.engine.kb, 10.0)

    assert purges_due(world.engine.kb) == []
    assert files_with(world, MARKER) == []


def test_the_text_a_note_had_before_goes_too(world: World) -> None:
    note = world.hf.add(world.base, Note(f"The {MARKER} of before.", title="t")).created[0]
    world.drain()
    world.hf.update(note, content="Other words.")
    world.drain()

    assert purge_all(world.engine.kb, 10.0)

    assert files_with(world, MARKER) == []


def test_a_graceful_end_purges(world: World) -> None:
    deleted(world)

    world.reopen()

    assert files_with(world, MARKER) == []


def test_a_purge_that_a_crash_interrupted_is_still_due(world: World) -> None:
    deleted(world)

    world.crash()

    assert purges_due(world.engine.kb) == [world.base.id, None]


def test_an_idle_engine_purges_at_once(world: World) -> None:
    deleted(world)
    purges = Purges(world.engine.kb)
    purges.look()

    for _ in range(100):
        assert purges.pause() <= UNTIL_IDLE
        purges.work()
        if purges.pause() == float("inf"):
            break

    assert files_with(world, MARKER) == []


def test_a_busy_engine_purges_when_the_time_is_over(make_world: MakeWorld) -> None:
    world = make_world(purge_after=600)
    deleted(world)
    world.note("work that waits")
    purges = Purges(world.engine.kb)
    purges.look()

    purges.work()
    assert purges.pause() == UNTIL_IDLE
    assert purges_due(world.engine.kb)

    world.clock.advance(600)
    purges.look()
    while purges.pause() != float("inf"):
        purges.work()
    assert files_with(world, MARKER) == []


def test_a_reader_at_work_puts_the_purge_of_the_main_store_off(world: World) -> None:
    deleted(world)
    kb = world.engine.kb

    with kb.main.read() as snapshot:
        snapshot.bases()
        world.note()  # written after the snapshot: the log cannot be cut under it
        assert not kb.main.purge()

    assert kb.main.purge_due()
    assert kb.main.purge()


@pytest.mark.parametrize("name", ["holdfast.db", "holdfast.db-wal"])
def test_the_main_store_s_own_files_lose_it(world: World, name: str) -> None:
    deleted(world)
    purge_all(world.engine.kb, 10.0)

    path = world.folder / "kb" / name
    assert not path.exists() or MARKER.encode() not in path.read_bytes()


def test_how_long_to_pause_is_known_even_while_the_store_fails(world: World) -> None:
    deleted(world)
    purges = Purges(world.engine.kb)
    purges.look()
    world.engine.kb.main.close()

    assert purges.pause() == UNTIL_IDLE
