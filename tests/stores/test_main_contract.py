"""What does every main store promise of bases, items, transactions and the ledger?

The queue's promises stand in `test_main_contract_queue.py` and `test_main_contract_runs.py`.
"""

from __future__ import annotations

from typing import NoReturn

import apsw
import pytest

from holdfast.domain.bases import BaseStatus
from holdfast.domain.errors import InvalidInput, ItemDeleting, ItemGone, Superseded
from holdfast.domain.events import EventKind, NewEvent
from holdfast.domain.ids import BaseId, Generation, ItemId
from holdfast.domain.item_states import Move, Status
from holdfast.domain.jobs import JobKind, Lane, NewJob
from holdfast.stores.catalog import Listing, Moved
from holdfast.stores.ledger import Answer
from holdfast.stores.main import Transaction
from tests.stores.main_worlds import SECOND, WHY, A, B, World, published

# What a database says when a trigger refuses: each driver has its own word.
REFUSED = (apsw.ConstraintError,)

# ------------------------------------------------------------------------------- transactions


def test_a_transaction_that_fails_leaves_nothing(world: World) -> None:
    with pytest.raises(RuntimeError), world.main.write() as tx:
        enqueue_and_fail(tx, "k")

    with world.main.read() as snapshot:
        assert snapshot.unfinished() == 0


def test_others_see_a_transaction_only_when_it_has_ended(world: World) -> None:
    with world.main.write() as tx:
        tx.enqueue([NewJob(JobKind.PREPARE_ROOT, A, "k")])
        with world.main.read() as snapshot:
            assert snapshot.unfinished() == 0

    with world.main.read() as snapshot:
        assert snapshot.unfinished() == 1


def test_a_snapshot_stays_as_it_was(world: World) -> None:
    with world.main.read() as snapshot:
        assert snapshot.unfinished() == 0
        world.queued()
        assert snapshot.unfinished() == 0


def test_what_fails_inside_a_savepoint_is_undone_alone(world: World) -> None:
    with world.main.write() as tx:
        tx.enqueue([NewJob(JobKind.PREPARE_ROOT, A, "before")])
        with pytest.raises(RuntimeError), tx.savepoint():
            enqueue_and_fail(tx, "inside")
        tx.enqueue([NewJob(JobKind.PREPARE_ROOT, A, "after")])

    with world.main.read() as snapshot:
        assert snapshot.unfinished() == 2


def test_savepoints_stand_inside_one_another(world: World) -> None:
    with world.main.write() as tx, tx.savepoint():
        tx.enqueue([NewJob(JobKind.PREPARE_ROOT, A, "outer")])
        with pytest.raises(RuntimeError), tx.savepoint():
            enqueue_and_fail(tx, "inner")

    with world.main.read() as snapshot:
        assert snapshot.unfinished() == 1


# ------------------------------------------------------------------------------- wake-ups


def test_runners_are_woken_after_the_commit(world: World) -> None:
    seen: list[int] = []

    def look() -> None:
        with world.main.read() as snapshot:
            seen.append(snapshot.unfinished())

    world.bells.when_ready = look
    world.queued()

    assert seen == [1]
    assert world.bells.lanes == [Lane.INDEX]


def test_runners_are_woken_even_when_nobody_knows_whether_the_commit_happened(
    world: World,
) -> None:
    with pytest.raises(RuntimeError), world.main.write() as tx:
        enqueue_and_fail(tx, "k")

    assert world.bells.lanes == [Lane.CONTROL]


def test_a_transaction_that_brings_no_work_wakes_nobody(world: World) -> None:
    world.item()

    assert world.bells.lanes == []


def test_a_provider_that_opens_wakes_every_lane(world: World) -> None:
    with world.main.write() as tx:
        tx.pause_provider("acme", tx.now + SECOND, "busy", failed=True)
    assert world.bells.lanes == []
    with world.main.write() as tx:
        tx.open_provider("acme")

    assert world.bells.lanes == sorted(Lane)


# ------------------------------------------------------------------------------- items


def test_an_item_is_found_as_it_was_given(world: World) -> None:
    box = world.item(container=True)
    item = world.item(parent=box, key="folder/a.txt")

    found = world.find(item)

    assert (found.parent_id, found.source_key, found.generation) == (box, "folder/a.txt", 1)
    assert (found.base_id, found.status, found.is_container) == (A, Status.PROCESSING, False)


def test_what_is_being_deleted_stays_being_deleted(world: World) -> None:
    item = world.item()
    world.delete(item)
    with world.main.write() as tx:
        for move, target in ((Move.RESTART, Status.PROCESSING), (Move.READ, Status.READING)):
            assert tx.move(move, [Moved(item, target)]) == set()

    assert world.find(item).status is Status.DELETING


def test_nothing_is_born_under_what_is_being_deleted(world: World) -> None:
    box = world.item(container=True)
    world.delete(box)

    with pytest.raises(REFUSED):
        world.item(parent=box)


def test_nothing_is_born_in_a_base_that_is_being_deleted(world: World) -> None:
    with world.main.write() as tx:
        tx.set_base_state(A, BaseStatus.DELETING, None)

    with pytest.raises(REFUSED):
        world.item()


def test_a_base_being_deleted_stays_being_deleted(world: World) -> None:
    with world.main.write() as tx:
        tx.set_base_state(A, BaseStatus.DELETING, None)
        assert not tx.set_base_state(A, BaseStatus.COMPLETED, None)


def test_two_living_children_never_have_one_key(world: World) -> None:
    box = world.item(container=True)
    first = world.item(parent=box, key="a.txt")

    with pytest.raises(REFUSED):
        world.item(parent=box, key="a.txt")
    world.delete(first)
    world.item(parent=box, key="a.txt")


def test_a_refused_move_says_what_stands_in_its_way(world: World) -> None:
    gone, deleting, newer = ItemId("nobody"), world.item(), world.item()
    world.delete(deleting)
    world.restart(newer)

    for item, error in ((gone, ItemGone), (deleting, ItemDeleting), (newer, Superseded)):
        asked = Moved(item, Status.READING, Generation(1))
        with pytest.raises(error), world.main.write() as tx:
            tx.move_or_end(Move.READ, asked)


def test_an_item_fails_with_its_reason_or_not_at_all(world: World) -> None:
    item = world.item()
    with pytest.raises(ValueError, match="if and only if"), world.main.write() as tx:
        tx.move(Move.FAIL, [Moved(item, Status.FAILED)])
    with world.main.write() as tx:
        tx.move(Move.FAIL, [Moved(item, Status.FAILED, trouble=WHY)])

    found = world.find(item)
    assert (found.error_code, found.error, found.error_advice) == WHY


def test_a_new_attempt_forgets_the_error_and_the_progress_of_the_old_one(world: World) -> None:
    item = world.item()
    with world.main.write() as tx:
        tx.move(Move.FAIL, [Moved(item, Status.FAILED, trouble=WHY)])
    world.restart(item)

    found = world.find(item)
    assert (found.error_code, found.progress, found.generation) == (None, 0, 2)


def test_a_completed_leaf_starts_again_only_with_a_new_generation(world: World) -> None:
    item = world.item()
    world.complete(item)

    with pytest.raises(REFUSED), world.main.write() as tx:
        tx.move(Move.RESTART, [Moved(item, Status.PROCESSING)])


def test_a_container_follows_its_children(world: World) -> None:
    box = world.item(container=True)
    first, second = world.item(parent=box), world.item(parent=box)
    outcome(world, box)
    assert world.find(box).status is Status.PROCESSING

    world.complete(first)
    with world.main.write() as tx:
        tx.move(Move.FAIL, [Moved(second, Status.FAILED, trouble=WHY)])
    assert world.find(box).status is Status.FAILED

    world.delete(second)
    assert world.find(box).status is Status.COMPLETED


def test_the_roll_up_goes_all_the_way_up(world: World) -> None:
    top = world.item(container=True)
    middle = world.item(parent=top, container=True)
    leaf = world.item(parent=middle)
    outcome(world, middle)
    outcome(world, top)
    world.complete(leaf)
    assert world.find(top).status is Status.COMPLETED

    world.restart(leaf)

    assert world.find(middle).status is world.find(top).status is Status.PROCESSING


def test_rows_go_leaf_first_in_slices(world: World) -> None:
    box = world.item(container=True)
    inside = [world.item(parent=box) for _ in range(5)]
    world.delete(box, *inside)
    counts = []
    for _ in range(4):
        with world.main.write() as tx:
            counts.append(tx.delete_rows([box], limit=2))

    assert counts == [2, 2, 2, 0]


def test_rows_of_the_living_are_never_removed(world: World) -> None:
    item = world.item()
    with world.main.write() as tx:
        assert tx.delete_rows([item], limit=10) == 0

    assert world.find(item).status is Status.PROCESSING


def test_only_what_is_published_and_living_answers(world: World) -> None:
    living, deleting = world.item(), world.item()
    world.complete(living)
    world.complete(deleting)
    world.delete(deleting)

    with world.main.read() as snapshot:
        assert set(snapshot.answering(A, [living, deleting])) == {living}
        assert snapshot.masked(A) == {deleting}


def test_nothing_of_a_base_that_is_being_deleted_answers(world: World) -> None:
    item = world.item()
    world.complete(item)
    with world.main.write() as tx:
        tx.set_base_state(A, BaseStatus.DELETING, None)

    with world.main.read() as snapshot:
        assert snapshot.answering(A, [item]) == {}


def test_an_item_of_another_base_does_not_answer(world: World) -> None:
    item = world.item()
    world.complete(item)

    with world.main.read() as snapshot:
        assert snapshot.answering(world.base(B), [item]) == {}


# ------------------------------------------------------------------------------- lists


def test_a_list_shows_containers_first_and_newest_first(world: World) -> None:
    leaf, box, later = world.item(), world.item(container=True), world.item()

    assert listed(world, limit=10) == [box, later, leaf]


def test_pages_are_not_shifted_by_what_is_added_meanwhile(world: World) -> None:
    items = [world.item() for _ in range(5)]
    with world.main.read() as snapshot:
        first = snapshot.list_items(Listing(A, limit=2))
    world.item()
    world.item(container=True)

    rest = listed(world, cursor=first.next_cursor)

    assert [item.id for item in first.items] + rest == items[::-1]


def test_a_cursor_goes_on_after_an_item_that_is_gone(world: World) -> None:
    items = [world.item() for _ in range(4)]
    with world.main.read() as snapshot:
        first = snapshot.list_items(Listing(A, limit=2))
    world.delete(items[2])
    with world.main.write() as tx:
        tx.delete_rows([items[2]], 10)

    assert listed(world, cursor=first.next_cursor) == [items[1], items[0]]


def test_pages_go_from_containers_to_leaves(world: World) -> None:
    leaf = world.item()
    boxes = [world.item(container=True) for _ in range(3)]

    assert listed(world, limit=2) == [boxes[2], boxes[1], boxes[0], leaf]


def test_the_last_page_has_no_cursor(world: World) -> None:
    for _ in range(2):
        world.item()
    with world.main.read() as snapshot:
        assert snapshot.list_items(Listing(A, limit=2)).next_cursor is None


def test_a_list_of_roots_shows_no_children_and_everywhere_shows_all(world: World) -> None:
    box = world.item(container=True)
    child = world.item(parent=box)
    root = world.item()

    assert listed(world) == [box, root]
    assert listed(world, parent=box) == [child]
    assert listed(world, everywhere=True) == [box, root, child]
    assert listed(world, everywhere=True, limit=1) == [box, root, child]


def test_a_list_hides_what_is_being_deleted_unless_asked(world: World) -> None:
    item = world.item()
    world.delete(item)

    assert listed(world) == []
    assert listed(world, include_deleting=True) == [item]


def test_a_list_can_be_narrowed(world: World) -> None:
    note, box = world.item(), world.item(container=True)

    assert listed(world, type="note") == [note]
    assert listed(world, statuses=[Status.PREPARING]) == [box]
    assert listed(world, name=note.upper()) == [note]


@pytest.mark.parametrize("cursor", ["", "x", "2.abc", "1", "1."])
def test_a_cursor_of_something_else_is_refused(world: World, cursor: str) -> None:
    with pytest.raises(InvalidInput), world.main.read() as snapshot:
        snapshot.list_items(Listing(A, cursor=cursor))


# ------------------------------------------------------------------------------- ledger


def test_every_change_of_status_is_in_the_ledger_by_itself(world: World) -> None:
    item = world.item()
    world.restart(item)
    world.complete(item)
    world.delete(item)
    with world.main.write() as tx:
        tx.delete_rows([item], 1)

    with world.main.read() as snapshot:
        told = [(one.kind, one.status, one.generation) for one in snapshot.history(item)]
    assert told == [
        (EventKind.STATUS, Status.PROCESSING, 1),
        (EventKind.STATUS, Status.PROCESSING, 2),
        (EventKind.STATUS, Status.COMPLETED, 2),
        (EventKind.STATUS, Status.DELETING, 3),
        (EventKind.GONE, None, 3),
    ]


def test_a_failure_is_in_the_ledger_with_its_code(world: World) -> None:
    item = world.item()
    with world.main.write() as tx:
        tx.move(Move.FAIL, [Moved(item, Status.FAILED, trouble=WHY)])

    with world.main.read() as snapshot:
        assert snapshot.history(item)[-1].detail == {"code": WHY[0]}


def test_events_are_read_on_from_the_last_one_seen(world: World) -> None:
    for base in (A, world.base(B), A):
        world.item(base)
    with world.main.read() as snapshot:
        first = snapshot.events_after(0, None, limit=2)
        rest = snapshot.events_after(first[-1].id, None, limit=10)
        of_b = snapshot.events_after(0, B, limit=10)

    assert [one.base_id for one in first + rest] == [A, B, A]
    assert [one.base_id for one in of_b] == [B]


def test_a_number_of_an_event_is_never_given_twice(world: World) -> None:
    world.item()
    with world.main.write() as tx:
        tx.prune_ledger(before=tx.now + 1, per_item=1, most=0, answers_before=0)
        tx.record([NewEvent(EventKind.REPAIRED, A, ItemId("x"))])

    with world.main.read() as snapshot:
        assert [one.id for one in snapshot.events_after(0, None, 10)] == [2]


def test_the_ledger_keeps_the_newest_of_each_item(world: World) -> None:
    busy, calm = world.item(), world.item()
    for _ in range(9):
        world.restart(busy)
    with world.main.write() as tx:
        tx.prune_ledger(before=0, per_item=3, most=1_000, answers_before=0)

    with world.main.read() as snapshot:
        assert [one.generation for one in snapshot.history(busy)] == [8, 9, 10]
        assert len(snapshot.history(calm)) == 1


def test_the_ledger_forgets_what_is_old(world: World) -> None:
    old = world.item()
    world.clock.at += 10
    young = world.item()
    with world.main.write() as tx:
        tx.prune_ledger(before=tx.now, per_item=100, most=1_000, answers_before=0)

    with world.main.read() as snapshot:
        assert snapshot.history(old) == []
        assert len(snapshot.history(young)) == 1


def test_an_answer_is_remembered_for_its_principal_and_its_time(world: World) -> None:
    with world.main.write() as tx:
        tx.remember("key", "ann", Answer("body", "answer"))
        now = tx.now

    with world.main.read() as snapshot:
        assert snapshot.answer("key", "ann", now) == Answer("body", "answer")
        assert snapshot.answer("key", "bob", now) is None
        assert snapshot.answer("key", "ann", now + 1) is None


def test_an_item_that_changes_its_place_in_no_way_is_told_nowhere(world: World) -> None:
    item = world.item()
    with world.main.write() as tx:
        tx.set_attributes(item, {"a": 1})

    with world.main.read() as snapshot:
        assert len(snapshot.history(item)) == 1


def enqueue_and_fail(tx: Transaction, key: str) -> NoReturn:
    tx.enqueue([NewJob(JobKind.PREPARE_ROOT, A, key)])
    raise RuntimeError


def outcome(world: World, box: ItemId) -> None:
    """The container's own expansion has ended well."""
    with world.main.write() as tx:
        tx.set_own_outcome(box, Generation(1), Status.COMPLETED, None, None)


def listed(world: World, base: BaseId = A, **given: object) -> list[ItemId]:
    """All pages of a list."""
    found: list[ItemId] = []
    listing = Listing(base, **given)  # type: ignore[arg-type]
    while True:
        with world.main.read() as snapshot:
            page = snapshot.list_items(listing)
        found += [item.id for item in page.items]
        if page.next_cursor is None:
            return found
        listing = Listing(base, **{**given, "cursor": page.next_cursor})  # type: ignore[arg-type]


def test_what_these_tests_do_breaks_no_invariant(world: World) -> None:
    item = world.item()
    world.enqueue(item)
    world.run()
    with world.main.write() as tx:
        tx.publish([published(item, 1)])

    assert world.violations() == []
