"""What must hold right after every commit, before anybody else can run?

The main store is asked all its invariants in one statement; temporary triggers remember forbidden
transitions. Then every build that answers must stand in the index as it was sealed.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from holdfast.domain.chunks import Seal
from holdfast.stores.index import IndexStore
from holdfast.stores.memory_index import MemoryIndex
from holdfast.stores.sqlite import invariants
from holdfast.stores.sqlite.main import FILE
from holdfast.testing.faults import Kind

if TYPE_CHECKING:
    from holdfast.testing.world import World

REMOVING = frozenset({"index.drop_before", "index.remove", "index.remove_items", "index.drop"})
IMAGES_KEPT = 6


class Watch:
    """Asks after each commit; remembers what an index may be after a power cut."""

    index_syncs = True  # every commit of an index waits for the disk

    def __init__(self, world: World) -> None:
        self._world = world
        self._told: set[str] = set()
        self._images: list[object] = []
        self._changes = -1
        settings = world.settings
        self._caps = {
            "index": settings.global_concurrency,
            "control": settings.control_concurrency,
            "poll": settings.poll_concurrency,
            "urgent": settings.urgent_concurrency,
        }
        self._power_may_fail = world.faults.may_happen(Kind.POWER_CUT)

    def main(self, call: str) -> None:
        connection = self._world.disk.connection(FILE)
        changes = connection.total_changes()
        if changes == self._changes:
            return
        self._changes = changes
        if self._power_may_fail:
            self._world.disk.committed(FILE)
        for name, what in invariants.violations(connection, self._caps):
            self._tell(f"{name}: {what}", call)
        for name, what in invariants.watched(connection):
            self._tell(f"{name}: {what}", call)
        self._builds_stand(call)

    def index(self, call: str) -> None:
        if not isinstance(self._world.index, MemoryIndex):
            return  # its files have images of their own
        if call in REMOVING:
            self._builds_stand(call)
        if self.index_syncs or call in REMOVING:
            self._images.clear()
        self._images.append(self._world.index.image())
        del self._images[:-IMAGES_KEPT]

    def index_after_power_cut(self, rng: Random) -> IndexStore:
        if not isinstance(self._world.index, MemoryIndex):
            return self._world.index  # the next life opens the files
        images = self._images or [self._world.index.image()]
        image = rng.choice(images)
        self._images = [image]
        return MemoryIndex.from_image(image)

    def forget(self) -> None:
        """A power cut: what was read of the main store before it is void."""
        self._changes = -1

    def _builds_stand(self, call: str) -> None:
        if self._world.stores.index_in_files:
            return  # its questions take locks; it is asked at rest
        index = self._world.index
        for base, item, build, count, digest in invariants.answering_builds(
            self._world.disk.connection(FILE)
        ):
            seal = index.seals(base, [(item, build)]).get((item, build))
            if seal != Seal(count, digest):
                self._tell(f"I10 build {build} of {item} answers and is {seal}", call)

    def _tell(self, what: str, call: str) -> None:
        if what not in self._told:
            self._told.add(what)
            self._world.kernel.found(f"{what} (after {call})")
