"""What does one moment of a base's index answer?

Everything here happens inside one read transaction. Vectors: codes in memory choose some, their
exact vectors decide. Words: full text ranks at most 20,000 rows, since every row it ranks costs a
microsecond; a query of commoner words is ranked by its rarer ones first.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.domain.chunks import StoredChunk
from holdfast.domain.ids import BaseId, ClaimNo, ItemId
from holdfast.stores.index import Candidate
from holdfast.stores.lines import Term, terms_of
from holdfast.stores.sqlite.code_cache import coarse
from holdfast.stores.sqlite.code_memory import CodeMemory
from holdfast.stores.sqlite.connection import Damaged, Session
from holdfast.stores.sqlite.index_page import as_json, stored_chunks
from holdfast.stores.vectors import unit_query

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_RANKED = 20_000
CLOSE_LOOKS, CLOSE_LOOKS_OF_BITS = 50, 1_000
SPARE = 50
UNIT = 0.02  # float16 keeps a vector's length to about a thousandth; random bytes do not

Plan = tuple[str, int]


class SqliteSnapshot:
    """The index of one base at one moment."""

    def __init__(self, session: Session, memory: CodeMemory, base: BaseId) -> None:
        self._session, self._memory, self._base = session, memory, base

    def vector(
        self,
        space: int,
        query: NDArray[np.float32],
        k: int,
        masked: Collection[ItemId] = (),
        within: Collection[ItemId] | None = None,
    ) -> list[Candidate]:
        width = self._session.value("width_of_space", space=space)
        if width is None or k <= 0:
            return []
        wanted = unit_query(query, width)
        parts, bits = self._memory.select(
            self._session, self._base, space, width, masked=masked, within=within
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
        if self._affordable(" OR ".join(every), shown):
            yield " OR ".join(every), 0
            return
        counts = sorted((self._matches(one), one) for one in dict.fromkeys(every))
        if rarer := list(_rarer(counts)):
            yield " OR ".join(rarer), 0
        for last in (" AND ".join(every), counts[len(rarer)][1]):
            yield last, self._newest(last)

    def _affordable(self, expression: str, shown: set[ItemId] | None) -> bool:
        if shown is not None:
            rows: int = self._session.value("rows_of_items", items=as_json(shown))
            if rows <= MOST_RANKED:
                return True
        return self._matches(expression) <= MOST_RANKED

    def _matches(self, expression: str) -> int:
        count: int = self._session.value(
            "count_matches", expression=expression, limit=MOST_RANKED + 1
        )
        return count

    def _newest(self, expression: str) -> int:
        """Where the newest 20,000 matching chunks begin."""
        first = self._session.value(
            "oldest_of_newest", expression=expression, offset=MOST_RANKED - 1
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
    """The rarest words whose rows together stay within the bound, at least one less than all."""
    room = MOST_RANKED
    for count, expression in counts[:-1]:
        room -= count
        if room < 0:
            return
        if count:
            yield expression


def _candidate(chunk: int, item: str, claim: int, score: float) -> Candidate:
    return Candidate(chunk, ItemId(item), ClaimNo(claim), score)
