"""How does a page of chunks travel to and from the file? As one statement and as one row.

The driver gives the interpreter's lock away at every row it returns or executes, so a page is
bound as JSON beside one blob of its texts, and read back the same way.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.domain.chunks import Chunk, StoredChunk, text_hash
from holdfast.domain.ids import ClaimNo, ItemId, TextHash
from holdfast.stores.lines import words_of
from holdfast.stores.sqlite.connection import Damaged


@dataclass(frozen=True, slots=True)
class Page:
    """Chunks of one build, made ready before the writer's turn: cutting words takes long."""

    chunks: tuple[Chunk, ...]
    hashes: tuple[TextHash, ...]
    texts: tuple[bytes, ...]
    lines: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.chunks)

    def without(self, ordinals: frozenset[int]) -> Page:
        """The page less the places that are taken."""
        if not ordinals:
            return self
        return page_of([chunk for chunk in self.chunks if chunk.ordinal not in ordinals])


def page_of(chunks: Sequence[Chunk]) -> Page:
    """The chunks with everything about them that costs time."""
    return Page(
        tuple(chunks),
        tuple(chunk.hash for chunk in chunks),
        tuple(chunk.text.encode("utf-8", "surrogatepass") for chunk in chunks),
        tuple(" ".join(words_of(chunk.text)) for chunk in chunks),
    )


def rows_of(builds: Sequence[int], pages: Sequence[Page]) -> str:
    """The pages as `insert_chunks` reads them, one after the other."""
    rows: list[tuple[Any, ...]] = []
    at = 0
    for build, page in zip(builds, pages, strict=True):
        for chunk, hashed, text in zip(page.chunks, page.hashes, page.texts, strict=True):
            rows.append((build, chunk.ordinal, hashed, *_fields(chunk), at, len(text)))
            at += len(text)
    return json.dumps(rows)


def _fields(chunk: Chunk) -> tuple[Any, ...]:
    headings = json.dumps(chunk.headings) if chunk.headings else None
    return (chunk.char_start, chunk.char_end, chunk.page, headings)


def stored_chunks(row: tuple[Any, ...] | None, file: str) -> list[StoredChunk]:
    """The chunks in one row of JSON and texts; Damaged when a text is not what was written."""
    found: list[StoredChunk] = []
    at, (fields, texts) = 0, row or ("[]", b"")
    for chunk_id, item, claim, ordinal, start, end, page, headings, hashed, size in json.loads(
        fields
    ):
        text = _text(texts[at : at + size], hashed, file)
        chunk = Chunk(ordinal, text, start, end, page, tuple(headings or ()))
        found.append(StoredChunk(chunk_id, ItemId(item), ClaimNo(claim), chunk))
        at += size
    return found


def _text(content: bytes, hashed: str, file: str) -> str:
    try:
        text = content.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise Damaged(f"{file} holds a text that cannot be read") from error
    if text_hash(text) != hashed:
        raise Damaged(f"{file} holds a text that is not the one that was written")
    return text


def as_json(values: Iterable[object]) -> str:
    return json.dumps(list(values))
