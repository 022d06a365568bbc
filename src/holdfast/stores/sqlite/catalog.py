"""How are bases and items kept in SQLite?"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from holdfast.domain.bases import Base, BaseSettings, BaseStatus, provider_of
from holdfast.domain.errors import InvalidInput, ItemDeleting, ItemGone, Superseded
from holdfast.domain.files import FileEntry, Role
from holdfast.domain.guards import Standing
from holdfast.domain.ids import BaseId, ClaimNo, EntryId, Generation, ItemId
from holdfast.domain.item_states import (
    DELETING,
    FAILED,
    PROCESSING,
    WORKING,
    Move,
    Status,
    may_lead_to,
    sources,
)
from holdfast.domain.items import Attribute, Item, NewItem, Page
from holdfast.domain.jobs import Fence
from holdfast.domain.rollup import Outlook, roll_up
from holdfast.stores.catalog import Answering, Listing, Moved, Published, Stale, Trouble
from holdfast.stores.sqlite.catalog_rows import base_of, item_document, item_of, settings_text
from holdfast.stores.sqlite.connection import Session


def listed(values: Iterable[Any]) -> str:
    return json.dumps(list(values), ensure_ascii=False)


class SqliteCatalogReads:
    """What can be asked of bases and items in one snapshot."""

    session: Session

    def base(self, base: BaseId) -> Base | None:
        row = self.session.one("base", id=base)
        return base_of(row) if row else None

    def bases(self, include_deleting: bool = False) -> list[Base]:
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
        rows = self.session.rows(
            "list_items",
            base=listing.base,
            parent=listing.parent,
            everywhere=listing.everywhere,
            deleting=listing.include_deleting,
            statuses=None if listing.statuses is None else listed(sorted(listing.statuses)),
            type=listing.type,
            name=listing.name,
            last=last,
            last_container=container,
            limit=listing.limit + 1,
        )
        items = tuple(item_of(row) for row in rows[: listing.limit])
        more = len(rows) > listing.limit
        return Page(items, f"{int(items[-1].is_container)}.{items[-1].id}" if more else None)

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

    def published(self, base: BaseId, ids: Collection[ItemId]) -> set[tuple[ItemId, ClaimNo]]:
        rows = self.session.rows("published", base=base, ids=listed(ids))
        return {(item, build) for item, build in rows}

    def unsettled(self, ids: Collection[ItemId]) -> list[ItemId]:
        return [row[0] for row in self.session.rows("unsettled", ids=listed(ids))]

    def idle_items(self, base: BaseId, limit: int) -> list[ItemId]:
        return [row[0] for row in self.session.rows("idle_items", base=base, limit=limit)]

    def counts(self, base: BaseId) -> dict[Status, int]:
        return {Status(status): n for status, n in self.session.rows("counts", base=base)}

    def percent(self, base: BaseId) -> int:
        return _share(self.session.one("weights", base=base))

    def percent_below(self, container: ItemId) -> int:
        return _share(self.session.one("weights_below", root=container))

    def children(self, parent: ItemId, keys: Collection[str]) -> dict[str, Item]:
        rows = self.session.rows("children_by_key", parent=parent, keys=listed(keys))
        return {item.source_key: item for item in map(item_of, rows)}

    def unseen(self, parent: ItemId, generation: Generation) -> dict[ItemId, str]:
        rows = self.session.rows("unseen_children", parent=parent, generation=generation)
        return {item: key for item, key in rows}

    def entries(self, item: ItemId, role: Role) -> list[FileEntry]:
        rows = self.session.rows("entries_of", item=item, role=role)
        return [FileEntry(entry, sha256, size) for entry, sha256, size in rows]

    def known_entries(self, ids: Collection[EntryId]) -> set[EntryId]:
        return {row[0] for row in self.session.rows("known_entries", ids=listed(ids))}


class SqliteCatalogWrites(SqliteCatalogReads):
    """What can be changed, inside one transaction."""

    now: int

    def insert_base(self, base: BaseId, settings: BaseSettings) -> None:
        self.session.run(
            "insert_base",
            id=base,
            name=settings.name,
            settings=settings_text(settings),
            provider=provider_of(settings.embedding_model),
            recovery=settings.recovery,
            now=self.now,
        )

    def update_base(self, base: BaseId, settings: BaseSettings, paused: bool) -> None:
        self.session.run(
            "update_base",
            id=base,
            name=settings.name,
            settings=settings_text(settings),
            recovery=settings.recovery,
            paused=paused,
            now=self.now,
        )

    def set_base_state(self, base: BaseId, status: BaseStatus, code: str | None) -> bool:
        changed = self.session.run(
            "set_base_state", id=base, status=status, error_code=code, now=self.now
        )
        return changed > 0

    def delete_base_rows(self, base: BaseId, limit: int) -> bool:
        self.session.run("detach_base_files", base=base)
        while limit > 0:
            gone = len(self.session.returned("delete_base_rows", base=base, limit=limit))
            limit -= gone
            if not gone:
                return self.session.run("delete_base_row", id=base) > 0
        return False

    def insert_items(self, items: Sequence[NewItem]) -> None:
        documents = listed(item_document(item) for item in items)
        self.session.run("insert_items", items=documents, now=self.now)
        self.roll_up({item.parent_id for item in items if item.parent_id})

    def move(self, move: Move, moved: Sequence[Moved]) -> set[ItemId]:
        done = self._move(move, moved)
        self.roll_up({parent for parent in done.values() if parent and parent not in done})
        return set(done)

    def move_or_end(self, move: Move, moved: Moved) -> None:
        if moved.item in self.move(move, [moved]):
            return
        item = self.item(moved.item)
        if item is None:
            raise ItemGone(f"item {moved.item} is gone")
        if item.status is DELETING:
            raise ItemDeleting(f"item {item.id} is being deleted")
        raise Superseded(
            f"item {item.id} is {item.status} in generation {item.generation}; "
            f"this run was for generation {moved.generation}"
        )

    def _move(self, move: Move, moved: Sequence[Moved]) -> dict[ItemId, ItemId | None]:
        rows = self.session.returned(
            "move_items",
            moves=listed(_asked(move, one) for one in moved),
            sources=listed(sorted(sources(move))),
            now=self.now,
        )
        return {item: parent for item, parent in rows}

    def publish(self, published: Sequence[Published]) -> None:
        documents = listed(_document(one) for one in published)
        self.session.run("set_published", published=documents, now=self.now)

    def republish(self, item: ItemId) -> None:
        self.session.run("set_republished", id=item)

    def roll_up(self, containers: Collection[ItemId]) -> None:
        """Upward: each container whose status changes takes its own parent along."""
        waiting = sorted(containers)
        while waiting:
            changed = [self._roll_up_one(container) for container in waiting]
            waiting = sorted({parent for parent in changed if parent})

    def _roll_up_one(self, container: ItemId) -> ItemId | None:
        """The parent, when this container's status changed; else None."""
        facts = self.session.one("roll_up_facts", id=container)
        if facts is None or facts[0] in (DELETING, Status.IDLE):
            return None
        status, parent, _, _, error, warning, *_ = facts
        verdict = roll_up(self._outlook(container, facts))
        said = verdict.error[1] if verdict.error else None
        if (status, error, warning) == (verdict.status, said, verdict.warning):
            return None
        asked = Moved(container, verdict.status, trouble=verdict.error, warning=verdict.warning)
        self._move(Move.ROLL_UP, [asked])
        return parent if status != verdict.status else None

    def _outlook(self, container: ItemId, facts: Sequence[Any]) -> Outlook:
        _, _, own_outcome, own_error, _, _, has_children, has_active, has_failed = facts
        outlook = Outlook(
            own_outcome=Status(own_outcome) if own_outcome else None,
            own_error=_trouble(own_error),
            has_children=bool(has_children),
            has_active=bool(has_active),
            failed=0,
            settled=0,
        )
        if has_active or own_outcome is None or not has_failed:
            return outlook
        failed, settled, worst = self.session.one("failed_inside", id=container) or (0, 0, "[]")
        return Outlook(
            outlook.own_outcome,
            outlook.own_error,
            has_children=True,
            has_active=False,
            failed=failed,
            settled=settled,
            worst=tuple((name, reason) for name, reason in json.loads(worst)),
        )

    def set_progress(self, fence: Fence, percent: int) -> None:
        self.session.run(
            "set_progress",
            item=fence.item,
            generation=fence.generation,
            job=fence.job,
            claim=fence.claim,
            percent=percent,
            now=self.now,
        )

    def set_own_outcome(
        self,
        item: ItemId,
        generation: Generation,
        outcome: Status,
        trouble: Trouble | None,
        skipped: Mapping[str, Any] | None,
    ) -> None:
        self.session.run(
            "set_own_outcome",
            id=item,
            generation=generation,
            outcome=outcome,
            error=listed(trouble) if trouble else None,
            skipped=json.dumps(skipped) if skipped else None,
            now=self.now,
        )
        self.roll_up([item])

    def set_source(self, item: Item) -> None:
        self.session.run(
            "set_source",
            id=item.id,
            data=json.dumps(dict(item.data), ensure_ascii=False),
            source=item.source,
            name=item.name,
            size=item.size,
            workload=item.workload,
        )

    def set_attributes(self, item: ItemId, attributes: Mapping[str, Attribute]) -> None:
        text = json.dumps(dict(attributes), ensure_ascii=False)
        self.session.run("set_attributes", id=item, attributes=text, now=self.now)

    def mark_seen(self, ids: Collection[ItemId], generation: Generation) -> None:
        self.session.run("mark_seen", ids=listed(ids), generation=generation)

    def delete_rows(self, roots: Collection[ItemId], limit: int) -> int:
        self.session.run("detach_files", roots=listed(roots))
        gone: dict[ItemId, ItemId | None] = {}
        while len(gone) < limit:
            rows = self.session.returned(
                "delete_rows", roots=listed(roots), limit=limit - len(gone)
            )
            if not rows:
                break
            gone.update(dict(rows))
        self.roll_up({parent for parent in gone.values() if parent and parent not in gone})
        return len(gone)

    def keep_entry(self, entry: FileEntry, item: ItemId, role: Role) -> None:
        if entry.id not in self.known_entries([entry.id]):
            self.session.run(
                "insert_entry", id=entry.id, sha256=entry.sha256, size=entry.size, now=self.now
            )
        self.session.run("insert_ref", entry=entry.id, item=item, role=role)

    def keep_only(self, item: ItemId, role: Role, entry: EntryId | None) -> None:
        self.session.run("detach_role", item=item, role=role, keep=entry)

    def detach_dangling(self) -> int:
        return self.session.run("detach_dangling")

    def drop_free_entries(self) -> list[FileEntry]:
        rows = self.session.returned("drop_free_entries")
        return [FileEntry(entry, sha256, size) for entry, sha256, size in rows]


def _asked(move: Move, moved: Moved) -> list[Any]:
    if not may_lead_to(move, moved.target):
        raise ValueError(f"{move} does not lead to {moved.target}")
    if (moved.target is FAILED) != (moved.trouble is not None):
        raise ValueError("an error is given if and only if the item fails")
    code, error, advice = moved.trouble or (None, None, None)
    fence = moved.fence
    return [
        moved.item,
        moved.generation,
        fence.job if fence else None,
        fence.claim if fence else None,
        moved.target,
        int(moved.new_generation),
        code,
        error,
        advice,
        moved.warning,
    ]


def _document(one: Published) -> dict[str, Any]:
    return {
        "id": one.item,
        "build": one.build,
        "recipe": one.recipe,
        "chunks": one.seal.count,
        "digest": one.seal.digest,
        "size": one.size,
        "workload": one.workload,
        "warning": one.warning,
    }


def _standing(row: Sequence[Any], stale: Stale | None) -> Standing:
    item, name, status, heartbeat, _generation, has_job = row
    return Standing(item, name, Status(status), _past(status, heartbeat, bool(has_job), stale))


def _past(status: str, heartbeat: int | None, has_job: bool, stale: Stale | None) -> bool:
    """Queued without a live job, or at work without progress, for longer than allowed."""
    if stale is None or heartbeat is None:
        return False
    if status == PROCESSING:
        return not has_job and heartbeat < stale.queued_before
    return status in WORKING and heartbeat < stale.indexing_before


def _trouble(text: str | None) -> Trouble | None:
    if text is None:
        return None
    code, error, advice = json.loads(text)
    return code, error, advice


def _share(row: Sequence[Any] | None) -> int:
    if row is None or not row[0]:
        return 100
    return int(row[1]) // int(row[0])


def _cursor(text: str | None) -> tuple[int | None, str | None]:
    if text is None:
        return None, None
    container, dot, last = text.partition(".")
    if container not in ("0", "1") or not dot or not last:
        raise InvalidInput(f"{text!r} is not a cursor of this list")
    return int(container), last
