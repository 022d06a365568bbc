"""Which texts go into the next model call? Those that wait longest, whoever they belong to.

    run A  --- order: 64 texts ---+
    run B  --- order: 64 texts ---+--> one line per model --> batch --> call --> each order's share
    run C  --- order: 3 texts ----+

Every run that waits here may also be the one that calls: it takes the next batch from the line as
soon as its provider has a place, whether its own texts are in it or not. So there are never more
batches under way than runs, and a crash pays for one batch per slot. A text that several wait for
is sent once. A batch that is not full goes out at once when nobody is on the way who could fill it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice

from holdfast.domain.errors import StageFailed, Superseded
from holdfast.domain.ids import BaseId, TextHash
from holdfast.jobs.governor import Governor
from holdfast.ports import Clock, Runtime
from holdfast.workflow.orders import (
    Batch,
    Full,
    Line,
    Order,
    Wish,
    fitting,
)

LINGER = 0.25  # seconds a batch that is not full waits for runs that are on their way
WINDOW = 4  # batches of texts among which those of like length are chosen


class Kitchen:
    """Orders in, batches out; one condition guards all of it."""

    def __init__(
        self, runtime: Runtime, clock: Clock, governor: Governor, most: int, patience: float
    ) -> None:
        self._condition, self._clock, self._governor = runtime.condition(), clock, governor
        self._most, self._patience = most, patience
        self._lines: dict[tuple[str, int], Line] = {}
        self._at_work: dict[BaseId, int] = {}
        self._waiting: dict[BaseId, int] = {}
        self.known: set[tuple[BaseId, int]] = set()  # whose fixed text was asked in this process

    @contextmanager
    def expecting(self, base: BaseId) -> Iterator[None]:
        """A run is at work from which texts of this base may come."""
        self._change(self._at_work, base, 1)
        try:
            yield
        finally:
            self._change(self._at_work, base, -1)

    def _change(self, counted: dict[BaseId, int], base: BaseId, by: int) -> None:
        with self._condition:
            counted[base] = counted.get(base, 0) + by
            if not counted[base]:
                del counted[base]
            self._condition.notify_all()

    def count(self, provider: str, tokens: int) -> None:
        """A call beside the line: a question, a look whether somebody is there."""
        with self._condition:
            self._governor.of(provider).count(self._clock.mono(), tokens)

    # -- orders

    def place(self, order: Order, texts: Mapping[TextHash, str]) -> None:
        """These texts wait from now on; who waits for the same text shares its answer.

        But no run waits for an earlier one of its own job, which it may have been taken from
        because it hangs. Superseded when a run of this claim waits here: a message came twice.
        """
        with self._condition:
            line, now = self._line(order), self._clock.mono()
            if order.claim in line.claims:
                raise Superseded(f"claim {order.claim} is at work here already")
            line.claims.add(order.claim)
            self._waiting[order.base] = self._waiting.get(order.base, 0) + 1
            for one, text in texts.items():
                key = order.key(one)
                called, waiting = line.under_way.get(key), line.waiting.get(key)
                if called is not None and not called.jobs & order.jobs:
                    called.orders.append(order)
                elif waiting is not None:
                    waiting.orders.append(order)
                else:
                    line.waiting[key] = Wish(key, text, now, [order])
            self._condition.notify_all()

    def withdraw(self, order: Order) -> None:
        """Nobody waits any more; texts that only this order wanted leave the line.

        What is under way stays: its answer is paid for and kept.
        """
        with self._condition:
            line, order.gone = self._line(order), True
            line.claims.discard(order.claim)
            self._waiting[order.base] -= 1
            for key in map(order.key, order.open):
                if (wish := line.waiting.get(key)) is not None:
                    wish.orders = [other for other in wish.orders if other is not order]
                    if not wish.orders:
                        del line.waiting[key]
            self._condition.notify_all()

    def next(self, order: Order, look: Callable[[], None]) -> Batch | Full | None:
        """A batch to call for; None when the order came nearer to its end. `look` may raise."""
        with self._condition:
            before = len(order.open)
            while True:
                if len(order.open) < before or not order.open:
                    return None
                look()
                found = self._choose(order)
                if not isinstance(found, float | None):
                    return found
                self._condition.wait(found)

    def _choose(self, order: Order) -> Batch | Full | float | None:
        """A batch; or how long to wait for one, None for as long as it takes."""
        line, traffic = self._line(order), self._governor.of(order.provider)
        if not line.waiting or not traffic.has_place():
            return None
        size, now = min(self._most, order.embedder.max_batch), self._clock.mono()
        rest = next(iter(line.waiting.values())).came + LINGER - now
        if len(line.waiting) < size and rest > 0 and self._coming(line):
            return rest
        oldest = list(islice(line.waiting.values(), size * WINDOW))
        wishes = fitting(oldest, size, order.embedder)
        wait = traffic.wait(now, sum(wish.tokens for wish in wishes))
        if wait:
            return wait if wait <= self._patience else Full(wait)
        return self._taken(order, line, wishes)

    def _coming(self, line: Line) -> bool:
        """Is a run of these bases at work that has not said yet what it needs?"""
        bases = {order.base for wish in line.waiting.values() for order in wish.orders}
        return any(self._at_work.get(base, 0) > self._waiting.get(base, 0) for base in bases)

    def _taken(self, order: Order, line: Line, wishes: Sequence[Wish]) -> Batch:
        traffic = self._governor.of(order.provider)
        for wish in wishes:
            wish.jobs = order.jobs
            wish.join(line.under_way.get(wish.key))
            line.under_way[wish.key] = line.waiting.pop(wish.key)
        traffic.used += 1
        traffic.count(self._clock.mono(), sum(wish.tokens for wish in wishes))
        return Batch(line, wishes)

    # -- the end of a batch

    def leave(self, provider: str) -> None:
        """The place is free again."""
        with self._condition:
            self._governor.of(provider).used -= 1
            self._condition.notify_all()

    def answered(self, batch: Batch, wishes: Sequence[Wish]) -> None:
        """These are stored; each is paid for by the first who still waits for it."""
        with self._condition:
            for wish in wishes:
                payer = wish.holder
                payer.spent.embedded += 1
                payer.spent.tokens += wish.tokens
                payer.paid.add(wish.hash)
                for order in self._ended(batch, wish):
                    order.spent.reused += order is not payer and not order.gone
            self._condition.notify_all()

    def refused(self, batch: Batch, wish: Wish, refusal: StageFailed) -> None:
        """This text is refused, for everyone who waits for it."""
        with self._condition:
            for order in self._ended(batch, wish):
                order.guilty[wish.hash] = refusal
            self._condition.notify_all()

    def put_back(self, batch: Batch) -> None:
        """What has no answer waits again, in front; what nobody wants any more is forgotten."""
        with self._condition:
            back = {wish.key: wish for wish in batch.left}
            for one, wish in back.items():
                del batch.line.under_way[one]
                wish.orders = [order for order in wish.orders if not order.gone]
                wish.jobs = frozenset()
            wanted = {one: wish for one, wish in back.items() if wish.orders}
            for one, wish in wanted.items():
                wish.join(batch.line.waiting.pop(one, None))
            batch.line.waiting = {**wanted, **batch.line.waiting}
            self._condition.notify_all()

    def _ended(self, batch: Batch, wish: Wish) -> Sequence[Order]:
        if batch.line.under_way.get(wish.key) is wish:
            del batch.line.under_way[wish.key]
        for order in wish.orders:
            order.open.discard(wish.hash)
        return wish.orders

    def _line(self, order: Order) -> Line:
        key = (order.embedder.name, order.embedder.width)
        if key not in self._lines:
            self._lines[key] = Line()
        return self._lines[key]
