"""What does an index run need before it can cut text? The item, its bytes, and its recipe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from holdfast.domain.bases import Base, BaseStatus
from holdfast.domain.chunks import ChunkPage, Cutting, cutting_of
from holdfast.domain.errors import ItemGone, Permanent, Superseded
from holdfast.domain.files import FileEntry, Role
from holdfast.domain.ids import EntryId, ItemId
from holdfast.domain.item_states import READING, Move
from holdfast.domain.items import Item, ItemType
from holdfast.domain.recipe import recipe_of
from holdfast.jobs.run import Run
from holdfast.ports import Embedder, Source
from holdfast.stores.catalog import Moved
from holdfast.stores.main import Transaction
from holdfast.workflow.embed_missing import Oven, Spent
from holdfast.workflow.pulse import Pulse
from holdfast.workflow.snapshot import source_of
from holdfast.workflow.workbench import Workbench

WITHOUT_TEXT = frozenset({"no_text", "needs_ocr"})


@dataclass(frozen=True, slots=True)
class Taken:
    """An item that is ours to index: settings read once, bytes that stay what they are."""

    run: Run
    base: Base
    item: Item
    source: Source
    cutting: Cutting
    recipe: str

    @property
    def asked(self) -> bool:
        """A user asked for it: read and cut again even if nothing changed."""
        return bool(self.run.job.input.get("asked"))

    @property
    def may_be_empty(self) -> bool:
        """The base takes what holds no text; never in place of something that answers."""
        accepted = self.base.settings.empty_content == "complete"
        return accepted and (self.item.published_build is None or not self.item.chunk_count)

    @property
    def is_equal(self) -> bool:
        """The build that answers was made of the same content in the same manner."""
        return not self.asked and self._of_one_recipe

    @property
    def is_repeated(self) -> bool:
        """A user asked for it again, and everything it is made of is as it was."""
        return self.asked and not self.run.job.input.get("force") and self._of_one_recipe

    @property
    def _of_one_recipe(self) -> bool:
        return self.item.published_build is not None and self.item.recipe == self.recipe


def base_of(kb: Workbench, run: Run) -> Base:
    """The base with its settings as they are now; a run does not look again."""
    with kb.main.read() as snapshot:
        base = snapshot.base(run.base)
    if base is None or base.status is BaseStatus.DELETING:
        raise ItemGone(f"base {run.base} is gone")
    return base


def embedder_of(kb: Workbench, base: Base) -> Embedder | None:
    """The base's model, or None in a keyword-only base."""
    model, width = base.settings.embedding_model, base.settings.dimensions
    if model is None or width is None:
        return None
    return kb.embedders.resolve(model, width)


def oven_of(kb: Workbench, taken: Taken, spent: Spent, pulse: Pulse) -> Oven | None:
    """What makes vectors for one item; nothing, in a keyword-only base."""
    embedder, run = embedder_of(kb, taken.base), taken.run
    if embedder is None:
        return None
    return Oven(kb, taken.base, embedder, run.claim, run.token, spent, pulse)


def begin_reading(tx: Transaction, run: Run) -> Item:
    """The item, ours and in `reading`; Superseded, ItemDeleting or ItemGone when it is not."""
    asked = Moved(run.item, READING, run.fence.generation, run.fence)
    tx.move_or_end(Move.READ, asked)
    item = tx.item(run.item)
    if item is None:
        raise ItemGone(f"item {run.item} is gone")
    if item.published_generation == item.generation:
        raise Superseded(f"item {item.id} is published in generation {item.generation} already")
    repair_refs(tx, item)
    return item


def begin_reading_all(tx: Transaction, runs: Sequence[Run]) -> dict[ItemId, Item]:
    """The same for many; those that are not ours any more are left out."""
    asked = [Moved(run.item, READING, run.fence.generation, run.fence) for run in runs]
    items = tx.items(sorted(tx.move(Move.READ, asked)))
    fresh = [item for item in items if item.published_generation != item.generation]
    for item in fresh:
        repair_refs(tx, item)
    return {item.id: item for item in fresh}


def repair_refs(tx: Transaction, item: Item) -> None:
    """A living file item has its canonical source ref; nothing else has one."""
    if item.type is ItemType.FILE and "entry" in item.data:
        entry = FileEntry(EntryId(item.data["entry"]), item.data["sha256"], item.data["size"])
        tx.keep_entry(entry, item.id, Role.SOURCE)
        tx.keep_only(item.id, Role.SOURCE, entry.id)
    else:
        tx.keep_only(item.id, Role.SOURCE, None)


def take_item(kb: Workbench, run: Run, base: Base, item: Item) -> Taken:
    """The item with bytes that cannot change underneath; nothing is parsed yet."""
    run.token.check()
    embedder = embedder_of(kb, base)
    limit, counter = (embedder.max_tokens, embedder.tokenizer) if embedder else (None, None)
    with kb.permits.reading.hold():
        source = source_of(kb, run, base, item)
    recipe = recipe_of(source.content_hash, base.settings, base.space)
    return Taken(run, base, item, source, cutting_of(base.settings, limit, counter), recipe)


def pages_of(kb: Workbench, taken: Taken) -> Iterator[ChunkPage]:
    """The item's chunks as they are read; what holds no text has none, where that is accepted."""
    try:
        yield from _read(kb, taken)
    except Permanent as refusal:
        if refusal.code not in WITHOUT_TEXT or not taken.may_be_empty:
            raise


def _read(kb: Workbench, taken: Taken) -> Iterator[ChunkPage]:
    """Page by page, each under a permit of its own: what is done with it may take long."""
    token = taken.run.token
    with closing(kb.reader.read(taken.source, taken.cutting, token.cancelled)) as pages:
        while True:
            token.check()
            with kb.permits.reading.hold():
                page = next(pages, None)
            if page is None:
                token.check()
                return
            yield page
