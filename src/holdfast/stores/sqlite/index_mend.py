"""How is an index mended? All that follows from chunks and vectors is made again from them.

Full text, codes and the notes of lone vectors are copies in another form: they cost no model call.
Chunks and vectors are not copies of anything here; builds that lost some of theirs are named, and
their items are indexed again by whoever knows them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from holdfast.domain.chunks import Seal, digest_of
from holdfast.domain.ids import ClaimNo, ItemId, TextHash
from holdfast.stores.index import Pair
from holdfast.stores.lines import words_of
from holdfast.stores.sqlite.connection import Database, Session
from holdfast.stores.sqlite.index_check import AT_ONCE, UNIT, wrongly_coded
from holdfast.stores.sqlite.index_file import insert_code
from holdfast.stores.sqlite.index_page import as_json, stored_chunks


def mended(database: Database) -> list[Pair]:
    """One transaction; the builds that have to be made again."""
    with database.write() as session:
        session.run("drop_homeless_chunks")
        _drop_foreign_vectors(session)
        broken = _broken_builds(session)
        _renew_full_text(session, database.name)
        _renew_codes(session)
        session.run("forget_all_lone")
        session.run("note_all_lone")
        session.value("next_index_rev")
    return broken


def _drop_foreign_vectors(session: Session) -> None:
    """Vectors of another width or length were put there by nobody."""
    session.run("drop_vectors_of_other_width")
    for space, width in session.rows("spaces"):
        for page in _vectors(session, space, width):
            session.run("drop_vectors", ids=as_json(page))


def _vectors(session: Session, space: int, width: int) -> Iterator[list[int]]:
    import numpy as np

    after = 0
    while True:
        row = session.one("vectors_to_check", space=space, after=after, limit=AT_ONCE)
        ids = json.loads(row[0]) if row else []
        if row is None or not ids:
            return
        rows = np.frombuffer(row[1], dtype=np.float16).reshape(len(ids), width)
        far = abs(np.linalg.norm(rows.astype(np.float32), axis=1) - 1) < UNIT
        yield [one for one, near in zip(ids, far.tolist(), strict=True) if not near]
        after = ids[-1]


def _broken_builds(session: Session) -> list[Pair]:
    lacking = set(json.loads(session.value("builds_lacking_vectors")))
    return [
        (ItemId(item), ClaimNo(claim))
        for build, item, claim, n, digest in session.rows("sealed_builds")
        if build in lacking or _held(session, build) != Seal(n, digest)
    ]


def _held(session: Session, build: int) -> Seal:
    _, hashes = session.one("hashes_of_build", build=build) or (0, "")
    return digest_of(TextHash(hashes[at : at + 32]) for at in range(0, len(hashes), 32))


def _renew_full_text(session: Session, file: str) -> None:
    session.run("forget_full_text")
    after = 0
    while page := stored_chunks(session.one("chunks_to_check", after=after, limit=AT_ONCE), file):
        after = page[-1].id
        lines = [(one.id, " ".join(words_of(one.chunk.text))) for one in page]
        session.run("insert_line", lines=as_json(lines))


def _renew_codes(session: Session) -> None:
    session.run("drop_codes_of_nothing")
    session.run("drop_codes", ids=as_json([one for one, _ in wrongly_coded(session)]))
    pages = session.rows("uncoded_pages")
    for first, space, n in pages:
        texts = json.loads(session.value("hashes_of_page", first=first, n=n))
        insert_code(session, space, first, texts)
