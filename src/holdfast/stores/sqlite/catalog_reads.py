"""What can be asked of bases and items in SQLite?"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from holdfast.domain.bases import Base
from holdfast.domain.errors import InvalidInput
from holdfast.domain.events import instant
from holdfast.domain.files import FileEntry, Role
from holdfast.domain.guards import Standing
from holdfast.domain.ids import BaseId, ClaimNo, EntryId, Generation, ItemId
from holdfast.domain.invariants import AT_REST, INVARIANTS, Violation
from holdfast.domain.item_states import PREPARING, PROCESSING, WORKING, Status
from holdfast.domain.items import Item, ItemType, Page
from holdfast.domain.progress import Tally
from holdfast.stores.catalog import Answering, Expected, Filtered, Listing, Stale, Totals
from holdfast.stores.sqlite.catalog_rows import base_of, item_of, json_text
from holdfast.stores.sqlite.connection import Session

ABOVE_ALL = (2, "")  # before the first row of every list


def listed(values: Iterable[Any]) -> str:
    """Many values as one parameter."""
    return json_text(list(values))


class SqliteCatalogReads:
    """What can be asked of bases and items in one snapshot."""

    session: Session

    def base(self, base: BaseId) -> Base | None:
        row = self.session.one("base", id=base)
        return base_of(row) if row else None

    def bases(self, *, include_deleting: bool = False) -> list[Base]:
        return [base_of(row) for row in self.session.rows("bases", deleting=include_deleting)]

    def bases_named(self, name: str) -> list[Base]:
        return [base_of(row) for row in self.session.rows("bases_named", name=name)]

    def item(self, item: ItemId) -> Item | None:
        found = self.items([item])
        return found[0] if found else None

    def items(self, ids: Collection[ItemId]) -> list[Item]:
        return [item_of(row) for row in self.session.rows("items_by_id", ids=listed(ids))]

    def list_items(self, listing: Listing) -> Page[Item]:
        container, last = _cursor(listing.cursor)
        asked = {
            "base": listing.base,
            "deleting": listing.include_deleting,
            "statuses": None if listing.statuses is None else listed(sorted(listing.statuses)),
            "type": listing.type,
            "name": listing.name,
            "last": last,
            "last_container": container,
            "limit": listing.limit + 1,
        }
        rows = (
            self.session.rows("list_everywhere", **asked)
            if listing.everywhere
            else self.session.rows("list_inside", parent=listing.parent, **asked)
        )
        items = tuple(item_of(row) for row in rows[: listing.limit])
        more = len(rows) > listing.limit
        return Page(items, f"{int(items[-1].is_container)}.{items[-1].id}" if more else None)

    def at_source(
        self, source: str, base: BaseId | None, limit: int, *, roots: bool = False
    ) -> list[Item]:
        values = {"source": source, "base": base, "roots": roots, "limit": limit}
        return [item_of(row) for row in self.session.rows("items_at_source", **values)]

    def at_source_ending(self, tail: str, base: BaseId | None, limit: int) -> list[Item]:
        values = {"tail": tail, "base": base, "limit": limit}
        return [item_of(row) for row in self.session.rows("items_at_source_ending", **values)]

    def named(self, name: str, base: BaseId | None, limit: int) -> list[Item]:
        values = {"name": name, "base": base, "limit": limit}
        return [item_of(row) for row in self.session.rows("items_named", **values)]

    def by_piece_of_id(self, piece: str, base: BaseId | None, limit: int) -> list[Item]:
        values = {"piece": piece, "base": base, "limit": limit}
        return [item_of(row) for row in self.session.rows("items_by_piece_of_id", **values)]

    def ancestors(self, ids: Collection[ItemId]) -> dict[ItemId, list[ItemId]]:
        found: dict[ItemId, list[ItemId]] = {}
        for item, above in self.session.rows("ancestors", ids=listed(ids)):
            found.setdefault(item, []).append(above)
        return found

    def subtree(self, roots: Collection[ItemId], stale: Stale | None = None) -> list[Standing]:
        rows = self.session.rows("subtree", roots=listed(roots))
        return [_standing(row, stale) for row in rows]

    def deleting_below(self, root: ItemId) -> int:
        found: int = self.session.value("deleting_below", root=root)
        return found

    def completed_leaves(self, root: ItemId) -> list[tuple[ItemId, ClaimNo]]:
        return [(item, build) for item, build in self.session.rows("completed_leaves", root=root)]

    def masked(self, base: BaseId) -> set[ItemId]:
        return {row[0] for row in self.session.rows("masked", base=base)}

    def answering(self, base: BaseId, ids: Collection[ItemId]) -> dict[ItemId, Answering]:
        rows = self.session.rows("standing_of", base=base, ids=listed(ids))
        return {
            row[0]: Answering(row[0], row[1], row[2], row[3], Status(row[4]), row[5], row[6])
            for row in rows
        }

    def filterable(self, base: BaseId) -> list[Filtered]:
        return [
            Filtered(
                item, ItemType(kind), source, json.loads(data), instant(made), instant(changed)
            )
            for item, kind, source, data, made, changed in self.session.rows(
                "filterable", base=base
            )
        ]

    def published(self, base: BaseId, ids: Collection[ItemId]) -> set[tuple[ItemId, ClaimNo]]:
        rows = self.session.rows("published", base=base, ids=listed(ids))
        return {(item, build) for item, build in rows}

    def unsettled(self, ids: Collection[ItemId]) -> list[ItemId]:
        return [row[0] for row in self.session.rows("unsettled", ids=listed(ids))]

    def expected_builds(self, base: BaseId) -> list[Expected]:
        return [Expected(*row) for row in self.session.rows("published_builds", base=base)]

    def violations(self, caps: Mapping[str, int]) -> list[Violation]:
        return [
            Violation(name, str(row[0]))
            for name in INVARIANTS
            for row in self.session.rows(name, **caps)
        ]

    def leftovers(self) -> list[Violation]:
        return [Violation(name, str(row[0])) for name in AT_REST for row in self.session.rows(name)]

    def stored_entries(self) -> list[FileEntry]:
        rows = self.session.rows("stored_entries")
        return [FileEntry(entry, sha256, size) for entry, sha256, size in rows]

    def lost_leaves(self, base: BaseId, limit: int) -> list[ItemId]:
        return [row[0] for row in self.session.rows("lost_leaves", base=base, limit=limit)]

    def idle_items(self, base: BaseId, limit: int) -> list[ItemId]:
        return [row[0] for row in self.session.rows("idle_items", base=base, limit=limit)]

    def counts(self, base: BaseId) -> dict[Status, int]:
        return {Status(status): n for status, n in self.session.rows("counts", base=base)}

    def percent(self, base: BaseId) -> int:
        return _share(self.session.one("weights", base=base))

    def percent_below(self, container: ItemId) -> int:
        return _share(self.session.one("weights_below", root=container))

    def tally_below(self, roots: Collection[ItemId]) -> Tally:
        row = self.session.one("tally_below", roots=listed(roots)) or (0,) * 8
        return Tally(*(int(number) for number in row))

    def failed_below(self, roots: Collection[ItemId], limit: int) -> list[Item]:
        rows = self.session.rows("failed_below", roots=listed(roots), limit=limit)
        return [item_of(row) for row in rows]

    def totals(self, base: BaseId) -> Totals:
        row = self.session.one("totals", base=base) or (0, 0, 0, 0)
        return Totals(*(int(number) for number in row))

    def children(self, parent: ItemId, keys: Collection[str]) -> dict[str, Item]:
        rows = self.session.rows("children_by_key", parent=parent, keys=listed(keys))
        return {item.source_key: item for item in map(item_of, rows)}

    def unseen(self, parent: ItemId, generation: Generation, limit: int) -> list[ItemId]:
        rows = self.session.rows(
            "unseen_children", parent=parent, generation=generation, limit=limit
        )
        return [row[0] for row in rows]

    def unseen_count(self, parent: ItemId, generation: Generation) -> int:
        found: int = self.session.value("unseen_count", parent=parent, generation=generation)
        return found

    def jobless_below(self, container: ItemId) -> list[ItemId]:
        return [row[0] for row in self.session.rows("jobless_below", root=container)]

    def entries(self, item: ItemId, role: Role) -> list[FileEntry]:
        rows = self.session.rows("entries_of", item=item, role=role)
        return [FileEntry(entry, sha256, size) for entry, sha256, size in rows]

    def known_entries(self, ids: Collection[EntryId]) -> set[EntryId]:
        return {row[0] for row in self.session.rows("known_entries", ids=listed(ids))}


def _standing(row: Sequence[Any], stale: Stale | None) -> Standing:
    item, name, status, heartbeat, has_job, is_held = row
    if stale is None or heartbeat is None:
        past = False
    elif status in (PREPARING, PROCESSING):
        past = not has_job and heartbeat < stale.queued_before
    else:  # a run that lives, and work a person was asked about, are not taken over
        past = status in WORKING and not is_held and heartbeat < stale.indexing_before
    return Standing(item, name, Status(status), past)


def _share(row: Sequence[Any] | None) -> int:
    if row is None or not row[0]:
        return 100
    return int(row[1]) // int(row[0])


def _cursor(text: str | None) -> tuple[int, str]:
    if text is None:
        return ABOVE_ALL
    container, dot, last = text.partition(".")
    if container not in ("0", "1") or not dot or not last:
        raise InvalidInput(f"{text!r} is not a cursor of this list")
    return int(container), last
