"""What does ingesting cost at the very least? Read, cut, embed, write; nothing survives a crash.

The yardstick of `bench/ingest.py`: chunks and vectors in SQLite, without durability, full text,
jobs, states, or any way to change a document later. Same cutter and same model as Holdfast.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from holdfast.domain.chunks import Chunk, Cutting, Segment
from holdfast.stages.chunking.structured import chunks_of
from holdfast.stages.embedding.hash_model import HashEmbedder

WIDTH, BATCH = 384, 128
SCHEMA = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE document (id INTEGER PRIMARY KEY, path TEXT, hash TEXT);
CREATE TABLE chunk (
    id INTEGER PRIMARY KEY, document INTEGER, ordinal INTEGER, char_start INTEGER,
    char_end INTEGER, text TEXT, vector BLOB
);
"""


def ingest(folder: Path, file: Path, settings: Cutting) -> int:
    """Every Markdown file below the folder; how many chunks."""
    model, count = HashEmbedder(WIDTH), 0
    with sqlite3.connect(file) as db:
        db.executescript(SCHEMA)
        rows = _chunks(db, folder, settings)
        while batch := list(islice(rows, BATCH)):
            vectors = model.embed([chunk.text for _, chunk in batch])
            db.executemany(
                "INSERT INTO chunk (document, ordinal, char_start, char_end, text, vector)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                [
                    (number, one.ordinal, one.char_start, one.char_end, one.text, row.tobytes())
                    for (number, one), row in zip(batch, vectors, strict=True)
                ],
            )
            count += len(batch)
    return count


def _chunks(db: sqlite3.Connection, folder: Path, settings: Cutting) -> Iterator[tuple[int, Chunk]]:
    for number, path in enumerate(sorted(folder.rglob("*.md"))):
        content = path.read_bytes()
        named = (number, str(path), hashlib.sha256(content).hexdigest())
        db.execute("INSERT INTO document VALUES (?, ?, ?)", named)
        for chunk in chunks_of([Segment(content.decode())], settings, "markdown"):
            yield number, chunk
