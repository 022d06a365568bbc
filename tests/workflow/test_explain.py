"""Every waiting item can say what it waits for."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.domain.errors import ProviderDown, Transient
from holdfast.domain.item_states import Status
from holdfast.domain.items import Item, Note
from holdfast.domain.jobs import Lane
from holdfast.jobs.waiting import Reason
from holdfast.workflow.providers import FIXED_TEXT
from tests.workflow.conftest import MakeWorld
from tests.workflow.worlds import World

LONG = "many words " * 10_000


def reason(world: World, item: Item) -> Reason:
    return world.hf.explain(item).reason


def test_a_completed_item_waits_for_nothing(world: World) -> None:
    assert reason(world, world.done_note()) is Reason.DONE


def test_a_failed_item_says_its_error(world: World) -> None:
    box = world.done_directory({"a.txt": b"\x00"})

    why = world.hf.explain(world.inside(box)["a.txt"])

    assert why.reason is Reason.FAILED
    assert "not a text file" in why.sentence


def test_an_idle_item_was_never_scheduled(world: World) -> None:
    item = world.note()
    world.force(item, Status.IDLE)

    assert reason(world, item) is Reason.IDLE


def test_the_first_of_the_queue_is_next(world: World) -> None:
    assert reason(world, world.note()) is Reason.NEXT


def test_behind_n_of_its_base(world: World) -> None:
    *_, last = world.notes("one", "two", "three")

    why = world.hf.explain(last)

    assert (why.reason, why.sentence) == (Reason.BEHIND, "2 jobs of its base stand before it")


def test_a_running_job_is_said_to_run(world: World) -> None:
    item = world.note()
    world.take()

    assert reason(world, item) is Reason.RUNNING


def test_a_full_base_names_its_cap(make_world: MakeWorld) -> None:
    world = make_world(per_base_concurrency=1)
    *_, last = world.notes(LONG, LONG + "2")
    world.take()

    why = world.hf.explain(last)

    assert why.reason is Reason.BASE_CAP
    assert "per_base_concurrency 1" in why.sentence


def test_a_full_engine_names_its_cap(make_world: MakeWorld) -> None:
    world = make_world(global_concurrency=1, per_base_concurrency=1)
    other = world.hf.create_base("other", embedding_model=None)
    waiting = world.note("waits", base=other)
    first = world.note(LONG)
    world.rows("UPDATE jobs SET ordinal = -1 WHERE item_id = ?", first.id)
    world.rows("UPDATE jobs SET state = 'later', run_at = 1e18 WHERE item_id = ?", waiting.id)
    world.take()
    world.rows("UPDATE jobs SET state = 'ready', run_at = NULL WHERE item_id = ?", waiting.id)

    assert reason(world, waiting) is Reason.CAP


def test_a_large_item_waits_for_a_slot_of_its_kind(make_world: MakeWorld) -> None:
    world = make_world(large_item_bytes=50_000)
    first, second = world.notes(LONG, LONG + "2")
    world.take()

    assert reason(world, first) is Reason.RUNNING
    assert reason(world, second) is Reason.LARGE_SLOT


def test_a_large_item_of_another_base_does_not_wait_while_half_the_slots_are_free(
    make_world: MakeWorld,
) -> None:
    world = make_world(large_item_bytes=50_000)
    world.note(LONG)
    world.take()
    other = world.hf.create_base("other", embedding_model=None)

    assert reason(world, world.note(LONG, base=other)) is Reason.NEXT


def test_a_paused_base_says_so(world: World) -> None:
    item = world.note()
    world.hf.pause(world.base)
    world.drain()

    assert reason(world, item) is Reason.PAUSED


def test_a_failed_base_says_so(world: World) -> None:
    item = world.note()
    world.fail_base()
    world.drain()

    why = world.hf.explain(item)

    assert why.reason is Reason.BASE_FAILED
    assert "missing_embedding_model" in why.sentence


def test_an_outage_says_which_provider_and_until_when(world: World) -> None:
    first, second = world.notes(LONG, "short")

    def down(_texts: Sequence[str]) -> None:
        raise ProviderDown("no answer", provider="hash", retry_after=30)

    world.models.on_call = down
    world.step()

    told, waiting = world.hf.explain(first), world.hf.explain(second)
    assert {told.reason, waiting.reason} == {Reason.PROVIDER}
    assert told.until == waiting.until
    assert told.attempt == 0
    assert told.last_error == "no answer"


def test_an_outage_fails_no_item_and_all_goes_on_when_it_ends(world: World) -> None:
    items = world.notes("alpha", LONG)
    outages = 20

    def down(_texts: Sequence[str]) -> None:
        nonlocal outages
        if outages:
            outages -= 1
            raise ProviderDown("no answer", provider="hash", retry_after=30)

    world.models.on_call = down
    world.finish(rounds=100)

    assert {world.status(item) for item in items} == {Status.COMPLETED}


def test_a_retry_says_when_and_after_what(world: World) -> None:
    item = world.note()

    def busy(texts: Sequence[str]) -> None:
        if texts[0] != FIXED_TEXT:
            raise Transient("it chokes on this one")

    world.models.on_call = busy
    world.step()

    why = world.hf.explain(item)
    assert (why.reason, why.attempt, why.last_error) == (Reason.RETRY, 1, "it chokes on this one")
    assert why.until is not None
    assert why.until.timestamp() == world.clock.now


def test_a_parked_item_waits_for_a_person(world: World) -> None:
    world.hf.update_base(world.base, recovery="ask")
    item = world.note()
    world.crash()

    assert reason(world, item) is Reason.PARKED


def test_a_container_waits_for_what_is_inside(world: World) -> None:
    box = world.directory({"a.txt": "alpha"})
    world.step_control()

    assert reason(world, box) is Reason.CHILDREN


def test_an_item_without_a_job_waits_for_the_sweep(world: World) -> None:
    item = world.note()
    world.force(item, Status.PROCESSING)

    assert reason(world, item) is Reason.NO_JOB


def test_what_is_inside_a_delete_waits_for_the_job_of_its_root(world: World) -> None:
    box = world.done_directory({"sub/a.txt": "alpha"})
    leaf = world.inside(world.inside(box)["sub"])["a.txt"]
    world.hf.delete(box)
    queued = reason(world, leaf)
    world.take(Lane.URGENT)

    assert (queued, reason(world, leaf)) == (Reason.NEXT, Reason.RUNNING)


def test_bases_of_a_paused_provider_are_passed_over_and_others_are_served(world: World) -> None:
    plain = world.hf.create_base("plain", embedding_model=None)
    with world.engine.kb.main.write() as tx:
        tx.pause_provider("hash", tx.now + 60_000_000, "quiet", failed=True)
    held = world.note()
    (free,) = world.hf.add(plain, [Note("alpha")]).created

    world.drain()

    assert (world.status(held), world.status(free)) == (Status.PROCESSING, Status.COMPLETED)
