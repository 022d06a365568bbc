"""What becomes of one page of a folder's entries: new children, known ones, or none?

Children are matched by their name below the container. A known one keeps its id whatever happens to
its content; one whose size and time of change are those of its published content is not even
opened. All is decided inside the transaction that writes it, from the rows as they are then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from holdfast.domain import paths
from holdfast.domain.bases import Base
from holdfast.domain.ids import ItemId
from holdfast.domain.item_states import COMPLETED, FAILED, IDLE, TERMINAL, first_status
from holdfast.domain.items import Item, ItemType, NewItem
from holdfast.domain.recipe import is_outdated
from holdfast.ports import Entry
from holdfast.stages.walking.listing import SAME_NAME, Skipped, is_folder
from holdfast.stores.catalog import Trouble
from holdfast.workflow.workbench import Workbench

DOUBT = 2_000_000_000  # a file changed so short ago may change again without a newer time


@dataclass(slots=True)
class Met:
    """The children of one page, sorted by what is to be done with them."""

    new: list[NewItem] = field(default_factory=list[NewItem])
    again: list[Item] = field(default_factory=list[Item])  # a new attempt, with what is known now
    stay: list[Item] = field(default_factory=list[Item])  # as they are
    replaced: list[Item] = field(default_factory=list[Item])  # a file where a folder was, …
    known: int = 0

    @property
    def leaves(self) -> int:
        """How many documents will stand in the queue."""
        return sum(not one.is_container and one.status is not FAILED for one in self.new) + sum(
            not one.is_container for one in self.again
        )

    @property
    def all(self) -> int:
        return len(self.new) + len(self.again) + len(self.stay)


def meet(
    kb: Workbench,
    base: Base,
    box: Item,
    entries: Sequence[Entry],
    *,
    known: Mapping[str, Item],
    skipped: Skipped,
    asked: bool,
) -> Met:
    """Sort the accepted entries of a page; names that cannot be told apart are skipped."""
    met, taken = Met(), set[str]()
    once = {entry.name: entry for entry in entries}  # a folder that changes may tell a name twice
    for entry in once.values():
        key = paths.key_of(entry.name)
        child = known.get(key)
        path = paths.inside(box.data["path"], entry.name)
        if key in taken or _is_of_a_twin(child, box, path):
            skipped.add(entry.name, SAME_NAME)
        elif child is not None and child.seen == box.generation:
            continue  # told twice, on two pages
        elif child is None or _is_of_another_kind(child, entry):
            _meet_new(kb, box, entry, child, met)
        else:
            met.known += 1
            _meet_known(kb, base, child, entry, met, path=path, asked=asked)
        taken.add(key)
    return met


def _is_of_a_twin(child: Item | None, box: Item, path: str) -> bool:
    """Met in this generation under another name, which reads the same."""
    if child is None or child.seen != box.generation:
        return False
    return bool(child.data["path"] != path)


def _is_of_another_kind(child: Item, entry: Entry) -> bool:
    return entry.look is not None and child.is_container != is_folder(entry)


def _meet_new(kb: Workbench, box: Item, entry: Entry, former: Item | None, met: Met) -> None:
    if entry.hint == "gone":
        return  # it went away while the folder was listed
    if former is not None:
        met.replaced.append(former)
    met.new.append(_child(kb, box, entry))


def _meet_known(
    kb: Workbench, base: Base, child: Item, entry: Entry, met: Met, *, path: str, asked: bool
) -> None:
    newer = _as_it_is_now(kb, child, entry, path)
    if not asked and _is_unchanged(base, child, newer):
        met.stay.append(child)
    elif child.status in TERMINAL or child.status is IDLE or _has_other_content(child, newer):
        met.again.append(newer)
    else:
        met.stay.append(child)  # at work, and on what stands there now


def _is_unchanged(base: Base, child: Item, newer: Item) -> bool:
    """Its last attempt was published from this very content, and would be made the same today."""
    return (
        not child.is_container
        and child.status is COMPLETED
        and child.size == newer.size
        and "mtime_ns" in child.data
        and child.data == newer.data
        and not is_outdated(child.recipe, base.settings, base.space)
    )


def _has_other_content(child: Item, newer: Item) -> bool:
    """Is a leaf at work on what is no longer there? A time in doubt is no evidence."""
    if child.is_container:
        return False
    times = (child.data.get("mtime_ns"), newer.data.get("mtime_ns"))
    return child.size != newer.size or (None not in times and times[0] != times[1])


def _as_it_is_now(kb: Workbench, child: Item, entry: Entry, path: str) -> Item:
    if entry.look is None:
        return child  # cannot be examined: its own attempt will say why
    found = _located(kb, entry, path)
    if child.is_container:
        return replace(child, data={**found, "recursive": True}, source=paths.as_text(path))
    size = entry.look.size
    return replace(child, data=found, source=paths.as_text(path), size=size, workload=size)


def _child(kb: Workbench, box: Item, entry: Entry) -> NewItem:
    look, container = entry.look, is_folder(entry)
    path = paths.inside(box.data["path"], entry.name)
    shown = paths.as_text(path)
    data = _located(kb, entry, path)
    unreadable: Trouble = (
        "unreadable",
        f"{shown} cannot be examined",
        "make it readable, re-index",
    )
    return NewItem(
        id=ItemId(kb.ids.new()),
        base_id=box.base_id,
        type=ItemType.DIRECTORY if container else ItemType.FILE,
        name=paths.key_of(entry.name),
        source=shown,
        status=first_status(container) if look is not None else FAILED,
        parent_id=box.id,
        source_key=paths.key_of(entry.name),
        data={**data, "recursive": True} if container else data,
        attributes=box.attributes,
        size=look.size if look else 0,
        workload=look.size if look else 0,
        error=None if look is not None else unreadable,
        seen=box.generation,
    )


def _located(kb: Workbench, entry: Entry, path: str) -> dict[str, Any]:
    """Where it is and, unless that is in doubt, when it was changed."""
    found: dict[str, Any] = {"path": path}
    look = entry.look
    if look is not None and look.kind == "file" and look.mtime_ns < _certain_before(kb):
        found["mtime_ns"] = look.mtime_ns
    return found


def _certain_before(kb: Workbench) -> float:
    return kb.clock.wall() * 1e9 - DOUBT
