"""What has been embedded, what was reused, what did it take?"""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.stores.queue import ProviderRow
from holdfast.workflow.workbench import Workbench


@dataclass(frozen=True, slots=True)
class Stats:
    """Totals that survive deletes and restarts, in all and per provider."""

    texts_embedded: int
    texts_reused: int
    model_calls: int
    providers: tuple[ProviderRow, ...]


def stats(kb: Workbench) -> Stats:
    with kb.main.read() as snapshot:
        providers = tuple(snapshot.providers())
    return Stats(
        texts_embedded=sum(one.texts_embedded for one in providers),
        texts_reused=sum(one.texts_reused for one in providers),
        model_calls=sum(one.model_calls for one in providers),
        providers=providers,
    )
