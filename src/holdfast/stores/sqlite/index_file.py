"""How is one base's index written and read? Each change is one FULL transaction.

A removal first lets builds go, which hides them, and then takes their chunks slice by slice; what
a crash leaves half removed is listed among the builds, and removed by whoever finds it. A vector
that no chunk names is noted in `lone`, so the living are told from the dead without a search.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from holdfast.domain.chunks import Chunk, Seal, SmallBuild, StoredChunk, digest_of
from holdfast.domain.errors import Superseded
from holdfast.domain.ids import BaseId, ClaimNo, ItemId, TextHash
from holdfast.stores.index import BuildRow, Pair, VectorsMissing
from holdfast.stores.sqlite import codes as coding
from holdfast.stores.sqlite.connection import Damaged, Database, Session
from holdfast.stores.sqlite.index_page import Page, as_json, page_of, rows_of, stored_chunks
from holdfast.stores.vectors import unit_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

OPEN, SEALED = 0, 1
SLICE_CHUNKS = 1_000  # about 50 ms
KEPT_TOMBSTONES = 10_000


class IndexFile:
    """The index of one base, open."""

    def __init__(self, database: Database, base: BaseId, *, clean: bool) -> None:
        self.database, self.base = database, base
        self._clean = clean

    # ------------------------------------------------------------------ vectors

    def missing(self, space: int, hashes: Collection[TextHash]) -> set[TextHash]:
        with self.database.read() as session:
            return _missing(session, space, hashes)

    def put_vectors(
        self,
        space: int,
        claim: ClaimNo,
        hashes: Sequence[TextHash],
        vectors: NDArray[np.float32],
    ) -> None:
        import numpy as np

        with self.database.read() as session:
            width = session.value("width_of_space", space=space)
        rows = unit_rows(vectors, len(hashes), width).astype(np.float16)
        if not hashes:
            return
        texts = as_json(hashes)
        with self._write() as session:
            named = json.loads(session.value("new_hashes", space=space, hashes=texts))
            session.run("note_space", space=space, width=rows.shape[1])
            values = {"space": space, "claim": claim, "size": rows.shape[1] * 2}
            session.run("put_vectors", hashes=texts, rows=rows.tobytes(), **values)
            session.run("note_lone_vectors", hashes=texts)
            if named:
                _code_filled_pages(session, space, named)

    # ------------------------------------------------------------------- builds

    def begin(self, item: ItemId, claim: ClaimNo) -> None:
        with self._write() as session:
            _begin(session, [(item, claim)])

    def append(
        self, item: ItemId, claim: ClaimNo, space: int | None, chunks: Sequence[Chunk]
    ) -> None:
        page = page_of(chunks)
        with self._write() as session:
            build, state, _ = _standing(session, item, claim)
            page = page.without(_taken(session, build, page))
            if page and state == SEALED:
                raise Superseded(f"build {claim} of item {item} is sealed already")
            _insert(session, space, [build], [page])

    def seal(self, item: ItemId, claim: ClaimNo) -> Seal:
        with self._write() as session:
            build, state, seal = _standing(session, item, claim)
            if state == SEALED and seal:
                return seal
            row = session.one("hashes_of_build", build=build)
            seal = _seal_of(row[1]) if row else digest_of([])
            _seal(session, build, seal, session.value("next_index_rev"))
            return seal

    def write_small(self, space: int | None, builds: Sequence[SmallBuild]) -> list[Seal]:
        pages = [page_of(build.chunks) for build in builds]
        seals = [digest_of(page.hashes) for page in pages]
        with self._write() as session:
            opened = _begin(session, [(build.item_id, build.claim) for build in builds])
            _insert(session, space, opened, pages)
            rev = session.value("next_index_rev")
            for build, seal in zip(opened, seals, strict=True):
                _seal(session, build, seal, rev)
        return seals

    # ----------------------------------------------------------------- removing

    def drop_before(self, builds: Collection[Pair], live: Collection[ClaimNo]) -> None:
        with self._write() as session:
            found = json.loads(session.value("builds_before", pairs=as_json(builds)))
            left = _remove(session, found, live)
        self._remove_rest(left, live)

    def remove(self, pairs: Collection[Pair], live: Collection[ClaimNo]) -> None:
        with self._write() as session:
            found = json.loads(session.value("builds_exactly", pairs=as_json(pairs)))
            left = _remove(session, found, live)
        self._remove_rest(left, live)

    def remove_items(self, items: Collection[ItemId], live: Collection[ClaimNo]) -> bool:
        with self._write() as session:
            found = json.loads(session.value("builds_of_items", items=as_json(items)))
            return not _remove(session, found, live)

    def _remove_rest(self, builds: list[int], live: Collection[ClaimNo]) -> None:
        """The other slices, each its own turn, so that others get theirs between."""
        while builds:
            with self._write() as session:
                builds = _remove(session, builds, live)

    # ------------------------------------------------------------------ reading

    def builds(self) -> list[BuildRow]:
        with self.database.read() as session:
            return [
                BuildRow(ItemId(item), ClaimNo(claim), None if n is None else Seal(n, digest))
                for item, claim, n, digest in session.rows("all_builds")
            ]

    def seals(self, pairs: Collection[Pair]) -> dict[Pair, Seal]:
        with self.database.read() as session:
            rows = session.rows("seals_of", pairs=as_json(pairs))
        return {(ItemId(i), ClaimNo(claim)): Seal(n, digest) for i, claim, n, digest in rows}

    def chunks(self, item: ItemId, claim: ClaimNo, after: int, limit: int) -> list[StoredChunk]:
        with self.database.read() as session:
            row = session.one("chunks_of_build", item=item, claim=claim, after=after, limit=limit)
        return stored_chunks(row, self.database.name)

    # ------------------------------------------------------------------ closing

    def close(self, *, sound: bool = True) -> None:
        """Closed in good order: the next open need not look closely."""
        if sound and not self._clean and not self.database.readonly:
            with self.database.write() as session:
                session.run("mark_index_clean", clean=1)
        self.database.close()

    @contextmanager
    def _write(self) -> Iterator[Session]:
        with self.database.write() as session:
            if self._clean:
                session.run("mark_index_clean", clean=0)
            yield session
        self._clean = False


def _missing(session: Session, space: int, hashes: Collection[TextHash]) -> set[TextHash]:
    found = session.value("hashes_without_vector", space=space, hashes=as_json(hashes))
    return set(json.loads(found))


def _begin(session: Session, pairs: Sequence[Pair]) -> list[int]:
    """Empty builds under these numbers; what bore them goes."""
    old = json.loads(session.value("builds_exactly", pairs=as_json(pairs)))
    while old:
        old = _remove(session, old, live=None)
    return [int(build) for (build,) in session.returned("open_builds", pairs=as_json(pairs))]


def _standing(session: Session, item: ItemId, claim: ClaimNo) -> tuple[int, int, Seal | None]:
    row = session.one("standing_build", item=item, claim=claim)
    if row is None:
        raise Superseded(f"build {claim} of item {item} is gone: someone newer took over")
    build, state, n, digest = row
    return build, state, Seal(n, digest) if state == SEALED else None


def _taken(session: Session, build: int, page: Page) -> frozenset[int]:
    ordinals = [chunk.ordinal for chunk in page.chunks]
    if not ordinals:
        return frozenset()
    low, high = min(ordinals), max(ordinals)
    return frozenset(
        json.loads(session.value("ordinals_of_build", build=build, low=low, high=high))
    )


def _insert(
    session: Session, space: int | None, builds: Sequence[int], pages: Sequence[Page]
) -> None:
    """The pages of these builds, or VectorsMissing."""
    hashes = [one for page in pages for one in page.hashes]
    if not hashes:
        return
    if space is not None and (missing := _missing(session, space, set(hashes))):
        raise VectorsMissing(missing)
    first: int = session.value("take_chunk_ids", n=len(hashes))
    texts = b"".join(text for page in pages for text in page.texts)
    lines = json.dumps([line for page in pages for line in page.lines])
    session.run("insert_chunks", first=first, rows=rows_of(builds, pages), texts=texts)
    session.run("insert_lines", first=first, lines=lines)
    session.run("forget_lone_vectors", hashes=as_json(set(hashes)))
    for build, page in zip(builds, pages, strict=True):
        if page:
            _insert_page(session, space, build, first, page.hashes)
        first += len(page)


def _insert_page(
    session: Session, space: int | None, build: int, first: int, hashes: Sequence[TextHash]
) -> None:
    session.run("insert_page", first=first, build=build, n=len(hashes))
    if space is not None:
        insert_code(session, space, first, hashes)


def insert_code(session: Session, space: int, first: int, hashes: Sequence[TextHash]) -> None:
    import numpy as np

    blob = session.value("vectors_of", space=space, hashes=as_json(hashes)) or b""
    rows = np.frombuffer(blob, dtype=np.float16)
    if len(rows) % len(hashes):
        raise Damaged(f"{len(rows)} numbers are no vectors of {len(hashes)} texts")
    vectors = rows.reshape(len(hashes), -1).astype(np.float32)
    session.run("insert_code", first=first, space=space, codes=coding.packed(vectors))


def _code_filled_pages(session: Session, space: int, hashes: Collection[TextHash]) -> None:
    """Pages that waited for vectors of this space have them all now: they may answer in it."""
    pages = session.rows("pages_to_code", space=space, hashes=as_json(hashes))
    for first, _build, n in pages:
        texts = json.loads(session.value("hashes_of_page", first=first, n=n))
        insert_code(session, space, first, texts)
    if pages:
        rev = session.value("next_index_rev")
        session.run("bump_builds", rev=rev, builds=as_json({build for _, build, _ in pages}))


def _seal(session: Session, build: int, seal: Seal, rev: int) -> None:
    session.run("seal_build", build=build, rev=rev, n=seal.count, digest=seal.digest)


def _seal_of(hashes: str) -> Seal:
    """As digest_of, from the hashes run together."""
    return digest_of(TextHash(hashes[at : at + 32]) for at in range(0, len(hashes), 32))


def _remove(session: Session, builds: list[int], live: Collection[ClaimNo] | None) -> list[int]:
    """Hide these builds and take a slice of their chunks; those of which something is left.

    With `live` absent vectors are only noted as lone: whoever writes next may want them.
    """
    going = as_json(builds)
    if builds:
        rev = session.value("next_index_rev")
        session.run("let_builds_go", builds=going, rev=rev)
        session.run("note_removal", due=1)
        _remove_slice(session, going)
    if live is not None:
        session.run("collect_vectors", live=as_json(live))
        session.run("collect_lone", live=as_json(live))
    return json.loads(session.value("builds_left", builds=going)) if builds else []


def _remove_slice(session: Session, going: str) -> None:
    row = session.one("chunks_to_remove", builds=going, limit=SLICE_CHUNKS)
    ids, hashes = row or ("[]", "[]")
    session.run("remove_lines", ids=ids)
    session.run("remove_chunks", ids=ids)
    session.run("note_lone_vectors", hashes=hashes)
    session.run("remove_codes", builds=going)
    session.run("remove_pages", builds=going)
    session.run("bury_builds", builds=going)
    _prune(session)


def _prune(session: Session) -> None:
    """Tombstones are for caches, and a cache that slept through thousands of revs reads anew."""
    rev = (session.value("rev_of_index") or 0) - KEPT_TOMBSTONES
    if rev > 0 and session.run("prune_tombstones", rev=rev):
        session.run("note_pruned", rev=rev)
