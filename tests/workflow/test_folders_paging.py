"""How a big folder is listed: in pages, giving way, waiting for room, dying and going on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import pytest

from holdfast.assembly import runner_of
from holdfast.domain.errors import Permanent
from holdfast.domain.item_states import Status
from holdfast.domain.items import Directory, Item
from holdfast.domain.jobs import JobKind, Lane
from holdfast.machine.files import FolderFiles
from holdfast.ports import Entry
from holdfast.stores.sqlite.main import SqliteMain, SqliteTransaction
from holdfast.workflow import prepare_root
from tests.workflow.conftest import MakeWorld
from tests.workflow.folders import (
    as_it_is,
    failing_at,
    generations,
    ids,
    lasting,
    listing,
    reasons,
    reindex,
    tree_of,
)
from tests.workflow.worlds import World, refusing, refusing_from

COMPLETED, FAILED, PROCESSING = Status.COMPLETED, Status.FAILED, Status.PROCESSING


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare_root, "PAGE", 2)


def files(count: int, name: str = "{:03}.txt") -> dict[str, str]:
    return {name.format(number): f"text number {number}" for number in range(count)}


def unfinished(world: World) -> int:
    sql = "SELECT count(*) FROM jobs WHERE state IN ('ready', 'later', 'parked', 'running')"
    return int(world.rows(sql)[0][0])


def all_done(world: World, box: Item, count: int) -> None:
    found = tree_of(world, box)
    assert len([item for item in found.values() if not item.is_container]) == count
    assert {item.status for item in found.values()} == {COMPLETED}
    assert world.status(box) is COMPLETED
    assert world.ailments() == []


# --- taking turns -----------------------------------------------------------------------------


def test_an_expansion_gives_its_slot_back_after_ten_seconds_and_goes_on_there(
    world: World,
) -> None:
    box = world.directory(files(9) | {"zz.png": "x", "000.png": "x"})

    with listing(lasting(world, 4)) as seen:
        assert world.step_control()
        assert world.rows(
            "SELECT state, reason, attempt FROM jobs WHERE kind = 'prepare-root'"
        ) == [("later", "yielded", 0)]
    with listing(as_it_is) as rest:
        world.finish()

    assert len(seen) == 4
    assert sorted([*seen, *rest]) == sorted({*seen, *rest}), "an entry was examined twice"
    assert set(reasons(world, box)) == {"000.png", "zz.png"}
    all_done(world, box, 9)


def test_another_base_has_its_turn_beside_a_big_folder(world: World) -> None:
    world.directory(files(20), "big")
    other = world.hf.create_base("other", embedding_model=None)
    small = world.tree({"one.txt": "one"}, "small")
    (second,) = world.hf.add(other, [Directory(str(small))]).created

    with listing(lasting(world, 6)):
        world.step_control()
        world.step_control()

    assert world.item(second).own_outcome is COMPLETED


def test_a_stop_in_the_middle_keeps_the_place(world: World) -> None:
    box = world.directory(files(8))
    jobs = world.take(Lane.CONTROL)
    met: list[str] = []

    def stop_after_three(entry: Any) -> Any:
        met.append(entry.name)
        if len(met) == 3:
            runner.stopping.set()
        return entry

    runner = runner_of(world.engine.kb, world.engine.bells)
    with listing(stop_after_three):
        runner.execute(jobs)
    assert len(world.inside(box)) in {2, 4}

    world.reopen()
    with listing(as_it_is) as seen:
        world.finish()

    assert "000.txt" not in seen
    all_done(world, box, 8)


def test_two_names_that_read_the_same_are_told_apart_on_two_pages(world: World) -> None:
    composed, decomposed = "caf\u00e9.txt", "cafe\u0301.txt"
    box = world.directory({decomposed: "one", "caff.txt": "f", "cafg.txt": "g", composed: "two"})
    world.finish()
    before = generations(world, box)

    reindex(world, box)

    assert set(before) == {composed, "caff.txt", "cafg.txt"}
    assert generations(world, box) == {name: number + 1 for name, number in before.items()}
    assert list(reasons(world, box)) == [composed]
    assert world.inside(box)[composed].data["path"].endswith(decomposed)


@pytest.mark.parametrize("again", [False, True])
def test_a_name_that_is_told_twice_is_one_child(world: World, again: bool) -> None:
    box = world.directory(files(4))
    if again:
        world.finish()
        world.hf.reindex(box)

    with repeating():
        world.finish()

    assert set(generations(world, box).values()) == {2 if again else 1}
    assert not reasons(world, box)
    all_done(world, box, 4)


@contextmanager
def repeating() -> Iterator[None]:
    """Every listing tells each name three times."""
    real = FolderFiles.entries

    def entries(folder: FolderFiles, path: str, after: str = "") -> Iterator[Entry]:
        for entry in real(folder, path, after):
            yield from (entry, entry, entry)

    with mock.patch.object(FolderFiles, "entries", entries):
        yield


# --- waiting for room -------------------------------------------------------------------------


def test_with_a_full_queue_the_page_waits_and_all_get_indexed(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepare_root, "PAGE", 500)  # no page is larger than the queue
    world = make_world(max_queue_size=4)
    box = world.directory(files(25))
    most = 0

    for _ in range(200):
        while world.step_control():
            most = max(most, unfinished(world))
        if not world.step():
            break
    waiting = world.rows("SELECT reason, run_at FROM jobs WHERE kind = 'prepare-root'")
    assert waiting[0][0] == "queue_full"
    assert waiting[0][1] == round((world.clock.now + 5) * 1_000_000)

    world.finish(200)

    assert most <= 5  # the four, and the expansion itself
    all_done(world, box, 25)


def test_the_smallest_queue_of_all_is_enough(make_world: MakeWorld) -> None:
    world = make_world(max_queue_size=1)
    box = world.directory(files(5) | {"in/a.txt": "a", "in/b.txt": "b"})

    world.finish(200)

    all_done(world, box, 7)


def test_expansions_do_not_wait_for_one_another(make_world: MakeWorld) -> None:
    world = make_world(max_queue_size=3)
    box = world.directory({f"in{number}/a.txt": f"text {number}" for number in range(12)})

    world.finish(200)

    all_done(world, box, 12)


def test_a_paused_base_with_a_full_queue_does_not_hold_up_another(make_world: MakeWorld) -> None:
    world = make_world(max_queue_size=4)
    stuck = world.hf.create_base("stuck", embedding_model=None)
    folder = world.tree(files(4), "stuck")
    world.hf.add(stuck, [str(folder / name) for name in ("000.txt", "001.txt", "002.txt")])
    box = world.directory(files(9), "free")
    world.hf.pause(stuck)

    world.finish(200)

    all_done(world, box, 9)


def test_users_are_still_refused_as_a_whole(make_world: MakeWorld) -> None:
    world = make_world(max_queue_size=2)
    box = world.directory(files(3))

    world.finish(100)

    all_done(world, box, 3)
    assert world.jobs(JobKind.INDEX_DOCUMENTS) == ["done"] * 3


# --- dying, and being refused -----------------------------------------------------------------


class PowerCut(BaseException):
    """The process is no more."""


@contextmanager
def dying_at(commit: int) -> Iterator[list[int]]:
    """The process dies before its transaction with this number (from 1) is written."""
    real, count = SqliteMain.write, [0]

    @contextmanager
    def write(main: SqliteMain) -> Iterator[SqliteTransaction]:
        with real(main) as tx:
            yield tx
            count[0] += 1
            if count[0] == commit:
                raise PowerCut

    with mock.patch.object(SqliteMain, "write", write):
        yield count


def step_until_death(world: World) -> bool:
    """Expansions only; whether the process lived."""
    try:
        while world.step_control():
            pass
    except PowerCut:
        world.crash()
        return False
    return True


@pytest.mark.parametrize("again", [False, True])
def test_after_a_death_at_any_commit_the_same_children_are_there_once(
    make_world: MakeWorld, again: bool
) -> None:
    world = make_world()
    paths = files(5) | {"in/a.txt": "a", "in/b.txt": "b"}
    box, lived, commits = world.done_directory(paths), False, 0
    for commit in range(1, 60):
        if again:
            world.hf.reindex(box)
            world.step_control()
        else:
            world.hf.delete(box)
            world.drain()
            box = world.directory(paths)
        given = generations(world, box)

        with dying_at(commit) as count:
            lived = step_until_death(world)
            commits = count[0]
        world.finish()

        assert set(ids(world, box)) == {*paths, "in"}
        expected = {path: given[path] + 1 for path in given}
        assert not again or generations(world, box) == expected
        assert world.ailments() == []
        if lived:
            break
    assert lived
    assert commits >= 8


@pytest.mark.parametrize("place", range(1, 7))
def test_a_refused_job_fails_its_child_and_the_later_ones_of_its_page_only(
    world: World, place: int
) -> None:
    box = world.directory(files(6))

    with refusing_from(place):
        world.step_control()
        after_the_refusal = {name: item.error_code for name, item in world.inside(box).items()}
        world.finish()

    failed = {f"{place - 1:03}.txt"} | ({f"{place:03}.txt"} if place % 2 else set())
    assert {name for name, code in after_the_refusal.items() if code} == failed
    found = world.inside(box)
    assert {name for name, item in found.items() if item.status is FAILED} == failed
    assert {found[name].error_code for name in failed} == {"schedule_failed"}
    assert len(found) == 6
    assert {item.status for name, item in found.items() if name not in failed} == {COMPLETED}
    assert world.status(box) is FAILED

    reindex(world, box)
    all_done(world, box, 6)


def test_an_expansion_refused_on_every_page_comes_to_its_end(world: World) -> None:
    box = world.directory(files(12))

    with refusing(lambda job: job.kind is JobKind.INDEX_DOCUMENTS):
        world.finish()

    assert world.status(box) is FAILED
    found = world.inside(box)
    assert len(found) == 12
    assert {item.error_code for item in found.values()} == {"schedule_failed"}
    assert world.ailments() == []


def test_a_failed_expansion_fails_what_has_no_work_of_its_own_and_nothing_else(
    world: World,
) -> None:
    box = world.directory({"a.txt": "alpha", "b.txt": "beta", "in/c.txt": "gamma", "z.txt": "z"})
    with listing(lasting(world, 6)):
        world.step_control()  # a and b
        world.step_control()  # in and z
    world.rows("UPDATE jobs SET state = 'cancelled' WHERE item_id = ?", ids(world, box)["a.txt"])
    world.rows("UPDATE items SET own_outcome = NULL WHERE id = ?", box.id)
    with failing_at(0, Permanent("gone", code="source_unreadable")):
        world.finish()
    found = tree_of(world, box)

    assert found["a.txt"].error_code == "parent_failed"
    assert found["b.txt"].status is COMPLETED
    assert world.status(box) is FAILED


def test_a_container_that_waits_for_its_children_is_not_failed_with_its_parent(
    world: World,
) -> None:
    box = world.directory({"in/a.txt": "alpha", "z.txt": "zeta"})
    with listing(lasting(world, 6)):
        world.step_control()  # the root: two children, then it yields
    while world.inside(box)["in"].own_outcome is None:
        world.step_control()
    inner = world.inside(box)["in"]
    assert inner.status is PROCESSING
    kb = world.engine.kb
    with kb.main.write() as tx:
        assert inner.id not in tx.jobless_below(box.id)

    world.finish()
    all_done(world, box, 2)


def test_nothing_is_created_under_a_container_that_is_deleted_meanwhile(world: World) -> None:
    box = world.directory(files(6))
    with listing(lasting(world, 3)):
        world.step_control()
    assert len(world.inside(box)) == 4

    def delete(entry: Any) -> Any:
        if not world.item(box).deleting:
            world.hf.delete(box)
        return entry

    with listing(delete):
        world.finish()

    assert world.is_gone(box)
    assert world.rows("SELECT 1 FROM items") == []
    assert world.ailments() == []


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_twenty_thousand_files_go_through_a_queue_of_a_thousand(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepare_root, "PAGE", 500)
    world = make_world(max_queue_size=1_000)
    root = world.folder / "docs"
    for number in range(20_000):
        path = root / f"{number // 4_000}" / f"{number:05}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"file number {number}")

    box = world.directory({})
    world.finish(1_000)

    assert world.status(box) is COMPLETED
    done = world.rows("SELECT count(*) FROM items WHERE container = 0 AND status = 'completed'")
    assert done == [(20_000,)]
    assert world.rows("SELECT count(*) FROM items") == [(20_006,)]
