"""How are jobs kept in SQLite?"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from holdfast.domain.errors import CODES, GuardRejected
from holdfast.domain.events import stored
from holdfast.domain.ids import BaseId, ClaimNo, ItemId, JobId
from holdfast.domain.jobs import (
    MAX_INPUT_BYTES,
    Fence,
    Job,
    JobKind,
    JobState,
    Lane,
    NewJob,
    Verdict,
)
from holdfast.domain.retries import LONGEST_PAUSE, MAX_DEATHS
from holdfast.stores.catalog import Trouble
from holdfast.stores.queue import BaseQueue, Freed, Slot
from holdfast.stores.sqlite.catalog_reads import listed
from holdfast.stores.sqlite.providers import (
    SqliteProviderReads,
    SqliteProviderWrites,
    longest_pause,
)

GUARDED = frozenset({Lane.INDEX, Lane.CONTROL})
ABOVE_ALL_IDS = "~"


class SqliteQueueReads(SqliteProviderReads):
    """What can be asked of jobs in one snapshot."""

    now: int

    def unfinished(self) -> int:
        found: int = self.session.value("unfinished")
        return found

    def leaves_queued(self, base: BaseId) -> tuple[int, int]:
        total, own = self.session.one("leaves_queued", base=base) or (0, 0)
        return total, own or 0

    def job(self, job: JobId) -> Job | None:
        row = self.session.one("job", id=job)
        return _job(row) if row else None

    def jobs_of_item(self, item: ItemId) -> list[Job]:
        return [_job(row) for row in self.session.rows("jobs_of_item", item=item)]

    def live_roots(self, items: Collection[ItemId], kind: JobKind) -> dict[ItemId, JobId]:
        rows = self.session.rows("live_jobs_of_roots", items=listed(items), kind=kind)
        return {item: job for job, item in rows}

    def live_claims(self) -> set[ClaimNo]:
        return {row[0] for row in self.session.rows("live_claims")}

    def running_claims(self) -> set[ClaimNo]:
        return {row[0] for row in self.session.rows("running_claims")}

    def anything_due(self, lane: Lane) -> bool:
        return bool(self.session.value("anything_due", lane=lane, **self._due))

    @property
    def _due(self) -> dict[str, int]:
        """When a delayed job's time has come: by now, or so late that the clock was set back."""
        return {"now": self.now, "latest": self.now + stored(LONGEST_PAUSE)}

    def next_due(self, lane: Lane) -> int | None:
        found: int | None = self.session.value("next_due", lane=lane)
        return found

    def running(self, lane: Lane) -> list[Slot]:
        rows = self.session.rows("running", lane=lane)
        return [Slot(base, bool(large), deaths >= MAX_DEATHS) for base, large, deaths in rows]

    def running_of_base(self, base: BaseId) -> int:
        found: int = self.session.value("running_of_base", base=base)
        return found

    def waiting_bases(self, lane: Lane, limit: int, *, large: bool = True) -> list[BaseId]:
        cursor = self.session.value("lane_cursor", lane=lane) or ""
        asked = {
            "lane": lane,
            "guarded": lane in GUARDED,
            "large": large,
            "now": self.now,
            "longest": longest_pause(self.now),
        }
        found = self._arc(asked, cursor, ABOVE_ALL_IDS, limit)
        if len(found) < limit and cursor:
            found += self._arc(asked, "", cursor, limit - len(found))
        return found

    def _arc(self, asked: dict[str, Any], after: str, upto: str, limit: int) -> list[BaseId]:
        """A part of the ring: after one base, up to another."""
        rows = self.session.rows("waiting_bases", after=after, upto=upto, limit=limit, **asked)
        return [row[0] for row in rows]

    def jobs_before(self, job: Job) -> int:
        found: int = self.session.value(
            "jobs_before", lane=job.lane, base=job.base_id, ordinal=job.ordinal
        )
        return found

    def orphans(self, base: BaseId, limit: int) -> list[ItemId]:
        return [row[0] for row in self.session.rows("orphans", base=base, limit=limit)]

    def epoch(self) -> int:
        found: int = self.session.value("epoch")
        return found

    def jobless(self, limit: int) -> list[ItemId]:
        return [row[0] for row in self.session.rows("jobless", limit=limit)]

    def deleting_roots_alone(self, limit: int) -> list[tuple[BaseId, ItemId]]:
        return [
            (base, item) for base, item in self.session.rows("deleting_roots_alone", limit=limit)
        ]

    def deleting_bases_alone(self) -> list[BaseId]:
        return [row[0] for row in self.session.rows("deleting_bases_alone")]

    def stopped_clean(self) -> bool:
        return bool(self.session.value("stopped_clean"))

    def queue_of_base(self, base: BaseId) -> BaseQueue:
        row = self.session.one("queue_of_base", base=base) or (0, 0, 0)
        return BaseQueue(*row)

    def queue_by_base(self) -> dict[BaseId, tuple[int, int]]:
        return {
            base: (waiting, running)
            for base, waiting, running in self.session.rows("queue_by_base")
        }

    def active_items(self, base: BaseId, limit: int) -> list[ItemId]:
        return [row[0] for row in self.session.rows("active_items", base=base, limit=limit)]

    def active_count(self, base: BaseId) -> int:
        found: int = self.session.value("active_count", base=base)
        return found

    def work_coming(self) -> bool:
        return bool(self.session.value("work_coming", now=self.now))


class SqliteQueueWrites(SqliteQueueReads, SqliteProviderWrites):
    """What can be changed, inside one transaction."""

    stopped: set[JobId]

    def enqueue(self, jobs: Sequence[NewJob]) -> None:
        if not jobs:
            return
        documents = [_document(job) for job in jobs]
        for document in documents:
            _must_fit(document)
        first = self.session.value("next_ordinal")
        self.session.run("insert_jobs", jobs=json.dumps(documents), first=first, now=self.now)
        for job in jobs:
            if roots := job.input.get("roots"):
                found = self.session.value("live_job", key=job.key)
                self.session.run("insert_roots", job=found, roots=listed(roots))
        self.woken.update(job.lane for job in jobs)

    def cancel_items(self, items: Collection[ItemId], reason: str) -> dict[ItemId, int]:
        asked = {"items": listed(items), "reason": reason}
        running = self.session.returned("cancel_running_of_items", **asked)
        waiting = self.session.returned("cancel_waiting_of_items", now=self.now, **asked)
        self.stopped.update(job for job, _, _ in running)
        places = {item: ordinal for _, item, ordinal in running}
        return places | dict(waiting)

    def cancel_base(self, base: BaseId) -> None:
        self.session.run("cancel_waiting_of_base", base=base, now=self.now)
        stopped = self.session.returned("cancel_running_of_base", base=base)
        self.stopped.update(row[0] for row in stopped)

    def wake(self) -> None:
        self.woken.update(Lane)

    def wake_first_busy(self, processor: str) -> None:
        if self.session.run("wake_first_busy", processor=processor, now=self.now):
            self.woken.add(Lane.POLL)

    def wake_due(self, lane: Lane) -> None:
        self.session.run("wake_due", lane=lane, **self._due)

    def solo(self, lane: Lane) -> Job | None:
        row = self.session.one("solo", lane=lane, now=self.now, longest=longest_pause(self.now))
        return _job(row) if row else None

    def heads(self, lane: Lane, base: BaseId, large: bool, limit: int) -> list[Job]:
        rows = self.session.rows("heads", lane=lane, base=base, large=large, limit=limit)
        return [_job(row) for row in rows]

    def claim(self, jobs: Sequence[Job], lane: Lane, owner: str | None, lease: int) -> list[Job]:
        first = self.session.value("take_claims", count=len(jobs))
        rows = self.session.returned(
            "claim_jobs",
            ids=listed(job.id for job in jobs),
            first=first,
            owner=owner,
            lease=lease,
            now=self.now,
        )
        self.session.run("set_lane_cursor", lane=lane, base=jobs[0].base_id)
        if lane is Lane.INDEX:
            self.session.run("become_probe", slot=first, base=jobs[0].base_id)
        return sorted((_job(row) for row in rows), key=lambda job: job.claim or 0)

    def start(self, job: JobId, claim: ClaimNo, owner: str, lease: int) -> Job | None:
        rows = self.session.returned(
            "start_job", id=job, claim=claim, owner=owner, lease=lease, now=self.now
        )
        return _job(rows[0]) if rows else None

    def finish(
        self,
        fences: Sequence[Fence],
        state: JobState = JobState.DONE,
        reason: str | None = None,
        trouble: Trouble | None = None,
    ) -> set[JobId]:
        rows = self.session.returned(
            "finish_jobs",
            fences=listed([fence.job, fence.claim] for fence in fences),
            state=state,
            reason=reason,
            now=self.now,
            **_said(trouble),
        )
        return {row[0] for row in rows}

    def give_back(
        self, fence: Fence, run_at: int | None, reason: str, counts: bool, trouble: Trouble | None
    ) -> None:
        self.session.run(
            "give_back",
            id=fence.job,
            claim=fence.claim,
            run_at=run_at,
            reason=reason,
            counts=int(counts),
            now=self.now,
            **_said(trouble),
        )
        self.wake()

    def condemn(self, fence: Fence, trouble: Trouble) -> None:
        said = _said(trouble)
        self.session.run("condemn", id=fence.job, claim=fence.claim, now=self.now, **said)
        self.woken.update(Lane)

    def end_cancelled(self, fence: Fence) -> None:
        self.session.run("end_cancelled", id=fence.job, claim=fence.claim, now=self.now)
        self.woken.update(Lane)

    def keep_place(self, fence: Fence, place: Mapping[str, Any]) -> None:
        text = json.dumps(place)  # ASCII: a place in a folder may be a name that is not text
        self.session.run("keep_place", id=fence.job, claim=fence.claim, place=text, now=self.now)

    def beat(self, fences: Sequence[Fence], lease: int) -> None:
        for fence in fences:
            self.session.run("beat", id=fence.job, claim=fence.claim, lease=lease, now=self.now)

    def renew(self, owner: str, lease: int) -> None:
        self.session.run("renew_leases", owner=owner, lease=lease)

    def rescue_foreign(self, owner: str) -> list[Freed]:
        return self._freed(self.session.returned("rescue_foreign", owner=owner, now=self.now))

    def rescue_expired(self) -> list[Freed]:
        return self._freed(self.session.returned("rescue_expired", now=self.now))

    def rescue_stuck(self, fences: Sequence[Fence]) -> list[Freed]:
        asked = listed([fence.job, fence.claim] for fence in fences)
        freed = self._freed(self.session.returned("rescue_stuck", fences=asked, now=self.now))
        self.stopped.update(one.job for one in freed)
        return freed

    def _freed(self, rows: Sequence[Sequence[Any]]) -> list[Freed]:
        if rows:
            self.woken.update(Lane)
        return [Freed(job, base, item) for job, base, item in rows]

    def give_up_dead(self, lane: Lane) -> None:
        self.session.run("give_up_dead", lane=lane, advice=CODES["killed_worker"])

    def park(self) -> int:
        return len(self.session.returned("park", now=self.now))

    def unpark(self, base: BaseId, items: Collection[ItemId] | None) -> set[ItemId]:
        asked = None if items is None else listed(items)
        rows = self.session.returned("unpark", base=base, items=asked, now=self.now)
        self.woken.update(Lane)
        return {row[0] for row in rows if row[0]}

    def end_parked(self, base: BaseId, items: Collection[ItemId] | None) -> set[ItemId]:
        asked = None if items is None else listed(items)
        rows = self.session.returned("end_parked", base=base, items=asked, now=self.now)
        return {row[0] for row in rows if row[0]}

    def prune_jobs(self, before: int, newest: int) -> int:
        return sum(
            self.session.run("prune_jobs", kind=kind, before=before, newest=newest)
            for kind in JobKind
        )

    def raise_epoch(self, owner: str, above: int = 0) -> int:
        epoch: int = self.session.value("raise_epoch", owner=owner, above=above)
        return epoch

    def mark_clean_stop(self, owner: str) -> None:
        self.session.run("mark_clean_stop", owner=owner)


class QueueRefused(GuardRejected):
    """The queue cannot take this job as it is."""

    default_code = "too_large"


def _must_fit(document: dict[str, Any]) -> None:
    size = len(json.dumps(document["input"]))
    if size > MAX_INPUT_BYTES:
        raise QueueRefused(
            f"the input of {document['kind']} is {size} bytes; a job carries {MAX_INPUT_BYTES}"
        )


def _document(job: NewJob) -> dict[str, Any]:
    return {
        "kind": job.kind,
        "lane": job.lane,
        "base_id": job.base_id,
        "item_id": job.item_id,
        "key": job.key,
        "ordinal": job.ordinal,
        "large": int(job.large),
        "run_at": job.run_at,
        "generation": job.generation,
        "workload": job.workload,
        "input": dict(job.input),
    }


def _job(row: Sequence[Any]) -> Job:
    return Job(
        id=row[0],
        kind=JobKind(row[1]),
        lane=Lane(row[2]),
        base_id=row[3],
        item_id=row[4],
        key=row[5],
        state=JobState(row[6]),
        ordinal=row[7],
        large=bool(row[8]),
        run_at=row[9],
        reason=row[10],
        attempt=row[11],
        deaths=row[12],
        verdict=Verdict(row[13]),
        claim=row[14],
        generation=row[15],
        workload=row[16],
        input=json.loads(row[17]),
        error=(row[18], row[19], row[20]) if row[18] else None,
        created_at=row[21],
        updated_at=row[22],
    )


def _said(trouble: Trouble | None) -> dict[str, str | None]:
    code, error, advice = trouble or (None, None, None)
    return {"code": code, "error": error, "advice": advice}
