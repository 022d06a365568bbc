"""Each kind of leftover is found and repaired, and nothing else is touched."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from holdfast.domain.bases import BaseStatus
from holdfast.domain.chunks import Chunk
from holdfast.domain.events import EventKind
from holdfast.domain.ids import BaseId, ClaimNo, ItemId
from holdfast.domain.item_states import ACTIVE, Status
from holdfast.domain.items import File
from tests.workflow.conftest import MakeWorld
from tests.workflow.worlds import World, nothing


def whys(world: World, item: ItemId) -> list[str]:
    return [event.detail["why"] for event in world.events(item, EventKind.REPAIRED)]


@pytest.mark.parametrize("status", sorted(ACTIVE - {Status.PREPARING}))
def test_an_active_item_without_a_job_gets_one_with_a_new_generation(
    world: World, status: Status
) -> None:
    item = world.note("alpha")
    world.force(item, status)
    generation = world.item(item).generation

    world.sweep()
    world.drain()

    done = world.item(item)
    assert (done.status, done.generation) == (Status.COMPLETED, generation + 1)
    assert whys(world, item.id) == ["it had no job"]


def test_a_container_without_a_job_is_expanded_again(world: World) -> None:
    box = world.directory({"a.txt": "alpha"})
    world.force(box, Status.PREPARING)

    world.sweep()
    world.drain()

    assert world.status(box) is Status.COMPLETED


def test_index_work_without_progress_for_too_long_is_freed_and_its_death_counted(
    world: World,
) -> None:
    item = world.note("alpha")
    seen: list[object] = []

    def hang(_texts: Sequence[str]) -> None:
        world.clock.advance(2_701)
        world.sweep()
        seen.extend(world.rows("SELECT state, deaths FROM jobs"))
        world.models.on_call = nothing

    world.models.on_call = hang
    world.drain()

    assert seen == [("ready", 1)]
    assert whys(world, item.id) == ["its run was lost"]
    assert world.status(item) is Status.COMPLETED


def test_index_work_that_says_it_lives_is_left_alone(make_world: MakeWorld) -> None:
    world = make_world(batch_size=1)
    item = world.note("\n\n".join(f"# {n}\n\nchapter {n}" for n in range(4)))

    def slowly(_texts: Sequence[str]) -> None:
        world.clock.advance(2_000)
        world.sweep()

    world.models.on_call = slowly
    world.drain()

    assert world.status(item) is Status.COMPLETED
    assert whys(world, item.id) == []


def test_a_lease_that_ran_out_frees_its_claim_where_leases_count(make_world: MakeWorld) -> None:
    world = make_world(lease_expires=True)
    world.note("alpha")
    world.take()
    world.clock.advance(61)

    world.sweep()

    assert world.jobs() == ["ready"]


def test_a_running_job_of_the_living_owner_is_never_freed_by_time(world: World) -> None:
    world.note("alpha")
    world.take()
    world.clock.advance(600)

    world.sweep()

    assert world.jobs() == ["running"]


def test_a_deleting_root_without_a_job_gets_one(world: World) -> None:
    item = world.done_note("alpha")
    world.hf.delete(item)
    world.rows("UPDATE jobs SET state = 'cancelled' WHERE kind = 'delete-subtree'")

    world.sweep()
    world.drain()

    assert world.is_gone(item)


def test_a_deleting_base_without_a_job_gets_one(world: World) -> None:
    world.done_note("alpha")
    with world.engine.kb.main.write() as tx:
        tx.set_base_state(BaseId(world.base.id), BaseStatus.DELETING, None)

    world.sweep()
    world.drain()

    assert world.rows("SELECT * FROM bases") == []


def test_a_build_nobody_published_is_removed_and_the_published_one_stays(world: World) -> None:
    item = world.done_note("alpha")
    index = world.engine.kb.index
    index.begin(world.base.id, item.id, ClaimNo(5))
    index.append(world.base.id, item.id, ClaimNo(5), None, [Chunk(0, "stray", 0, 5)])
    index.seal(world.base.id, item.id, ClaimNo(5))

    world.sweep()

    assert [row.claim for row in index.builds(world.base.id)] == [item.published_build]
    assert world.found("alpha") == [item.id]


def test_a_build_of_a_running_claim_is_left_alone(world: World) -> None:
    item = world.note("alpha")
    (job,) = world.take()
    assert job.claim is not None
    world.engine.kb.index.begin(world.base.id, item.id, job.claim)

    world.sweep()

    assert [row.claim for row in world.engine.kb.index.builds(world.base.id)] == [job.claim]


def test_an_index_without_a_base_goes_when_it_is_old_enough(make_world: MakeWorld) -> None:
    world = make_world(file_grace=0)
    stray = BaseId(world.engine.kb.ids.new())
    world.engine.kb.index.create(stray)
    world.clock.advance(400_000_000)  # ids bear the real time; the world's clock begins later

    world.sweep()

    assert world.engine.kb.index.bases() == [world.base.id]


def test_references_to_items_that_are_gone_go_with_their_bytes(world: World) -> None:
    (item,) = world.hf.add(world.base, [File(content=b"alpha", name="a.txt")]).created
    world.drain()
    world.rows("DELETE FROM items WHERE id = ?", item.id)

    world.sweep()

    assert world.rows("SELECT * FROM file_refs") == world.rows("SELECT * FROM file_entries") == []
    assert world.dump()["files"] == []


def test_stored_bytes_without_an_entry_go_after_their_grace(make_world: MakeWorld) -> None:
    world = make_world(file_grace=0)
    kept = world.hf.add(world.base, [File(content=b"alpha", name="a.txt")]).created
    world.engine.kb.files.keep("files/aa/aaaa-stray", b"stray")

    world.sweep()

    assert len(kept) == len(world.dump()["files"]) == 1


def test_young_bytes_without_an_entry_stay(world: World) -> None:
    world.engine.kb.files.keep("files/aa/aaaa-stray", b"stray")

    world.sweep()

    assert len(world.dump()["files"]) == 1


def test_finished_jobs_and_old_events_are_pruned(make_world: MakeWorld) -> None:
    world = make_world(keep_jobs_newest=1, keep_events_per_item=3)
    for turn in range(5):
        world.done_note(f"alpha {turn}")
    world.clock.advance(8 * 86_400)

    world.sweep()

    assert world.jobs() == ["done"]
    counted = "SELECT count(*) FROM item_events GROUP BY item_id"
    assert max(world.rows(counted)) == (3,)


def test_a_repair_that_fails_is_told_and_the_others_go_on(world: World) -> None:
    item = world.note("alpha")
    world.force(item, Status.READING)

    with world.failing_index("builds"):
        failures = world.sweep()

    assert [line.split(":")[0] for line in failures] == ["remove_leftover_builds"]
    assert world.status(item) is Status.PROCESSING


def test_a_sweep_of_a_sound_world_changes_nothing(world: World) -> None:
    world.done_directory({"a.txt": "alpha", "sub/b.txt": "beta"})
    world.notes("one", "two")
    world.take()
    before = world.dump()

    world.sweep()

    assert {**world.dump(), "engine": 0} == {**before, "engine": 0}
