"""How are many small items of one base indexed in one slot?

The same steps as for one item, each done for all: taken in one transaction, read one after another,
embedded in full batches, written in one index transaction, published in one main transaction. Each
keeps its own claim, fence, outcome and events: what fails alone is failed alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from holdfast.domain.bases import Base
from holdfast.domain.chunks import Chunk, Seal, SmallBuild, digest_of
from holdfast.domain.errors import Permanent
from holdfast.domain.ids import ClaimNo, TextHash
from holdfast.domain.items import Item
from holdfast.jobs.run import Cancelled, Run, Token
from holdfast.ports import Embedder
from holdfast.stores.index import Pair, VectorsMissing
from holdfast.workflow.embed_missing import Oven, Spent, accounted, embed_missing
from holdfast.workflow.index_document import (
    TRIES_FOR_VECTORS,
    Built,
    begin_embedding,
    drop_older,
    finish_equal,
    index_taken,
    publish,
    still_stands,
)
from holdfast.workflow.pulse import Pulse
from holdfast.workflow.snapshot import let_go
from holdfast.workflow.take import (
    Taken,
    base_of,
    begin_reading_all,
    embedder_of,
    pages_of,
    take_item,
)
from holdfast.workflow.workbench import Workbench


@dataclass(slots=True)
class Bundle:
    """The items still in the bundle, with their chunks; what leaves it leaves alone."""

    kb: Workbench
    base: Base
    chunks: dict[ClaimNo, tuple[Chunk, ...]] = field(default_factory=dict)
    taken: list[Taken] = field(default_factory=list)
    same: list[Taken] = field(default_factory=list)
    spent: Spent = field(default_factory=Spent)
    paid: set[TextHash] = field(default_factory=set)

    def leave(self, taken: Taken, error: Exception) -> None:
        self.taken.remove(taken)
        self.kb.outcomes.failed(taken.run, error)

    def chunks_of(self, taken: Taken) -> tuple[Chunk, ...]:
        return self.chunks[taken.run.claim]

    def shares(self) -> dict[ClaimNo, Spent]:
        """What each item cost: the first holder of a text paid for it, the others reuse it.

        A model call answers several items at once; the first that paid for a text carries it, and
        the first of all what was called for others in this slot.
        """
        paid, calls, tokens = set(self.paid), self.spent.calls, self.spent.tokens
        shares: dict[ClaimNo, Spent] = {}
        for taken in self.taken:
            texts = {chunk.hash for chunk in self.chunks_of(taken)}
            own = texts & paid
            if own or not paid:
                shares[taken.run.claim] = Spent(len(own), len(texts - own), calls, tokens)
                calls = tokens = 0
            else:
                shares[taken.run.claim] = Spent(0, len(texts))
            paid = paid - own
        return shares

    def all_chunks(self) -> list[Chunk]:
        return [chunk for taken in self.taken for chunk in self.chunks_of(taken)]


def index_bundle(kb: Workbench, runs: Sequence[Run]) -> None:
    bundle = Bundle(kb, base_of(kb, runs[0]))
    for run, item in _take_all(kb, runs):
        _read_one(bundle, run, item)
    _set_apart_the_same(bundle)
    if bundle.same:
        finish_equal(kb, bundle.same)
    if not bundle.taken:
        return
    with accounted(kb, bundle.base, bundle.spent):
        seals = _write_all(bundle)
    spent = bundle.shares()
    builds = [Built(one, seals[one.run.claim], spent[one.run.claim]) for one in bundle.taken]
    with kb.main.write() as tx:
        published = publish(tx, builds)
    kb.main.durable()
    drop_older(kb, published)


def _take_all(kb: Workbench, runs: Sequence[Run]) -> list[tuple[Run, Item]]:
    """One transaction for all; what is no longer ours ends quietly."""
    with kb.main.write() as tx:
        items = begin_reading_all(tx, runs)
        gone = [run.fence for run in runs if run.item not in items]
        tx.finish(gone, reason="superseded")
    return [(run, items[run.item]) for run in runs if run.item in items]


def _read_one(bundle: Bundle, run: Run, item: Item) -> None:
    """Read and cut one item; its failure is its own."""
    kb = bundle.kb
    try:
        taken = take_item(kb, run, bundle.base, item)
        try:
            _cut_one(bundle, taken)
        finally:
            let_go(kb, run, taken.source)
    except Exception as error:  # noqa: BLE001  (classified and recorded by outcomes)
        kb.outcomes.failed(run, error)


def _cut_one(bundle: Bundle, taken: Taken) -> None:
    kb = bundle.kb
    if taken.source.content is None:  # it has grown since it was claimed: too much to hold
        index_taken(kb, taken)
    elif taken.is_equal and still_stands(kb, taken):
        bundle.same.append(taken)
    else:
        cut = tuple(chunk for page in pages_of(kb, taken) for chunk in page.chunks)
        bundle.chunks[taken.run.claim] = cut
        bundle.taken.append(taken)


def _set_apart_the_same(bundle: Bundle) -> None:
    """Cut again into the very chunks that answer: writing them once more changes nothing."""
    again = [(one, _answering(one)) for one in bundle.taken if one.is_repeated]
    seals = bundle.kb.index.seals(bundle.base.id, [pair for _, pair in again]) if again else {}
    for taken, pair in again:
        if seals.get(pair) == digest_of(chunk.hash for chunk in bundle.chunks_of(taken)):
            bundle.taken.remove(taken)
            bundle.same.append(taken)


def _answering(taken: Taken) -> Pair:
    return taken.item.id, ClaimNo(taken.item.published_build or 0)


def _write_all(bundle: Bundle) -> dict[ClaimNo, Seal]:
    """Every build left in the bundle, sealed; other items' deletes may take shared vectors."""
    embedder = embedder_of(bundle.kb, bundle.base)
    space = None if embedder is None else bundle.base.space
    if embedder is not None:
        begin_embedding(bundle.kb, bundle.taken)
    for _ in range(TRIES_FOR_VECTORS):
        if embedder is not None:
            _embed_all(bundle, embedder)
        _leave_cancelled(bundle)
        if (seals := _try_write(bundle, space)) is not None:
            return seals
    raise Permanent("texts keep losing their vectors", code="bad_vectors")


def _try_write(bundle: Bundle, space: int | None) -> dict[ClaimNo, Seal] | None:
    builds = [SmallBuild(one.item.id, one.run.claim, bundle.chunks_of(one)) for one in bundle.taken]
    try:
        with bundle.kb.permits.writing.hold():
            seals = bundle.kb.index.write_small(bundle.base.id, space, builds)
    except VectorsMissing:
        return None
    return {build.claim: seal for build, seal in zip(builds, seals, strict=True)}


def _embed_all(bundle: Bundle, embedder: Embedder) -> None:
    """Full batches over all items; items with a text refused for good leave the bundle."""
    if not bundle.taken:
        return
    first, spent = bundle.taken[0].run, bundle.spent
    pulse = Pulse(bundle.kb, [one.run for one in bundle.taken])
    oven = Oven(bundle.kb, bundle.base, embedder, first.claim, _token_of(bundle), spent, pulse)
    force = any(one.run.job.input.get("force") for one in bundle.taken) and not spent.calls
    bundle.paid |= embed_missing(oven, bundle.all_chunks(), force=force)
    for taken in list(bundle.taken):
        refusal = next(
            (spent.guilty[c.hash] for c in bundle.chunks_of(taken) if c.hash in spent.guilty), None
        )
        if refusal is not None:
            bundle.leave(taken, refusal)


def _leave_cancelled(bundle: Bundle) -> None:
    for taken in list(bundle.taken):
        if taken.run.token.cancelled.is_set():
            bundle.leave(taken, Cancelled())


def _token_of(bundle: Bundle) -> Token:
    """The engine's stop ends the bundle; one item's cancel does not end the others."""
    never = bundle.kb.runtime.event()
    first = bundle.taken[0].run.token
    return Token(never, first.stopping, first.heart)
