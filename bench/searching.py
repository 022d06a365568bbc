"""Is a word that never went away always found, and how soon, while everything is written anew?"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from bench._figures import caveat, folder, rank, text_of
from bench._searchers import MODES, Seen, busy, search_beside, versioned
from holdfast import Note
from holdfast.domain.bases import Base
from holdfast.interfaces.cli.door import SWITCH_INTERVAL
from holdfast.interfaces.library import Holdfast
from holdfast.stages.embedding.registry import Registry

SEARCHERS, SECONDS, WORKERS, STANDING, BACKLOG = 8, 60.0, 4, 1_000, 12_000


def run(*, large: bool = False) -> None:
    sys.setswitchinterval(SWITCH_INTERVAL)
    caveat()
    with folder() as path:
        told(f"{SEARCHERS} searchers, one item written again", beside(path, SEARCHERS))
    with folder() as path:
        told(f"1 searcher, {WORKERS} workers indexing", beside(path, 1, BACKLOG))
    caveat()


def beside(path: Path, searchers: int, backlog: int = 0) -> Seen:
    """With a backlog the workers are never idle, and their model keeps the interpreter busy."""
    model = "busy/384" if backlog else "hash/384"
    with opened(path) as kb:
        base = kb.create_base(
            "b", embedding_model=model, dimensions=384, chunk_size=128, chunk_overlap=0
        )
        add(kb, base, STANDING)
        kb.wait(list(kb.items(base).items), timeout=600)
        (item,) = kb.add(base, Note(versioned(0), title="again")).created
        kb.wait(item)
        kb.pause(base)
        add(kb, base, backlog, first=STANDING)
        kb.resume(base)
        seen = search_beside(kb, base, item, searchers=searchers, seconds=SECONDS)
        assert bool(backlog) == bool(kb.queue(base).queue_size), "the workers had nothing to do"
        return seen


@contextmanager
def opened(path: Path) -> Iterator[Holdfast]:
    slots = dict.fromkeys(("global_concurrency", "per_base_concurrency"), WORKERS)
    with (
        patch("holdfast.assembly.Registry", lambda *_: Registry({"busy": busy})),
        Holdfast.open(path, **slots, io_concurrency=WORKERS) as kb,
    ):
        yield kb


def add(kb: Holdfast, base: Base, count: int, first: int = 0) -> None:
    for start in range(first, first + count, 1_000):
        kb.add(base, [Note(text_of(n, 300)) for n in range(start, start + 1_000)])


def told(what: str, seen: Seen) -> None:
    p50, p99 = (rank(seen.seconds, share) * 1e3 for share in (0.5, 0.99))
    print(
        f"  {what}: {seen.answers:,} answers ({' and '.join(MODES)}) over {SECONDS:.0f} s, "
        f"{len(seen.versions)} versions seen, {seen.empty} without the word, "
        f"{seen.torn} with two versions; p50 {p50:.1f} ms, p99 {p99:.1f} ms"
    )
