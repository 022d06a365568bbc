"""What happens at the doors of the two stores when the outside is unkind?

Each use of a store is a yield point and a fault point, named for the function that makes it. The
stores behind the doors are the real ones; only their luck is drawn. What must hold after every
commit is asked right behind it, before anybody else can run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, cast

from holdfast.domain.jobs import NewJob
from holdfast.stores.index import IndexStore
from holdfast.stores.main import MainStore, Snapshot, Transaction
from holdfast.stores.sqlite.queue import QueueRefused
from holdfast.testing.faults import Kind
from holdfast.testing.gate import Gate, error_of
from holdfast.testing.tasks import Task


class SimMain:
    """The main store of one process."""

    def __init__(
        self,
        inner: MainStore,
        gate: Gate,
        committed: Callable[[str], None],
        looked: Callable[[Task], None],
    ) -> None:
        self._inner, self._gate = inner, gate
        self._committed, self._looked = committed, looked

    def write(self) -> AbstractContextManager[Transaction]:
        return self._write(f"main.write {_caller()}")

    @contextmanager
    def _write(self, name: str) -> Iterator[Transaction]:
        fault = self._gate.drawn("main", name)
        if fault is not None:
            self._gate.before(fault, but=Kind.DISK_FULL)
        with self._inner.write() as tx:
            self._may_refuse(tx)
            yield tx
            if fault is not None and fault.kind is Kind.DISK_FULL:
                raise error_of(fault)  # the commit finds no room: all of it is undone
        self._committed(name)
        if fault is not None:
            self._gate.after(fault)

    def _may_refuse(self, tx: Transaction) -> None:
        """`enqueue` can say no; what the verb then does is its own, in the same transaction."""
        enqueue: Callable[[Sequence[NewJob]], None] = tx.enqueue

        def asked(jobs: Sequence[NewJob]) -> None:
            fault = self._gate.luck("enqueue", "enqueue")
            if fault is not None:
                self._gate.kernel.note(self._gate.process.name, str(fault))
                raise QueueRefused("injected: the queue does not take this job")
            enqueue(jobs)

        tx.enqueue = asked  # type: ignore[method-assign]

    def read(self) -> AbstractContextManager[Snapshot]:
        return self._read(f"main.read {_caller()}")

    @contextmanager
    def _read(self, name: str) -> Iterator[Snapshot]:
        fault = self._gate.drawn("read", name)
        if fault is not None:
            self._gate.before(fault)
        with self._inner.read() as snapshot:
            self._looked(self._gate.kernel.current)
            yield snapshot
        if fault is not None:
            self._gate.after(fault)

    def durable(self) -> None:
        self._gate.call("main", f"main.durable {_caller()}", self._inner.durable)

    def verify(self) -> list[str]:
        return self._gate.call("read", "main.verify", self._inner.verify)

    def mend(self) -> None:
        self._gate.call("main", "main.mend", self._inner.mend)

    def purge_due(self) -> bool:
        return self._gate.call("read", "main.purge_due", self._inner.purge_due)

    def purge(self) -> bool:
        return self._gate.call("main", "main.purge", self._inner.purge)

    def close(self) -> None:
        self._inner.close()


class SimIndex:
    """The index store of one process: every method by its name."""

    def __init__(self, inner: IndexStore, gate: Gate, committed: Callable[[str], None]) -> None:
        self._inner, self._gate, self._committed = inner, gate, committed

    def __getattr__(self, method: str) -> Any:
        inner = getattr(self._inner, method)
        name, port = f"index.{method}", "peek" if method in PEEKS else "index"

        def through(*args: Any, **named: Any) -> Any:
            return self._gate.call(port, name, lambda: self._done(inner(*args, **named), name))

        self.__dict__[method] = through
        return through

    def _done(self, answer: Any, name: str) -> Any:
        self._committed(name)
        return answer

    def close(self) -> None:
        self._inner.close()


PEEKS = frozenset(
    {"missing", "builds", "seals", "chunks", "snapshot", "bases", "verify", "hold", "purge_due"}
)


def sim_index(inner: IndexStore, gate: Gate, committed: Callable[[str], None]) -> IndexStore:
    return cast("IndexStore", SimIndex(inner, gate, committed))


def _caller() -> str:
    return sys._getframe(2).f_code.co_name  # noqa: SLF001  (the verb that opened the transaction)
