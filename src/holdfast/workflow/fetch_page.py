"""What does a page of the web hold now? Fetched, kept, and only then read.

    ask, with the marks of the copy that is here -> as it was, or equal bytes? the copy stands
                                                 -> else keep the bytes, then let the item name them

What is parsed is the kept copy, so it cannot change underneath, and what was fetched once can be
read again without asking anybody. Bytes first: a crash leaves a file that the sweep finds. A fetch
that fails touches nothing, and what answered before goes on answering.
"""

from __future__ import annotations

import mimetypes
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from holdfast.domain.addresses import address_of
from holdfast.domain.errors import Permanent, Superseded
from holdfast.domain.files import FileEntry, Role
from holdfast.domain.ids import EntryId
from holdfast.domain.items import Item
from holdfast.jobs.run import Run
from holdfast.ports import Fetched, Wanted
from holdfast.stages.web.page import media_type_of_page
from holdfast.workflow.reindex_subtree import still_running
from holdfast.workflow.workbench import Workbench

MARKS = ("etag", "last_modified")


@dataclass(frozen=True, slots=True)
class Page:
    """The copy of a page that a run reads."""

    name: str
    entry: FileEntry
    media_type: str | None


def fetch_page(kb: Workbench, run: Run, item: Item) -> Page:
    """The page as it is now; a user who asks for it gets it whole, whatever the marks say."""
    copy = _copy(kb, item)
    if copy is not None and run.job.input.get("stored"):
        return _as_it_was(kb, run, item, copy)  # a lost index is made again without asking anybody
    marks = item.data if copy is not None and not run.job.input.get("asked") else {}
    wanted = Wanted(str(item.data["url"]), *(marks.get(name) for name in MARKS))
    fetched = kb.fetcher.fetch(wanted, run.token.check)
    if fetched.content is None:
        return _as_it_was(kb, run, item, copy)
    entry = _kept(kb, copy, fetched.content)
    kind = media_type_of_page(fetched.content, fetched.media_type, fetched.charset)
    _name_it(kb, run, entry, _found(fetched, entry, kind))
    return Page(_file_name(fetched.url, kind), entry, kind)


def _copy(kb: Workbench, item: Item) -> FileEntry | None:
    """The bytes the item names, if they are still its own."""
    with kb.main.read() as snapshot:
        kept = snapshot.entries(item.id, Role.SNAPSHOT)
    return next((entry for entry in kept if entry.id == item.data.get("copy")), None)


def _as_it_was(kb: Workbench, run: Run, item: Item, copy: FileEntry | None) -> Page:
    kind, found = item.data.get("media_type"), str(item.data.get("found", item.data["url"]))
    if copy is None:
        raise Permanent(f"{found} was answered by nothing", code="fetch_failed")
    return Page(_file_name(found, kind), copy, kind)


def _kept(kb: Workbench, copy: FileEntry | None, content: bytes) -> FileEntry:
    """The copy that is here if it is the same, else a new one, on disk."""
    digest = sha256(content).hexdigest()
    if copy is not None and copy.sha256 == digest and _is_there(kb, copy):
        return copy
    entry = FileEntry(EntryId(kb.ids.new()), digest, len(content))
    kb.files.keep(entry.path, content)
    return entry


def _is_there(kb: Workbench, copy: FileEntry) -> bool:
    try:
        return len(kb.files.kept(copy.path, copy.size)) == copy.size
    except Permanent:
        return False


def _found(fetched: Fetched, entry: FileEntry, kind: str | None) -> dict[str, Any]:
    told = {
        "copy": entry.id,
        "found": fetched.url,
        "media_type": kind,
        "etag": fetched.etag,
        "last_modified": fetched.last_modified,
    }
    return {name: value for name, value in told.items() if value is not None}


def _name_it(kb: Workbench, run: Run, entry: FileEntry, found: dict[str, Any]) -> None:
    """While the run owns the item: what somebody newer is at work on names its own copy."""
    with kb.main.write() as tx:
        item = tx.item(run.item)
        if item is None or item.generation != run.fence.generation or not still_running(tx, run):
            raise Superseded(f"item {run.item} has moved on")
        data = {**without_copy(item.data), **found}
        if data != item.data:
            tx.set_source(replace(item, data=data))
        tx.keep_entry(entry, item.id, Role.SNAPSHOT)
        tx.keep_only(item.id, Role.SNAPSHOT, entry.id)


def without_copy(data: Any) -> dict[str, Any]:
    """What an item knows of its address alone."""
    return {name: data[name] for name in ("url", "lastmod") if name in data}


def _file_name(url: str, kind: str | None) -> str:
    """What a file of this content would be called: readers look at the end of a name."""
    path = address_of(url).target.partition("?")[0].rstrip("/")
    name = path.rpartition("/")[2] or "page"
    plain_kind = (kind or "").partition(";")[0]
    if "." in name or not plain_kind:
        return name
    return name + (mimetypes.guess_extension(plain_kind) or "")
