"""What the tests of the workflow share: a real data folder, a small model, and time as a value.

A `World` is an engine without threads: `drain` runs what is due in the test's own thread, so every
test is one story told in order. What should happen in the middle of a read or of a model call is
given as a function that the reader or the model calls there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest import mock

import apsw
import numpy as np
from numpy.typing import NDArray

from holdfast import assembly
from holdfast.assembly import Engine, caps_of, open_engine, runner_of
from holdfast.domain.bases import Base, BaseStatus
from holdfast.domain.chunks import ChunkPage, Cutting
from holdfast.domain.errors import HoldfastError, QueueFull, Transient
from holdfast.domain.events import Event, EventKind, stored
from holdfast.domain.ids import BaseId, ItemId
from holdfast.domain.item_states import Status
from holdfast.domain.items import Directory, Item, Note
from holdfast.domain.jobs import Fence, Job, JobKind, Lane, NewJob
from holdfast.interfaces.library import Holdfast
from holdfast.jobs.claim import Holder, claim
from holdfast.jobs.runner import Runner
from holdfast.ports import Embedder, Source
from holdfast.ports import Event as Happening
from holdfast.stages.embedding.registry import Registry
from holdfast.stages.reading.cutting import OwnReader
from holdfast.stages.reranking.registry import Rerankers
from holdfast.stores.index import IndexStore
from holdfast.stores.sqlite.main import SqliteTransaction
from holdfast.workflow.sweep import sweep

MODEL = "hash/32"
START = 1_800_000_000.0
PATIENCE = 20.0


@dataclass
class FakeClock:
    """Time that stands still until a test moves it."""

    now: float = START

    def wall(self) -> float:
        return self.now

    def mono(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


class FixedRng:
    """No jitter: what is tried again is due at once."""

    def random(self) -> float:
        return 0.0


def nothing(_texts: Sequence[str]) -> None:
    """What the model does beside embedding: nothing, unless a test says so."""


def nothing_read(_name: str, _content: bytes) -> None:
    """The same for the reader."""


@dataclass
class Models:
    """The installation's models; every call is kept, and `on_call` may act or refuse."""

    registry: Registry = field(default_factory=Registry)
    calls: list[tuple[str, ...]] = field(default_factory=list)
    on_call: Callable[[Sequence[str]], None] = nothing
    steady: bool = True
    turned: bool = False  # another model answers under the same name

    def resolve(self, model: str, dimensions: int) -> Embedder:
        return Tapped(self, self.registry.resolve(model, dimensions))

    def width(self, model: str) -> int:
        return self.registry.width(model)

    @property
    def texts(self) -> list[str]:
        return [text for call in self.calls for text in call]


class Tapped:
    """One model, its calls heard."""

    def __init__(self, models: Models, inner: Embedder) -> None:
        self.models, self.inner = models, inner
        self.name, self.width, self.max_batch = inner.name, inner.width, inner.max_batch
        self.max_tokens, self.tokenizer = inner.max_tokens, inner.tokenizer
        self.batch_tokens, self.steady = inner.batch_tokens, models.steady

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.models.calls.append(tuple(texts))
        self.models.on_call(texts)
        rows = self.inner.embed(texts)
        return np.roll(rows, 1, axis=1) if self.models.turned else rows

    def embed_query(self, query: str) -> NDArray[np.float32]:
        self.models.calls.append((query,))
        self.models.on_call([query])
        return self.inner.embed_query(query)


@dataclass
class Overlap:
    """A reranker: how many of the question's words stand in a text; `on_call` may act or refuse."""

    name: str = "test/overlap"
    calls: list[tuple[str, ...]] = field(default_factory=list)
    on_call: Callable[[Sequence[str]], None] = nothing

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        self.calls.append(tuple(texts))
        self.on_call(texts)
        return [float(len(set(query.split()) & set(text.split()))) for text in texts]


@dataclass
class Readings:
    """The plain reader; `on_read` may act or refuse."""

    names: list[str] = field(default_factory=list)
    on_read: Callable[[str, bytes], None] = nothing_read

    def read(
        self, source: Source, cutting: Cutting, cancelled: Happening
    ) -> Generator[ChunkPage, None, None]:
        self.names.append(source.name)
        self.on_read(source.name, source.content or b"")
        return OwnReader().read(source, cutting, cancelled)


class World:
    """An open data folder without threads, and hands to move it with."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.folder, self.settings = folder, settings
        self.clock, self.models, self.reader = FakeClock(), Models(), Readings()
        self.reranker = Overlap()
        self.engine = self._opened()
        self.hf = Holdfast(self.engine)
        self.base = self.hf.create_base("manuals", embedding_model=MODEL)

    def _opened(self) -> Engine:
        with ExitStack() as stack:
            for name, part in (
                ("SystemClock", self.clock),
                ("SystemRng", FixedRng()),
                ("Registry", self.models),
                ("ReaderApart", self.reader),
                ("Rerankers", Rerankers({"test": lambda _name: self.reranker})),
            ):
                stack.enter_context(mock.patch.object(assembly, name, return_value=part))
            engine = open_engine(self.folder / "kb", run=False, given=self.settings)
        engine.start()
        return engine

    def close(self) -> None:
        self.engine.close()

    def reopen(self) -> None:
        """A graceful stop and a new start."""
        self.engine.close()
        self.engine = self._opened()
        self.hf = Holdfast(self.engine)

    def crash(self) -> None:
        """The process dies where it stands; another one starts."""
        self.engine.kb.index.close()
        self.engine.kb.main.close()
        if self.engine.lock is not None:
            self.engine.lock.close()
        self.engine = self._opened()
        self.hf = Holdfast(self.engine)

    # --- what is given in ------------------------------------------------------------------

    def note(self, text: str = "The lamp hums at night.", *, base: Base | None = None) -> Item:
        """A note, accepted and not yet done."""
        added = self.hf.add(base or self.base, [Note(text)])
        return added.created[0]

    def notes(self, *texts: str) -> list[Item]:
        return list(self.hf.add(self.base, [Note(text) for text in texts]).created)

    def done_note(self, text: str = "The lamp hums at night.") -> Item:
        """A note that can be found."""
        item = self.note(text)
        self.drain()
        return self.item(item)

    def tree(self, files: Mapping[str, str | bytes], name: str = "docs") -> Path:
        """A folder of the user's with these files."""
        root = self.folder / name
        root.mkdir(exist_ok=True)
        for path, content in files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content if isinstance(content, bytes) else content.encode())
        return root

    def directory(self, files: Mapping[str, str | bytes], name: str = "docs") -> Item:
        """A folder, accepted and not yet listed."""
        return self.hf.add(self.base, [Directory(str(self.tree(files, name)))]).created[0]

    def done_directory(self, files: Mapping[str, str | bytes], name: str = "docs") -> Item:
        box = self.directory(files, name)
        self.drain()
        return self.item(box)

    # --- how work is done ------------------------------------------------------------------

    def drain(self) -> None:
        """Everything that is due now."""
        self.hf.drain(due_only=True)  # no time limit: these clocks are moved by the tests

    def finish(self, rounds: int = 50) -> None:
        """Everything that comes by itself: time moves to the next delayed job."""
        for _ in range(rounds):
            self.drain()
            due = [row[0] for row in self.rows("SELECT run_at FROM jobs WHERE state = 'later'")]
            if not due:
                return
            self.clock.now = max(self.clock.now, min(due) / 1_000_000)
        raise AssertionError("work is still put off after all rounds")

    def step(self, lane: Lane = Lane.INDEX) -> bool:
        """One claim and what it brought; False when there was nothing."""
        return self.runner().step(lane) is None

    def runner(self) -> Runner:
        return runner_of(self.engine.kb, self.engine.bells)

    def step_control(self) -> bool:
        """One expansion, re-index or page of one."""
        return self.step(Lane.CONTROL)

    def take(self, lane: Lane = Lane.INDEX) -> tuple[Job, ...]:
        """Claim as a slot would, and do nothing with it yet."""
        kb = self.engine.kb
        return claim(kb.main, lane, caps_of(kb.settings), Holder(kb.owner, kb.lease)).jobs

    def post(self) -> tuple[Job, ...]:
        """Claim for nobody yet, as a pump does that posts messages."""
        kb = self.engine.kb
        return claim(kb.main, Lane.INDEX, caps_of(kb.settings), Holder(None, kb.lease)).jobs

    def take_control(self) -> tuple[Job, ...]:
        return self.take(Lane.CONTROL)

    def execute(self, jobs: Sequence[Job]) -> None:
        self.runner().execute(jobs)

    def sealing(self, act: Callable[[], object]) -> None:
        """Act once, when the next builds are sealed and before they are published."""
        index = self.engine.kb.index
        acts = [act]

        def then_act(seal: Callable[..., Any]) -> Callable[..., Any]:
            def sealed(*args: Any) -> Any:
                seals = seal(*args)
                while acts:
                    acts.pop()()
                return seals

            return sealed

        tapped = {name: then_act(getattr(index, name)) for name in ("seal", "write_small")}
        self._with_index(mock.Mock(wraps=index, **tapped))

    @contextmanager
    def failing_index(self, *names: str) -> Iterator[None]:
        """While this holds, these methods of the index fail as a busy disk does."""
        index, engine = self.engine.kb.index, self.engine
        trouble = Transient("the disk is busy", code="internal")
        broken = {name: mock.Mock(side_effect=trouble) for name in names}
        self._with_index(mock.Mock(wraps=index, **broken))
        yield
        engine.kb = replace(engine.kb, index=index)

    def _with_index(self, index: IndexStore) -> None:
        self.engine.kb = replace(self.engine.kb, index=index)

    def sweep(self) -> list[str]:
        return sweep(self.engine.kb)

    # --- what is true ----------------------------------------------------------------------

    def item(self, item: Item | ItemId) -> Item:
        return self.hf.item(item)

    def status(self, item: Item | ItemId) -> Status:
        return self.item(item).status

    def is_gone(self, item: Item | ItemId) -> bool:
        wanted = item if isinstance(item, str) else item.id
        return not self.rows("SELECT 1 FROM items WHERE id = ?", wanted)

    def inside(self, box: Item | ItemId) -> dict[str, Item]:
        """The living children of a container by name."""
        return {one.name: one for one in self.hf.items(self.base, parent=box, limit=1000).items}

    def found(self, query: str) -> list[ItemId]:
        return [hit.item_id for hit in self.hf.search(query, bases=[self.base]).hits]

    def jobs(self, kind: JobKind | None = None) -> list[str]:
        """The states of the jobs of a kind, oldest first."""
        rows = self.rows(
            "SELECT state FROM jobs WHERE ? IS NULL OR kind = ? ORDER BY id", kind, kind
        )
        return [row[0] for row in rows]

    def events(self, item: Item | ItemId, kind: EventKind) -> list[Event]:
        return [event for event in self.hf.history(item) if event.kind is kind]

    def statuses_met(self, *, container: bool) -> set[str]:
        """The states the ledger has seen of leaves or of containers."""
        sql = """SELECT DISTINCT event.status FROM item_events AS event
                 JOIN items ON items.id = item_id
                 WHERE event.status IS NOT NULL AND container = ?"""
        return {row[0] for row in self.rows(sql, container)}

    def ailments(self) -> list[str]:
        """Every invariant that does not hold."""
        return [f"{one.invariant}: {one.subject} {one.sentence}" for one in self.hf.doctor()]

    # --- behind the door -------------------------------------------------------------------

    @contextmanager
    def database(self) -> Iterator[apsw.Connection]:
        connection = apsw.Connection(str(self.folder / "kb" / "holdfast.db"))
        connection.set_busy_timeout(5_000)
        try:
            yield connection
        finally:
            connection.close()

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        with self.database() as connection:
            return list(connection.execute(sql, values))

    def dump(self) -> dict[str, list[tuple[Any, ...]]]:
        """Every row of every table, and every stored file."""
        tables = self.rows("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        found = {
            table: sorted(self.rows(f"SELECT * FROM {table}"), key=repr) for (table,) in tables
        }
        kept = sorted((self.folder / "kb" / "files").rglob("*"))
        return {**found, "files": [(str(path),) for path in kept if path.is_file()]}

    def force(self, item: Item | ItemId, status: Status) -> None:
        """Put an item into a state as no operation would, without any job."""
        wanted = item if isinstance(item, str) else item.id
        said = "'internal'" if status is Status.FAILED else "NULL"
        self.rows(
            f"UPDATE items SET status = ?, generation = generation + 1, error_code = {said},"
            f" error = {said}, error_advice = {said}, heartbeat_at = ? WHERE id = ?",
            status,
            stored(self.clock.wall()),
            wanted,
        )
        self.rows("DELETE FROM jobs WHERE item_id = ?", wanted)

    def fail_base(self, base: Base | None = None) -> None:
        base_id = BaseId((base or self.base).id)
        with self.engine.kb.main.write() as tx:
            tx.set_base_state(base_id, BaseStatus.FAILED, "missing_embedding_model")


@contextmanager
def refusing(which: Callable[[NewJob], bool], error: HoldfastError | None = None) -> Iterator[None]:
    """While this holds, `enqueue` refuses every call with a job like that."""
    refusal = error or QueueFull("the queue takes no such job today")
    real = SqliteTransaction.enqueue

    def enqueue(tx: SqliteTransaction, jobs: Sequence[NewJob]) -> None:
        if any(which(job) for job in jobs):
            raise refusal
        real(tx, jobs)

    with mock.patch.object(SqliteTransaction, "enqueue", enqueue):
        yield


@contextmanager
def refusing_from(place: int, error: HoldfastError | None = None) -> Iterator[None]:
    """`enqueue` refuses the job that comes in this place (from 1), and only that one."""
    seen: dict[str, int] = {}

    def is_the_one(job: NewJob) -> bool:
        return seen.setdefault(job.key, len(seen) + 1) == place

    with refusing(is_the_one, error):
        yield


def once(act: Callable[[], object]) -> Callable[..., None]:
    """Act at the first call only."""
    waiting = [act]

    def on_call(*_: object) -> None:
        while waiting:
            waiting.pop()()

    return on_call


def every(_job: NewJob) -> bool:
    return True


def eventually(holds: Callable[[], bool], what: str, patience: float = PATIENCE) -> None:
    """Wait for what another thread brings about, up to a deadline."""
    deadline = time.monotonic() + patience
    while not holds():
        assert time.monotonic() < deadline, f"not in {patience} s: {what}"
        time.sleep(0.002)


def fence_of(job: Job) -> Fence:
    """What the writes of a run of this claimed job carry."""
    assert job.claim is not None
    return Fence(job.id, job.claim, job.item_id, job.generation)
