"""Each cell of the guard table (DESIGN section 3; docs/operation-guards.md says why it is so)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from holdfast.domain.errors import Conflict, GuardRejected, HoldfastError, QueueFull
from holdfast.domain.events import EventKind
from holdfast.domain.item_states import Status
from holdfast.domain.items import Directory, Item, Note
from holdfast.domain.jobs import JobKind
from tests.workflow.conftest import MakeWorld
from tests.workflow.worlds import World, every, refusing, refusing_from

DELETING, COMPLETED, FAILED = Status.DELETING, Status.COMPLETED, Status.FAILED
PROCESSING, PREPARING = Status.PROCESSING, Status.PREPARING


# --- add_items ------------------------------------------------------------------------------------


def test_add_is_refused_in_a_failed_base(world: World) -> None:
    world.fail_base()
    before = world.dump()

    with pytest.raises(GuardRejected) as refusal:
        world.note()

    assert refusal.value.code == "base_failed"
    assert world.dump() == before


def test_add_never_collapses_what_it_is_given(world: World) -> None:
    folder = world.tree({"inside/a.txt": "alpha"})

    added = world.hf.add(world.base, [Directory(str(folder)), Directory(str(folder / "inside"))])

    assert [item.name for item in added.created] == ["docs", "inside"]
    assert all(item.parent_id is None for item in added.created)


def test_add_looks_for_room_in_the_queue_before_it_writes_anything(make_world: MakeWorld) -> None:
    world = make_world(max_queue_size=2)
    before = world.dump()

    with pytest.raises(QueueFull):
        world.notes("one", "two", "three")

    assert world.dump() == before


def test_add_writes_containers_preparing_and_leaves_processing_each_with_its_job(
    world: World,
) -> None:
    box = world.directory({"a.txt": "alpha"})
    leaf = world.note()

    assert (world.status(box), world.status(leaf)) == (PREPARING, PROCESSING)
    assert world.rows("SELECT item_id, kind, state FROM jobs ORDER BY id") == [
        (box.id, JobKind.PREPARE_ROOT, "ready"),
        (leaf.id, JobKind.INDEX_DOCUMENTS, "ready"),
    ]


def test_add_fails_the_refused_item_and_all_later_ones_and_raises_the_original_error(
    world: World,
) -> None:
    original = QueueFull("no room for the second")

    with refusing_from(2, original), pytest.raises(QueueFull) as raised:
        world.notes("one", "two", "three")

    first, second, third = raised.value.created  # type: ignore[attr-defined]
    assert raised.value is original
    assert [one.status for one in (first, second, third)] == [PROCESSING, FAILED, FAILED]
    assert {second.error_code, third.error_code} == {"schedule_failed"}
    assert raised.value.failed == ()  # type: ignore[attr-defined]


def test_add_leaves_the_items_before_a_refused_one_to_their_jobs(world: World) -> None:
    with refusing_from(2), pytest.raises(QueueFull):
        world.notes("alpha one", "beta two", "gamma three")

    world.drain()

    assert [world.item(one).name for one in world.found("alpha")][:1] == ["alpha one"]
    assert [item.status for item in world.hf.items(world.base, status="failed").items] == [
        FAILED
    ] * 2
    assert world.ailments() == []


def test_add_of_a_container_that_is_refused_fails_it_for_good(world: World) -> None:
    with refusing(every), pytest.raises(QueueFull) as raised:
        world.directory({"a.txt": "alpha"})

    (box,) = raised.value.created  # type: ignore[attr-defined]
    assert (box.status, box.error_code) == (FAILED, "schedule_failed")
    assert world.ailments() == []


def test_an_add_that_was_refused_can_be_reindexed(world: World) -> None:
    with refusing(every), pytest.raises(QueueFull) as raised:
        world.note("alpha")
    (item,) = raised.value.created  # type: ignore[attr-defined]

    world.hf.reindex(item)
    world.drain()

    assert world.found("alpha") == [item.id]


# --- delete_items ---------------------------------------------------------------------------------


def test_delete_is_allowed_in_a_failed_base(world: World) -> None:
    item = world.done_note()
    world.fail_base()

    world.hf.delete(item)
    world.drain()

    assert world.is_gone(item)


def test_delete_takes_the_outermost_roots_only(world: World) -> None:
    box = world.done_directory({"a.txt": "alpha", "sub/b.txt": "beta"})
    children = list(world.inside(box).values())

    roots = world.hf.delete([*children, box, box])

    assert roots == [box.id]
    assert world.jobs(JobKind.DELETE_SUBTREE) == ["ready"]


@pytest.mark.parametrize("status", sorted(set(Status) - {DELETING}))
def test_delete_is_allowed_in_every_state(world: World, status: Status) -> None:
    item = world.note()
    world.force(item, status)

    world.hf.delete(item)
    world.drain()

    assert world.is_gone(item)


def test_delete_marks_whole_subtrees_with_a_new_generation_beside_its_job(world: World) -> None:
    box = world.done_directory({"a.txt": "alpha", "sub/b.txt": "beta"})
    before = dict(world.rows("SELECT id, generation FROM items"))

    world.hf.delete(box)

    after = world.rows("SELECT id, generation, status FROM items")
    assert {item: (before[item] + 1, DELETING) for item in before} == {
        item: (generation, status) for item, generation, status in after
    }
    assert world.jobs(JobKind.DELETE_SUBTREE) == ["ready"]


def test_delete_keeps_its_marks_when_enqueue_refuses_and_raises(world: World) -> None:
    item = world.done_note("alpha")

    with refusing(every), pytest.raises(QueueFull):
        world.hf.delete(item)

    assert world.status(item) is DELETING
    assert world.found("alpha") == []
    assert world.jobs(JobKind.DELETE_SUBTREE) == []


def test_a_refused_delete_is_enqueued_again_by_the_sweep(world: World) -> None:
    item = world.done_note()
    with refusing(every), pytest.raises(QueueFull):
        world.hf.delete(item)

    world.sweep()
    world.drain()

    assert world.is_gone(item)
    assert [one.detail["why"] for one in world.events(item, EventKind.REPAIRED)] == [
        "its delete had no job"
    ]


# --- reindex_items --------------------------------------------------------------------------------


def test_reindex_is_refused_in_a_failed_base(world: World) -> None:
    item = world.done_note()
    world.fail_base()
    before = world.dump()

    with pytest.raises(GuardRejected) as refusal:
        world.hf.reindex(item)

    assert refusal.value.code == "base_failed"
    assert world.dump() == before


def test_reindex_takes_the_outermost_roots_only(world: World) -> None:
    box = world.done_directory({"a.txt": "alpha"})
    child = world.inside(box)["a.txt"]

    accepted = world.hf.reindex([child, box])

    assert [item.id for item in accepted.items] == [box.id]


@pytest.mark.parametrize("status", [COMPLETED, FAILED, Status.IDLE])
def test_reindex_is_allowed_when_every_item_inside_has_settled(
    world: World, status: Status
) -> None:
    box = world.done_directory({"a.txt": "alpha", "b.txt": "beta"})
    world.force(world.inside(box)["a.txt"], status)

    accepted = world.hf.reindex(box)

    assert [item.id for item in accepted.items] == [box.id]


@pytest.mark.parametrize(
    "status", [PREPARING, PROCESSING, Status.READING, Status.EMBEDDING, DELETING]
)
def test_reindex_is_refused_while_an_item_inside_has_not_settled(
    world: World, status: Status
) -> None:
    box = world.done_directory({"a.txt": "alpha", "b.txt": "beta"})
    child = world.inside(box)["a.txt"]
    world.force(child, status)
    before = world.dump()

    with pytest.raises(Conflict) as refusal:
        world.hf.reindex(box)

    (blocking,) = refusal.value.blocking
    assert (blocking.item_id, blocking.name, blocking.status) == (child.id, "a.txt", status)
    assert world.dump() == before


def test_reindex_writes_nothing_but_its_job(world: World) -> None:
    item = world.done_note()
    before = world.rows("SELECT * FROM items")

    world.hf.reindex(item)

    assert world.rows("SELECT * FROM items") == before
    assert world.jobs(JobKind.REINDEX_SUBTREE) == ["ready"]
    assert world.item(item).pending == "reindex"


def test_reindex_raises_and_writes_nothing_when_enqueue_refuses(world: World) -> None:
    item = world.done_note()
    before = world.dump()

    with refusing(every), pytest.raises(QueueFull):
        world.hf.reindex(item)

    assert world.dump() == before


def test_reindex_raises_and_writes_nothing_when_the_queue_is_full(make_world: MakeWorld) -> None:
    world = make_world(max_queue_size=1)
    item = world.done_note()
    world.note("takes the only place")
    before = world.dump()

    with pytest.raises(QueueFull):
        world.hf.reindex(item)

    assert world.dump() == before


# --- update_item ----------------------------------------------------------------------------------


def test_update_is_refused_in_a_failed_base(world: World) -> None:
    item = world.done_note()
    world.fail_base()
    before = world.dump()

    with pytest.raises(GuardRejected) as refusal:
        world.hf.update(item, content="new")

    assert refusal.value.code == "base_failed"
    assert world.dump() == before


def test_update_touches_one_item_and_none_beside_it(world: World) -> None:
    first, second = world.notes("alpha", "beta")
    world.drain()

    world.hf.update(first, content="gamma")

    assert (world.status(first), world.status(second)) == (PROCESSING, COMPLETED)


def test_update_is_refused_when_the_item_is_being_deleted(world: World) -> None:
    item = world.done_note()
    world.hf.delete(item)
    before = world.dump()

    with pytest.raises(GuardRejected) as refusal:
        world.hf.update(item, content="new")

    assert refusal.value.code == "deleting"
    assert world.dump() == before


def test_update_with_equal_content_changes_nothing(world: World) -> None:
    item = world.done_note("alpha")
    before = world.rows("SELECT * FROM items"), world.rows("SELECT * FROM jobs")

    world.hf.update(item, content="alpha")

    assert (world.rows("SELECT * FROM items"), world.rows("SELECT * FROM jobs")) == before


def test_update_writes_processing_and_a_new_generation_beside_its_job(world: World) -> None:
    item = world.done_note("alpha")

    updated = world.hf.update(item, content="beta")

    assert (updated.status, updated.generation) == (PROCESSING, item.generation + 1)
    assert world.jobs(JobKind.INDEX_DOCUMENTS) == ["done", "ready"]


def test_update_fails_the_item_and_raises_when_enqueue_refuses(world: World) -> None:
    item = world.done_note("alpha")

    with refusing(every), pytest.raises(QueueFull):
        world.hf.update(item, content="beta")

    assert (world.status(item), world.item(item).error_code) == (FAILED, "schedule_failed")
    assert world.found("alpha") == [item.id]
    assert world.ailments() == []


def test_update_is_refused_as_a_whole_when_the_queue_is_full(make_world: MakeWorld) -> None:
    world = make_world(max_queue_size=1)
    item = world.done_note("alpha")
    world.note("takes the only place")
    before = world.dump()

    with pytest.raises(QueueFull):
        world.hf.update(item, content="beta")

    assert world.dump() == before


# --- list_chunks ----------------------------------------------------------------------------------


def test_chunks_are_not_listed_in_a_failed_base(world: World) -> None:
    item = world.done_note()
    world.fail_base()

    with pytest.raises(GuardRejected) as refusal:
        world.hf.chunks(item)

    assert refusal.value.code == "base_failed"


@pytest.mark.parametrize("status", sorted(set(Status) - {COMPLETED, DELETING}))
def test_chunks_are_listed_of_completed_items_only(world: World, status: Status) -> None:
    item = world.done_note()
    world.force(item, status)

    with pytest.raises(Conflict) as refusal:
        world.hf.chunks(item)

    assert refusal.value.code == "not_completed"
    assert [one.item_id for one in refusal.value.blocking] == [item.id]


def test_chunks_of_an_item_being_deleted_are_not_listed(world: World) -> None:
    item = world.done_note()
    world.hf.delete(item)

    with pytest.raises(GuardRejected) as refusal:
        world.hf.chunks(item)

    assert refusal.value.code == "deleting"


def test_chunks_of_a_container_are_not_listed_while_something_inside_is_being_deleted(
    world: World,
) -> None:
    box = world.done_directory({"a.txt": "alpha", "b.txt": "beta"})
    world.hf.delete(world.inside(box)["a.txt"])

    with pytest.raises(Conflict) as refusal:
        world.hf.chunks(box)

    assert world.status(box) is COMPLETED
    assert refusal.value.code == "conflict"


def test_chunks_of_a_container_are_those_of_its_completed_leaves_in_tree_order(
    world: World,
) -> None:
    files = {"b.txt": "beta", "a/z.txt": "zeta", "a/y.txt": "eta", "c.txt": "gamma"}
    box = world.done_directory(files)

    pages = world.hf.chunks(box, limit=3)
    rest = world.hf.chunks(box, limit=3, cursor=pages.next_cursor)

    listed = [chunk.content for chunk in (*pages.items, *rest.items)]
    assert listed == ["eta", "zeta", "beta", "gamma"]


def test_listing_chunks_writes_nothing(world: World) -> None:
    item = world.done_note()
    before = world.dump()

    world.hf.chunks(item)

    assert world.dump() == before


# --- what every operation refuses by ids --------------------------------------------------------


@pytest.mark.parametrize("verb", ["delete", "reindex"])
def test_ids_of_two_bases_reject_the_whole_call(world: World, verb: str) -> None:
    other = world.hf.create_base("other", embedding_model=None)
    mine, theirs = world.done_note(), world.note(base=other)
    world.drain()
    before = world.dump()

    with pytest.raises(GuardRejected) as refusal:
        getattr(world.hf, verb)([mine, theirs])

    assert refusal.value.code == "mixed_bases"
    assert world.dump() == before


@pytest.mark.parametrize("verb", ["delete", "reindex", "update", "chunks"])
def test_an_unknown_id_rejects_the_whole_call_and_is_named(world: World, verb: str) -> None:
    item = world.done_note()
    before = world.dump()
    calls: dict[str, Callable[[], object]] = {
        "delete": lambda: world.hf.delete([item, "no-such-item"]),
        "reindex": lambda: world.hf.reindex([item, "no-such-item"]),
        "update": lambda: world.hf.update("no-such-item", content="new"),
        "chunks": lambda: world.hf.chunks("no-such-item"),
    }

    with pytest.raises(HoldfastError, match="no-such-item") as refusal:
        calls[verb]()

    assert refusal.value.code == "not_found"
    assert world.dump() == before


def test_an_empty_list_is_no_work(world: World) -> None:
    before = world.dump()

    added = world.hf.add(world.base, [])
    deleted, again = world.hf.delete([]), world.hf.reindex([])

    assert (added.created, added.failed, deleted, again.items) == ((), (), [], ())
    assert {**world.dump(), "engine": 0} == {**before, "engine": 0}


def test_items_already_being_deleted_join_the_live_job(world: World) -> None:
    item = world.done_note()
    world.hf.delete(item)

    roots = world.hf.delete([item])

    assert roots == [item.id]
    assert world.jobs(JobKind.DELETE_SUBTREE) == ["ready"]


def test_more_than_a_thousand_roots_become_several_jobs(world: World) -> None:
    items: list[Item] = []
    for _ in range(2):
        items += world.hf.add(world.base, [Note(f"n{n}") for n in range(600)]).created

    world.hf.delete(items)

    assert world.jobs(JobKind.DELETE_SUBTREE) == ["ready", "ready"]
