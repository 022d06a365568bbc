"""What does the process do that the crash tests kill? It opens, adds, and says what was accepted.

Every line of the ledger was written after `add` (or `delete`) had returned: what stands there was
accepted and may never be lost. The model notes each call with its texts before it answers.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from holdfast import Note
from holdfast.domain.bases import Base
from holdfast.interfaces.library import Holdfast
from holdfast.jobs.claim import Claimed, claim
from holdfast.ports import Embedder
from holdfast.stages.embedding.hash_model import HashEmbedder
from holdfast.stages.embedding.registry import Registry

WIDTH, BATCH, NOTES_A_CALL = 16, 16, 20
PATIENCE = 5.0


class CountedModel:
    """The hash model of another name, which writes down what it is paid for."""

    max_batch = BATCH
    max_tokens: int | None = None
    tokenizer: str | None = None
    batch_tokens: int | None = None
    steady = True

    def __init__(self, paid: Path) -> None:
        self.name, self.width, self._model, self._paid = "paid/16", WIDTH, HashEmbedder(WIDTH), paid

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        append(self._paid, list(texts))
        return self._model.embed(texts)

    def embed_query(self, query: str) -> NDArray[np.float32]:
        return self._model.embed_query(query)


def append(file: Path, what: object) -> None:
    """One line, in one write: a kill leaves it whole or absent."""
    handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(handle, (json.dumps(what) + "\n").encode())
    finally:
        os.close(handle)


def say(word: str) -> None:
    """To whoever is about to kill us."""
    os.write(1, f"{word}\n".encode())


def opened(folder: Path, *, run: bool = True) -> Holdfast:
    def paid(_name: str, _dimensions: int) -> Embedder:
        return CountedModel(folder / "paid")

    began, claimed = time.perf_counter(), list[float]()

    def noted(*given: Any) -> Claimed:
        found = claim(*given)
        if found.jobs and not claimed:
            claimed.append(time.perf_counter() - began)
            append(folder / "first_claims", claimed[0])
        return found

    with (
        patch("holdfast.assembly.Registry", lambda *_: Registry({"paid": paid})),
        patch("holdfast.jobs.runner.claim", noted),
    ):
        kb = Holdfast.open(folder, run=run, batch_size=BATCH, sweep_interval=3_600)
        waited = PATIENCE if run else 0
        while kb.queue().queue_size and not claimed and time.perf_counter() - began < waited:
            time.sleep(0.001)
        return kb


def text_of(number: int) -> str:
    return " ".join(f"note{number}word{place}" for place in range(30))


def ingest(folder: Path, first: int, last: int) -> None:
    """Add the notes from `first` to `last`, delete some of every seventh call, work until done."""
    with opened(folder) as kb:
        base = base_of(kb)
        say("open")
        for start in range(first, last, NOTES_A_CALL):
            notes = [Note(text_of(start + n)) for n in range(NOTES_A_CALL)]
            created = kb.add(base, notes, idempotency_key=f"call {start}").created
            append(folder / "accepted", {"call": start, "items": [one.id for one in created]})
            if start % (7 * NOTES_A_CALL) == 0:
                delete(kb, folder, [one.id for one in created[:3]])
        while kb.queue(base).queue_size + kb.queue(base).processing_count:
            kb.wait([one.id for one in kb.items(base, limit=1_000).items])
        say("done")


def base_of(kb: Holdfast) -> Base:
    if kb.bases():
        return kb.base("b")
    return kb.create_base("b", embedding_model="paid/16", dimensions=WIDTH)


def delete(kb: Holdfast, folder: Path, items: list[str]) -> None:
    append(folder / "asked_to_delete", items)
    kb.delete(items)
    append(folder / "deleted", items)
