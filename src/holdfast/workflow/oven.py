"""What does a run need to turn texts into stored vectors, and what did it cost?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from holdfast.domain.bases import Base, provider_of
from holdfast.domain.errors import HoldfastError, StageFailed
from holdfast.domain.ids import ClaimNo, TextHash
from holdfast.jobs.run import Token
from holdfast.ports import Embedder
from holdfast.workflow.pulse import Pulse
from holdfast.workflow.workbench import Workbench


@dataclass(slots=True)
class Spent:
    """What embedding cost: told to the ledger and the statistics."""

    embedded: int = 0
    reused: int = 0
    calls: int = 0
    tokens: int = 0
    guilty: dict[TextHash, StageFailed] = field(default_factory=dict[TextHash, StageFailed])


@contextmanager
def accounted(kb: Workbench, base: Base, spent: Spent) -> Iterator[None]:
    """What was paid for is counted, even if the run ends here without a publish."""
    try:
        yield
    except Exception:
        if base.provider and spent.calls:
            with suppress(HoldfastError), kb.main.write() as tx:
                tx.count_texts(
                    base.provider, spent.embedded, spent.reused, spent.calls, spent.tokens
                )
        raise


@dataclass(frozen=True, slots=True)
class Oven:
    """Everything a run needs to turn texts into stored vectors."""

    kb: Workbench
    base: Base
    embedder: Embedder
    claim: ClaimNo
    token: Token
    spent: Spent
    pulse: Pulse

    @property
    def provider(self) -> str:
        return provider_of(self.embedder.name) or self.embedder.name
