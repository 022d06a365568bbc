"""How are bases and items changed in SQLite?"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from holdfast.domain.bases import BaseSettings, BaseStatus, provider_of
from holdfast.domain.files import FileEntry, Role
from holdfast.domain.ids import BaseId, EntryId, Generation, ItemId
from holdfast.domain.item_states import Status
from holdfast.domain.items import Attribute, Item, NewItem
from holdfast.domain.jobs import Fence
from holdfast.stores.catalog import Published, Trouble
from holdfast.stores.sqlite.catalog_reads import listed
from holdfast.stores.sqlite.catalog_rows import item_document, json_text, settings_text
from holdfast.stores.sqlite.moves import SqliteMoves


class SqliteCatalogWrites(SqliteMoves):
    """What can be changed, inside one transaction."""

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
        self.session.run("note_main_removal")
        while limit > 0:
            gone = self.session.returned("delete_base_rows", base=base, limit=limit)
            self.session.run("detach_items", ids=listed(item for (item,) in gone))
            limit -= len(gone)
            if not gone:
                return self.session.run("delete_base_row", id=base) > 0
        return False

    def insert_items(self, items: Sequence[NewItem]) -> None:
        documents = listed(item_document(item) for item in items)
        self.session.run("insert_items", items=documents, now=self.now)
        self.roll_up({item.parent_id for item in items if item.parent_id})

    def publish(self, published: Sequence[Published]) -> None:
        documents = listed(_document(one) for one in published)
        self.session.run("set_published", published=documents, now=self.now)

    def forget_builds(self, items: Collection[ItemId]) -> None:
        self.session.run("forget_builds", ids=listed(items))

    def republish(self, item: ItemId) -> None:
        self.session.run("set_republished", id=item)

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

    def set_skipped(
        self, item: ItemId, generation: Generation, skipped: Mapping[str, Any] | None
    ) -> None:
        document = json.dumps(skipped) if skipped else None
        self.session.run("set_skipped", id=item, generation=generation, skipped=document)

    def set_source(self, item: Item) -> None:
        self.session.run("note_main_removal")  # the text of a note may be replaced
        self.session.run(
            "set_source",
            id=item.id,
            data=json_text(dict(item.data)),
            source=item.source,
            name=item.name,
            size=item.size,
            workload=item.workload,
        )

    def set_attributes(self, item: ItemId, attributes: Mapping[str, Attribute]) -> None:
        text = json_text(dict(attributes))
        self.session.run("set_attributes", id=item, attributes=text, now=self.now)

    def mark_seen(self, ids: Collection[ItemId], generation: Generation) -> None:
        self.session.run("mark_seen", ids=listed(ids), generation=generation)

    def delete_rows(self, roots: Collection[ItemId], limit: int) -> int:
        self.session.run("detach_files", roots=listed(roots))
        self.session.run("note_main_removal")
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
