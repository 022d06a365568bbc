"""Is everything as it was promised, once bad luck has ended and nothing is left to do?

Faults off, a last start, parked work taken up, paused bases resumed: everything must come to rest
within bounded virtual time. Then the promises are compared with the stores; what failed through
bad luck is re-indexed and must succeed; leftovers must be gone after the grace time.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from holdfast.domain.ids import BaseId, ItemId
from holdfast.stores.sqlite import invariants
from holdfast.stores.sqlite.main import FILE
from holdfast.testing.contents import seal_of
from holdfast.testing.expectations import Known
from holdfast.testing.life import Life
from holdfast.testing.mirror import compare_sites, living_sitemaps
from holdfast.testing.models import BATCH, WIDTH, vector_of
from holdfast.workflow.bases import set_paused
from holdfast.workflow.recover import recover
from holdfast.workflow.reindex_items import reindex_items

if TYPE_CHECKING:
    from holdfast.testing.world import World

LONGEST_REST = 6 * 3_600.0
FIRST_LOOK, LONGEST_LOOK = 1.0, 300.0
BY_THE_USER = frozenset(("unreadable", "source_unreadable", "conflict", "fetch_failed"))
UNREACHABLE = frozenset(("source_unreadable", "fetch_failed", "parent_failed"))
BY_BAD_LUCK = BY_THE_USER | {
    "bad_vectors",
    "provider_failed",
    "processing_failed",
    "processing_timeout",
    "internal",
    "killed_worker",
    "interrupted",
    "disk_full",
    "parent_failed",
    "schedule_failed",
    "too_large",
    "fetch_refused",
    "parser_failed",
}


def settle(world: World) -> None:
    """To rest, compare, again without what went wrong, compare, and nothing left over."""
    if not world.clock_stays_wrong:
        world.outage.set_clock_right()
    life = world.next_life()
    heal(world, life)
    if not rest(world):
        return
    Comparison(world, BY_BAD_LUCK if world.unlucky else BY_THE_USER).everything()
    try_failed_again(world, life)
    if not rest(world):
        return
    Comparison(world, BY_THE_USER).everything()
    compare_sites(world, life)
    grow_old(world, life)
    leftovers(world)
    bill(world)
    life.end()


def grow_old(world: World, life: Life) -> None:
    """The grace time passes; this life has looked before it, sleeps through it, and looks again."""
    world.outage.set_clock_right()
    grace = world.settings.file_grace + 1.0
    rounds = 1.2 * max(world.settings.sweep_interval, world.settings.lease_renewal)
    world.kernel.sleep(rounds)
    world.kernel.freeze(life.process, grace)
    world.kernel.sleep(grace + rounds)


def heal(world: World, life: Life) -> None:
    """What only a user may decide."""
    for base in world.bases_now():
        set_paused(life.kb, base, paused=False)
        recover(life.kb, base)


def rest(world: World) -> bool:
    """Wait until nothing will happen by itself; L1 and L2 say that this comes."""
    until, look = world.kernel.now + LONGEST_REST, FIRST_LOOK
    while left := invariants.unrest(world.disk.connection(FILE)):
        if world.kernel.now > until:
            world.kernel.found(f"L1 no rest after {LONGEST_REST:.0f} s: {'; '.join(left[:5])}")
            return False
        world.kernel.sleep(look, "world waits for rest")
        look = min(LONGEST_LOOK, look * 2)
    return True


def try_failed_again(world: World, life: Life) -> None:
    """What failed through bad luck succeeds without it; sitemaps are read as they are now."""
    world.plant.mended = True
    failed: dict[BaseId, list[ItemId]] = {}
    for item, status, _, _, _, _, base, _ in invariants.standing(world.disk.connection(FILE)):
        if status == "failed":
            failed.setdefault(base, []).append(item)
    for known in living_sitemaps(world):
        failed.setdefault(known.base, []).append(known.id)
    for base, items in failed.items():
        reindex_items(life.kb, base, items)


class Comparison:
    """What stands in the stores, beside what was promised."""

    def __init__(self, world: World, pardoned: frozenset[str]) -> None:
        self.world, self.pardoned = world, pardoned
        self.rows = {row[0]: row for row in invariants.standing(world.disk.connection(FILE))}

    def everything(self) -> None:
        for known in self.world.expectations.items.values():
            self._promise(known, self.rows.get(known.id))
        for item, status, code, *_ in self.rows.values():
            if status == "failed" and code not in self.pardoned and not self._cut_off(item):
                self._found(f"{item} is failed with {code}, which nothing explains")
        self._builds()

    def _cut_off(self, item: ItemId) -> bool:
        """Does it stand in a folder that its user took away? Nobody could try it again."""
        above = self.rows.get(self.rows[item][7])
        return above is not None and (above[2] in UNREACHABLE or self._cut_off(above[0]))

    def _promise(self, known: Known, row: tuple[Any, ...] | None) -> None:
        may_be_gone = known.delete_asked or known.base in self.world.expectations.bases_deleted
        if row is None and not may_be_gone:
            self._found(f"accepted item {known.id} is lost")
        elif row is not None and known.deleted:
            self._found(f"deleted item {known.id} is {row[1]}")
        elif row is not None and row[1] == "completed" and not known.folder:
            self._content(known, row)

    def _content(self, known: Known, row: tuple[Any, ...]) -> None:
        """The newest promised version, or one whose update may have happened."""
        versions = known.versions if known.path is None else known.history
        settings = self.world.base_settings(0)
        seals = [seal_of(version, settings) for version in versions]
        if not any((seal.count, seal.digest) == (row[5], row[4]) for seal in seals):
            self._found(f"{known.id} answers with none of {len(seals)} promised versions")

    def _builds(self) -> None:
        """I3 at rest: one build an item, none of what is gone; I11 inside the index."""
        answering = {(row[0], row[3]) for row in self.rows.values() if row[3] is not None}
        for base in self.world.index.bases():
            for build in self.world.index.builds(base):
                if (build.item_id, build.claim) not in answering and self.swept:
                    self._found(f"I3 build {build.claim} of {build.item_id} is left over")
            self._vectors(base)
            for disagreement in self.world.index.verify(base):
                self._found(f"I11 {disagreement}")

    def _vectors(self, base: BaseId) -> None:
        """I10: every chunk that answers can be found by its vector."""
        settings = self.world.settings_by_base.get(base)
        if settings is None or settings.embedding_model is None:
            return
        chunks = sum(row[5] for row in self.rows.values() if row[6] == base and row[3] is not None)
        with self.world.index.snapshot(base) as index:
            found = index.vector(1, vector_of("any", WIDTH), 10_000)
        answering = {(row[0], row[3]) for row in self.rows.values()}
        if sum((one.item_id, one.build) in answering for one in found) != chunks:
            self._found(f"I10 {chunks} chunks answer in {base}, {len(found)} have a vector")

    swept = False

    def _found(self, what: str) -> None:
        self.world.kernel.found(f"at rest: {what}")


def leftovers(world: World) -> None:
    """After the grace time nothing stands that nobody needs: builds, indexes, files."""
    comparison = Comparison(world, BY_THE_USER)
    comparison.swept = True
    comparison.everything()
    for left in invariants.conversions(world.disk.connection(FILE)):
        world.kernel.found(f"conversion {left} is asked for by nobody and not forgotten")
    _alike(world, "index", world.index.bases(), world.bases_now())
    known = invariants.stored_files(world.disk.connection(FILE))
    _alike(world, "file", world.landscape.ours, known)


def _alike(world: World, what: str, there: Iterable[str], needed: Iterable[str]) -> None:
    there, needed = set(there), set(needed)
    for name in sorted(there - needed):
        world.kernel.found(f"I14 {what} {name} is left over")
    for name in sorted(needed - there):
        world.kernel.found(f"{what} {name} is lost")


def bill(world: World) -> None:
    """L3: texts are paid for once, but for what bad luck and deletes explain."""
    paid, distinct = world.bill.embedded(), len(world.bill.texts)
    again = sum(step.operation in {"delete", "update", "reindex", "search"} for step in world.steps)
    mishaps = 1 + len(world.faults.hits) + world.outage.crashes + len(world.lives)
    slots = world.settings.global_concurrency
    allowed = distinct + world.bill.wasted + BATCH * (slots * mishaps + 3 * again)
    conversions, allowed_too = world.plant.submitted, len(world.plant.distinct) + mishaps + again
    if conversions > allowed_too:
        world.kernel.found(f"L3 {conversions} conversions paid for, {allowed_too} explained")
    if paid > allowed:
        world.kernel.found(f"L3 {paid} texts paid for, {distinct} distinct, {allowed} explained")
