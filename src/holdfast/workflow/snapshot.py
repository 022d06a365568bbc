"""Which bytes is an item made of? Some that cannot change underneath, whatever the user does.

A note's text and what was uploaded are ours. A file of the user's is read into memory when it is
small; a large one is copied into the folder of runs, where it stays until its run has ended, or
among the stored files when the base keeps originals. What a crash leaves in the folder of runs
bears a claim that lives no more, and the sweep removes it.
"""

from __future__ import annotations

from hashlib import sha256

from holdfast.domain.bases import Base
from holdfast.domain.errors import DiskFull, Permanent
from holdfast.domain.files import FileEntry, Role
from holdfast.domain.ids import ClaimNo, EntryId
from holdfast.domain.items import Item, ItemType
from holdfast.domain.processing import Processed, processed_of_document
from holdfast.jobs.run import Run
from holdfast.ports import Source
from holdfast.workflow.fetch_page import fetch_page
from holdfast.workflow.room import floor_of
from holdfast.workflow.workbench import Workbench

RUNS = "runs"


def source_of(kb: Workbench, run: Run, base: Base, item: Item) -> Source:
    """The item's bytes and their hash; whoever asked says `let_go` when they are parsed."""
    made = processed_of(run)
    if made is not None:
        entry = FileEntry(made.entry, made.sha256, made.size)
        return stored_source(kb, f"{item.name}.md", entry, "text/markdown")
    if item.type is ItemType.NOTE:
        return _note(item)
    if item.type is ItemType.URL:
        page = fetch_page(kb, run, item)
        return stored_source(kb, page.name, page.entry, page.media_type)
    if item.type is not ItemType.FILE:
        raise Permanent(f"a {item.type} cannot be read by this installation", code="unsupported")
    if "entry" in item.data:
        entry = FileEntry(EntryId(item.data["entry"]), item.data["sha256"], item.data["size"])
        return stored_source(kb, item.name, entry)
    return _local(kb, run, base, item)


def processed_of(run: Run) -> Processed | None:
    """What a processor has made of the item, to be indexed in place of its own bytes."""
    document = run.job.input.get("processed")
    return None if document is None else processed_of_document(document)


def stored_source(
    kb: Workbench, name: str, entry: FileEntry, media_type: str | None = None
) -> Source:
    """Bytes that we keep: nobody changes them."""
    if entry.size > kb.settings.in_process_bytes:
        place = kb.files.place(entry.path)
        return Source(name, entry.sha256, entry.size, place=place, media_type=media_type)
    content = kb.files.kept(entry.path, entry.size)
    return Source(name, entry.sha256, entry.size, content, media_type=media_type)


def let_go(kb: Workbench, run: Run, source: Source) -> None:
    """The run has read what it wanted."""
    if source.place is not None:
        kb.files.unlink(_copy_of(run))


def remove_lost_copies(kb: Workbench) -> None:
    """Those of runs that did not come to their end; listed first, so that no new one is among."""
    copies = {ClaimNo(int(name.rpartition("/")[2])): name for name, _ in kb.files.stored(RUNS)}
    if not copies:
        return
    with kb.main.read() as snapshot:
        running = snapshot.running_claims()
    for claim in copies.keys() - running:
        kb.files.unlink(copies[claim])


def _note(item: Item) -> Source:
    content = str(item.data["content"]).encode()
    digest = sha256(content).hexdigest()
    return Source(item.name, digest, len(content), content, media_type="text/markdown")


def _local(kb: Workbench, run: Run, base: Base, item: Item) -> Source:
    content = _small(kb, str(item.data["path"]))
    if content is None:
        return _copied(kb, run, base, item)
    return _in_memory(kb, base, item, content)


def _small(kb: Workbench, path: str) -> bytes | None:
    """The bytes of a small file; None when there are more, whatever its size was before."""
    limits = kb.settings.in_process_bytes, kb.settings.max_file_bytes
    try:
        return kb.files.read(path, min(one for one in limits if one is not None))
    except Permanent as error:
        if error.code != "too_large":
            raise
        return None


def _in_memory(kb: Workbench, base: Base, item: Item, content: bytes) -> Source:
    source = Source(item.name, sha256(content).hexdigest(), len(content), content)
    if base.settings.keep_originals and not _is_kept(kb, item, source):
        entry = _entry(kb, source)
        kb.files.keep(entry.path, content)
        _refer(kb, item, entry)
    return source


def _copied(kb: Workbench, run: Run, base: Base, item: Item) -> Source:
    path, name = str(item.data["path"]), _copy_of(run)
    _may_copy(kb, kb.files.look(path).size)
    copied = kb.files.copy(path, name, kb.settings.max_file_bytes, run.token.check)
    source = Source(item.name, copied.sha256, copied.size, place=kb.files.place(name))
    if not base.settings.keep_originals or _is_kept(kb, item, source):
        return source
    entry = _entry(kb, source)
    kb.files.move(name, entry.path)
    _refer(kb, item, entry)
    return stored_source(kb, item.name, entry)


def _copy_of(run: Run) -> str:
    return f"{RUNS}/{run.claim}"


def _may_copy(kb: Workbench, size: int) -> None:
    free, total = kb.files.free()
    if free - size < floor_of(kb, total):
        raise DiskFull(f"a copy of {size:,} bytes does not fit: {free:,} bytes are free")


def _entry(kb: Workbench, source: Source) -> FileEntry:
    return FileEntry(EntryId(kb.ids.new()), source.content_hash, source.size)


def _is_kept(kb: Workbench, item: Item, source: Source) -> bool:
    with kb.main.read() as snapshot:
        kept = snapshot.entries(item.id, Role.SNAPSHOT)
    return any(one.sha256 == source.content_hash for one in kept)


def _refer(kb: Workbench, item: Item, entry: FileEntry) -> None:
    """The original as it was read; bytes first: a crash leaves a file that the sweep finds."""
    with kb.main.write() as tx:
        living = tx.item(item.id)
        if living is not None and not living.deleting:
            tx.keep_entry(entry, item.id, Role.SNAPSHOT)
            tx.keep_only(item.id, Role.SNAPSHOT, entry.id)
