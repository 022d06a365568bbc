"""What becomes of rows from an older version or an import, which were never scheduled here?

What has a complete, searchable index becomes completed with it; the rest stays idle, which is no
failure: `recover` or a re-index brings it on when somebody asks. Nothing is read or embedded.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.domain.chunks import digest_of
from holdfast.domain.ids import BaseId, ItemId
from holdfast.domain.item_states import COMPLETED, Move
from holdfast.domain.items import Item
from holdfast.stores.catalog import Moved, Published
from holdfast.stores.index import BuildRow
from holdfast.stores.main import Transaction
from holdfast.workflow.workbench import Workbench

AT_ONCE, CLAIMS_OF_AN_OWNER = 5_000, 1_000_000_000
UNKNOWN = "adopted"  # no recipe is like it: the next attempt reads


def adopt_rows(kb: Workbench) -> int:
    """In every base; how many items answer now."""
    with kb.main.read() as snapshot:
        bases = [base.id for base in snapshot.bases() if snapshot.idle_items(base.id, 1)]
    return sum(_adopt(kb, base) for base in bases)


def _adopt(kb: Workbench, base: BaseId) -> int:
    newest: dict[ItemId, BuildRow] = {}
    for build in kb.index.builds(base):
        if build.seal and build.claim >= _claim(newest.get(build.item_id)):
            newest[build.item_id] = build
    with kb.main.write() as tx:
        idle = tx.items(tx.idle_items(base, AT_ONCE))
        leaves = [one for one in idle if not one.is_container and one.id in newest]
        asked = [Moved(one.id, COMPLETED, one.generation) for one in leaves]
        done = tx.move(Move.ADOPT, asked)
        tx.publish([_published(one, newest[one.id]) for one in leaves if one.id in done])
        highest = max((_claim(newest[one.id]) for one in leaves), default=0)
        if highest >= tx.epoch() * CLAIMS_OF_AN_OWNER:  # given elsewhere: never given again
            tx.raise_epoch(kb.owner, highest)
        boxes = [one for one in idle if one.is_container and _is_whole(tx, one)]
        return len(done) + len(_settled(tx, boxes))


def _claim(build: BuildRow | None) -> int:
    return build.claim if build else 0


def _published(item: Item, build: BuildRow) -> Published:
    seal = build.seal or digest_of([])
    return Published(item.id, build.claim, UNKNOWN, seal, item.size, item.workload, None)


def _is_whole(tx: Transaction, box: Item) -> bool:
    """Everything inside answers; what is itself a box of such things may still be idle."""
    inside = [one.id for one in tx.subtree([box.id]) if one.id != box.id]
    items = tx.items(inside)
    return bool(items) and all(one.is_container or one.status is COMPLETED for one in items)


def _settled(tx: Transaction, boxes: Sequence[Item]) -> set[ItemId]:
    for box in boxes:
        tx.set_own_outcome(box.id, box.generation, COMPLETED, None, box.skipped)
    return tx.move(Move.ADOPT, [Moved(box.id, COMPLETED, box.generation) for box in boxes])
