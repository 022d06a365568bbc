"""What embedding cost: ledger and statistics say the same, and nothing is paid for twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from holdfast.domain.errors import Permanent
from holdfast.domain.events import EventKind
from holdfast.domain.item_states import Status
from holdfast.domain.items import Item
from tests.workflow.worlds import World

NUMBERS = ("embedded", "reused", "calls")


def told(world: World) -> dict[str, int]:
    """The sums over every `indexed` event of the ledger."""
    total: Counter[str] = Counter(dict.fromkeys(NUMBERS, 0))
    for event in world.hf.events():
        if event.kind is EventKind.INDEXED:
            total.update({name: event.detail[name] for name in NUMBERS})
    return dict(total)


def counted(world: World) -> dict[str, int]:
    stats = world.hf.stats()
    numbers = (stats.texts_embedded, stats.texts_reused, stats.model_calls)
    return dict(zip(NUMBERS, numbers, strict=True))


def of(world: World, item: Item) -> tuple[int, int]:
    (event,) = world.events(item, EventKind.INDEXED)
    return event.detail["embedded"], event.detail["reused"]


def test_events_of_a_bundle_add_up_to_the_statistics(world: World) -> None:
    world.notes("alpha", "beta", "alpha", "gamma")

    world.drain()

    assert told(world) == counted(world) == {"embedded": 3, "reused": 1, "calls": 1}


def test_the_first_holder_of_a_shared_text_pays_and_the_others_reuse_it(world: World) -> None:
    first, second, third = world.notes("alpha", "alpha", "beta")

    world.drain()

    assert [of(world, one) for one in (first, second, third)] == [(1, 0), (0, 1), (1, 0)]


def test_events_and_statistics_agree_after_an_item_left_its_bundle(world: World) -> None:
    world.models.on_call = refuses("guilty")
    world.notes("alpha", "guilty", "beta")

    world.finish()

    assert told(world) == counted(world)
    assert told(world)["embedded"] == 2


def test_events_and_statistics_agree_for_single_items(world: World) -> None:
    world.done_note("alpha " * 20_000)
    world.done_note("alpha " * 20_000)

    assert told(world) == counted(world)
    assert told(world)["reused"] > 0


def test_statistics_survive_a_delete_and_a_restart(world: World) -> None:
    item = world.done_note("alpha")
    before = counted(world)

    world.hf.delete(item)
    world.drain()
    world.reopen()

    assert counted(world) == before


def test_equal_texts_are_embedded_once_in_a_base(world: World) -> None:
    world.done_note("alpha")

    world.done_note("alpha")

    assert world.models.texts == ["alpha"]


def test_a_text_counts_again_after_its_last_holder_was_deleted(world: World) -> None:
    item = world.done_note("alpha")
    world.hf.delete(item)
    world.drain()

    world.done_note("alpha")

    assert world.models.texts == ["alpha", "alpha"]


def refuses(word: str) -> Callable[[Sequence[str]], None]:
    def on_call(texts: Sequence[str]) -> None:
        if any(word in text for text in texts):
            raise Permanent(f"the model refuses {word}", code="provider_failed")

    return on_call


def test_a_run_that_fails_has_its_calls_counted(world: World) -> None:
    def refuse(_texts: Sequence[str]) -> None:
        raise Permanent("these texts are refused", code="provider_failed")

    world.models.on_call = refuse
    item = world.note("alpha")
    world.drain()

    assert world.status(item) is Status.FAILED
    assert world.hf.stats().model_calls == 1
    assert world.hf.stats().texts_embedded == 0
