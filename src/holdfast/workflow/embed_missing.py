"""How does every text of a page get its vector, and none twice?

Only texts without a vector are sent, in batches; each answer is checked and stored at once, so a
crash pays for one batch. A failed batch is tried again as that batch while waiting is cheap; beyond
that the slot is given back and stored batches stay. A batch refused for good is split until the
guilty text stands alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from holdfast.domain.bases import Base
from holdfast.domain.chunks import Chunk
from holdfast.domain.errors import HoldfastError, Permanent, ProviderDown, Transient
from holdfast.domain.ids import ClaimNo, TextHash
from holdfast.domain.retries import MAX_ATTEMPTS, SLOT_PATIENCE, backoff
from holdfast.jobs.run import Token
from holdfast.ports import Embedder
from holdfast.stages.embedding.checks import checked
from holdfast.workflow.pulse import Pulse
from holdfast.workflow.workbench import Workbench

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(slots=True)
class Spent:
    """What embedding cost: told to the ledger and the statistics."""

    embedded: int = 0
    reused: int = 0
    calls: int = 0
    guilty: dict[TextHash, Permanent] = field(default_factory=dict)


@contextmanager
def accounted(kb: Workbench, base: Base, spent: Spent) -> Iterator[None]:
    """What was paid for is counted, even if the run ends here without a publish."""
    try:
        yield
    except Exception:
        if base.provider and spent.calls:
            with suppress(HoldfastError), kb.main.write() as tx:
                tx.count_texts(base.provider, spent.embedded, spent.reused, spent.calls)
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


def embed_missing(
    oven: Oven, chunks: Iterable[Chunk], *, force: bool = False, again: bool = False
) -> set[TextHash]:
    """Every text of these chunks has a vector, or stands in `spent.guilty`; those paid for.

    `again` when these chunks were counted before and only lost vectors are made anew.
    """
    texts = {chunk.hash: chunk.text for chunk in chunks}
    wanted = set(texts) if force else oven.kb.index.missing(oven.base.id, oven.base.space, texts)
    if not again:
        oven.spent.reused += len(texts) - len(wanted)
    done = 0
    for batch in _batches([one for one in texts if one in wanted], _size(oven)):
        _embed(oven, {one: texts[one] for one in batch})
        done += len(batch)
        oven.pulse.batch(done / (len(wanted) + 1))
    return wanted - set(oven.spent.guilty)


def _embed(oven: Oven, batch: Mapping[TextHash, str]) -> None:
    """One batch, stored; one that is refused for good is halved until the guilty text is alone."""
    try:
        vectors = _call(oven, list(batch.values()))
    except Permanent as refusal:
        if len(batch) == 1:
            oven.spent.guilty.update(dict.fromkeys(batch, refusal))
            return
        hashes = list(batch)
        for half in (hashes[: len(hashes) // 2], hashes[len(hashes) // 2 :]):
            _embed(oven, {one: batch[one] for one in half})
        return
    _store(oven, list(batch), vectors)


def _store(oven: Oven, hashes: Sequence[TextHash], vectors: NDArray[np.float32]) -> None:
    with oven.kb.permits.writing.hold():
        oven.kb.index.put_vectors(oven.base.id, oven.base.space, oven.claim, hashes, vectors)
    oven.spent.embedded += len(hashes)


def _call(oven: Oven, texts: Sequence[str]) -> NDArray[np.float32]:
    """The model's checked answer, with a few tries as long as the waits are short."""
    attempt = 0
    while True:
        oven.token.check()
        try:
            with oven.kb.permits.embedding.hold():
                oven.spent.calls += 1
                return checked(oven.embedder.embed(texts), len(texts), oven.embedder.width)
        except ProviderDown:
            raise
        except Transient as error:
            attempt += 1
            delay = _delay(oven, error, attempt)
            if attempt >= MAX_ATTEMPTS or delay > SLOT_PATIENCE:
                raise
            oven.token.cancelled.wait(delay)


def _delay(oven: Oven, error: Transient, attempt: int) -> float:
    if error.retry_after is not None:
        return error.retry_after
    return backoff(attempt - 1, oven.kb.rng.random())


def _size(oven: Oven) -> int:
    return min(oven.kb.settings.batch_size, oven.embedder.max_batch)


def _batches(hashes: Iterable[TextHash], size: int) -> Iterator[list[TextHash]]:
    rest = iter(hashes)
    while batch := list(islice(rest, size)):
        yield batch
