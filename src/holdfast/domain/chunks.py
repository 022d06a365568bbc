"""What is a chunk: an exact slice of an item's text, and how are slices counted and compared?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice

from holdfast.domain.bases import BaseSettings
from holdfast.domain.ids import BaseId, ClaimNo, ItemId, TextHash

PAGE_CHUNKS = 1_000
MARKDOWN, PLAIN = "markdown", "plain"  # the forms a text has: headings are in the first only


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of a document's text as it is read, in order; offsets count over all of them."""

    text: str
    page: int | None = None  # from 1; absent where the format has no pages


@dataclass(frozen=True, slots=True)
class Cutting:
    """How a base wants its texts cut: sizes in tokens; nobody to count them means an estimate."""

    size: int
    overlap: int = 0
    separator: str | None = None  # None: where the author paused
    tokenizer: str | None = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of an item's text: `document text[char_start:char_end] == text`."""

    ordinal: int
    text: str
    char_start: int
    char_end: int
    page: int | None = None
    headings: tuple[str, ...] = ()

    @property
    def hash(self) -> TextHash:
        return text_hash(self.text)


@dataclass(frozen=True, slots=True)
class ChunkPage:
    """Chunks that follow one another, and how much of the source is read when they are cut."""

    chunks: tuple[Chunk, ...]
    share: float
    title: str | None = None  # the document's own, where it has one


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk as the index holds it."""

    id: int
    item_id: ItemId
    build: ClaimNo
    chunk: Chunk


@dataclass(frozen=True, slots=True)
class Seal:
    """What a finished build holds: the number of its chunks and a digest of them in order."""

    count: int
    digest: str


@dataclass(frozen=True, slots=True)
class SmallBuild:
    """A whole build of a small item, written in one go beside others."""

    item_id: ItemId
    claim: ClaimNo
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, slots=True)
class ChunkView:
    """A chunk as a caller sees it."""

    id: str
    item_id: ItemId
    base_id: BaseId
    ordinal: int
    content: str
    char_start: int
    char_end: int
    page: int | None
    headings: tuple[str, ...]


def text_hash(text: str) -> TextHash:
    """128 bits of SHA-256: equal texts share one vector."""
    return TextHash(sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32])


def digest_of(hashes: Iterable[TextHash]) -> Seal:
    """The seal of chunks given in order by the hashes of their texts."""
    running, count = sha256(), 0
    for one in hashes:
        running.update(one.encode())
        count += 1
    return Seal(count, running.hexdigest()[:32])


def pages(chunks: Iterable[Chunk], size: int = PAGE_CHUNKS) -> Iterator[list[Chunk]]:
    """The chunks in pages that fit in memory and in one transaction."""
    rest = iter(chunks)
    while page := list(islice(rest, size)):
        yield page


def cutting_of(
    settings: BaseSettings, max_tokens: int | None = None, tokenizer: str | None = None
) -> Cutting:
    """As the base asks; a model that takes less of one text shrinks chunk and overlap alike."""
    size = min(settings.chunk_size, max_tokens or settings.chunk_size)
    overlap = settings.chunk_overlap * size // settings.chunk_size
    separator = settings.chunk_separator if settings.chunk_strategy == "delimiter" else None
    return Cutting(size, overlap, separator, tokenizer)


def chunk_id(item: ItemId, build: ClaimNo, ordinal: int) -> str:
    """The name a caller knows a chunk by."""
    return f"{item}.{build}.{ordinal}"


def about_tokens(text: str) -> int:
    """How many tokens a text may have, when nobody counts: three bytes each, in every script."""
    return len(text.encode("utf-8", "replace")) // 3 + 1
