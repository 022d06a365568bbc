"""How does an item come to be found?

    take -> (equal recipe? done) -> begin -> per page: read and cut, embed what is missing, append
         -> seal -> publish -> drop older builds

Crash windows, in this order:
- before `seal`: an unsealed build bears our claim number. The next run has another number; the
  sweep removes ours. Stored vectors stay, so only the batch in flight is paid for again.
- after `seal`, before `publish`: a sealed build nobody has published; as above.
- `seal` is on disk before `publish` is committed: else a power cut could leave a completed item
  with nothing to find.
- after `publish`, before `drop_before`: two builds stand there, one answers. `publish` is on disk
  before anything is dropped: else a power cut could leave the dropped one as the one that answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from holdfast.domain.chunks import Chunk, Seal
from holdfast.domain.errors import Permanent
from holdfast.domain.events import EventKind, NewEvent
from holdfast.domain.item_states import COMPLETED, EMBEDDING, FAILED, Move, Status
from holdfast.domain.items import ItemType
from holdfast.domain.jobs import JobState
from holdfast.jobs.run import Run
from holdfast.stores.catalog import Moved, Published, Trouble
from holdfast.stores.index import VectorsMissing
from holdfast.stores.main import Transaction
from holdfast.workflow.embed_missing import Oven, Spent, accounted, embed_missing
from holdfast.workflow.inputs import checked_name
from holdfast.workflow.pulse import Pulse
from holdfast.workflow.snapshot import let_go, processed_of
from holdfast.workflow.take import Taken, base_of, begin_reading, oven_of, pages_of, take_item
from holdfast.workflow.workbench import Workbench

TRIES_FOR_VECTORS = 5


@dataclass(frozen=True, slots=True)
class Built:
    """A sealed build about to be published, and what it cost: event and statistics say the same."""

    taken: Taken
    seal: Seal
    spent: Spent
    title: str | None = None  # the document's own


def index_document(kb: Workbench, run: Run) -> None:
    base = base_of(kb, run)
    with kb.main.write() as tx:
        item = begin_reading(tx, run)
    taken = take_item(kb, run, base, item)
    try:
        index_taken(kb, taken)
    finally:
        let_go(kb, run, taken.source)


def index_taken(kb: Workbench, taken: Taken) -> None:
    """From bytes that cannot change to an answer, in memory that does not grow with them."""
    base, run = taken.base, taken.run
    if taken.is_equal and still_stands(kb, taken):
        finish_equal(kb, [taken])
        return

    spent, pulse, title = Spent(), Pulse(kb, [run]), None
    kb.index.begin(base.id, run.item, run.claim)
    with accounted(kb, base, spent):
        for page in pages_of(kb, taken):
            pulse.page(page.share)
            title = title or page.title
            write_page(kb, taken, page.chunks, oven_of(kb, taken, spent, pulse))
            pulse.batch(1.0)
    seal = kb.index.seal(base.id, run.item, run.claim)

    with kb.main.write() as tx:
        published = publish(tx, [Built(taken, seal, spent, title)])
    kb.main.durable()
    drop_older(kb, published)


def give_up_index(kb: Workbench, run: Run, trouble: Trouble) -> None:
    """Item and job fail together; the build that answered goes on answering."""
    with kb.main.write() as tx:
        tx.move(
            Move.FAIL, [Moved(run.item, FAILED, run.fence.generation, run.fence, trouble=trouble)]
        )
        tx.finish([run.fence], JobState.FAILED, trouble=trouble)
        made = processed_of(run)
        if made is not None and trouble[0] == "unreadable":
            tx.forget_processed(made.entry)  # its bytes are gone: they are made again next time


def write_page(kb: Workbench, taken: Taken, page: Sequence[Chunk], oven: Oven | None) -> None:
    """The page is in the index, every text with its vector."""
    space = None if oven is None else taken.base.space
    if oven:
        begin_embedding(kb, [taken])
        embed_missing(oven, page, force=bool(taken.run.job.input.get("force")))
    for _ in range(TRIES_FOR_VECTORS):
        raise_guilty(oven)
        taken.run.token.check()
        try:
            with kb.permits.writing.hold():
                kb.index.append(taken.base.id, taken.item.id, taken.run.claim, space, page)
            return
        except VectorsMissing:
            if oven:  # another item's delete took a vector we meant to share
                embed_missing(oven, page, again=True)
    raise Permanent("texts keep losing their vectors", code="bad_vectors")


def begin_embedding(kb: Workbench, taken: list[Taken]) -> None:
    with kb.main.write() as tx:
        tx.move(Move.EMBED, [_moved(one, EMBEDDING) for one in taken])


def raise_guilty(oven: Oven | None) -> None:
    for refusal in oven.spent.guilty.values() if oven else ():
        raise refusal


def publish(tx: Transaction, builds: Sequence[Built]) -> list[Taken]:
    """Items completed, parents rolled up, jobs done, all at once; those that were still ours."""
    asked = [_moved(one.taken, COMPLETED, warning_of(one.taken, one.seal.count)) for one in builds]
    done = tx.move(Move.COMPLETE, asked)
    ours = [one for one in builds if one.taken.item.id in done]
    tx.publish([_published(one) for one in ours])
    _name_pages(tx, ours)
    tx.finish([one.taken.run.fence for one in builds])
    tx.record([_indexed(one) for one in ours])
    if ours and (provider := ours[0].taken.base.provider):
        spent = [one.spent for one in ours]
        tx.count_texts(
            provider,
            embedded=sum(one.embedded for one in spent),
            reused=sum(one.reused for one in spent),
            calls=sum(one.calls for one in spent),
            tokens=sum(one.tokens for one in spent),
        )
    return [one.taken for one in ours]


def _name_pages(tx: Transaction, builds: Sequence[Built]) -> None:
    """A page of the web is called what it calls itself."""
    for one in builds:
        page = tx.item(one.taken.item.id) if one.taken.item.type is ItemType.URL else None
        name = one.title or (page and page.data["url"])
        if page is not None and name and page.name != name:
            tx.set_source(replace(page, name=checked_name(name)))


def finish_equal(kb: Workbench, same: Sequence[Taken]) -> None:
    """Nothing changed: their builds stay, only the attempts are newer."""
    with kb.main.write() as tx:
        asked = [_moved(one, COMPLETED, warning_of(one, one.item.chunk_count)) for one in same]
        done = tx.move(Move.COMPLETE, asked)
        for item in sorted(done):
            tx.republish(item)
        tx.record([_kept(one) for one in same if one.item.id in done])
        tx.finish([one.run.fence for one in same], reason="equal")
    kb.main.durable()


def still_stands(kb: Workbench, taken: Taken) -> bool:
    """Is the published build in the index? An index that was rebuilt may have lost it."""
    build = taken.item.published_build
    pair = (taken.item.id, build) if build is not None else None
    return pair is not None and pair in kb.index.seals(taken.base.id, [pair])


def warning_of(taken: Taken, chunks: int) -> str | None:
    """A source with nothing in it completes empty, and says so; a processor may warn."""
    if not chunks:
        return "no_text"
    made = processed_of(taken.run)
    return None if made is None else made.made.warning


def size_of(taken: Taken) -> int:
    """That of the item's own document, whatever was made of it."""
    made = processed_of(taken.run)
    return taken.source.size if made is None else made.made.source_size


def drop_older(kb: Workbench, taken: list[Taken]) -> None:
    if not taken:
        return
    with kb.main.read() as snapshot:
        live = snapshot.live_claims()
    pairs = [(one.item.id, one.run.claim) for one in taken]
    kb.index.drop_before(taken[0].base.id, pairs, live)


def _moved(taken: Taken, target: Status, warning: str | None = None) -> Moved:
    fence = taken.run.fence
    return Moved(taken.item.id, target, fence.generation, fence, warning=warning)


def _published(built: Built) -> Published:
    taken, size = built.taken, size_of(built.taken)
    return Published(
        taken.item.id,
        taken.run.claim,
        taken.recipe,
        built.seal,
        size,
        taken.item.workload or size,
        warning_of(taken, built.seal.count),
    )


def _indexed(built: Built) -> NewEvent:
    taken, spent = built.taken, built.spent
    numbers = {
        "chunks": built.seal.count,
        "embedded": spent.embedded,
        "reused": spent.reused,
        "calls": spent.calls,
    }
    generation = taken.run.fence.generation
    return NewEvent(EventKind.INDEXED, taken.base.id, taken.item.id, generation, numbers)


def _kept(taken: Taken) -> NewEvent:
    why = {"why": "equal recipe", "embedded": 0, "reused": 0, "calls": 0}
    run = taken.run
    return NewEvent(EventKind.INDEXED, run.base, run.item, run.fence.generation, why)
