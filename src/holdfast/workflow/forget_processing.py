"""What a processor is at for nobody any more is cancelled, as well as that can be done.

Many services know no cancel: then forgetting is all there is. It frees the place at the processor,
and a result that comes all the same is asked for by nobody.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress

from holdfast.domain.errors import HoldfastError
from holdfast.domain.ids import BaseId, ItemId
from holdfast.domain.processing import RemoteJob
from holdfast.workflow.workbench import Workbench

AT_ONCE = 100


def forget(kb: Workbench, remotes: Collection[RemoteJob]) -> None:
    """One try each; whoever waits for a place at the same processor may go on."""
    for remote in remotes:
        if remote.remote_id is not None:
            with suppress(HoldfastError):
                kb.processors.resolve(remote.processor).cancel(remote.remote_id)
        with kb.main.write() as tx:
            tx.forget_remote(remote)
            tx.wake_first_busy(remote.processor)


def forget_items(kb: Workbench, items: Collection[ItemId]) -> None:
    with kb.main.read() as snapshot:
        remotes = snapshot.remote_jobs(items)
    forget(kb, list(remotes.values()))


def forget_base(kb: Workbench, base: BaseId) -> None:
    with kb.main.read() as snapshot:
        remotes = snapshot.remote_jobs_of_base(base)
    forget(kb, remotes)


def forget_leftovers(kb: Workbench) -> None:
    """Conversions whose attempt was superseded, dismissed or deleted while nobody looked."""
    with kb.main.read() as snapshot:
        remotes = snapshot.remote_jobs_alone(AT_ONCE)
    forget(kb, remotes)
