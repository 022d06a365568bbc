"""Which texts share a call, who pays for them, and who waits for whom."""

from __future__ import annotations

import pytest

from holdfast.domain.errors import Permanent, Superseded
from holdfast.domain.ids import BaseId, ClaimNo, JobId, TextHash
from holdfast.jobs.governor import Governor, Limits
from holdfast.machine.threads import Threads
from holdfast.ports import Condition
from holdfast.stages.embedding.hash_model import HashEmbedder
from holdfast.workflow.kitchen import LINGER, Kitchen
from holdfast.workflow.orders import Batch, Full, Order, Wish, fitting
from holdfast.workflow.oven import Spent
from tests.workflow.worlds import FakeClock

MODEL = HashEmbedder(8)


class Passing:
    """A condition on which time passes at once."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock, self.inner = clock, Threads().condition()

    def __enter__(self) -> object:
        return self.inner.__enter__()

    def __exit__(self, *_raised: object) -> None:
        self.inner.__exit__(None, None, None)

    def wait(self, timeout: float | None = None) -> bool:
        assert timeout is not None, "it would wait for ever"
        self.clock.advance(timeout)
        return False

    def notify(self, n: int = 1) -> None:
        self.inner.notify(n)

    def notify_all(self) -> None:
        self.inner.notify_all()


class Waiting(Threads):
    """Threads that never really wait."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock

    def condition(self) -> Condition:
        return Passing(self.clock)


class Room:
    """A kitchen whose clock stands still, and orders of one text a word."""

    def __init__(self, most: int = 4, limits: Limits | None = None) -> None:
        self.clock = FakeClock()
        governor = Governor(lambda _provider: limits or Limits(2))
        self.kitchen = Kitchen(Waiting(self.clock), self.clock, governor, most, patience=5.0)
        self.claims = 0

    def order(self, words: str, base: str = "A", job: int | None = None) -> Order:
        self.claims += 1
        texts = {TextHash(word): word for word in words.split()}
        jobs = frozenset({JobId(job or self.claims)})
        order = Order(
            BaseId(base), 1, ClaimNo(self.claims), jobs, "hash", MODEL, Spent(), set(texts)
        )
        self.kitchen.place(order, texts)
        return order

    def taken(self, order: Order) -> Batch:
        batch = self.kitchen.next(order, lambda: None)
        assert isinstance(batch, Batch)
        return batch


def words(batch: Batch) -> list[str]:
    return [wish.text for wish in batch.wishes]


def test_a_batch_holds_what_waits_longest_whoever_it_belongs_to() -> None:
    room = Room(most=4)
    first, second = room.order("a b c"), room.order("d e", base="B")

    assert words(room.taken(second)) == ["a", "b", "c", "d"]
    assert words(room.taken(first)) == ["e"]


def test_a_text_that_two_wait_for_is_sent_once_and_paid_for_by_the_first() -> None:
    room = Room()
    first, second = room.order("a b"), room.order("b")
    batch = room.taken(first)
    room.kitchen.answered(batch, batch.wishes)

    assert words(batch) == ["a", "b"]
    assert (first.paid, second.paid, second.open) == ({"a", "b"}, set(), set())
    assert second.spent.reused == 1


def test_equal_texts_of_two_bases_are_two_texts() -> None:
    room = Room()
    first, _ = room.order("a"), room.order("a", base="B")

    assert words(room.taken(first)) == ["a", "a"]


def test_who_leaves_takes_along_what_nobody_else_wants() -> None:
    room = Room()
    first, second = room.order("a b"), room.order("b c")
    room.kitchen.withdraw(first)

    assert words(room.taken(second)) == ["b", "c"]


def test_what_had_no_answer_waits_again_in_front() -> None:
    room = Room(most=2)
    first = room.order("a b")
    batch = room.taken(first)
    second = room.order("c")
    room.kitchen.put_back(batch)
    room.kitchen.leave("hash")

    assert words(room.taken(second)) == ["a", "b"]


def test_a_refused_text_is_refused_for_everyone_who_waits_for_it() -> None:
    room = Room()
    first, second = room.order("a"), room.order("a")
    batch = room.taken(first)
    refusal = Permanent("no", code="provider_failed")
    room.kitchen.refused(batch, batch.wishes[0], refusal)

    assert (first.guilty, second.guilty) == ({"a": refusal}, {"a": refusal})


def test_no_run_waits_for_an_earlier_one_of_its_own_job() -> None:
    room = Room()
    hanging = room.order("a", job=7)
    room.taken(hanging)

    assert words(room.taken(room.order("a", job=7))) == ["a"]


def test_two_runs_of_one_claim_are_one_too_many() -> None:
    room = Room()
    room.order("a")
    room.claims -= 1

    with pytest.raises(Superseded):
        room.order("b")


def test_a_batch_that_is_not_full_waits_a_moment_for_who_is_on_his_way() -> None:
    room = Room()
    first = room.order("a")
    alone = room.taken(first)
    room.kitchen.withdraw(first)
    with room.kitchen.expecting(BaseId("A")), room.kitchen.expecting(BaseId("A")):
        began = room.clock.now
        beside = room.taken(room.order("b"))

    assert (words(alone), words(beside)) == (["a"], ["b"])
    assert room.clock.now - began == pytest.approx(LINGER)


def test_our_own_limits_are_told_when_the_wait_is_long() -> None:
    room = Room(most=1, limits=Limits(9, requests=1))
    order = room.order("a b")
    room.taken(order)

    assert room.kitchen.next(order, lambda: None) == Full(60.0)


def test_texts_of_like_length_go_together_when_the_model_asks_for_it() -> None:
    model = HashEmbedder(8)
    model.batch_tokens = 40
    room = Room()
    order = room.order("")
    texts = ["x" * length for length in (30, 300, 27, 33, 290)]
    wishes = [Wish(order.key(TextHash(text)), text, 0.0, [order]) for text in texts]

    assert [len(wish.text) for wish in fitting(wishes, 4, model)] == [27, 30, 33]
    assert [len(wish.text) for wish in fitting(wishes[1:], 4, model)] == [300]
