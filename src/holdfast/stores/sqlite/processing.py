"""How is kept in SQLite what processors made, and what they are at?"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict
from typing import Any

from holdfast.domain.ids import BaseId, EntryId, ItemId
from holdfast.domain.processing import Made, Processed, RemoteJob, Report, Word
from holdfast.stores.sqlite.catalog_reads import listed
from holdfast.stores.sqlite.connection import Session


class SqliteProcessingReads:
    """What can be asked of processing in one snapshot."""

    session: Session
    now: int

    def processed(
        self, hashes: Collection[str], processor: str, manner: str
    ) -> dict[str, Processed]:
        rows = self.session.rows(
            "processed_of", hashes=listed(hashes), processor=processor, manner=manner
        )
        return {
            source: Processed(entry, sha256, size, Made(source, *made))
            for source, entry, sha256, size, *made in rows
        }

    def remote_jobs(self, items: Collection[ItemId]) -> dict[ItemId, RemoteJob]:
        rows = self.session.rows("remote_jobs_of", items=listed(items))
        return {job.item: job for job in map(_remote, rows)}

    def remote_jobs_of_base(self, base: BaseId) -> list[RemoteJob]:
        return [_remote(row) for row in self.session.rows("remote_jobs_of_base", base=base)]

    def remote_jobs_alone(self, limit: int) -> list[RemoteJob]:
        return [_remote(row) for row in self.session.rows("remote_jobs_alone", limit=limit)]

    def conversions_beside(self, item: ItemId, processor: str) -> int:
        found: int = self.session.value("conversions_beside", item=item, processor=processor)
        return found


class SqliteProcessingWrites(SqliteProcessingReads):
    """What can be changed, inside one transaction."""

    def insert_processed(self, entry: EntryId, made: Made) -> None:
        self.session.run(
            "insert_processed",
            entry=entry,
            source=made.source_sha256,
            source_size=made.source_size,
            processor=made.processor,
            manner=made.manner,
            warning=made.warning,
        )

    def forget_processed(self, entry: EntryId) -> None:
        self.session.run("forget_processed", entry=entry)

    def keep_remote(self, remote: RemoteJob) -> None:
        self.session.run(
            "keep_remote",
            item=remote.item,
            base=remote.base,
            generation=remote.generation,
            processor=remote.processor,
            remote=remote.remote_id,
            made=_text(remote.made),
            report=_text(remote.report),
            submissions=remote.submissions,
            looked_at=remote.looked_at,
            quiet=remote.quiet,
            waited=remote.waited,
        )

    def forget_remote(self, remote: RemoteJob) -> None:
        self.session.run(
            "forget_remote",
            item=remote.item,
            generation=remote.generation,
            remote=remote.remote_id,
        )


def _text(value: Made | Report | None) -> str | None:
    return None if value is None else json.dumps(asdict(value))


def _remote(row: Sequence[Any]) -> RemoteJob:
    item, base, generation, processor, remote_id, made, report, *counted = row
    submissions, looked_at, quiet, waited = counted
    return RemoteJob(
        item=item,
        base=base,
        generation=generation,
        processor=processor,
        made=Made(**json.loads(made)) if made else None,
        remote_id=remote_id,
        submissions=submissions,
        report=_report(json.loads(report)) if report else None,
        looked_at=looked_at,
        quiet=quiet,
        waited=waited,
    )


def _report(document: dict[str, Any]) -> Report:
    return Report(**{**document, "word": Word(document["word"])})
