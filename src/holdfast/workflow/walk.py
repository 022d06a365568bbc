"""What does one run over a folder hold? The rules, how far it came, and what it passed over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from holdfast.domain import paths
from holdfast.domain.errors import Permanent
from holdfast.domain.ids import Generation
from holdfast.domain.items import Item
from holdfast.jobs.run import Run
from holdfast.ports import Entry
from holdfast.stages.walking.listing import Manner, Skipped, is_folder, is_silent, why_not
from holdfast.stages.walking.rules import MAX_RULE_BYTES, RULE_FILES, Level, rules_of
from holdfast.stages.web.sitemaps import Listed, Listing
from holdfast.workflow.workbench import Workbench

FLAGS = ("asked", "force", "prune")
OUR_FOLDER = "the data folder of this engine"


@dataclass(slots=True)
class Place:
    """How far the listing has come; kept in the job with every page."""

    after: str = ""
    met: int = 0
    known: int = 0
    listing: str = ""  # the kept listing of a sitemap

    def beyond(self, last: str, met: int, known: int) -> Place:
        """After one more page."""
        return Place(last, self.met + met, self.known + known, self.listing)


@dataclass(slots=True)
class Walk:
    """One run over one folder or sitemap."""

    path: str
    generation: Generation
    top: Item  # what the user added
    manner: Manner
    place: Place
    skipped: Skipped
    flags: dict[str, Any]
    names: int = 0  # entries this run has seen, of whatever kind
    accepted: list[Entry] = field(default_factory=list[Entry])
    listing: Listing | None = None  # of a sitemap
    pages: list[Listed] = field(default_factory=list[Listed])

    @property
    def keys(self) -> list[str]:
        """What the children of this page are known by below their container."""
        found = self.pages if self.listing is not None else self.accepted
        return [paths.key_of(one.name) for one in found]

    @property
    def asked(self) -> bool:
        """A user's re-index: read again, whatever seems unchanged."""
        return bool(self.flags.get("asked"))


def begin(kb: Workbench, run: Run, box: Item) -> Walk:
    """The rules of this folder, and the place an earlier run of the job has come to."""
    with kb.main.read() as snapshot:
        above = snapshot.items(snapshot.ancestors([box.id]).get(box.id, []))
        base = snapshot.base(box.base_id)
    processor = base.settings.file_processor_id if base is not None else None
    top = min([box, *above], key=lambda item: len(item.data["path"]))
    path = str(box.data["path"])
    place = Place(**run.job.input.get("place", {}))
    manner = Manner(
        rules=rules_of(_levels(kb, str(top.data["path"]), path)),
        recursive=bool(box.data.get("recursive", True)),
        follow_symlinks=kb.settings.follow_symlinks,
        max_file_bytes=kb.settings.max_file_bytes,
        declared=lambda name: processor is not None and kb.settings.declares(processor, name),
    )
    skipped = Skipped.of(box.skipped if place.after else None)
    flags = {name: run.job.input[name] for name in FLAGS if run.job.input.get(name)}
    return Walk(path, box.generation, top, manner, place, skipped, flags)


def _levels(kb: Workbench, top: str, path: str) -> list[Level]:
    """The files of rules from the added folder down to this one."""
    names = path[len(top) :].strip("/")
    folders = [top]
    for name in names.split("/") if names else ():
        folders.append(paths.inside(folders[-1], name))
    return [(folder.rpartition("/")[2], _rule_files(kb, folder)) for folder in folders]


def _rule_files(kb: Workbench, folder: str) -> dict[str, bytes]:
    """Rules that cannot be read end the run: nobody wants what they leave out taken in."""
    found: dict[str, bytes] = {}
    for name in RULE_FILES:
        try:
            content = kb.files.read_if_there(paths.inside(folder, name), MAX_RULE_BYTES)
        except Permanent as error:
            raise Permanent(f"rules to ignore: {error}", code="source_unreadable") from error
        if content is not None:
            found[name] = content
    return found


def sort(kb: Workbench, walk: Walk, page: Sequence[Entry]) -> None:
    """What of a page becomes children; the rest is told in `skipped`."""
    walk.accepted = []
    for entry in page:
        if is_silent(entry):
            walk.skipped.in_silence()
        elif reason := _why_not(kb, walk, entry):
            walk.skipped.add(entry.name, reason)
        else:
            walk.accepted.append(entry)


def _why_not(kb: Workbench, walk: Walk, entry: Entry) -> str | None:
    if is_folder(entry) and kb.files.owns(paths.inside(walk.path, entry.name)):
        return OUR_FOLDER
    return why_not(entry, walk.manner)
