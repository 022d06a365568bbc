"""Why does an item wait, and for what?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from holdfast.domain.bases import Base
from holdfast.domain.errors import NotFound
from holdfast.domain.events import instant
from holdfast.domain.ids import ItemId
from holdfast.domain.item_states import ACTIVE
from holdfast.domain.items import Item
from holdfast.domain.jobs import Job, JobKind
from holdfast.jobs.fairness import may_start_large
from holdfast.jobs.waiting import Facts, Reason, reason_of
from holdfast.stores.main import Snapshot
from holdfast.stores.queue import Slot
from holdfast.workflow.room import is_full
from holdfast.workflow.workbench import Workbench


@dataclass(frozen=True, slots=True)
class Explanation:
    """What the engine knows about an item that is not done."""

    item: Item
    reason: Reason
    sentence: str
    until: datetime | None = None
    attempt: int = 0
    last_error: str | None = None


def explain(kb: Workbench, item_id: ItemId) -> Explanation:
    """One sentence, and the facts behind it."""
    with kb.main.read() as snapshot:
        item = snapshot.item(item_id)
        if item is None:
            raise NotFound(f"there is no item {item_id}")
        base = snapshot.base(item.base_id)
        job = _job_of(snapshot, item)
        facts = _facts(kb, snapshot, item, base, job)
    why = reason_of(facts)
    return Explanation(
        item=item,
        reason=why.reason,
        sentence=why.sentence,
        until=instant(why.until) if why.until else None,
        attempt=job.attempt if job else 0,
        last_error=job.error[1] if job and job.error else None,
    )


def _job_of(snapshot: Snapshot, item: Item) -> Job | None:
    own = snapshot.jobs_of_item(item.id)
    if own:
        return own[-1]
    kind = JobKind.DELETE_SUBTREE if item.deleting else JobKind.REINDEX_SUBTREE
    above = snapshot.ancestors([item.id]).get(item.id, []) if item.deleting else []
    roots = snapshot.live_roots([item.id, *above], kind)  # a delete's job is about its root
    return next((snapshot.job(job) for job in roots.values()), None)


def _facts(
    kb: Workbench, snapshot: Snapshot, item: Item, base: Base | None, job: Job | None
) -> Facts:
    provider = next(
        (one for one in snapshot.providers() if base and one.name == base.provider), None
    )
    running = snapshot.running(job.lane) if job else []
    large = [one for one in running if one.large]
    slots = kb.settings.global_concurrency
    return Facts(
        status=item.status,
        error=item.error,
        active_children=item.is_container
        and item.own_outcome is not None
        and item.status in ACTIVE,
        job=job,
        before=snapshot.jobs_before(job) if job else 0,
        base_paused=bool(base and base.paused),
        base_failed=base.error_code if base else None,
        provider=provider.name if provider else None,
        provider_until=provider.paused_until if provider else None,
        provider_said=provider.reason if provider else None,
        probed_by=provider.probed_by if provider and provider.probed_by != item.id else None,
        running_in_base=_in_base(running, item),
        running=len(running),
        large_running=not may_start_large(slots, len(large), _in_base(large, item)),
        disk_full=is_full(kb),
        caps=(slots, kb.settings.per_base_concurrency),
        processing=_processing(snapshot, item, job),
        now=snapshot.now,
    )


def _processing(snapshot: Snapshot, item: Item, job: Job | None) -> str | None:
    """What is known of the document at its processor."""
    if job is None or job.kind is not JobKind.CHECK_FILE_PROCESSING_RESULT:
        return None
    remote = snapshot.remote_jobs([item.id]).get(item.id)
    if remote is None or remote.report is None:
        return f"{job.input['processor']} is about to get it"
    return f"{remote.processor} has it: {remote.report}"


def _in_base(running: Sequence[Slot], item: Item) -> int:
    return sum(one.base == item.base_id for one in running)
