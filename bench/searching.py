"""Is a word that never went away always found, and how soon, while everything is written anew?"""

from __future__ import annotations

import sys
from pathlib import Path
from unittest.mock import patch

from bench._figures import caveat, folder, rank, text_of
from bench._searchers import MODES, Seen, busy, search_beside, versioned
from holdfast import Note
from holdfast.interfaces.library import Holdfast
from holdfast.stages.embedding.registry import Registry

SEARCHERS, SECONDS, WORKERS, STANDING = 8, 60.0, 4, 1_000


def run(*, large: bool = False) -> None:
    sys.setswitchinterval(0.0005)  # as the server and the shell do
    caveat()
    with folder() as path:
        told(f"{SEARCHERS} searchers, one item written again", beside(path, SEARCHERS, 0))
    with folder() as path:
        told(f"1 searcher, {WORKERS} workers indexing", beside(path, 1, 2))
    caveat()


def beside(path: Path, searchers: int, indexers: int) -> Seen:
    with (
        patch("holdfast.assembly.Registry", lambda *_: Registry({"busy": busy})),
        Holdfast.open(
            path, global_concurrency=WORKERS, per_base_concurrency=WORKERS, io_concurrency=WORKERS
        ) as kb,
    ):
        model = "busy/384" if indexers else "hash/384"
        base = kb.create_base(
            "b", embedding_model=model, dimensions=384, chunk_size=128, chunk_overlap=0
        )
        kb.wait(kb.add(base, [Note(text_of(n, 300)) for n in range(STANDING)]).created)
        (item,) = kb.add(base, Note(versioned(0), title="again")).created
        kb.wait(item)
        return search_beside(
            kb, base, item, searchers=searchers, seconds=SECONDS, indexers=indexers
        )


def told(what: str, seen: Seen) -> None:
    p50, p99 = (rank(seen.seconds, share) * 1e3 for share in (0.5, 0.99))
    print(
        f"  {what}: {seen.answers:,} answers ({' and '.join(MODES)}) over {SECONDS:.0f} s, "
        f"{len(seen.versions)} versions seen, {seen.empty} without the word, "
        f"{seen.torn} with two versions; p50 {p50:.1f} ms, p99 {p99:.1f} ms"
    )
