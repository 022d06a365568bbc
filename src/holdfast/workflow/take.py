"""What does an index run need before it can cut text? The item, its bytes, and its recipe."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import sha256

from holdfast.domain.bases import Base, BaseStatus
from holdfast.domain.errors import ItemGone, Permanent, Superseded
from holdfast.domain.files import FileEntry, Role
from holdfast.domain.ids import EntryId
from holdfast.domain.item_states import READING, Move
from holdfast.domain.items import Item, ItemType
from holdfast.domain.processing import Processed, processed_of_document
from holdfast.domain.recipe import recipe_of
from holdfast.jobs.run import Run
from holdfast.ports import Document, Embedder
from holdfast.stores.catalog import Moved
from holdfast.stores.main import Transaction
from holdfast.workflow.embed_missing import Oven, Spent
from holdfast.workflow.inputs import entry_of
from holdfast.workflow.pulse import Pulse
from holdfast.workflow.workbench import Workbench


@dataclass(frozen=True, slots=True)
class Taken:
    """An item that is ours to index: settings read once, text read once."""

    run: Run
    base: Base
    item: Item
    document: Document
    recipe: str

    @property
    def asked(self) -> bool:
        """A user asked for it: read and cut again even if nothing changed."""
        return bool(self.run.job.input.get("asked"))

    @property
    def is_equal(self) -> bool:
        """The build that answers was made of the same content in the same manner."""
        return (
            not self.asked
            and self.item.published_build is not None
            and (self.item.recipe == self.recipe)
        )


def processed_of(run: Run) -> Processed | None:
    """What the run indexes in place of the item's own bytes."""
    document = run.job.input.get("processed")
    return None if document is None else processed_of_document(document)


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


def repair_refs(tx: Transaction, item: Item) -> None:
    """A living file item has its canonical source ref; nothing else has one."""
    if item.type is ItemType.FILE and "entry" in item.data:
        entry = FileEntry(EntryId(item.data["entry"]), item.data["sha256"], item.data["size"])
        tx.keep_entry(entry, item.id, Role.SOURCE)
        tx.keep_only(item.id, Role.SOURCE, entry.id)
    else:
        tx.keep_only(item.id, Role.SOURCE, None)


def read_item(kb: Workbench, run: Run, base: Base, item: Item) -> Taken:
    """The item's text, read once; what is parsed cannot change underneath."""
    run.token.check()
    with kb.permits.reading.hold():
        document = _read(kb, run, base, item)
    return Taken(
        run, base, item, document, recipe_of(document.content_hash, base.settings, base.space)
    )


def _read(kb: Workbench, run: Run, base: Base, item: Item) -> Document:
    made = processed_of(run)
    if made is not None:
        return _read_processed(kb, item, made)
    if item.type is ItemType.NOTE:
        text = str(item.data["content"])
        return Document(text, sha256(text.encode()).hexdigest(), item.size)
    if item.type is not ItemType.FILE:
        raise Permanent(f"a {item.type} cannot be read by this installation", code="unsupported")
    return kb.reader.read(item.name, content_of(kb, base, item))


def _read_processed(kb: Workbench, item: Item, made: Processed) -> Document:
    """The Markdown that a processor made; without its bytes it is made again next time."""
    entry = FileEntry(made.entry, made.sha256, made.size)
    try:
        content = kb.files.kept(entry.path, made.size)
    except Permanent:
        with kb.main.write() as tx:
            tx.forget_processed(made.entry)
        raise
    document = kb.reader.read(f"{item.name}.md", content)
    return replace(document, size=made.made.source_size)


def content_of(kb: Workbench, base: Base, item: Item) -> bytes:
    limit = kb.settings.max_file_bytes
    if "entry" in item.data:
        entry = FileEntry(EntryId(item.data["entry"]), item.data["sha256"], item.data["size"])
        return kb.files.kept(entry.path, limit)
    content = kb.files.read(item.data["path"], limit)
    if base.settings.keep_originals:
        _keep_snapshot(kb, item, content)
    return content


def _keep_snapshot(kb: Workbench, item: Item, content: bytes) -> None:
    """The original as it was read; bytes first: a crash leaves a file that the sweep finds."""
    entry = entry_of(kb, content)
    with kb.main.read() as snapshot:
        if any(one.sha256 == entry.sha256 for one in snapshot.entries(item.id, Role.SNAPSHOT)):
            return
    kb.files.keep(entry.path, content)
    with kb.main.write() as tx:
        living = tx.item(item.id)
        if living is not None and not living.deleting:
            tx.keep_entry(entry, item.id, Role.SNAPSHOT)
            tx.keep_only(item.id, Role.SNAPSHOT, entry.id)
