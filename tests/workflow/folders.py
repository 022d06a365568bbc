"""What the tests of folders share: rescans nobody asked for, and listings that go wrong."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from holdfast.domain.ids import ItemId
from holdfast.domain.item_states import Move, Status
from holdfast.domain.items import Item
from holdfast.machine.files import FolderFiles
from holdfast.ports import Entry
from holdfast.stores.catalog import Moved
from holdfast.workflow.schedule_item import schedule_items
from tests.workflow.worlds import World

OLD = 1_700_000_000
Change = Callable[[Entry], Entry | None]


def settle_times(folder: Path) -> None:
    """Let the files be as old as real ones usually are: no doubt about their times."""
    for path in folder.rglob("*"):
        if path.is_file():
            os.utime(path, (OLD, OLD))


def edit(path: Path, content: str, *, at: int = OLD + 100) -> None:
    path.write_text(content)
    os.utime(path, (at, at))


def rescan(world: World, box: Item, **flags: bool) -> None:
    """A new listing that no user asked for, as a sync makes it; done with all that follows."""
    restart(world, box, **flags)
    world.finish()


def restart(world: World, box: Item, **flags: bool) -> None:
    """The same, accepted and not yet done."""
    kb = world.engine.kb
    with kb.main.write() as tx:
        base = tx.base(world.base.id)
        assert base is not None
        tx.move(Move.RESTART, [Moved(box.id, Status.PREPARING, new_generation=True)])
        schedule_items(tx, kb, base, tx.items([box.id]), asked=flags)


def reindex(world: World, box: Item | ItemId) -> None:
    """A user's re-index, done with all that follows."""
    world.hf.reindex(box)
    world.finish()


def tree_of(world: World, box: Item, above: str = "") -> dict[str, Item]:
    """Everything alive below a container, by its path."""
    found: dict[str, Item] = {}
    for name, item in world.inside(box).items():
        found[above + name] = item
        if item.is_container:
            found.update(tree_of(world, item, f"{above}{name}/"))
    return found


def ids(world: World, box: Item) -> dict[str, ItemId]:
    return {path: item.id for path, item in tree_of(world, box).items()}


def generations(world: World, box: Item) -> dict[str, int]:
    return {path: item.generation for path, item in tree_of(world, box).items()}


def reasons(world: World, box: Item) -> dict[str, str]:
    skipped: Mapping[str, Any] = world.item(box).skipped or {"entries": []}
    return {entry["path"]: entry["reason"] for entry in skipped["entries"]}


@contextmanager
def listing(change: Change) -> Iterator[list[str]]:
    """Folders as `change` would have them; the names that were examined."""
    real, seen = FolderFiles.entries, list[str]()

    def entries(files: FolderFiles, path: str, after: str = "") -> Iterator[Entry]:
        for entry in real(files, path, after):
            seen.append(entry.name)
            changed = change(entry)
            if changed is not None:
                yield changed

    with mock.patch.object(FolderFiles, "entries", entries):
        yield seen


def as_it_is(entry: Entry) -> Entry:
    return entry


def unexaminable(name: str, hint: str = "file") -> Change:
    return lambda entry: Entry(name, None, hint=hint) if entry.name == name else entry


def lasting(world: World, seconds: float) -> Change:
    """Each entry takes its time."""

    def change(entry: Entry) -> Entry:
        world.clock.advance(seconds)
        return entry

    return change


@contextmanager
def failing_at(place: int, error: Exception) -> Iterator[None]:
    """Every listing breaks off at its entry with this number (from 0), or at its end."""
    real = FolderFiles.entries

    def entries(files: FolderFiles, path: str, after: str = "") -> Iterator[Entry]:
        for number, entry in enumerate(real(files, path, after)):
            if number == place:
                raise error
            yield entry
        raise error

    with mock.patch.object(FolderFiles, "entries", entries):
        yield


def telling(world: World, word: str) -> set[ItemId]:
    """The items whose text in an answer holds this word."""
    hits = world.hf.search(word, bases=[world.base], top_k=50).hits
    return {hit.item_id for hit in hits if word in hit.content}
