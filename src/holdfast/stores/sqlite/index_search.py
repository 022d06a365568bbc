"""What does one moment of a base's index answer?

Everything here happens inside one read transaction. Vectors: codes in memory choose some, their
exact vectors decide. Words: ranking costs a microsecond for every word in every row, so 20,000 of
these are ranked; a query of commoner words is ranked by its rarer ones first.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.domain.chunks import StoredChunk
from holdfast.domain.ids import BaseId, ClaimNo, ItemId
from holdfast.stores.index import Candidate, Pair
from holdfast.stores.lines import Term, terms_of
from holdfast.stores.sqlite.code_cache import coarse
from holdfast.stores.sqlite.code_memory import CodeMemory, Moment
from holdfast.stores.sqlite.connection import Damaged, Session
from holdfast.stores.sqlite.index_page import as_json, stored_chunks
from holdfast.stores.vectors import unit_query

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_RANKED = 20_000
NEWEST_RANKED = 5_000
CLOSE_LOOKS, CLOSE_LOOKS_OF_BITS = 50, 1_000
SPARE = 50
UNIT = 0.02  # float16 keeps a vector's length to about a thousandth; random bytes do not

Plan = tuple[str, int]


class SqliteSnapshot:
    """The index of one base at one moment."""

    def __init__(self, session: Session, moment: Moment, memory: CodeMemory, base: BaseId) -> None:
        self._session, self._moment = session, moment
        self._memory, self._base = memory, base

    def vector(
        self,
        space: int,
        query: NDArray[np.float32],
        k: int,
        masked: Collection[ItemId] = (),
        within: Collection[ItemId] | None = None,
    ) -> list[Candidate]:
        width = self._moment.widths.get(space)
        if width is None or k <= 0:
            return []
        wanted = unit_query(query, width)
        parts, bits = self._memory.select(
            self._session, self._moment, (self._base, space), masked=masked, within=within
        )
        looks = max(5 * k, CLOSE_LOOKS_OF_BITS) if bits else max(k + k // 2, CLOSE_LOOKS)
        chunks = coarse(wanted, parts, looks, bits)
        return self._closely(space, wanted, chunks, k)

    def _closely(
        self, space: int, wanted: NDArray[np.float32], chunks: NDArray[np.int64], k: int
    ) -> list[Candidate]:
        import numpy as np

        ids = as_json(chunks.tolist())
        row = self._session.one("vectors_of_chunks", ids=ids, space=space)
        whose, blob = row or ("[]", None)
        rows = np.frombuffer(blob or b"", dtype=np.float16).reshape(-1, len(wanted))
        vectors = rows.astype(np.float32)
        if not (abs(np.linalg.norm(vectors, axis=1) - 1) < UNIT).all():
            raise Damaged(f"the index of {self._base} holds a vector that nobody put there")
        scored = zip((vectors @ wanted).tolist(), json.loads(whose), strict=True)
        best = sorted(scored, key=lambda one: (-one[0], one[1][0]))[:k]
        return [_candidate(chunk, item, claim, score) for score, (chunk, item, claim) in best]

    def keyword(
        self,
        query: str,
        k: int,
        masked: Collection[ItemId] = (),
        within: Collection[ItemId] | None = None,
    ) -> list[Candidate]:
        terms = terms_of(query)
        shown = None if within is None else set(within) - set(masked)
        if not terms or k <= 0 or shown == set():
            return []
        found: dict[int, Candidate] = {}
        for plan in self._plans(terms, shown):
            for candidate in self._ranked(plan, k, masked, shown):
                found.setdefault(candidate.chunk_id, candidate)
            if len(found) >= k:
                break
        return list(found.values())[:k]

    def _plans(self, terms: Sequence[Term], shown: set[ItemId] | None) -> Iterator[Plan]:
        """All words while that is affordable; else the rarer ones, then rows with all of them."""
        every = [expression_of(term) for term in terms]
        if shown is not None and self._chunks_of(shown) <= MOST_RANKED:
            yield " OR ".join(every), 0
            return
        counts = self._counted(every)
        rarer = list(_rarer(counts))
        if rarer:
            yield " OR ".join(rarer), 0
        if len(rarer) < len(every):
            for last in (" AND ".join(every), counts[len(rarer)][1]):
                yield last, self._newest(last)

    def _chunks_of(self, items: set[ItemId]) -> int:
        count: int = self._session.value("rows_of_items", items=as_json(items))
        return count

    def _counted(self, expressions: Sequence[str]) -> list[tuple[int, str]]:
        """In how many chunks each stands, the rarest first."""
        counts = self._session.value(
            "count_matches", expressions=as_json(expressions), limit=MOST_RANKED + 1
        )
        return sorted(zip(json.loads(counts), expressions, strict=True))

    def _newest(self, expression: str) -> int:
        """Where the newest chunks begin that hold only common words."""
        first = self._session.value(
            "oldest_of_newest", expression=expression, offset=NEWEST_RANKED - 1
        )
        return first or 0

    def _ranked(
        self, plan: Plan, k: int, masked: Collection[ItemId], shown: set[ItemId] | None
    ) -> list[Candidate]:
        """The first k of a plan; rows of unsealed builds are ranked too, and passed over."""
        limit = k + SPARE
        while True:
            seen, rows = self._rank(plan, limit, masked, shown)
            if len(rows) >= k or seen < limit:
                return [_candidate(*row) for row in rows[:k]]
            limit *= 4

    def _rank(
        self, plan: Plan, limit: int, masked: Collection[ItemId], shown: set[ItemId] | None
    ) -> tuple[int, list[list[Any]]]:
        expression, since = plan
        values = {"expression": expression, "since": since, "limit": limit}
        if shown is None:
            row = self._session.one("ranked", masked=as_json(masked), **values)
        else:
            row = self._session.one("ranked_within", within=as_json(shown), **values)
        seen, rows = row or (0, "[]")
        return seen, json.loads(rows)

    def sealed(self, pairs: Collection[Pair]) -> set[Pair]:
        rows = self._session.rows("seals_of", pairs=as_json(pairs))
        return {(ItemId(item), ClaimNo(claim)) for item, claim, _, _ in rows}

    def load(self, chunk_ids: Collection[int]) -> Mapping[int, StoredChunk]:
        row = self._session.one("chunks_by_id", ids=as_json(chunk_ids))
        return {stored.id: stored for stored in stored_chunks(row, f"the index of {self._base}")}

    def around(self, chunk: StoredChunk, n: int) -> list[StoredChunk]:
        at = chunk.chunk.ordinal
        row = self._session.one(
            "chunks_around",
            item=chunk.item_id,
            claim=chunk.build,
            low=at - n,
            high=at + n,
            middle=at,
        )
        return stored_chunks(row, f"the index of {self._base}")


def expression_of(term: Term) -> str:
    """A term as full text reads it; words never hold a quote."""
    return f'"{" ".join(term.words)}"' + ("*" if term.prefix else "")


def _rarer(counts: Sequence[tuple[int, str]]) -> Iterator[str]:
    """The rarest words, as long as the rows they stand in are few enough together."""
    room = MOST_RANKED
    for count, expression in counts:
        room -= count
        if room < 0:
            return
        yield expression


def _candidate(chunk: int, item: str, claim: int, score: float) -> Candidate:
    return Candidate(chunk, ItemId(item), ClaimNo(claim), score)
