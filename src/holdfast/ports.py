"""What do we need from outside? Every clock, thread, file and model is reached through here.

`machine` and `stages` hold the real ones, `testing` the simulated; production code never asks
which it was given. A port's promises are in its docstring and in the contract suite of its name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self

from holdfast.domain.chunks import ChunkPage, Cutting
from holdfast.domain.ids import JobId
from holdfast.domain.jobs import Fence, Lane
from holdfast.domain.processing import Converted, Report

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Clock(Protocol):
    """Time: `wall` may jump, `mono` never goes back."""

    def wall(self) -> float: ...
    def mono(self) -> float: ...


class Ids(Protocol):
    """Identity: a new UUIDv7, later than every one before it."""

    def new(self) -> str: ...


class Rng(Protocol):
    """Chance, for jitter: a number from 0 up to 1."""

    def random(self) -> float: ...


class Lock(AbstractContextManager[object], Protocol):
    """One holder at a time; not re-entrant."""


class Event(Protocol):
    """Something that happens once; `wait` says whether it has."""

    def set(self) -> None: ...
    def is_set(self) -> bool: ...
    def wait(self, timeout: float | None = None) -> bool: ...


class Condition(AbstractContextManager[object], Protocol):
    """A lock that can be waited on; `wait` says whether it was notified before the time-out."""

    def wait(self, timeout: float | None = None) -> bool: ...
    def notify(self, n: int = 1) -> None: ...
    def notify_all(self) -> None: ...


class Thread(Protocol):
    """Work beside ours."""

    def join(self, timeout: float | None = None) -> None: ...
    def is_alive(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Limits:
    """What a child may take before it is ended; its item then fails as `parser_failed`."""

    memory: int = 1 << 30  # bytes of address space
    cpu: int = 600  # seconds of processor time
    silence: float = 600.0  # seconds somebody waits for its next answer
    output: int = 1 << 30  # bytes of all its answers together


class Child(Iterator[Any], Protocol):
    """The answers of a child, in order, as they come.

    What the task raised rises here: Permanent and Transient as they were, anything else (a crash,
    a hang, a bomb, a limit) as Permanent(`parser_failed`). Transient(`parser_failed`) when the
    child is not to blame: whoever starts children was killed, and has been started anew.
    """

    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...

    def close(self) -> None:
        """Ends the child. When this returns, nothing it started is alive; again is fine."""


class Runtime(Protocol):
    """Concurrency, so that a simulator can decide who runs next."""

    def thread(self, run: Callable[[], None], name: str) -> Thread: ...
    def lock(self) -> Lock: ...
    def condition(self) -> Condition: ...
    def event(self) -> Event: ...

    def child(
        self, task: str, argument: Any, *, about: str, limits: Limits, check: Callable[[], None]
    ) -> Child:
        """A task in a process of its own that can neither harm nor outlive this one.

        `task` is `module:function`, a generator function taking `argument`; argument and answers
        are JSON values. The child runs ahead by what a pipe holds and then waits for the reader.
        `check` is called while waiting, at least ten times a second, and ends the child by
        raising. `about` is what the sentences of errors name.
        """

    def close(self) -> None:
        """Ends every child and whoever starts them; nothing runs here afterwards."""


@dataclass(frozen=True, slots=True)
class Look:
    """What the file system says of a path without reading it."""

    kind: str  # file | directory | other
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a listed folder; `look` is absent when it could not be examined.

    `hint` is then what the folder itself says of it (file | directory | other), or `gone` when the
    entry went away after it was listed. A link's `look` is that of what it leads to.
    """

    name: str
    look: Look | None
    is_symlink: bool = False
    hint: str = "file"


@dataclass(frozen=True, slots=True)
class Copied:
    """What a copy holds: hash and size of the very bytes that were written."""

    sha256: str
    size: int


class Files(Protocol):
    """The user's files (read only) and the data folder's own (by relative name)."""

    def absolute(self, path: str) -> str:
        """The same place, whatever the working folder will be."""

    def look(self, path: str) -> Look:
        """What stands there; Permanent(`unreadable`) when nothing does or it may not be seen."""

    def read(self, path: str, limit: int) -> bytes:
        """At most `limit` bytes; Permanent(`too_large`) beyond, Permanent(`unreadable`) if not."""

    def copy(self, path: str, name: str, limit: int | None, beat: Callable[[], None]) -> Copied:
        """A user's file under a name of ours, where nothing changes it; errors as `read`, `keep`.

        `beat` is called between its blocks, and may raise to end it.
        """

    def read_if_there(self, path: str, limit: int) -> bytes | None:
        """As `read`; None when no regular file stands there."""

    def owns(self, path: str) -> bool:
        """Is this the data folder, or something inside it?"""

    def entries(self, path: str, after: str = "") -> Iterator[Entry]:
        """The names in a folder that sort after one, in order.

        Permanent(`source_unreadable`), or Transient with that code, at any failing read.
        """

    def keep(self, name: str, content: bytes) -> None:
        """Store bytes under a name of the data folder; on disk when this returns."""

    def move(self, name: str, to: str) -> None:
        """Stored bytes under another name; on disk there when this returns."""

    def place(self, name: str) -> str:
        """Where stored bytes can be read from, for somebody who opens files himself."""

    def kept(self, name: str, limit: int) -> bytes:
        """Bytes stored before; Permanent(`unreadable`) when they are gone."""

    def unlink(self, name: str) -> None:
        """Remove stored bytes; nothing there is fine."""

    def stored(self, folder: str) -> list[tuple[str, float]]:
        """Every stored file below a folder of ours: relative name and age in seconds."""

    def free(self) -> tuple[int, int]:
        """Free and total bytes of the data folder's disk."""

    def reserve(self, size: int) -> None:
        """Hold so many bytes of the disk for a day of need; 0 gives them up. No room is fine."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A page of the web, and what the server said of the copy that is here already."""

    url: str
    etag: str | None = None
    last_modified: str | None = None

    @property
    def is_known(self) -> bool:
        return self.etag is not None or self.last_modified is not None


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a server answered in the end; no content means: as it was."""

    url: str
    content: bytes | None
    media_type: str | None = None
    charset: str | None = None
    etag: str | None = None
    last_modified: str | None = None


class Fetcher(Protocol):
    """The one way out for documents: public addresses only, within bounds of size and time."""

    def fetch(self, wanted: Wanted, check: Callable[[], None]) -> Fetched:
        """The page. `check` is called in every wait and ends it by raising.

        Permanent(`fetch_refused`) when it may not be asked, Permanent(`fetch_failed`, `too_large`)
        when asking again cannot help, else Transient(`fetch_failed`), with the server's own time.
        """


class Embedder(Protocol):
    """A model that makes vectors; how many texts and tokens it takes, and who counts those.

    `max_tokens` of one text, None when nobody knows; `tokenizer` names who counts them, None when
    an estimate has to do. `batch_tokens` of one call, each text counted as long as the longest;
    None when only their number matters. `steady` when this name gives the same vectors for ever:
    weights of ours do, behind an endpoint another model may answer some day.
    """

    name: str
    width: int
    max_batch: int
    max_tokens: int | None
    tokenizer: str | None
    batch_tokens: int | None
    steady: bool

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One float32 row per text, in order; blocks until the model has answered.

        ProviderDown when nobody gets an answer, Transient when a later try may help, Permanent
        when these texts cannot be embedded.
        """

    def embed_query(self, query: str) -> NDArray[np.float32]:
        """As `embed` of this one text, to be compared with others: some models ask otherwise."""


class Embedders(Protocol):
    """The models of this installation by their `provider/model` name."""

    def resolve(self, model: str, dimensions: int) -> Embedder:
        """The model; Permanent(`missing_embedding_model`) when it is unknown or of other width."""

    def width(self, model: str) -> int:
        """The dimensions of a model by its name; Permanent as above."""


class Reranker(Protocol):
    """A model that reads a question beside each text, and so knows better than a vector."""

    name: str

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """One score per text, in the order of the texts; higher fits better.

        Errors as those of `Embedder.embed`. Asked outside of every snapshot: it may be slow.
        """


class Rerankers(Protocol):
    """The rerankers of this installation by their `provider/model` name."""

    def resolve(self, model: str) -> Reranker:
        """The reranker; InvalidInput, saying which there are, when it is not known here."""


@dataclass(frozen=True, slots=True)
class Source:
    """What an item is made of: bytes that cannot change underneath.

    Small ones are in memory, large ones at a place of ours. `media_type` is what the giver called
    them, absent when nobody said.
    """

    name: str
    content_hash: str
    size: int
    content: bytes | None = None
    place: str | None = None
    media_type: str | None = None


class Reader(Protocol):
    """Bytes into chunks."""

    def read(
        self, source: Source, cutting: Cutting, cancelled: Event
    ) -> Generator[ChunkPage, None, None]:
        """The chunks in order, in pages of bounded size; no page when there is nothing in it.

        Permanent with a code and advice when it cannot be read, also after some pages. `cancelled`
        ends it soon after it is set; closing the generator ends it at once.
        """


class Processor(Protocol):
    """A service, or a program, that makes Markdown of documents; slowly, and one by one.

    It is asked outside of every transaction and may take a minute to answer. Transient: nobody
    answered, ask again; Permanent: it refuses this document, in its own words.
    """

    def submit(self, source: Source) -> str:
        """Take a document; the id to ask for it with. Never idempotent."""

    def status(self, remote_id: str) -> Report:
        """How far it is; `lost` when the id means nothing (any more)."""

    def result(self, remote_id: str) -> Converted | None:
        """What was made of it; None when it is not there (any more): many give it only once."""

    def cancel(self, remote_id: str) -> None:
        """It is not wanted any more; who cannot stop at least forgets it."""


class Processors(Protocol):
    """The processors of this installation; what they declare stands in the settings."""

    def resolve(self, name: str) -> Processor:
        """Permanent(`processing_failed`), saying which there are, when it cannot be had."""


class Wakeups(Protocol):
    """What a committed transaction tells the runners of this process; losing one loses nothing."""

    def ready(self, lanes: Collection[Lane]) -> None: ...
    def cancelled(self, jobs: Collection[JobId]) -> None: ...
    def ended(self) -> None: ...

    def stuck(self, seconds: float) -> list[Fence]:
        """Index runs of this process that gave no sign of life for so long."""
