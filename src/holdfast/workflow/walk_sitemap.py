"""What does one run over a sitemap hold? The pages it names, fetched once and kept for this job.

The listing is kept among the stored files while the job lasts: a run that goes on after waiting for
room in the queue reads it there and asks nobody. A listing that is gone is fetched anew, and the
walk begins anew with it: two listings are no evidence together.
"""

from __future__ import annotations

from dataclasses import asdict
from hashlib import sha256

from holdfast.domain.errors import Permanent, Superseded
from holdfast.domain.files import FileEntry, Role
from holdfast.domain.ids import EntryId
from holdfast.domain.items import Item
from holdfast.jobs.run import Run
from holdfast.ports import Fetched, Wanted
from holdfast.stages.walking.listing import Manner, Skipped
from holdfast.stages.walking.rules import Rules
from holdfast.stages.web.robots import FORBIDDEN, Robots
from holdfast.stages.web.sitemaps import Listing, Reading
from holdfast.workflow.reindex_subtree import still_running
from holdfast.workflow.walk import FLAGS, Place, Walk
from holdfast.workflow.workbench import Workbench

NO_RULES = Manner(Rules(), recursive=True, follow_symlinks=False, max_file_bytes=None)


def begin_sitemap(kb: Workbench, run: Run, box: Item) -> Walk:
    """The pages named, and the place an earlier run of the job has come to."""
    place = Place(**run.job.input.get("place", {}))
    listing = _kept(kb, box, place)
    if listing is None:
        listing = _fetched(kb, run, box)
        place = _keep(kb, run, box, listing)
    flags = {name: run.job.input[name] for name in FLAGS if run.job.input.get(name)}
    skipped = Skipped.of(box.skipped) if place.after else _left_out(listing)
    url = str(box.data["url"])
    return Walk(url, box.generation, box, NO_RULES, place, skipped, flags, listing=listing)


def _left_out(listing: Listing) -> Skipped:
    entries = [{"path": url, "reason": reason} for url, reason in listing.skipped]
    return Skipped(listing.left_out, entries)


def _fetched(kb: Workbench, run: Run, box: Item) -> Listing:
    """A failing fetch ends the run here: nothing is known, so no child is touched."""

    def fetch(url: str) -> Fetched:
        with kb.permits.reading.hold():
            return kb.fetcher.fetch(Wanted(url), run.token.check)

    reading, robots = Reading(fetch, kb.settings.fetch_max_bytes), Robots(fetch)
    reading.read(str(box.data["url"]))
    listing = reading.listing
    for url in [url for url in listing.pages if not robots.allow(url)]:
        del listing.pages[url]
        listing.leave_out(url, FORBIDDEN)
    return listing


def _kept(kb: Workbench, box: Item, place: Place) -> Listing | None:
    with kb.main.read() as snapshot:
        kept = snapshot.entries(box.id, Role.SNAPSHOT)
    entry = next((one for one in kept if one.id == place.listing), None)
    try:
        return None if entry is None else Listing.of(kb.files.kept(entry.path, entry.size))
    except Permanent:
        return None


def _keep(kb: Workbench, run: Run, box: Item, listing: Listing) -> Place:
    """Bytes first; the job names them with its place, which is the beginning."""
    document = listing.document()
    entry = FileEntry(EntryId(kb.ids.new()), sha256(document).hexdigest(), len(document))
    kb.files.keep(entry.path, document)
    place = Place(listing=entry.id)
    with kb.main.write() as tx:
        item = tx.item(box.id)
        if item is None or item.generation != box.generation or not still_running(tx, run):
            raise Superseded(f"container {box.id} has moved on")
        tx.keep_entry(entry, box.id, Role.SNAPSHOT)
        tx.keep_only(box.id, Role.SNAPSHOT, entry.id)
        tx.keep_place(run.fence, asdict(place))
    return place
