"""Is an index file sound? A look at every open, a closer one after a crash, all of it on demand."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import apsw

from holdfast.domain.chunks import Seal, digest_of
from holdfast.domain.ids import BaseId, TextHash
from holdfast.stores.index import IndexMissing
from holdfast.stores.lines import words_of
from holdfast.stores.sqlite import codes as coding
from holdfast.stores.sqlite.connection import Damaged, Database, Session
from holdfast.stores.sqlite.index_page import as_json, stored_chunks

FORM = 1
AT_ONCE = 2_000
UNIT = 0.02
SOUND = ["ok"]
CODE_OFF = 1  # of 127: float16 may round another way on another machine


def checked_at_open(database: Database, base: BaseId, *, closely: bool) -> bool:
    """Damaged when it is not this base's index; after an unclean stop pages are looked through.

    IndexMissing when its making was interrupted. True when it was closed in good order; with
    `closely` off a living owner is at work in it, so it is not closed at all.
    """
    with database.read() as session:
        form, tables = session.one("index_form") or (0, 0)
        if form == 0 and tables == 0:
            raise IndexMissing(f"the index of base {base} was never finished")
        if form != FORM:
            raise Damaged(f"{database.name} has form {form}, this program reads {FORM}")
        base_in_it, clean = _says_itself(session, database.name)
        if base_in_it != base:
            raise Damaged(f"{database.name} is the index of base {base_in_it}, not {base}")
        if closely and not clean:
            _quick_check(session, database.name)
        return bool(clean)


def _says_itself(session: Session, file: str) -> tuple[str | None, int]:
    try:
        row = session.one("index_meta")
    except apsw.SQLError as error:  # a table that should be there is not
        raise Damaged(f"{file} is damaged: {error}") from error
    return (row[0], row[3]) if row else (None, 0)


def _quick_check(session: Session, file: str) -> None:
    found = json.loads(session.value("quick_check"))
    if found != SOUND:
        raise Damaged(f"{file} is damaged: {found[0]}")


def disagreements(database: Database) -> Iterator[str]:
    """Everything that is wrong inside, in words; a page that cannot be read ends the list."""
    try:
        if not database.readonly:  # this check is a statement that needs the writer
            with database.write() as session:
                session.run("check_full_text")
        with database.read() as session:
            session.value("renew_full_text")
            found = json.loads(session.value("integrity_check"))
            yield from [] if found == SOUND else found
            yield from _rows(session)
            yield from _texts(session, database.name)
            yield from _vectors(session)
            yield from _codes(session)
    except Damaged as damage:
        yield str(damage)


def _rows(session: Session) -> Iterator[str]:
    unindexed, dangling = session.one("rows_only_in_one") or (0, 0)
    if unindexed or dangling:
        yield f"full text lacks {unindexed} chunks and has {dangling} too many"
    if homeless := session.value("chunks_without_home"):
        yield f"{homeless} chunks belong to no build or no page"
    forgotten, named = session.one("lone_and_not_noted") or (0, 0)
    if forgotten or named:
        yield f"{forgotten} lone vectors are not noted, {named} noted ones are not lone"


def _texts(session: Session, file: str) -> Iterator[str]:
    """Texts are what was written, builds what was sealed, and full text knows their words."""
    hashes: dict[tuple[str, int], list[tuple[int, TextHash]]] = {}
    words: Counter[str] = Counter()
    after = 0
    while page := stored_chunks(session.one("chunks_to_check", after=after, limit=AT_ONCE), file):
        after = page[-1].id
        for stored in page:
            pair = (stored.item_id, stored.build)
            hashes.setdefault(pair, []).append((stored.chunk.ordinal, stored.chunk.hash))
            words.update(set(words_of(stored.chunk.text)))
    for _build, item, claim, n, digest in session.rows("sealed_builds"):
        held = digest_of(hashed for _, hashed in sorted(hashes.get((item, claim), [])))
        if held != Seal(n, digest):
            yield f"build {claim} of item {item} is not what was sealed"
    known = {term: docs for term, docs, _ in session.rows("words_of_full_text")}
    if known != words:
        yield "full text does not hold the words of the chunks"


def _vectors(session: Session) -> Iterator[str]:
    import numpy as np

    for space, width in session.rows("spaces"):
        after = 0
        while True:
            row = session.one("lone_vectors_to_check", space=space, after=after, limit=AT_ONCE)
            if row is None or not row[1]:
                break
            after, count, blob = row
            rows = np.frombuffer(blob, dtype=np.float16)
            if len(rows) != count * width:
                yield f"vectors of space {space} are not {width} wide"
                break
            lengths = np.linalg.norm(rows.reshape(count, width).astype(np.float32), axis=1)
            if not (abs(lengths - 1) < UNIT).all():
                yield f"space {space} holds vectors that nobody put there"


def _codes(session: Session) -> Iterator[str]:
    for _, first in wrongly_coded(session):
        yield f"codes of the page at {first} are not those of its vectors"
    for first, space, _ in session.rows("uncoded_pages"):
        yield f"the page at {first} has vectors of space {space} and no codes"


def wrongly_coded(session: Session) -> Iterator[tuple[int, int | None]]:
    """The ids of codes that are not those of their page's vectors, and where the page begins."""
    widths = dict(session.rows("spaces"))
    after = 0
    while row := session.one("coded_pages", after=after):
        after, first, n, space, blob = row
        page = CodedPage(first, n, space, widths.get(space, 0), blob)
        if first is None or not _is_code_of(session, page):
            yield after, first


@dataclass(frozen=True, slots=True)
class CodedPage:
    """Codes, and whose they are said to be."""

    first: int
    n: int
    space: int
    width: int
    blob: bytes


def _is_code_of(session: Session, page: CodedPage) -> bool:
    import numpy as np

    n, width = page.n, page.width
    texts = json.loads(session.value("hashes_of_page", first=page.first, n=n))
    exact = session.value("vectors_of", space=page.space, hashes=as_json(texts)) or b""
    if len(exact) != n * width * 2 or len(page.blob) != coding.packed_size(n, width):
        return not texts  # its chunks are being removed
    vectors = np.frombuffer(exact, dtype=np.float16).reshape(n, width).astype(np.float32)
    with np.errstate(all="ignore"):  # a damaged vector may be of length zero
        want, want_scales = coding.unpacked(coding.packed(vectors), n, width)
    have, have_scales = coding.unpacked(page.blob, n, width)
    near = abs(want.astype(np.int16) - have).max() <= CODE_OFF
    return bool(near and np.allclose(want_scales, have_scales, rtol=1e-3))
