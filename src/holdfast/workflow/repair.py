"""What does `doctor --repair` mend, and how? What is kept somewhere is made again from there.

    the file -> rows -> indexes -> the sweep -> rows again, as one repair may uncover another

Nothing that answers is given up before something else can answer, except what cannot be trusted:
a build whose chunks are not those that were sealed. Its item is read again. What a repair cannot
bring back (a user's stored bytes) stays a finding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from holdfast.domain.bases import Base
from holdfast.domain.chunks import Seal
from holdfast.domain.errors import CODES
from holdfast.domain.files import FileEntry, Role
from holdfast.domain.ids import EntryId, ItemId
from holdfast.domain.items import Item
from holdfast.stores.catalog import Expected
from holdfast.stores.index import IndexMissing, Pair
from holdfast.stores.main import Transaction
from holdfast.workflow.delete_items import mark_deleting
from holdfast.workflow.rebuild_base import rebuild_base, restart_leaves
from holdfast.workflow.sweep import sweep
from holdfast.workflow.workbench import Workbench

ROUNDS = 3
SILENT = "it failed without a word"
WHY = "its check-up found it damaged"


def repair_everything(kb: Workbench) -> None:
    kb.main.mend()
    _repair_rows(kb)
    with kb.main.read() as snapshot:
        bases = snapshot.bases()
    for base in bases:
        repair_index(kb, base)
    sweep(kb)
    _repair_rows(kb)
    kb.main.durable()


def caps_of(kb: Workbench) -> dict[str, int]:
    settings = kb.settings
    return {
        "index": settings.global_concurrency,
        "control": settings.control_concurrency,
        "poll": settings.poll_concurrency,
        "urgent": settings.urgent_concurrency,
    }


def _repair_rows(kb: Workbench) -> None:
    for _ in range(ROUNDS):
        with kb.main.write() as tx:
            broken: dict[str, list[ItemId]] = {}
            for one in tx.violations(caps_of(kb)):
                broken.setdefault(one.invariant, []).append(ItemId(one.subject))
            for rule, mend in MENDS.items():
                if rule in broken:
                    mend(kb, tx, broken[rule])
        if not broken:
            return


def _stand_alone(_kb: Workbench, tx: Transaction, _ids: Sequence[ItemId]) -> None:
    tx.free_of_parents()
    tx.drop_baseless()


def _delete_with_parent(_kb: Workbench, tx: Transaction, ids: Sequence[ItemId]) -> None:
    mark_deleting(tx, tx.items(ids))


def _give_refs(_kb: Workbench, tx: Transaction, ids: Sequence[ItemId]) -> None:
    for item in tx.items(ids):
        entry = FileEntry(EntryId(item.data["entry"]), item.data["sha256"], item.data["size"])
        tx.keep_entry(entry, item.id, Role.SOURCE)


def _number_claims(kb: Workbench, tx: Transaction, ids: Sequence[ItemId]) -> None:
    items = tx.items(ids)
    tx.raise_epoch(kb.owner, max((item.published_build or 0 for item in items), default=0))
    _read_again(kb, tx, [one.id for one in items if one.published_generation is None])
    _read_again(kb, tx, [one.id for one in items if one.published_build is None])


def _read_again(kb: Workbench, tx: Transaction, ids: Sequence[ItemId]) -> None:
    for base_id in sorted({item.base_id for item in tx.items(ids)}):
        if base := tx.base(base_id):
            restart_leaves(tx, kb, base, [one for one in tx.items(ids) if _of(one, base)], WHY)


def _of(item: Item, base: Base) -> bool:
    return item.base_id == base.id and not item.is_container and not item.deleting


def _calm(_kb: Workbench, tx: Transaction, _ids: Sequence[ItemId]) -> None:
    tx.calm_jobs()


def _explain(_kb: Workbench, tx: Transaction, ids: Sequence[ItemId]) -> None:
    for item in tx.items(ids):
        advice = CODES.get(item.error_code or "internal", CODES["internal"])
        tx.complete_failure(item.id, SILENT, advice)


def _rehome(_kb: Workbench, tx: Transaction, _ids: Sequence[ItemId]) -> None:
    tx.free_of_parents()
    tx.rehome_jobs()


def _roll_up(_kb: Workbench, tx: Transaction, ids: Sequence[ItemId]) -> None:
    tx.roll_up(ids)


MENDS: dict[str, Callable[[Workbench, Transaction, Sequence[ItemId]], None]] = {
    "i7_items_have_base_and_parent": _stand_alone,
    "i15_children_are_of_their_parents_base": _rehome,
    "i2_nothing_visible_below_deleting": _delete_with_parent,
    "i5_indexed_files_have_their_ref": _give_refs,
    "i9_published_by_a_claim_of_ours": _number_claims,
    "i10_completed_leaves_are_published": _read_again,
    "i12_attempts_within_limits": _calm,
    "i12_failures_say_why": _explain,
    "i4_containers_are_rolled_up": _roll_up,
}


def repair_index(kb: Workbench, base: Base) -> None:
    """Sound when this returns, with what it can answer; the rest is being read again."""
    try:
        _mend_index(kb, base)
        _restart_lost(kb, base)
    except IndexMissing:
        rebuild_base(kb, base)


def _mend_index(kb: Workbench, base: Base) -> None:
    if not kb.index.verify(base.id):
        return
    broken = kb.index.mend(base.id)
    with kb.main.read() as snapshot:
        live = snapshot.live_claims()
    kb.index.remove(base.id, broken, live)
    if kb.index.verify(base.id):
        kb.index.drop(base.id)
        raise IndexMissing(f"the index of base {base.id} could not be mended")


def _restart_lost(kb: Workbench, base: Base) -> None:
    """Items whose build is not there any more, or is not the one that was published."""
    with kb.main.read() as snapshot:
        expected = snapshot.expected_builds(base.id)
    seals = kb.index.seals(base.id, [(one.item, one.build) for one in expected])
    lost = [one.item for one in expected if not is_whole(one, seals)]
    if lost:
        with kb.main.write() as tx:
            restart_leaves(tx, kb, base, tx.items(lost), WHY)


def is_whole(one: Expected, seals: Mapping[Pair, Seal]) -> bool:
    seal = seals.get((one.item, one.build))
    return seal is not None and (seal.count, seal.digest) == (one.count, one.digest)
