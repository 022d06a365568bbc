"""Each row of the status table (DESIGN section 2), and the triggers that keep its transitions."""

from __future__ import annotations

import apsw
import pytest

from holdfast.domain.errors import Conflict
from holdfast.domain.item_states import LIVING, Status
from holdfast.domain.items import Note
from tests.workflow.worlds import World

IDLE, PREPARING, PROCESSING = Status.IDLE, Status.PREPARING, Status.PROCESSING
READING, EMBEDDING, DELETING = Status.READING, Status.EMBEDDING, Status.DELETING
COMPLETED, FAILED = Status.COMPLETED, Status.FAILED

# --- meaning --------------------------------------------------------------------------------------


def test_idle_is_a_row_that_was_never_scheduled(world: World) -> None:
    item = world.note()
    world.force(item, IDLE)

    world.sweep()
    world.drain()

    assert world.status(item) is IDLE


def test_preparing_is_a_container_whose_expansion_is_queued_or_running(world: World) -> None:
    box = world.directory({"a.txt": "alpha"})
    queued = world.status(box)
    (job,) = world.rows("SELECT kind FROM jobs")

    world.step_control()

    assert (queued, job) == (PREPARING, ("prepare-root",))
    assert world.status(box) is PROCESSING


def test_processing_is_a_leaf_that_is_accepted_and_queued(world: World) -> None:
    item = world.note()

    assert world.status(item) is PROCESSING
    assert world.jobs() == ["ready"]


def test_processing_is_a_container_with_active_children(world: World) -> None:
    box = world.directory({"a.txt": "alpha", "b.txt": "beta"})
    world.step_control()

    assert world.status(box) is PROCESSING
    assert {one.status for one in world.inside(box).values()} == {PROCESSING}


def test_reading_is_a_leaf_being_read_and_chunked(world: World) -> None:
    seen: list[Status] = []
    box = world.directory({"a.txt": "alpha"})
    world.reader.on_read = lambda _n, _c: seen.append(world.inside(box)["a.txt"].status)

    world.drain()

    assert seen == [READING]


def test_embedding_is_a_leaf_being_embedded_and_written(world: World) -> None:
    seen: list[Status] = []
    item = world.note()
    world.models.on_call = lambda _texts: seen.append(world.status(item))

    world.drain()

    assert seen == [EMBEDDING]


def test_completed_is_a_leaf_whose_build_is_published(world: World) -> None:
    item = world.done_note("alpha")

    assert (item.status, item.progress, item.published_generation) == (COMPLETED, 100, 1)
    assert world.found("alpha") == [item.id]


def test_completed_is_a_container_whose_children_settled_and_none_failed(world: World) -> None:
    box = world.done_directory({"a.txt": "alpha", "sub/b.txt": "beta"})

    assert box.status is COMPLETED
    assert world.inside(box)["sub"].status is COMPLETED


def test_failed_says_code_sentence_and_advice(world: World) -> None:
    box = world.done_directory({"a.txt": b"\x00\x01"})
    child = world.inside(box)["a.txt"]

    assert (child.status, child.error_code) == (FAILED, "unsupported")
    assert child.error
    assert child.error_advice


def test_an_error_stands_on_failed_items_only(world: World) -> None:
    item = world.note()
    with pytest.raises(apsw.ConstraintError):
        world.rows("UPDATE items SET error_code = 'internal' WHERE id = ?", item.id)
    with pytest.raises(apsw.ConstraintError):
        world.rows("UPDATE items SET status = 'failed' WHERE id = ?", item.id)


def test_deleting_ends_only_when_the_row_is_gone(world: World) -> None:
    item = world.done_note()

    world.hf.delete(item)
    marked = world.status(item)
    world.drain()

    assert marked is DELETING
    assert world.is_gone(item)


# --- which kind may be in which state -------------------------------------------------------------


def test_a_leaf_is_never_preparing(world: World) -> None:
    world.done_directory({"a.txt": "alpha", "sub/b.txt": "beta"})
    world.done_note()

    assert world.statuses_met(container=False) == {
        "processing",
        "reading",
        "embedding",
        "completed",
    }


def test_a_container_is_never_reading_or_embedding(world: World) -> None:
    world.done_directory({"a.txt": "alpha", "sub/b.txt": "beta"})

    assert world.statuses_met(container=True) == {"preparing", "processing", "completed"}


# --- in lists -------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", sorted(LIVING))
def test_lists_show_every_item_that_is_not_being_deleted(world: World, status: Status) -> None:
    item = world.note()
    world.force(item, status)

    assert [one.id for one in world.hf.items(world.base).items] == [item.id]
    assert [one.id for one in world.hf.items(world.base, status=status).items] == [item.id]


def test_lists_leave_out_what_is_being_deleted_unless_asked(world: World) -> None:
    item = world.done_note()
    world.hf.delete(item)

    assert world.hf.items(world.base).items == ()
    assert [one.id for one in world.hf.items(world.base, include_deleting=True).items] == [item.id]
    assert world.item(item).deleting


def test_lists_can_be_asked_in_the_older_words(world: World) -> None:
    pending, done = world.hf.add(world.base, [Note("one"), Note("two")]).created
    world.force(done, COMPLETED)

    assert [one.id for one in world.hf.items(world.base, status="pending").items] == [pending.id]
    assert world.hf.items(world.base, status="preprocessing").items == ()


# --- re-index -------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [IDLE, COMPLETED, FAILED])
def test_reindex_admits_what_has_settled(world: World, status: Status) -> None:
    item = world.note("alpha")
    world.force(item, status)

    world.hf.reindex(item)
    world.drain()

    assert world.status(item) is COMPLETED
    assert world.found("alpha") == [item.id]


@pytest.mark.parametrize("status", [PREPARING, PROCESSING, READING, EMBEDDING, DELETING])
def test_reindex_refuses_what_has_not_settled(world: World, status: Status) -> None:
    item = world.note()
    world.force(item, status)

    with pytest.raises(Conflict, match=f"{item.id} is {status}"):
        world.hf.reindex(item)


# --- T1 to T5: what no writer may do --------------------------------------------------------------


@pytest.mark.parametrize("status", sorted(LIVING - {FAILED}))
def test_t1_nothing_leads_out_of_deleting(world: World, status: Status) -> None:
    item = world.done_note()
    world.hf.delete(item)

    with pytest.raises(apsw.ConstraintError, match="T1"):
        world.rows("UPDATE items SET status = ? WHERE id = ?", status, item.id)


def test_t2_nothing_is_inserted_under_what_is_being_deleted(world: World) -> None:
    box = world.done_directory({"a.txt": "alpha"})
    world.hf.delete(box)

    with pytest.raises(apsw.ConstraintError, match="T2"):
        world.rows(COPY.format(parent=f"'{box.id}'", base="base_id"))


def test_t2_nothing_is_inserted_under_what_is_not_there(world: World) -> None:
    world.done_note()

    with pytest.raises(apsw.ConstraintError, match="T2"):
        world.rows(COPY.format(parent="'nobody'", base="base_id"))


def test_t2_nothing_is_inserted_into_a_base_being_deleted(world: World) -> None:
    world.done_note()
    world.hf.delete_base(world.base)

    with pytest.raises(apsw.ConstraintError, match="T2"):
        world.rows(COPY.format(parent="NULL", base="base_id"))


def test_t3_a_generation_never_falls(world: World) -> None:
    item = world.done_note()

    with pytest.raises(apsw.ConstraintError, match="T3"):
        world.rows("UPDATE items SET generation = generation - 1 WHERE id = ?", item.id)


@pytest.mark.parametrize("lower", ["claim - 1", "NULL"])
def test_t3_a_claim_never_falls(world: World, lower: str) -> None:
    world.done_note()

    with pytest.raises(apsw.ConstraintError, match="T3"):
        world.rows(f"UPDATE jobs SET claim = {lower}")


@pytest.mark.parametrize("status", [PREPARING, PROCESSING, READING, EMBEDDING])
def test_t4_a_completed_leaf_starts_again_with_a_new_generation_only(
    world: World, status: Status
) -> None:
    item = world.done_note()

    with pytest.raises(apsw.ConstraintError, match="T4"):
        world.rows("UPDATE items SET status = ? WHERE id = ?", status, item.id)

    world.rows(
        "UPDATE items SET status = ?, generation = generation + 1 WHERE id = ?", status, item.id
    )
    assert world.status(item) is status


def test_t5_progress_never_falls_within_a_generation(world: World) -> None:
    item = world.done_note()

    with pytest.raises(apsw.ConstraintError, match="T5"):
        world.rows("UPDATE items SET progress = 99 WHERE id = ?", item.id)


def test_progress_starts_anew_with_a_new_generation(world: World) -> None:
    item = world.done_note()

    updated = world.hf.update(item, content="something else")

    assert (item.progress, updated.progress) == (100, 0)


COPY = """
INSERT INTO items (id, base_id, parent_id, source_key, type, container, name, source, data,
  attributes, status, generation, size, workload, created_at, updated_at)
SELECT 'copy', {base}, {parent}, 'copy', type, container, name, source, data, attributes,
  'processing', 1, size, workload, created_at, updated_at FROM items LIMIT 1
"""
